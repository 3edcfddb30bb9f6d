import type { Sealer } from '../../ports/signer.ts'
import { receiptDigest } from '../../pure/receipts/receipt.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { type BriefParts, briefJson, readBriefParts, type Detail } from '../catalogue/brief.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SchemaList } from '../catalogue/wire-schemas.ts'
import { paymentContext } from '../payments/resends.ts'
import { answerText } from './answer.ts'
import type { AnsweredOutcome } from './outcome.ts'
import type { StoredAnswers } from './stored-answers.ts'

/**
 * Renders answers at the level of detail that the caller chose: brief, or whole, which is the same for standard and full. The whole text of a
 * brief answer is stored for `address` before its address is given out.
 */
export type RenderAnswer = (outcome: AnsweredOutcome, detail: Detail, address: string) => Promise<string>

export interface AnswerRendererParts {
  catalogue: Pick<Catalogue, 'find'>
  schemas: SchemaList
  sealer: Pick<Sealer, 'token'>
  stored_answers: Pick<StoredAnswers, 'keep'>
  /** Read when an answer is rendered: the origin is known once the server listens. */
  origins: { readonly api_url: string }
}

export function createAnswerRenderer(parts: AnswerRendererParts): RenderAnswer {
  return async (outcome, detail, address) => {
    const whole = outcome.kind === 'answered' ? answerText(outcome.answer) : outcome.text
    const tool = parts.catalogue.find(outcome.tool)
    if (detail !== 'brief' || tool === undefined) return whole
    const answer = outcome.kind === 'answered' ? { ...outcome.answer, settlement: null } : readBriefParts(whole)
    const token = await storedToken(parts, outcome, answer, { whole, address })
    const answer_url = token === null ? null : `${parts.origins.api_url}/v1/answers/${token}`
    return briefJson(tool, parts.schemas.get(tool.id)?.output, answer, answer_url)
  }
}

/**
 * Token that opens the whole answer: that of the payment, with which the answer is stored already, or that of the text stored now. An answer
 * of a tool that is free without limit is not stored, because the same call brings it again.
 */
async function storedToken(
  { sealer, stored_answers }: AnswerRendererParts,
  outcome: AnsweredOutcome,
  { receipt, allowance }: BriefParts,
  { whole, address }: { whole: string; address: string },
): Promise<string | null> {
  if (outcome.kind === 'paid' && outcome.settlement.method !== 'credit') return sealer.token(paymentContext(receipt))
  return allowance === null ? null : stored_answers.keep(toHex(receiptDigest(receipt)), whole, address)
}
