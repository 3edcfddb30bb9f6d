import { limits } from '../../service/limits.ts'
import { createRateGuard } from '../../service/clients.ts'
import { type Preflight, BODY_BOUNDS, preflight } from '../../service/preflight/preflight.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readInThread, type LargeSender, type PreflightAt } from '../http/read-in-thread.ts'
import { isObject } from '../../pure/is-object.ts'
import { readNumberLiterals } from '../../pure/protocols/read-document.ts'
import type { WholeMessage } from '../json-rpc.ts'
import { openJsonBody } from '../http/body.ts'

/** Preflight service for all surfaces; they share one count per client. */
export interface PreflightService {
  /** Counts the request; returns a problem if the client exceeds its rate limit. */
  refuse(address: string): Problem | null
  /** Waits in the queue for reading. */
  turn(address: string): Promise<unknown>
  /** Facts for a report that are not in the document. */
  at(): PreflightAt
  /** Reads a body and checks its document; long bodies in a thread. */
  check(bytes: Uint8Array, sender: LargeSender): Promise<Preflight>
}

export function createPreflightService(deps: AppDeps, turn: PreflightService['turn']): PreflightService {
  const { heavy, sources } = deps.call
  const admit = createRateGuard(sources.clock, deps.preflight_per_minute)
  const at = () => ({ now_s: Math.floor(sources.clock.now_ms() / 1_000), base_url: deps.origins.base_url })
  return {
    refuse(address) {
      const admitted = admit(address)
      if (admitted.ok) return null
      const detail = `A client (an IPv4 address, an IPv6 /48) may check ${deps.preflight_per_minute} documents per minute.`
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

/** MCP method of the preflight. It is free and has no receipt, so it is not a tool. */
export const PREFLIGHT_METHOD = 'assay/preflight'

/** Limits of a message around the body of `POST /v1/protocols/check`. Numbers that parsers round are findings of the check. */
const MESSAGE_BOUNDS = { depth: BODY_BOUNDS.depth + 1, nodes: BODY_BOUNDS.nodes + 256, unsafe_numbers: 'keep_text' } as const

export const PREFLIGHT_MESSAGES = { bounds: MESSAGE_BOUNDS, reads: isPreflight } as const

export function isPreflight(message: unknown): boolean {
  return isObject(message) && message['method'] === PREFLIGHT_METHOD && message['jsonrpc'] === '2.0'
}

/** Returns true for a long message that contains the method name; it is read in a thread earlier than other messages. */
export function isLargePreflight(bytes: Uint8Array): boolean {
  return (
    bytes.length > limits.preflight_thread_bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(PREFLIGHT_METHOD)
  )
}

/** Checks the document in a preflight message. */
export function preflightMessage({ body_bytes, json }: WholeMessage, { now_s, base_url }: PreflightAt): Preflight {
  if (body_bytes > limits.preflight_body_bytes) return { ok: false, problem: tooLarge() }
  const read = json.within(MESSAGE_BOUNDS)
  if (!read.ok) return read
  const { value, literals } = readNumberLiterals(json.text, read.value)
  const params = isObject(value) ? value['params'] : undefined
  if (!isObject(params)) return preflight({ value: params, literals }, now_s, base_url)
  const { _meta: _, ...body } = params
  return preflight({ value: body, literals }, now_s, base_url)
}

function tooLarge() {
  return problem('PAYLOAD_TOO_LARGE', `A preflight message may have at most ${limits.preflight_body_bytes} bytes.`)
}

const BOUNDS = { ...BODY_BOUNDS, unsafe_numbers: 'keep_text' } as const

/** Reads the body strictly, except that numbers which parsers round become findings, and checks its document. */
export function checkBody(bytes: Uint8Array, { now_s, base_url }: PreflightAt): Preflight {
  const json = openJsonBody(bytes, [BOUNDS])
  const read = json.within(BOUNDS)
  return read.ok ? preflight(readNumberLiterals(json.text, read.value), now_s, base_url) : read
}
