import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonBytes } from '../../src/cli/line-writer.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText } from '../support/identifiers.ts'
import { mutations } from '../support/mutate.ts'
import { fixedSources } from '../support/sources.ts'
import { readVectors } from '../support/vectors.ts'

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)
const block = Buffer.alloc(262_144)
const START = 7

/** What the writer says of a value, null where it leaves it to JSON.stringify. */
function textOf(writer: JsonBytes, value: unknown, room = block): string | null {
  const end = writer.write(value, START)
  return end === null ? null : room.toString('utf8', START, end)
}

test('results of every tool, for its vectors and for inputs near them', async () => {
  let written = 0
  for (const tool of tools) {
    const writer = new JsonBytes(block, [tool.scope])
    const inputs = [tool.example, ...(readVectors(tool)?.cases ?? []).map((vector) => vector.in)]
    const near = fc.sample(mutations(inputs, toolSchemas(tool).input), { numRuns: runs(30, 1_000), seed: SEED })
    for (const input of [...inputs, ...near]) {
      const read = tool.input.safeParse(input)
      if (!read.success) continue
      const result = await Promise.resolve(tool.execute(read.data, sources)).catch(() => null)
      if (result === null) continue
      assert.equal(textOf(writer, result), JSON.stringify(result), tool.id)
      written++
    }
  }
  assert.ok(written > 5 * tools.length, `only ${written} results`)
})

const name = fc.oneof(fc.constantFrom('a', 'code', '__proto__', '', '10', '9', 'é', '"', 'x'.repeat(600)), anyText)
const leaf = fc.oneof(
  anyText,
  fc.constantFrom('"', '\\', '\u007f', '\u2028', '\ud800', 'x'.repeat(97), 'x'.repeat(96)),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(-0, 0, 9, 10, 99, 100, 1e21),
)
const { value: hostile } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 6 }),
  object: fc
    .dictionary(name, fc.oneof(tie('value'), fc.constant(undefined)), { maxKeys: 6, noNullPrototype: false })
    .map((object) => object),
}))

test('any plain value, whatever its names and texts', () => {
  const writer = new JsonBytes(block, [])
  let written = 0
  fc.assert(
    fc.property(hostile, fc.boolean(), (value, closed) => {
      const given = closed ? deepFrozen(value) : value
      const text = textOf(writer, given)
      if (text !== null) written++
      assert.ok(text === null || text === JSON.stringify(given))
      // An object that is known by now is the same the second time.
      assert.equal(textOf(writer, given), text)
    }),
    { numRuns: runs(2_000, 100_000), seed: SEED },
  )
  assert.ok(written > runs(1_000, 50_000))
})

test('what is no plain data is left alone', () => {
  const writer = new JsonBytes(block, [])
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const values = [
    undefined,
    1n,
    Symbol('s'),
    () => 1,
    new Date(0),
    new Map(),
    Object.create({ inherited: 1 }),
    Object('s'),
    { toJSON: () => 1 },
    [undefined],
    circle,
  ]
  values.push(Object.freeze({ at: new Date(0), toJSON: () => 1 }))
  for (const value of values) assert.equal(textOf(writer, value), null)
  assert.equal(textOf(writer, { a: undefined, b: 1 }), '{"b":1}')
  assert.equal(textOf(writer, { a: undefined }), '{}')
})

test('a value that does not fit is left alone, and nothing is written beyond the block', () => {
  const whole = Buffer.alloc(8_192)
  const room = whole.subarray(0, 4_096)
  const writer = new JsonBytes(room, [])
  for (let length = 0; length < 6_000; length += 13) {
    for (const value of [{ long: 'x'.repeat(length) }, Array.from({ length }, () => 7), { é: 'é'.repeat(length) }]) {
      const text = textOf(writer, value, room)
      const right = JSON.stringify(value)
      assert.ok(text === right || (text === null && Buffer.byteLength(right) > 4_096 - 1_100))
    }
  }
  assert.ok(whole.subarray(4_096).every((byte) => byte === 0))
})

test('an object that may change is read anew each time', () => {
  const writer = new JsonBytes(block, [])
  const inner = { count: 1 }
  const outer = Object.freeze({ inner })
  assert.equal(textOf(writer, outer), '{"inner":{"count":1}}')
  inner.count = 2
  assert.equal(textOf(writer, outer), '{"inner":{"count":2}}')
})

function deepFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFrozen)
  return value
}
