import { allowanceShown } from '../payments/allowance.ts'
import type { Answer } from './outcome.ts'

/** The text around the place of the settlement, which is known last. */
export interface AnswerParts {
  head: string
  tail: string
}

/** The answer as JSON text but for its settlement. The result goes in as the very text that its receipt covers, so that it is written once. */
export function answerParts(answer: Answer): AnswerParts {
  const { result_text, receipt_text, chain, tier, allowance, bare = false, embeddable_badge, proof_summary_markdown } = answer
  // The one tool that answers bare has a field `chain` of its own.
  const link = chain === null ? '' : `,"${bare ? 'receipt_chain' : 'chain'}":${JSON.stringify(chain)}`
  const shown = { allowance: allowance && allowanceShown(allowance), embeddable_badge, proof_summary_markdown }
  return {
    head: `${bare ? result_text.slice(0, -1) : `{"result":${result_text}`},"receipt":${receipt_text}${link},"tier":"${tier}","settlement":`,
    tail: `,${JSON.stringify(shown).slice(1)}`,
  }
}

/** The answer of a call that nobody paid for. */
export function answerText(answer: Answer): string {
  const { head, tail } = answerParts(answer)
  return `${head}null${tail}`
}
