import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Draft } from '../../src/pure/documents/json-schema/keywords.ts'
import { validateJsonSchema } from '../../src/pure/documents/json-schema/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { THEN } from './json-schema-cases.ts'
import { DATA, randomSchema } from './json-schema-random.ts'

/**
 * A verdict must hold whatever the undecided parts of a schema would have said. Every reference that leads nowhere and every pattern that
 * cannot be matched is replaced by what it may stand for: the schema that comes of it has nothing undecided, and its verdict, which
 * json-schema-ajv.test.ts and the official suite compare, must be the same. (ajv 8.20.0 itself counts what failing branches evaluated.)
 */

const UNKNOWN_REF = 'https://example.com/unknown.json'
const UNKNOWN_PATTERN = '^(?=x)'

/** What an unknown schema may be; the middle ones evaluate properties and items. */
const MEANINGS: readonly unknown[] = [
  true,
  false,
  { properties: { a: true, b: true } },
  { additionalProperties: true, items: true },
  { properties: { a: { type: 'string' } }, contains: { type: 'integer' } },
]

type Pick = (count: number) => number

function replaced(value: unknown, pick: Pick): unknown {
  if (Array.isArray(value)) return value.map((one) => replaced(one, pick))
  if (typeof value !== 'object' || value === null) return value
  const record = value as Record<string, unknown>
  if (record['$ref'] === UNKNOWN_REF) {
    const { $ref: _, ...rest } = record
    return {
      ...(replaced(rest, pick) as object),
      allOf: [...((replaced(rest['allOf'] ?? [], pick) as unknown[]) ?? []), MEANINGS[pick(MEANINGS.length)]],
    }
  }
  const entries = Object.entries(record).map(([name, inside]): [string, unknown] => {
    // Matches everything, or nothing.
    if (name === UNKNOWN_PATTERN) return [pick(2) === 0 ? '' : '$.', replaced(inside, pick)]
    if (name === 'pattern' && inside === UNKNOWN_PATTERN) return ['pattern', pick(2) === 0 ? '' : '$.']
    return [name, replaced(inside, pick)]
  })
  return Object.fromEntries(entries)
}

/** Puts what cannot be decided into a schema: under some keywords, and beside those on what is left. */
function unknownIn(schema: unknown, pick: Pick): unknown {
  if (Array.isArray(schema)) return schema.map((one) => unknownIn(one, pick))
  if (typeof schema === 'boolean') return pick(4) === 0 ? { $ref: UNKNOWN_REF } : schema
  if (typeof schema !== 'object' || schema === null) return schema
  if (pick(6) === 0) return { $ref: UNKNOWN_REF }
  const made = Object.entries(schema as Record<string, unknown>).map(([name, inside]): [string, unknown] => {
    if (name === 'pattern') return [name, pick(2) === 0 ? UNKNOWN_PATTERN : inside]
    if (name === 'enum' || name === 'const' || name === '$ref') return [name, inside]
    if (name === 'patternProperties' && pick(3) === 0) return [name, { [UNKNOWN_PATTERN]: true }]
    return [name, unknownIn(inside, pick)]
  })
  return Object.fromEntries(made)
}

/** The root stays a schema that can hold the keyword on what is left. */
function withUnknown(schema: Record<string, unknown>, pick: Pick): object {
  return Object.fromEntries(Object.entries(schema).map(([name, inside]) => [name, unknownIn(inside, pick)]))
}

function picker(numbers: readonly number[]): Pick {
  let next = 0
  return (count) => (numbers[next++ % numbers.length] ?? 0) % count
}

const numbers = fc.array(fc.nat(59), { minLength: 4, maxLength: 12 })
const COMPLETIONS = 6

for (const draft of ['2020-12', '2019-09'] as const satisfies readonly Draft[]) {
  test(`a verdict holds whatever the undecided parts would say: ${draft}`, () => {
    const decided = { valid: 0, invalid: 0, undetermined: 0 }
    const left = fc.constantFrom('unevaluatedProperties', 'unevaluatedItems')
    const property = fc.property(
      randomSchema(draft),
      left,
      fc.constantFrom(false, { type: 'string' }),
      DATA,
      numbers,
      fc.array(numbers, { minLength: COMPLETIONS, maxLength: COMPLETIONS }),
      (random, keyword, rest, data, where, choices) => {
        const schema = { ...withUnknown(random, picker(where)), [keyword]: rest }
        const { outcome, unsupported } = validateJsonSchema(schema, data, { draft })
        decided[outcome]++
        if (outcome === 'undetermined' || unsupported.length === 0) return
        for (const choice of choices) {
          const complete = replaced(schema, picker(choice)) as object
          const verdict = validateJsonSchema(complete, data, { draft }).outcome
          // A loop of references stays undecided.
          if (verdict !== 'undetermined') assert.equal(verdict, outcome, JSON.stringify({ schema, data, complete }))
        }
      },
    )
    fc.assert(property, { numRuns: runs(3_000, 30_000), seed: SEED })
    assert.ok(decided.undetermined > 20 && decided.valid > 20 && decided.invalid > 20, JSON.stringify(decided))
  })
}

test('what an unknown schema may have evaluated is not certain to be left over', () => {
  const of = (schema: object, data: unknown, draft: Draft = '2020-12') => validateJsonSchema(schema, data, { draft }).outcome
  const unknown = { $ref: UNKNOWN_REF }
  for (const draft of ['2020-12', '2019-09'] as const) {
    assert.equal(of({ ...unknown, unevaluatedProperties: false }, { a: 1 }, draft), 'undetermined')
    assert.equal(of({ ...unknown, unevaluatedItems: false }, [1], draft), 'undetermined')
    // A property that is evaluated in any case, and one that fails in any case.
    assert.equal(of({ ...unknown, required: ['b'], unevaluatedProperties: false }, { a: 1 }, draft), 'invalid')
    assert.equal(of({ anyOf: [unknown, true], properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, draft), 'valid')
  }
  assert.equal(of({ $dynamicRef: UNKNOWN_REF, unevaluatedProperties: false }, { a: 1 }), 'undetermined')
  const condition = { properties: { k: { pattern: UNKNOWN_PATTERN } } }
  assert.equal(
    of({ if: condition, [THEN]: { properties: { k: true, a: true } }, unevaluatedProperties: false }, { k: 'y', a: 1 }),
    'undetermined',
  )
  // Whichever branch counts, b is left over.
  assert.equal(of({ if: condition, [THEN]: { properties: { k: true } }, unevaluatedProperties: false }, { k: 'y', b: 1 }), 'invalid')
})
