import type { HeadlineRule } from '../headline.ts'
import type { Check } from './verdict.ts'

/** Headlines of every pack of checks. */
export const PACK_HEADLINES: readonly HeadlineRule[] = [
  { when: { verdict: 'fail' }, tone: 'bad', word: 'FAIL', sentence: '{summary}' },
  { when: { verdict: 'review' }, tone: 'caution', word: 'REVIEW', sentence: '{summary}' },
  { when: { verdict: 'pass' }, tone: 'good', word: 'PASS', sentence: '{summary}' },
]

/** `fatal`: the values cannot belong together, or must not be paid. `warning`: ask. `info`: good to know. */
type Severity = 'fatal' | 'warning' | 'info'

/** What two values say of one another, or one value of the kind of party that was asked about. */
export interface CrossFinding {
  code: string
  fields: string[]
  severity: Severity
  message: string
}

export interface PackAnswer<Field extends string> {
  /** No given check is invalid and no cross finding is fatal. */
  valid: boolean
  /** `review`: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  summary: string
  /** Each check whole, null where nothing was given. */
  checks: Record<Field, Record<string, unknown> | null>
  cross_checks: CrossFinding[]
}

/** The check of a field that was given; null for one that was not. */
export function given<Facts>(text: string | undefined, check: (text: string) => Check<Facts>): Check<Facts> | null {
  return text === undefined ? null : check(text)
}

/** An alias, not an interface: the schema library asks for an open shape, which only aliases fit. */
type MissingField = { code: 'custom'; input: undefined; path: string[]; message: string; params: { code: 'missing' } }

/** For the schema of an input that needs one of these fields: a fault that names each, when none is there. */
export function missing(fields: readonly string[], input: Readonly<Record<string, unknown>>): MissingField[] {
  if (fields.some((field) => input[field] !== undefined)) return []
  const message = `Give at least one of ${fields.join(', ')}.`
  return fields.map((field) => ({ code: 'custom', input: undefined, path: [field], message, params: { code: 'missing' } }))
}

/** Facts of a value that is not invalid; cross findings look at nothing else. */
export function sound<Facts>(check: Check<Facts> | null): Facts | null {
  return check === null || check.verdict === 'invalid' ? null : check.facts
}

/** Puts the checks of a pack and their cross findings into one answer. Nothing here adds up points: each finding stands by itself. */
export function packAnswer<Field extends string>(
  checks: Record<Field, Check<unknown> | null>,
  cross_checks: CrossFinding[],
): PackAnswer<Field> {
  const done = entriesOf(checks).flatMap(([field, check]) => (check === null ? [] : [{ field, check }]))
  const faults = [
    ...done.filter(({ check }) => check.verdict === 'invalid').map(({ field, check }) => `${field} fails (${check.reason_code})`),
    ...cross_checks.filter(({ severity }) => severity === 'fatal').map(({ code }) => code),
  ]
  const cross_remarks = cross_checks.filter(({ severity }) => severity === 'warning').length
  // Well formed, but not confirmed by a published list or series: a warning, not a failure.
  const unconfirmed = done.filter(({ check }) => check.verdict !== 'invalid' && !check.valid)
  const remarks = done.reduce((sum, { check }) => sum + check.warnings.length, cross_remarks) + unconfirmed.length
  const verdict = faults.length > 0 ? 'fail' : remarks > 0 ? 'review' : 'pass'
  const open = unconfirmed.map(({ field, check }) => `${field} could not be confirmed (${check.reason_code})`)
  return {
    valid: faults.length === 0,
    verdict,
    summary: summaryOf(faults, open, done.length, remarks),
    checks: wholeChecks(checks),
    cross_checks,
  }
}

function summaryOf(faults: readonly string[], open: readonly string[], count: number, remarks: number): string {
  if (faults.length > 0) return `Do not rely on these values: ${faults.join('; ')}.`
  if (open.length > 0) return `Confirm before you pay: ${open.join('; ')}. No register was asked.`
  const values = count === 1 ? 'The one given value holds' : `All ${count} given values hold`
  if (remarks > 0) return `${values}; ${remarks === 1 ? 'one remark needs' : `${remarks} remarks need`} a look. No register was asked.`
  return `${values}${count === 1 ? '' : ', and agree where they can be compared'}. No register was asked.`
}

function wholeChecks<Field extends string>(checks: Record<Field, Check<unknown> | null>): Record<Field, Record<string, unknown> | null> {
  const whole = entriesOf(checks).map(([field, check]) => [field, check === null ? null : { ...check }])
  return Object.fromEntries(whole) as Record<Field, Record<string, unknown> | null>
}

/** `Object.entries` forgets the names of the fields. */
function entriesOf<Field extends string>(checks: Record<Field, Check<unknown> | null>) {
  return Object.entries(checks) as [Field, Check<unknown> | null][]
}
