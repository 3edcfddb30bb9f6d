import { CanonicalError, canonicalText } from '../pure/receipts/canonical.ts'
import { readReceiptHash } from '../pure/receipts/chain.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import type { Allowance, Answer } from './answer.ts'
import { createBudget, type Spending } from './budget.ts'
import { createCaller, type Prepared } from './caller.ts'
import { systemClock } from './clock.ts'
import type { DryRun } from './dry-run.ts'
import { localError } from './error.ts'
import type { Link } from './exchange.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import type { Payment } from './payment.ts'
import { readPrice, type Price } from './price.ts'
import { createReceiptChain, type ReceiptChain } from './receipt-chain.ts'
import { createFacts } from './service-facts.ts'
import type { ToolId, ToolInputs, ToolOutputs } from './tools.ts'
import type { Verification } from './proof.ts'

/** A plain object; `undefined` in it is refused, since JSON has no such value. */
type Input = object

/** A client of one service. All methods reject with `AssayError` and nothing else. */
export interface AssayClient {
  /**
   * Calls a tool. The free call of the day is used while there is one; then the terms of the 402 are checked, the price is held against both
   * caps, one transfer is signed, and the call is sent with it until its end is known. Resolves only with an answer whose receipt has been
   * verified.
   */
  call<Id extends ToolId>(tool: Id, input: ToolInputs[Id], options?: CallOptions): Promise<Answer<ToolOutputs[Id]>>
  /** The same for a tool that this version of the library has no types of. */
  callUntyped(tool: string, input: Input, options?: CallOptions): Promise<Answer>
  /** What a call costs now, from the price list: the input stays here. */
  price<Id extends ToolId>(tool: Id, input: ToolInputs[Id]): Promise<Price>
  /** What would become of a call: free, paid for how much, or refused and why. Sends the input; signs, takes and runs nothing. */
  dryRun<Id extends ToolId>(tool: Id, input: ToolInputs[Id], options?: CallOptions): Promise<DryRun>
  dryRunUntyped(tool: string, input: Input, options?: CallOptions): Promise<DryRun>
  /** The free calls that are left today, for one tool or, unless it is named, in common. Takes none. Null where there is no limit. */
  allowance(tool?: ToolId): Promise<Allowance | null>
  /** Caps, what was signed and what is left; null without a signer. */
  spending(): Spending | null
  /** Verifies an answer once more, against the keys as they are now: for answers that were kept. Never rejects for what the answer holds. */
  verify(answer: Answer<object>, input: Input): Promise<Verification>
  /** Sends a payment again that an error carried. It signs nothing, and brings the answer that was paid for, or the word that none was. */
  resume(payment: Payment, options?: Pick<CallOptions, 'signal'>): Promise<Answer>
  /** The receipts of this client; calls that name a receipt of their own to follow stand outside. */
  readonly chain: ReceiptChain
}

const REQUEST_MS = 30_000
const PATIENCE_MS = 90_000

/** Opens nothing and asks nothing: the first call does. Throws BAD_OPTIONS. */
export function createClient(options: ClientOptions): AssayClient {
  const { signer, spend_cap } = options
  if ((signer === undefined) !== (spend_cap === undefined))
    throw localError('BAD_OPTIONS', 'signer and spend_cap come together, or not at all.')
  if (signer !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(signer.address))
    throw localError('BAD_OPTIONS', 'signer.address must be an address: of a wallet client of viem, take its account.')
  const link = linkOf(options)
  const chain = createReceiptChain(options.previous_receipt === undefined ? null : receiptHashOf(options.previous_receipt))
  const budget = spend_cap === undefined ? null : createBudget(spend_cap)
  const wallet = signer === undefined || budget === null ? null : { signer, budget }
  const caller = createCaller({ link, facts: createFacts(link, options), wallet, chain })
  const callUntyped = async (tool: string, input: Input, call: CallOptions = {}) => caller.call(prepare(tool, input, call, chain), call)
  const dryRunUntyped = async (tool: string, input: Input, call: CallOptions = {}) => caller.dryRun(prepare(tool, input, call, chain), call)
  return {
    // The published types are those of the registry; the answer is proved to be the service's, and the service keeps its schemas.
    call: callUntyped,
    callUntyped,
    price: async (tool, input) => readPrice(link, idOf(tool), input),
    dryRun: dryRunUntyped,
    dryRunUntyped,
    allowance: async (tool = 'iban-check') => caller.allowance(idOf(tool)),
    spending: () => budget?.spending() ?? null,
    verify: async (answer, input) => caller.verify(answer, hashOf(textOf(input))),
    resume: async (payment, { signal } = {}) => caller.resume(payment, signal ?? null),
    chain,
  }
}

function linkOf({ url, fetch: given, request_ms = REQUEST_MS, patience_ms = PATIENCE_MS, clock = systemClock }: ClientOptions): Link {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw localError('BAD_OPTIONS', 'url must be the http or https address of a service, such as https://assay.example.')
  }
  // Looked up for each request, so that a platform's fetch may be replaced, and keeps its own `this`.
  const platform: Link['fetch'] = (address, init) => globalThis.fetch(address, init)
  return { url: parsed.href.replace(/\/+$/, ''), fetch: given ?? platform, request_ms, patience_ms, clock }
}

/** Fixes the call: whatever becomes of the objects that were handed in, this text is what is sent, hashed and paid for. */
function prepare(tool: string, input: Input, { previous_receipt }: CallOptions, chain: ReceiptChain): Prepared {
  const input_text = textOf(input)
  const outside = previous_receipt !== undefined
  const previous = outside ? (previous_receipt === null ? null : receiptHashOf(previous_receipt)) : chain.head
  return { tool: idOf(tool), input_text, input_hash: hashOf(input_text), previous_receipt: previous, outside }
}

function idOf(tool: string): string {
  const id = typeof tool === 'string' ? tool.replaceAll('_', '-') : ''
  if (!/^[a-z0-9-]{1,64}$/.test(id)) throw localError('BAD_OPTIONS', 'A tool is named by lower-case letters, digits and hyphens.')
  return id
}

function textOf(input: Input): string {
  try {
    return canonicalText(input)
  } catch (cause) {
    throw localError('INPUT_NOT_JSON', cause instanceof CanonicalError ? cause.message : 'The input is not JSON.', { cause })
  }
}

function hashOf(text: string): string {
  return nobleCrypto.keccak256Hex(text)
}

function receiptHashOf(text: string): string {
  const hash = typeof text === 'string' ? readReceiptHash(text) : null
  if (hash === null) throw localError('BAD_OPTIONS', 'previous_receipt must be 0x and 64 hexadecimal digits.')
  return hash
}
