import type { View } from './messages.ts'

/** What needs a person comes first. */
export const VERDICT_ORDER = ['DUPLICATE_PAYMENT', 'AMOUNT_MISMATCH', 'UNPAID', 'SETTLED'] as const

export const VIEW_WORDS: Readonly<Record<View, string>> = {
  all: 'All payments',
  SETTLED: 'Settled',
  UNPAID: 'Unpaid',
  AMOUNT_MISMATCH: 'Other amount',
  DUPLICATE_PAYMENT: 'Paid more than once',
  unmatched: 'Entries of no payment',
  ignored: 'Entries that do not count',
}

/** The same in a sentence, behind a count. */
export const NEED_WORDS = {
  DUPLICATE_PAYMENT: 'paid more than once',
  AMOUNT_MISMATCH: 'paid with another amount',
  UNPAID: 'unpaid',
} as const

/** The shape of each verdict, by the name of its mark. */
export const VERDICT_MARKS = { SETTLED: 'valid', UNPAID: 'invalid', AMOUNT_MISMATCH: 'unverifiable', DUPLICATE_PAYMENT: 'twice' } as const

/** A count with its thousands apart. */
export function counted(count: number): string {
  return count.toLocaleString('en')
}

export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}
