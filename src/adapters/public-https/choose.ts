import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { RegistrationData } from '../../ports/registers.ts'
import type { UnderwriterProof, UnderwriterProofs } from '../../ports/insurance.ts'
import { once } from '../../pure/once.ts'
import { namesUnderwriter, POL } from '../../pure/rulebooks/pol1-registry.ts'
import { proofLimits } from '../../service/limits.ts'
import { type Guard, guardedGet, type GuardedResponse } from './guarded-request.ts'
import type { Resolve } from './outside-names.ts'

/** Registries in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. Either is loaded at its first use. */
export function chooseRegistrations(mode: 'sandbox' | 'live', clock: Clock & SteadyClock, resolve: Resolve): RegistrationData {
  const chosen = once(async () =>
    mode === 'live' ? (await import('./rdap.ts')).rdapRegistrations({ clock, resolve }) : sampleRegistrations(clock),
  )
  return { source: mode === 'live' ? 'rdap' : 'fixed_sample', lookup: async (domain) => (await chosen()).lookup(domain) }
}

/** Files of the domains in a live deployment, a fixed sample in a sandbox. */
export function chooseUnderwriterProofs(mode: 'sandbox' | 'live', clock: Clock & SteadyClock, resolve: Resolve): UnderwriterProofs {
  const chosen = once(() => (mode === 'live' ? httpsProofs({ clock, resolve }) : sampleProofs()))
  return { source: mode === 'live' ? 'https' : 'fixed_sample', check: (host, address, client) => chosen().check(host, address, client) }
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

export interface ProofOptions {
  clock: SteadyClock
  resolve: Resolve
  /** Address of the file of a host; by default the path of the rule book over https. */
  address?: (host: string) => string
  exempt?: Guard['exempt']
}

/** Reads each file at most once in ten seconds, so that registrations cannot be used to send a stream of requests to a domain. */
export function httpsProofs({
  clock,
  resolve,
  address: addressOf = (host) => `https://${host}${POL.table.proof.path}`,
  exempt = new Set(),
}: ProofOptions): UnderwriterProofs {
  const files = new Map<string, { got: Promise<GuardedResponse | null>; until_ms: number }>()

  function fileOf(host: string, party: string): Promise<GuardedResponse | null> {
    const known = files.get(host)
    if (known !== undefined && known.until_ms > clock.steady_ms()) return known.got
    if (files.size >= proofLimits.remembered) files.clear()
    const got = guardedGet(addressOf(host), { resolve, exempt, party }, AbortSignal.timeout(proofLimits.read_ms), proofLimits).catch(
      () => null,
    )
    files.set(host, { got, until_ms: clock.steady_ms() + proofLimits.remembered_ms })
    return got
  }

  return { source: 'https', check: async (host, address, client) => proofIn(await fileOf(host, client), address) }
}

function proofIn(got: GuardedResponse | null, address: string): UnderwriterProof {
  if (got === null) return { kind: 'unreachable', reason: 'The file could not be read: the host does not answer over https in time.' }
  if (got.kind === 'refused') {
    return { kind: 'unreachable', reason: 'The file was not read: the host is not on the public internet, or it redirects.' }
  }
  if (got.kind === 'too_long') return { kind: 'absent', reason: `The file has more than ${proofLimits.answer_bytes} bytes.` }
  if (got.status >= 500) return { kind: 'unreachable', reason: `The host answers ${got.status}.` }
  if (got.status !== 200) return { kind: 'absent', reason: `The host answers ${got.status}; expected 200 with the file.` }
  const named = namesUnderwriter(got.text, address)
  if (named === null) return { kind: 'absent', reason: 'The file is not JSON of the form {"underwriters": ["0x…"]}.' }
  return named ? { kind: 'proven' } : { kind: 'absent', reason: 'The file does not list the address of this underwriter.' }
}
