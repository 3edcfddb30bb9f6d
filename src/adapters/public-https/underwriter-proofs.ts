import type { SteadyClock } from '../../ports/clock.ts'
import type { UnderwriterProof, UnderwriterProofs } from '../../ports/insurance.ts'
import { namesUnderwriter, POL } from '../../pure/rulebooks/pol1-registry.ts'
import { guardedGet, systemResolve, type GuardedResponse, type Guard } from './guarded-request.ts'
import { proofLimits } from '../../service/limits.ts'

export interface ProofOptions {
  clock: SteadyClock
  /** Address of the file of a host; by default the path of the rule book over https. */
  address?: (host: string) => string
  guard?: Partial<Guard>
}

/** Reads each file at most once in ten seconds, so that registrations cannot be used to send a stream of requests to a domain. */
export function httpsProofs({
  clock,
  address: addressOf = (host) => `https://${host}${POL.table.proof.path}`,
  guard = {},
}: ProofOptions): UnderwriterProofs {
  const whole: Guard = { resolve: guard.resolve ?? systemResolve, exempt: guard.exempt ?? new Set() }
  const files = new Map<string, { got: Promise<GuardedResponse | null>; until_ms: number }>()

  function fileOf(host: string): Promise<GuardedResponse | null> {
    const known = files.get(host)
    if (known !== undefined && known.until_ms > clock.steady_ms()) return known.got
    if (files.size >= proofLimits.remembered) files.clear()
    const got = guardedGet(addressOf(host), whole, AbortSignal.timeout(proofLimits.read_ms), proofLimits).catch(() => null)
    files.set(host, { got, until_ms: clock.steady_ms() + proofLimits.remembered_ms })
    return got
  }

  return { source: 'https', check: async (host, address) => proofIn(await fileOf(host), address) }
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
