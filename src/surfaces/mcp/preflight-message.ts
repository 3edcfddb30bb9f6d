import { isObject } from '../../pure/is-object.ts'
import { withLiterals } from '../../pure/protocols/read-document.ts'
import { limits } from '../../service/limits.ts'
import { BODY_BOUNDS, preflight, type Preflight } from '../../service/preflight/request.ts'
import { problem } from '../../service/problems.ts'
import type { PreflightAt } from '../http/read-in-thread.ts'
import type { WholeMessage } from '../json-rpc.ts'

/** The method beside the tools: the preflight is free and has no receipt, so it is no tool. */
export const PREFLIGHT_METHOD = 'assay/preflight'

/** What a message adds around the body of `POST /v1/protocols/check`; numbers that readers round may be among what REST checks. */
const BOUNDS = { depth: BODY_BOUNDS.depth + 1, nodes: BODY_BOUNDS.nodes + 256, unsafe_numbers: 'keep_text' } as const

export const PREFLIGHT_MESSAGES = { bounds: BOUNDS, reads: isPreflight } as const

export function isPreflight(message: unknown): boolean {
  return isObject(message) && message['method'] === PREFLIGHT_METHOD && message['jsonrpc'] === '2.0'
}

/** Whether a message is long for a preflight, and seems to be one: then it is worth a thread sooner than others. */
export function isLargePreflight(bytes: Uint8Array): boolean {
  return (
    bytes.length > limits.preflight_thread_bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(PREFLIGHT_METHOD)
  )
}

/** Checks the document in a message that `isPreflight` has let through. */
export function preflightMessage({ body_bytes, json }: WholeMessage, { now_s, base_url }: PreflightAt): Preflight {
  if (body_bytes > limits.preflight_body_bytes) return { ok: false, problem: tooLarge() }
  const read = json.within(BOUNDS)
  if (!read.ok) return read
  const { value, literals } = withLiterals(json.text, read.value)
  const params = isObject(value) ? value['params'] : undefined
  if (!isObject(params)) return preflight({ value: params, literals }, now_s, base_url)
  const { _meta: _, ...body } = params
  return preflight({ value: body, literals }, now_s, base_url)
}

function tooLarge() {
  return problem('PAYLOAD_TOO_LARGE', `A preflight reads messages of at most ${limits.preflight_body_bytes} bytes.`)
}
