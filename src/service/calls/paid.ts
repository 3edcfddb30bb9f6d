import { quotaClient } from '../clients.ts'
import type { Tool } from '../catalogue/define.ts'
import type { CreditUseKey } from '../../ports/credits.ts'
import type { CreditDesk } from '../credits/desk.ts'
import type { CreditGiven } from '../credits/given.ts'
import type { BoundRequest, Claim, PaymentDesk, PaymentEnd } from '../payments/desk.ts'
import { type CallPrice, marketOf, priceOf } from '../payments/price.ts'
import type { PriceBook } from '../payments/price-book.ts'
import { problem } from '../problems.ts'
import type { Admission, ReadCall } from './asked.ts'
import { type Allowance, allowanceShown } from '../payments/allowance.ts'
import type { AcceptableTerms } from '../payments/match-terms.ts'
import { readPayment, type X402Payment } from '../payments/payment-header.ts'
import * as refusals from '../payments/payment-refusals.ts'
import { NO_SECRETS, type ResendSecrets } from '../payments/resends.ts'
import type { PaymentPlace } from '../payments/terms.ts'
import type { CallRequest, Outcome } from './outcome.ts'

/** Where credits are debited, and how much a call costs one. */
interface Credits {
  desk: CreditDesk
  prices: PriceBook
}

/** A credit whose code and key have the right form. */
interface CarriedCredit {
  kind: 'credit'
  key: CreditUseKey
  credits: Credits
}

/** Reads the credit of a request; one of the wrong form ends the call, even while free calls remain. */
async function readCredit(
  credits: Credits | null,
  { address }: ReadCall,
  given: CreditGiven,
): Promise<CarriedCredit | { kind: 'refused'; end: PaymentEnd }> {
  if (credits === null) return { kind: 'refused', end: notKept() }
  const read = await credits.desk.read(given, quotaClient(address))
  return read.ok ? { kind: 'credit', key: read.key, credits } : { kind: 'refused', end: read.end }
}

function notKept(): PaymentEnd {
  const found = problem('NOT_CONFIGURED', 'Prepaid credits are not kept here. The credit was left untouched.')
  return { kind: 'refused', problem: found, x402_reason: null }
}

function replayCredit({ key, credits }: CarriedCredit, request: BoundRequest): Promise<PaymentEnd | null> {
  return credits.desk.replay(request, key)
}

/** Reserves the price of now: nobody has quoted another to a credit. */
async function admitCredit(
  { key, credits }: CarriedCredit,
  tool: Tool,
  input: Record<string, unknown> | null,
  request: BoundRequest,
): Promise<{ kind: 'claimed'; claim: Claim } | PaymentEnd> {
  if (marketOf(tool.price) === null) throw new Error('a credit came as far as its debit where nothing is to be paid')
  const { amount_minor } = priceOf(tool.price, input, await credits.prices.prices())
  return credits.desk.admit(request, key, amount_minor)
}

/** What a call needs to be paid. */
export interface PaidDeps {
  allowance: Allowance
  /** Null where nothing settles payments. */
  payments: Payments | null
  /** Left out where no credits are kept. */
  credits?: Credits
  /** Told of accidents, so that they are seen; never of inputs. */
  onFault(error: unknown, tool: string): void
}

/** Where payments are taken, for how much, by whom and in what. */
export interface Payments {
  desk: PaymentDesk
  prices: PriceBook
  place: PaymentPlace
}

/** The payment, or the prepaid credit, that a request carries, if any. */
export type RequestPayment =
  | { kind: 'none' }
  | { kind: 'payment'; payment: X402Payment; secrets: ResendSecrets; desk: PaymentDesk }
  | CarriedCredit
  | Ended

interface Ended {
  kind: 'ended'
  outcome: Outcome
}

/** What the call costs, and which amounts pay for it; null where it costs nothing or nothing can be paid. Rejects while the store is down. */
export async function quote(deps: PaidDeps, tool: Tool, input: Record<string, unknown> | null): Promise<CallPrice | null> {
  return tool.price === 'free' || deps.payments === null ? null : priceOf(tool.price, input, await deps.payments.prices.prices())
}

/** Reads the payment of a request. One that cannot be read ends the call, even while free calls remain. A free tool takes none. */
export async function readRequestPayment(
  deps: PaidDeps,
  asked: ReadCall,
  { payments, credit, secrets = NO_SECRETS }: CallRequest,
): Promise<RequestPayment> {
  const [given, second] = payments
  if (asked.tool.price === 'free' || (given === undefined && credit === null)) return { kind: 'none' }
  if (given === undefined) return readRequestCredit(deps, asked, credit)
  if (deps.payments === null) return ended(await paymentEnd(deps, asked, { kind: 'refused', ...refusals.notConfigured() }))
  if (second !== undefined || credit !== null) return ended(await paymentEnd(deps, asked, { kind: 'refused', ...refusals.twoPayments() }))
  const read = readPayment(given)
  if (read.ok) return { kind: 'payment', payment: read.payment, secrets, desk: deps.payments.desk }
  const { code, detail, x402_reason } = read
  return ended(await paymentEnd(deps, asked, { kind: 'refused', ...refusals.payers(code, detail, x402_reason) }))
}

async function readRequestCredit(deps: PaidDeps, asked: ReadCall, credit: CallRequest['credit']): Promise<RequestPayment> {
  if (credit === null) return { kind: 'none' }
  let carried: CarriedCredit | null = null
  const outcome = await guarded(deps, asked, 'unknown', async () => {
    const read = await readCredit(deps.credits ?? null, asked, credit)
    if (read.kind === 'refused') return paymentEnd(deps, asked, read.end)
    carried = read
    return null
  })
  return carried ?? ended(outcome ?? { kind: 'refused', tool: asked.tool.id, problem: refusals.storeDown('unknown').problem })
}

type Carried = Extract<RequestPayment, { kind: 'payment' | 'credit' }>

/** The end of the same payment and request before, whoever served it then; null when the call has to run. */
export async function replayed(deps: PaidDeps, asked: ReadCall, carried: Carried): Promise<Outcome | null> {
  return guarded(deps, asked, 'unknown', async () => {
    const request = boundRequest(asked, carried)
    const end = carried.kind === 'credit' ? await replayCredit(carried, request) : await carried.desk.replay(request, carried.payment)
    return end === null ? null : paymentEnd(deps, asked, end)
  })
}

/** Verifies a payment, or reserves from a credit, and binds it to this call; nothing is sent or debited yet. */
export async function admitPayment(deps: PaidDeps, asked: ReadCall, carried: Carried): Promise<Admission> {
  let claimed: Admission | null = null
  const outcome = await guarded(deps, asked, false, async () => {
    const request = boundRequest(asked, carried)
    const admitted =
      carried.kind === 'credit'
        ? await admitCredit(carried, asked.tool, asked.input, request)
        : await carried.desk.admit(request, carried.payment, await acceptable(deps, asked))
    if (admitted.kind !== 'claimed') return paymentEnd(deps, asked, admitted)
    claimed = { kind: 'paid', claim: admitted.claim }
    return null
  })
  return (
    claimed ?? { kind: 'ended', outcome: outcome ?? (await paymentEnd(deps, asked, { kind: 'refused', ...refusals.storeDown(false) })) }
  )
}

async function acceptable(deps: PaidDeps, asked: ReadCall): Promise<AcceptableTerms> {
  const price = await quote(deps, asked.tool, asked.input)
  if (price === null || deps.payments === null) throw new Error('a payment came as far as its terms where none is taken')
  return { ...deps.payments.place, amounts: new Set(price.payable) }
}

/** A store that does not answer refuses the payment, which is left as it was: `charged` says how far that is known. */
async function guarded(
  deps: PaidDeps,
  asked: ReadCall,
  charged: false | 'unknown',
  work: () => Promise<Outcome | null>,
): Promise<Outcome | null> {
  try {
    return await work()
  } catch (error) {
    deps.onFault(error, asked.tool.id)
    return { kind: 'refused', tool: asked.tool.id, problem: refusals.storeDown(charged).problem }
  }
}

function boundRequest({ tool, inputHash, address }: ReadCall, carried: Carried): BoundRequest {
  const secrets = carried.kind === 'payment' ? carried.secrets : NO_SECRETS
  const binding = { tool: tool.id, price_class: marketOf(tool.price) ?? tool.price, input_hash: inputHash() }
  return { ...binding, client: quotaClient(address), address, secrets }
}

/** What the end of a payment is to its call. A refusal of the caller's making comes with the terms, so that a payment that fits can follow. */
export async function paymentEnd(deps: PaidDeps, { tool, input, address }: ReadCall, end: PaymentEnd): Promise<Outcome> {
  switch (end.kind) {
    case 'paid':
      return { kind: 'paid', tool: tool.id, text: end.text, settlement: end.settlement }
    case 'pending':
      return { kind: 'pending', tool: tool.id, problem: refusals.pendingProblem(end.pending), pending: end.pending }
    case 'refused': {
      const found = end.problem
      if (!refusals.asksForPayment(found)) return { kind: 'refused', tool: tool.id, problem: found }
      try {
        const offered = refusals.takesAnother(found) ? quote(deps, tool, input) : null
        const [allowance, price] = await Promise.all([deps.allowance.peek(tool.id, address), offered])
        const amount_minor = price?.amount_minor ?? null
        const told = { ...found, extra: { ...found.extra, allowance: allowanceShown(allowance) } }
        const { problem: _, kind: __, ...why } = end
        return { kind: 'payment_required', tool: tool.id, problem: told, allowance, amount_minor, ...why }
      } catch (error) {
        deps.onFault(error, tool.id)
        return { kind: 'refused', tool: tool.id, problem: found }
      }
    }
  }
}

function ended(outcome: Outcome): Ended {
  return { kind: 'ended', outcome }
}
