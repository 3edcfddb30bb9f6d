import { isChainFault } from '../chain-fault.ts'
import type { ChainFaultReason } from '../../ports/chain.ts'
import type { HeavyFault, HeavyFaultCode } from '../../ports/heavy-work.ts'
import { Refusal, SourceDown, type Tool } from '../catalogue/define.ts'
import type { Catalogue } from '../catalogue/load.ts'
import { limits } from '../limits.ts'
import { nearestName } from '../catalogue/search.ts'
import { problem, type Problem } from '../problems.ts'

/** Problems of calls that were not served. None of them costs the caller anything, except that a settlement which failed may be under way. */

export function sourceDownProblem(tool: Tool): Problem {
  return sourceProblem(`A data source of ${tool.id} does not answer. The call was not counted. Try again later.`, 'unavailable')
}

/** `valid` is null because nothing was checked; `reason` is the same word on every surface. */
function sourceProblem(detail: string, reason: string): Problem {
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s, extra: { valid: null, reason } })
}

export function storeUnavailable(): Problem {
  return problem('STORE_UNAVAILABLE', 'The store does not answer. Try again shortly.', { retry_after_s: limits.store_retry_s })
}

/** Returns the problem for an error that ended a call after its admission. */
export function problemForError(tool: Tool, error: unknown): Problem {
  if (error instanceof SourceDown) return sourceProblem(error.message, error.reason)
  if (error instanceof Refusal) return problem(error.problem, error.message, error.details)
  if (isChainFault(error)) {
    const detail = `${tool.id} could not read the chain: ${CHAIN_FAULTS[error.reason]} Nothing was charged.`
    return sourceProblem(detail, error.reason)
  }
  const heavy = heavyWorkProblem(error, tool.id)
  if (heavy !== null) return heavy
  if (isStoreFault(error)) return storeUnavailable()
  return problem('INTERNAL_ERROR', `${tool.id} failed because of an error in this service. The call was not charged.`)
}

/** Returns the problem for an error during the settlement of a call: this process or another may have sent the payment. */
export function settlingProblem(tool: Tool, error: unknown): Problem {
  const [code, cause] = isStoreFault(error)
    ? (['STORE_UNAVAILABLE', 'The store does not answer'] as const)
    : (['INTERNAL_ERROR', `The payment of ${tool.id} failed because of an error in this service`] as const)
  const detail = `${cause}; it is not known whether the payment was charged. Send the same request with the same payment again.`
  return problem(code, detail, { charged: 'unknown', retry_after_s: limits.store_retry_s })
}

/**
 * Returns what an error means that ended a call after its admission. `is_expected`: it is reported to the caller as it is and needs no log entry.
 * `is_excessive`: the input took too much work, which was done, so a free call stays counted.
 */
export function failureOf(tool: Tool, error: unknown): { problem: Problem; is_expected: boolean; is_excessive: boolean } {
  return {
    problem: problemForError(tool, error),
    is_expected: error instanceof SourceDown || error instanceof Refusal || isChainFault(error) || isHeavyFault(error),
    is_excessive: isHeavyFault(error) && error.code === 'WORK_TIMED_OUT',
  }
}

/** Returns the problem of work in a thread that gave no result; null for any other error. `work` names the tool or the purpose. */
export function heavyWorkProblem(error: unknown, work: string): Problem | null {
  return isHeavyFault(error) ? HEAVY_FAULTS[error.code](work) : null
}

const RETRY_SOON = { retry_after_s: limits.overload_retry_s }

const HEAVY_FAULTS: Readonly<Record<HeavyFaultCode, (work: string) => Problem>> = {
  WORK_REFUSED: (id) =>
    problem(
      'OVERLOADED',
      `The queue of this process for ${id} and similar tools is full; your network is within its own limit. Try again in a moment.`,
      RETRY_SOON,
    ),
  WORK_CLIENT_BUSY: (id) => {
    const detail = `${limits.heavy_client_queue} calls of your network already wait for ${id} and similar tools. Send fewer simultaneously.`
    return problem('CLIENT_BUSY', detail, RETRY_SOON)
  },
  WORK_CLIENT_PAUSED: (id) => {
    const minutes = limits.heavy_client_ended_ms / 60_000
    const detail = `${id} was stopped for ${limits.heavy_client_ended} inputs of your network. Wait ${minutes} min, and send smaller inputs.`
    return problem('CLIENT_BUSY', detail, { retry_after_s: limits.heavy_client_ended_ms / 1_000 })
  },
  WORK_TIMED_OUT: (id) => {
    const detail = `${id} spends at most ${limits.heavy_ms / 1_000} s and ${limits.heavy_memory_mb} MB on one input. Send a smaller input.`
    return problem('PROCESSING_BOUND', detail)
  },
}

function isHeavyFault(error: unknown): error is HeavyFault {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code in HEAVY_FAULTS
}

const CHAIN_FAULTS: Readonly<Record<ChainFaultReason, string>> = {
  unavailable: 'no endpoint gave a usable answer.',
  reorg: 'blocks were replaced while they were read.',
  stale: 'its newest block is too old.',
  too_many_requests: 'it needs more requests than one call may make.',
}

function isStoreFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('STORE_')
}

export function unknownToolProblem({ tools }: Catalogue, id: string): Problem {
  const near = nearestName(
    id,
    tools.map((tool) => tool.id),
  )
  const hint = near === null ? 'GET /v1/tools lists them all.' : `Did you mean ${near}?`
  return problem('TOOL_NOT_FOUND', `No tool has this id. ${hint}`)
}
