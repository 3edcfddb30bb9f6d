import type { Clock } from '../../ports/clock.ts'
import type { RegistrationData } from '../../ports/registration-data.ts'
import { rdapRegistrations } from './rdap.ts'
import { sampleRegistrations } from './samples.ts'

/** Registries in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. */
export function chooseRegistrations(mode: 'sandbox' | 'live', clock: Clock): RegistrationData {
  return mode === 'live' ? rdapRegistrations({ clock }) : sampleRegistrations(clock)
}
