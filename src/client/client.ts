import { CanonicalError, canonicalText } from '../pure/receipts/canonical.ts'
import { readReceiptHash } from '../pure/receipts/chain.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import {
  type Allowance,
  type Answer,
  type AnswerForm,
  type Payment,
  type Verification,
  localError,
  type AnswerBody,
  BRIEF,
  type BriefAnswer,
  type BriefBody,
  AssayError,
  WHOLE,
} from './answer.ts'
import { type Spending, type Price, readPrice, capOf, readPaymentRequired, Wallet } from './payment.ts'
import type { CallOptions, ClientOptions, Detail } from './options.ts'
import { answerPath, type DryRun, Exchange, type ServiceReply, refusal } from './exchange.ts'
import { createReceiptChain, type ReceiptChain, createFacts, type ChainEntry, verifyAnswer, type ServiceFacts } from './verification.ts'
import type { ToolId, ToolInputs, ToolOutputs } from './tools.ts'
import { isObject } from '../pure/is-object.ts'

/** Plain object; a member with the value `undefined` is refused, because JSON cannot represent it. */
type Input = object

/** Answer at a level of detail. */
type AnswerAt<D extends Detail, Id extends string, Whole> = D extends 'brief' ? BriefAnswer<Id> : Whole

/** Client of one service; `D` is its usual level of detail. All methods reject only with `AssayError`. */
export interface AssayClient<D extends Detail = 'standard'> {
  /**
   * Calls a tool. Uses a free call while there is one; otherwise checks the payment terms and both caps, signs one transfer and sends the
   * call with it until the outcome is known. Resolves only with a verified answer, or with a brief one.
   */
  call<Id extends ToolId, E extends Detail = D>(
    tool: Id,
    input: ToolInputs[Id],
    options?: CallOptions<E>,
  ): Promise<AnswerAt<E, Id, Answer<ToolOutputs[Id]>>>
  /** Calls a tool for which this version of the library has no types. */
  callUntyped<E extends Detail = D>(tool: string, input: Input, options?: CallOptions<E>): Promise<AnswerAt<E, string, Answer>>
  /**
   * Fetches the whole answer of a brief one and verifies it: its receipt as for every call, and that result and receipt are those that the
   * brief answer named. Uses no free call and signs nothing. Throws NOT_STORED where there is no whole answer.
   */
  whole<Id extends ToolId>(brief: BriefAnswer<Id>, options?: Pick<CallOptions, 'signal'>): Promise<Answer<ToolOutputs[Id]>>
  whole(brief: BriefAnswer, options?: Pick<CallOptions, 'signal'>): Promise<Answer>
  /** Current price of a call from the price list; the input is not sent. */
  price<Id extends ToolId>(tool: Id, input: ToolInputs[Id]): Promise<Price>
  /** Predicts a call: free, paid or refused, with the reason. Sends the input, but signs nothing, uses no free call and runs no tool. */
  dryRun<Id extends ToolId>(tool: Id, input: ToolInputs[Id], options?: CallOptions): Promise<DryRun>
  dryRunUntyped(tool: string, input: Input, options?: CallOptions): Promise<DryRun>
  /** Free calls that are left today, for one tool or for all that share the allowance. Uses none. Null if there is no limit. */
  allowance(tool?: ToolId): Promise<Allowance | null>
  /** Caps, signed total and rest; null without a signer. */
  spending(): Spending | null
  /** Verifies a stored answer again with the current keys. Never rejects because of the content of the answer. */
  verify(answer: Answer<object>, input: Input): Promise<Verification>
  /** Sends the payment of an error again, without signing. Resolves with the whole paid answer, or rejects if the payment failed. */
  resume(payment: Payment, options?: Pick<CallOptions, 'signal'>): Promise<Answer>
  /** Receipts of this client; calls with an explicit `previous_receipt` are not part of the chain. */
  readonly chain: ReceiptChain
}

/** Creates a client without any request. Throws BAD_OPTIONS. */
export function createClient<D extends Detail = 'standard'>(options: ClientOptions<D>): AssayClient<D> {
  const { signer, spend_cap, detail: usual } = options
  isBrief(usual)
  if ((signer === undefined) !== (spend_cap === undefined))
    throw localError('BAD_OPTIONS', 'signer and spend_cap come together, or not at all.')
  if (signer !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(signer.address))
    throw localError('BAD_OPTIONS', 'signer.address must be an address: of a wallet client of viem, take its account.')
  const exchange = new Exchange(options)
  const chain = createReceiptChain(options.previous_receipt === undefined ? null : receiptHashOf(options.previous_receipt))
  const wallet = signer === undefined || spend_cap === undefined ? null : new Wallet(signer, spend_cap)
  const caller = createCaller({ exchange, facts: createFacts(exchange, options), wallet, chain })
  const callUntyped = async (tool: string, input: Input, call: CallOptions = {}): Promise<Answer | BriefAnswer> => {
    const prepared = prepare(tool, input, call, chain)
    return isBrief(call.detail ?? usual) ? caller.callBriefly(prepared, call) : caller.call(prepared, call)
  }
  const dryRunUntyped = async (tool: string, input: Input, call: CallOptions = {}) => caller.dryRun(prepare(tool, input, call, chain), call)
  return {
    // The published types come from the registry; the receipt proves that the service sent the answer, and the service validates its
    // results.
    call: callUntyped as AssayClient<D>['call'],
    callUntyped: callUntyped as AssayClient<D>['callUntyped'],
    whole: async (brief: BriefAnswer, { signal }: Pick<CallOptions, 'signal'> = {}) => caller.whole(checkedBrief(brief), signal ?? null),
    price: async (tool, input) => readPrice(exchange, idOf(tool), input),
    dryRun: dryRunUntyped,
    dryRunUntyped,
    allowance: async (tool = 'iban-check') => caller.allowance(idOf(tool)),
    spending: () => wallet?.spending() ?? null,
    verify: async (answer, input) => caller.verify(answer, hashOf(textOf(input))),
    resume: async (payment, { signal } = {}) => caller.resume(payment, signal ?? null),
    chain,
  }
}

/** Throws BAD_OPTIONS for a level that does not exist. */
function isBrief(detail: unknown): boolean {
  if (detail === undefined || detail === 'standard' || detail === 'full') return false
  if (detail === 'brief') return true
  throw localError('BAD_OPTIONS', 'detail must be "brief", "standard" or "full".')
}

/** Serializes the call: this text is sent, hashed and paid for, even if the passed objects change later. */
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

/** Call that an answer belongs to. */
interface AnsweredCall {
  tool: string
  input_hash: string
  previous_receipt: string | null
  /** It names its previous receipt explicitly, so it is not part of the client's chain. */
  outside: boolean
  /** Brief form of the answer, which names hashes of the whole one. */
  brief?: BriefBody
}

/** Serialized call. */
interface Prepared extends AnsweredCall {
  input_text: string
}

interface Parts {
  exchange: Exchange
  facts: ReturnType<typeof createFacts>
  /** Null if the client cannot pay. */
  wallet: Wallet | null
  chain: ReceiptChain & { add(entry: ChainEntry): void }
}

/** Network operations of a client. */
function createCaller(parts: Parts) {
  const { exchange, facts } = parts
  return {
    async call(prepared: Prepared, options: CallOptions): Promise<Answer> {
      const { body, payment } = await send(parts, prepared, options, WHOLE)
      return verifiedAnswer(parts, prepared, body, payment)
    },

    async callBriefly(prepared: Prepared, options: CallOptions): Promise<BriefAnswer> {
      const { body, payment } = await send(parts, prepared, options, BRIEF)
      return briefAnswer(prepared, body, payment)
    },

    async whole(brief: BriefAnswer, signal: AbortSignal | null): Promise<Answer> {
      const { tool, input_hash, previous_receipt, payment, answer_url } = brief
      const path = answerPath(answer_url)
      if (path === null) throw localError('NOT_STORED', 'The whole answer is not stored. Call with detail "standard" instead.')
      await facts.read()
      const reply = await exchange.get(path, signal)
      if (reply.status !== 200) throw refusal(reply)
      const outside = !continues(parts.chain, previous_receipt)
      return verifiedAnswer(parts, { tool, input_hash, previous_receipt, outside, brief }, answerIn(reply, WHOLE), payment)
    },

    async resume(payment: Payment, signal: AbortSignal | null): Promise<Answer> {
      const { tool, input_text, previous_receipt } = checkedPayment(payment)
      const input_hash = nobleCrypto.keccak256Hex(input_text)
      const prepared = { tool, input_text, input_hash, previous_receipt, outside: !continues(parts.chain, previous_receipt) }
      await facts.read()
      return verifiedAnswer(parts, prepared, await exchange.deliver(payment, signal, WHOLE), payment)
    },

    async dryRun(prepared: Prepared, { signal, max_usdc }: CallOptions): Promise<DryRun> {
      const own_cap = max_usdc === undefined ? null : capOf(max_usdc, 'max_usdc')
      const known = await facts.read()
      const { reply, allowance } = await exchange.probe(prepared.tool, prepared.input_text, signal ?? null)
      return predict(parts, { prepared, known, own_cap, reply, allowance })
    },

    /** Uses the example of the tool, because the service reports the allowance only for a valid input. */
    async allowance(tool: string): Promise<Allowance | null> {
      const document = await exchange.json(`/v1/tools/${tool}`)
      const example = isObject(document) && isObject(document['example']) ? document['example']['input'] : undefined
      if (!isObject(example)) throw localError('BAD_RESPONSE', 'The catalogue holds no example of this tool.')
      return (await exchange.probe(tool, JSON.stringify(example), null)).allowance
    },

    async verify(answer: Answer<object>, input_hash: string): Promise<Verification> {
      const { tool, payment, chain } = answer
      const previous_receipt = chain?.prev_receipt_hash ?? null
      // A key may have been revoked since the answer was received.
      return verifyAnswer(answer, { tool, input_hash, previous_receipt, payment }, await facts.keysNow())
    },
  }
}

/** Sends a call, and pays for it if it has to be paid. Returns the body before verification. */
async function send<Body>(
  parts: Parts,
  prepared: Prepared,
  { signal, max_usdc }: CallOptions,
  form: AnswerForm<Body>,
): Promise<{ body: Body; payment: Payment | null }> {
  const { exchange, facts, wallet } = parts
  const own_cap = max_usdc === undefined ? null : capOf(max_usdc, 'max_usdc')
  // Keys are read first, because without them no answer could be verified.
  const known = await facts.read()
  const reply = await exchange.unpaid(prepared, signal ?? null, form)
  if (reply.status === 200) return { body: answerIn(reply, form), payment: null }
  if (reply.status !== 402 || wallet === null) throw refusal(reply)
  const terms = readPaymentRequired(reply.header('payment-required'), expected(prepared.tool, known, wallet))
  const { tool, input_text, previous_receipt } = prepared
  const payment = await wallet.pay(terms, { tool, input_text, previous_receipt }, own_cap, exchange.clock.now_ms())
  return { body: await exchange.deliver(payment, signal ?? null, form), payment }
}

function answerIn<Body>(reply: ServiceReply, form: AnswerForm<Body>): Body {
  const body = form.read(reply.body)
  if (body === null) throw localError('BAD_RESPONSE', 'The answer is not one of this service.', { status: reply.status })
  return body
}

function expected(tool: string, { pay_on, pay_to }: ServiceFacts, wallet: Wallet | null) {
  return { tool, pay_on, pay_to, payer: wallet?.payer ?? null }
}

/** Verifies a received answer; throws RECEIPT_INVALID with the answer if verification fails. */
async function verifiedAnswer({ facts, chain }: Parts, call: AnsweredCall, body: AnswerBody, payment: Payment | null): Promise<Answer> {
  const { tool, input_hash, previous_receipt, outside, brief } = call
  const sent = { tool, input_hash, previous_receipt, payment }
  const verification = verifyAnswer(body, sent, await keysOrThrow(facts, body, payment))
  const receipt_hash = verification.receipt.digest ?? ''
  const answer: Answer = { ...body, tool, input_hash, receipt_hash, payment, verification }
  const same = brief === undefined || (brief.receipt_digest === receipt_hash && brief.output_hash === body.receipt.output_hash)
  const fault =
    verification.checks.find(({ ok }) => !ok)?.words ?? (same ? undefined : 'The brief answer named the hashes of another answer.')
  if (fault !== undefined) {
    const charged = payment === null ? false : 'unknown'
    throw localError('RECEIPT_INVALID', fault, { status: 200, charged, payment, answer })
  }
  if (!outside) chain.add({ receipt: body.receipt, receipt_hash, link: body.chain })
  return answer
}

/** Compares what a brief answer states with the call and its payment; its receipt is verified when the whole answer is fetched. */
function briefAnswer({ tool, input_hash, previous_receipt }: Prepared, body: BriefBody, payment: Payment | null): BriefAnswer {
  const { tier, amount_minor } = body.price
  const priced = payment === null ? tier === 'free' && amount_minor === '0' : tier === 'paid' && amount_minor === payment.amount_minor
  if (body.tool === tool && priced) return { ...body, input_hash, previous_receipt, payment }
  const charged = payment === null ? false : 'unknown'
  throw localError('BAD_RESPONSE', 'The brief answer names another tool or price.', { status: 200, charged, payment })
}

async function keysOrThrow(facts: Parts['facts'], { receipt }: AnswerBody, payment: Payment | null) {
  try {
    return await facts.keysFor(receipt.signer)
  } catch (cause) {
    const charged = payment === null ? false : 'unknown'
    const detail = 'The answer is signed by a new key, and the list of keys cannot be read now.'
    throw localError('KEYS_UNAVAILABLE', detail, { retryable: true, charged, payment, cause })
  }
}

interface PredictionInput {
  prepared: Prepared
  known: ServiceFacts
  own_cap: bigint | null
  reply: ServiceReply
  allowance: Allowance | null
}

/** Interprets the response to a probe. */
function predict({ wallet }: Parts, { prepared, known, own_cap, reply, allowance }: PredictionInput): DryRun {
  const { tool, input_hash } = prepared
  const nothing = { amount_minor: null, amount_usdc: null, network: null, pay_to: null }
  const base = { tool, input_hash, allowance, ...nothing }
  const refuse = ({ code, detail }: AssayError) => ({ outcome: 'refuse' as const, reason: { code, detail } })
  const free = { outcome: 'free' as const, reason: null }
  if (reply.status === 200) return { ...base, ...free, amount_minor: 0n, amount_usdc: '0' }
  const error = refusal(reply)
  // Payments are not possible there; only a call would show if free calls are left.
  if (reply.status !== 402) return { ...base, ...(error.code === 'SETTLEMENT_NOT_CONFIGURED' ? free : refuse(error)) }
  const has_free = allowance !== null && allowance.remaining > 0
  try {
    const terms = readPaymentRequired(reply.header('payment-required'), expected(tool, known, wallet))
    const { amount_minor, amount_usdc, chain_id, pay_to } = terms
    const asked = { ...base, amount_minor, amount_usdc, network: `eip155:${chain_id}`, pay_to }
    if (has_free) return { ...asked, ...free }
    if (wallet === null)
      return { ...asked, ...refuse(new AssayError('PAYMENT_REQUIRED', 'The call has to be paid, and there is no signer.')) }
    const objection = wallet.objection(amount_minor, own_cap)
    return objection === null ? { ...asked, outcome: 'pay', reason: null } : { ...asked, ...refuse(objection) }
  } catch (found) {
    if (!(found instanceof AssayError)) throw found
    return has_free ? { ...base, ...free } : { ...base, ...refuse(found) }
  }
}

/** True if the next receipt belongs to the chain of this client; a resumed payment may come from another client. */
function continues(chain: ReceiptChain, previous: string | null): boolean {
  return previous === chain.start || chain.entries.some(({ receipt_hash }) => receipt_hash === previous)
}

/** Validates a stored brief answer: only the members that are sent and compared. */
function checkedBrief(brief: BriefAnswer): BriefAnswer {
  // A file may contain anything.
  const { input_hash, previous_receipt, payment }: BriefAnswer = { ...brief }
  const hashes = [input_hash, previous_receipt ?? input_hash].every((hash) => /^0x[0-9a-f]{64}$/.test(hash))
  if (BRIEF.read(brief) === null || !hashes) throw localError('BAD_OPTIONS', 'The brief answer was not made by this library.')
  return { ...brief, payment: payment && checkedPayment(payment) }
}

/** Validates a stored payment: only the members that are sent and compared. */
function checkedPayment(payment: Payment): Payment {
  // A file may contain anything.
  const { v, tool, input_text, previous_receipt, payer, nonce, header }: Payment = { ...payment }
  const whole =
    v === 1 &&
    (previous_receipt === null || /^0x[0-9a-f]{64}$/.test(previous_receipt)) &&
    /^[a-z0-9-]{1,64}$/.test(tool) &&
    typeof input_text === 'string' &&
    /^0x[0-9a-f]{40}$/.test(payer) &&
    /^0x[0-9a-f]{64}$/.test(nonce) &&
    /^[A-Za-z0-9+/=]+$/.test(header)
  if (!whole) throw localError('BAD_OPTIONS', 'The payment was not made by this library.')
  return payment
}
