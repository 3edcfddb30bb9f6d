/** A facilitator of x402 (version 2, specs of 2026) over HTTP. Nothing that it says is believed here; it is only put into words. */
import { readBoundedText } from '../../pure/read-bounded.ts'
import type { SteadyClock } from '../../ports/clock.ts'
import type { Facilitator, FacilitatorAnswer } from '../../ports/facilitator.ts'
import { readSettle, readSupported } from './answers.ts'

/** A facilitator waits for its own receipt before it answers, so this must be longer than any such wait. */
const SETTLE_MS = 30_000
const SUPPORTED_MS = 3_000
const REMEMBERED_MS = 30_000
/** How long "does not answer" is remembered: short, since it decides whether anybody can pay. */
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

/** Never rejects: what goes wrong is an answer. Redirects are not followed, since they would carry a payment to a party nobody chose. */
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
