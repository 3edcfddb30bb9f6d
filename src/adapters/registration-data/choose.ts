import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { RegistrationData } from '../../ports/registration-data.ts'
import type { UnderwriterProofs } from '../../ports/underwriter-proofs.ts'
import { once } from '../../pure/once.ts'

/** Registries in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. Either is loaded at its first use. */
export function chooseRegistrations(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): RegistrationData {
  const chosen = once(async () =>
    mode === 'live' ? (await import('./rdap.ts')).rdapRegistrations({ clock }) : (await import('./samples.ts')).sampleRegistrations(clock),
  )
  return { source: mode === 'live' ? 'rdap' : 'fixed_sample', lookup: async (domain) => (await chosen()).lookup(domain) }
}

/** Files of the domains in a live deployment, a fixed sample in a sandbox. Either is loaded at its first use. */
export function chooseUnderwriterProofs(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): UnderwriterProofs {
  const chosen = once(async () =>
    mode === 'live' ? (await import('./underwriter-proofs.ts')).httpsProofs({ clock }) : (await import('./samples.ts')).sampleProofs(),
  )
  return { source: mode === 'live' ? 'https' : 'fixed_sample', check: async (host, address) => (await chosen()).check(host, address) }
}
