import type { ChainFault, ChainFaultReason } from '../../ports/chain.ts'

/** Everything that the chain rejects with. Endpoints are named by their number alone: their URLs often carry a key. */
export class ChainUnavailableError extends Error implements ChainFault {
  override readonly name = 'ChainUnavailableError'
  readonly code = 'CHAIN_UNAVAILABLE'
  readonly reason: ChainFaultReason

  constructor(message: string, reason: ChainFaultReason = 'unavailable') {
    super(message)
    this.reason = reason
  }
}

/**
 * Reason why one endpoint did not serve. `broken`: no answer, or not the answer of a node; counts towards opening the circuit breaker.
 * `limited`: it asks for a pause. `long`, `slow`: the request itself may have failed, because others decide how long its answer is or
 * how long it takes; a smaller one may be served. `unfit`: it is healthy, but lags or does not serve this request; the next endpoint
 * may.
 */
export type EndpointFaultKind = 'broken' | 'limited' | 'long' | 'slow' | 'unfit'

/** One endpoint did not serve. Never leaves the adapter, and carries neither URL nor cause. */
export class EndpointFault extends Error {
  override readonly name = 'EndpointFault'
  readonly kind: EndpointFaultKind
  /** Milliseconds to leave the endpoint alone, when it is limited. */
  readonly pause_ms: number

  constructor(kind: EndpointFaultKind, message: string, pause_ms = 0) {
    super(message)
    this.kind = kind
    this.pause_ms = pause_ms
  }
}

export function isFault(error: unknown, ...kinds: readonly EndpointFaultKind[]): boolean {
  return error instanceof EndpointFault && kinds.includes(error.kind)
}
