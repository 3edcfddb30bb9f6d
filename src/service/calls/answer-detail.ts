import type { AnsweredOutcome } from './outcome.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NetworkHash } from '../clients.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { SchemaList } from '../catalogue/wire-schemas.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { StoredAnswerStore } from '../../ports/stored-answers.ts'
import { answerText } from './answer.ts'
import { limits } from '../limits.ts'
import { createStorageRoom } from '../admission/storage-room.ts'
import { paymentContext } from '../payments/resends.ts'
import { receiptDigest } from '../../pure/receipts/receipt.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { type BriefParts, briefJson, readBriefParts, type Detail } from '../catalogue/brief.ts'

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
  return allowance === null
    ? null
    : stored_answers.keep(toHex(receiptDigest(receipt)), whole, { address, is_paid: outcome.kind === 'paid' })
}

/** Client of an answer, and whether its call was paid: such answers do not give way to others. */
interface AnswerOrigin {
  address: string
  is_paid: boolean
}

/** Whole answers of callers who asked for the brief form, for a day. */
export interface StoredAnswers {
  /**
   * Stores an answer under a token that follows from the digest of its receipt and the secret of this deployment, so that no client can
   * guess it. Null where it was not stored: it is too long, the budget of the client network, of its provider or of all clients is used, or the store is
   * down.
   */
  keep(digest: string, text: string, origin: AnswerOrigin): Promise<string | null>
  /** Text of the answer that the token opens; null for an unknown token and after a day. */
  fetch(token: string): Promise<string | null>
}

export interface StoredAnswersParts {
  store: StoredAnswerStore
  clock: Clock
  sealer: Sealer
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
  networkHash: NetworkHash
  providerHash: NetworkHash
  /** Reports an unexpected error that does not prevent an answer. */
  onFault(error: unknown): void
}

const DAY_MS = 24 * 3_600_000

export function createStoredAnswers(parts: StoredAnswersParts): StoredAnswers {
  const { store, clock, sealer, crypto, networkHash, providerHash } = parts
  const room = createStorageRoom(store, () => clock.now_ms(), limits.stored_answers_bytes)
  const keep = async (digest: string, text: string, { address, is_paid }: AnswerOrigin): Promise<string | null> => {
    if (text.length > limits.stored_answer_bytes) return null
    const token = sealer.token(`stored answer|${digest}`)
    const sealed = sealer.seal(text, contextOf(token))
    const now_ms = clock.now_ms()
    if (sealed.length > limits.stored_answer_bytes || !(await room.hasRoom(sealed.length))) return null
    const day = Math.floor(now_ms / DAY_MS)
    const origin = { client: networkHash(day, address), provider: providerHash(day, address), paid: is_paid }
    const row = { token_hash: crypto.keccak256Hex(token), ...origin, bytes: sealed.length, created_ms: now_ms, sealed }
    if (!(await store.keep(row, BOUNDS))) return null
    room.added(sealed.length)
    return token
  }
  return {
    keep: (digest, text, origin) =>
      keep(digest, text, origin).catch((error: unknown) => {
        parts.onFault(error)
        return null
      }),
    fetch: async (token) => {
      const found = await store.find(crypto.keccak256Hex(token))
      if (found === null || found.created_ms + limits.answer_kept_ms <= clock.now_ms()) return null
      return sealer.open(found.sealed, contextOf(token))
    },
  }
}

const BOUNDS = {
  client_answers: limits.stored_answers_client,
  client_bytes: limits.stored_answers_client_bytes,
  provider_bytes: limits.stored_answers_provider_bytes,
}

function contextOf(token: string): string {
  return `stored-answer:${token}`
}
