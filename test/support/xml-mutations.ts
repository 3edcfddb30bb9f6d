import fc from 'fast-check'

/** A change of a text at a place. */
export interface Mutation {
  at: number
  length: number
  kind: 'delete' | 'insert' | 'repeat' | 'swap'
  text: string
}

const PIECES = [
  '<',
  '>',
  '/',
  '&',
  '"',
  "'",
  '=',
  ' ',
  '\n',
  ']',
  ']]>',
  '&amp;',
  '&#65;',
  '<a>',
  '</a>',
  '<a/>',
  '<!-- -->',
  '<?p?>',
  '<![CDATA[x]]>',
]
const ODD = ['\u0000', '\u0001', 'é', '€', '😀', '\ufffe', '\u0085', '\r', '\t', ':', 'xmlns:q="u"', ' b="1"', 'x', '0', '-', '.']

export const MUTATION: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 30 }),
  kind: fc.constantFrom('delete', 'insert', 'insert', 'repeat', 'swap'),
  text: fc.constantFrom(...PIECES, ...ODD),
})

export function mutated(text: string, { at, length, kind, text: piece }: Mutation): string {
  const place = at % (text.length + 1)
  const [before, inside, after] = [text.slice(0, place), text.slice(place, place + length), text.slice(place + length)]
  switch (kind) {
    case 'delete':
      return before + after
    case 'insert':
      return before + piece + inside + after
    case 'repeat':
      return before + inside + inside + after
    case 'swap':
      return before + after.slice(0, length) + inside + after.slice(length)
  }
}
