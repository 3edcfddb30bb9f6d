import { decodeUtf8 } from '../../pure/documents/strict-json.ts'
import { readDocument } from '../../pure/protocols/read-document.ts'
import { createRateGuard } from '../../service/preflight/rate.ts'
import { BODY_BOUNDS, preflight, type Preflight, type ReadValue } from '../../service/preflight/request.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readJsonBody } from '../http/json-body.ts'

/** What the surfaces need to serve preflights; one count of clients for all of them. */
export interface PreflightDesk {
  /** The refusal of a client that has sent too many; null for the others, which are counted. */
  refuse(address: string): Problem | null
  /** The turn of a document, to be waited for before it is read or refused; null when that may be done at once. */
  turn(): Promise<void> | null
  check(read: ReadValue): Preflight
}

export function createPreflightDesk(deps: AppDeps, turn: PreflightDesk['turn']): PreflightDesk {
  const { clock } = deps.call.sources
  const admit = createRateGuard(clock, deps.preflight_per_minute)
  return {
    refuse(address) {
      const admitted = admit(address)
      if (admitted.ok) return null
      const detail = `A client may send ${deps.preflight_per_minute} documents a minute.`
      return problem('PREFLIGHT_RATE_LIMITED', detail, { retry_after_s: admitted.retry_after_s })
    },
    turn,
    check: (read) => preflight(read, Math.floor(clock.now_ms() / 1_000), deps.origins.base_url),
  }
}

/** Bytes to a value with the literals of its numbers; strictly, but for numbers that readers round: those are findings. */
export function readWithLiterals(bytes: Uint8Array): { ok: true; read: ReadValue } | { ok: false; problem: Problem } {
  const text = decodeUtf8(bytes)
  const read = text === null ? null : readDocument(text, BODY_BOUNDS)
  if (read?.ok === true) return { ok: true, read }
  // Whatever keeps it from being read, the edge says in its words.
  const refused = readJsonBody(bytes, { ...BODY_BOUNDS, unsafe_numbers: 'keep_text' })
  return refused.ok ? { ok: false, problem: problem('PARSE_ERROR', 'The body is not JSON.') } : refused
}
