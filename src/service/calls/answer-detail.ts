import type { Sealer } from '../../ports/signer.ts'
import { briefJson, readBriefParts, type Detail } from '../catalogue/brief.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SchemaList } from '../catalogue/wire-schemas.ts'
import { paymentContext } from '../payments/resends.ts'
import { answerText } from './answer.ts'
import type { AnsweredOutcome } from './outcome.ts'

/** Renders answers at the level of detail that the caller chose: brief, or whole, which is the same for standard and full. */
export type RenderAnswer = (outcome: AnsweredOutcome, detail: Detail) => Promise<string>

export interface AnswerRendererParts {
  catalogue: Pick<Catalogue, 'find'>
  schemas: SchemaList
  sealer: Pick<Sealer, 'token'>
  /** Read when an answer is rendered: the origin is known once the server listens. */
  origins: { readonly api_url: string }
}

export function createAnswerRenderer(parts: AnswerRendererParts): RenderAnswer {
  return async (outcome, detail) => {
    const whole = outcome.kind === 'answered' ? answerText(outcome.answer) : outcome.text
    const tool = parts.catalogue.find(outcome.tool)
    if (detail !== 'brief' || tool === undefined) return whole
    const answer = outcome.kind === 'answered' ? { ...outcome.answer, settlement: null } : readBriefParts(whole)
    const token = storedToken(parts, outcome, answer.receipt)
    const answer_url = token === null ? null : `${parts.origins.api_url}/v1/answers/${token}`
    return briefJson(tool, parts.schemas.get(tool.id)?.output, answer, answer_url)
  }
}

/** Answer token of a payment on chain, whose answer is stored with the payment; null for other answers. */
function storedToken(
  { sealer }: AnswerRendererParts,
  outcome: AnsweredOutcome,
  { payer, nonce }: { payer: string; nonce: string },
): string | null {
  return outcome.kind === 'paid' && outcome.settlement.method !== 'credit' ? sealer.token(paymentContext({ payer, nonce })) : null
}
