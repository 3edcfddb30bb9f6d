import type { NachaKind } from './types.ts'

interface Described {
  description: string
  sec: string
  kind: NachaKind | null
  has_credits: boolean
  has_debits: boolean
  max_credit_minor: bigint
}

/** Nacha's risk rules: PAYROLL and PURCHASE are reserved from this day on. */
const RESERVED_FROM = '2026-03-20'
const WAGES = /^(?:PAY ?ROLL|PAYCHECK|WAGES?\b|SALAR(?:Y|IES)\b|DIR(?:ECT)? ?DEP)/i
const PURCHASES = /^(?:PURCHASE|PURCH\b|ONLINE ?(?:BUY|PUR|ORD)|WEB ?(?:PUR|ORD)|E-?COMM)/i
const MICRO = /^(?:AC+(?:OUN)?T?\.? ?VER|MICRO|VERIFY|TRIAL ?DEP)/i
const REVERSAL = /^(?:REVERS|REVRS|RVRSL)/i
const MICRO_BELOW_MINOR = 100n

/**
 * The word that should stand as the entry description of a forward batch; null when nothing is wrong. Only what looks like a reserved
 * use is judged: wages under another name go unseen.
 */
export function descriptionExpected(batch: Described, created: string | null): string | null {
  const { description, sec, kind, has_credits, has_debits } = batch
  if (kind !== 'forward' || sec === 'ADV') return null
  if (description === '') return 'a description'
  const reserved = created !== null && created >= RESERVED_FROM
  if (reserved && sec === 'PPD' && has_credits && WAGES.test(description)) return unless(description, 'PAYROLL')
  if (reserved && sec === 'WEB' && has_debits && PURCHASES.test(description)) return unless(description, 'PURCHASE')
  if (REVERSAL.test(description)) return unless(description, 'REVERSAL')
  const micro = batch.max_credit_minor < MICRO_BELOW_MINOR
  if (description === 'ACCTVERIFY') return micro ? null : 'another word: micro entries are below one dollar'
  return micro && has_credits && MICRO.test(description) ? 'ACCTVERIFY' : null
}

function unless(found: string, expected: string): string | null {
  return found === expected ? null : expected
}
