import { type Check, finding, type Finding, type IdentifierPart, lengthFinding } from './verdict.ts'
import { conclude, foreignCharacters, repair } from './check-text.ts'
import parsePhoneNumber, { type CountryCode, type MetadataJson } from 'libphonenumber-js/core'
import bundled from 'libphonenumber-js/max/metadata'
import type { Snapshot } from '../datasets/definition.ts'
import { dataDate, datesOf, orNull, referenceTable, rowOf } from '../datasets/table.ts'
import { once } from '../once.ts'
import { COUNTRIES } from './countries.ts'
import { labelInFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'

/** Numbering plan of a region, or of a calling code that belongs to none. */
interface PlanRow {
  calling_code: string
  /** Alpha-2 code. Of the regions with one calling code, the main one comes first. */
  region: string | null
  /** Members by their position, as libphonenumber-js packs them (metadata version 4): calling code, patterns, lengths, formats, types. */
  plan: unknown[]
}

/** Rows of the full metadata of libphonenumber-js. */
export function planRows({ country_calling_codes, countries, nonGeographic }: MetadataJson): PlanRow[] {
  const regions = Object.entries(country_calling_codes).flatMap(([calling_code, codes]) =>
    codes.map((region): PlanRow => ({ calling_code, region, plan: countries[region] ?? [] })),
  )
  const shared = Object.entries(nonGeographic).map(([calling_code, plan]): PlanRow => ({ calling_code, region: null, plan }))
  return [...regions, ...shared]
}

/** The same as libphonenumber-js reads it. */
function metadataOf(rows: readonly PlanRow[]): MetadataJson {
  const codes: Record<string, CountryCode[]> = {}
  const countries: Record<string, unknown[]> = {}
  const shared: Record<string, unknown[]> = {}
  for (const { calling_code, region, plan } of rows) {
    if (region === null) shared[calling_code] = plan
    else {
      countries[region] = plan
      ;(codes[calling_code] ??= []).push(region as CountryCode)
    }
  }
  return {
    version: METADATA_VERSION,
    country_calling_codes: codes,
    countries,
    nonGeographic: shared,
  }
}

/** Layout of the metadata that this version of libphonenumber-js reads. */
export const METADATA_VERSION = 4

/** The characters of patterns and of forms for print; without quantifiers that have no bound. */
const PLAN_TEXT = /^[ #$(),\-.0-9:?A[\]deinotx{|}~\\]{0,4000}$/
const PLAN_CHARS_MAX = 40_000
const PLAN_DEPTH_MAX = 5

function isPlan(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= 20 && JSON.stringify(value).length <= PLAN_CHARS_MAX && isPlanMember(value, PLAN_DEPTH_MAX)
}

function isPlanMember(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return depth > 0 && value.every((one: unknown) => isPlanMember(one, depth - 1))
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= 20
  return typeof value === 'string' && PLAN_TEXT.test(value) && isBoundedPattern(value)
}

/**
 * A pattern that compiles, and in which no group is repeated that has alternatives or a varying length: such a pattern can take exponential time. It is
 * read by numbers of at most 15 digits; no pattern of the published plans has such a group.
 */
function isBoundedPattern(text: string): boolean {
  const plain = text
    .replace(/\\./g, 'x')
    .replace(/\[[^[\]]*\]/g, 'x')
    .replaceAll('(?:', '(')
  const varies = [false]
  for (const [token] of plain.matchAll(/\(|\)(?:\?|\{\d{1,2}(?:,\d{0,2})?\})?|[?|]|\{\d{1,2},\d{0,2}\}/g)) {
    const inner = token.startsWith(')') ? varies.pop() === true : token !== '('
    if (varies.length === 0 || (inner && token.startsWith('){'))) return false
    if (token === '(') varies.push(false)
    else if (inner || token !== ')') varies[varies.length - 1] = true
  }
  return compiles(text)
}

function compiles(pattern: string): boolean {
  try {
    RegExp(pattern)
    return true
  } catch {
    return false
  }
}

const bundledPlans = once((): Snapshot<PlanRow> => {
  const rows = planRows(bundled)
  return {
    schema: 'assay/phone-plans/1',
    source: "Google's libphonenumber, by way of the npm package libphonenumber-js 1.13.16, full metadata",
    source_version: '1.13.16',
    published_at: '2026-11-10',
    retrieved_at: '2026-11-21',
    count: rows.length,
    rows,
  }
})

const isPlanRow = rowOf<PlanRow>({ calling_code: /^[1-9][0-9]{0,2}$/, region: orNull(/^[A-Z]{2}$/), plan: isPlan })

/** Plans change monthly, so a range that was opened since then is missing: errs towards `valid: false`. */
export const PHONE_PLANS = referenceTable(
  {
    id: 'phone_plans',
    source_urls: ['https://cdn.jsdelivr.net/npm/libphonenumber-js@1/metadata.max.json'],
    licence: 'MIT (libphonenumber-js); Apache 2.0 (libphonenumber)',
    limit_days: 200,
    undated: true,
    rows_min: 230,
    rows_max: 400,
    removed_share_max: 0.03,
    present: ['US', 'GB', 'DE', 'FR', 'IN', 'CN', 'JP', 'BR', 'NG', 'AU', '800'],
    isRow: (value): value is PlanRow => isPlanRow(value) && value.plan[0] === value.calling_code,
    key: ({ calling_code, region }) => region ?? calling_code,
  },
  bundledPlans,
  (snapshot) => ({ metadata: once(() => metadataOf(snapshot.rows)), as_of: dataDate(snapshot) }),
)

/** Numbering plan data of a number in E.164 form. */
interface PhonePlan {
  /** As dialled from abroad: without a prefix for calls inside the country. All other facts are about this number. */
  e164: string
  calling_code: string
  /** Alpha-2 code; null for numbers of no country (satellite, freephone) and where several share the calling code and none claims it. */
  region: string | null
  national_number: string
  /** Fits the lengths of the plan. */
  possible: boolean
  /** Lies in a range that the plan assigns. */
  valid: boolean
  type: string | null
  international: string
  national: string
  rfc3966: string
}

/** `e164` is a plus sign and 8 to 15 digits; null when no plan has the calling code. */
function phonePlan(e164: string): PhonePlan | null {
  const number = parsePhoneNumber(e164, PHONE_PLANS.view.metadata())
  if (number === undefined) return null
  return {
    e164: number.number,
    calling_code: number.countryCallingCode,
    region: number.country ?? null,
    national_number: number.nationalNumber,
    possible: number.isPossible(),
    valid: number.isValid(),
    type: number.getType()?.toLowerCase() ?? null,
    international: number.formatInternational(),
    national: number.formatNational(),
    rfc3966: number.getURI(),
  }
}

export const E164_DATA_AS_OF = datesOf([PHONE_PLANS])

const OPTIONS: NormalizeOptions = {
  separators: ' -.(',
  prefixes: ['TEL:'],
  label: labelInFront(['TEL(?:EPHONE)?', 'PHONE', 'MOBILE', 'CELL', 'FAX'], (value) => value.startsWith('+')),
  field: 'phone',
}
const SUCCESS_REASON = 'The number has E.164 form; whether it is in use was not checked.'
const LEAST_DIGITS = 8
const MOST_DIGITS = 15
const EXPECTED_DIGITS = `${LEAST_DIGITS} to ${MOST_DIGITS} digits`
const EXTENSION = /(?:;ext=|[,;]?\s*(?:ext(?:ension|n)?\.?|x|#)[\s:.]*)([0-9]{1,7})\s*$/i
/** The zero that is dialled inside a country, as in +44 (0)20 …; it is put in parentheses because it is not dialled from abroad. */
const TRUNK_ZERO = /[(\uff08]\s*[0\uff10]\s*[)\uff09]/
/** Italy, San Marino and the Vatican, Gabon, Côte d'Ivoire and Congo dial their zero from abroad too. */
const KEEPS_ZERO = /^\D*(?:39|378|379|241|225|242)\D/

/**
 * Returns the same answer as `checkE164(text).valid`: E.164 form (ITU-T E.164, 11/2010) is a plus sign and 8 to 15 digits, the first of
 * them not 0.
 */
export function isE164(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  let digits = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x30 && code <= 0x39) {
      if (digits === 0 && (code === 0x30 || text.charCodeAt(0) !== 0x2b)) return isE164Normalized(text)
      digits++
    } else if (code === 0x2b ? index > 0 : code !== 0x20 && code !== 0x2d && code !== 0x2e) return isE164Normalized(text)
  }
  return digits >= LEAST_DIGITS && digits <= MOST_DIGITS
}

function isE164Normalized(text: string): boolean {
  const { value, finding: unreadable } = normalize(withoutExtension(text).text, OPTIONS)
  return unreadable === null && matchesFormat(value)
}

function matchesFormat(value: string): boolean {
  return /^\+[1-9][0-9]{7,14}$/.test(value)
}

/**
 * Checks a telephone number in E.164 form, by structure alone, and returns its numbering plan data. A number
 * without a plus sign is invalid, since it can only be read with its country. Errs towards valid: a number that no plan knows, that a
 * plan has closed, or that keeps a prefix for calls inside the country, is a warning; and towards invalid for the few islands whose
 * numbers have fewer than 8 digits with the country code.
 */
export function checkE164(text: string): Check<E164Facts> {
  const { text: main, extension, dropped } = withoutExtension(text)
  const read = normalize(main, OPTIONS)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && matchesFormat(read.suggestion) ? read.suggestion : null
    return conclude(read, SUCCESS_REASON, { findings: [read.finding] }, suggestion)
  }
  const findings = formatFindings(read.value)
  if (findings.length > 0) return conclude(read, SUCCESS_REASON, { findings }, suggestedNumber(read.value))
  const plan = phonePlan(read.value)
  const warnings = [...(dropped ? [trunkWarning(read.value)] : []), ...planWarnings(read.value, plan)]
  const facts = e164Facts(read.value, extension, plan)
  return conclude(read, SUCCESS_REASON, { findings, warnings, unverifiable: true, facts }, null)
}

/** Removes an extension and a national zero in parentheses. */
function withoutExtension(text: string): { text: string; extension: string | null; dropped: boolean } {
  if (text.length > MAX_CHARS) return { text, extension: null, dropped: false }
  const extension = EXTENSION.exec(text)
  const main = extension === null ? text : text.slice(0, extension.index)
  const dropped = TRUNK_ZERO.test(main) && /[+\uff0b]/.test(main) && !KEEPS_ZERO.test(main)
  return { text: dropped ? main.replace(TRUNK_ZERO, ' ') : main, extension: extension?.[1] ?? null, dropped }
}

function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacters(value, 'phone', /[^0-9+]+|(?<=.)\+/gsu, 'digits 0-9')
  if (foreign.length > 0) return foreign
  if (!value.startsWith('+')) return [prefixFinding(value)]
  const digits = value.length - 1
  if (digits < LEAST_DIGITS) return [lengthFinding('phone', value.slice(1), EXPECTED_DIGITS, { code: 'too_short' })]
  if (digits > MOST_DIGITS) return [lengthFinding('phone', value.slice(1), EXPECTED_DIGITS, { code: 'too_long' })]
  if (value[1] !== '0') return []
  return [finding('bad_prefix', 'country_code', { value, start: 1, end: 2 }, '1-9', 'No country code begins with 0.')]
}

function prefixFinding(value: string): Finding {
  const exit = value.startsWith('00')
  const message = exit
    ? 'The prefix 00 is dialled from some countries only; E.164 begins with a plus sign.'
    : 'Without a plus sign and a country code the number is ambiguous; write it like +44 20 7946 0000.'
  return finding('bad_prefix', 'prefix', exit ? { value, start: 0, end: 2 } : null, '+', message)
}

/** 00 read as a plus sign, else the only look-alike repair; swapped digits cannot be detected. */
function suggestedNumber(value: string): string | null {
  if (/^[0-9]+$/.test(value)) {
    const international = `+${value.slice(2)}`
    return value.startsWith('00') && matchesFormat(international) ? international : null
  }
  return repair(value, (candidate) => matchesFormat(candidate) && /[^0-9+]/.test(value))
}

function trunkWarning(value: string): Finding {
  return finding(
    'bad_component',
    'trunk_prefix',
    null,
    value,
    'The national zero in parentheses was left out: it is not dialled from abroad.',
  )
}

function planWarnings(value: string, plan: PhonePlan | null): Finding[] {
  if (plan === null) {
    return [
      finding('unassigned_range', 'country_code', null, null, `This country code is not in the metadata of ${PHONE_PLANS.view.as_of}.`),
    ]
  }
  const place = { value, start: nationalStart(value, plan), end: value.length }
  const dialled = prefixWarnings(value, plan)
  if (plan.valid) return dialled
  const fault = plan.possible
    ? finding(
        'unassigned_range',
        'national_number',
        place,
        null,
        `The range is not in the metadata of ${PHONE_PLANS.view.as_of}; it may be newer, or not assigned.`,
      )
    : finding(
        'bad_length',
        'national_number',
        place,
        null,
        `The metadata of ${PHONE_PLANS.view.as_of} has no numbers of this length in this country.`,
      )
  return [...dialled, fault]
}

/** Numbers with what is dialled inside the country: 0 in most, 06 in Hungary, 15 before Argentine mobiles; or without their area code. */
function prefixWarnings(value: string, plan: PhonePlan): Finding[] {
  if (plan.e164 === value) return []
  const expected = matchesFormat(plan.e164) ? plan.e164 : null
  const start = plan.calling_code.length + 1
  const end = nationalStart(value, plan)
  if (plan.e164.length > value.length) {
    const message = 'From abroad this number is dialled with an area code in front.'
    return [finding('bad_component', 'national_number', { value, start, end: value.length }, expected, message)]
  }
  const message = 'The number contains a prefix that is dialled only inside the country.'
  return [finding('bad_component', 'trunk_prefix', start === end ? null : { value, start, end }, expected, message)]
}

/** Start of the number that is dialled from abroad; behind the country code when the number is not one contiguous part of the value. */
function nationalStart(value: string, { calling_code, national_number }: PhonePlan): number {
  const start = calling_code.length + 1
  return value.slice(start).endsWith(national_number) ? value.length - national_number.length : start
}

function e164Facts(value: string, extension: string | null, plan: PhonePlan | null) {
  const region = plan?.region ?? null
  const uri = plan?.rfc3966 ?? `tel:${value}`
  return {
    country_calling_code: plan?.calling_code ?? null,
    region,
    region_name: region === null ? null : (COUNTRIES.get(region)?.name ?? null),
    nanp: plan?.calling_code === '1',
    national_number: plan?.national_number ?? null,
    type: plan?.type ?? null,
    possible: plan?.possible ?? false,
    in_numbering_plan: plan?.valid ?? false,
    extension,
    e164: plan?.e164 ?? value,
    international_form: plan?.international ?? null,
    national_form: plan?.national ?? null,
    rfc3966: extension === null ? uri : `${uri};ext=${extension}`,
    parts: plan === null ? [] : phoneParts(value, plan),
  }
}

type E164Facts = ReturnType<typeof e164Facts>

function phoneParts(value: string, plan: PhonePlan): IdentifierPart[] {
  const code_end = plan.calling_code.length + 1
  const start = nationalStart(value, plan)
  const parts = [
    { label: 'country_code', start: 0, end: code_end },
    { label: 'trunk_prefix', start: code_end, end: start },
    { label: 'national_number', start, end: value.length },
  ]
  return parts.filter((part) => part.start < part.end)
}
