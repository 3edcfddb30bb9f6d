import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { digitAt, labelInFront, type NormalizeOptions } from './normalize.ts'
import { foreignCharacters, checkText, booleanCheck } from './check-text.ts'
import isbn3 from 'isbn3'
import type { Snapshot } from '../datasets/definition.ts'
import { datesOf, isWords, referenceTable, rowOf } from '../datasets/table.ts'
import { once } from '../once.ts'

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['ISBN13:', 'ISBN10:', 'ISBN'],
  label: labelInFront(['ISBN(?:[- ]?1[03])?'], () => true),
  field: 'isbn',
}
const SUCCESS_REASON = 'The check digit is valid; this does not prove that a book exists.'
type IsbnForm = 'isbn13' | 'isbn10' | 'sbn'

const FORMS: Readonly<Record<number, IsbnForm>> = { 9: 'sbn', 10: 'isbn10', 13: 'isbn13' }
const SBN_MESSAGE = 'Nine characters are an SBN (before 1970); it is read as an ISBN-10 with 0 in front.'

/**
 * Checks an ISBN (ISO 2108; ISBN Users' Manual, seventh edition): ISBN-13 with prefix 978 or 979 and modulus 10 with
 * weights 1 and 3, or ISBN-10 with modulus 11, whose check digit may be X. Spaces, hyphens and the word ISBN in front are allowed.
 * Not an ISBN: 979-0, which is an ISMN (printed music), and 977, which is an ISSN (serials).
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, bad_prefix, bad_component,
 * bad_checksum. Warnings: too_short for an SBN, all_zero, and unassigned_range, which may only mean that the range is newer than the
 * copy of the range message. Errs towards valid: the checksum of an ISBN-13 misses swaps of neighbours that differ by 5.
 */
export function checkIsbn(text: string): Check<IsbnFacts> {
  return checkText(text, { options: OPTIONS, success_reason: SUCCESS_REASON, isValid: isIsbn, validate })
}

const X = 33

/** Returns the same answer as `checkIsbn(text).valid`. */
export const isIsbn = booleanCheck(OPTIONS, new Uint8Array(13), 10, (values, length) => {
  if (length === 13) return isIsbn13(values)
  return (length === 10 || length === 9) && isIsbn10(values, length)
})

/** Prefix 978 or 979 but not 979-0, digits, and a weighted sum that ends in 0. */
function isIsbn13(read: Uint8Array): boolean {
  const eight_or_nine = read[2] === 8 || (read[2] === 9 && read[3] !== 0)
  if (read[0] !== 9 || read[1] !== 7 || !eight_or_nine) return false
  let sum = 0
  for (let index = 0; index < 13; index++) {
    const digit = read[index] ?? X
    if (digit > 9) return false
    sum += index % 2 === 0 ? digit : 3 * digit
  }
  return sum % 10 === 0
}

/** Digits, X as ten in the last place, and a sum with the weights 10 to 1 that 11 divides; an SBN lacks the 0 in front, which adds nothing. */
function isIsbn10(read: Uint8Array, length: number): boolean {
  const last = length - 1
  let sum = read[last] === X ? 10 : (read[last] ?? X)
  if (sum > 10 || (sum === 10 && read[last] !== X)) return false
  for (let index = 0; index < last; index++) {
    const digit = read[index] ?? X
    if (digit > 9) return false
    sum += digit * (length - index)
  }
  return sum % 11 === 0
}

/** Characters, length, place of the X, prefix: the first stage that fails answers. */
function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacters(value, 'isbn', /[^0-9X]+/gu, 'digits 0-9, and X as the last of ten')
  if (foreign.length > 0) return foreign
  const form = FORMS[value.length]
  if (form === undefined) return [lengthFinding('isbn', value, '10 or 13 characters')]
  const crossed = value.indexOf('X')
  if (crossed >= 0 && (form === 'isbn13' || crossed < value.length - 1)) {
    return [
      finding(
        'bad_structure',
        'isbn',
        { value, start: crossed, end: crossed + 1 },
        'a digit; X is allowed only as the last of ten characters',
      ),
    ]
  }
  return form === 'isbn13' ? prefixFindings(value) : []
}

function prefixFindings(value: string): Finding[] {
  const expected = value.startsWith('977') ? '978 or 979; 977 marks an ISSN (serials)' : '978 or 979'
  if (!value.startsWith('978') && !value.startsWith('979')) return [finding('bad_prefix', 'prefix', { value, start: 0, end: 3 }, expected)]
  if (!value.startsWith('9790')) return []
  return [finding('bad_component', 'group', { value, start: 3, end: 4 }, 'not 0: 979-0 marks an ISMN (printed music), not an ISBN')]
}

/** Shape; then check digit, ranges and facts. */
function validate(value: string): Validation<IsbnFacts> {
  const faults = formatFindings(value)
  if (faults.length > 0) return { findings: faults }
  const last = value.length - 1
  const expected_check = expectedCheck(value)
  const matches = expected_check === value[last]
  const facts = isbnFacts(value, matches)
  const findings = matches ? [] : [finding('bad_checksum', 'check', { value, start: last, end: value.length }, expected_check)]
  const warnings: Finding[] = []
  if (facts.form === 'sbn') warnings.push(finding('too_short', 'isbn', null, '10 characters', SBN_MESSAGE))
  if (!/[^0]/.test(value)) warnings.push(finding('all_zero', 'isbn', null, null))
  const unassigned = facts.parts.find(({ label }) => label === 'unassigned')
  if (unassigned !== undefined)
    warnings.push(finding('unassigned_range', facts.group === null ? 'group' : 'registrant', { value, ...unassigned }, null))
  return { findings, warnings, expected_check, facts }
}

function isbnFacts(value: string, matches: boolean) {
  const form: IsbnForm = FORMS[value.length] ?? 'isbn13'
  const prefix = form === 'isbn13' ? value.slice(0, 3) : '978'
  const body = form === 'isbn13' ? value.slice(3, 12) : value.slice(0, -1).padStart(9, '0')
  const elements = splitIsbn(prefix, body)
  const { group, registrant, publication } = elements
  const hyphenated = registrant === null ? null : `${group}-${registrant}-${publication}`
  const isbn10 = matches && prefix === '978' ? body + modulus11(body) : null
  const isbn13 = matches ? prefix + body + modulus10(prefix + body) : null
  return {
    form,
    prefix,
    ...elements,
    check: value.slice(-1),
    isbn10,
    isbn10_hyphenated: isbn10 && hyphenated && `${hyphenated}-${isbn10.slice(-1)}`,
    isbn13,
    isbn13_hyphenated: isbn13 && hyphenated && `${prefix}-${hyphenated}-${isbn13.slice(-1)}`,
    gtin: isbn13,
    parts: isbnParts(form, elements),
  }
}

export type IsbnFacts = ReturnType<typeof isbnFacts>

/** Range of each element in the value; an SBN has no prefix and no group, which is 0. */
function isbnParts(form: IsbnForm, { group, registrant, publication }: IsbnElements): IdentifierPart[] {
  const group_length = group?.length ?? 0
  const lengths = {
    prefix: form === 'isbn13' ? 3 : 0,
    group: form === 'sbn' ? 0 : group_length,
    registrant: registrant?.length ?? 0,
    publication: publication?.length ?? 0,
    unassigned: registrant === null ? 9 - group_length : 0,
    check: 1,
  }
  let end = 0
  const parts = Object.entries(lengths).map(([label, length]) => ({ label, start: end, end: (end += length) }))
  return parts.filter((part) => part.start < part.end)
}

/** The check digit for a value of valid form. */
function expectedCheck(value: string): string {
  return value.length === 13 ? modulus10(value.slice(0, 12)) : modulus11(value.slice(0, -1).padStart(9, '0'))
}

/** Modulus 10 with weights 1 and 3 (GTIN-13). */
function modulus10(digits: string): string {
  let sum = 0
  for (let index = 0; index < digits.length; index++) sum += digitAt(digits, index) * (index % 2 === 0 ? 1 : 3)
  return `${(10 - (sum % 10)) % 10}`
}

/** Modulus 11 with weights 10 down to 2; ten is written X. */
function modulus11(digits: string): string {
  let sum = 0
  for (let index = 0; index < digits.length; index++) sum += digitAt(digits, index) * (10 - index)
  const check = (11 - (sum % 11)) % 11
  return check === 10 ? 'X' : `${check}`
}

interface IsbnGroup {
  /** Prefix and registration group, for example 978-2. */
  group: string
  name: string
  /** First and last registrant of each range, digits of one length. */
  ranges: string[][]
}

const isRange = (value: unknown) =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((end) => typeof end === 'string' && /^[0-9]{1,7}$/.test(end)) &&
  isOrdered(value)

function isOrdered([first = '', last = '']: string[]): boolean {
  return first.length === last.length && first <= last
}

/** Publication of isbn3 2.0.11 on npm; its copy of the range message carries no date. */
const ISBN3_DATE = '2026-09-10'

const bundledRanges = once((): Snapshot<IsbnGroup> => {
  const rows = Object.entries(isbn3.groups).map(([group, { name, ranges }]) => ({ group, name, ranges: ranges.map((range) => [...range]) }))
  return {
    schema: 'assay/isbn-ranges/1',
    source: 'International ISBN Agency, range message, by way of the npm package isbn3 2.0.11',
    source_version: 'isbn3 2.0.11',
    published_at: null,
    compiled_at: ISBN3_DATE,
    retrieved_at: ISBN3_DATE,
    count: rows.length,
    rows,
  }
})

/** Ranges of registrants by registration group. */
export const ISBN_RANGES = referenceTable(
  {
    id: 'isbn_ranges',
    source_urls: ['https://www.isbn-international.org/export_rangemessage.xml'],
    licence: 'Facts of the range message (International ISBN Agency)',
    limit_days: 400,
    rows_min: 200,
    rows_max: 600,
    removed_share_max: 0.02,
    present: ['978-0', '978-1', '978-2', '978-3', '978-4', '978-5', '978-7', '979-8', '979-10'],
    absent: ['979-0'],
    isRow: rowOf<IsbnGroup>({
      group: /^97[89]-[0-9]{1,5}$/,
      name: isWords,
      ranges: (value) => Array.isArray(value) && value.length <= 200 && value.every(isRange),
    }),
    key: ({ group }) => group,
  },
  bundledRanges,
  ({ rows }): ReadonlyMap<string, IsbnGroup> => new Map(rows.map((row) => [row.group, row])),
)

/** Dates of the tables that an answer is read from. */
export const ISBN_DATA_AS_OF = datesOf([ISBN_RANGES])

/** The elements between prefix and check digit; null where the range message assigns nothing. */
interface IsbnElements {
  /** Registration group: a country, region or language area. */
  group: string | null
  group_name: string | null
  registrant: string | null
  publication: string | null
}

const LONGEST_GROUP = 5

/** Splits the nine digits between prefix and check digit, where the range message (ISO 2108) lets one say where the parts end. */
function splitIsbn(prefix: string, body: string): IsbnElements {
  for (let length = 1; length <= LONGEST_GROUP; length++) {
    const group = body.slice(0, length)
    const found = ISBN_RANGES.view.get(`${prefix}-${group}`)
    if (found === undefined) continue
    const rest = body.slice(length)
    const range = found.ranges.find(([first = '', last = '']) => isBetween(rest.slice(0, first.length), first, last))
    const registrant = range?.[0] === undefined ? null : rest.slice(0, range[0].length)
    const publication = registrant === null ? null : rest.slice(registrant.length)
    return { group, group_name: found.name, registrant, publication }
  }
  return { group: null, group_name: null, registrant: null, publication: null }
}

/** Digits of one length sort as text the way they sort as numbers. */
function isBetween(digits: string, first: string, last: string): boolean {
  return first <= digits && digits <= last
}
