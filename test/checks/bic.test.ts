import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkBic, isBic } from '../../src/pure/checks/bic.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'

const CODES = new Set('ok empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure bad_country'.split(' '))
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ALPHANUMERIC = `0123456789${LETTERS}`
/** The officially assigned alpha-2 codes of ISO 3166-1 (249, as the ISO online browsing platform lists them), and XK. */
const COUNTRIES = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL ' +
    'CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU ' +
    'GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC ' +
    'MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT ' +
    'PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA ' +
    'UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK'
  ).split(' '),
)
const text = (length: number) => fc.string({ unit: fc.constantFrom(...ALPHANUMERIC.split('')), minLength: length, maxLength: length })
const good = fc.tuple(text(4), fc.constantFrom(...COUNTRIES), text(2), fc.oneof(fc.constant(''), text(3))).map((parts) => parts.join(''))
const near = textNear(ALPHANUMERIC, 'ax -–./é٣Ａ\u200b', 14)
const many = { numRuns: runs(2_000, 20_000), seed: SEED }

test('every country of ISO 3166-1 and Kosovo, and no other pair of letters', () => {
  assert.equal(COUNTRIES.size, 250)
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const bic = `ABCD${first}${second}2L`
      assert.equal(isBic(bic), COUNTRIES.has(first + second), bic)
      assert.equal(checkBic(bic).reason_code, COUNTRIES.has(first + second) ? 'ok' : 'bad_country')
    }
  }
})

test('letters and digits stand anywhere but in the country', () => {
  fc.assert(
    fc.property(good, (bic) => {
      const check = checkBic(bic)
      assert.deepEqual([check.valid, check.verdict], [true, 'well_formed_unverifiable'])
      assert.equal(check.facts?.numeric_prefix, /[0-9]/.test(bic.slice(0, 4)))
      assert.equal(check.facts?.bic11, bic.padEnd(11, 'X'))
      assert.equal(check.facts?.head_office, bic.length === 8 || bic.endsWith('XXX'))
      assert.equal(check.facts?.parts.at(-1)?.end, bic.length)
      assert.equal(checkBic(`${bic.slice(0, 4)}1${bic.slice(5)}`).reason_code, 'bad_structure')
    }),
    many,
  )
})

test('a word in front that something sets off is never part of the code', () => {
  const words = fc.constantFrom('BIC', 'bic', 'SWIFT', 'BIC/SWIFT', 'SWIFT-BIC', 'BIC code', 'Swift Code', 'SWIFT / BIC')
  const between = fc.constantFrom(' ', ': ', '-', ' - ', '. ', '/', ' # ')
  fc.assert(
    fc.property(words, between, good, (word, sign, bic) => {
      const check = checkBic(`${word}${sign}${bic}`)
      assert.deepEqual([check.valid, check.normalized], [true, bic], word + sign)
      assert.ok(check.changes.includes('removed_prefix'))
      assert.equal(isBic(`${word}${sign}${bic}`), true)
    }),
    many,
  )
})

test('eight or eleven characters', () => {
  for (let length = 1; length <= 20; length++) {
    const bic = 'DEUTDEFFABCDEFGHIJKLMN'.slice(0, length)
    assert.equal(checkBic(bic).reason_code, length === 8 || length === 11 ? 'ok' : 'bad_length')
    assert.equal(isBic(bic), length === 8 || length === 11)
  }
})

test('any text: documented codes only, and isBic agrees', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near), (given) => {
      const check = checkBic(given)
      assert.ok(CODES.has(check.reason_code), check.reason_code)
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isBic(given), check.valid, given)
      if (check.valid) assert.equal(isBic(check.normalized), true)
      for (const { found } of check.findings) assert.ok(found === null || found.isWellFormed())
    }),
    many,
  )
})

test('a suggestion is the only single edit that passes', () => {
  const spoiled = fc
    .tuple(good, fc.nat(7), fc.constantFrom('0', '1', '5', '8', 'Z', 'Q', 'X', '-'))
    .map(([bic, at, unit]) => bic.slice(0, at) + unit + bic.slice(at + 1))
  fc.assert(
    fc.property(spoiled, (given) => {
      const { reason_code, normalized, suggestion } = checkBic(given)
      if (reason_code === 'ok') return
      const passing = singleEdits(normalized).filter(
        (edit) => /^(?:[0-9A-Z]{8}|[0-9A-Z]{11})$/.test(edit) && COUNTRIES.has(edit.slice(4, 6)),
      )
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null, given)
    }),
    many,
  )
})
