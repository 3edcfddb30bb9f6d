import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import table from '../../data/iban-registry.json' with { type: 'json' }
import { checkIban, isIban } from '../../src/pure/checks/iban.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'
import { bigCheck97, bigRemainder97 } from '../support/mod97.ts'

const CODES = new Set(
  (
    'ok empty too_long_input non_ascii_digits bad_charset bad_separator too_short too_long bad_country unsupported_country bad_structure ' +
    'bad_checksum checksum_out_of_range bad_national_checksum'
  ).split(' '),
)
const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const UNITS: Record<string, string> = { n: DIGITS, a: LETTERS, c: DIGITS + LETTERS }
/** Countries whose own check digits are fatal: their random numbers fail for another reason. */
const BINDING = new Set('BA BE ES FR MC ME MK NO PT RS SI'.split(' '))
const registry = table.rows.filter((row) => row.registry)
const free = registry.filter((row) => !BINDING.has(row.country))

/** A random number in the structure of the row, with check digits calculated here. */
function ibanOf({ country, structure }: { country: string; structure: string }): fc.Arbitrary<string> {
  const tokens = [...structure.matchAll(/(\d+)!([nac])/g)]
  const parts = tokens.map(([, count, kind]) => {
    const length = Number(count)
    return fc.string({ unit: fc.constantFrom(...(UNITS[kind ?? ''] ?? '').split('')), minLength: length, maxLength: length })
  })
  return fc.tuple(...parts).map((all) => country + bigCheck97(all.join('') + country) + all.join(''))
}

const good = fc.constantFrom(...free).chain(ibanOf)
const examples = registry.map((row) => row.example ?? '')
const few = { numRuns: runs(300, 10_000), seed: SEED }
const many = { numRuns: runs(2_000, 50_000), seed: SEED }

/** A good number as people and machines spoil it. */
const spoiled = fc
  .tuple(fc.oneof(good, fc.constantFrom(...examples)), fc.nat(40), fc.constantFrom('', ...`${DIGITS}AOISBZ -./:é٣Ａ`.split('')), fc.nat(3))
  .map(([iban, at, unit, how]) => {
    const place = at % iban.length
    if (how === 0) return iban.slice(0, place) + unit + iban.slice(place + 1)
    if (how === 1) return iban.slice(0, place) + unit + iban.slice(place)
    if (how === 2) return iban.slice(0, place) + (iban[place + 1] ?? '') + (iban[place] ?? '') + iban.slice(place + 2)
    return `IBAN ${iban.toLowerCase().replace(/(.{4})/g, '$1 ')}`
  })

test('the registry is the one that was published: 89 countries, each example a valid IBAN of its own structure', () => {
  assert.equal(registry.length, 89)
  for (const { country, example, length } of registry) {
    const check = checkIban(example ?? '')
    assert.equal(check.reason_code, 'ok', country)
    assert.deepEqual(check.warnings, [], country)
    assert.equal(check.normalized.length, length)
    assert.equal(check.facts?.country_alpha3.length, 3)
  }
})

test('check digits calculated as the standard words it pass, in every structure', () => {
  fc.assert(
    fc.property(good, (iban) => {
      const check = checkIban(iban)
      assert.equal(check.reason_code, 'ok', iban)
      assert.equal(check.expected_check, iban.slice(2, 4))
      assert.equal(check.facts?.print_form.replaceAll(' ', ''), iban)
    }),
    many,
  )
})

test('every single digit for a digit and letter for a letter fails', () => {
  fc.assert(
    fc.property(fc.oneof(good, fc.constantFrom(...examples)), (iban) => {
      for (let at = 0; at < iban.length; at++) {
        for (const unit of DIGITS.includes(iban[at] ?? '') ? DIGITS : LETTERS) {
          assert.equal(isIban(iban.slice(0, at) + unit + iban.slice(at + 1)), unit === iban[at], `${iban} ${at} ${unit}`)
        }
      }
    }),
    few,
  )
})

test('the aliases 00, 01 and 99 leave the right remainder and are refused', () => {
  fc.assert(
    fc.property(good, fc.constantFrom(['97', '00'], ['98', '01'], ['02', '99']), (iban, [wanted = '', alias = '']) => {
      if (iban.slice(2, 4) !== wanted) return
      const wrong = iban.slice(0, 2) + alias + iban.slice(4)
      assert.equal(bigRemainder97(wrong.slice(4) + wrong.slice(0, 4)), 1)
      assert.equal(checkIban(wrong).reason_code, 'checksum_out_of_range')
      assert.equal(checkIban(wrong).expected_check, wanted)
    }),
    many,
  )
})

test('the parts cover the number without gap or overlap', () => {
  for (const example of examples) {
    const { facts, normalized } = checkIban(example)
    let end = 0
    for (const part of facts?.parts ?? []) {
      assert.equal(part.start, end)
      end = part.end
    }
    assert.equal(end, normalized.length)
  }
})

test('any text: documented codes only, a stable normal form, and isIban agrees', () => {
  const near = textNear('GB82WEST12345698765432DE', ' -.:iban/é٣Ｇ\u200b', 45)
  fc.assert(
    fc.property(fc.oneof(anyText, near, spoiled), (text) => {
      const check = checkIban(text)
      assert.ok(CODES.has(check.reason_code), check.reason_code)
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isIban(text), check.valid, text)
      if (check.valid) assert.equal(isIban(check.normalized), true)
      for (const { found, position } of [...check.findings, ...check.warnings]) {
        assert.ok(found === null || found.isWellFormed())
        assert.ok(position === null || (position[0] < position[1] && position[1] <= check.normalized.length))
      }
    }),
    many,
  )
})

test('a suggestion passes and is the only single edit that does', () => {
  fc.assert(
    fc.property(spoiled, (text) => {
      const { reason_code, normalized, suggestion } = checkIban(text)
      if (suggestion !== null) assert.equal(isIban(suggestion), true)
      if (reason_code === 'ok' || reason_code === 'empty' || reason_code === 'non_ascii_digits') return
      const passing = singleEdits(normalized).filter((edit) => /^[0-9A-Z]+$/.test(edit) && isIban(edit))
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null, text)
    }),
    { numRuns: runs(500, 20_000), seed: SEED },
  )
})

test('a country outside the registry is named so, with its checksum judged', () => {
  for (const row of table.rows.filter((one) => !one.registry)) {
    fc.assert(
      fc.property(ibanOf(row), (iban) => {
        const right = checkIban(iban)
        assert.deepEqual(
          [right.valid, right.reason_code, right.facts?.checksum_ok, right.facts?.iban_registry],
          [false, 'unsupported_country', true, false],
        )
        const wrong = checkIban(iban.slice(0, -1) + String((Number(iban.at(-1)) + 1) % 10))
        assert.deepEqual([wrong.reason_code, wrong.facts?.checksum_ok], ['unsupported_country', false])
        assert.equal(checkIban(iban.slice(0, -1)).reason_code, 'unsupported_country')
      }),
      { numRuns: runs(5, 100), seed: SEED },
    )
  }
})

test('territories that use another code are pointed to it', () => {
  // SWIFT IBAN registry, release 102: "Country code includes other countries/territories".
  const hosts = { GB: ['IM', 'JE', 'GG'], FI: ['AX'], FR: ['GF', 'GP', 'MQ', 'RE', 'PF', 'TF', 'YT', 'NC', 'BL', 'MF', 'PM', 'WF'] }
  for (const [host, territories] of Object.entries(hosts)) {
    for (const territory of territories) {
      const [found] = checkIban(`${territory}7630006000011234567890189`).findings
      assert.deepEqual([found?.code, found?.expected], ['bad_country', host], territory)
    }
  }
})

test('SEPA scope is that of the EPC, not of the registry', () => {
  const scope = (country: string) => checkIban(registry.find((row) => row.country === country)?.example ?? '').facts?.sepa_scope
  for (const country of 'DE FR GB CH NO IS AL MD ME MK RS GI VA'.split(' ')) assert.equal(scope(country), true, country)
  for (const country of 'FO GL UA TR BA XK GE AE'.split(' ')) assert.equal(scope(country), false, country)
})

test('text that is too long is refused unread', () => {
  assert.equal(checkIban(`GB82WEST12345698765432${' '.repeat(300)}`).reason_code, 'too_long_input')
  assert.equal(isIban(`GB82WEST12345698765432${' '.repeat(300)}`), false)
})
