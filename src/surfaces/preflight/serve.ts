import { limits } from '../../service/limits.ts'
import { createRateGuard } from '../../service/admission/rate.ts'
import type { Preflight } from '../../service/preflight/request.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readInThread, type LargeSender, type PreflightAt } from '../http/read-in-thread.ts'
import { checkBody } from './check-body.ts'

/** What the surfaces need to serve preflights; one count of clients for all of them. */
export interface PreflightDesk {
  /** The refusal of a client that has sent too many; null for the others, which are counted. */
  refuse(address: string): Problem | null
  /** Waits until a document may be read or refused. */
  turn(address: string): Promise<unknown>
  /** What a report needs that is not in its document. */
  at(): PreflightAt
  /** Reads a body and checks the document in it; a long body in a thread. */
  check(bytes: Uint8Array, sender: LargeSender): Promise<Preflight>
}

export function createPreflightDesk(deps: AppDeps, turn: PreflightDesk['turn']): PreflightDesk {
  const { heavy, sources } = deps.call
  const admit = createRateGuard(sources.clock, deps.preflight_per_minute)
  const at = () => ({ now_s: Math.floor(sources.clock.now_ms() / 1_000), base_url: deps.origins.base_url })
  return {
    refuse(address) {
      const admitted = admit(address)
      if (admitted.ok) return null
      const detail = `A client may send ${deps.preflight_per_minute} documents a minute.`
      return problem('PREFLIGHT_RATE_LIMITED', detail, { retry_after_s: admitted.retry_after_s })
    },
    turn,
    at,
    async check(bytes, sender) {
      if (heavy === null || bytes.length <= limits.preflight_thread_bytes) return checkBody(bytes, at())
      return readInThread(heavy, { kind: 'preflight', bytes, at: at() }, sender)
    },
  }
}
