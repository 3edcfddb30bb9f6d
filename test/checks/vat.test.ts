import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkVat, isVat } from '../../src/pure/checks/vat.ts'
import { VAT_COUNTRIES } from '../../src/pure/checks/vat/countries.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'
import { bigCheck97 } from '../support/mod97.ts'

const CODES = new Set(
  (
    'ok empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_country unsupported_country bad_prefix bad_structure ' +
    'bad_component bad_date all_zero bad_checksum checksum_out_of_range bad_national_checksum'
  ).split(' '),
)
const EU = 'AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ')
const PREFIXES = VAT_COUNTRIES.map(({ code, prefixes }) => prefixes[0] ?? code)
const DIGITS = '0123456789'
const digits = (length: number) => fc.string({ unit: fc.constantFrom(...DIGITS.split('')), minLength: length, maxLength: length })
const few = { numRuns: runs(200, 2_500), seed: SEED }
const many = { numRuns: runs(2_000, 20_000), seed: SEED }

/** Mostly of the right characters behind a prefix, so that all stages are reached. */
const near = fc
  .tuple(fc.constantFrom(...PREFIXES, 'GR', 'CH', 'US', 'QQ', '', 'VAT '), textNear('0123456789BAUX', 'abMV -–./(+*é٣Ａ\u200b', 14))
  .map((parts) => parts.join(''))

test('Belgium: 97 less the remainder, never 00', () => {
  fc.assert(
    fc.property(fc.constantFrom('0', '1'), digits(7), (first, rest) => {
      const base = first + rest
      fc.pre(/[1-9]/.test(base))
      const right = String(97n - (BigInt(base) % 97n)).padStart(2, '0')
      for (let pair = 0; pair < 100; pair++) {
        const written = String(pair).padStart(2, '0')
        const check = checkVat(`BE${base}${written}`)
        assert.equal(check.valid, written === right)
        assert.equal(check.expected_check, right)
        if (!check.valid && Math.abs(pair - Number(right)) === 97) assert.equal(check.reason_code, 'checksum_out_of_range')
      }
      assert.equal(isVat(base + right), true)
      assert.equal(isVat((base + right).slice(1)), first === '0')
    }),
    few,
  )
})

test('Netherlands: either calculation', () => {
  fc.assert(
    fc.property(digits(9), (number) => {
      fc.pre(/[1-9]/.test(number))
      const sum = [9, 8, 7, 6, 5, 4, 3, 2].reduce((total, weight, index) => total + weight * Number(number[index]), 0)
      const old = sum % 11 === Number(number[8])
      const ending = bigCheck97(`NL${number}B`)
      assert.equal(isVat(`NL${number}B${ending}`), true)
      const other = ending === '50' ? '51' : '50'
      assert.equal(isVat(`NL${number}B${other}`), old)
    }),
    few,
  )
})

test('Italy: no taxpayer has the number 0, in whatever province', () => {
  for (let province = 1; province <= 100; province++) {
    const free = `0000000${String(province).padStart(3, '0')}`
    const fitting = Array.from(DIGITS, (digit) => checkVat(`IT${free}${digit}`).reason_code)
    assert.deepEqual([...new Set(fitting)], ['all_zero'], free)
  }
})

test('what begins with a known prefix is judged for its country, whatever stands behind it', () => {
  const iso: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB', CHE: 'CH' }
  const rest = fc.oneof(textNear('0123456789BAUX', '-é_', 16), digits(9))
  fc.assert(
    fc.property(fc.constantFrom(...PREFIXES), rest, (prefix, behind) => {
      const { facts, normalized } = checkVat(`${prefix} ${behind}`)
      // Digits of other scripts are not read at all.
      if (!normalized.startsWith(prefix) || /(?![0-9])\p{Nd}/u.test(normalized)) return
      assert.equal(facts?.country, iso[prefix] ?? prefix, normalized)
    }),
    few,
  )
})

test('of the words in front NO is left where it is Norway', () => {
  const read: [string, string | null, boolean][] = [
    ['VAT NO974760673', 'NO', true],
    ['vat: no974760673', 'NO', true],
    ['VAT NO974760673 MVA', 'NO', true],
    ['VAT NO 974 760 673 MVA', 'NO', true],
    ['VAT NO974760674', 'NO', false],
    ['VAT No. NO974760673', 'NO', true],
    ['VAT No. 974760673', 'BE', false],
    ['VATNO 0428759497', 'BE', true],
    ['VAT NO0428759497', 'BE', true],
    ['VAT No. 0428.759.497', 'BE', true],
    ['VAT:NO974760674', 'NO', false],
    ['VAT No. DE136695976', 'DE', true],
  ]
  for (const [text, country, valid] of read) {
    const check = checkVat(text)
    assert.deepEqual([check.facts?.country ?? null, check.valid, isVat(text)], [country, valid, valid], text)
  }
})

// A published number, as in python-stdnum’s eu.oss.
test('a number of the one-stop shop for suppliers outside the EU is told as such', () => {
  const { valid, reason_code, reason } = checkVat('EU 372022452')
  assert.deepEqual([valid, reason_code], [false, 'bad_country'])
  assert.match(reason, /one-stop shop/)
  assert.doesNotMatch(checkVat('EU 37202245').reason, /one-stop shop/)
})

/** Numbers of published origin, of countries whose calculation sees every single wrong digit in the places from `start`. */
const DETECTED: readonly (readonly [number: string, start: number, end: number])[] = [
  ['ATU13585627', 3, 11],
  ['BE0428759497', 3, 12],
  ['CHE123456788', 3, 12],
  ['CY10259033P', 3, 10],
  ['DE136695976', 2, 11],
  ['DK13585628', 2, 10],
  ['EE100931558', 2, 11],
  ['ES54362315K', 2, 10],
  ['ESB58378431', 3, 11],
  ['FI20774740', 2, 10],
  ['HR33392005961', 2, 13],
  ['HU12892312', 2, 10],
  ['IE6433435F', 2, 9],
  ['IT00743110157', 2, 13],
  ['LU15027442', 2, 10],
  ['MT11679112', 2, 10],
  ['NO974760673', 2, 11],
  ['PL8567346215', 2, 12],
  ['SE556188840401', 2, 12],
  ['SI50223054', 2, 10],
  ['SK2022749619', 2, 12],
]

test('every single wrong digit is seen where the calculation promises it', () => {
  for (const [number, start, end] of DETECTED) {
    assert.equal(isVat(number), true, number)
    for (let place = start; place < end; place++) {
      for (const digit of DIGITS) {
        const changed = number.slice(0, place) + digit + number.slice(place + 1)
        assert.equal(isVat(changed), changed === number, changed)
      }
    }
  }
})

test('the EU has 27 members; Greece has two prefixes, Northern Ireland its own', () => {
  const shown = new Map(
    [...DETECTED.map(([number]) => number), 'EL094259216', 'GR094259216', 'XI980780684', 'GB980780684', 'NL004495445B01'].map((number) => [
      number.slice(0, 2),
      checkVat(number).facts,
    ]),
  )
  for (const [prefix, facts] of shown) assert.equal(facts?.eu_member, EU.includes(prefix) || prefix === 'GR', prefix)
  assert.deepEqual(
    ['EL', 'GR', 'XI', 'GB', 'CH', 'NO'].map((prefix) => [shown.get(prefix)?.country, shown.get(prefix)?.vies?.country_code ?? null]),
    [
      ['GR', 'EL'],
      ['GR', 'EL'],
      ['GB', 'XI'],
      ['GB', null],
      ['CH', null],
      ['NO', null],
    ],
  )
})

test('a number without prefix is Belgian, and the others it would pass for are named', () => {
  let named = 0
  fc.assert(
    fc.property(fc.oneof(digits(8), digits(9), digits(10), digits(11), digits(12)), (number) => {
      const check = checkVat(number)
      assert.equal(check.valid, isVat(`BE${number}`), number)
      // Eight Greek digits pass with a zero that is put in front only behind the prefix.
      const others = PREFIXES.filter((prefix) => prefix !== 'BE' && isVat(prefix + number) && !(prefix === 'EL' && number.length === 8))
      assert.deepEqual((check.facts?.also_passes ?? []).toSorted(), others.toSorted(), number)
      named += others.length
    }),
    few,
  )
  assert.ok(named > 50)
})

test('any text: documented codes only, isVat agrees, and what was normalized stays so', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.oneof(anyText, near), (text) => {
      const check = checkVat(text)
      seen.add(check.reason_code)
      assert.ok(CODES.has(check.reason_code), check.reason_code)
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isVat(text), check.valid, text)
      if (check.normalized === '' || check.reason_code === 'non_ascii_digits') return
      const again = checkVat(check.normalized)
      assert.deepEqual([again.normalized, again.valid], [check.normalized, check.valid], text)
      for (const { found, position } of check.findings) {
        assert.ok(found === null || found.isWellFormed())
        assert.ok(position === null || (position[0] >= 0 && position[1] <= check.normalized.length))
      }
    }),
    many,
  )
  assert.ok(seen.size >= 10, [...seen].join(' '))
})

test('a valid number is whole: what VIES takes passes again, and so does what is printed', () => {
  fc.assert(
    fc.property(fc.oneof(near, fc.constantFrom(...DETECTED.map(([number]) => number))), (text) => {
      const { valid, facts, normalized } = checkVat(text)
      if (!valid) return
      assert.ok(facts !== null)
      assert.equal(isVat(facts.print_form ?? ''), true, text)
      if (facts.vies !== null) assert.equal(isVat(facts.vies.country_code + facts.vies.number), true, text)
      assert.equal(facts.parts.at(0)?.start, 0)
      assert.ok((facts.parts.at(-1)?.end ?? 0) <= normalized.length)
      for (const [index, part] of facts.parts.entries()) assert.equal(part.start, facts.parts[index - 1]?.end ?? 0)
    }),
    many,
  )
})

test('a suggestion is the only single edit that passes', () => {
  const spoiled = fc
    .tuple(fc.constantFrom(...DETECTED.map(([number]) => number)), fc.nat(12), fc.constantFrom(...`${DIGITS}OISBZ`.split('')))
    .map(([number, place, unit]) => number.slice(0, place) + unit + number.slice(place + 1))
  let suggested = 0
  fc.assert(
    fc.property(spoiled, (text) => {
      const { valid, normalized, suggestion } = checkVat(text)
      if (valid) return
      const passing = singleEdits(normalized).filter((edit) => isVat(edit))
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null, text)
      if (suggestion !== null) suggested++
    }),
    many,
  )
  assert.ok(suggested > 0)
})
