import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencyDigits, parseAmount, formatMinorUnits } from '../../src/pure/documents/reconcile/values.ts'
import { ByteColumn, IntColumn, MoneyColumn, TextPool } from '../../src/pure/documents/reconcile/columns.ts'
import { runs, SEED } from '../support/counts.ts'

const OPTIONS = { numRuns: runs(100, 2_000), seed: SEED }

test('equal texts have one number, others have others, and each gives its text back', () => {
  const pool = new TextPool()
  const known = new Map<string, number>()
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (text) => {
      const found = pool.find(text)
      assert.equal(found, known.get(text) ?? 0)
      const number = pool.number(text)
      if (known.has(text)) assert.equal(number, known.get(text))
      known.set(text, number)
      assert.equal(pool.text(number), text)
    }),
    OPTIONS,
  )
  assert.equal(new Set(known.values()).size, known.size)
  assert.deepEqual([pool.number(''), pool.number(null), pool.text(0), pool.find('never seen before')], [0, 0, null, 0])
})

test('a hundred thousand texts keep their numbers while the pool grows', () => {
  const pool = new TextPool()
  const text = (index: number) => `ID-${index % 7}-${index}`
  const numbers = Array.from({ length: 100_000 }, (_, index) => pool.number(text(index)))
  assert.equal(new Set(numbers).size, numbers.length)
  for (const [index, number] of numbers.entries()) {
    assert.equal(pool.number(text(index)), number)
    assert.equal(pool.text(number), text(index))
  }
})

test('a column keeps what was set last at each index, and is zero everywhere else', () => {
  const index = fc.oneof(fc.nat(300), fc.nat(40_000))
  const steps = fc.array(fc.tuple(index, fc.oneof(fc.constant(0), fc.nat(255))), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (sets) => {
      const [ints, bytes, amounts] = [new IntColumn(), new ByteColumn(), new MoneyColumn()]
      const expected = new Map<number, number>()
      for (const [at, value] of sets) {
        ints.set(at, -value)
        bytes.set(at, value)
        amounts.set(at, BigInt(value))
        expected.set(at, value)
      }
      for (const at of [...expected.keys(), 0, 63, 64, 8_191, 8_192, 50_000]) {
        const value = expected.get(at) ?? 0
        assert.equal(ints.get(at) + value, 0)
        assert.deepEqual([bytes.get(at), amounts.get(at)], [value, BigInt(value)])
      }
    }),
    OPTIONS,
  )
})

test('order is that of code points, and folding that of the ids', () => {
  const pool = new TextPool()
  const texts = ['', 'A', 'AB', 'B', 'a', 'é', '\uFFFD', '\u{1F600}']
  const numbers = texts.map((text) => pool.number(text))
  assert.deepEqual(
    [...numbers].toReversed().toSorted((one, other) => pool.compare(one, other)),
    numbers,
  )
  assert.equal(pool.text(pool.folded(pool.number(' inv 7\t'))), 'INV7')
  assert.equal(pool.folded(pool.number('INV7')), pool.number('INV7'))
})

test('amounts are read exactly, by the digits of their currency', () => {
  const read = (text: string, currency = 'EUR') => {
    const found = parseAmount(text, currency)
    return found.ok ? found.amount_minor : found.fault
  }
  assert.deepEqual(
    ['100.10', '+1', '.5', '5.', ' 7 ', '007.10', '0.01000', '0'].map((text) => read(text)),
    [10_010n, 100n, 50n, 500n, 700n, 710n, 1n, 0n],
  )
  assert.deepEqual(
    ['', '.', '-1', '1e2', '1,5', '0x1', '1 2', 'NaN', '9'.repeat(41)].map((text) => read(text)),
    Array.from({ length: 9 }, () => 'lexical'),
  )
  assert.deepEqual([read('1.001'), read('1.5', 'JPY'), read('1.0001', 'BHD')], ['fraction', 'fraction', 'fraction'])
  assert.deepEqual([read('1.50', 'JPY'), read('1.500', 'BHD'), read('5000', 'JPY')], ['fraction', 1_500n, 5_000n])
  // 2^63 - 1 minor units is the most.
  assert.deepEqual([read('92233720368547758.07'), read('92233720368547758.08')], [9_223_372_036_854_775_807n, 'range'])
  // Withdrawn ones keep the digits that they had (ISO 4217 list one of 2022, of 2025 and of 2016).
  assert.deepEqual([currencyDigits('HRK'), currencyDigits('BGN'), currencyDigits('BYR'), read('9.00', 'HRK')], [2, 2, 0, 900n])
  // A code that is not listed, and gold: five digits, the most that a message may have.
  assert.deepEqual([currencyDigits('ZZZ'), currencyDigits('XAU'), read('0.00001', 'ZZZ')], [5, 5, 1n])
  assert.deepEqual(
    [formatMinorUnits(10_010n, 2), formatMinorUnits(-5n, 2), formatMinorUnits(7n, 0), formatMinorUnits(-1_234n, 3)],
    ['100.10', '-0.05', '7', '-1.234'],
  )
})
