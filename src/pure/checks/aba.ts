import table from '../../../data/aba-ranges.json' with { type: 'json' }
import { readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { digitAt } from './digits.ts'
import { areDigits, withLeadingZero } from './fixed-digits.ts'
import { checkDigitFindings, layout, layoutFindings, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

/** What the first two digits are set aside for. */
export const ABA_CLASSES = ['us_government', 'fed_district', 'thrift', 'electronic', 'travellers_cheque'] as const

type AbaClass = (typeof ABA_CLASSES)[number]

interface AbaRange {
  class: AbaClass
  fed_district: number | null
  fed_city: string | null
}

export interface AbaFacts extends AbaRange {
  /** The Federal Reserve routing symbol, digits 1–4. */
  routing_symbol: string
  /** The institution within it, digits 5–8. */
  institution: string
  check_digit: string
  /** The digits do not tell whether a number serves only wires or only ACH: always null. */
  wire_or_ach_only: null
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const ABA_DATA_AS_OF = { aba_ranges: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['ABA:', 'RTN:', 'ROUTING:'],
  label: inFront(['ABA', '(?:ABA[ /-]{1,3})?(?:RTN|ROUTING(?:[ /-]{1,3}TRANSIT)?)'], () => true),
  field: 'aba_routing',
}
const PRAISE = 'Prefix and check digit hold; no directory was asked.'
const LAYOUT = layout('aba_routing', 'routing_symbol:4N institution:4N check:1N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start

const RANGES: ReadonlyMap<string, AbaRange> = new Map(
  table.rows.flatMap(({ prefix, class: named, fed_district, fed_city }) => {
    const known = ABA_CLASSES.find((one) => one === named)
    return known === undefined ? [] : [[prefix, { class: known, fed_district, fed_city }] as const]
  }),
)
/** 1 for each pair of first digits that is in use. */
const IS_PREFIX = new Uint8Array(100)
for (const prefix of RANGES.keys()) IS_PREFIX[Number.parseInt(prefix, 10)] = 1

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 36, holds }

/** Whether the text is a routing number by prefix and check digit. Always the same answer as `checkAba(text).valid`. */
export function isAba(text: string): boolean {
  const bare = bareVerdict(text)
  if (bare !== null) return bare
  return passes(text, READING)
}

/** The verdict on nine characters 0-9, which is what most people send; null for any other text. */
function bareVerdict(text: string): boolean | null {
  if (text.length !== LENGTH) return null
  let sum = 0
  for (let index = 0; index < LENGTH; index += 3) {
    const first = digitAt(text, index)
    const second = digitAt(text, index + 1)
    const third = digitAt(text, index + 2)
    // Unsigned, a character below 0 is a great number.
    if (first >>> 0 > 9 || second >>> 0 > 9 || third >>> 0 > 9) return null
    sum += 3 * first + 7 * second + third
  }
  return sum !== 0 && sum % 10 === 0 && IS_PREFIX[digitAt(text, 0) * 10 + digitAt(text, 1)] === 1
}

/** Nine digits, a prefix in use, a weighted sum that ends in 0 and is not 0. */
function holds(read: Uint8Array, length: number): boolean {
  if (!areDigits(read, length, LENGTH)) return false
  const sum = weightedSum(read, LENGTH)
  return IS_PREFIX[(read[0] ?? 0) * 10 + (read[1] ?? 0)] === 1 && sum !== 0 && sum % 10 === 0
}

/** The digits times 3, 7, 1, 3, 7, 1 … */
function weightedSum(read: Uint8Array, end: number): number {
  let sum = 0
  for (let index = 0; index < end; index++) {
    const place = index % 3
    sum += (read[index] ?? 0) * (place === 0 ? 3 : place === 1 ? 7 : 1)
  }
  return sum
}

/**
 * Decides whether text is an ABA routing transit number (American Bankers Association, Routing Number Administrative Policy; ANSI X9.100):
 * nine digits, a prefix that is set aside for use, and a check digit by modulus 10 with the weights 3, 7 and 1. Spaces and hyphens
 * are allowed. Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, all_zero, bad_prefix, bad_checksum.
 *
 * Errs towards valid: a number that was never assigned, or was retired, passes when its digits agree. Every single wrong digit is found;
 * a swap of neighbours that differ by 5 is not.
 */
export function checkAba(text: string): Check<AbaFacts> {
  return withLeadingZero(checkText(text, { options: OPTIONS, praise: PRAISE, passes: isAba, judge }), isAba)
}

function judge(value: string): Judgement<AbaFacts> {
  const faults = shapeFindings(value)
  if (faults.length > 0) return { findings: faults }
  const range = RANGES.get(value.slice(0, 2))
  if (range === undefined) {
    const expected = '00-12, 21-32, 61-72 or 80'
    return { findings: [finding('bad_prefix', 'prefix', { value, start: 0, end: 2 }, expected)] }
  }
  readPlain(value, values)
  const expected_check = `${(10 - (weightedSum(values, CHECK_AT) % 10)) % 10}`
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  const routing_symbol = partText(LAYOUT.at.routing_symbol, value)
  const institution = partText(LAYOUT.at.institution, value)
  const check_digit = partText(LAYOUT.at.check, value)
  const facts: AbaFacts = {
    ...range,
    routing_symbol,
    institution,
    check_digit,
    wire_or_ach_only: null,
    parts: [...LAYOUT.parts],
  }
  return { findings, expected_check, facts }
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0 || /[^0]/.test(value)) return faults
  return [finding('all_zero', 'aba_routing', null, null)]
}
