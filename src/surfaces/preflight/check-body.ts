import { withLiterals } from '../../pure/protocols/read-document.ts'
import { BODY_BOUNDS, preflight, type Preflight } from '../../service/preflight/request.ts'
import { openJsonBody } from '../http/json-body.ts'
import type { PreflightAt } from '../http/read-in-thread.ts'

const BOUNDS = { ...BODY_BOUNDS, unsafe_numbers: 'keep_text' } as const

/** Reads the body of a preflight strictly, but for numbers that readers round, which are findings, and checks the document in it. */
export function checkBody(bytes: Uint8Array, { now_s, base_url }: PreflightAt): Preflight {
  const json = openJsonBody(bytes, [BOUNDS])
  const read = json.within(BOUNDS)
  return read.ok ? preflight(withLiterals(json.text, read.value), now_s, base_url) : read
}
