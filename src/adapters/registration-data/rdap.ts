/** Registries asked over RDAP (RFC 9082 and 9083, June 2021). */
import type { SteadyClock } from '../../ports/clock.ts'
import type { Registration, RegistrationData } from '../../ports/registration-data.ts'
import { rdapServer } from '../../pure/checks/rdap-servers.ts'
import { Breaker } from '../../pure/breaker.ts'
import { guardedGet, systemResolve, type Got, type Guard } from './guarded-get.ts'
import { rdapLimits } from './limits.ts'
import { registeredAt } from './rdap-answer.ts'

export interface RdapOptions {
  clock: SteadyClock
  /** Base URL of the server for a domain; that of the bootstrap table unless told otherwise. */
  server?: (domain: string) => string | null
  guard?: Partial<Guard>
}

/**
 * `down` is a registry that refuses connections, cannot be found, answers 5xx, or has failed so often lately that it is left alone; a
 * timeout, a 404, a 429 and every answer that cannot be used are `unknown`. Dates are remembered for an hour.
 */
export function rdapRegistrations({ clock, server = rdapServer, guard = {} }: RdapOptions): RegistrationData {
  const whole: Guard = { resolve: guard.resolve ?? systemResolve, exempt: guard.exempt ?? new Set() }
  const breakers = new Map<string, Breaker>()
  const dates = new Map<string, { at_ms: number; until_ms: number }>()

  /** Each registry has its own, by host. */
  function breakerOf(host: string): Breaker {
    const known = breakers.get(host)
    if (known !== undefined) return known
    if (breakers.size >= rdapLimits.breakers) breakers.clear()
    const made = new Breaker(rdapLimits.breaker, clock)
    breakers.set(host, made)
    return made
  }

  async function ask(domain: string, base: string): Promise<Registration> {
    const host = new URL(base).hostname
    const breaker = breakerOf(host)
    const ticket = breaker.take()
    if (ticket === null) return { kind: 'down', server: host }
    const signal = AbortSignal.timeout(rdapLimits.lookup_ms)
    const registration = await guardedGet(new URL(`domain/${domain}`, base).href, whole, signal, rdapLimits).then(
      (got) => read(got, domain, host),
      (): Registration => (signal.aborted ? { kind: 'unknown', reason: 'timeout', server: host } : { kind: 'down', server: host }),
    )
    const failed = registration.kind === 'down' || (registration.kind === 'unknown' && registration.reason === 'timeout')
    if (failed) breaker.failed(ticket)
    else breaker.succeeded(ticket)
    return registration
  }

  return {
    source: 'rdap',
    async lookup(domain) {
      const base = server(domain)
      if (base === null) return { kind: 'unknown', reason: 'no_registry', server: null }
      const known = dates.get(domain)
      if (known !== undefined && known.until_ms > clock.steady_ms()) {
        return { kind: 'registered', at_ms: known.at_ms, server: new URL(base).hostname }
      }
      const found = await ask(domain, base)
      if (found.kind !== 'registered') return found
      if (dates.size >= rdapLimits.remembered) dates.clear()
      dates.set(domain, { at_ms: found.at_ms, until_ms: clock.steady_ms() + rdapLimits.remembered_ms })
      return found
    },
  }
}

function read(got: Got, domain: string, server: string): Registration {
  if (got.kind === 'refused') return { kind: 'unknown', reason: 'refused', server }
  if (got.kind === 'too_long') return { kind: 'unknown', reason: 'unreadable', server }
  if (got.status >= 500) return { kind: 'down', server }
  if (got.status === 404) return { kind: 'unknown', reason: 'not_found', server }
  if (got.status === 429) return { kind: 'unknown', reason: 'rate_limited', server }
  if (got.status !== 200) return { kind: 'unknown', reason: 'refused', server }
  const at = registeredAt(got.text, domain)
  return typeof at === 'number' ? { kind: 'registered', at_ms: at, server } : { kind: 'unknown', reason: at, server }
}
