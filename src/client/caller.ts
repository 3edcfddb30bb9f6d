import { isObject } from '../pure/is-object.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { readAnswer, type Allowance, type Answer, type AnswerBody } from './answer.ts'
import { capOf, type Budget } from './budget.ts'
import { bodyOf, callHeaders, callPath, deliver, problemError, retryAfterMs } from './deliver.ts'
import { probe, type DryRun } from './dry-run.ts'
import { AssayError, localError } from './error.ts'
import { getJson, send, type Link, type Reply } from './exchange.ts'
import { usdcOf } from './money.ts'
import type { CallOptions, Signer } from './options.ts'
import type { Payment } from './payment.ts'
import type { Verification } from './proof.ts'
import type { ChainEntry, ReceiptChain } from './receipt-chain.ts'
import type { Facts, ServiceFacts } from './service-facts.ts'
import { signPayment } from './sign.ts'
import { readTerms, type Terms } from './terms.ts'
import { verifyAnswer, type Sending } from './verification.ts'

/** A call as it will be sent. */
export interface Prepared {
  tool: string
  input_text: string
  input_hash: string
  previous_receipt: string | null
  /** It names the receipt that it follows itself, and so is no part of the client's own chain. */
  outside: boolean
}

interface Parts {
  link: Link
  facts: Facts
  /** Null where nothing can be paid. */
  wallet: { signer: Signer; budget: Budget } | null
  chain: ReceiptChain & { add(entry: ChainEntry): void }
}

/** Times that an unpaid call is sent which the service asks to send again. */
const UNPAID_REQUESTS_MAX = 3
const UNPAID_WAIT_MS_MAX = 5_000

/** Everything that a client does over the network. */
export function createCaller(parts: Parts) {
  const { link, facts, wallet } = parts
  return {
    async call(prepared: Prepared, { signal, max_usdc }: CallOptions): Promise<Answer> {
      const own_cap = max_usdc === undefined ? null : capOf(max_usdc, 'max_usdc')
      // Before anything is used up: without keys no answer could be believed.
      const known = await facts.read()
      const reply = await sendUnpaid(link, prepared, signal ?? null)
      if (reply.status === 200) return accept(parts, prepared, answerIn(reply), null)
      if (reply.status !== 402 || wallet === null) throw refusal(reply)
      const terms = readTerms(reply.header('payment-required'), expected(prepared.tool, known, wallet.signer))
      const payment = await pay(parts, terms, prepared, own_cap)
      return accept(parts, prepared, await deliver(link, payment, signal ?? null), payment)
    },

    async resume(payment: Payment, signal: AbortSignal | null): Promise<Answer> {
      const { tool, input_text, previous_receipt } = checkedPayment(payment)
      const input_hash = nobleCrypto.keccak256Hex(input_text)
      const prepared = { tool, input_text, input_hash, previous_receipt, outside: !continues(parts.chain, previous_receipt) }
      await facts.read()
      return accept(parts, prepared, await deliver(link, payment, signal), payment)
    },

    async dryRun(prepared: Prepared, { signal, max_usdc }: CallOptions): Promise<DryRun> {
      const own_cap = max_usdc === undefined ? null : capOf(max_usdc, 'max_usdc')
      const known = await facts.read()
      const { reply, allowance } = await probe(link, prepared.tool, prepared.input_text, signal ?? null)
      return foreseen(parts, { prepared, known, own_cap, reply, allowance })
    },

    /** Asked with the tool's own example, since a service says it only where the input fits. */
    async allowance(tool: string): Promise<Allowance | null> {
      const document = await getJson(link, `/v1/tools/${tool}`)
      const example = isObject(document) && isObject(document['example']) ? document['example']['input'] : undefined
      if (!isObject(example)) throw localError('BAD_RESPONSE', 'The catalogue holds no example of this tool.')
      return (await probe(link, tool, JSON.stringify(example), null)).allowance
    },

    async verify(answer: Answer<object>, input_hash: string): Promise<Verification> {
      const { tool, payment, chain } = answer
      const previous_receipt = chain?.prev_receipt_hash ?? null
      // A key may have been revoked since the answer came.
      return verifyAnswer(answer, { tool, input_hash, previous_receipt, payment }, await facts.keysNow())
    },
  }
}

/** Sends a call that nothing was signed for. What the service could not serve, and did not count, is asked again a few times. */
async function sendUnpaid(link: Link, { tool, input_text, previous_receipt }: Prepared, signal: AbortSignal | null): Promise<Reply> {
  const asking = { method: 'POST', path: callPath(tool), headers: callHeaders(previous_receipt), body: bodyOf(input_text), signal } as const
  for (let sent = 1; ; sent++) {
    const reply = await send(link, asking)
    if (signal?.aborted === true) throw localError('ABORTED', 'The caller ended the call. Nothing was signed.')
    if (reply.kind === 'lost') {
      // Not sent again: what the tool did is not known, and not every tool may do it twice.
      const detail = `The service gave no answer: ${reply.reason}. Nothing was signed.`
      throw localError('NETWORK_ERROR', detail, { retryable: true, cause: reply.cause })
    }
    if (reply.kind === 'redirected') throw localError('REDIRECTED', 'The service answers with a redirect, which is not followed.')
    const wait_ms = retryAfterMs(reply) ?? UNPAID_WAIT_MS_MAX
    const passing = reply.status === 503 && problemError(reply, null)?.retryable === true
    if (!passing || sent === UNPAID_REQUESTS_MAX || wait_ms > UNPAID_WAIT_MS_MAX) return reply
    await link.clock.wait(wait_ms, signal)
  }
}

function answerIn(reply: Reply): AnswerBody {
  const body = readAnswer(reply.body)
  if (body === null) throw localError('BAD_RESPONSE', 'The answer is not one of this service.', { status: reply.status })
  return body
}

function refusal(reply: Reply): AssayError {
  const { status } = reply
  return (
    problemError(reply, null) ??
    localError('BAD_RESPONSE', `Status ${status} came from something that is not this service.`, { status, retryable: status >= 500 })
  )
}

function expected(tool: string, { chain_id, pay_to }: ServiceFacts, signer: Signer | null) {
  return { tool, chain_id, pay_to, payer: signer?.address.toLowerCase() ?? null }
}

/** Takes the price from the budget, then has it signed: in this order no two calls can share what is left. */
async function pay({ link, wallet }: Parts, terms: Terms, prepared: Prepared, own_cap: bigint | null): Promise<Payment> {
  if (wallet === null) throw localError('BAD_OPTIONS', 'There is no signer to pay with.')
  const { tool, input_text, previous_receipt } = prepared
  wallet.budget.take(terms.amount_minor, own_cap)
  try {
    return await signPayment(wallet.signer, terms, { tool, input_text, previous_receipt }, link.clock.now_ms())
  } catch (error) {
    wallet.budget.giveBack(terms.amount_minor)
    throw error
  }
}

/** Turns what came into an answer, or throws RECEIPT_INVALID with it. */
async function accept({ facts, chain }: Parts, prepared: Prepared, body: AnswerBody, payment: Payment | null): Promise<Answer> {
  const { tool, input_hash, previous_receipt, outside } = prepared
  const sent: Sending = { tool, input_hash, previous_receipt, payment }
  const verification = verifyAnswer(body, sent, await keysOrThrow(facts, body, payment))
  const receipt_hash = verification.receipt.digest ?? ''
  const answer: Answer = { ...body, tool, input_hash, receipt_hash, payment, verification }
  const fault = verification.checks.find(({ ok }) => !ok)
  if (fault !== undefined) {
    const charged = payment === null ? false : 'unknown'
    throw localError('RECEIPT_INVALID', fault.words, { status: 200, charged, payment, answer })
  }
  if (!outside) chain.add({ receipt: body.receipt, receipt_hash, link: body.chain })
  return answer
}

async function keysOrThrow(facts: Facts, { receipt }: AnswerBody, payment: Payment | null) {
  try {
    return await facts.keysFor(receipt.signer)
  } catch (cause) {
    const charged = payment === null ? false : 'unknown'
    const detail = 'The answer is signed by a new key, and the list of keys cannot be read now.'
    throw localError('KEYS_UNAVAILABLE', detail, { retryable: true, charged, payment, cause })
  }
}

interface Foresight {
  prepared: Prepared
  known: ServiceFacts
  own_cap: bigint | null
  reply: Reply
  allowance: Allowance | null
}

/** What the answer to a probe says of the call. */
function foreseen({ wallet }: Parts, { prepared, known, own_cap, reply, allowance }: Foresight): DryRun {
  const { tool, input_hash } = prepared
  const nothing = { amount_minor: null, amount_usdc: null, network: null, pay_to: null }
  const base = { tool, input_hash, allowance, ...nothing }
  const refuse = ({ code, detail }: AssayError) => ({ outcome: 'refuse' as const, reason: { code, detail } })
  const free = { outcome: 'free' as const, reason: null }
  if (reply.status === 200) return { ...base, ...free, amount_minor: 0n, amount_usdc: '0' }
  const error = refusal(reply)
  // Nothing can be paid there; whether free calls are left only a call would tell.
  if (reply.status !== 402) return { ...base, ...(error.code === 'SETTLEMENT_NOT_CONFIGURED' ? free : refuse(error)) }
  const has_free = allowance !== null && allowance.remaining > 0
  try {
    const terms = readTerms(reply.header('payment-required'), expected(tool, known, wallet?.signer ?? null))
    const { amount_minor, chain_id, pay_to } = terms
    const asked = { ...base, amount_minor, amount_usdc: usdcOf(amount_minor), network: `eip155:${chain_id}`, pay_to }
    if (has_free) return { ...asked, ...free }
    if (wallet === null)
      return { ...asked, ...refuse(new AssayError('PAYMENT_REQUIRED', 'The call has to be paid, and there is no signer.')) }
    const objection = wallet.budget.objection(amount_minor, own_cap)
    return objection === null ? { ...asked, outcome: 'pay', reason: null } : { ...asked, ...refuse(objection) }
  } catch (found) {
    if (!(found instanceof AssayError)) throw found
    return has_free ? { ...base, ...free } : { ...base, ...refuse(found) }
  }
}

/** Whether a receipt that follows this one belongs to the chain of the client: a resumed payment may come from another. */
function continues(chain: ReceiptChain, previous: string | null): boolean {
  return previous === chain.start || chain.entries.some(({ receipt_hash }) => receipt_hash === previous)
}

/** A payment may come from a file: only the parts that are sent and compared are looked at. */
function checkedPayment(payment: Payment): Payment {
  // What a file holds may be anything.
  const { v, tool, input_text, previous_receipt, payer, nonce, header }: Payment = { ...payment }
  const whole =
    v === 1 &&
    (previous_receipt === null || /^0x[0-9a-f]{64}$/.test(previous_receipt)) &&
    /^[a-z0-9-]{1,64}$/.test(tool) &&
    typeof input_text === 'string' &&
    /^0x[0-9a-f]{40}$/.test(payer) &&
    /^0x[0-9a-f]{64}$/.test(nonce) &&
    /^[A-Za-z0-9+/=]+$/.test(header)
  if (!whole) throw localError('BAD_OPTIONS', 'This is no payment that this library has made.')
  return payment
}
