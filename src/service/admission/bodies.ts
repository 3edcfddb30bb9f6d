import { limits } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

/** Memory reserved for one request body, from its first byte to the end of its request. */
export interface BodyAccount {
  /** Reading has begun: from now on the body must arrive at the minimum rate. */
  reading(): void
  /** Counts bytes beyond those of a small body. The refusal when the budget of the client or of the process has no room for them. */
  take(bytes: number): Problem | null
  /** Takes one of the slots for bodies beyond the unpaid bound; the refusal when none is free. */
  enlarge(): Problem | null
  /** The body has arrived, so that it is cut off no more. */
  arrived(): void
  /** Resolves when the body is cut off: it comes too slowly, or its memory is needed for a client that holds less. */
  readonly cut: Promise<Problem>
  /** Releases everything; the request has ended. */
  close(): void
}

interface ArrivingBody {
  client: string
  /** Content-Length; null for a body in chunks. */
  declared_bytes: number | null
  /** Bytes that the connection has received so far. */
  received_bytes(): number
}

export interface Bodies {
  open(body: ArrivingBody): { ok: true; account: BodyAccount } | { ok: false; problem: Problem }
  /** Bytes that are held now. */
  held_bytes(): number
}

export interface BodyParts {
  /** Milliseconds by a monotonic clock. */
  time_ms(): number
  /** Runs the step once after this time, without keeping the process alive. */
  later(step: () => void, delay_ms: number): void
}

interface Held {
  client: Client
  bytes: number
  large: boolean
  /** When reading began, and what the connection had received by then; null before. */
  from: { ms: number; bytes: number } | null
  is_receiving: boolean
  received_bytes(): number
  cut(found: Problem): void
}

interface Client {
  bytes: number
  large: number
  bodies: number
}

/** Interval of the search for slow bodies, and the maximum cut off in each search: their senders may all reconnect simultaneously. */
const SWEEP_MS = 250
const CUT_MOST = 64

/**
 * Bounds the memory of request bodies by client and in all. A small body counts as soon as it begins; a larger one also needs a slot, and counts
 * as its bytes arrive. When the process has no room left, a body that is still arriving is cut off: one of the client that holds the most, if
 * that is more than the asking client would hold, or, for a slot, one that takes long. A body must arrive at a minimum rate.
 */
export function createBodies(parts: BodyParts): Bodies {
  const table = new BodyTable(parts)
  return { open: (body) => table.open(body), held_bytes: () => table.held_bytes() }
}

class BodyTable {
  readonly #parts: BodyParts
  readonly #clients = new Map<string, Client>()
  readonly #bodies = new Set<Held>()
  readonly #total = { bytes: 0, large: 0 }
  #is_sweeping = false

  constructor(parts: BodyParts) {
    this.#parts = parts
  }

  held_bytes(): number {
    return this.#total.bytes
  }

  open({ client: name, declared_bytes, received_bytes }: ArrivingBody): ReturnType<Bodies['open']> {
    const client = this.#clients.get(name) ?? { bytes: 0, large: 0, bodies: 0 }
    const { promise, resolve } = Promise.withResolvers<Problem>()
    const cut = (found: Problem) => {
      body.is_receiving = false
      this.#release(body)
      resolve(found)
    }
    const body: Held = { client, bytes: 0, large: false, from: null, is_receiving: true, received_bytes, cut }
    const refused = this.#grow(body, Math.min(declared_bytes ?? limits.unpaid_body_bytes, limits.unpaid_body_bytes))
    if (refused !== null) return { ok: false, problem: refused }
    client.bodies++
    this.#clients.set(name, client)
    this.#bodies.add(body)
    if (!this.#is_sweeping) this.#parts.later(this.#sweep, SWEEP_MS)
    this.#is_sweeping = true
    return { ok: true, account: this.#accountOf(name, body, promise) }
  }

  #accountOf(name: string, body: Held, cut: Promise<Problem>): BodyAccount {
    return {
      cut,
      reading: () => void (body.from ??= { ms: this.#parts.time_ms(), bytes: body.received_bytes() }),
      take: (bytes) => this.#grow(body, bytes),
      enlarge: () => this.#enlarge(body),
      arrived: () => void (body.is_receiving = false),
      close: () => this.#close(name, body),
    }
  }

  readonly #sweep = (): void => {
    const now_ms = this.#parts.time_ms()
    let left = CUT_MOST
    for (const body of this.#bodies) {
      if (left === 0) break
      if (!body.is_receiving || !isTooSlow(body, now_ms)) continue
      body.cut(TOO_SLOW)
      left--
    }
    this.#is_sweeping = this.#bodies.size > 0
    if (this.#is_sweeping) this.#parts.later(this.#sweep, SWEEP_MS)
  }

  /** Cuts off one of these bodies, of the client that holds the most; false when there is none. */
  #cutOff(may: (body: Held) => boolean): boolean {
    let found: Held | null = null
    for (const body of this.#bodies) if (body.is_receiving && may(body) && (found === null || isGreater(body, found))) found = body
    found?.cut(NO_ROOM)
    return found !== null
  }

  #grow(asking: Held, bytes: number): Problem | null {
    const { client } = asking
    if (client.bytes + bytes > limits.client_body_bytes) return CLIENT_FULL
    const may = (body: Held) => body.client.bytes > client.bytes + bytes
    while (this.#total.bytes + bytes > limits.bodies_bytes) if (!this.#cutOff(may)) return NO_ROOM
    asking.bytes += bytes
    client.bytes += bytes
    this.#total.bytes += bytes
    return null
  }

  #enlarge(asking: Held): Problem | null {
    const { client } = asking
    if (asking.large) return null
    if (client.large >= limits.client_large_bodies) return CLIENT_FULL
    const late_ms = this.#parts.time_ms() - limits.large_body_ms
    const may = (body: Held) =>
      body.large && (body.client.large > client.large + 1 || (body.client !== client && (body.from?.ms ?? 0) < late_ms))
    if (this.#total.large >= limits.large_bodies && !this.#cutOff(may)) return NO_ROOM
    asking.large = true
    client.large++
    this.#total.large++
    return null
  }

  #release(body: Held): void {
    this.#total.bytes -= body.bytes
    body.client.bytes -= body.bytes
    body.bytes = 0
    if (body.large) {
      this.#total.large--
      body.client.large--
    }
    body.large = false
  }

  #close(name: string, body: Held): void {
    if (!this.#bodies.delete(body)) return
    body.is_receiving = false
    this.#release(body)
    if (--body.client.bodies === 0) this.#clients.delete(name)
  }
}

/** Of two candidates the one of the client that holds more; of one client the larger body. */
function isGreater(a: Held, b: Held): boolean {
  return a.client.bytes === b.client.bytes ? a.bytes > b.bytes : a.client.bytes > b.client.bytes
}

function isTooSlow({ from, received_bytes }: Held, now_ms: number): boolean {
  if (from === null) return false
  const slow_ms = now_ms - from.ms - limits.body_grace_ms
  return slow_ms > 0 && received_bytes() - from.bytes < (slow_ms / 1_000) * limits.body_bytes_per_second
}

const retry = { retry_after_s: limits.overload_retry_s }
const NO_ROOM = problem('OVERLOADED', 'The memory for request bodies is taken. Retry in a moment.', retry)
const CLIENT_FULL = problem(
  'CLIENT_BUSY',
  'Your requests in flight hold all the memory for bodies that one client may use. Retry when some of them have ended.',
  retry,
)
const TOO_SLOW = problem(
  'REQUEST_TIMEOUT',
  `The body arrives too slowly: after ${limits.body_grace_ms / 1_000} s it must have arrived at ${limits.body_bytes_per_second} bytes a second or more.`,
)
