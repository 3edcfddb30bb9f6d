import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HtmlRenderer, Parser } from 'commonmark'
import fc from 'fast-check'
import { keccak } from 'hash-wasm'
import { htmlToMarkdown } from '../../src/pure/documents/markdown/html-to-markdown.ts'
import scraper from '../../src/tools/text/clean-markdown-scraper.ts'
import { runs, SEED } from '../support/counts.ts'
import { cells, escapeHtml, model } from './markdown-model.ts'
import { outlineOf, tidy } from './markdown-outline.ts'

const some = { numRuns: runs(60, 600), seed: SEED }
const many = { numRuns: runs(150, 1_000), seed: SEED }

/** Two spellings of one address: readers of Markdown percent-encode what HTML leaves as it is. */
function spelled(href: string): string {
  return encodeURI(href).replace(/%25(?=[0-9A-Fa-f]{2})/g, '%')
}

function tidyLinks(links: readonly { text: string; href: string }[]) {
  return links.map(({ text, href }) => ({ text: tidy(text), href: spelled(href) }))
}

test('another reader finds the structure, headings, texts and links that the HTML has', () => {
  fc.assert(
    fc.property(model, ({ html, tree, headings, links }) => {
      const result = htmlToMarkdown(html)
      const outline = outlineOf(result.markdown)
      assert.deepEqual(outline.tree, tree, result.markdown)
      assert.deepEqual(outline.headings, headings)
      assert.deepEqual(tidyLinks(outline.links), tidyLinks(links), result.markdown)
      assert.deepEqual(outline.raw_html, [])
      assert.deepEqual([result.headings, tidyLinks(result.links)], [headings, tidyLinks(links)])
    }),
    many,
  )
})

test('Markdown that was rendered to HTML comes back as it was', () => {
  fc.assert(
    fc.property(model, ({ html }) => {
      const { markdown } = htmlToMarkdown(html)
      // The renderer knows no deletions, and writes their marks as text.
      fc.pre(!markdown.includes('~~'))
      assert.equal(htmlToMarkdown(new HtmlRenderer().render(new Parser().parse(markdown))).markdown, markdown)
    }),
    some,
  )
})

/** The cells of a row of a GFM table, read as the specification says: bars part them unless a backslash stands before. */
function cellsOf(row: string): string[] {
  const inner = /^\| ?(.*) \|$/.exec(row)?.[1]
  assert.ok(inner !== undefined, row)
  return inner.split(/(?<!(?:^|[^\\])(?:\\\\)*\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

const coded = fc.constantFrom('', 'code')
const backslashes = fc.stringMatching(/^[a\\|`]{1,8}[ab]$/)
const codes = fc.array(
  fc.tuple(backslashes, backslashes).map((row) => [...row]),
  { minLength: 1, maxLength: 3 },
)

test('cells of tables keep their texts, whatever these hold, as code too', () => {
  fc.assert(
    fc.property(fc.oneof(cells, codes), coded, (rows, element) => {
      const [open, close] = element === '' ? ['', ''] : [`<${element}>`, `</${element}>`]
      const html = rows.map((row) => `<tr>${row.map((text) => `<td>${open}${escapeHtml(text)}${close}</td>`).join('')}</tr>`).join('')
      const [head, rule, ...body] = htmlToMarkdown(`<table>${html}</table>`).markdown.trimEnd().split('\n')
      const columns = rows[0]?.length ?? 0
      assert.deepEqual([head, rule], [`|${'  |'.repeat(columns)}`, `|${' --- |'.repeat(columns)}`])
      // What stands in a heading is read like what stands in a cell, but for the hashes at its end.
      const read = body.map((row) => cellsOf(row).map((cell) => outlineOf(`# ${cell}.`).headings[0]?.text))
      assert.deepEqual(
        read,
        rows.map((row) => row.map((text) => `${tidy(text)}.`)),
      )
    }),
    some,
  )
})

const TAGS = (
  'a b i em strong code kbd del s span font p div section h1 h2 h6 ul ol li dl dt dd blockquote pre table thead tbody tr td th caption ' +
  'button select option svg math title desc foreignObject mtext script style noscript template textarea iframe object form head body ' +
  'html dialog details summary xmp marquee frameset'
).split(' ')
const ATTRIBUTES = [
  '',
  '',
  '',
  ' href="/x(y"',
  ' href=javascript:x',
  ' href="jav&#x09;ascript&colon;x"',
  ' href="a&amp;colon;b"',
  ' hidden',
  ' style="display:none"',
  ' colspan=3',
  ' rowspan=0x',
  ' colspan=99999999999999999999',
  ' start=-1',
  ' start=9999999999',
  ' class="language-a`b language-js"',
  ' role=presentation',
  ' aria-hidden=true',
  ' alt="]("',
  " src='x'y",
  ' =',
  ' "',
  ' <',
]
const soup = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom(...TAGS), fc.constantFrom(...ATTRIBUTES)).map(([tag, attribute]) => `<${tag}${attribute}>`),
      fc.constantFrom(...TAGS).map((tag) => `</${tag}>`),
      fc.constantFrom(
        '<br>',
        '<hr>',
        '<img src=/i alt="*a*">',
        '<img src=data:x alt=b>',
        '</br>',
        '<svg/>',
        '<!--',
        '-->',
        '<![CDATA[',
        '<?',
        '<',
        '>',
        '&',
        '&#0;',
        '&#xd800;',
        '&#xfffffff;',
      ),
      fc.constantFrom(
        'text ',
        ' ',
        '\n',
        '*',
        '`',
        '#',
        '- ',
        '1. ',
        '\\',
        '!',
        '[',
        '](x)',
        '~~',
        '&amp;lt;',
        '\0',
        '\ud800',
        '\u202e',
        '😀',
        '\u00a0',
      ),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

test('an address of the page that is none is refused', () => {
  for (const base_url of ['https://[bad', 'https://', 'http://a:b:c', 'https://x:99999/']) {
    assert.ok(!scraper.input.safeParse({ html: '', base_url }).success, base_url)
  }
  assert.ok(scraper.input.safeParse({ html: '', base_url: 'https://[::1]:8080/a?b' }).success)
})

// attack: script and data links, hidden text
// in: documents and texts
// asset: a reader of Markdown
// attacker: author
// defence: unsafe links and hidden text are removed and listed
test('broken HTML: no exception, nothing unsafe, and the lists of the answer are what stands in the Markdown', () => {
  fc.assert(
    fc.property(soup, (html) => {
      const result = htmlToMarkdown(html, 'https://example.com/a/b')
      const { markdown, headings, links, dropped } = result
      const outline = outlineOf(markdown)
      assert.ok(markdown.isWellFormed() && !/[[\p{Cc}--[\t\n]]\u202a-\u202e]/v.test(markdown))
      assert.ok(markdown.length <= 40 * html.length && (markdown === '' || markdown.endsWith('\n')))
      assert.deepEqual(outline.raw_html, [])
      for (const { href } of [...outline.links, ...outline.images]) assert.match(href, /^(https?:|mailto:|tel:|#)/)
      assert.deepEqual(outline.headings, headings, markdown)
      assert.deepEqual(tidyLinks(outline.links), tidyLinks(links), markdown)
      assert.deepEqual([result.headings_total, result.links_total], [headings.length, links.length])
      assert.ok(Object.values(dropped).every((count) => Number.isSafeInteger(count) && count >= 0 && count <= html.length))
      assert.deepEqual(htmlToMarkdown(html, 'https://example.com/a/b'), result)
    }),
    many,
  )
})

test('the hash is that of another implementation', async () => {
  const { markdown, markdown_hash } = htmlToMarkdown('<h1>Größe</h1><p>東京 😀')
  assert.equal(markdown, '# Größe\n\n東京 😀\n')
  assert.equal(markdown_hash, `0x${await keccak(Buffer.from(markdown, 'utf8'), 256)}`)
})

test('the end of a paragraph that is not open is an empty paragraph', () => {
  assert.equal(htmlToMarkdown('<p>one<ul><li>x</ul>two</p>three').markdown, 'one\n\n- x\n\ntwo\n\nthree\n')
  // HTML Living Standard, 13.2.6.4.7: such a tag is read as if <p> stood before it.
  const around = [
    '# b #',
    '<b># c</b>',
    '<ul><li>a # b</ul>',
    '<h1>a # b</h1>',
    '<blockquote>a # b</blockquote>',
    '<a href="http://a.b">q # r</a>',
  ]
  const inside = [
    '<table><tr><td>a # b</td><td>c</td></tr></table>',
    '<pre>a # b</pre>',
    '<div hidden>a # b</div>c',
    '<table># <tr><td>1<td>2</table>',
  ]
  for (const html of [...around, ...inside]) {
    assert.equal(htmlToMarkdown(html.replace('#', '</p>')).markdown, htmlToMarkdown(html.replace('#', '<p></p>')).markdown, html)
  }
})
