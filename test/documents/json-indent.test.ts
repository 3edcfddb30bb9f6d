import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentJson } from '../../src/pure/documents/json-text.ts'
import { runs, SEED } from '../support/counts.ts'

test('only white space changes: numbers and escapes stay as they were written', () => {
  assert.equal(
    indentJson(String.raw`{"a":1.50,"b":[1E2,-0,{}],"\u0063":"x: {,\"","d":[ ] }`),
    String.raw`{
  "a": 1.50,
  "b": [
    1E2,
    -0,
    {}
  ],
  "\u0063": "x: {,\"",
  "d": []
}`,
  )
})

test('values are laid out as JSON.stringify does it, whatever the layout before', () => {
  const spaces = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(fc.jsonValue(), spaces, (value, indent) => {
      assert.equal(indentJson(JSON.stringify(value, null, indent)), JSON.stringify(value, null, 2))
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})
