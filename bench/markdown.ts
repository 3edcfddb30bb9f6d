import { MARKDOWN_BOUNDS } from '../src/pure/documents/markdown/document-model.ts'
import { htmlToMarkdown } from '../src/pure/documents/markdown/html-to-markdown.ts'
import { atMost, figures, median, type SuiteReport } from './report.ts'

const SIZE = 1_000_000
const ROUNDS = 5
const BOUND_MS = 500

const fill = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)

/** A megabyte each: an honest page, then what converters stumble over. */
const PAGES: Readonly<Record<string, string>> = {
  'an article': fill(
    '<div class="section"><h2>Heading of a section</h2><p>Some <b>bold</b> words, a <a href="/page?a=1&amp;b=2" class="x">link</a> and ' +
      '<code>code()</code>; more of the same, up to the end of the line.</p><ul><li>One</li><li>Two <i>and</i> a half</li></ul>' +
      '<table><tr><th>Name</th><th>Value</th></tr><tr><td>a|b</td><td>1 &lt; 2</td></tr></table><pre><code>let x = 1\nlet y</code></pre></div>\n',
  ),
  'nested div': fill('<div>'),
  'nested b': fill('<b>'),
  'nested lists': fill('<ul><li>a'),
  'nested quotes': fill('<blockquote>a'),
  'paragraphs in 250 quotes': '<blockquote>'.repeat(250) + fill('<p>a'),
  'nested tables': fill('<table><tr><td>a<td>b'),
  'nested links': fill('<a href=a>b'),
  'nested svg': fill('<svg><desc>'),
  'one tag of many attributes': `<p ${fill('a1="x" b=y ')}>text</p>`,
  'one tag of one attribute many times': `<a ${fill('href="x" ')}>text</a>`,
  'a table of many cells': `<table>${fill('<tr><td colspan=99>a<td>b')}</table>`,
  'one row of many cells': `<table><tr>${fill('<td>a')}</table>`,
  'character references': fill('&amp;&lt;&#42;'),
  'stars and backticks': fill('*`_~'),
  backslashes: fill('\\'),
  underscores: fill('_'),
  'less-than signs': fill('<'),
  ampersands: fill('&'),
  'end tags': '<i><div>'.repeat(1_000) + fill('</b></i></p>'),
  'formats ended across blocks': fill('<b><div></b>'),
  'short words in formats': fill('a<b>b</b><i>c</i>'),
  breaks: fill('a<br>'),
  'unclosed comments': fill('<!-- '),
  'hidden elements': fill('<i hidden>a<div>b'),
  'style comments': fill(`<i style="${'/*'.repeat(2_000)}">`),
  'a data address': `<img alt=x src="data:image/png;base64,${fill('QUFB')}">`,
}

/** Time to convert a megabyte of HTML. */
export async function markdown(): Promise<SuiteReport> {
  const rows = Object.entries(PAGES).map(([title, html]) => ({ title, ...convert(html) }))
  return {
    title: 'HTML to Markdown, a megabyte of it',
    method: [
      `Milliseconds of thread CPU time a page, median of ${ROUNDS} runs in one process, one more run before. The Markdown ends at ${MARKDOWN_BOUNDS.output_chars} characters.`,
    ],
    header: ['page', 'ms', 'characters of Markdown'],
    rows: rows.map(({ title, cost_ms, chars }) => [title, figures(cost_ms), String(chars)]),
    gates: rows.map(({ title, cost_ms }) => atMost(title, cost_ms, BOUND_MS, ' ms')),
    notes: [],
  }
}

function convert(html: string): { cost_ms: number; chars: number } {
  const chars = htmlToMarkdown(html).markdown.length
  const costs_ms = Array.from({ length: ROUNDS }, () => {
    const before = process.threadCpuUsage()
    htmlToMarkdown(html)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return { cost_ms: median(costs_ms), chars }
}
