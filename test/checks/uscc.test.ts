import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkUscc, isUscc } from '../../src/pure/checks/uscc.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY'
const DIGITS = '0123456789'

/** Apart from the code under test: the check character is the one with which the sum is divisible by 31. */
function withCheck(free: string): string {
  const sumOf = (text: string) =>
    Array.from(text).reduce((sum, unit, index) => sum + BigInt(ALPHABET.indexOf(unit)) * 3n ** BigInt(index), 0n)
  // The check character counts once, not 3^17 times.
  const check = Array.from(ALPHABET).find((_, value) => (sumOf(free) + BigInt(value)) % 31n === 0n)
  return free + (check ?? '')
}

const good = fc
  .tuple(fc.oneof(exactly(1, DIGITS), exactly(1, 'ANY')), exactly(1, '1239'), exactly(6, DIGITS), exactly(9, ALPHABET))
  .map((parts) => withCheck(parts.join('')))
const near = around(good, `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ-*é٣`)

holdsForAnyText({
  check: checkUscc,
  is: isUscc,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure all_zero bad_checksum',
  warnings: 'not_listed bad_component',
  near,
})

test('the calculated check character passes and every other one fails', () => {
  fc.assert(
    fc.property(good, (uscc) => {
      for (const unit of ALPHABET) {
        const { valid, expected_check } = checkUscc(uscc.slice(0, 17) + unit)
        assert.deepEqual([valid, expected_check], [unit === uscc[17], uscc[17]])
      }
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('every single wrong character and every swap of neighbours fails', () => {
  fc.assert(
    fc.property(good, (uscc) => {
      for (let at = 0; at < 18; at++) {
        for (const unit of ALPHABET) assert.equal(isUscc(uscc.slice(0, at) + unit + uscc.slice(at + 1)), unit === uscc[at])
        const [here, next] = [uscc.charAt(at), uscc.charAt(at + 1)]
        if (next !== '' && here !== next) assert.equal(isUscc(uscc.slice(0, at) + next + here + uscc.slice(at + 2)), false)
      }
    }),
    { numRuns: runs(100, 1_000), seed: SEED },
  )
})

test('agrees with stdnum, but for letters in front and the check character 0', () => {
  const numeric = (text: string) => /^[0-9]{8}[0-9A-Z]{9}[1-9A-Z]$/.test(text)
  fc.assert(
    fc.property(near, (text) => {
      if (numeric(text)) assert.equal(isUscc(text), stdnumTakes('CN', 'uscc', text), text)
    }),
    { numRuns: runs(3_000, 20_000), seed: SEED },
  )
})

test('numbers of other kinds are named', () => {
  const words = (text: string) => checkUscc(text).findings[0]?.message ?? ''
  assert.match(words('110000450000123'), /before 2015/)
  assert.match(words('600037341'), /organization code/)
  // The example of GB 11643-1999.
  assert.match(words('11010519491231002X'), /citizen/)
  assert.doesNotMatch(words('110105194912310021'), /citizen/)
})

/** GB 11643-1999 by its weights, where the code under test goes by remainders. */
const citizen = fc
  .tuple(fc.integer({ min: 1900, max: 2099 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }), exactly(3, DIGITS))
  .map(([year, month, day, serial]) => `440305${year}${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}${serial}`)
  .map((free) => {
    const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
    const sum = weights.reduce((total, weight, index) => total + weight * Number(free[index]), 0)
    return free + '10X98765432'.charAt(sum % 11)
  })

test('the identity number of a citizen is named also where its digits hold, and no code is proposed for it', () => {
  let both = 0
  fc.assert(
    fc.property(citizen, (number) => {
      const { valid, findings, warnings, suggestion } = checkUscc(number)
      const said = valid ? warnings : findings
      assert.ok(
        said.some(({ message }) => message.includes('citizen')),
        number,
      )
      assert.equal(suggestion, null, number)
      if (valid) both++
    }),
    { numRuns: runs(2_000, 20_000), seed: SEED },
  )
  assert.ok(both > 0)
})
