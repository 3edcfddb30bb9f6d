import { readReceiptHash } from '../../pure/receipts/chain.ts'
import type { Tool } from '../catalogue/define.ts'
import type { Allowance, AllowanceState, Taken } from '../payments/allowance.ts'
import type { Claim } from '../payments/desk.ts'
import { readPayment } from '../payments/payment-header.ts'
import type { Problem } from '../problems.ts'
import { decodeRead } from './decode-read.ts'
import type { CallRequest, Outcome } from './outcome.ts'
import { inputHash, type Stamp } from './prepare.ts'
import { badReceiptHash, storeDown } from './refusals.ts'

/** A request whose input fits its tool. */
export interface ReadCall {
  tool: Tool
  /** Beside `packed` only what the price depends on. */
  input: Record<string, unknown> | null
  /** The input of a pure tool that a worker thread has read; null when `input` has it. */
  packed: Uint8Array | null
  /** Names the input in receipts and bindings; computed when it is first asked for. */
  inputHash(): string
  address: string
  /** Digest of the receipt before, in lower case. */
  previous: string | null
  /** Its fields were the body itself; it is answered alike. */
  bare: boolean
}

/** What entitles a call to run. */
export type Admission =
  | { kind: 'unlimited' }
  | { kind: 'free'; taken: Taken }
  | { kind: 'paid'; claim: Claim }
  /** It does not run: this is its end. */
  | { kind: 'ended'; outcome: Outcome }

/** `unpaid`: the body was refused unread, and payment would have it read. */
export type Decoded = { ok: true; call: ReadCall } | { ok: false; problem: Problem; unpaid?: AllowanceState | null }

/** Parts that decoding a call needs. */
interface DecodeDeps {
  allowance: Allowance
  stamp: Stamp
  onFault(error: unknown, tool: string): void
}

/** Receives the body within the bounds of the tool, takes capacity for the call, and checks the input against the schema; free of charge. */
export async function decodeCall(deps: DecodeDeps, tool: Tool, request: CallRequest): Promise<Decoded> {
  const previous = request.prev_receipt_hash === null ? null : readReceiptHash(request.prev_receipt_hash)
  if (request.prev_receipt_hash !== null && previous === null) return { ok: false, problem: badReceiptHash() }
  const refused = await receive(deps, tool, request)
  if (refused !== null) return refused
  const turned_away = (await request.enter?.()) ?? null
  if (turned_away !== null) return { ok: false, problem: turned_away }
  const reading = request.read(tool.bounds)
  const read = reading instanceof Promise ? await reading : reading
  request.marks?.mark('read')
  const decoded = decodeRead(tool, read)
  if (!decoded.ok) return decoded
  const { input, packed, bare } = decoded
  let hash = decoded.input_hash
  const known = () => (hash ??= inputHash(deps.stamp, input ?? {}))
  return { ok: true, call: { tool, input, packed, inputHash: known, address: request.address, previous, bare } }
}

/** Waits for the body; a large one is read for a caller with free calls left, and for one that brings a payment. */
async function receive(deps: DecodeDeps, tool: Tool, request: CallRequest): Promise<Extract<Decoded, { ok: false }> | null> {
  if (request.receive === undefined) return null
  let down: Problem | null = null
  let unpaid: AllowanceState | null = null
  const problem = await request.receive(tool.bounds, async () => {
    if (tool.price === 'free' || bringsPayment(request)) return true
    const peeked = await deps.allowance.peek(tool.id, request.address).catch((error: unknown) => {
      deps.onFault(error, tool.id)
      down = storeDown()
      return null
    })
    unpaid = peeked?.remaining === 0 ? peeked : null
    return (peeked?.remaining ?? 0) > 0
  })
  request.marks?.mark('receive')
  if (down !== null) return { ok: false, problem: down }
  return problem === null ? null : { ok: false, problem, unpaid }
}

/** Whether a payment that can be read, or a credit, came with the request; whether it is good is found out later. */
function bringsPayment({ payments, credit }: CallRequest): boolean {
  return credit !== null || payments.some((given) => readPayment(given).ok)
}
