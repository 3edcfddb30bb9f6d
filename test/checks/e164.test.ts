import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { readFileSync } from 'node:fs'
import { checkE164, isE164 } from '../../src/pure/checks/e164.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, textNear } from '../support/identifiers.ts'

const CODES = new Set(
  'ok empty too_long_input non_ascii_digits bad_charset bad_separator too_short too_long bad_prefix bad_length unassigned_range bad_component'.split(
    ' ',
  ),
)
const SPOILERS = '+-. ()xX;=/é٣＋０\u200b'
const digits = (min: number, max: number) =>
  fc
    .tuple(
      fc.constantFrom(...Array.from('123456789')),
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: min - 1, maxLength: max - 1 }),
    )
    .map(([first, rest]) => first + rest)
const near = textNear('+0123456789', SPOILERS, 24)
const many = { numRuns: runs(2_000, 20_000), seed: SEED }

test('a plus sign, 8 to 15 digits, no zero in front: that and nothing else is E.164', () => {
  fc.assert(
    fc.property(digits(1, 20), fc.constantFrom('+', '', '0', '00', '+0'), (number, front) => {
      const text = front + number
      assert.equal(checkE164(text).valid, /^\+[1-9][0-9]{7,14}$/.test(text), text)
    }),
    many,
  )
})

test('separators where people write them change nothing', () => {
  const spaced = fc.tuple(
    digits(8, 15),
    fc.array(fc.constantFrom(' ', '-', '.', '\u00a0', '\u2011', '(', ')'), { minLength: 15, maxLength: 15 }),
  )
  fc.assert(
    fc.property(spaced, ([number, marks]) => {
      const written = `+${Array.from(number)
        .map((digit, at) => digit + (at % 3 === 0 ? (marks[at] ?? '') : ''))
        .join('')}`
      // A zero alone in parentheses is the national one, and meant to go.
      fc.pre(!/\(\s*0\s*\)/.test(written))
      const check = checkE164(written)
      assert.deepEqual([check.valid, check.normalized], [true, `+${number}`], written)
    }),
    many,
  )
})

test('any text: documented codes only, isE164 agrees, normalization is idempotent, a suggestion passes', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near), (text) => {
      const check = checkE164(text)
      for (const { code, found } of [...check.findings, ...check.warnings]) {
        assert.ok(CODES.has(code), code)
        assert.ok(found === null || found.isWellFormed())
      }
      assert.equal(isE164(text), check.valid, text)
      assert.equal(check.verdict, check.valid ? 'well_formed_unverifiable' : 'invalid')
      if (check.valid)
        assert.deepEqual([checkE164(check.normalized).normalized, checkE164(check.normalized).valid], [check.normalized, true])
      if (check.suggestion !== null) assert.equal(isE164(check.suggestion), true, check.suggestion)
    }),
    many,
  )
})

test('the example number of every country is possible, assigned, and of that country', () => {
  // Territories whose ranges are shared with a greater neighbour, to which the plan gives them.
  const elsewhere: string[] = []
  // Tristan da Cunha and Tokelau have so few digits behind +290 and +690 that there are not eight in all.
  const shorter: string[] = []
  const file = new URL('../../node_modules/libphonenumber-js/examples.mobile.json', import.meta.url)
  const examples = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
  assert.ok(examples.length > 200)
  for (const [region, national] of examples) {
    const number = parsePhoneNumberFromString(national, region as 'GB')?.number ?? ''
    const { valid, warnings, facts, reason_code } = checkE164(number)
    if (reason_code === 'too_short') {
      shorter.push(region)
      continue
    }
    assert.deepEqual([valid, warnings, facts?.possible, facts?.in_numbering_plan], [true, [], true, true], region)
    if (facts?.region !== region) elsewhere.push(region)
    assert.equal(`+${facts?.country_calling_code}${facts?.national_number}`, number)
  }
  assert.deepEqual(
    [elsewhere.toSorted(), shorter.toSorted()],
    [
      ['AX', 'BL', 'CC', 'CX', 'EH', 'IM', 'MF', 'SJ', 'VA'],
      ['TA', 'TK'],
    ],
  )
})

test('a country code that is assigned is told, whatever is dialled behind it, and what is left of the number is told whole', () => {
  const codes = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))]
  let prefixed = 0
  const behind = fc.tuple(fc.constantFrom(...codes), fc.constantFrom('', '0', '1', '8', '06', '00'), digits(7, 10))
  fc.assert(
    fc.property(behind, ([code, prefix, rest]) => {
      const number = `+${code}${prefix}${rest}`
      const { valid, warnings, facts } = checkE164(number)
      if (!valid) return
      assert.equal(facts?.country_calling_code, code, number)
      assert.equal(`+${code}${facts.national_number}`, facts.e164, number)
      const left = warnings.find(({ code: one }) => one === 'bad_component')
      // What is left without the prefix may be too short to be proposed.
      const dialled = isE164(facts.e164) ? facts.e164 : null
      assert.deepEqual([left === undefined, left === undefined ? number : left.expected], [facts.e164 === number, dialled], number)
      assert.deepEqual([facts.parts.at(0)?.start, facts.parts.at(-1)?.end], [0, number.length])
      if (left?.field === 'trunk_prefix') prefixed++
    }),
    many,
  )
  assert.ok(prefixed > 100)
})

test('the zero in parentheses goes, but not where it is dialled from abroad', () => {
  const written: [string, string][] = [
    ['+44 (0)20 7183 8750', '+442071838750'],
    ['+49 (0) 30 901820', '+4930901820'],
    ['＋44（0）20 7183 8750', '+442071838750'],
    ['+39 (0)2 3661 8300', '+390236618300'],
    ['+225 (0)123456789', '+2250123456789'],
  ]
  for (const [text, normalized] of written) assert.equal(checkE164(text).normalized, normalized, text)
})

test('digits of any script are refused, and their value is proposed', () => {
  for (const zero of [0x660, 0x6f0, 0x966, 0x9e6]) {
    const foreign = '442071838750'.replace(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)))
    const { reason_code, suggestion } = checkE164(`+${foreign}`)
    assert.deepEqual([reason_code, suggestion], ['non_ascii_digits', '+442071838750'])
  }
})
