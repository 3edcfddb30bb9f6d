import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { splitDomain } from '../../pure/checks/domains.ts'
import type { SteadyClock } from '../../ports/clock.ts'
import { nameLimits } from '../../service/limits.ts'

/** All addresses of a host. Rejects when there are none, or when the signal fires. `party` caused the query: one runs for it at a time. */
export type Resolve = (host: string, signal: AbortSignal, party?: string) => Promise<LookupAddress[]>

/**
 * Resolver for host names that callers give (webhook receivers, domains of underwriters, registries). It asks DNS servers itself (c-ares), because
 * `dns.lookup` blocks a thread of the pool that every other look-up and file access of the process shares, and cannot be cancelled. A query
 * ends after `query_ms`; few run at the same time, one for a party, and the parties take turns. A domain whose servers did not answer is
 * not asked again for a while. Names of the hosts file are not read. `servers` are IP addresses; empty for those of the system.
 */
export function createOutsideResolver(clock: SteadyClock, servers: readonly string[] = []): Resolve {
  const turns = createTurns()
  const silent = new Map<string, number>()

  function markSilent(domain: string): void {
    silent.delete(domain)
    silent.set(domain, clock.steady_ms())
    const [oldest] = silent.keys()
    if (silent.size > nameLimits.silent_kept && oldest !== undefined) silent.delete(oldest)
  }

  return async (host, signal, party) => {
    if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK
    const domain = splitDomain(host.replace(/\.$/, ''), false).registrable ?? host
    const failed_ms = silent.get(domain)
    if (failed_ms !== undefined && clock.steady_ms() - failed_ms < nameLimits.silent_ms) {
      throw new Error(`the name servers of ${domain} did not answer`)
    }
    const end = await turns.take(party ?? domain, signal)
    try {
      const found = await addressQuery(host, servers, signal)
      if (found.kind === 'addresses') return found.addresses
      if (found.kind === 'silent') markSilent(domain)
      throw new Error(`${host} has no address: ${found.kind}`)
    } finally {
      end()
    }
  }
}

interface Turns {
  /** Resolves with the function that ends the turn. Rejects when too many wait, or when the signal fires. */
  take(party: string, signal: AbortSignal): Promise<() => void>
}

interface WaitingQuery {
  party: string
  start(): void
}

/** Bounds the queries that run at the same time, in all and of one party. */
function createTurns(): Turns {
  const waiting: WaitingQuery[] = []
  const running = new Map<string, number>()
  let in_flight = 0

  function startNext(): void {
    while (in_flight < nameLimits.in_flight) {
      const index = waiting.findIndex(({ party }) => (running.get(party) ?? 0) < nameLimits.party_in_flight)
      const [next] = index === -1 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      in_flight += 1
      running.set(next.party, (running.get(next.party) ?? 0) + 1)
      next.start()
    }
  }

  function end(party: string): void {
    in_flight -= 1
    const left = (running.get(party) ?? 1) - 1
    if (left === 0) running.delete(party)
    else running.set(party, left)
    startNext()
  }

  return {
    take: (party, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(aborted(signal))
        const of_party = waiting.filter((query) => query.party === party).length
        if (waiting.length >= nameLimits.waiting || of_party >= nameLimits.party_waiting) {
          return reject(new Error('too many host names wait to be resolved'))
        }
        const abort = () => {
          waiting.splice(waiting.indexOf(query), 1)
          reject(aborted(signal))
        }
        const query: WaitingQuery = {
          party,
          start: () => {
            signal.removeEventListener('abort', abort)
            resolve(() => end(party))
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting.push(query)
        startNext()
      }),
  }
}

/** RFC 6761 section 6.3: such names are never asked of a DNS server. */
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

type Found = { kind: 'addresses'; addresses: LookupAddress[] } | { kind: 'none' | 'silent' | 'aborted' }

/** Asks for both kinds of address. A separate resolver, so that the end of the time cancels this query and no other. */
async function addressQuery(host: string, servers: readonly string[], signal: AbortSignal): Promise<Found> {
  const resolver = new Resolver({ timeout: nameLimits.query_ms, tries: 1 })
  if (servers.length > 0) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  const timer = setTimeout(cancel, nameLimits.query_ms)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
    if (addresses.length > 0) return { kind: 'addresses', addresses }
    if (signal.aborted) return { kind: 'aborted' }
    return { kind: [v4, v6].every(isAnswered) ? 'none' : 'silent' }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'rejected' ? [] : answer.value.map((address) => ({ address, family }))
}

/** Codes with which a name server says that there is no such address. */
const ANSWERED: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME'])

function isAnswered(answer: PromiseSettledResult<string[]>): boolean {
  return answer.status === 'fulfilled' || (answer.reason instanceof Error && 'code' in answer.reason && ANSWERED.has(answer.reason.code))
}

function aborted(signal: AbortSignal): Error {
  return new Error('the time is up', { cause: signal.reason })
}
