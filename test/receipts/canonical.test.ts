import assert from 'node:assert/strict'
import { test } from 'node:test'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { CANONICAL_DEPTH_MAX, CanonicalError, canonicalText } from '../../src/pure/receipts/canonical.ts'
import { runs, SEED } from '../support/counts.ts'

/** RFC 8785 Appendix B: IEEE 754 bits and the text of the number. */
const RFC_NUMBERS: readonly (readonly [bits: bigint, text: string])[] = [
  [0x0000000000000000n, '0'],
  [0x8000000000000000n, '0'],
  [0x0000000000000001n, '5e-324'],
  [0x8000000000000001n, '-5e-324'],
  [0x7fefffffffffffffn, '1.7976931348623157e+308'],
  [0xffefffffffffffffn, '-1.7976931348623157e+308'],
  [0x4340000000000000n, '9007199254740992'],
  [0xc340000000000000n, '-9007199254740992'],
  [0x4430000000000000n, '295147905179352830000'],
  [0x44b52d02c7e14af5n, '9.999999999999997e+22'],
  [0x44b52d02c7e14af6n, '1e+23'],
  [0x44b52d02c7e14af7n, '1.0000000000000001e+23'],
  [0x444b1ae4d6e2ef4en, '999999999999999700000'],
  [0x444b1ae4d6e2ef4fn, '999999999999999900000'],
  [0x444b1ae4d6e2ef50n, '1e+21'],
  [0x3eb0c6f7a0b5ed8cn, '9.999999999999997e-7'],
  [0x3eb0c6f7a0b5ed8dn, '0.000001'],
  [0x41b3de4355555553n, '333333333.3333332'],
  [0x41b3de4355555554n, '333333333.33333325'],
  [0x41b3de4355555555n, '333333333.3333333'],
  [0x41b3de4355555556n, '333333333.3333334'],
  [0x41b3de4355555557n, '333333333.33333343'],
  [0xbecbf647612f3696n, '-0.0000033333333333333333'],
  [0x43143ff3c1cb0959n, '1424953923781206.2'],
]

function double(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, bits)
  return view.getFloat64(0)
}

test('numbers are written as RFC 8785 Appendix B lists them', () => {
  for (const [bits, text] of RFC_NUMBERS) assert.equal(canonicalText(double(bits)), text)
  for (const bits of [0x7fffffffffffffffn, 0x7ff0000000000000n, 0xfff0000000000000n]) {
    assert.throws(() => canonicalText([double(bits)]), CanonicalError)
  }
})

test('members are sorted by UTF-16 code units as in RFC 8785 §3.2.3', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\u{1f600}': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  const expected = ['Carriage Return', 'One', 'Control', 'Latin Small Letter O With Diaeresis', 'Euro Sign', 'Emoji: Grinning Face']
  const order = [...canonicalText(value).matchAll(/:"([^"]*)"/g)].map((match) => match[1])
  assert.deepEqual(order, [...expected, 'Hebrew Letter Dalet With Dagesh'])
})

test('the example of RFC 8785 §3.2.2 comes out as in §3.2.3', () => {
  const source = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
  assert.equal(canonicalText(JSON.parse(source)), expected)
})

test('names that engines keep elsewhere still stand in code-unit order', () => {
  assert.equal(canonicalText({ 10: 'a', 9: 'b', '-1': 'c' }), '{"-1":"c","10":"a","9":"b"}')
  assert.equal(canonicalText(JSON.parse('{"b":1,"__proto__":{"x":-0},"":2}')), '{"":2,"__proto__":{"x":0},"b":1}')
  assert.equal(canonicalText(Object.assign(Object.create(null), { b: 1, a: [] })), '{"a":[],"b":1}')
})

class Shape {
  toJSON() {
    return 1
  }
}

test('whatever JSON cannot yield throws the one typed error', () => {
  const holed = [1]
  holed.length = 2
  const looped: unknown[] = []
  looped.push(looped)
  const scalars = [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('s'), () => 1, '\ud800', 'a\udc00b']
  const objects = [holed, looped, new Map(), new Date(0), /x/, new Shape(), Object(1), new Uint8Array(1)]
  for (const value of [...scalars, ...objects]) {
    for (const wrapped of [value, [value], { a: value }, { b: 1, a: [value] }]) assert.throws(() => canonicalText(wrapped), CanonicalError)
  }
  assert.throws(() => canonicalText({ '\ud800': 1 }), CanonicalError)
  assert.throws(() => canonicalText({ toJSON: () => 'other' }), CanonicalError)
})

test('nesting is written up to the bound and refused beyond it, without overflow', () => {
  const nested = (depth: number): unknown => JSON.parse('[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2))
  assert.equal(canonicalText(nested(64)), '[{"a":'.repeat(32) + '1' + '}]'.repeat(32))
  assert.equal(canonicalText(nested(CANONICAL_DEPTH_MAX)).length, 7 * (CANONICAL_DEPTH_MAX / 2) + CANONICAL_DEPTH_MAX / 2 + 1)
  for (const depth of [CANONICAL_DEPTH_MAX + 2, 20_000]) assert.throws(() => canonicalText(nested(depth)), CanonicalError)
})

/** JSON values with the names that go wrong: digits, the empty name, prototypes, text beyond the first plane. */
const NAME = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.nat(120).map(String),
  fc.constantFrom('', '__proto__', 'constructor', 'toString', '\u{1f600}', '\ufb33', '"', '\\'),
)
const { value: JSON_VALUE } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, -0, 1e21, 1e-7),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(NAME, tie('value')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

test('any JSON value comes out as from the package canonicalize', () => {
  fc.assert(
    fc.property(JSON_VALUE, (value) => assert.equal(canonicalText(value), canonicalize(value))),
    { numRuns: runs(2_000, 100_000), seed: SEED },
  )
})
