import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findJsonRanges } from '../../src/pure/documents/json-text.ts'
import { runs, SEED } from '../support/counts.ts'

/** What is marked in the text for a pointer, and whether it is the value itself. */
function marked(text: string, pointer: string): [string, boolean] | null {
  const place = findJsonRanges(text, [pointer]).get(pointer)
  return place === undefined ? null : [text.slice(place.start, place.end), place.exact]
}

test('members are marked with their names, containers by their opening bracket', () => {
  const text = '{ "a": [10, {"b": "x"}],\n  "c/d": {"~": null, "": true} }'
  assert.deepEqual(marked(text, ''), ['{', true])
  assert.deepEqual(marked(text, '/a'), ['"a": [', true])
  assert.deepEqual(marked(text, '/a/0'), ['10', true])
  assert.deepEqual(marked(text, '/a/1'), ['{', true])
  assert.deepEqual(marked(text, '/a/1/b'), ['"b": "x"', true])
  assert.deepEqual(marked(text, '/c~1d'), ['"c/d": {', true])
  assert.deepEqual(marked(text, '/c~1d/~0'), ['"~": null', true])
  assert.deepEqual(marked(text, '/c~1d/'), ['"": true', true])
})

test('what is absent is marked at the nearest container around it', () => {
  const text = '{"a": [1, {"b": 2}]}'
  assert.deepEqual(marked(text, '/z'), ['{', false])
  assert.deepEqual(marked(text, '/a/7/b'), ['"a": [', false])
  assert.deepEqual(marked(text, '/a/1/z/y'), ['{', false])
  assert.deepEqual(marked(text, '/a/0/z'), ['1', false])
})

test('names that are written with escapes are met, and marks inside texts end nothing', () => {
  const text = String.raw`{"\u0061": "}\"]", "b\\": ["\\", "{"], "q\"": 1}`
  assert.deepEqual(marked(text, '/a'), [String.raw`"\u0061": "}\"]"`, true])
  assert.deepEqual(marked(text, '/b\\/1'), ['"{"', true])
  assert.deepEqual(marked(text, '/q"'), ['"q\\"": 1', true])
})

/** Every pointer of a value, with the value. */
function* pointersOf(value: unknown, above = ''): Generator<[string, unknown]> {
  yield [above, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* pointersOf(inner, `${above}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

test('every scalar of every document is found where it stands', () => {
  const spaces = fc.constantFrom(undefined, 0, 2, '\t')
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), spaces, (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      // `-0` is written as 0, and a key `__proto__` is refused by strict reading.
      const read: unknown = JSON.parse(text)
      const wanted = [...pointersOf(read)]
      const places = findJsonRanges(
        text,
        wanted.map(([pointer]) => pointer),
      )
      for (const [pointer, inner] of wanted) {
        const { start, end, exact } = places.get(pointer) ?? { start: 0, end: 0, exact: false }
        assert.ok(exact, pointer)
        const piece = text.slice(start, end)
        if (typeof inner === 'object' && inner !== null) assert.match(piece, /[[{]$/)
        else assert.ok(piece.endsWith(JSON.stringify(inner)), `${pointer} is ${piece}`)
      }
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})

test('a text that is no JSON ends, and throws nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '1', '\\', ' ') }), (text) => {
      findJsonRanges(text, ['', '/a', '/0/1'])
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})
