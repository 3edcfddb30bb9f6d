import { readReceiptHash } from '../../pure/receipts/chain.ts'
import type { HeavyWork } from '../../ports/heavy-work.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SourceName, Sources, Tool } from '../catalogue/define.ts'
import type { AllowanceState } from '../payments/allowance.ts'
import type { Problem } from '../problems.ts'
import { ofBareBody } from '../catalogue/bare.ts'
import { decodeInput } from '../catalogue/decode.ts'
import { answerParts } from './answer-text.ts'
import { admitPayment, paymentEnd, quote, readRequestPayment, replayed, type PaidDeps, type RequestPayment } from './paid.ts'
import type { Admission, ReadCall } from './asked.ts'
import type { CallRequest, Outcome, PhaseMarks } from './outcome.ts'
import { inputHash, prepareQueued, type Stamp } from './prepare.ts'
import { askForUnread } from './unread.ts'
import { badReceiptHash, brokenOff, exhausted, isKnownEnd, sourceDown, storeDown, unknownTool } from './refusals.ts'

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

  const read = await readRequest(deps, tool, request)
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
  return admission.kind === 'ended' ? admission.outcome : perform(deps, asked, admission, request.marks)
}

/** Reads the input within the bounds of the tool and holds it against its schema; free of charge. */
async function readRequest(deps: CallDeps, tool: Tool, request: CallRequest) {
  const previous = request.prev_receipt_hash === null ? null : readReceiptHash(request.prev_receipt_hash)
  if (request.prev_receipt_hash !== null && previous === null) return { ok: false, problem: badReceiptHash() } as const
  let down: Problem | null = null
  let unpaid: AllowanceState | null = null
  const read = await request.read(tool.bounds, async () => {
    if (request.payments.length > 0 || request.credit !== null || tool.price === 'free') return true
    const peeked = await deps.allowance.peek(tool.id, request.address).catch((error: unknown) => {
      deps.onFault(error, tool.id)
      down = storeDown()
      return null
    })
    unpaid = peeked?.remaining === 0 ? peeked : null
    return (peeked?.remaining ?? 0) > 0
  })
  if (down !== null) return { ok: false, problem: down } as const
  if (!read.ok) return { ok: false, problem: read.problem, unpaid } as const
  const decoded = decodeInput(tool, read.input)
  const { bare = false } = read
  if (!decoded.ok) return bare ? ({ ok: false, problem: ofBareBody(decoded.problem) } as const) : decoded
  const { input } = decoded
  let hash: string | null = null
  const known = () => (hash ??= inputHash(deps.stamp, input))
  return { ok: true, call: { tool, input, inputHash: known, address: request.address, previous, bare } } as const
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
    const found = { problem: exhausted(tool, taken), allowance: taken.state, amount_minor, x402_reason: null }
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
  const { tool, input } = asked
  const claim = admission.kind === 'paid' ? admission.claim : null
  try {
    const beside = tool.heavy === true ? deps.heavy : null
    const ran = beside === null ? tool.execute(input, deps.sources) : beside.run(tool.family, tool.id, input)
    const result = ran instanceof Promise ? await ran : ran
    marks?.mark('run')
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
    if (admission.kind === 'free') await admission.taken.give_back().catch((failure: unknown) => deps.onFault(failure, tool.id))
    if (claim !== null) await claim.release('tool_failed').catch((failure: unknown) => deps.onFault(failure, tool.id))
    return refused(tool, brokenOff(tool, error))
  }
}

function refused(tool: Tool, found: Problem): Outcome {
  return { kind: 'refused', tool: tool.id, problem: found }
}
