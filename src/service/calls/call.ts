import type { HeavyWork } from '../../ports/heavy-work.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SourceName, Sources, Tool } from '../catalogue/define.ts'
import { widerNetwork } from '../clients.ts'
import type { Problem } from '../problems.ts'
import { answerParts } from './answer-text.ts'
import { admitPayment, paymentEnd, quote, readRequestPayment, replayed, type PaidDeps, type RequestPayment } from './paid.ts'
import { decodeCall, type Admission, type ReadCall } from './asked.ts'
import type { CallRequest, Outcome, PhaseMarks } from './outcome.ts'
import { prepareQueued, type Stamp } from './prepare.ts'
import { askForUnread } from './unread.ts'
import { brokenOff, exhausted, isCallersWork, isKnownEnd, sourceDown, storeDown, unknownTool } from './refusals.ts'

/** All that a call needs; assembled once, at start. */
export interface CallDeps extends PaidDeps {
  catalogue: Catalogue
  sources: Sources
  /** Says whether a source answers now; a source without a probe cannot be down. */
  probes: Partial<Record<SourceName, () => Promise<boolean>>>
  stamp: Stamp
  /** Where heavy tools run; null runs them here. */
  heavy: HeavyWork | null
}

/**
 * One call, from end to end: find → read → replay? → preflight → admit → run → prepare → settle → answer. Reading and preflight cost the
 * caller nothing; a call that fails by our fault gives back what it took; nothing leaves before it is signed, and, when it is paid,
 * settled.
 */
export async function call(deps: CallDeps, request: CallRequest): Promise<Outcome> {
  const tool = deps.catalogue.find(request.tool)
  if (tool === undefined) return { kind: 'refused', tool: null, problem: unknownTool(deps.catalogue, request.tool) }

  const read = await decodeCall(deps, tool, request)
  if (!read.ok) {
    const unpaid = read.unpaid ?? null
    return unpaid === null ? refused(tool, read.problem) : askForUnread(deps, tool, read.problem, unpaid, () => preflight(deps, tool))
  }
  const asked = read.call

  const payment = await readRequestPayment(deps, asked, request)
  if (payment.kind === 'ended') return payment.outcome
  const before = payment.kind === 'none' ? null : await replayed(deps, asked, payment)
  if (before !== null) return before

  const down = await preflight(deps, tool)
  if (down !== null) return refused(tool, down)

  const admission = await admit(deps, asked, payment)
  request.marks?.mark('admit')
  if (admission.kind === 'paid') request.verified?.()
  return admission.kind === 'ended' ? admission.outcome : perform(deps, asked, admission, request.marks)
}

async function preflight(deps: CallDeps, tool: Tool): Promise<Problem | null> {
  for (const name of tool.sources) {
    const probe = deps.probes[name]
    if (probe !== undefined && !(await probe())) return sourceDown(tool)
  }
  return null
}

async function admit(deps: CallDeps, asked: ReadCall, payment: Exclude<RequestPayment, { kind: 'ended' }>): Promise<Admission> {
  const { tool, address } = asked
  if (payment.kind !== 'none') return admitPayment(deps, asked, payment)
  if (tool.price === 'free') return { kind: 'unlimited' }
  try {
    const taken = await deps.allowance.take(tool.id, address, readsSources(tool))
    if (taken.granted) return { kind: 'free', taken }
    const amount_minor = (await quote(deps, tool, asked.input))?.amount_minor ?? null
    const found = { problem: exhausted(taken, amount_minor), allowance: taken.state, amount_minor, x402_reason: null }
    return { kind: 'ended', outcome: { kind: 'payment_required', tool: tool.id, ...found } }
  } catch (error) {
    deps.onFault(error, tool.id)
    return { kind: 'ended', outcome: refused(tool, storeDown()) }
  }
}

/** Whether a call of this tool asks somebody outside, who bears only so much. */
function readsSources({ sources }: Tool): boolean {
  return sources.some((name) => OUTSIDE.has(name))
}

const OUTSIDE: ReadonlySet<SourceName> = new Set<SourceName>(['chain', 'transfers', 'prices', 'registrations'])

/** Runs, stamps, settles and answers; whatever breaks on the way is ours, and costs the caller nothing. */
async function perform(
  deps: CallDeps,
  asked: ReadCall,
  admission: Exclude<Admission, { kind: 'ended' }>,
  marks?: PhaseMarks,
): Promise<Outcome> {
  const { tool } = asked
  const claim = admission.kind === 'paid' ? admission.claim : null
  try {
    const ran = runTool(deps, asked, claim !== null)
    const result = ran instanceof Promise ? await ran : ran
    marks?.mark('run')
    const refusal = tool.refuses?.(result) ?? null
    if (refusal !== null) throw refusal
    const prepared = await prepareQueued(deps.stamp, { tool, input_hash: asked.inputHash(), previous: asked.previous }, result, claim)
    marks?.mark('sign')
    if (claim === null) {
      const allowance = admission.kind === 'free' ? admission.taken.state : null
      return { kind: 'answered', tool: tool.id, answer: { ...prepared, allowance, bare: asked.bare } }
    }
    const allowance = await deps.allowance.peek(tool.id, asked.address)
    const end = await claim.settle(answerParts({ ...prepared, allowance, bare: asked.bare }))
    marks?.mark('settle')
    return await paymentEnd(deps, asked, end)
  } catch (error) {
    if (!isKnownEnd(error)) deps.onFault(error, tool.id)
    const gives_back = admission.kind === 'free' && !isCallersWork(error)
    if (gives_back) await admission.taken.give_back().catch((failure: unknown) => deps.onFault(failure, tool.id))
    if (claim !== null) await claim.release('tool_failed').catch((failure: unknown) => deps.onFault(failure, tool.id))
    return refused(tool, brokenOff(tool, error))
  }
}

function refused(tool: Tool, found: Problem): Outcome {
  return { kind: 'refused', tool: tool.id, problem: found }
}

/**
 * Runs the tool of a call: a heavy one in a thread, where the clients of other networks have their turns too, and so a pure one whose long
 * body was read there.
 */
function runTool(deps: { heavy: HeavyWork | null; sources: Sources }, { tool, input, packed, address }: ReadCall, paid: boolean) {
  if (deps.heavy === null || (tool.heavy !== true && packed === null)) return tool.execute(input ?? {}, deps.sources)
  return deps.heavy.run(tool.family, tool.id, packed ?? input ?? {}, { client: widerNetwork(address), paid })
}
