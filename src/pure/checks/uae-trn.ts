import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { layout, layoutFindings, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface UaeTrnFacts {
  /** Taxpayer identification number: the first ten digits. */
  tin: string
  /** The last five digits. */
  suffix: string
  /** The TIN as a Peppol participant, scheme 0235. */
  peppol_participant_id: string
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['TRN'],
  label: inFront(['TRN'], (value) => /^[0-9]{15}$/.test(value)),
  field: 'trn',
}
const PRAISE = 'The form is right; no check digit is published for this number.'
const LAYOUT = layout('trn', 'tin:10N suffix:5N')
const LENGTH = LAYOUT.length
/** Series of the numbers that the Federal Tax Authority documents. */
const SERIES = '100'
/** Series 101 to 109; numbers of 104 and 105 are on invoices of registered businesses. */
const NEWER_SERIES = /^10[1-9]/

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 10, holds }

/** Whether the text has the form of a TRN. Always the same answer as `checkUaeTrn(text).valid`. */
export function isUaeTrn(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH || read[0] !== 1 || read[1] !== 0 || read[2] !== 0) return false
  let any = 0
  for (let index = 3; index < LENGTH; index++) {
    const digit = read[index] ?? 0
    if (digit > 9) return false
    any |= digit
  }
  return any !== 0
}

/**
 * Decides whether text has the form of a tax registration number of the United Arab Emirates (Federal Tax Authority): fifteen digits
 * that begin with 100, and not only zeros after it. A number of series 101 to 109 is `well_formed_unverifiable` with the finding
 * `series_newer`, because series 104 and 105 are in use and no published list names the newer series. No check digit has been published,
 * so a mistyped digit goes unnoticed. Spaces, hyphens and the word TRN in front are allowed.
 */
export function checkUaeTrn(text: string): Check<UaeTrnFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isUaeTrn, judge })
}

function judge(value: string): Judgement<UaeTrnFacts> {
  const findings = shapeFindings(value)
  if (findings.length > 0) return { findings }
  const tin = partText(LAYOUT.at.tin, value)
  const suffix = partText(LAYOUT.at.suffix, value)
  return {
    findings,
    unconfirmed: value.startsWith(SERIES) ? null : newerSeries(value),
    facts: { tin, suffix, peppol_participant_id: `0235:${tin}`, parts: [...LAYOUT.parts] },
  }
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0) return faults
  if (!value.startsWith(SERIES) && !NEWER_SERIES.test(value)) return [finding('bad_prefix', 'tin', { value, start: 0, end: 3 }, SERIES)]
  return /^10[0-9]0*$/.test(value) ? [finding('all_zero', 'trn', { value, start: 3, end: LENGTH }, null)] : []
}

function newerSeries(value: string): Finding {
  const message =
    `The number begins with ${value.slice(0, 3)}; the documented series is ${SERIES}. Series 104 and 105 are in use, ` +
    'but no published list confirms the newer series.'
  return finding('series_newer', 'tin', { value, start: 0, end: 3 }, SERIES, message)
}
