/** Searches for the schema and data that cost the interpreter most processor time within its budget of steps. */
// attack: JSON schemas with exponential work, cycles or slow patterns

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateJsonSchema } from '../../../src/pure/documents/json-schema/validate.ts'
import { seeded, type Random } from '../../fuzz/random.ts'
import { runs, SEED } from '../../support/counts.ts'
import { THEN } from '../../documents/json-schema-cases.ts'

/**
 * A validation may cost at most this many calibration loops, each some 25 ms of processor time; what is guarded against cost 500 and more.
 * The dearest cost 5 loops (125 ms) when the code is warm and up to 20 when it is cold or another program has the caches.
 */
const LOOPS_MAX = 50

/** Repetitions of a case that seems too dear: another program may have had the caches. */
const SAMPLES = 4

const SCHEMA_CHARS = 250_000
const SCHEMA_ELEMENTS = 30_000
const WIDTH = 5_000
const DATA_NODES = 190_000

/** Elements that a schema may still be given: widths of its levels multiply. */
let elements_left = Infinity

function times<Item>(count: number, make: (index: number) => Item): Item[] {
  elements_left -= count
  if (elements_left < 0) throw new RangeError('The schema becomes too large.')
  return Array.from({ length: count }, (_, index) => make(index))
}

const named = (count: number, value: unknown, name = 'k') => Object.fromEntries(times(count, (index) => [`${name}${index}`, value]))

type Make = (random: Random) => unknown

const NAMES = ['k', 'long'.repeat(18), '\u200b', 'é'.repeat(9)]

const PATTERNS = [
  '^[a-z]+$',
  'k|x',
  '.*[ab]{3}a.{15}$',
  '(a?){500}a{500}$',
  String.raw`^(\p{L}?){400}(\p{L}){400}$`,
  '(x+x+)+y',
  '[^a]{900}',
  '(?=a)',
  String.raw`\p{L}|`.repeat(100),
  '(?:ab|a.|b?){40}$',
]

/** Schemas that are cheap to write and cost their place something. `inner` stands where a keyword takes a schema. */
const LEAVES: readonly Make[] = [
  () => true,
  () => false,
  () => ({}),
  () => ({ type: ['string', 'null'] }),
  () => ({ maxProperties: 9e6 }),
  () => ({ minItems: 9e6 }),
  () => ({ maxLength: 9e6 }),
  () => ({ uniqueItems: true }),
  () => ({ const: { a: 1 } }),
  () => ({ multipleOf: 5e-324 }),
  () => ({ multipleOf: 0.01 }),
  () => ({ $ref: '#/$defs/d' }),
  () => ({ $dynamicRef: '#n' }),
  () => ({ $ref: '#/nowhere' }),
  () => ({ unevaluatedProperties: true }),
  () => ({ unevaluatedItems: true }),
  (random) => ({ const: named(random.pick([1, 100, 1_000]), 1) }),
  (random) => ({ enum: times(random.pick([1, 100, 2_000]), (index) => random.pick([index, `v${index}`, [index], { k0: index }])) }),
  (random) => ({ required: times(random.pick([1, 30, 1_000]), (index) => random.pick(NAMES) + index) }),
  (random) => ({ dependentRequired: named(random.pick([1, 30, 500]), ['a'], random.pick(['k', 'z'])) }),
  (random) => ({ properties: named(random.pick([1, 30, 500]), true, random.pick(['k', 'z'])) }),
  (random) => ({ pattern: random.pick(PATTERNS) }),
  (random) => ({ patternProperties: { [random.pick(PATTERNS)]: true } }),
]

const WRAPS: readonly ((inner: Make, random: Random, width: number) => unknown)[] = [
  (inner, random, width) => ({ allOf: times(width, () => inner(random)) }),
  (inner, random, width) => ({ anyOf: times(width, () => inner(random)) }),
  (inner, random) => ({ anyOf: [inner(random), true] }),
  (inner, random, width) => ({ oneOf: times(width + 1, () => inner(random)) }),
  (inner, random) => ({ not: inner(random) }),
  (inner, random) => ({ if: inner(random), [THEN]: inner(random), else: inner(random) }),
  (inner, random) => ({ properties: { k0: inner(random) }, additionalProperties: inner(random) }),
  (inner, random) => ({ additionalProperties: inner(random) }),
  (inner, random) => ({ propertyNames: inner(random) }),
  (inner, random) => ({ patternProperties: { [random.pick(PATTERNS)]: inner(random) } }),
  (inner, random) => ({ items: inner(random) }),
  (inner, random, width) => ({ prefixItems: times(width, () => inner(random)), items: inner(random) }),
  (inner, random) => ({ contains: inner(random), minContains: random.pick([0, 1, 1_000]) }),
  (inner, random, width) => ({ dependentSchemas: Object.fromEntries(times(width, (index) => [`k${index}`, inner(random)])) }),
  (inner, random) => ({ allOf: [inner(random)], unevaluatedProperties: inner(random) }),
  (inner, random) => ({ allOf: [inner(random)], unevaluatedItems: inner(random) }),
  (inner, random) => ({ $id: `${'a/'.repeat(random.pick([1, 20_000]))}x`, allOf: [inner(random)] }),
]

const DATA: readonly Make[] = [
  (random) => named(60_000, random.pick([1, 'v', null, 0.07])),
  (random) => named(40_000, 1, random.pick(NAMES)),
  (random) => times(DATA_NODES, random.pick([() => 1, (index: number) => index, () => 1.7976931348623157e308, () => 0.07])),
  (random) => times(60_000, (index) => ({ k0: index, [random.pick(NAMES)]: 'v' })),
  () => times(60_000, (index) => [index, 1]),
  (random) => times(90_000, (index) => `${random.pick(['a', 'ab', 'é', '😀'])}${index}`),
  (random) => random.pick(['a', 'ab', 'é', '😀', 'x']).repeat(1_000_000),
  (random) => times(40, () => times(20_000, () => random.pick(['a', 'b', 'x'])).join('')),
  (random) => times(50, () => 0).reduce<unknown>((inner) => random.pick([{ k0: inner }, [inner]]), named(30_000, 1)),
  () => times(300, () => named(300, 1)),
]

interface Case {
  /** Numbers of the choices, so that a neighbour of a dear case can be tried. */
  seed: number
  schema: unknown
  data: unknown
}

function makeCase(seed: number): Case | null {
  const random = seeded(SEED, seed)
  // The widths of all levels multiply.
  let room = WIDTH
  const nest = (depth: number): Make => {
    if (depth === 0) return random.pick(LEAVES)
    const wrap = random.pick(WRAPS)
    const width = Math.min(room, random.pick([1, 10, 300, 5_000]))
    room = Math.floor(room / width)
    const inner = nest(depth - 1)
    return () => wrap(inner, random, width)
  }
  const schema = bounded(() => {
    const root = nest(1 + random.below(4))(random)
    const names = { $dynamicAnchor: 'n', $defs: { d: random.pick(LEAVES)(random) } }
    return typeof root === 'boolean' ? root : { ...(root as object), ...(random.chance(0.5) ? names : { $defs: names.$defs }) }
  })
  if (schema === null || JSON.stringify(schema).length > SCHEMA_CHARS) return null
  return { seed, schema, data: random.pick(DATA)(random) }
}

/** Makes a schema; null when it becomes too large. */
function bounded(make: () => unknown): unknown {
  elements_left = SCHEMA_ELEMENTS
  try {
    return make()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  } finally {
    elements_left = Infinity
  }
}

const cpu_ms = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Work like the interpreter's: names, tables, small objects. */
function calibration(): number {
  let sum = 0
  const table = new Map<string, { value: number }>()
  for (let index = 0; index < 30_000; index++) table.set(`k${index}`, { value: index })
  for (let round = 0; round < 4; round++) for (const [name, { value }] of table) sum += name.length + value
  for (const name of table.keys()) sum += Object.keys({ [name]: 1, b: 2 }).length
  return sum
}

/** Processor time in calibration loops, the least of a few samples while it seems too much. */
function loopsOf({ schema, data }: Case): number {
  let least = Infinity
  for (let sample = 0; sample < SAMPLES && least > LOOPS_MAX; sample++) {
    const cost_ms = cpu_ms(() => validateJsonSchema(schema, data))
    const loops_ms = Math.min(cpu_ms(calibration), cpu_ms(calibration), cpu_ms(calibration))
    least = Math.min(least, cost_ms / loops_ms)
  }
  return least
}

test('the dearest of many schemas and data stays within its bound of processor time', (context) => {
  for (let round = 0; round < 5; round++) calibration()
  const found: { loops: number; seed: number; text: string }[] = []
  for (let seed = 0; seed < runs(30, 100); seed++) {
    const made = makeCase(seed)
    if (made === null) continue
    const loops = loopsOf(made)
    found.push({ loops, seed, text: JSON.stringify(made.schema).slice(0, 160) })
  }
  found.sort((a, b) => b.loops - a.loops)
  for (const { loops, seed, text } of found.slice(0, 5)) context.diagnostic(`${loops.toFixed(1)} loops: case ${seed}, ${text}`)
  assert.ok(found.length > runs(10, 40), `only ${found.length} cases`)
  assert.deepEqual(
    found.filter(({ loops }) => loops > LOOPS_MAX),
    [],
  )
})

/** What cost 15 s and more before every loop was counted: wide schemas over wide data, and others that the search came upon. */
const KNOWN: Record<string, () => [schema: unknown, data: unknown]> = {
  'properties that no name has': () => [{ allOf: times(5_000, () => ({ properties: named(3, true, 'z') })) }, named(60_000, 1)],
  'bounds of a count': () => [{ allOf: times(9_000, () => ({ maxProperties: 9e6 })) }, named(60_000, 1)],
  'a constant far inside': () => [{ allOf: times(3_000, () => ({ properties: { x: { const: named(5, 1) } } })) }, { x: named(60_000, 1) }],
  'an enumeration of objects': () => [{ allOf: times(900, () => ({ properties: { x: { enum: [{ a: 1 }] } } })) }, { x: named(60_000, 1) }],
  'multiples between far exponents': () => [{ items: { allOf: times(20, () => ({ multipleOf: 5e-324 })) } }, times(60_000, () => 1.5e308)],
  'failures that are forgotten, under a long path': () => [
    times(28, () => 0).reduce<unknown>((inner) => ({ properties: { ['n'.repeat(70)]: inner } }), { items: { anyOf: [false, true] } }),
    times(28, () => 0).reduce<unknown>(
      (inner) => ({ ['n'.repeat(70)]: inner }),
      times(60_000, () => 1),
    ),
  ],
  'a reference to nowhere under a long path': () => [
    times(28, () => 0).reduce<unknown>((inner) => ({ properties: { ['n'.repeat(70)]: inner } }), { items: { $ref: '#/x' } }),
    times(28, () => 0).reduce<unknown>(
      (inner) => ({ ['n'.repeat(70)]: inner }),
      times(60_000, () => 1),
    ),
  ],
  'references under a long identifier': () => [
    { $id: `http://x/${'a'.repeat(100_000)}`, $defs: { a: true }, allOf: times(7_000, () => ({ $ref: '#/$defs/a' })) },
    1,
  ],
  'identifiers under a long identifier': () => [
    { $id: `http://x/${'a/'.repeat(50_000)}`, $defs: Object.fromEntries(times(6_000, (index) => [`d${index}`, { $id: `a${index}` }])) },
    1,
  ],
  'schemas taken in again and again': () => [
    {
      x: times(50, () => 0).reduce<unknown>((inner) => ({ not: inner }), { required: times(20_000, (index) => `r${index}`) }),
      allOf: times(50, (index) => ({ $ref: `#/x${'/not'.repeat(index)}` })),
    },
    1,
  ],
  'a pattern with a state for nearly every character': () => [{ pattern: '.*[ab]{3}a.{15}$' }, noise('ab', 2_000_000)],
  'a long pattern of a script': () => [{ pattern: String.raw`^(\p{L}?){400}(\p{L}){400}$` }, noise('éa', 1_000_000)],
  'patterns that write out repetitions': () => [
    { patternProperties: Object.fromEntries(times(700, (index) => [`${'a{900}'.repeat(4)}${index}`, true])) },
    { a: 1 },
  ],
  'patterns of properties': () => [
    { patternProperties: Object.fromEntries(times(60, (index) => [String.raw`\p{L}|`.repeat(600) + String(index), true])) },
    { a: 1 },
  ],
}

function noise(letters: string, length: number): string {
  const random = seeded(SEED, length)
  return times(length, () => letters.charAt(random.below(letters.length))).join('')
}

test('what used to cost seconds is bounded too', (context) => {
  for (let round = 0; round < 5; round++) calibration()
  for (const [name, make] of Object.entries(KNOWN)) {
    const [schema, data] = make()
    const loops = loopsOf({ seed: 0, schema, data })
    context.diagnostic(`${name}: ${loops.toFixed(1)} loops`)
    assert.ok(loops <= LOOPS_MAX, `${name}: ${loops.toFixed(1)} loops`)
  }
})
