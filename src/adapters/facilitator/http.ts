/**
 * Client of an x402 facilitator (version 2, specifications of 2026; `POST /settle`, `GET /supported`) over HTTP. Responses may be anything and are
 * never trusted: they are only classified. A settlement counts when the chain shows it.
 */
import { readBoundedText } from '../../pure/read-bounded.ts'
import type { SteadyClock } from '../../ports/clock.ts'
import type { Facilitator, FacilitatorAnswer } from '../../ports/facilitator.ts'
import { isObject, jsonObject } from '../../pure/is-object.ts'

/** A facilitator waits for its own receipt before it answers, so this must be longer than any such wait. */
const SETTLE_MS = 30_000
const SUPPORTED_MS = 3_000
const REMEMBERED_MS = 30_000
/** Time for which "does not answer" is cached: short, because it decides whether payments are possible. */
const FAILED_MS = 5_000
const SETTLE_BYTES = 65_536
const SUPPORTED_BYTES = 262_144

/** Failures of a connection that was never made: not a byte of the request has left. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

export interface FacilitatorOptions {
  /** Base URL; paths are appended to it. */
  url: string
  clock: SteadyClock
  settle_ms?: number
  /** Sent with every request, such as an authorization of the operator. */
  headers?: Readonly<Record<string, string>>
}

/**
 * Never rejects: failures are answers. Redirects are not followed, because they would send a payment to a party that the operator did
 * not choose.
 */
export function httpFacilitator({ url, clock, settle_ms = SETTLE_MS, headers = {} }: FacilitatorOptions): Facilitator {
  const base = url.replace(/\/+$/, '')
  let networks: ReadonlySet<string> = new Set()
  let known_until_ms = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    const found = await supported(`${base}/supported`, headers)
    networks = found ?? new Set()
    known_until_ms = clock.steady_ms() + (found === null ? FAILED_MS : REMEMBERED_MS)
  }

  return {
    url: new URL(url).origin,
    async supports(network) {
      if (clock.steady_ms() >= known_until_ms) {
        asking ??= ask().finally(() => {
          asking = null
        })
        await asking
      }
      return networks.has(network)
    },
    async settle(request) {
      const answer = await post(`${base}/settle`, JSON.stringify(request), headers, settle_ms)
      // It has gone since it said what it settles: the next payment is not to be claimed on that word.
      if (answer.kind === 'unreachable') {
        networks = new Set()
        known_until_ms = clock.steady_ms() + FAILED_MS
      }
      return answer
    },
  }
}

/** Networks of its `exact` kinds; null when it did not answer as a facilitator does. */
async function supported(url: string, headers: Readonly<Record<string, string>>): Promise<Set<string> | null> {
  try {
    const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(SUPPORTED_MS) })
    const text = await readBoundedText(response.body, SUPPORTED_BYTES)
    return response.status === 200 && text !== null ? readSupported(text) : null
  } catch {
    return null
  }
}

async function post(url: string, body: string, headers: Readonly<Record<string, string>>, settle_ms: number): Promise<FacilitatorAnswer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(settle_ms),
    })
    const text = await readBoundedText(response.body, SETTLE_BYTES)
    return text === null ? { kind: 'unsure', reason: 'answer_too_long', transaction: null } : readSettle(response.status, text)
  } catch (error) {
    const code = codeOf(error)
    return code !== null && NEVER_SENT.has(code)
      ? { kind: 'unreachable', reason: code.toLowerCase() }
      : { kind: 'unsure', reason: 'no_answer', transaction: null }
  }
}

/** fetch wraps what happened in `cause`; several addresses that all failed come as one error with the code of the last. */
function codeOf(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return null
  if (cause instanceof AggregateError && !cause.errors.every((one) => NEVER_SENT.has(String((one as NodeJS.ErrnoException).code))))
    return null
  const { code } = cause as NodeJS.ErrnoException
  return typeof code === 'string' ? code : null
}

const CODE = /^[a-z0-9_]{1,80}$/
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/
const KINDS_MAX = 1_000

/**
 * A clear yes names a transaction. A clear no says `success: false` with status 200 or 4xx and names none. Everything else is unsure: a
 * gateway's 502, a page of HTML, a no with a transaction, `settlement_pending`.
 */
function readSettle(status: number, text: string): FacilitatorAnswer {
  const body = jsonObject(text)
  if (body === null || typeof body['success'] !== 'boolean') return { kind: 'unsure', reason: `http_${status}`, transaction: null }
  const transaction = transactionOf(body['transaction'])
  if (body['success']) {
    if (status === 200 && transaction !== null) return { kind: 'settled', transaction }
    return { kind: 'unsure', reason: 'success_without_transaction', transaction }
  }
  const reason = reasonCodeIn(body['errorReason'])
  const sent = transaction !== null || reason === 'settlement_pending' || reason === 'unexpected_settle_error'
  if (sent || status >= 500) return { kind: 'unsure', reason, transaction }
  return { kind: 'refused', reason }
}

/** Networks with the scheme `exact` of version 2; null when the body is not such a list. */
function readSupported(text: string): Set<string> | null {
  const kinds = jsonObject(text)?.['kinds']
  if (!Array.isArray(kinds) || kinds.length > KINDS_MAX) return null
  const exact = kinds.filter((kind: unknown) => isObject(kind) && kind['scheme'] === 'exact' && kind['x402Version'] === 2)
  return new Set(exact.map((kind: Record<string, unknown>) => kind['network']).filter((network) => typeof network === 'string'))
}

/** Reason codes of facilitators are kept only when they have the form of a code. */
function reasonCodeIn(value: unknown): string {
  return typeof value === 'string' && CODE.test(value) ? value : 'no_reason_given'
}

function transactionOf(value: unknown): string | null {
  return typeof value === 'string' && TRANSACTION.test(value) ? value.toLowerCase() : null
}
