import { limits } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

/** Memory reserved for one request body, from its first byte to the end of its request. */
export interface BodyAccount {
  /** Reading has begun: from now on the body must arrive at the minimum rate. */
  reading(): void
  /** Counts bytes beyond those of a small body. The refusal when the budget of the client or of the process has no room for them. */
  take(bytes: number): Problem | null
  /**
   * Takes one of the slots for bodies beyond the unpaid bound; the refusal when none is free. `pays` is true for a caller whose payment was
   * signed by its payer: a part of the slots is for such callers.
   */
  enlarge(pays: boolean): Problem | null
  /** The body has arrived, so that it is cut off no more. */
  arrived(): void
  /** Resolves when the body is cut off: it comes too slowly, or its memory is needed for a client that holds less. */
  readonly cut: Promise<Problem>
  /** Releases everything; the request has ended. */
  close(): void
}

interface ArrivingBody {
  client: string
  /** The wider network of the client: a /24 or a /48. */
  network: string
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
  client: Holder
  network: Holder
  bytes: number
  large: boolean
  pays: boolean
  declared_bytes: number | null
  /** When reading began, and what the connection had received by then; null before. */
  from: { ms: number; bytes: number } | null
  is_receiving: boolean
  received_bytes(): number
  cut(found: Problem): void
}

/** Totals of the bodies of one client, or of one network. */
interface Holder {
  name: string
  bytes: number
  large: number
  bodies: number
}

/** Interval of the search for slow bodies, and the maximum cut off in each search: their senders may all reconnect simultaneously. */
const SWEEP_MS = 250
const CUT_MOST = 64

/**
 * Bounds the memory of request bodies by client, by network and in all. A small body counts as soon as it begins; a larger one also needs a
 * slot, and counts as its bytes arrive. When the process has no room left, a body that is still arriving is cut off: one of the network that
 * holds the most, if that is more than the asking network would hold, or, for a slot, the slowest one. A body must arrive at a minimum
 * rate, a large one at a rate in proportion to its size.
 */
export function createBodies(parts: BodyParts): Bodies {
  const table = new BodyTable(parts)
  return { open: (body) => table.open(body), held_bytes: () => table.held_bytes() }
}

class BodyTable {
  readonly #parts: BodyParts
  readonly #clients = new Map<string, Holder>()
  readonly #networks = new Map<string, Holder>()
  readonly #bodies = new Set<Held>()
  readonly #total = { bytes: 0, large: 0, large_unpaid: 0 }
  #is_sweeping = false

  constructor(parts: BodyParts) {
    this.#parts = parts
  }

  held_bytes(): number {
    return this.#total.bytes
  }

  open({ client: client_name, network: network_name, declared_bytes, received_bytes }: ArrivingBody): ReturnType<Bodies['open']> {
    const client = holderIn(this.#clients, client_name)
    const network = holderIn(this.#networks, network_name)
    const { promise, resolve } = Promise.withResolvers<Problem>()
    const cut = (found: Problem) => {
      body.is_receiving = false
      this.#release(body)
      resolve(found)
    }
    const size = { bytes: 0, large: false, pays: false, declared_bytes }
    const body: Held = { client, network, ...size, from: null, is_receiving: true, received_bytes, cut }
    const refused = this.#grow(body, Math.min(declared_bytes ?? limits.unpaid_body_bytes, limits.unpaid_body_bytes))
    if (refused !== null) return { ok: false, problem: refused }
    client.bodies++
    network.bodies++
    this.#clients.set(client_name, client)
    this.#networks.set(network_name, network)
    this.#bodies.add(body)
    if (!this.#is_sweeping) this.#parts.later(this.#sweep, SWEEP_MS)
    this.#is_sweeping = true
    return { ok: true, account: this.#accountOf(body, promise) }
  }

  #accountOf(body: Held, cut: Promise<Problem>): BodyAccount {
    return {
      cut,
      reading: () => void (body.from ??= { ms: this.#parts.time_ms(), bytes: body.received_bytes() }),
      take: (bytes) => this.#grow(body, bytes),
      enlarge: (pays) => this.#enlarge(body, pays),
      arrived: () => void (body.is_receiving = false),
      close: () => this.#close(body),
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

  /** Cuts off the first of these bodies in an order; false when there is none. */
  #cutOff(may: (body: Held) => boolean, isBefore: (a: Held, b: Held) => boolean): boolean {
    let found: Held | null = null
    for (const body of this.#bodies) if (body.is_receiving && may(body) && (found === null || isBefore(body, found))) found = body
    found?.cut(NO_ROOM)
    return found !== null
  }

  #grow(asking: Held, bytes: number): Problem | null {
    const { client, network } = asking
    if (client.bytes + bytes > limits.client_body_bytes) return CLIENT_FULL
    const may = (body: Held) => body.network.bytes > network.bytes + bytes || body.client.bytes > client.bytes + bytes
    while (this.#total.bytes + bytes > limits.bodies_bytes) if (!this.#cutOff(may, holdsMore)) return NO_ROOM
    asking.bytes += bytes
    client.bytes += bytes
    network.bytes += bytes
    this.#total.bytes += bytes
    return null
  }

  #enlarge(asking: Held, pays: boolean): Problem | null {
    if (asking.large) return null
    const { client, network } = asking
    if (client.large >= limits.client_large_bodies) return CLIENT_FULL
    if (network.large >= limits.network_large_bodies) return NETWORK_FULL
    if (!this.#hasSlot(pays) && !this.#displace(asking, pays)) return NO_ROOM
    asking.large = true
    asking.pays = pays
    client.large++
    network.large++
    this.#total.large++
    if (!pays) this.#total.large_unpaid++
    return null
  }

  #hasSlot(pays: boolean): boolean {
    return this.#total.large < limits.large_bodies && (pays || this.#total.large_unpaid < limits.large_bodies - limits.paid_large_bodies)
  }

  /** Cuts off a large body: of a network that holds more, or the slowest of those that take longer than the grace period. */
  #displace(asking: Held, pays: boolean): boolean {
    const now_ms = this.#parts.time_ms()
    const late_ms = now_ms - limits.body_grace_ms
    const may = (body: Held) =>
      body.large &&
      (pays || !body.pays) &&
      (body.network.large > asking.network.large + 1 || (body.client !== asking.client && (body.from?.ms ?? now_ms) <= late_ms))
    const isSlower = (a: Held, b: Held) => rateOf(a, now_ms) < rateOf(b, now_ms)
    const isBefore = (a: Held, b: Held) => (a.network.large === b.network.large ? isSlower(a, b) : a.network.large > b.network.large)
    return this.#cutOff(may, isBefore)
  }

  #release(body: Held): void {
    const { client, network } = body
    this.#total.bytes -= body.bytes
    client.bytes -= body.bytes
    network.bytes -= body.bytes
    body.bytes = 0
    if (!body.large) return
    body.large = false
    client.large--
    network.large--
    this.#total.large--
    if (!body.pays) this.#total.large_unpaid--
  }

  #close(body: Held): void {
    if (!this.#bodies.delete(body)) return
    const { client, network } = body
    body.is_receiving = false
    this.#release(body)
    if (--client.bodies === 0) this.#clients.delete(client.name)
    if (--network.bodies === 0) this.#networks.delete(network.name)
  }
}

function holderIn(holders: ReadonlyMap<string, Holder>, name: string): Holder {
  return holders.get(name) ?? { name, bytes: 0, large: 0, bodies: 0 }
}

/** Of two candidates the one whose network holds more, then whose client does; of one client the larger body. */
function holdsMore(a: Held, b: Held): boolean {
  if (a.network.bytes !== b.network.bytes) return a.network.bytes > b.network.bytes
  return a.client.bytes === b.client.bytes ? a.bytes > b.bytes : a.client.bytes > b.client.bytes
}

/** Bytes per ms since reading began. */
function rateOf({ from, received_bytes }: Held, now_ms: number): number {
  return from === null ? Infinity : (received_bytes() - from.bytes) / Math.max(1, now_ms - from.ms)
}

/** Minimum rate of a body in bytes per second. A large body in chunks is taken for one of the size from which the rate grows no more. */
function leastRate({ large, declared_bytes }: Held): number {
  if (!large) return limits.body_bytes_per_second
  const bytes = Math.min(declared_bytes ?? limits.large_body_rate_bytes, limits.large_body_rate_bytes)
  return Math.max(limits.body_bytes_per_second, bytes / (limits.large_body_ms / 1_000))
}

function isTooSlow(body: Held, now_ms: number): boolean {
  const { from, received_bytes } = body
  if (from === null) return false
  const slow_ms = now_ms - from.ms - limits.body_grace_ms
  return slow_ms > 0 && received_bytes() - from.bytes < (slow_ms / 1_000) * leastRate(body)
}

const retry = { retry_after_s: limits.overload_retry_s }
const NO_ROOM = problem('OVERLOADED', 'The memory for request bodies is taken. Retry in a moment.', retry)
const CLIENT_FULL = problem(
  'CLIENT_BUSY',
  'Your requests in flight hold all the memory for bodies that one client may use. Retry when some of them have ended.',
  retry,
)
const NETWORK_FULL = problem(
  'CLIENT_BUSY',
  `Your network (IPv4 /24 or IPv6 /48) sends ${limits.network_large_bodies} bodies of more than ${limits.unpaid_body_bytes} bytes, which is the maximum. Retry when some of them have ended.`,
  retry,
)
const TOO_SLOW = problem(
  'REQUEST_TIMEOUT',
  `The body arrives too slowly: after ${limits.body_grace_ms / 1_000} s it must have arrived at ${limits.body_bytes_per_second} bytes a second or more, one of more than ${limits.unpaid_body_bytes} bytes at a rate that takes ${limits.large_body_ms / 1_000} s for ${limits.large_body_rate_bytes} bytes.`,
)
