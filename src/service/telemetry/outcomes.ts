import { PROBLEMS, type ProblemCode } from '../problems.ts'
import type { ProblemKind } from '../problems/kind.ts'

/** How calls end, in four words. */
export const OUTCOMES = ['answered', 'payment_required', 'refused', 'failed'] as const

export type OutcomeClass = (typeof OUTCOMES)[number]

/**
 * The class of an outcome word. `answered`: with a result, or 202 while its payment settles. `payment_required`: asked to pay. `refused`:
 * the request was at fault. `failed`: this service or a source of it was, and so is every word that no table knows.
 */
export function outcomeClass(word: string): OutcomeClass {
  if (word === 'answered' || word === 'paid' || word === 'PAYMENT_PENDING') return 'answered'
  if (word === 'PAYMENT_REQUIRED') return 'payment_required'
  if (!Object.hasOwn(PROBLEMS, word)) return 'failed'
  const { fault }: ProblemKind = PROBLEMS[word as ProblemCode]
  return fault === 'caller' ? 'refused' : 'failed'
}
