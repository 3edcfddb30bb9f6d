import type { HeavyWork } from '../../ports/heavy-work.ts'
import type { Catalogue } from '../catalogue/load.ts'
import type { SourceName, Sources, Tool } from '../catalogue/define.ts'
import { widerNetwork } from '../clients.ts'
import type { Registers } from '../registers.ts'
import type { Problem } from '../problems.ts'
import { prepareQueued, splitAnswer, type ReceiptIssuer } from './answer.ts'
import { decodeCall, type Admission, type DecodedCall } from './decoded-call.ts'
import { type CallRequest, type Outcome, type PhaseMarks, refusedOutcome } from './outcome.ts'
import { PaymentGate, type PaymentGateDeps } from './payment-gate.ts'
import { failureOf, settlingProblem, sourceDownProblem, unknownToolProblem } from './refusals.ts'

/** All parts that a call needs; assembled once at start. */
export interface CallDeps extends PaymentGateDeps {
  catalogue: Catalogue
  sources: Sources
  /** Each resolves with false while its source does not answer. A source without a probe counts as up. */
  probes: Partial<Record<SourceName, () => Promise<boolean>>>
  issuer: ReceiptIssuer
  /** Absent where no live register is on. */
  registers?: Registers
  /** Worker threads for heavy tools; null runs them on this thread. */
  heavy: HeavyWork | null
}

/**
 * Serves one call: find the tool, decode, replay a stored answer, check sources, admit, run, sign, settle, answer. The caller pays nothing for
 * the steps before admission. A call that fails through the service's fault returns its free call or releases its payment. An answer leaves
 * only after it is signed and, for a paid call, settled.
 */
export async function call(deps: CallDeps, request: CallRequest): Promise<Outcome> {
  const tool = deps.catalogue.find(request.tool)
  if (tool === undefined) return refusedOutcome(null, unknownToolProblem(deps.catalogue, request.tool))

  const decoded = await decodeCall(deps, tool, request)
  switch (decoded.kind) {
    case 'refused':
      return refusedOutcome(tool, decoded.problem)
    case 'too_large_unpaid':
      return new PaymentGate(deps).askForLargeBody(tool, decoded.problem, decoded.allowance, () => checkSources(deps, tool))
    case 'decoded':
      return serveDecoded(deps, decoded.call, request)
  }
}

async function serveDecoded(deps: CallDeps, decoded: DecodedCall, request: CallRequest): Promise<Outcome> {
  const { tool } = decoded
  const gate = new PaymentGate(deps)
  const payment = await gate.read(decoded, request)
  if (payment.kind === 'ended') return payment.outcome
  const stored = payment.kind === 'none' ? null : await gate.replay(decoded, payment)
  if (stored !== null) return stored

  const down = await checkSources(deps, tool)
  if (down !== null) return refusedOutcome(tool, down)

  const admission = payment.kind === 'none' ? await admitUnpaid(deps, gate, decoded) : await gate.admit(decoded, payment)
  request.marks?.mark('admit')
  if (admission.kind === 'paid') request.verified?.()
  return admission.kind === 'ended' ? admission.outcome : perform(deps, gate, decoded, admission, request.marks)
}

async function checkSources(deps: CallDeps, tool: Tool): Promise<Problem | null> {
  for (const name of tool.sources) {
    const probe = deps.probes[name]
    if (probe !== undefined && !(await probe())) return sourceDownProblem(tool)
  }
  return null
}

async function admitUnpaid({ sources }: Pick<CallDeps, 'sources'>, gate: PaymentGate, decoded: DecodedCall): Promise<Admission> {
  if (decoded.tool.price === 'free') return { kind: 'unlimited' }
  const { tool, input } = decoded
  const { screens } = sources.names
  const outside = tool.sources.some((name) => OUTSIDE_SOURCES.has(name) && (name !== 'names' || screens))
  const reads_outside = outside && (tool.reads_outside?.(input ?? {}, screens) ?? true)
  return gate.takeFree(decoded, reads_outside)
}

/** Sources outside this service, whose capacity is limited. */
const OUTSIDE_SOURCES: ReadonlySet<SourceName> = new Set<SourceName>(['chain', 'transfers', 'prices', 'registrations', 'names'])

/** Runs the tool, signs, settles and answers. A failure before the settlement costs the caller nothing. */
async function perform(
  deps: CallDeps,
  gate: PaymentGate,
  decoded: DecodedCall,
  admission: Exclude<Admission, { kind: 'ended' }>,
  marks?: PhaseMarks,
): Promise<Outcome> {
  const { tool, unwrapped } = decoded
  const claim = admission.kind === 'paid' ? admission.claim : null
  let is_settling = false
  try {
    const ran = runTool(deps, decoded, claim !== null)
    const offline = ran instanceof Promise ? await ran : ran
    const confirming = deps.registers?.confirm(tool, decoded.input, offline, { address: decoded.address, paid: claim !== null })
    const result = confirming === undefined ? offline : await confirming
    marks?.mark('run')
    const refusal = tool.refuses?.(result) ?? null
    if (refusal !== null) throw refusal
    const prepared = await prepareQueued(deps.issuer, { tool, input_hash: decoded.inputHash(), previous: decoded.previous }, result, claim)
    marks?.mark('sign')
    if (claim === null) {
      const allowance = admission.kind === 'free' ? admission.taken.state : null
      return { kind: 'answered', tool: tool.id, answer: { ...prepared, allowance, unwrapped } }
    }
    const allowance = await deps.allowance.peek(tool.id, decoded.address)
    is_settling = true
    const settled = await claim.settle(splitAnswer({ ...prepared, allowance, unwrapped }))
    marks?.mark('settle')
    return await gate.outcome(decoded, settled)
  } catch (error) {
    const { problem, is_expected, is_excessive } = failureOf(tool, error)
    if (!is_expected) deps.onFault(error, tool.id)
    if (admission.kind === 'free' && !is_excessive)
      await admission.taken.give_back().catch((failure: unknown) => deps.onFault(failure, tool.id))
    if (claim !== null) await claim.release('tool_failed').catch((failure: unknown) => deps.onFault(failure, tool.id))
    return refusedOutcome(tool, is_settling ? settlingProblem(tool, error) : problem)
  }
}

/** Sources of a call; invoices know whose network creates them. */
function sourcesFor(sources: Sources, tool: Tool, address: string): Sources {
  if (!tool.sources.includes('invoices')) return sources
  return { ...sources, invoices: sources.invoices.by?.(address) ?? sources.invoices }
}

/** Runs the tool. Heavy tools, and pure tools whose long body a worker thread has read, run in a worker thread, queued by client network. */
function runTool(deps: Pick<CallDeps, 'heavy' | 'sources'>, { tool, input, packed, address }: DecodedCall, paid: boolean) {
  if (deps.heavy === null || (tool.heavy !== true && packed === null))
    return tool.execute(input ?? {}, sourcesFor(deps.sources, tool, address))
  return deps.heavy.run(tool.family, tool.id, packed ?? input ?? {}, { client: widerNetwork(address), paid })
}
