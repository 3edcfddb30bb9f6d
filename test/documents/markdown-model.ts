import fc from 'fast-check'
import { tidy, type Block } from './markdown-outline.ts'

/** Documents of known structure: their HTML, and what a reader of Markdown must find in it. */
export interface Model {
  html: string
  tree: Block[]
  headings: { level: number; text: string }[]
  links: { text: string; href: string }[]
}

interface Line {
  html: string
  text: string
  links: { text: string; href: string }[]
}

const HOSTILE = (
  '* ** *** _ __ ` `` ``` ~ ~~ ~~~ # ## ####### > - -- --- + = == === | |-| :-: 1. 2) 1234567890. 12. [ ] [x] [x]: ](y) ![ ! !! \\ \\\\ \\* & &amp; &#35; ' +
  '&copy &nbsp; < <b> </p> <!-- --> <![CDATA[ <?x ?> <http://a.b> http://a.b $ % ( ) { } " \' ^ : ; , . ? / @ a b1 snake_case __init__ 5*3*2 ' +
  'é ß 東 😀 “q” — … € ©\u0301 \u200d'
).split(' ')

const word = fc.constantFrom(...HOSTILE, 'word', 'Another', 'x', '\u00a0')
const gap = fc.constantFrom('', '', ' ', ' ', '\n', ' \t ')

const hostileText: fc.Arbitrary<Line> = fc
  .array(fc.tuple(word, gap), { minLength: 1, maxLength: 5 })
  .map((parts) => plain(parts.map(([text, space]) => text + space).join('')))

function plain(text: string): Line {
  return { html: escapeHtml(text), text, links: [] }
}

/** Some of the characters as references, so that the reader has them in pieces. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'*_[\]`]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Something that is seen, so that no block vanishes. */
const solid = fc.constantFrom('z', '*', '#', '-', '1.', 'word', '&', '\\', '!').map(plain)

const HREFS = [
  'https://example.com/',
  'http://a.b/x_(y)?q=1&copy;=2#z',
  'https://a.b/((',
  'mailto:a@b.example?subject=x%20y',
  'tel:+1-555',
  '/a/b_c*d*e',
  '../x?y=[1]',
  '#part',
  '//cdn.example/x|y',
  'a b"c<d>`e\\f',
  'page',
]
const href = fc.constantFrom(...HREFS)

function wrapped(before: string, content: Line, after: string): Line {
  return { ...content, html: before + content.html + after }
}

function joined(lines: readonly Line[]): Line {
  return {
    html: lines.map(({ html }) => html).join(''),
    text: lines.map(({ text }) => text).join(''),
    links: lines.flatMap(({ links }) => links),
  }
}

const formatted = (content: fc.Arbitrary<Line>): fc.Arbitrary<Line> =>
  fc
    .tuple(fc.constantFrom('b', 'strong', 'i', 'em', 'code', 'span', 'del', 'u'), content)
    .map(([name, line]) => wrapped(`<${name}>`, line, `</${name}>`))

const unlinked: fc.Arbitrary<Line> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: hostileText },
      formatted(hostileText),
      formatted(formatted(hostileText)),
      formatted(fc.tuple(hostileText, formatted(hostileText)).map(joined)),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map(joined)

const linked: fc.Arbitrary<Line> = fc.tuple(href, fc.oneof(unlinked, fc.constant(plain('')))).map(([address, content]) => ({
  html: `<a href="${escapeHtml(address)}">${content.html}</a>`,
  text: content.text,
  links: [{ text: tidy(content.text), href: address }],
}))

const line: fc.Arbitrary<Line> = fc
  .tuple(
    fc.array(
      fc.oneof({ weight: 2, arbitrary: unlinked }, linked, formatted(linked), fc.constant<Line>({ html: '<br>x', text: ' x', links: [] })),
      { maxLength: 4 },
    ),
    solid,
    fc.boolean(),
  )
  .map(([parts, seen, first]) => joined(first ? [seen, ...parts] : [...parts, seen]))

const CODE = ['let x = 1', '', '```', '````js', '  indented', '# no heading', '- no item', '<b>&amp;</b>', '~~~', '\ttab', '> quote', '`']
const code = fc.array(fc.constantFrom(...CODE), { minLength: 1, maxLength: 5 }).map((lines) => `x${lines.join('\n')}y`)

interface Part {
  html: string
  block: Block
  lines: (Line & { level: number })[]
}

const leaf: fc.Arbitrary<Part> = fc.oneof(
  {
    weight: 4,
    arbitrary: line.map((one): Part => ({ html: `<p>${one.html}</p>`, block: ['p', tidy(one.text)], lines: [{ ...one, level: 0 }] })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([level, one]): Part => ({
      html: `<h${level}>${one.html}</h${level}>`,
      block: [`h${level}`, tidy(one.text)],
      lines: [{ ...one, level }],
    })),
  },
  fc.tuple(fc.constantFrom('', 'js', 'c++'), code).map(([language, text]): Part => ({
    html: `<pre><code class="hljs language-${language}">${escapeHtml(text)}\n</code></pre>`,
    block: ['pre', language, `${text}\n`],
    lines: [],
  })),
  fc.constant<Part>({ html: '<hr>', block: ['thematic_break'], lines: [] }),
)

function holding(name: string, type: string, parts: readonly Part[], attributes = ''): Part {
  return {
    html: `<${name}${attributes}>${parts.map(({ html }) => html).join('\n')}</${name}>`,
    block: [type, ...parts.map(({ block }) => block)],
    lines: parts.flatMap(({ lines }) => lines),
  }
}

const { part } = fc.letrec<{ part: Part }>((tie) => {
  const parts = fc.array(tie('part'), { minLength: 1, maxLength: 3 })
  /** An item whose first text has no paragraph of its own, as most lists have it. */
  const item = fc.tuple(parts, fc.option(line)).map(([inner, text]): Part => {
    const own: Part[] = text === null ? [] : [{ html: text.html, block: ['p', tidy(text.text)], lines: [{ ...text, level: 0 }] }]
    return holding('li', 'li', [...own, ...inner])
  })
  const items = fc.array(item, { minLength: 1, maxLength: 3 })
  return {
    part: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 3, arbitrary: leaf },
      items.map((list) => holding('ul', 'ul', list)),
      fc.tuple(fc.constantFrom(0, 1, 7, 99), items).map(([start, list]) => holding('ol', `ol ${start}`, list, ` start=${start}`)),
      parts.map((list) => holding('blockquote', 'quote', list)),
    ),
  }
})

export const model: fc.Arbitrary<Model> = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => {
  const lines = parts.flatMap((one) => one.lines)
  return {
    html: parts.map(({ html }) => html).join('\n'),
    tree: parts.map(({ block }) => block),
    headings: lines.filter(({ level }) => level > 0).map(({ level, text }) => ({ level, text: tidy(text) })),
    links: lines.flatMap(({ links }) => links),
  }
})

/** Rows of cells, none of them empty. */
export const cells: fc.Arbitrary<string[][]> = fc.integer({ min: 2, max: 4 }).chain((columns) =>
  fc.array(
    fc.array(
      hostileText.map(({ text }) => `${text}z`),
      { minLength: columns, maxLength: columns },
    ),
    { minLength: 1, maxLength: 4 },
  ),
)
