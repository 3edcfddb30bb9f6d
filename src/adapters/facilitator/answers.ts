/** What a facilitator may say (x402 specification v2, `POST /settle` and `GET /supported`), read from text that may be anything. */
import { isObject } from '../../pure/is-object.ts'
import type { FacilitatorAnswer } from '../../ports/facilitator.ts'

const CODE = /^[a-z0-9_]{1,80}$/
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/
const KINDS_MAX = 1_000

/**
 * A clear yes names a transaction. A clear no says `success: false` with status 200 or 4xx and names none. Everything else is unsure: a
 * gateway's 502, a page of HTML, a no with a transaction, `settlement_pending`.
 */
export function readSettle(status: number, text: string): FacilitatorAnswer {
  const body = objectOf(text)
  if (body === null || typeof body['success'] !== 'boolean') return { kind: 'unsure', reason: `http_${status}`, transaction: null }
  const transaction = transactionOf(body['transaction'])
  if (body['success']) {
    if (status === 200 && transaction !== null) return { kind: 'settled', transaction }
    return { kind: 'unsure', reason: 'success_without_transaction', transaction }
  }
  const reason = codeOf(body['errorReason'])
  const sent = transaction !== null || reason === 'settlement_pending' || reason === 'unexpected_settle_error'
  if (sent || status >= 500) return { kind: 'unsure', reason, transaction }
  return { kind: 'refused', reason }
}

/** Networks of the kinds `exact` of version 2; null when this is no such list. */
export function readSupported(text: string): Set<string> | null {
  const kinds = objectOf(text)?.['kinds']
  if (!Array.isArray(kinds) || kinds.length > KINDS_MAX) return null
  const exact = kinds.filter((kind: unknown) => isObject(kind) && kind['scheme'] === 'exact' && kind['x402Version'] === 2)
  return new Set(exact.map((kind: Record<string, unknown>) => kind['network']).filter((network) => typeof network === 'string'))
}

/** Codes of strangers are kept only when they look like codes. */
function codeOf(value: unknown): string {
  return typeof value === 'string' && CODE.test(value) ? value : 'no_reason_given'
}

function transactionOf(value: unknown): string | null {
  return typeof value === 'string' && TRANSACTION.test(value) ? value.toLowerCase() : null
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
