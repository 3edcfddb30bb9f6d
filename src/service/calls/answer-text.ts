import { allowanceShown } from '../payments/allowance.ts'
import type { Answer } from './outcome.ts'

/** The answer as JSON text. The result goes in as the very text that its receipt covers, so that it is written once. */
export function answerText(answer: Answer): string {
  const { result_text, receipt_text, chain, tier, settlement, allowance, embeddable_badge, proof_summary_markdown } = answer
  const link = chain === null ? '' : `,"chain":${JSON.stringify(chain)}`
  const shown = { tier, settlement, allowance: allowance && allowanceShown(allowance), embeddable_badge, proof_summary_markdown }
  return `{"result":${result_text},"receipt":${receipt_text}${link},${JSON.stringify(shown).slice(1)}`
}
