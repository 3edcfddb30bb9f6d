import { isObject, jsonObject } from '../../pure/is-object.ts'
import type { SteadyClock } from '../../ports/clock.ts'
import type { Registration, RegistrationData } from '../../ports/registers.ts'
import { rdapServer } from '../../pure/checks/domains.ts'
import { Breaker } from '../../pure/breaker.ts'
import { type GuardedResponse, type Guard, guardedGet } from './guarded-request.ts'
import type { Resolve } from './outside-names.ts'
import { rdapLimits } from '../../service/limits.ts'

/** Reads a registry's answer about a domain (RFC 9083, June 2021) from untrusted text. */

/** RFC 3339, with its offset: without one the moment is not known. */
const MOMENT = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/
const EVENTS_MAX = 1_000

/**
 * Registration time of the domain, in milliseconds since 1970; `no_date` when the answer has none, `unreadable` when it is not an answer
 * about this domain. Of several registrations the latest counts: it is that of the present holder.
 */
export function registeredAt(text: string, domain: string): number | 'no_date' | 'unreadable' {
  const body = jsonObject(text)
  if (body === null || body['objectClassName'] !== 'domain' || !isAbout(body, domain)) return 'unreadable'
  const events: unknown = body['events']
  if (!Array.isArray(events) || events.length > EVENTS_MAX) return 'no_date'
  const moments = events.map((event: unknown) =>
    isObject(event) && event['eventAction'] === 'registration' ? momentOf(event['eventDate']) : null,
  )
  const known = moments.filter((moment) => moment !== null)
  return known.length === 0 ? 'no_date' : Math.max(...known)
}

/** Some servers write names in capitals or with the final dot; a server that names another domain answers another question. */
function isAbout(body: Record<string, unknown>, domain: string): boolean {
  const name = body['ldhName']
  return typeof name === 'string' && name.toLowerCase().replace(/\.$/, '') === domain
}

function momentOf(value: unknown): number | null {
  if (typeof value !== 'string' || !MOMENT.test(value)) return null
  const moment_ms = Date.parse(value.replace(' ', 'T').toUpperCase())
  return Number.isNaN(moment_ms) ? null : moment_ms
}

/** Registries asked over RDAP (RFC 9082 and 9083, June 2021). */

export interface RdapOptions {
  clock: SteadyClock
  resolve: Resolve
  /** Base URL of the server for a domain; by default that of the bootstrap table. */
  server?: (domain: string) => string | null
  exempt?: Guard['exempt']
}

/**
 * `down` is a registry that refuses connections, cannot be found, answers 5xx, or whose circuit breaker is open; a timeout, a 404, a 429
 * and every unusable answer are `unknown`. Dates are cached for an hour.
 */
export function rdapRegistrations({ clock, resolve, server = rdapServer, exempt = new Set() }: RdapOptions): RegistrationData {
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
    const registration = await guardedGet(new URL(`domain/${domain}`, base).href, { resolve, exempt }, signal, rdapLimits).then(
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

function read(got: GuardedResponse, domain: string, server: string): Registration {
  if (got.kind === 'refused') return { kind: 'unknown', reason: 'refused', server }
  if (got.kind === 'too_long') return { kind: 'unknown', reason: 'unreadable', server }
  if (got.status >= 500) return { kind: 'down', server }
  if (got.status === 404) return { kind: 'unknown', reason: 'not_found', server }
  if (got.status === 429) return { kind: 'unknown', reason: 'rate_limited', server }
  if (got.status !== 200) return { kind: 'unknown', reason: 'refused', server }
  const at = registeredAt(got.text, domain)
  return typeof at === 'number' ? { kind: 'registered', at_ms: at, server } : { kind: 'unknown', reason: at, server }
}
