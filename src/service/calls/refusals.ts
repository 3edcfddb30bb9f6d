import { isChainFault } from '../chain-fault.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import type { ChainFaultReason } from '../../ports/chain.ts'
import type { HeavyFault, HeavyFaultCode } from '../../ports/heavy-work.ts'
import { Refusal, SourceDown, type Tool } from '../catalogue/define.ts'
import type { Catalogue } from '../catalogue/load.ts'
import { limits } from '../limits.ts'
import { nearest } from '../nearest.ts'
import { allowanceShown, type Spent, type Taken } from '../payments/allowance.ts'
import { problem, type Problem } from '../problems.ts'

/** Why a call was not served, each in our own words. None of them costs the caller anything. */

export function badReceiptHash(): Problem {
  return problem('PREV_RECEIPT_HASH_INVALID', 'Send 0x and 64 hexadecimal digits, or leave the previous receipt out.')
}

export function sourceDown(tool: Tool): Problem {
  return unread(`${tool.id} reads a source that does not answer now. The call was not counted.`, 'unavailable')
}

/** Nothing is known, so nothing is said to be valid or not; `reason` is the same word whichever surface tells it. */
function unread(detail: string, reason: string): Problem {
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s, extra: { valid: null, reason } })
}

export function storeDown(): Problem {
  return problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: limits.store_retry_s })
}

/** What a fault means to the caller that stops a call after it was admitted; those of a source and of the store pass by themselves. */
export function brokenOff(tool: Tool, error: unknown): Problem {
  if (error instanceof SourceDown) return unread(error.message, error.reason)
  if (error instanceof Refusal) return problem(error.problem, error.message, error.details)
  if (isChainFault(error))
    return unread(`${tool.id} could not read the chain: ${CHAIN_FAULTS[error.reason]} Nothing was charged.`, error.reason)
  const heavy = heavyProblem(error, tool.id)
  if (heavy !== null) return heavy
  return isStoreFault(error) ? storeDown() : failed(tool)
}

/** Whether an error is told to the caller as what it is, and nothing here is at fault. */
export function isKnownEnd(error: unknown): boolean {
  return error instanceof SourceDown || error instanceof Refusal || isChainFault(error) || isHeavyFault(error)
}

/** The problem of work in a thread that gave no result; null for any other error. `work` says what it was for. */
export function heavyProblem(error: unknown, work: string): Problem | null {
  return isHeavyFault(error) ? HEAVY_FAULTS[error.code](work) : null
}

/** Whether a call ended because its input takes too much work. That was done for the caller, so a free call stays counted. */
export function isCallersWork(error: unknown): boolean {
  return isHeavyFault(error) && error.code === 'WORK_TIMED_OUT'
}

const HEAVY_FAULTS: Readonly<Record<HeavyFaultCode, (work: string) => Problem>> = {
  WORK_REFUSED: (id) =>
    problem('OVERLOADED', `Too much waits for ${id} already. Try again in a moment.`, { retry_after_s: limits.overload_retry_s }),
  WORK_CLIENT_BUSY: (id) =>
    problem(
      'CLIENT_BUSY',
      `${limits.heavy_client_queue} calls of your network already wait for ${id} and tools like it. Send fewer at a time.`,
      {
        retry_after_s: limits.overload_retry_s,
      },
    ),
  WORK_CLIENT_PAUSED: (id) =>
    problem(
      'CLIENT_BUSY',
      `${id} had to be stopped for ${limits.heavy_client_ended} inputs of your network. Wait, and send smaller inputs.`,
      {
        retry_after_s: limits.heavy_client_ended_ms / 1_000,
      },
    ),
  WORK_TIMED_OUT: (id) =>
    problem('PROCESSING_BOUND', `${id} spends at most ${limits.heavy_ms / 1_000} s and ${limits.heavy_memory_mb} MB on one input.`),
}

function isHeavyFault(error: unknown): error is HeavyFault {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code in HEAVY_FAULTS
}

const CHAIN_FAULTS: Readonly<Record<ChainFaultReason, string>> = {
  unavailable: 'no endpoint answered as it should.',
  reorg: 'blocks were replaced while they were read.',
  stale: 'its newest block is too old.',
  too_many_requests: 'the reading would take more requests than a call may make.',
}

function isStoreFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('STORE_')
}

function failed(tool: Tool): Problem {
  return problem('INTERNAL_ERROR', `${tool.id} failed by our fault. The call was not charged.`)
}

export function unknownTool({ tools }: Catalogue, id: string): Problem {
  const near = nearest(
    id,
    tools.map((tool) => tool.id),
  )
  const hint = near === null ? 'GET /v1/tools lists them all.' : `Did you mean ${near}?`
  return problem('TOOL_NOT_FOUND', `No tool has this id. ${hint}`)
}

/** `amount_minor` is what the call costs; null where nothing can be paid. */
export function exhausted({ state, spent }: Pick<Taken, 'state' | 'spent'>, amount_minor: bigint | null): Problem {
  const used = spent === null || spent === 'own' ? ownText(state.limit) : SHARED[spent]
  const price =
    amount_minor === null ? 'This deployment takes no payments.' : `This call costs ${usdcText(amount_minor)} USDC; see \`accepts\`.`
  const reset = `Free calls reset at 00:00 UTC (in ${durationText(state.resets_in_s)}).`
  const detail = [used, price, ...(state.limit === 0 ? [] : [reset])].join(' ')
  return problem('PAYMENT_REQUIRED', detail, { retry_after_s: state.resets_in_s, extra: { allowance: allowanceShown(state) } })
}

function ownText(limit: number): string {
  if (limit === 0) return 'There are no free calls here.'
  return limit === 1 ? "You have used today's free call." : `You have used today's ${limit} free calls.`
}

/** "20 h 11 min", rounded up to the minute. */
function durationText(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  const hours = Math.floor(minutes / 60)
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`
}

const SHARED: Readonly<Record<Exclude<Spent, 'own'>, string>> = {
  wide: 'The networks of your IPv6 /48 have used the free calls of today.',
  network: 'Your network has used the free calls of today that read outside sources.',
  all: 'All clients together have used the free calls of today that read outside sources.',
}
