import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { RegistrationData } from '../../ports/registration-data.ts'
import type { UnderwriterProofs } from '../../ports/insurance.ts'
import { once } from '../../pure/once.ts'

/** Registries in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. Either is loaded at its first use. */
export function chooseRegistrations(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): RegistrationData {
  const chosen = once(async () => (mode === 'live' ? (await import('./rdap.ts')).rdapRegistrations({ clock }) : sampleRegistrations(clock)))
  return { source: mode === 'live' ? 'rdap' : 'fixed_sample', lookup: async (domain) => (await chosen()).lookup(domain) }
}

/** Files of the domains in a live deployment, a fixed sample in a sandbox. Either is loaded at its first use. */
export function chooseUnderwriterProofs(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): UnderwriterProofs {
  const chosen = once(async () => (mode === 'live' ? (await import('./underwriter-proofs.ts')).httpsProofs({ clock }) : sampleProofs()))
  return { source: mode === 'live' ? 'https' : 'fixed_sample', check: async (host, address) => (await chosen()).check(host, address) }
}

const DAY_MS = 86_400_000

/** Age of each sample in whole days, constant over time. Names under `.example` have no owner (RFC 2606). */
const AGES_DAYS: ReadonlyMap<string, number> = new Map([
  ['example.com', 11_000],
  ['established.example', 4_000],
  ['young.example', 10],
])

/** Registration data of a sandbox: three samples; every other domain is unknown. */
export function sampleRegistrations(clock: Clock): RegistrationData {
  return {
    source: 'fixed_sample',
    lookup(domain) {
      const days = AGES_DAYS.get(domain)
      if (days === undefined) return Promise.resolve({ kind: 'unknown', reason: 'no_sample', server: null })
      const today_ms = Math.floor(clock.now_ms() / DAY_MS) * DAY_MS
      return Promise.resolve({ kind: 'registered', at_ms: today_ms - days * DAY_MS, server: 'fixed_sample' })
    },
  }
}

/** Host whose file names every underwriter in a sandbox. */
const PROVING_HOST = 'underwriter.example'

/** Proofs of a sandbox: one host names every address, all others name none. */
export function sampleProofs(): UnderwriterProofs {
  const reason = `A sandbox reads no file: only terms at https://${PROVING_HOST}/ count as proven there.`
  return {
    source: 'fixed_sample',
    check: (host) => Promise.resolve(host === PROVING_HOST ? { kind: 'proven' } : { kind: 'absent', reason }),
  }
}
