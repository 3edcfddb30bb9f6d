import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkJapanCorp, isJapanCorp } from '../../src/pure/checks/japan-corp.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

const DIGITS = '0123456789'

/** Apart from the code under test: modulo 9 a number is its digit sum, so the doubled places just count twice. */
function withCheck(base: string): string {
  const doubled = Array.from(base).filter((_, index) => index % 2 === 0)
  return 9 - Number(BigInt(base + doubled.join('')) % 9n) + base
}

const good = exactly(12, DIGITS)
  .filter((base) => !/^0+$/.test(base))
  .map(withCheck)
const near = around(good, `${DIGITS}TOISBZ-*é٣`)

holdsForAnyText({
  check: checkJapanCorp,
  is: isJapanCorp,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length all_zero bad_checksum',
  warnings: 'none',
  near,
})

test('the calculated check digit passes, with and without T, and every other one fails', () => {
  fc.assert(
    fc.property(good, (number) => {
      for (const digit of DIGITS) {
        const { valid, expected_check } = checkJapanCorp(digit + number.slice(1))
        assert.deepEqual([valid, expected_check], [digit === number[0], number[0]])
      }
      assert.equal(isJapanCorp(`T${number}`), true)
      assert.equal(isJapanCorp(`t-${number}`), true)
      assert.equal(checkJapanCorp(`T${number}`).facts?.invoice_number, `T${number}`)
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})

test('every single wrong digit fails, but a 0 for a 9 in the base', () => {
  fc.assert(
    fc.property(good, (number) => {
      for (let at = 0; at < 13; at++) {
        for (const digit of DIGITS) {
          const blind = at > 0 && '09'.includes(digit) && '09'.includes(number.charAt(at))
          const other = number.slice(0, at) + digit + number.slice(at + 1)
          if (/^.0{12}$/.test(other)) continue
          assert.equal(isJapanCorp(other), digit === number[at] || blind)
        }
      }
    }),
    { numRuns: runs(100, 1_000), seed: SEED },
  )
})

test('agrees with stdnum', () => {
  fc.assert(
    fc.property(near, (text) => {
      if (/^[0-9]+$/.test(text) && !/^.0{12}$/.test(text)) assert.equal(isJapanCorp(text), stdnumTakes('JP', 'cn', text), text)
    }),
    { numRuns: runs(3_000, 20_000), seed: SEED },
  )
})

test('twelve digits get their check digit as a suggestion', () => {
  fc.assert(
    fc.property(good, (number) => {
      const { valid, suggestion } = checkJapanCorp(number.slice(1))
      assert.deepEqual([valid, suggestion], [false, number])
    }),
    { numRuns: 200, seed: SEED },
  )
})
