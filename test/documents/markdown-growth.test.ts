import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MARKDOWN_BOUNDS } from '../../src/pure/documents/markdown/document-model.ts'
import { htmlToMarkdown } from '../../src/pure/documents/markdown/html-to-markdown.ts'
import { assertGrowth } from '../fuzz/growth.ts'
import { runs } from '../support/counts.ts'
import { outlineOf } from './markdown-outline.ts'

/** Characters of the smallest input; the largest is 64 times as long. */
const N = runs(256, 8_192)

/** The same where prefixes of lines grow with the depth, up to its bound: this begins beyond. */
const BEYOND_DEPTH = 4_096

const fill = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length))
const inside = (before: string, unit: string, after: string) => (size: number) => before + fill(unit)(size) + after

/** HTML by what it makes a converter do. */
const PAGES: Record<string, (size: number) => string> = {
  'nested div': fill('<div>'),
  'nested div, closed': (size) => fill('<div>')(size / 2) + fill('</div>')(size / 2),
  'nested b': fill('<b>'),
  'nested unknown elements': (size) => Array.from({ length: size / 8 }, (_, at) => `<x${at}>`).join(''),
  'nested lists': fill('<ul><li>a'),
  'nested quotes': fill('<blockquote>a'),
  'nested tables': fill('<table><tr><td>a<td>b'),
  'nested svg': fill('<svg><desc>'),
  'svg in svg, left': (size) => `${fill('<svg>')(size)}<p>`,
  'open links': fill('<a href=a>b'),
  'open headings': fill('<h1>a'),
  'open paragraphs': fill('<p>a'),
  'items without a list': fill('<li>a'),
  attributes: inside('<p ', 'a1="x" ', '>'),
  'one attribute again and again': inside('<a ', 'href=x ', '>a</a>'),
  'a long attribute': inside('<a href="', 'x&amp;', '">a</a>'),
  'a long tag name': inside('<a', 'b', '>'),
  'a row of cells': inside('<table><tr>', '<td>a', ''),
  'rows with wide cells': inside('<table>', '<tr><td colspan=99>a<td>b', ''),
  'cells of many rows': inside('<table>', '<tr><td rowspan=999>a', ''),
  'character references': fill('&amp;&#42;'),
  'end tags of nothing': fill('</b></p></div>'),
  'end tags below open elements': (size) => fill('<i><div>')(size / 2) + fill('</b></i></ul>')(size / 2),
  'formats ended across blocks': fill('<b><div></b>'),
  'formats in formats': fill('<b>a<i>b</b>c</i>'),
  'formats around nothing': fill('<b><i></i></b> '),
  'links around blocks': inside('<a href=x><b><i>', '<p>a', ''),
  'breaks in a heading': inside('<h1>a', '<div> <br>', ''),
  breaks: fill('a<br> '),
  'code spans': fill('<code>`</code>'),
  'lines of code': inside('<pre>', '`\n', '</pre>'),
  comments: fill('<!-- --><!'),
  'styles with open comments': fill(`<i style="${'/*'.repeat(200)}">`),
  hidden: fill('<i hidden>a'),
  ...Object.fromEntries(
    [
      '<',
      '&',
      '*',
      '_',
      '`',
      '\\',
      '[',
      '](',
      '!',
      '~',
      '|',
      '#',
      '# ',
      '- ',
      '1. ',
      '=',
      '>',
      '\0',
      ' ',
      '\u00a0',
      '\u{e0041}',
      'a_',
      'ab ',
    ].map((unit) => [JSON.stringify(unit), fill(unit)]),
  ),
  'hashes in a heading': inside('<h1>', '# ', '</h1>'),
  'underscores in a heading': inside('<h1>a', '_', 'a</h1>'),
}

test('work grows linearly with the HTML, also with hostile HTML', async () => {
  for (const [name, page] of Object.entries(PAGES)) {
    const prepare = (size: number) => {
      const html = page(size)
      return () => htmlToMarkdown(html)
    }
    const deep = name === 'nested lists' || name === 'nested quotes'
    await (deep ? assertGrowth(name, BEYOND_DEPTH, prepare, 3) : assertGrowth(name, N, prepare, runs(3, 4)))
  }
})

test('nesting beyond the bound gives up its structure and keeps its text', () => {
  const lists = htmlToMarkdown(`${'<ul><li>'.repeat(10_000)}<h2>deep</h2>${'</li></ul>'.repeat(10_000)}<p>after</p>`)
  // Half of the bound are lists, half items; of the others the lists are counted, since an item without one is none.
  assert.deepEqual([lists.flattened, lists.headings], [10_000 - MARKDOWN_BOUNDS.depth / 2, [{ level: 2, text: 'deep' }]])
  assert.equal(lists.markdown, `${'- '.repeat(MARKDOWN_BOUNDS.depth / 2)}## deep\n\nafter\n`)
  const quotes = htmlToMarkdown(`${'<blockquote>'.repeat(10_000)}deep${'</blockquote>'.repeat(10_000)}after`)
  assert.equal(quotes.flattened, 10_000 - MARKDOWN_BOUNDS.depth)
  assert.equal(quotes.markdown, `${'> '.repeat(MARKDOWN_BOUNDS.depth)}deep\n\nafter\n`)
  const others = htmlToMarkdown(`${'<div><b><section><span>'.repeat(10_000)}deep${'</span></section></b></div>'.repeat(10_000)}after`)
  assert.deepEqual([others.flattened, others.markdown], [0, '**deep**\n\nafter\n'])
})

test('the Markdown ends at its bound, at the end of a block', () => {
  const { markdown, truncated, headings, links } = htmlToMarkdown(
    `<h1>Begin</h1>${'<blockquote>'.repeat(250)}${'<p><a href=x>y</a>'.repeat(9_000)}<h1>End</h1>`,
  )
  assert.ok(truncated && markdown.length <= MARKDOWN_BOUNDS.output_chars && markdown.length > MARKDOWN_BOUNDS.output_chars - 2_000)
  assert.ok(markdown.endsWith('> [y](x)\n'))
  assert.deepEqual(headings, [{ level: 1, text: 'Begin' }])
  assert.equal(links.length, MARKDOWN_BOUNDS.listed)
})

test('lists of the answer are bounded, and say how many there were', () => {
  const count = MARKDOWN_BOUNDS.listed + 5
  const result = htmlToMarkdown('<h2><a href=/x>y</a></h2>'.repeat(count))
  assert.deepEqual([result.headings.length, result.headings_total], [MARKDOWN_BOUNDS.listed, count])
  assert.deepEqual([result.links.length, result.links_total], [MARKDOWN_BOUNDS.listed, count])
  const long = htmlToMarkdown(`<title>${'t'.repeat(2_000)}</title><h1>x${'😀'.repeat(2_000)}</h1>`)
  assert.equal(long.title, 't'.repeat(MARKDOWN_BOUNDS.listed_chars))
  // A character of two units is not cut in half.
  assert.equal(long.headings[0]?.text, `x${'😀'.repeat(MARKDOWN_BOUNDS.listed_chars / 2 - 1)}`)
  assert.equal(outlineOf(long.markdown).headings[0]?.text, `x${'😀'.repeat(2_000)}`)
})

test('one cell may hold more links than a function takes arguments', () => {
  const count = 150_000
  assert.equal(htmlToMarkdown(`<table><tr><td>x<td>${'<a href=y>z'.repeat(count)}`).links_total, count)
})

test('an address beyond the bound is no link', () => {
  const longest = `/${'x'.repeat(MARKDOWN_BOUNDS.attribute_chars - 1)}`
  assert.equal(htmlToMarkdown(`<a href="${longest}">y</a>`).links_total, 1)
  const beyond = htmlToMarkdown(`<a href="${longest}x">y</a>`)
  assert.deepEqual([beyond.markdown, beyond.links_total, beyond.dropped.unsafe_links], ['y\n', 0, 1])
})
