import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import isbn3 from 'isbn3'
import { checkIsbn, isIsbn, ISBN_RANGES } from '../../src/pure/checks/isbn.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'

const FATAL = ['empty', 'too_long_input', 'non_ascii_digits', 'bad_charset', 'bad_separator', 'bad_length', 'bad_structure', 'bad_prefix']
const CODES = new Set(['ok', ...FATAL, 'bad_component', 'bad_checksum'])
const WARNINGS = new Set(['too_short', 'all_zero', 'unassigned_range'])
const few = { numRuns: runs(200, 5_000), seed: SEED }
const many = { numRuns: runs(1_000, 20_000), seed: SEED }

const DIGITS = Array.from('0123456789')
const nine = fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 9, maxLength: 9 })
/** Prefix and nine digits; 979-0 is music. */
const twelve = fc
  .tuple(fc.constantFrom('978', '979'), nine)
  .map(([prefix, body]) => prefix + body)
  .filter((digits) => !digits.startsWith('9790'))
const near = fc.oneof(
  textNear('0123456789', '0123456789XxOISBZ -/ ISBN:٣０', 15),
  twelve.chain((digits) => fc.constantFrom(...DIGITS).map((check) => digits + check)),
  nine.chain((digits) => fc.constantFrom(...DIGITS, 'X').map((check) => digits + check)),
)

/** Apart from the code under test: the sum of running sums carries the weights 1, 2, 3 … by itself. */
function isbn10(body: string): string {
  const passes = (check: number) => {
    let running = 0
    let total = 0
    for (const digit of Array.from(body)
      .map((character) => +character)
      .concat(check))
      total += running += digit
    return total % 11 === 0
  }
  const check = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].find(passes) ?? -1
  return body + (check === 10 ? 'X' : check)
}

function isbn13(digits: string): string {
  const sum = (parity: number) =>
    Array.from(digits)
      .filter((_, at) => at % 2 === parity)
      .reduce((total, digit) => total + +digit, 0)
  const check = DIGITS.find((digit) => (sum(0) + 3 * sum(1) + +digit) % 10 === 0)
  return digits + check
}

function passesByRule(value: string): boolean {
  if (/^97(?:8|9(?!0))\d{10}$/.test(value)) return isbn13(value.slice(0, 12)) === value
  return /^\d{8,9}[\dX]$/.test(value) && isbn10(value.slice(0, -1).padStart(9, '0')) === value.padStart(10, '0')
}

test('an ISBN-13 round trips: check digit, both forms, elements, as isbn3 has them', () => {
  fc.assert(
    fc.property(twelve, (digits) => {
      const number = isbn13(digits)
      const check = checkIsbn(number)
      assert.equal(check.valid, true)
      const oracle = isbn3.parse(number)
      assert.equal(
        check.warnings.some(({ code }) => code === 'unassigned_range'),
        oracle === null,
      )
      assert.equal(check.facts?.isbn13, number)
      assert.equal(check.facts?.isbn10, digits.startsWith('978') ? isbn10(digits.slice(3)) : null)
      if (oracle === null) return
      const { group, publisher, article, groupname, isbn13h } = oracle
      assert.partialDeepStrictEqual(check.facts, {
        group,
        registrant: publisher,
        publication: article,
        group_name: groupname,
        isbn13_hyphenated: isbn13h,
      })
      assert.equal(check.facts?.isbn10_hyphenated ?? undefined, oracle.isbn10h)
      assert.equal(check.facts?.isbn10 ?? null, isbn3.asIsbn10(number))
    }),
    many,
  )
})

test('an ISBN-10 round trips to the ISBN-13 that isbn3 gives, and back', () => {
  fc.assert(
    fc.property(nine, (body) => {
      const number = isbn10(body)
      const { valid, facts } = checkIsbn(number.toLowerCase())
      assert.equal(valid, true)
      assert.equal(facts?.isbn13, isbn13(`978${body}`))
      if (isbn3.parse(number) !== null) assert.equal(facts?.isbn13_hyphenated, isbn3.asIsbn13(number, true))
      assert.equal(checkIsbn(facts?.isbn13 ?? '').facts?.isbn10, number)
      const sbn = checkIsbn(number.slice(1))
      assert.equal(sbn.valid, body.startsWith('0'))
      if (sbn.valid) assert.deepEqual([sbn.facts?.isbn10, sbn.warnings[0]?.code], [number, 'too_short'])
    }),
    few,
  )
})

test('every single wrong character fails; modulus 11 also finds every swap of two', () => {
  fc.assert(
    fc.property(twelve, (digits) => {
      for (const number of [isbn13(digits), isbn10(digits.slice(3))]) {
        for (let at = 0; at < number.length; at++) {
          for (const character of [...DIGITS, 'X']) {
            assert.equal(isIsbn(number.slice(0, at) + character + number.slice(at + 1)), character === number[at])
          }
        }
      }
      const ten = isbn10(digits.slice(3))
      for (let from = 0; from < 10; from++) {
        for (let to = from + 1; to < 10; to++) {
          const swapped = Array.from(ten).with(from, ten.charAt(to)).with(to, ten.charAt(from)).join('')
          assert.equal(isIsbn(swapped), swapped === ten)
        }
      }
    }),
    few,
  )
})

test('the parts tile the value and spell the elements', () => {
  fc.assert(
    fc.property(near, (text) => {
      const { normalized, facts } = checkIsbn(text)
      if (facts === null) return
      let end = 0
      for (const part of facts.parts) {
        assert.equal(part.start, end)
        end = part.end
        const element = new Map<string, unknown>(Object.entries(facts)).get(part.label)
        if (part.label !== 'unassigned') assert.equal(normalized.slice(part.start, part.end), element)
      }
      assert.equal(end, normalized.length)
    }),
    many,
  )
})

test('any text: documented codes only, a stable normal form, the rule applied apart agrees', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near), (text) => {
      const check = checkIsbn(text)
      assert.ok(CODES.has(check.reason_code))
      for (const { code } of check.warnings) assert.ok(WARNINGS.has(code))
      assert.equal(isIsbn(text), check.valid)
      assert.equal(passesByRule(check.normalized), check.valid)
      if (check.reason_code === 'too_long_input') return
      const again = checkIsbn(check.normalized)
      assert.equal(again.normalized, check.normalized)
      assert.deepEqual(again.changes, [])
      assert.equal(again.valid, check.valid)
    }),
    many,
  )
})

test('a suggestion passes and is the only single edit that does', () => {
  fc.assert(
    fc.property(near, (text) => {
      const { reason_code, normalized, suggestion } = checkIsbn(text)
      if (suggestion !== null) assert.equal(isIsbn(suggestion), true)
      if (reason_code === 'ok' || reason_code === 'empty' || reason_code === 'non_ascii_digits') return
      const passing = singleEdits(normalized).filter(passesByRule)
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null)
    }),
    many,
  )
})

test('the range table is the release that it claims, leaves a digit for the publication, and is prefix-free', async () => {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../node_modules/isbn3/package.json', import.meta.url), 'utf8'))
  assert.partialDeepStrictEqual(manifest, { version: ISBN_RANGES.bundled().source_version.replace('isbn3 ', '') })
  const groups = Object.entries(isbn3.groups)
  assert.ok(groups.length > 250)
  for (const [key, { ranges }] of groups) {
    for (const [first, last] of ranges) {
      assert.equal(first.length, last.length)
      assert.ok(key.length - '978-'.length + first.length <= 8)
    }
    assert.ok(!groups.some(([other]) => other !== key && other.startsWith(key)))
  }
})
