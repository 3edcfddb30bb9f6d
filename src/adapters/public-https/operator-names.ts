import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP } from 'node:net'
import type { SteadyClock } from '../../ports/clock.ts'
import { nameLimits } from '../../service/limits.ts'

export type LookupResult = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void
export type SystemLookup = (host: string, options: LookupOptions, done: LookupResult) => void

interface FoundAddress {
  address: string | LookupAddress[]
  family: number | undefined
  found_ms: number
}

/**
 * Look-up of hosts that the operator names: RPC endpoints, price sources, registers, feeds, facilitators, databases. It keeps the last address of
 * each for `address_kept_ms` and returns it where the name servers fail, or do not answer within `slow_ms`; "no such name" is an answer and is
 * returned. Certificates are checked against the name as ever. One look-up of a name runs at a time, so that a silent name server blocks one thread
 * of the pool and not all.
 */
export function lastAddressLookup(system: SystemLookup, clock: SteadyClock): SystemLookup {
  const known = new Map<string, FoundAddress>()
  const running = new Map<string, Set<LookupResult>>()

  function lastOf(key: string): FoundAddress | null {
    const found = known.get(key)
    return found !== undefined && clock.steady_ms() - found.found_ms < nameLimits.address_kept_ms ? found : null
  }

  function remember(key: string, found: FoundAddress): void {
    known.delete(key)
    known.set(key, found)
    const [oldest] = known.keys()
    if (known.size > nameLimits.addresses_kept && oldest !== undefined) known.delete(oldest)
  }

  function start(key: string, host: string, options: LookupOptions): Set<LookupResult> {
    const waiting = new Set<LookupResult>()
    running.set(key, waiting)
    system(host, options, (error, address, family) => {
      running.delete(key)
      if (error === null) remember(key, { address, family, found_ms: clock.steady_ms() })
      const last = error === null || error.code === 'ENOTFOUND' ? null : lastOf(key)
      for (const done of waiting) {
        if (last === null) done(error, address, family)
        else done(null, last.address, last.family)
      }
    })
    return waiting
  }

  return (host, options, done) => {
    if (isIP(host) !== 0) return system(host, options, done)
    const key = JSON.stringify([host, options.family, options.hints, options.all, options.order, options.verbatim])
    const waiting = running.get(key) ?? start(key, host, options)
    const last = lastOf(key)
    if (last === null) return void waiting.add(done)
    const settle: LookupResult = (...result) => {
      clearTimeout(timer)
      done(...result)
    }
    const timer = setTimeout(() => {
      if (waiting.delete(settle)) done(null, last.address, last.family)
    }, nameLimits.slow_ms)
    waiting.add(settle)
  }
}

/**
 * Puts `lastAddressLookup` in the place of `dns.lookup` for this process: the fetch of Node takes no other look-up, and database and protocol
 * clients connect by names too. Names that callers give never come here (`outside-names.ts`).
 */
export function keepLastAddresses(clock: SteadyClock): void {
  const system = dns.lookup
  const lookup = lastAddressLookup((host, options, done) => system(host, options, done), clock)
  const replacement = (host: string, options: LookupOptions | number | null | LookupResult, done?: LookupResult): void => {
    if (typeof options === 'function') lookup(host, {}, options)
    else if (done !== undefined) lookup(host, typeof options === 'number' ? { family: options } : (options ?? {}), done)
  }
  dns.lookup = Object.assign(replacement, system)
  syncBuiltinESMExports()
}
