import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkSchema } from '../../src/pure/documents/json-schema/load.ts'
import { validateJsonSchema } from '../../src/pure/documents/json-schema/validate.ts'
import { DRAFTS } from '../../src/pure/documents/json-schema/keywords.ts'
import { runs, SEED } from '../support/counts.ts'
import { THEN } from './json-schema-cases.ts'
import { DATA, looseSchema } from './json-schema-random.ts'

/** Hostile schemas and data: refused by a bound or judged within it, never a throw, never a full stack. */

const BUDGET = 2_000_000

function codes(schema: unknown, data: unknown) {
  const { outcome, unsupported, steps } = validateJsonSchema(schema, data)
  // One more piece of work may be under way when the bound is passed.
  assert.ok(steps <= BUDGET + 2_000_000, `${steps} steps`)
  return [outcome, ...unsupported.map(({ code }) => code)]
}

/** Each definition applies the next one twice. */
function doubling(levels: number, leaf: unknown) {
  const steps = Array.from({ length: levels }, (_, index) => [`a${index}`, { allOf: [ref(index + 1), ref(index + 1)] }])
  return { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(steps), [`a${levels}`]: leaf } }
}

const ref = (index: number) => ({ $ref: `#/$defs/a${index}` })

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  return Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), {})
}

test('work that doubles thirty times is done once', () => {
  assert.deepEqual(codes(doubling(30, { type: 'string' }), 'a'), ['valid'])
  const { steps } = validateJsonSchema(doubling(30, { type: 'string' }), 'a')
  assert.ok(steps < 5_000, `${steps} steps`)
})

// attack: JSON schemas with exponential work, cycles or slow patterns
test('where it cannot be done once, the budget ends it', () => {
  const dynamic = { ...doubling(30, true), properties: { x: { $dynamicRef: '#/$defs/a0' } } }
  assert.deepEqual(codes(dynamic, 'a'), ['undetermined', 'budget_exceeded'])
  assert.deepEqual(codes({ ...doubling(30, { type: 'object' }), unevaluatedProperties: false }, {}), ['undetermined', 'budget_exceeded'])
  const { outcome, errors, truncated } = validateJsonSchema(doubling(30, { type: 'string' }), 1)
  assert.deepEqual([outcome, errors.length, truncated], ['invalid', 100, true])
})

test('deep schemas and data are refused before they are walked', () => {
  assert.deepEqual(
    codes(
      nested(5_000, (inner) => ({ allOf: [inner] })),
      1,
    ),
    ['undetermined', 'schema_too_deep'],
  )
  assert.deepEqual(
    codes(
      {},
      nested(5_000, (inner) => [inner]),
    ),
    ['undetermined', 'data_too_deep'],
  )
  assert.deepEqual(
    codes(
      nested(20, (inner) => ({ items: inner })),
      nested(63, (inner) => [inner]),
    ),
    ['valid'],
  )
  assert.equal(checkSchema(nested(5_000, (inner) => ({ not: inner }))).well_formed, null)
  const ring: unknown[] = []
  ring.push(ring)
  assert.deepEqual(codes({ const: ring }, 1), ['undetermined', 'schema_too_deep'])
})

test('large schemas and data are refused, and what is no JSON', () => {
  assert.deepEqual(codes({ description: 'x'.repeat(262_144) }, 1), ['undetermined', 'schema_too_large'])
  assert.deepEqual(codes({}, 'x'.repeat(5 * 1_048_576)), ['undetermined', 'data_too_large'])
  for (const odd of [undefined, Number.NaN, 1n, Symbol('x'), () => 1, new Date(0), [undefined]]) {
    assert.deepEqual(codes({}, odd), ['undetermined', 'data_not_json'])
  }
  for (const odd of [1, 'a', null, []]) assert.deepEqual(codes(odd, 1), ['undetermined', 'schema_not_json'])
})

test('references that follow each other for hundreds of steps do not fill the stack', () => {
  const steps = Array.from({ length: 600 }, (_, index) => [`a${index}`, { if: ref(index + 1), [THEN]: { anyOf: [ref(index + 1)] } }])
  const schema = { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(steps), a600: {} } }
  assert.deepEqual([...new Set(codes(schema, 1))], ['undetermined', 'budget_exceeded'])
})

test('twenty thousand properties on either side', () => {
  const many = (value: unknown) => Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, value]))
  assert.deepEqual(codes({ properties: many({}) }, { p7: 1 }), ['valid'])
  assert.deepEqual(codes({ additionalProperties: { type: 'integer' } }, many(1)), ['valid'])
  const { errors, truncated } = validateJsonSchema({ additionalProperties: false }, many(1))
  assert.deepEqual([errors.length, truncated], [100, true])
  const patterns = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`^x${index}`, {}]))
  assert.deepEqual(codes({ patternProperties: patterns }, many(1)), ['undetermined', 'budget_exceeded'])
})

test('equal items are found in one pass', () => {
  const stepsFor = (count: number) => {
    const items = Array.from({ length: count }, (_, index) => ({ a: index, b: [index] }))
    return validateJsonSchema({ uniqueItems: true }, items).steps
  }
  const ratio = stepsFor(8_000) / stepsFor(2_000)
  assert.ok(ratio < 5, `four times the items cost ${ratio} times the steps`)
})

test('the error list ends at a hundred and what was refused in vain is forgotten', () => {
  const items = Array.from({ length: 300 }, () => 'a')
  const listed = validateJsonSchema({ items: { type: 'number' } }, items)
  assert.deepEqual([listed.errors.length, listed.truncated], [100, true])
  const branch = validateJsonSchema({ anyOf: [{ items: { type: 'number' } }, { type: 'array' }] }, items)
  assert.deepEqual([branch.outcome, branch.errors.length, branch.truncated], ['valid', 0, false])
})

test('long and hostile names are cut and cleaned in what is told', () => {
  const name = `\u202e\u0000${'n'.repeat(500)}`
  const { errors } = validateJsonSchema({ properties: { [name]: { required: [name] } } }, { [name]: {} })
  const told = JSON.stringify(errors)
  assert.ok(told.length < 600, told)
  assert.ok(!/[\p{Cc}\p{Cf}]/u.test(told))
})

test('nothing throws, whatever the schema and the data', () => {
  const odd = fc.oneof(fc.anything({ maxDepth: 4 }), fc.jsonValue())
  const any = fc.oneof(...DRAFTS.map(looseSchema), odd)
  const property = fc.property(any, fc.oneof(DATA, odd), fc.constantFrom(undefined, ...DRAFTS), (schema, data, draft) => {
    const options = { steps: 20_000, ...(draft === undefined ? {} : { draft }) }
    const first = validateJsonSchema(schema, data, options)
    assert.deepEqual(validateJsonSchema(schema, data, options), first)
    assert.equal(first.errors.length > 0, first.outcome === 'invalid')
    assert.ok(first.outcome !== 'undetermined' || first.unsupported.length > 0)
    checkSchema(schema, options)
  })
  fc.assert(property, { numRuns: runs(300, 10_000), seed: SEED })
})

test('a check lists references to nowhere and patterns beyond the matcher, without data', () => {
  const found = checkSchema({ $defs: { a: { $ref: '#/$defs/b' }, c: { pattern: '(?<=a)b' }, d: { patternProperties: { '(': true } } } })
  assert.equal(found.well_formed, true)
  assert.deepEqual(
    found.unsupported.map(({ code, schema_path }) => [code, schema_path]),
    [
      ['ref_unresolvable', '/$defs/a/$ref'],
      ['pattern_unsupported', '/$defs/c/pattern'],
      ['pattern_invalid', '/$defs/d/patternProperties'],
    ],
  )
})

test('whatever reads all of the data costs steps in proportion, also where it finds nothing to apply', () => {
  const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, 1]))
  const list = (count: number) => Array.from({ length: count }, (_, index) => index)
  const onObjects: unknown[] = [
    { maxProperties: 1_000_000 },
    { minProperties: 1 },
    { properties: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`z${index}`, {}])), maxProperties: 1_000_000 },
    { properties: {}, additionalProperties: true },
    { patternProperties: { '^z': {} } },
    { propertyNames: true },
    { unevaluatedProperties: true },
  ]
  const onArrays: unknown[] = [
    { uniqueItems: true },
    { contains: {} },
    { prefixItems: [true], items: true },
    { unevaluatedItems: true },
    { const: list(20_000) },
    { enum: [list(2_000), list(20_000)] },
  ]
  const steps = (one: unknown, data: unknown) => {
    const found = validateJsonSchema({ allOf: Array.from({ length: 3 }, () => ({ properties: { x: one } })) }, { x: data })
    assert.ok(!found.unsupported.some(({ code }) => code !== 'budget_exceeded'), JSON.stringify(found.unsupported))
    return found.steps - validateJsonSchema({ allOf: Array.from({ length: 3 }, () => ({ properties: { x: one } })) }, {}).steps
  }
  for (const one of onObjects) {
    const [few, many] = [steps(one, wide(2_000)), steps(one, wide(20_000))]
    assert.ok(many > 5 * few && many > 10_000, `${JSON.stringify(one).slice(0, 60)}: ${few} and ${many} steps`)
  }
  for (const one of onArrays) {
    const [few, many] = [steps(one, list(2_000)), steps(one, list(20_000))]
    assert.ok(many > 5 * few || few > 1_000, `${JSON.stringify(one).slice(0, 60)}: ${few} and ${many} steps`)
    assert.ok(many > 10_000, `${JSON.stringify(one).slice(0, 60)}: ${few} and ${many} steps`)
  }
})

test('what strangers wrote is cut between characters: every answer has a canonical text', () => {
  const odd = fc.tuple(fc.nat(3), fc.nat(120)).map(([narrow, wide]) => 'a'.repeat(narrow) + '\u{1e958}'.repeat(wide))
  const schema = fc.oneof(
    odd.map((pattern) => ({ pattern })),
    odd.map((format) => ({ format })),
    odd.map(($ref) => ({ $ref: `#/${$ref}` })),
    odd.map((name) => ({ properties: { [name]: { properties: { [name]: { type: 'string' } } } } })),
    odd.map((value) => ({ const: value, enum: [value], [value]: true })),
  )
  fc.assert(
    fc.property(schema, odd, (one, name) => {
      for (const data of [name, { [name]: { [name]: 1 } }]) {
        // JSON.stringify writes half of a character as an escape.
        assert.doesNotMatch(JSON.stringify([validateJsonSchema(one, data), checkSchema(one)]), /\\ud[89a-f]/i)
      }
    }),
    { numRuns: runs(500, 10_000), seed: SEED },
  )
})
