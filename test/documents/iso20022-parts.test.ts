import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dateFault, dateTimeFault, dayNumber } from '../../src/pure/documents/iso20022/values.ts'
import {
  AmountText,
  decimalText,
  equalsSum,
  ExactSum,
  isDecimalText,
  isSumText,
  scaled,
  TextSet,
} from '../../src/pure/documents/iso20022/accumulators.ts'
import { printableValue } from '../../src/pure/documents/iso20022/rules.ts'
import { toMinorUnits, validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { camtMessage, pacsMessage, painMessage } from '../support/iso20022-messages.ts'
import { mutated, MUTATION } from '../support/xml-mutations.ts'

const DIGITS = fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), maxLength: 20 })

/** By text alone: what xs:decimal, totalDigits 18, fractionDigits 5 and minInclusive 0 say. */
function expectedFault(text: string): string | null {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return 'lexical'
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const behind = fraction.replace(/0+$/, '')
  if (behind.length > 5 || whole.replace(/^0+/, '').length + behind.length > 18) return 'digits'
  return text.startsWith('-') && /[1-9]/.test(text) ? 'negative' : null
}

test('amounts are read as the schema says, and exactly', () => {
  const text = fc.oneof(
    fc.tuple(fc.constantFrom('', '+', '-'), DIGITS, fc.constantFrom('.', '', 'e', '..', ','), DIGITS).map((parts) => parts.join('')),
    fc
      .tuple(fc.nat(10_000_000_000), fc.integer({ min: 0, max: 99_999 }))
      .map(([whole, part]) => `${whole}.${String(part).padStart(5, '0')}`),
  )
  fc.assert(
    fc.property(text, (one) => {
      const amount = new AmountText()
      const fault = amount.read(one)
      assert.equal(fault, expectedFault(one))
      if (fault !== null) return
      const [whole = '', fraction = ''] = one.replace(/^[+-]/, '').split('.')
      assert.equal(amount.total(), BigInt(`${whole || '0'}${fraction.slice(0, 5).padEnd(5, '0')}`))
      assert.equal(new AmountText().read(` \n${one}\t`), null)
    }),
    { numRuns: runs(1_000, 50_000), seed: SEED },
  )
})

test('sums are exact, whatever their size', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.bigInt(0n, 10n ** 13n - 1n), fc.integer({ min: 0, max: 99_999 })), { maxLength: 200 }), (amounts) => {
      const sum = new ExactSum()
      const amount = new AmountText()
      let expected = 0n
      for (const [whole, part] of amounts) {
        assert.equal(amount.read(`${whole}.${String(part).padStart(5, '0')}`), null)
        sum.add(amount)
        expected += whole * 100_000n + BigInt(part)
      }
      assert.equal(sum.total(), expected)
      assert.ok(equalsSum(decimalText(expected), expected))
      assert.ok(equalsSum(`0${decimalText(expected, 7)}`, expected))
      assert.equal(equalsSum(decimalText(expected + 1n), expected), false)
      assert.equal(scaled(decimalText(expected), 5), expected)
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('decimal texts and minor units', () => {
  assert.deepEqual(
    [decimalText(130_000_000n, 2), decimalText(1n), decimalText(-150_000n), decimalText(0n, 2)],
    ['1300.00', '0.00001', '-1.5', '0.00'],
  )
  assert.deepEqual(
    [toMinorUnits(130_000_000n, 2), toMinorUnits(1_500n, 2), toMinorUnits(123_400_000n, 0), toMinorUnits(1_500_000n, 3)],
    [130_000n, null, 1_234n, 15_000n],
  )
  // BaseOneRate: 11 digits, 10 of them behind the point, by value.
  const rates = ['1.1234567890', '01.12345678900', '12345678901', '1.12345678901', '123456789012', '12.1234567890', '.5', '-1', '', '.']
  assert.deepEqual(
    rates.map((text) => isDecimalText(text, 11, 10)),
    [true, true, true, false, false, true, true, true, false, false],
  )
  assert.deepEqual(['1.00000000000000001', '1e3', '', '+1', '123456789012345678.9'].map(isSumText), [true, false, false, true, false])
})

test('dates are those of the calendar', () => {
  assert.deepEqual(
    ['2026-02-28', '2026-02-29', '2028-02-29', '2100-02-29', '2026-13-01', '2026-1-1', '2026-04-31Z', '2026-04-30+02:00'].map(dateFault),
    [null, 'calendar', null, 'calendar', 'calendar', 'form', 'calendar', null],
  )
  assert.deepEqual(
    [
      '2026-02-28T23:59:59',
      '2026-02-28T24:00:00Z',
      '2026-02-28T24:00:01Z',
      '2026-02-28T23:60:00Z',
      '2026-02-28 23:00:00',
      '2026-02-28T10:00:00.123+14:00',
      '2026-02-28T10:00:00+15:00',
    ].map(dateTimeFault),
    ['no_offset', null, 'calendar', 'calendar', 'form', null, 'form'],
  )
  assert.deepEqual([dayNumber('1970-01-02'), dayNumber('2000-03-01T00:00:00+14:00'), dayNumber('x')], [1, 11_017, null])
})

test('a text set is a set', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ' ', 'é', '\u0100', '\u0000', '€'), maxLength: 4 })
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word, fc.nat(3)), { maxLength: 200 }), (keys) => {
      const set = new TextSet()
      const seen = new Set<string>()
      for (const [one, other, number] of keys) {
        const key = JSON.stringify([one, other, number])
        assert.equal(set.push(one).push(other).pushNumber(number).add(), seen.has(key) ? 'same' : 'new')
        seen.add(key)
      }
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('a folding set finds what differs in case and spaces', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'B', ' ', '1'), maxLength: 3 })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 200 }), (keys) => {
      const set = new TextSet(true)
      const seen = new Set<string>()
      const folded = new Set<string>()
      for (const key of keys) {
        const fold = key.replaceAll(' ', '').toUpperCase()
        assert.equal(set.push(key).add(), seen.has(key) ? 'same' : folded.has(fold) ? 'folded' : 'new')
        seen.add(key)
        folded.add(fold)
      }
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('a large set grows and forgets nothing', () => {
  const set = new TextSet()
  const key = (index: number) => `E2E-${index * 7_919}`
  for (let index = 0; index < 20_000; index++) assert.equal(set.push(key(index)).add(), 'new')
  for (let index = 0; index < 20_000; index++) assert.equal(set.push(key(index)).add(), 'same')
})

/** FNV-1a and the mixing of the set, so that keys can be made that meet in one place. */
function slotOf(text: string, mask: number): number {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
  hash = Math.imul(hash, 0x01000193)
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return ((once ^ (once >>> 16)) >>> 0) & mask
}

test('keys that were made to collide are still told apart', () => {
  const colliding: string[] = []
  for (let index = 0; colliding.length < 150; index++) if (slotOf(`K${index}`, 4_095) === 7) colliding.push(`K${index}`)
  for (const folding of [false, true]) {
    const set = new TextSet(folding)
    for (const key of colliding) assert.equal(set.push(key).add(), 'new')
    for (const key of colliding) assert.equal(set.push(key).add(), 'same')
    for (const key of colliding) assert.equal(set.push(key.toLowerCase()).add(), folding ? 'folded' : 'new')
    for (let index = 0; index < 5_000; index++) assert.equal(set.push(`other ${index}`).add(), 'new')
    for (const key of [...colliding, ...colliding.map((one) => one.toLowerCase())]) assert.equal(set.push(key).add(), 'same')
  }
})

test('what strangers write is shown short and clean', () => {
  assert.equal(printableValue('a\u0000b\u202ec\n'), 'a\ufffdb\ufffdc\ufffd')
  assert.equal(Array.from(printableValue('😀'.repeat(100))).length, 64)
})

test('whatever is changed in a message, the answer is an answer', () => {
  const sources = [painMessage(), painMessage({ version: '03' }), pacsMessage(), pacsMessage('02'), camtMessage(), camtMessage('02')]
  fc.assert(
    fc.property(fc.constantFrom(...sources), fc.array(MUTATION, { minLength: 1, maxLength: 4 }), (source, changes) => {
      const payload = changes.reduce(mutated, source)
      const { findings, finding_counts, valid, ctrl_sum, message_type } = validateMessage({ payload })
      const undetermined = message_type === null && findings.some(({ code }) => code === 'NS_UNKNOWN')
      assert.equal(valid, undetermined ? null : finding_counts.error === 0)
      assert.equal(findings.length, finding_counts.error + finding_counts.warning + finding_counts.info)
      assert.ok(findings.every(({ found, path }) => Array.from(found ?? '').length <= 64 && path.startsWith('/')))
      assert.ok(ctrl_sum === null || /^\d+\.\d{2,5}$/.test(ctrl_sum))
    }),
    { numRuns: runs(300, 3_000), seed: SEED },
  )
})
