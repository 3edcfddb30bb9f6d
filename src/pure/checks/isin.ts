import table from '../../../data/isin-prefixes.json' with { type: 'json' }
import { characterFindings, pairIndex, pairIndexOf } from './characters.ts'
import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { COUNTRIES } from './countries.ts'
import { digitAt } from './digits.ts'
import { isinCheckDigit, luhnSum } from './isin-luhn.ts'
import { checkDigitFindings, layout, partFinding, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import { isSedol } from './sedol.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

/** Who stands behind the first two letters. */
export const ISIN_PREFIX_KINDS = ['country', 'agency', 'internal', 'historical'] as const

type PrefixKind = (typeof ISIN_PREFIX_KINDS)[number]

export interface IsinFacts {
  prefix: string
  /** A country of ISO 3166, an agency of its own, numbers for use inside one house, or a country that is gone. */
  prefix_kind: PrefixKind
  prefix_name: string
  /** The national number, characters 3–11. */
  nsin: string
  check_digit: string
  /** The national number that is known to be inside, or null. */
  embedded: EmbeddedId | null
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const ISIN_DATA_AS_OF = { isin_prefixes: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['ISIN:'],
  label: inFront(['ISIN'], (value) => /^[A-Z]{2}[0-9A-Z]{9}[0-9]$/.test(value)),
  field: 'isin',
}
const PRAISE = 'Prefix and check digit hold; no numbering agency was asked.'
const LAYOUT = layout('isin', 'prefix:2A nsin:9X check:1N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start

interface Prefix {
  kind: PrefixKind
  name: string
}

const PREFIXES: ReadonlyMap<string, Prefix> = new Map([
  ...Array.from(COUNTRIES.values(), ({ alpha2, name }) => [alpha2, { kind: 'country', name }] as const),
  ...table.rows.map(
    ({ prefix, kind, name }) => [prefix, { kind: ISIN_PREFIX_KINDS.find((one) => one === kind) ?? 'agency', name }] as const,
  ),
])

/** 1 for each pair of letters that is a prefix. */
const IS_PREFIX = new Uint8Array(26 * 26)
for (const prefix of PREFIXES.keys()) IS_PREFIX[pairIndexOf(prefix)] = 1

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 36, holds }

/** Whether the text is an ISIN by prefix and check digit. Always the same answer as `checkIsin(text).valid`. */
export function isIsin(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH || IS_PREFIX[pairIndex(read[0] ?? 0, read[1] ?? 0)] !== 1) return false
  const check = read[CHECK_AT] ?? 10
  return check < 10 && (luhnSum(read, CHECK_AT) + check) % 10 === 0
}

/**
 * Decides whether text is an International Securities Identification Number (ISO 6166:2021): a prefix of ISO 3166 or of a numbering agency,
 * nine letters or digits, and a check digit by Luhn's method over the digits that A = 10 … Z = 35 give. Spaces and hyphens are allowed.
 *
 * Prefixes for use inside one house (XF, QS, QT, QW) pass with the warning reserved_range, those of countries that are gone with
 * withdrawn, and a US or Canadian number whose CUSIP fails by itself with bad_national_checksum. Errs towards valid: a number that was
 * never issued passes, and the method misses 09 for 90. Errs towards invalid for a prefix newer than the list. Codes: empty,
 * too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, bad_prefix, bad_checksum.
 */
export function checkIsin(text: string): Check<IsinFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isIsin, judge })
}

function judge(value: string): Judgement<IsinFacts> {
  const faults = shapeFindings(value)
  if (faults.some(({ field }) => field !== 'check')) return { findings: faults }
  const expected_check = isinCheckDigit(value.slice(0, CHECK_AT))
  if (faults.length > 0) return { findings: faults, expected_check }
  const prefix = partText(LAYOUT.at.prefix, value)
  const nsin = partText(LAYOUT.at.nsin, value)
  const check_digit = partText(LAYOUT.at.check, value)
  const known = PREFIXES.get(prefix)
  if (known === undefined) return { findings: [partFinding(LAYOUT, 'prefix', value, 'bad_prefix', null)] }
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  const embedded = embeddedId(prefix, nsin)
  const facts = { prefix, prefix_kind: known.kind, prefix_name: known.name, nsin, check_digit, embedded, parts: [...LAYOUT.parts] }
  return { findings, warnings: isinWarnings(value, facts), expected_check, facts }
}

function shapeFindings(value: string): Finding[] {
  const foreign = characterFindings(value, 'isin')
  if (foreign.length > 0) return foreign
  if (value.length !== LENGTH) return [lengthFinding('isin', value, `${LENGTH} characters`)]
  const findings: Finding[] = []
  if (!/^[A-Z]{2}/.test(value)) findings.push(finding('bad_structure', 'prefix', { value, start: 0, end: 2 }, 'two letters'))
  if (!/[0-9]$/.test(value)) findings.push(finding('bad_structure', 'check', { value, start: CHECK_AT, end: LENGTH }, 'a digit'))
  return findings
}

function isinWarnings(value: string, { prefix_kind, embedded }: IsinFacts): Finding[] {
  const warnings: Finding[] = []
  if (prefix_kind === 'internal') {
    const message = 'Numbers with this prefix are for use inside one house and are not unique in the world.'
    warnings.push(partFinding(LAYOUT, 'prefix', value, 'reserved_range', null, message))
  }
  if (prefix_kind === 'historical') {
    warnings.push(partFinding(LAYOUT, 'prefix', value, 'withdrawn', null, 'The country of this prefix is gone; old numbers live on.'))
  }
  if (embedded !== null && embedded.check_ok === false) {
    const message = 'The CUSIP inside does not pass by its own check digit.'
    warnings.push(partFinding(LAYOUT, 'nsin', value, 'bad_national_checksum', null, message))
  }
  return warnings
}

/** The national number inside an ISIN. */
interface EmbeddedId {
  kind: 'cusip' | 'sedol' | 'wkn' | 'valor'
  id: string
  /** Whether it holds by its own check digit; null for numbers that have none. */
  check_ok: boolean | null
}

/**
 * The number that agencies are known to put into the nine places: CUSIP (US, CA), SEDOL behind two zeros (GB, and IE, GG, JE, IM where it
 * passes by itself), WKN behind three zeros (DE), Valor (CH, LI). Null when nothing of the kind is there.
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

/** 0–9, then 10–35 for letters. */
function valueAt(text: string, index: number): number {
  const digit = digitAt(text, index)
  return digit > 9 ? digit - 7 : digit
}

/** Modulus 10, double add double (ANSI X9.6): every second of eight values is doubled, and the digits of each product are added. */
function isCusip(nine: string): boolean {
  let sum = 0
  for (let index = 0; index < 8; index++) {
    const product = valueAt(nine, index) * (index % 2 === 0 ? 1 : 2)
    sum += Math.floor(product / 10) + (product % 10)
  }
  return (10 - (sum % 10)) % 10 === valueAt(nine, 8)
}
