import type { Clock } from '../../ports/clock.ts'
import type { RegistrationData } from '../../ports/registration-data.ts'
import type { UnderwriterProofs } from '../../ports/underwriter-proofs.ts'

const DAY_MS = 86_400_000

/** Age of each sample in whole days, whatever the day. Names under `.example` are nobody's (RFC 2606). */
const AGES_DAYS: ReadonlyMap<string, number> = new Map([
  ['example.com', 11_000],
  ['established.example', 4_000],
  ['young.example', 10],
])

/** What a sandbox answers instead of a registry: three samples, and otherwise that nothing is known. */
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

/** What a sandbox answers instead of reading the file of a domain: one host names every address, all others name none. */
export function sampleProofs(): UnderwriterProofs {
  const reason = `A sandbox reads no file: only terms at https://${PROVING_HOST}/ count as proven there.`
  return {
    source: 'fixed_sample',
    check: (host) => Promise.resolve(host === PROVING_HOST ? { kind: 'proven' } : { kind: 'absent', reason }),
  }
}
