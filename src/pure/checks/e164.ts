import { conclude, finding, lengthFinding, type Part } from './check-result.ts'
import { COUNTRIES } from './countries.ts'
import { strangers } from './digits.ts'
import { inFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'
import { PHONE_PLANS_AS_OF, PHONE_PLANS_DATE, phonePlan, type PhonePlan } from './phone-plan.ts'
import { repair } from './repair.ts'
import type { Check, Finding } from './verdict.ts'

export interface E164Facts {
  /** Null when no numbering plan has it, as is everything that a plan would tell. */
  country_calling_code: string | null
  region: string | null
  region_name: string | null
  /** One of the countries that share +1. */
  nanp: boolean
  national_number: string | null
  type: string | null
  /** Whether the length fits the plan, and whether the range is assigned: two questions. */
  possible: boolean
  in_numbering_plan: boolean
  /** Digits behind `ext.`, `x` or `;ext=`; no part of E.164. */
  extension: string | null
  /** As it is dialled from abroad, which all of these facts are about; a prefix for calls inside the country is left out. */
  e164: string
  international_form: string | null
  national_form: string | null
  rfc3966: string
  parts: Part[]
}

export const E164_DATA_AS_OF = { phone_plans: PHONE_PLANS_AS_OF } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -.(',
  prefixes: ['TEL:'],
  label: inFront(['TEL(?:EPHONE)?', 'PHONE', 'MOBILE', 'CELL', 'FAX'], (value) => value.startsWith('+')),
  field: 'phone',
}
const PRAISE = 'The number has the form of E.164; whether it is in use was not asked.'
const LEAST_DIGITS = 8
const MOST_DIGITS = 15
const EXPECTED_DIGITS = `${LEAST_DIGITS} to ${MOST_DIGITS} digits`
const EXTENSION = /(?:;ext=|[,;]?\s*(?:ext(?:ension|n)?\.?|x|#)[\s:.]*)([0-9]{1,7})\s*$/i
/** The zero that is dialled inside a country, as in +44 (0)20 …; people put it in parentheses because it goes abroad. */
const TRUNK_ZERO = /[(\uff08]\s*[0\uff10]\s*[)\uff09]/
/** Italy, San Marino and the Vatican, Gabon, Côte d'Ivoire and Congo dial their zero from abroad too. */
const KEEPS_ZERO = /^\D*(?:39|378|379|241|225|242)\D/

/**
 * Whether the text is a number in E.164 form (ITU-T E.164, 11/2010): a plus sign, 8 to 15 digits, the first of them not 0. Always the
 * same answer as `checkE164(text).valid`.
 */
export function isE164(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  let digits = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x30 && code <= 0x39) {
      if (digits === 0 && (code === 0x30 || text.charCodeAt(0) !== 0x2b)) return isE164Prepared(text)
      digits++
    } else if (code === 0x2b ? index > 0 : code !== 0x20 && code !== 0x2d && code !== 0x2e) return isE164Prepared(text)
  }
  return digits >= LEAST_DIGITS && digits <= MOST_DIGITS
}

function isE164Prepared(text: string): boolean {
  const { value, finding: unreadable } = normalize(prepared(text).text, OPTIONS)
  return unreadable === null && holds(value)
}

function holds(value: string): boolean {
  return /^\+[1-9][0-9]{7,14}$/.test(value)
}

/**
 * Decides whether text is a telephone number in E.164 form, by structure alone, and tells what the numbering plans know of it. A number
 * without a plus sign is refused, since only its country could say how to read it. Errs towards valid: a number that no plan knows, that a
 * plan has closed, or that keeps a prefix for calls inside the country, is a warning; and towards invalid for the few islands whose
 * numbers have fewer than 8 digits with the country code.
 */
export function checkE164(text: string): Check<E164Facts> {
  const { text: bare, extension, dropped } = prepared(text)
  const read = normalize(bare, OPTIONS)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && holds(read.suggestion) ? read.suggestion : null
    return conclude(read, { praise: PRAISE, findings: [read.finding], suggestion })
  }
  const findings = shapeFindings(read.value)
  if (findings.length > 0) return conclude(read, { praise: PRAISE, findings, suggestion: suggested(read.value) })
  const plan = phonePlan(read.value)
  const warnings = [...(dropped ? [trunkWarning(read.value)] : []), ...planWarnings(read.value, plan)]
  const facts = e164Facts(read.value, extension, plan)
  return conclude(read, { praise: PRAISE, findings, warnings, unverifiable: true, suggestion: null, facts })
}

/** Takes off what is written with a number and is none of it: an extension, and a national zero in parentheses. */
function prepared(text: string): { text: string; extension: string | null; dropped: boolean } {
  if (text.length > MAX_CHARS) return { text, extension: null, dropped: false }
  const extension = EXTENSION.exec(text)
  const main = extension === null ? text : text.slice(0, extension.index)
  const dropped = TRUNK_ZERO.test(main) && /[+\uff0b]/.test(main) && !KEEPS_ZERO.test(main)
  return { text: dropped ? main.replace(TRUNK_ZERO, ' ') : main, extension: extension?.[1] ?? null, dropped }
}

function shapeFindings(value: string): Finding[] {
  const foreign = strangers(value, 'phone', /[^0-9+]+|(?<=.)\+/gsu, 'digits 0-9')
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
    : 'Without a plus sign and a country code only the country of the caller could say which number this is.'
  return finding('bad_prefix', 'prefix', exit ? { value, start: 0, end: 2 } : null, '+', message)
}

/** 00 read as a plus sign, else the only look-alike repair; digits that were swapped cannot be told from digits that were not. */
function suggested(value: string): string | null {
  if (/^[0-9]+$/.test(value)) {
    const international = `+${value.slice(2)}`
    return value.startsWith('00') && holds(international) ? international : null
  }
  return repair(value, (candidate) => holds(candidate) && /[^0-9+]/.test(value))
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
    return [finding('unassigned_range', 'country_code', null, null, `This country code is not in the metadata of ${PHONE_PLANS_DATE}.`)]
  }
  const place = { value, start: nationalStart(value, plan), end: value.length }
  const dialled = dialledWarnings(value, plan)
  if (plan.valid) return dialled
  const fault = plan.possible
    ? finding(
        'unassigned_range',
        'national_number',
        place,
        null,
        `The range is not in the metadata of ${PHONE_PLANS_DATE}; it may be newer, or not assigned.`,
      )
    : finding(
        'bad_length',
        'national_number',
        place,
        null,
        `The metadata of ${PHONE_PLANS_DATE} has no numbers of this length in this country.`,
      )
  return [...dialled, fault]
}

/** Numbers with what is dialled inside the country: 0 in most, 06 in Hungary, 15 before Argentine mobiles; or without their area code. */
function dialledWarnings(value: string, plan: PhonePlan): Finding[] {
  if (plan.e164 === value) return []
  const expected = holds(plan.e164) ? plan.e164 : null
  const start = plan.calling_code.length + 1
  const end = nationalStart(value, plan)
  if (plan.e164.length > value.length) {
    const message = 'From abroad this number is dialled with an area code in front.'
    return [finding('bad_component', 'national_number', { value, start, end: value.length }, expected, message)]
  }
  const message = 'A prefix was left in that is dialled inside the country, and not from abroad.'
  return [finding('bad_component', 'trunk_prefix', start === end ? null : { value, start, end }, expected, message)]
}

/** Where the number begins that is dialled from abroad; behind the country code when it does not stand there in one piece. */
function nationalStart(value: string, { calling_code, national_number }: PhonePlan): number {
  const start = calling_code.length + 1
  return value.slice(start).endsWith(national_number) ? value.length - national_number.length : start
}

function e164Facts(value: string, extension: string | null, plan: PhonePlan | null): E164Facts {
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
    parts: plan === null ? [] : partsOf(value, plan),
  }
}

function partsOf(value: string, plan: PhonePlan): Part[] {
  const code_end = plan.calling_code.length + 1
  const start = nationalStart(value, plan)
  const parts = [
    { label: 'country_code', start: 0, end: code_end },
    { label: 'trunk_prefix', start: code_end, end: start },
    { label: 'national_number', start, end: value.length },
  ]
  return parts.filter((part) => part.start < part.end)
}
