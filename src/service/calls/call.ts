import { readReceiptHash } from '../../pure/receipts/chain.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SourceName, Sources, Tool } from '../catalogue/define.ts'
import type { Allowance, AllowanceState, Taken } from '../payments/allowance.ts'
import type { Problem } from '../problems.ts'
import { decodeInput } from '../catalogue/decode.ts'
import type { CallRequest, Outcome } from './outcome.ts'
import { prepare, type Stamp } from './prepare.ts'
import { badReceiptHash, exhausted, failed, noCredits, noSettlement, sourceDown, storeDown, unknownTool } from './refusals.ts'

/** All that a call needs; assembled once, at start. */
export interface CallDeps {
  catalogue: Catalogue
  sources: Sources
  /** Says whether a source answers now; a source without a probe cannot be down. */
  probes: Partial<Record<SourceName, () => Promise<boolean>>>
  allowance: Allowance
  stamp: Stamp
  /** Told of accidents, so that they are seen; never of inputs. */
  onFault(error: unknown, tool: string): void
}

/** What entitles a call to run. */
type Admission =
  | { kind: 'unlimited' }
  | { kind: 'free'; taken: Taken }
  | { kind: 'payment_required'; allowance: AllowanceState }
  | { kind: 'refused'; problem: Problem }

/**
 * One call, from end to end: find → read → replay? → preflight → admit → run → prepare → settle → answer. Reading and
 * preflight cost the caller nothing; a call that fails by our fault gives back what it took; nothing leaves before it is
 * signed. Payment has its place in `admit` and between `prepare` and `answer`; the look-up of a stored answer comes with it.
 */
export async function call(deps: CallDeps, request: CallRequest): Promise<Outcome> {
  const tool = deps.catalogue.find(request.tool)
  if (tool === undefined) return { kind: 'refused', tool: null, problem: unknownTool(deps.catalogue, request.tool) }

  const read = await readRequest(deps, tool, request)
  if (!read.ok) return refused(tool, read.problem)

  const down = await preflight(deps, tool)
  if (down !== null) return refused(tool, down)

  const admission = await admit(deps, tool, request)
  switch (admission.kind) {
    case 'refused':
      return refused(tool, admission.problem)
    case 'payment_required':
      return { kind: 'payment_required', tool: tool.id, problem: exhausted(tool, admission.allowance), allowance: admission.allowance }
    case 'unlimited':
    case 'free':
      return perform(deps, tool, read.input, request, admission.kind === 'free' ? admission.taken : null)
  }
}

/** Reads the input within the bounds of the tool and holds it against its schema; free of charge. */
async function readRequest(deps: CallDeps, tool: Tool, request: CallRequest) {
  if (request.prev_receipt_hash !== null && readReceiptHash(request.prev_receipt_hash) === null) {
    return { ok: false, problem: badReceiptHash() } as const
  }
  let down: Problem | null = null
  const read = await request.read(tool.bounds, async () => {
    if (request.payment || tool.price === 'free') return true
    const peeked = await deps.allowance.peek(tool.id, request.address).catch((error: unknown) => {
      deps.onFault(error, tool.id)
      down = storeDown()
      return { remaining: 0 }
    })
    return peeked.remaining > 0
  })
  if (down !== null) return { ok: false, problem: down } as const
  return read.ok ? decodeInput(tool, read.input) : read
}

async function preflight(deps: CallDeps, tool: Tool): Promise<Problem | null> {
  for (const name of tool.sources) {
    const probe = deps.probes[name]
    if (probe !== undefined && !(await probe())) return sourceDown(tool)
  }
  return null
}

async function admit(deps: CallDeps, tool: Tool, request: CallRequest): Promise<Admission> {
  if (request.payment) return { kind: 'refused', problem: noSettlement() }
  if (request.credit) return { kind: 'refused', problem: noCredits() }
  if (tool.price === 'free') return { kind: 'unlimited' }
  try {
    const taken = await deps.allowance.take(tool.id, request.address)
    return taken.granted ? { kind: 'free', taken } : { kind: 'payment_required', allowance: taken.state }
  } catch (error) {
    deps.onFault(error, tool.id)
    return { kind: 'refused', problem: storeDown() }
  }
}

/** Runs, stamps and answers; whatever breaks on the way is ours, and costs the caller nothing. */
async function perform(
  deps: CallDeps,
  tool: Tool,
  input: Record<string, unknown>,
  request: CallRequest,
  taken: Taken | null,
): Promise<Outcome> {
  try {
    const ran = tool.execute(input, deps.sources)
    const result = ran instanceof Promise ? await ran : ran
    const previous = request.prev_receipt_hash === null ? null : readReceiptHash(request.prev_receipt_hash)
    const prepared = prepare(deps.stamp, tool, input, result, previous)
    return { kind: 'answered', tool: tool.id, answer: { ...prepared, settlement: null, allowance: taken?.state ?? null } }
  } catch (error) {
    deps.onFault(error, tool.id)
    await taken?.give_back().catch((failure: unknown) => deps.onFault(failure, tool.id))
    return refused(tool, failed(tool))
  }
}

function refused(tool: Tool, found: Problem): Outcome {
  return { kind: 'refused', tool: tool.id, problem: found }
}
