import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import validator from 'validator'
import { checkAba, isAba } from '../../src/pure/checks/aba.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import aba from '../../src/tools/bank/aba-routing-check.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(200, 5_000), seed: SEED }
const DIGITS = '0123456789'
/** ABA, Routing Number Administrative Policy: government, districts, thrifts, electronic, traveller's cheques. */
const PREFIX = /^(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/
const DISTRICTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
const prefixes = ['00', '80', ...DISTRICTS.flatMap((one) => [one, one + 20, one + 60].map((prefix) => String(prefix).padStart(2, '0')))]

/** Apart from the code under test: the digits in groups of three, each group times 3, 7, 1. */
function sum(value: string): number {
  return (value.match(/.{3}/g) ?? []).reduce((total, [a = '', b = '', c = '']) => total + 3 * +a + 7 * +b + +c, 0)
}

function withCheck(eight: string): string {
  return Array.from(DIGITS, (digit) => eight + digit).find((nine) => sum(nine) % 10 === 0) ?? ''
}

const good = fc
  .tuple(fc.constantFrom(...prefixes), textOf(DIGITS, 6))
  .map(([prefix, rest]) => withCheck(prefix + rest))
  .filter((value) => value !== '000000000')
const promised = {
  check: checkAba,
  is: isAba,
  near: fc.oneof(textNear(DIGITS, 'OISBZ -/.x０٣', 12), good, spoiled(good, `${DIGITS}OISBZ- /`)),
  passesByRule: (value: string) => /^\d{9}$/.test(value) && PREFIX.test(value) && sum(value) % 10 === 0 && value !== '000000000',
  codes: 'bad_length all_zero bad_prefix bad_checksum',
  warnings: '',
  leading_zero: true,
}

test('a calculated check digit passes, every other digit in its place is named wrong, every other single digit fails', () => {
  fc.assert(
    fc.property(good, (value) => {
      assert.equal(checkAba(value).reason_code, 'ok')
      assert.equal(validator.isAbaRouting(value), true)
      for (const digit of DIGITS) {
        const check = checkAba(value.slice(0, 8) + digit)
        assert.equal(check.valid, digit === value[8])
        if (check.reason_code !== 'all_zero') assert.equal(check.expected_check, value[8])
      }
      for (let at = 0; at < 8; at++) {
        for (const digit of DIGITS) assert.equal(isAba(value.slice(0, at) + digit + value.slice(at + 1)), digit === value[at])
      }
    }),
    few,
  )
})

test('a hundred prefixes: those of the policy pass with their district, the others are named', () => {
  for (let number = 0; number < 100; number++) {
    const prefix = String(number).padStart(2, '0')
    const { reason_code, facts } = checkAba(withCheck(`${prefix}123456`))
    assert.equal(reason_code, PREFIX.test(prefix) ? 'ok' : 'bad_prefix', prefix)
    assert.equal(facts?.fed_district ?? null, PREFIX.test(prefix) && prefix !== '00' && prefix !== '80' ? number % 20 : null)
  }
})

test('of swapped neighbours only those that differ by five pass', () => {
  fc.assert(
    fc.property(good, fc.nat(7), (value, at) => {
      const [one = '', other = ''] = value.slice(at, at + 2)
      const swapped = value.slice(0, at) + other + one + value.slice(at + 2)
      if (PREFIX.test(swapped)) assert.equal(isAba(swapped), (Number(one) - Number(other)) % 5 === 0)
    }),
    few,
  )
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only repair, a dropped zero included', () => suggestsTheOnlyRepair(promised))

test('the two names of the field: one is needed, equal ones pass, different ones are a problem', () => {
  const number = '021000021'
  for (const input of [{ aba_routing: number }, { routing: number }, { aba_routing: number, routing: number }]) {
    assert.ok(decodeInput(aba, input).ok)
  }
  assert.partialDeepStrictEqual(decodeInput(aba, {}), {
    ok: false,
    problem: { code: 'INPUT_SCHEMA_INVALID', errors: [{ pointer: '/input/aba_routing', code: 'missing' }] },
  })
  assert.partialDeepStrictEqual(decodeInput(aba, { aba_routing: number, routing: '011401533' }), {
    ok: false,
    problem: { code: 'INPUT_SCHEMA_INVALID', errors: [{ pointer: '/input/routing', code: 'not_allowed' }] },
  })
})
