import { readReceiptHash } from '../../pure/receipts/chain.ts'
import { decodeInput } from '../catalogue/decode.ts'
import type { Tool } from '../catalogue/define.ts'
import type { Allowance, AllowanceState, AllowanceTaken } from '../payments/allowance.ts'
import { readPayment } from '../payments/payment-header.ts'
import type { Claim } from '../payments/payment-parts.ts'
import { type Problem, problem } from '../problems.ts'
import { inputHash, type ReceiptIssuer } from './answer.ts'
import type { CallRequest, InputRead, Outcome, ReadyInput } from './outcome.ts'
import { storeUnavailable } from './refusals.ts'

type DecodedInput =
  | (Omit<ReadyInput, 'input_hash'> & { ok: true; input_hash: string | null; unwrapped: boolean })
  | { ok: false; problem: Problem }

/** The problem of a bare body: its pointers count from the body itself. */
function problemOfUnwrappedBody(found: Problem): Problem {
  return { ...found, errors: found.errors.map((error) => ({ ...error, pointer: error.pointer.replace(/^\/input/, '') })) }
}

/** Validates an input against the schema of its tool, unless a worker thread has already done so. */
export function decodeInputRead(tool: Tool, read: InputRead): DecodedInput {
  if (!read.ok) return read
  const { unwrapped = false, ready } = read
  if (ready !== undefined) return { ok: true, ...ready, unwrapped }
  const decoded = decodeInput(tool, read.input)
  if (decoded.ok) return { ok: true, input: decoded.input, packed: null, input_hash: null, unwrapped }
  return unwrapped ? { ok: false, problem: problemOfUnwrappedBody(decoded.problem) } : decoded
}

/** A call whose body was read and validated. */
export interface DecodedCall {
  tool: Tool
  /** When `packed` is set, only the members that the price depends on. */
  input: Record<string, unknown> | null
  /** Input of a pure tool that a worker thread has read; null when `input` has it. */
  packed: Uint8Array | null
  /** Returns the hash that receipts and bindings name the input by; computed at first use. */
  inputHash(): string
  address: string
  /** Digest of the previous receipt, in lower case. */
  previous: string | null
  /** The fields of the tool were the body itself, without `input`; the answer then has the same form. */
  unwrapped: boolean
}

/** Entitlement of a call to run. */
export type Admission =
  | { kind: 'unlimited' }
  | { kind: 'free'; taken: AllowanceTaken }
  | { kind: 'paid'; claim: Claim }
  /** The call does not run; this is its outcome. */
  | { kind: 'ended'; outcome: Outcome }

/** `too_large_unpaid`: the body was refused unread, and would be read for a payment. */
type CallDecoding =
  | { kind: 'decoded'; call: DecodedCall }
  | { kind: 'refused'; problem: Problem }
  | { kind: 'too_large_unpaid'; problem: Problem; allowance: AllowanceState }

interface DecodeDeps {
  allowance: Allowance
  issuer: ReceiptIssuer
  onFault(error: unknown, tool: string): void
}

function badReceiptHashProblem(): Problem {
  const detail = 'X-PREV-RECEIPT-HASH must be 0x and 64 hexadecimal digits. Correct it, or send the call without it.'
  return problem('PREV_RECEIPT_HASH_INVALID', detail)
}

/** Receives the body within the bounds of the tool, takes capacity for the call and validates the input; free of charge. */
export async function decodeCall(deps: DecodeDeps, tool: Tool, request: CallRequest): Promise<CallDecoding> {
  const previous = request.prev_receipt_hash === null ? null : readReceiptHash(request.prev_receipt_hash)
  if (request.prev_receipt_hash !== null && previous === null) return { kind: 'refused', problem: badReceiptHashProblem() }
  const unreceived = await receiveBody(deps, tool, request)
  if (unreceived !== null) return unreceived
  const busy = (await request.enter?.()) ?? null
  if (busy !== null) return { kind: 'refused', problem: busy }
  const reading = request.read(tool.bounds)
  const read = reading instanceof Promise ? await reading : reading
  request.marks?.mark('read')
  const decoded = decodeInputRead(tool, read)
  if (!decoded.ok) return { kind: 'refused', problem: decoded.problem }
  const { input, packed, unwrapped } = decoded
  let hash = decoded.input_hash
  const lazyHash = () => (hash ??= inputHash(deps.issuer, input ?? {}))
  return { kind: 'decoded', call: { tool, input, packed, inputHash: lazyHash, address: request.address, previous, unwrapped } }
}

/** Waits for the body. Returns null once it has arrived. */
async function receiveBody(deps: DecodeDeps, tool: Tool, request: CallRequest): Promise<Exclude<CallDecoding, { kind: 'decoded' }> | null> {
  if (request.receive === undefined) return null
  const permission = new LargeBodyPermission(deps, tool, request)
  const refusal = await request.receive(tool.bounds, () => permission.ask())
  request.marks?.mark('receive')
  const { decision } = permission
  if (decision?.kind === 'store_down') return { kind: 'refused', problem: storeUnavailable() }
  if (refusal === null) return null
  return decision?.kind === 'no_free_calls'
    ? { kind: 'too_large_unpaid', problem: refusal, allowance: decision.allowance }
    : { kind: 'refused', problem: refusal }
}

type LargeBodyDecision = { kind: 'allowed' } | { kind: 'no_free_calls'; allowance: AllowanceState } | { kind: 'store_down' }

/** Decides, when asked, whether a large body is read: for a caller with free calls left or with a readable credential. */
class LargeBodyPermission {
  /** Null until asked. */
  decision: LargeBodyDecision | null = null
  readonly #deps: DecodeDeps
  readonly #tool: Tool
  readonly #request: CallRequest

  constructor(deps: DecodeDeps, tool: Tool, request: CallRequest) {
    this.#deps = deps
    this.#tool = tool
    this.#request = request
  }

  async ask(): Promise<boolean> {
    this.decision = await this.#decide()
    return this.decision.kind === 'allowed'
  }

  async #decide(): Promise<LargeBodyDecision> {
    if (this.#tool.price === 'free' || hasReadableCredential(this.#request)) return { kind: 'allowed' }
    try {
      const allowance = await this.#deps.allowance.peek(this.#tool.id, this.#request.address)
      return allowance.remaining === 0 ? { kind: 'no_free_calls', allowance } : { kind: 'allowed' }
    } catch (error) {
      this.#deps.onFault(error, this.#tool.id)
      return { kind: 'store_down' }
    }
  }
}

/** Returns true for a request with a credit or a payment that can be read; both are verified later. */
function hasReadableCredential({ payments, credit }: CallRequest): boolean {
  return credit !== null || payments.some((payment) => readPayment(payment).ok)
}
