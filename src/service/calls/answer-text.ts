import { allowanceShown } from '../payments/allowance.ts'
import type { Answer } from './outcome.ts'

/** The answer as JSON text. The result goes in as the very text that its receipt covers, so that it is written once. */
export function answerText(answer: Answer): string {
  const { result: _, result_text, chain, allowance, ...rest } = answer
  const shown = { ...(chain === null ? {} : { chain }), tier: rest.tier, settlement: rest.settlement, allowance: allowance && allowanceShown(allowance) }
  const words = { embeddable_badge: rest.embeddable_badge, proof_summary_markdown: rest.proof_summary_markdown }
  return `{"result":${result_text},"receipt":${JSON.stringify(rest.receipt)},${JSON.stringify(shown).slice(1, -1)},${JSON.stringify(words).slice(1)}`
}
