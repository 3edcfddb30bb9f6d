import type { Members } from '../../../../pure/is-object.ts'
import { requestJson } from '../json-request.ts'

/** State of a request: `waiting` after a 429, `checking` while it is in flight, then its result. */
export type Sent =
  | { kind: 'checking' }
  | { kind: 'waiting'; wait_s: number }
  | { kind: 'answered'; ok: boolean; answer: Members }
  | { kind: 'unreachable' }

/** Quiet before a text is sent, and time between two of them: a client has sixty a minute. */
const QUIET_MS = 500
const BETWEEN_MS = 1_100
const FALLBACK_WAIT_S = 10

/**
 * Sends only the latest offered body: debounced, within the rate limit of the service, and with one request in flight at most. After a
 * 429 it waits for Retry-After, reports the remaining time, and then sends the body that is the latest by then.
 */
export class Sender {
  private readonly told: (sent: Sent) => void
  private body: string | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private sending = false
  /** Counts what was offered, so that an answer to what is no longer there is dropped. */
  private turn = 0
  private free_at_ms = 0
  private quiet_at_ms = 0
  private held_until_ms = 0

  constructor(told: (sent: Sent) => void) {
    this.told = told
  }

  /** Offers the body of a request; null takes back what was offered. `now` skips the wait for more changes. */
  offer(body: string | null, now = false): void {
    this.turn++
    this.body = body
    this.quiet_at_ms = performance.now() + (now ? 0 : QUIET_MS)
    this.plan()
  }

  private plan(): void {
    clearTimeout(this.timer)
    if (this.body === null || this.sending) return
    const now_ms = performance.now()
    if (this.held_until_ms > now_ms) this.told({ kind: 'waiting', wait_s: Math.ceil((this.held_until_ms - now_ms) / 1_000) })
    const due_ms = Math.max(this.quiet_at_ms, this.free_at_ms, this.held_until_ms) - now_ms
    // While the service asks to wait, the remaining time is reported every second.
    const wait_ms = this.held_until_ms > now_ms ? Math.min(due_ms, 1_000) : due_ms
    this.timer = setTimeout(() => (performance.now() + 1 < this.held_until_ms ? this.plan() : void this.send()), Math.max(0, wait_ms))
  }

  private async send(): Promise<void> {
    const { body, turn } = this
    if (body === null) return
    this.body = null
    this.sending = true
    this.free_at_ms = performance.now() + BETWEEN_MS
    this.told({ kind: 'checking' })
    const sent = await post(body)
    this.sending = false
    if ('retry_after_s' in sent) {
      this.held_until_ms = performance.now() + sent.retry_after_s * 1_000
      if (turn === this.turn) this.body = body
    } else if (turn === this.turn) this.told(sent)
    this.plan()
  }
}

async function post(body: string): Promise<Sent | { retry_after_s: number }> {
  const reply = await requestJson('/v1/protocols/check', body)
  if (reply === null) return { kind: 'unreachable' }
  if (reply.status !== 429) return { kind: 'answered', ok: reply.ok, answer: reply.body ?? {} }
  return { retry_after_s: reply.retry_after_s || FALLBACK_WAIT_S }
}
