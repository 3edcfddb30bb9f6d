import type { Clock } from '../../ports/clock.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { StoredAnswerStore } from '../../ports/stored-answers.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { NetworkHash } from '../clients.ts'
import { limits } from '../limits.ts'

/** Whole answers of callers who asked for the brief form, for a day. */
export interface StoredAnswers {
  /**
   * Stores an answer under a token that follows from the digest of its receipt and the secret of this deployment, so that no client can
   * guess it. Null where it was not stored: it is too long, the budget of the client network or of all clients is used, or the store is down.
   */
  keep(digest: string, text: string, address: string): Promise<string | null>
  /** Text of the answer that the token opens; null for an unknown token and after a day. */
  fetch(token: string): Promise<string | null>
}

export interface StoredAnswersParts {
  store: StoredAnswerStore
  clock: Clock
  sealer: Sealer
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
  networkHash: NetworkHash
  /** Reports an unexpected error that does not prevent an answer. */
  onFault(error: unknown): void
}

const DAY_MS = 24 * 3_600_000

/** Time for which the measured total is used. Until then this process adds to it what it stores itself. */
const TOTAL_MS = 60_000

export function createStoredAnswers(parts: StoredAnswersParts): StoredAnswers {
  const { store, clock, sealer, crypto, networkHash } = parts
  const total = { bytes: 0, read_ms: -TOTAL_MS }
  const isFull = async (bytes: number, now_ms: number): Promise<boolean> => {
    if (now_ms - total.read_ms >= TOTAL_MS || now_ms < total.read_ms) {
      total.read_ms = now_ms
      total.bytes = await store.total_bytes()
    }
    return total.bytes + bytes > limits.stored_answers_bytes
  }
  const keep = async (digest: string, text: string, address: string): Promise<string | null> => {
    if (text.length > limits.stored_answer_bytes) return null
    const token = sealer.token(`stored answer|${digest}`)
    const sealed = sealer.seal(text, contextOf(token))
    const now_ms = clock.now_ms()
    if (sealed.length > limits.stored_answer_bytes || (await isFull(sealed.length, now_ms))) return null
    const client = networkHash(Math.floor(now_ms / DAY_MS), address)
    const row = { token_hash: crypto.keccak256Hex(token), client, bytes: sealed.length, created_ms: now_ms, sealed }
    if (!(await store.keep(row, BOUNDS))) return null
    total.bytes += sealed.length
    return token
  }
  return {
    keep: (digest, text, address) =>
      keep(digest, text, address).catch((error: unknown) => {
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

const BOUNDS = { client_answers: limits.stored_answers_client, client_bytes: limits.stored_answers_client_bytes }

function contextOf(token: string): string {
  return `stored-answer:${token}`
}
