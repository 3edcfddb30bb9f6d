import type { Check } from './verdict.ts'

/**
 * A given value that keeps every pack from its best decision (CLEAR, pass, PROCEED, a low band). `invalid`: it breaks a rule. `unconfirmed`: well
 * formed, but not confirmed by a published list or series. `warning`: valid, with a warning. `unread`: nothing could be read from it.
 */
export interface FieldDoubt {
  field: string
  kind: 'invalid' | 'unconfirmed' | 'warning' | 'unread'
  /** Code of the finding; null for a value that could not be read. */
  code: string | null
}

/** The doubts about given values, by one rule for all packs. Checks of values that were not given are null; `unread` names fields without a check. */
export function fieldDoubts(checks: Readonly<Record<string, Check<unknown> | null>>, unread: readonly string[] = []): FieldDoubt[] {
  const doubts = Object.entries(checks).flatMap(([field, check]) => (check === null ? [] : checkDoubts(field, check)))
  return [...doubts, ...unread.map((field): FieldDoubt => ({ field, kind: 'unread', code: null }))]
}

function checkDoubts(field: string, { verdict, valid, reason_code, warnings }: Check<unknown>): FieldDoubt[] {
  const warned = warnings.map(({ code }): FieldDoubt => ({ field, kind: 'warning', code }))
  if (verdict === 'invalid') return [{ field, kind: 'invalid', code: reason_code }, ...warned]
  return valid ? warned : [{ field, kind: 'unconfirmed', code: reason_code }, ...warned]
}

const DOUBT_WORDS: Readonly<Record<FieldDoubt['kind'], string>> = {
  invalid: 'is invalid',
  unconfirmed: 'could not be confirmed',
  warning: 'has a warning',
  unread: 'could not be read',
}

/** One doubt in words: "recipient_iban has a warning (bad_national_checksum)". */
export function doubtWords({ field, kind, code }: FieldDoubt): string {
  return `${field} ${DOUBT_WORDS[kind]}${code === null ? '' : ` (${code})`}`
}

/** Reason why a person must look at the given values, in one sentence; null without a doubt. */
export function doubtSentence(doubts: readonly FieldDoubt[]): string | null {
  return doubts.length === 0 ? null : `Confirm before you pay: ${[...new Set(doubts.map(doubtWords))].join('; ')}.`
}
