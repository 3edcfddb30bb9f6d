import type { Log } from '../../ports/log.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { limits } from '../limits.ts'
import { problem } from '../problems.ts'
import { call, type CallDeps } from './call.ts'
import { outcomeWord, type CallRequest, type Outcome } from './outcome.ts'

/** Serves one call, whichever surface it came through. */
export type ServeCall = (request: CallRequest, request_id: string) => Promise<Outcome>

/** Calls that are bounded, counted and logged: one line each, without its input. */
export function observedCalls(deps: CallDeps, telemetry: Telemetry, log: Pick<Log, 'info'>): { serve: ServeCall; inFlight(): number } {
  let in_flight = 0
  const observe = async (request: CallRequest, request_id: string): Promise<Outcome> => {
    const started_ms = performance.now()
    const outcome = await call(deps, request)
    const duration_ms = performance.now() - started_ms
    const tool = outcome.tool ?? 'unknown'
    const word = outcomeWord(outcome)
    telemetry.call(tool, word, duration_ms)
    log.info({ request_id, tool, outcome: word, duration_ms: Math.round(duration_ms * 100) / 100 }, 'call')
    return outcome
  }
  return {
    inFlight: () => in_flight,
    serve: async (request, request_id) => {
      if (in_flight >= limits.calls_in_flight) return overloaded()
      in_flight++
      try {
        return await observe(request, request_id)
      } finally {
        in_flight--
      }
    },
  }
}

function overloaded(): Outcome {
  return {
    kind: 'refused',
    tool: null,
    problem: problem('OVERLOADED', 'Try again in a moment.', { retry_after_s: limits.overload_retry_s }),
  }
}
