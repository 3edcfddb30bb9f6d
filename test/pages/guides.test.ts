import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { renderToString } from 'preact-render-to-string'
import { GROUPS, readGuide } from '../../src/surfaces/pages/docs/guides.ts'
import type { AppDeps } from '../../src/surfaces/deps.ts'

const VALUES = { price: () => '<b>5</b> | `x` [a](b)', bytes: () => 64 }
const CONDITIONS = { live: () => false, sandbox: () => true }
const HEAD = '# Title\n\nDescription.\n\n'

/** The chapters of a guide by their ids. */
function render(text: string): Record<string, string> {
  const chapters = readGuide('test', HEAD + text, VALUES, CONDITIONS).chapters({} as AppDeps)
  return Object.fromEntries(chapters.map(({ id, title, body }) => [id, `${title}: ${renderToString(body)}`]))
}

test('every file of docs/guide is a page, and every page has one', () => {
  const names = GROUPS.flatMap(({ topics }) => topics.map(({ id }) => `${id === '' ? 'quickstart' : id}.md`))
  assert.deepEqual(names.toSorted(), readdirSync('docs/guide').toSorted())
})

test('values are text: markup and Markdown in them are shown as they are', () => {
  assert.deepEqual(render('## At most {{bytes}} <!-- one -->\n\nIt costs {{price}}, `{{price}}`.\n'), {
    one: 'At most 64: <p>It costs &lt;b>5&lt;/b> | `x` [a](b), <code>&lt;b>5&lt;/b> | `x` [a](b)</code>.</p>',
  })
})

test('tables, lists, links and samples are rendered', () => {
  const { one = '' } = render(
    [
      '## One <!-- one -->\n',
      'Table: Bounds\n',
      '| name | bound |\n| --- | --- |\n| `a \\| b` | {{bytes}} **bytes** |\n',
      '3. [Payment](payment.md#mcp) and\n   [status](/status)\n',
      '```shell call A call of {{bytes}}\ncurl {{price}}\n```\n',
    ].join('\n'),
  )
  assert.match(one, /<caption>Bounds<\/caption>.*<th scope="row"><code>a \| b<\/code><\/th> <td>64 <b>bytes<\/b><\/td>/)
  assert.match(one, /<ol start="3"><li><a href="\/docs\/payment#mcp">Payment<\/a> and <a href="\/status">status<\/a><\/li><\/ol>/)
  assert.match(one, /A call of 64.*<pre id="sample-call"[^>]* data-sample="shell"[^>]*>curl &lt;b>5&lt;\/b> \| `x` \[a\]\(b\)<\/pre>/)
})

test('a condition decides about a chapter, or about one block', () => {
  const text = [
    '<!-- when live -->\n\n## Live <!-- live -->\n\nText.\n',
    '<!-- when sandbox -->\n\n## Sandbox <!-- sandbox -->\n\n<!-- when live -->\n\nMoney.\n\nNo money.\n',
  ]
  assert.deepEqual(render(text.join('\n')), { sandbox: 'Sandbox: <p>No money.</p>' })
})

test('unknown values and conditions, HTML and what is not supported are refused', () => {
  for (const [text, message] of [
    ['{{nothing}}', /unknown value "nothing"/],
    ['{{constructor}}', /unknown value "constructor"/],
    ['<!-- when never -->\n\nText.', /unknown value "never"/],
    ['## No id\n\nText.', /a chapter without an id/],
    ['## One <!-- one -->\n\n<script>alert(1)</script>', /line 7: a html_block is not supported/],
    ['## One <!-- one -->\n\nA <b>word</b>.', /a html_inline is not supported/],
    ['## One <!-- one -->\n\n![image](x.png)', /a image is not supported/],
    ['## One <!-- one -->\n\n```shell\ncurl\n```', /a code_block is not supported/],
  ] as const)
    assert.throws(() => render(text), message, text)
  assert.throws(() => readGuide('test', 'Text.', VALUES, CONDITIONS), /title and a description/)
})
