import table from '../../../data/isin-prefixes.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'
import { complement10, isinCheckValue } from './check-digits.ts'
import { COUNTRIES } from './countries.ts'
import { alphanumericValue } from './check-text.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront, pairIndex, pairIndexOf } from './normalize.ts'
import { isSedol } from './sedol.ts'
import type { Check, Finding } from './verdict.ts'

/** Kinds of prefix: a country of ISO 3166, an agency, numbers for use inside one house, or a country that no longer exists. */
export const ISIN_PREFIX_KINDS = ['country', 'agency', 'internal', 'historical'] as const

interface IsinPrefix {
  kind: (typeof ISIN_PREFIX_KINDS)[number]
  name: string
}

export const ISIN_PREFIX_TABLE = releaseTable('isin_prefixes', () => table)

/** Dates of the reference tables that an answer uses. */
export const ISIN_DATA_AS_OF = datesOf([ISIN_PREFIX_TABLE])

const LAYOUT = readLayout('isin', 'prefix:2A nsin:9X check:1N')
const CHECK_AT = LAYOUT.at.check.start

const PREFIXES: ReadonlyMap<string, IsinPrefix> = new Map([
  ...Array.from(COUNTRIES.values(), ({ alpha2, name }) => [alpha2, { kind: 'country', name }] as const),
  ...table.rows.map(
    ({ prefix, kind, name }) => [prefix, { kind: ISIN_PREFIX_KINDS.find((one) => one === kind) ?? 'agency', name }] as const,
  ),
])

/** 1 for each pair of letters that is a prefix. */
const IS_PREFIX = new Uint8Array(26 * 26)
for (const prefix of PREFIXES.keys()) IS_PREFIX[pairIndexOf(prefix)] = 1

const ISIN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['ISIN:'],
  label: labelInFront(['ISIN'], (value) => /^[A-Z]{2}[0-9A-Z]{9}[0-9]$/.test(value)),
  success_reason: 'Prefix and check digit are valid; no numbering agency was queried.',
  checksum: { expected: (values) => isinCheckValue(values, CHECK_AT) },
  hasValidComponents: (values) => IS_PREFIX[pairIndex(values[0] ?? 0, values[1] ?? 0)] === 1,
  componentFindings: (value) => (PREFIXES.has(value.slice(0, 2)) ? [] : [partFinding(LAYOUT, 'prefix', value, 'bad_prefix', null)]),
  facts({ prefix, nsin, check }) {
    const known = PREFIXES.get(prefix)
    if (known === undefined) return null
    return { prefix, prefix_kind: known.kind, prefix_name: known.name, nsin, check_digit: check, embedded: embeddedId(prefix, nsin) }
  },
  warnings(value, { prefix_kind, embedded }) {
    const warnings: Finding[] = []
    if (prefix_kind === 'internal') {
      const message = 'Numbers with this prefix are for use inside one house and are not unique worldwide.'
      warnings.push(partFinding(LAYOUT, 'prefix', value, 'reserved_range', null, message))
    }
    if (prefix_kind === 'historical') {
      const message = 'The country of this prefix no longer exists; old numbers remain in use.'
      warnings.push(partFinding(LAYOUT, 'prefix', value, 'withdrawn', null, message))
    }
    if (embedded !== null && embedded.check_ok === false) {
      const message = 'The check digit of the CUSIP inside is wrong.'
      warnings.push(partFinding(LAYOUT, 'nsin', value, 'bad_national_checksum', null, message))
    }
    return warnings
  },
})

type IsinFacts = FactsOf<typeof ISIN>

/**
 * Checks an International Securities Identification Number (ISO 6166:2021): a prefix of ISO 3166 or of a numbering agency, nine letters or
 * digits, and a check digit by Luhn's method over the digits that A = 10 … Z = 35 give. Spaces and hyphens are allowed.
 *
 * Prefixes for use inside one house (XF, QS, QT, QW) pass with the warning reserved_range, those of former countries with withdrawn, and a US
 * or Canadian number whose CUSIP is invalid with bad_national_checksum. Errs towards valid: a number that was never issued passes, and the
 * method misses 09 for 90. Errs towards invalid for a prefix newer than the list. Codes: empty, too_long_input, non_ascii_digits,
 * bad_charset, bad_separator, bad_length, bad_structure, bad_prefix, bad_checksum.
 */
export function checkIsin(text: string): Check<IsinFacts> {
  return checkIdentifier(text, ISIN)
}

/** Returns the same answer as `checkIsin(text).valid`. */
export function isIsin(text: string): boolean {
  return isIdentifier(text, ISIN)
}

/** National number inside an ISIN. */
interface EmbeddedId {
  kind: 'cusip' | 'sedol' | 'wkn' | 'valor'
  id: string
  /** Its own check digit is valid; null for numbers without one. */
  check_ok: boolean | null
}

/**
 * Returns the number that agencies put into the nine characters: CUSIP (US, CA), SEDOL behind two zeros (GB, and IE, GG, JE, IM where it is
 * valid by itself), WKN behind three zeros (DE), Valor (CH, LI); null for all others.
 */
function embeddedId(prefix: string, nsin: string): EmbeddedId | null {
  switch (prefix) {
    case 'US':
    case 'CA':
      return { kind: 'cusip', id: nsin, check_ok: isCusip(nsin) }
    case 'GB':
    case 'IE':
    case 'GG':
    case 'JE':
    case 'IM':
      return nsin.startsWith('00') && isSedol(nsin.slice(2)) ? { kind: 'sedol', id: nsin.slice(2), check_ok: true } : null
    case 'DE':
      return /^000[0-9A-HJ-NP-Z]{6}$/.test(nsin) ? { kind: 'wkn', id: nsin.slice(3), check_ok: null } : null
    case 'CH':
    case 'LI':
      return /^(?!0+$)[0-9]+$/.test(nsin) ? { kind: 'valor', id: nsin.replace(/^0+/, ''), check_ok: null } : null
    default:
      return null
  }
}

/** Modulus 10, double add double (ANSI X9.6): every second of eight values is doubled, and the digits of each product are added. */
function isCusip(nine: string): boolean {
  let sum = 0
  for (let index = 0; index < 8; index++) {
    const product = alphanumericValue(nine, index) * (index % 2 === 0 ? 1 : 2)
    sum += Math.floor(product / 10) + (product % 10)
  }
  return complement10(sum) === alphanumericValue(nine, 8)
}
