import { allowanceWords, modeMark, SUMMARY } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'

/** What a model is told of answers, wherever the tools run. */
export const ANSWER_WORDS = [
  'A wrong value is a good answer (valid: false with findings), not an error. Every answer holds result, receipt, allowance,',
  'embeddable_badge and proof_summary_markdown. To link an answer to an earlier one, send the digest of its receipt as',
  '_meta["assay/prev-receipt-hash"].',
] as const

/** What a model is told of the service as a whole. */
export function instructions(deps: AppDeps): string {
  const { tools } = deps.call.catalogue
  return [
    modeMark(deps),
    SUMMARY,
    allowanceWords(deps.free, tools),
    ...ANSWER_WORDS,
    `Prices and examples: ${deps.origins.api_url}/v1/tools`,
  ]
    .filter((words) => words !== null)
    .join(' ')
}
