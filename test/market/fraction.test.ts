import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  compare,
  distance,
  fraction,
  over,
  plus,
  readDecimal,
  times,
  toExact,
  toPlaces,
  toSignificant,
  type Fraction,
} from '../../src/pure/market/fraction.ts'
import { runs, SEED } from '../support/counts.ts'

const RUNS = { numRuns: runs(300, 5_000), seed: SEED }
const VALUE = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 60n }), fc.bigInt({ min: 1n, max: 10n ** 60n }), fc.integer({ min: 1, max: 60 }))
  .map(([numerator, denominator, scale]) => fraction(numerator % 10n ** BigInt(scale), denominator))

/** The integer that the text is when its point is left out, and its digits behind the point. */
function split(text: string): { scaled: bigint; places: bigint } {
  assert.match(text, /^(0|[1-9][0-9]*)(\.[0-9]+)?$/)
  const [whole = '', part = ''] = text.split('.')
  return { scaled: BigInt(whole + part), places: BigInt(part.length) }
}

/** Whether the text is the value rounded half to even at its last digit, told with products of integers alone. */
function isNearest({ numerator, denominator }: Fraction, text: string, last_place: bigint): boolean {
  const { scaled, places } = split(text)
  const unit = 10n ** (last_place < 0n ? -last_place : 0n)
  const all = last_place > 0n ? last_place : 0n
  // In units of the last place.
  const [left, right] = [scaled * 10n ** (all - (places < all ? places : all)), numerator * 10n ** all]
  const off = left * denominator - right
  const twice = 2n * (off < 0n ? -off : off)
  return twice < denominator * unit || (twice === denominator * unit && (left / unit) % 2n === 0n)
}

test('places: as close as it can be, a half to the even digit', () => {
  fc.assert(
    fc.property(VALUE, fc.integer({ min: 0, max: 30 }), (value, places) => isNearest(value, toPlaces(value, places), BigInt(places))),
    RUNS,
  )
  const halves = { '1/8': '0.12', '3/8': '0.38', '5/8': '0.62', '7/8': '0.88', '1/200': '0.00', '3/200': '0.02', '1/3': '0.33' }
  for (const [text, expected] of Object.entries(halves)) {
    const [numerator = '', denominator = ''] = text.split('/')
    assert.equal(toPlaces(fraction(BigInt(numerator), BigInt(denominator)), 2), expected, text)
  }
  assert.equal(toPlaces(fraction(5n, 2n), 0), '2')
  assert.equal(toPlaces(fraction(7n, 2n), 0), '4')
})

test('significant digits: no more than asked, as close as they can be', () => {
  const property = fc.property(VALUE, fc.integer({ min: 1, max: 40 }), (value, digits) => {
    if (value.numerator === 0n) return toSignificant(value, digits) === '0'
    const text = toSignificant(value, digits)
    const shown = text.replace('.', '').replace(/^0+/, '')
    // Where the first digit of the value stands, found by looking.
    let first = 0
    while (compare(value, power(first + 1)) >= 0) first++
    while (compare(value, power(first)) < 0) first--
    return shown.replace(/0+$/, '').length <= digits && isNearest(value, text, BigInt(digits - 1 - first))
  })
  fc.assert(property, RUNS)
  const shown: [bigint, bigint, string][] = [
    [1n, 3n, '0.333333'],
    [2n, 3n, '0.666667'],
    [999_999_9n, 10n, '1000000'],
    [1n, 16_000n, '0.0000625'],
    [123_456_789n, 1n, '123457000'],
    [1_000_000n, 1n, '1000000'],
    [1n, 10n ** 30n, `0.${'0'.repeat(29)}1`],
  ]
  for (const [numerator, denominator, text] of shown) assert.equal(toSignificant(fraction(numerator, denominator), 6), text)
})

function power(of_ten: number): Fraction {
  return of_ten < 0 ? fraction(1n, 10n ** BigInt(-of_ten)) : fraction(10n ** BigInt(of_ten), 1n)
}

test('arithmetic is exact, and a reciprocal is one', () => {
  const property = fc.property(VALUE, VALUE, (one, other) => {
    const sum = plus(one, other)
    const product = times(one, other)
    assert.equal(
      sum.numerator * one.denominator * other.denominator,
      (one.numerator * other.denominator + other.numerator * one.denominator) * sum.denominator,
    )
    assert.equal(product.numerator * one.denominator * other.denominator, one.numerator * other.numerator * product.denominator)
    assert.equal(compare(plus(distance(one, other), compare(one, other) < 0 ? one : other), compare(one, other) < 0 ? other : one), 0)
    if (one.numerator === 0n || other.numerator === 0n) return
    const [there, back] = [over(one, other), over(other, one)]
    assert.deepEqual(there, { numerator: back.denominator, denominator: back.numerator })
  })
  fc.assert(property, RUNS)
  assert.throws(() => over(fraction(1n, 1n), fraction(0n, 1n)), RangeError)
  assert.throws(() => fraction(-1n, 1n), RangeError)
})

test('decimal text is read and written without loss', () => {
  const decimals = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 38n }), fc.integer({ min: 0, max: 38 }))
  const property = fc.property(decimals, ([scaled, places]) => {
    const digits = String(scaled).padStart(places + 1, '0')
    const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
    const value = readDecimal(text)
    assert.ok(value !== null)
    assert.equal(value.numerator * 10n ** BigInt(places), scaled * value.denominator)
    const again = toExact(value)
    assert.equal(again, text.includes('.') ? text.replace(/\.?0+$/, '') : text)
  })
  fc.assert(property, RUNS)
  const literals: Record<string, string> = {
    '1e-7': '0.0000001',
    '1.5E3': '1500',
    '2e+2': '200',
    '5e-324': `0.${'0'.repeat(323)}5`,
    '007': '7',
  }
  for (const [literal, text] of Object.entries(literals)) assert.equal(toExact(readDecimal(literal) ?? fraction(0n, 1n)), text, literal)
  for (const other of [
    '',
    '-1',
    '+1',
    '1.',
    '.5',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    '1e9999',
    ' 1',
    '1 ',
    '1\n',
    '١',
    '9'.repeat(41),
  ]) {
    assert.equal(readDecimal(other), null, JSON.stringify(other))
  }
  assert.equal(toExact(fraction(1n, 3n)), null)
})
