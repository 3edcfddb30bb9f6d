import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { callerAddress, widerNetwork, type TrustedProxies } from '../../service/clients.ts'
import { limits } from '../../service/limits.ts'

/** Maximum of open connections, of all peers and of one network. */
export interface ConnectionBounds {
  total: number
  network: number
}

type ClosableSocket = Pick<Socket, 'destroy'>
interface Response extends Pick<ServerResponse, 'headersSent' | 'writableEnded' | 'writableNeedDrain'> {
  req: { complete: boolean }
  once(event: 'close', listener: () => void): unknown
}

/**
 * Connections closed to make room: idle ones, ones whose peer stalls a request or an answer, and new ones for which no other could be closed.
 */
export type ClosedConnections = Readonly<Record<'idle' | 'stalled' | 'refused', number>>

/**
 * Open connections of a server, limited in total and per network (IPv4 /24, IPv6 /48). Trusted proxies count as one network without a
 * limit, because they carry the requests of others. A new connection above the limit of its network replaces the longest idle one of that
 * network. One above the limit of the server replaces a connection of the largest network, if that network has more than its own: first
 * the longest idle one, else a stalled one, whose request is incomplete and unanswered or whose answer is not read. Otherwise it replaces
 * the longest idle connection of the largest network that has one and has at least as many as its own. A connection is idle while no
 * request is in progress: since its last answer or since it opened, so one that never completes a request header is idle from its start.
 * An answer in progress is never cut off. If no connection can be closed, the new one is closed. Each operation takes logarithmic time in
 * the number of networks.
 */
export class Connections {
  readonly #bounds: ConnectionBounds
  readonly #proxies: TrustedProxies
  readonly #open = new Map<ClosableSocket, Connection>()
  readonly #networks = new Map<string, Network>()
  readonly #largest = new NetworkHeap(shareOf)
  /** Networks with idle connections. */
  readonly #largestIdle = new NetworkHeap((network) => (network.idle.first === null ? -1 : shareOf(network)))
  readonly #closed = { idle: 0, stalled: 0, refused: 0 }
  /** Connections that are held unread until they are closed. */
  #held = 0

  constructor(bounds: ConnectionBounds, proxies: TrustedProxies) {
    this.#bounds = bounds
    this.#proxies = proxies
  }

  /** Admits the connections of this server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.admit(socket, socket.remoteAddress ?? '')) socket.on('close', () => this.remove(socket))
    })
  }

  /** Registers a new connection from this peer, or closes it and returns false. */
  admit(socket: ClosableSocket, peer: string): boolean {
    const address = callerAddress(peer, null, this.#proxies)
    const trusted = this.#proxies.trusts(address)
    const name = trusted ? 'trusted proxies' : widerNetwork(address)
    if (!this.#makeRoom(this.#networks.get(name), trusted)) {
      this.#closed.refused++
      this.#discard(socket)
      return false
    }
    const network = this.#networks.get(name) ?? this.#addNetwork(name, trusted)
    const connection: Connection = { socket, network, response: null, used: false, waiting: null, queue: null, before: null, after: null }
    this.#open.set(socket, connection)
    network.count++
    network.idle.add(connection)
    this.#reorder(network)
    return true
  }

  /** Forgets a connection that has closed. */
  remove(socket: ClosableSocket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    const { network } = connection
    this.#open.delete(socket)
    connection.queue?.remove(connection)
    network.count--
    if (network.count > 0) return this.#reorder(network)
    this.#networks.delete(network.name)
    this.#largest.remove(network)
    this.#largestIdle.remove(network)
  }

  /**
   * Serves a request after the answers before it on its connection were sent, so that a client which pipelines without reading has one
   * answer in memory. The connection is busy until the last answer was sent or has failed; too many waiting requests close it (RFC 9112
   * §9.3.2).
   */
  serve(socket: ClosableSocket, response: Response, work: () => void): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    if (connection.response === null) return this.#begin(connection, { response, work })
    connection.waiting ??= []
    if (connection.waiting.push({ response, work }) <= limits.pipelined_requests) return
    this.remove(socket)
    socket.destroy()
  }

  #begin(connection: Connection, { response, work }: WaitingRequest): void {
    connection.response = response
    connection.used = true
    connection.network.busy.add(connection)
    this.#reorder(connection.network)
    response.once('close', () => this.#end(connection))
    work()
  }

  #end(connection: Connection): void {
    if (connection.queue === null) return
    connection.response = null
    const next = connection.waiting?.shift()
    if (next !== undefined) return this.#begin(connection, next)
    connection.waiting = null
    connection.network.idle.add(connection)
    this.#reorder(connection.network)
  }

  count(): number {
    return this.#open.size
  }

  closed(): ClosedConnections {
    return this.#closed
  }

  #reorder(network: Network): void {
    this.#largest.reorder(network)
    this.#largestIdle.reorder(network)
  }

  #addNetwork(name: string, trusted: boolean): Network {
    const network: Network = { name, trusted, count: 0, idle: new ConnectionQueue(), busy: new ConnectionQueue() }
    this.#networks.set(name, network)
    this.#largest.add(network)
    this.#largestIdle.add(network)
    return network
  }

  /** Closes another connection if necessary; returns true if one more connection of this network fits. */
  #makeRoom(network: Network | undefined, trusted: boolean): boolean {
    const held = trusted ? 0 : (network?.count ?? 0)
    if (held >= this.#bounds.network) return this.#close(network?.idle.first, 'idle')
    if (this.#open.size < this.#bounds.total) return true
    const [idle, largest] = [this.#largestIdle.first, this.#largest.first]
    if (largest !== undefined && held + 1 < shareOf(largest)) {
      if (this.#close(largest.idle.first, 'idle') || this.#close(stalledOf(largest.busy), 'stalled')) return true
    }
    return idle !== undefined && held <= shareOf(idle) && this.#close(idle.idle.first, 'idle')
  }

  #close(connection: Connection | null | undefined, reason: keyof ClosedConnections): boolean {
    if (connection === null || connection === undefined) return false
    this.#closed[reason]++
    this.remove(connection.socket)
    if (connection.used) connection.socket.destroy()
    else this.#discard(connection.socket)
    return true
  }

  /**
   * Closes an unused connection after a delay during which it is not read: its peer may reconnect immediately, and accepting costs more
   * than keeping it open. Above a maximum number of such connections it is closed immediately.
   */
  #discard(socket: ClosableSocket): void {
    if (!(socket instanceof Socket) || this.#held >= limits.held_connections) return void socket.destroy()
    this.#held++
    const close = setTimeout(() => socket.destroy(), limits.held_connection_ms)
    socket.once('close', () => {
      clearTimeout(close)
      this.#held--
    })
    // A listener detaches the socket from the HTTP parser of node:http, so that pausing it stops reading.
    socket.on('data', () => undefined).pause()
  }
}

interface WaitingRequest {
  readonly response: Response
  readonly work: () => void
}

interface Connection {
  readonly socket: ClosableSocket
  readonly network: Network
  /** Answer to the request that is served now. */
  response: Response | null
  /** A request has been served on it. */
  used: boolean
  /** Pipelined requests behind it. */
  waiting: WaitingRequest[] | null
  /** Null once it has closed. */
  queue: ConnectionQueue | null
  before: Connection | null
  after: Connection | null
}

interface Network {
  readonly name: string
  readonly trusted: boolean
  count: number
  readonly idle: ConnectionQueue
  readonly busy: ConnectionQueue
}

/** Number of connections that count for a network: none for proxies, which open them for others. */
function shareOf({ trusted, count }: Network): number {
  return trusted ? 0 : count
}

/** Returns the first connection in the queue that waits for its peer; checks a few and continues there next time. */
function stalledOf(busy: ConnectionQueue): Connection | null {
  for (let looks = 0; looks < limits.connection_looks && busy.first !== null; looks++) {
    const { first } = busy
    if (first.response === null || isStalled(first.response)) return first
    busy.add(first)
  }
  return null
}

function isStalled({ req, headersSent, writableEnded, writableNeedDrain }: Response): boolean {
  return writableEnded || writableNeedDrain || (!req.complete && !headersSent)
}

/** Linked list of connections, the one added first in front. A connection is in one queue at a time. */
class ConnectionQueue {
  first: Connection | null = null
  #last: Connection | null = null

  /** Appends a connection, which leaves the queue that it was in. */
  add(connection: Connection): void {
    connection.queue?.remove(connection)
    connection.queue = this
    connection.before = this.#last
    if (this.#last === null) this.first = connection
    else this.#last.after = connection
    this.#last = connection
  }

  remove(connection: Connection): void {
    const { before, after } = connection
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    connection.queue = connection.before = connection.after = null
  }
}

/** Binary heap of networks, the one with the highest rank first. */
class NetworkHeap {
  readonly #rankOf: (network: Network) => number
  readonly #networks: Network[] = []
  readonly #at = new Map<Network, number>()

  constructor(rankOf: (network: Network) => number) {
    this.#rankOf = rankOf
  }

  get first(): Network | undefined {
    return this.#networks[0]
  }

  add(network: Network): void {
    this.#place(network, this.#networks.length)
    this.reorder(network)
  }

  remove(network: Network): void {
    const at = this.#at.get(network)
    const last = this.#networks.pop()
    this.#at.delete(network)
    if (at === undefined || last === undefined || last === network) return
    this.#place(last, at)
    this.reorder(last)
  }

  /** Moves a network to where its present rank belongs. */
  reorder(network: Network): void {
    for (let above = this.#over(network); above !== undefined; above = this.#over(network)) this.#swap(network, above)
    for (let below = this.#under(network); below !== undefined; below = this.#under(network)) this.#swap(below, network)
  }

  /** Returns the parent where it ranks lower. */
  #over(network: Network): Network | undefined {
    const parent = this.#networks[(this.#indexOf(network) - 1) >> 1]
    return parent !== undefined && this.#rankOf(parent) < this.#rankOf(network) ? parent : undefined
  }

  /** Returns the higher ranked child where it ranks higher than the network. */
  #under(network: Network): Network | undefined {
    const at = this.#indexOf(network)
    const [left, right] = [this.#networks[2 * at + 1], this.#networks[2 * at + 2]]
    if (left === undefined) return undefined
    const child = right !== undefined && this.#rankOf(right) > this.#rankOf(left) ? right : left
    return this.#rankOf(child) > this.#rankOf(network) ? child : undefined
  }

  #swap(up: Network, down: Network): void {
    const at = this.#indexOf(up)
    this.#place(up, this.#indexOf(down))
    this.#place(down, at)
  }

  #indexOf(network: Network): number {
    return this.#at.get(network) ?? -1
  }

  #place(network: Network, at: number): void {
    this.#at.set(network, at)
    this.#networks[at] = network
  }
}
