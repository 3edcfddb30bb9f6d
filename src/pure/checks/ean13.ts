import table from '../../../data/gs1-prefixes.json' with { type: 'json' }
import { datesOf, isWords, referenceTable, rowOf } from '../datasets/table.ts'
import { complement10, complement11 } from './check-digits.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { digitAt, labelInFront } from './normalize.ts'
import { type Check, finding, type Finding, lengthFinding } from './verdict.ts'

/** Uses of a range of GS1 prefixes. */
export const GS1_KINDS = [
  'member',
  'restricted',
  'coupon',
  'refund',
  'issn',
  'isbn',
  'ismn',
  'demonstration',
  'reserved',
  'global_office',
] as const

type Gs1Kind = (typeof GS1_KINDS)[number]

interface Gs1Range {
  kind: Gs1Kind
  organisation: string
}

interface Gs1Row {
  first: string
  last: string
  kind: string
  organisation: string
}

const isGs1Row = rowOf<Gs1Row>({
  first: /^(?:[0-9]{3}|0{3}[0-9]{4})$/,
  last: /^(?:[0-9]{3}|0{3}[0-9]{4})$/,
  kind: (value) => GS1_KINDS.some((one) => one === value),
  organisation: isWords,
})

/**
 * Ranges by each prefix of three digits, or of seven where it begins with zeros. GS1 publishes the list as a page for people, so a newer one
 * comes by an import only.
 */
export const GS1_PREFIXES = referenceTable(
  {
    id: 'gs1_prefixes',
    source_urls: [],
    licence: 'Facts of the list of GS1 prefixes',
    rows_min: 110,
    rows_max: 200,
    removed_share_max: 0.05,
    present: ['400', '977', '978', '990'],
    isRow: (value): value is Gs1Row => isGs1Row(value) && value.first <= value.last && value.first.length === value.last.length,
    key: ({ first }) => first,
  },
  () => table,
  ({ rows }): ReadonlyMap<string, Gs1Range> =>
    new Map(
      rows.flatMap(({ first, last, kind, organisation }) => {
        const range: Gs1Range = { kind: GS1_KINDS.find((one) => one === kind) ?? 'member', organisation }
        const start = Number.parseInt(first, 10)
        const prefix = (number: number) => String(number).padStart(first.length, '0')
        return Array.from({ length: Number.parseInt(last, 10) - start + 1 }, (_, offset) => [prefix(start + offset), range] as const)
      }),
    ),
)

/** Dates of the reference tables that an answer uses. */
export const EAN13_DATA_AS_OF = datesOf([GS1_PREFIXES])

/** Returns the range of a number of thirteen digits, or null. Errs towards null: ranges opened after the copy was made are missing. */
function gs1Range(code: string): Gs1Range | null {
  const ranges = GS1_PREFIXES.view
  return ranges.get(code.slice(0, 7)) ?? ranges.get(code.slice(0, 3)) ?? null
}

/** Agency of 979-0 (ISO 10957); the table of GS1 knows the prefix 979 as a whole. */
const ISMN_ORGANISATION = 'International ISMN Agency'
/** Zeros that fill a GTIN-8 up to thirteen digits. */
const PADDING = '00000'
const LAYOUT = readLayout('code', 'gs1_prefix:3N company_and_item:9N check:1N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start
/** Expected length, with the other code that has the length found. */
const OTHER_LENGTHS: Readonly<Record<number, string>> = {
  8: '13 digits; an EAN-8 has 8',
  12: '13 digits; a UPC-A has 12, and a 0 in front as an EAN-13',
  14: '13 digits; a GTIN-14 has 14, with a packaging digit in front',
}

const EAN13 = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['EAN13:', 'GTIN13:', 'EAN', 'GTIN'],
  label: labelInFront(['(?:EAN|GTIN)(?:[- ]?13)?'], () => true),
  success_reason: 'Thirteen digits and a valid check digit; this does not prove that an article exists.',
  first_below: 10,
  leading_zero: true,
  checksum: { expected: checkDigit },
  refineFindings: (findings, value) => findings.map((fault) => withOtherCode(fault, value)),
  facts({ gs1_prefix, check }, { value }) {
    const range = gs1Range(value)
    const music = value.startsWith('9790')
    const kind: Gs1Kind | null = music ? 'ismn' : (range?.kind ?? null)
    return {
      gs1_prefix,
      kind,
      organisation: music ? ISMN_ORGANISATION : (range?.organisation ?? null),
      restricted_circulation: range?.kind === 'restricted',
      gtin14: `0${value}`,
      upc_a: value.startsWith('0') ? value.slice(1) : null,
      isbn13: range?.kind === 'isbn' && !music ? value : null,
      ismn: music ? value : null,
      issn: range?.kind === 'issn' ? issn(value.slice(3, 10)) : null,
      check_digit: check,
    }
  },
  warnings: (value, { kind }) => ean13Warnings(value, kind),
})

/**
 * Checks an EAN-13, today GTIN-13 (GS1 General Specifications, 7.9; ISO/IEC 15420): thirteen digits, the last of which is a check digit by
 * modulus 10 with the weights 1 and 3. Not eight, twelve or fourteen digits, which are other codes. Spaces and hyphens are allowed.
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_checksum.
 *
 * Warnings: reserved_range for numbers of restricted circulation, coupons and refund receipts, unassigned_range where no prefix is known,
 * all_zero. Errs towards valid: a number that was never issued passes, and so does a swap of neighbours that differ by 5.
 */
export function checkEan13(text: string): Check<FactsOf<typeof EAN13>> {
  return checkIdentifier(text, EAN13)
}

/** Returns the same answer as `checkEan13(text).valid`. */
export function isEan13(text: string): boolean {
  return plainVerdict(text) ?? isIdentifier(text, EAN13)
}

/** Returns the verdict on thirteen characters 0-9, the most frequent form; null for any other text. */
function plainVerdict(text: string): boolean | null {
  if (text.length !== LENGTH) return null
  const check = digitAt(text, CHECK_AT)
  if (check >>> 0 > 9) return null
  let sum = check
  for (let index = 0; index < CHECK_AT; index += 2) {
    const once = digitAt(text, index)
    const thrice = digitAt(text, index + 1)
    // As an unsigned number, a character below "0" is above 9 as well.
    if (once >>> 0 > 9 || thrice >>> 0 > 9) return null
    sum += once + 3 * thrice
  }
  return sum % 10 === 0
}

/** Weights 1 and 3 alternating, modulus 10. */
function checkDigit(values: Uint8Array): number {
  let sum = 0
  for (let index = 0; index < CHECK_AT; index += 2) sum += (values[index] ?? 0) + 3 * (values[index + 1] ?? 0)
  return complement10(sum)
}

/** Names the other code that has the length found. */
function withOtherCode(fault: Finding, value: string): Finding {
  const expected = OTHER_LENGTHS[value.length]
  return fault.code === 'bad_length' && expected !== undefined ? lengthFinding('code', value, expected) : fault
}

function ean13Warnings(value: string, kind: Gs1Kind | null): Finding[] {
  if (!/[^0]/.test(value)) return [finding('all_zero', 'code', null, null)]
  const prefix = { value, start: 0, end: 3 }
  if (kind === null) return [finding('unassigned_range', 'gs1_prefix', prefix, null)]
  if (kind === 'restricted') {
    const message = 'Numbers of restricted circulation are issued inside one company or region and mean nothing elsewhere.'
    return [finding('reserved_range', 'gs1_prefix', prefix, null, message)]
  }
  if (kind === 'reserved' && value.startsWith(PADDING)) {
    const message = 'No EAN-13 begins with 00000: this is a GTIN-8 filled up with zeros, and its own eight digits show what it is.'
    return [finding('reserved_range', 'gs1_prefix', { value, start: 0, end: PADDING.length }, null, message)]
  }
  if (kind === 'coupon' || kind === 'refund' || kind === 'demonstration' || kind === 'reserved') {
    const message = 'The prefix is reserved for coupons, refund receipts, demonstrations or later use, not for articles.'
    return [finding('reserved_range', 'gs1_prefix', prefix, null, message)]
  }
  return []
}

/** Adds the check digit of an ISSN to seven digits of a bar code (ISO 3297: modulus 11, weights 8 to 2, ten is X). */
function issn(seven: string): string {
  let sum = 0
  for (let index = 0; index < 7; index++) sum += digitAt(seven, index) * (8 - index)
  const check = complement11(sum)
  return `${seven.slice(0, 4)}-${seven.slice(4)}${check === 10 ? 'X' : check}`
}
