import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Node, Parser } from 'commonmark'
import fc from 'fast-check'
import { htmlToMarkdown } from '../../src/pure/documents/markdown/html-to-markdown.ts'
import { runs, SEED } from '../support/counts.ts'

/** A character that is seen, and the emphasis it stands in. */
type Shown = [character: string, strong: boolean, em: boolean]

interface Line {
  html: string
  shown: Shown[]
}

const text: fc.Arbitrary<Line> = fc
  .array(fc.constantFrom(...'ab1 ()".*_-é€+“，字\u00a0'.split('')), { minLength: 1, maxLength: 3 })
  .map((characters) => ({
    html: characters.join(''),
    shown: characters.filter((one) => !/\s/.test(one)).map((one) => [one, false, false]),
  }))

const NAMES = ['b', 'em', 'b', 'em', 'del', 'code', 'span', 'a href="/x"'] as const

const line = fc.letrec<{ line: Line }>((tie) => ({
  line: fc
    .array(
      fc.oneof(
        { depthSize: 'medium', maxDepth: 4 },
        text,
        fc.tuple(fc.constantFrom(...NAMES), tie('line')).map(([name, inner]) => marked(name, inner)),
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => ({ html: parts.map(({ html }) => html).join(''), shown: parts.flatMap(({ shown }) => shown) })),
})).line

function marked(name: (typeof NAMES)[number], { html, shown }: Line): Line {
  return {
    html: `<${name}>${html}</${name.split(' ')[0]}>`,
    shown: shown.map(([character, strong, em]) => [character, strong || name === 'b', em || name === 'em']),
  }
}

/** What another reader shows of Markdown. It knows no deletions and writes their marks, which no text here has. */
function shownBy(markdown: string): Shown[] {
  const shown: Shown[] = []
  const walker = new Parser().parse(markdown).walker()
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { node, entering } = step
    if (!entering || (node.type !== 'text' && node.type !== 'code')) continue
    for (const character of node.literal ?? '') {
      if (!/[\s~]/.test(character)) shown.push([character, isUnder(node, 'strong'), isUnder(node, 'emph')])
    }
  }
  return shown
}

function isUnder(node: Node, type: 'strong' | 'emph'): boolean {
  for (let above = node.parent; above !== null; above = above.parent) if (above.type === type) return true
  return false
}

function holds({ html, shown }: Line): void {
  const { markdown } = htmlToMarkdown(`<p>${html}</p>`, null)
  const read = shownBy(markdown)
  assert.equal(read.map(([character]) => character).join(''), shown.map(([character]) => character).join(''), markdown)
  // A format may be left out where Markdown cannot show it; none may be seen where there was none.
  for (const [index, [, strong, em]] of read.entries()) {
    assert.ok((!strong || shown[index]?.[1] === true) && (!em || shown[index]?.[2] === true), markdown)
  }
}

test('marks of emphasis are never read as text, nor text as emphasised that was not', () => {
  fc.assert(fc.property(line, holds), { numRuns: runs(1_500, 10_000), seed: SEED })
})

test('emphasis that begins again beside letters or signs, inside one that began together with it', () => {
  const cases = [
    ['<b><i>a</i>b<i>c</i>d</b>', '***a*bcd**\n'],
    ['<em><b>x</b>(<b>(r)</b>)</em>', '***x**((r))*\n'],
    ['<b><i>a</i> <i>c</i></b>', '***a* *c***\n'],
    ['<b>a<i>b</i>c</b>', '**a*b*c**\n'],
  ] as const
  for (const [html, markdown] of cases) assert.equal(htmlToMarkdown(html, null).markdown, markdown)
})
