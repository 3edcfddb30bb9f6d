import { quotaClient } from '../clients.ts'
import type { Tool } from '../catalogue/define.ts'
import type { CreditUseKey } from '../../ports/credits.ts'
import type { CreditService, CreditCredential } from '../credits/credit-service.ts'
import { type Allowance, type AllowanceState, publicAllowance, type AllowanceTaken } from '../payments/allowance.ts'
import { type AnyPayment, readPayment, type PaymentCredential } from '../payments/payment-header.ts'
import * as refusals from '../payments/payment-refusals.ts'
import type { PaymentRefusal } from '../payments/payment-refusals.ts'
import type { BoundRequest, PaymentResult, PaymentService } from '../payments/payment-parts.ts'
import { paymentKey } from '../payments/payment-results.ts'
import { marketOf, priceOf, type PriceBook } from '../payments/price-book.ts'
import { NO_SECRETS, type ResendSecrets } from '../payments/resends.ts'
import type { ChannelRefunds } from '../payments/channel-refunds.ts'
import type { PaymentTerms } from '../payments/terms.ts'
import { problem, type Problem } from '../problems.ts'
import type { Admission, DecodedCall } from './decoded-call.ts'
import { type CallRequest, type Outcome, refusedOutcome } from './outcome.ts'
import type { ReceiptIssuer } from './answer.ts'
import { storeUnavailable } from './refusals.ts'
import { waitText } from '../../pure/duration-text.ts'
import { UNSENT_STATES } from '../../pure/payments/states.ts'
import { usdcText } from '../../pure/payments/usdc.ts'

/** Parts that a call needs to be paid. */
export interface PaymentGateDeps {
  allowance: Allowance
  /** Origins of the pages that explain payment. */
  issuer: Pick<ReceiptIssuer, 'origins'>
  /** Null where nothing settles payments. */
  payments: Payments | null
  /** Absent where the deployment keeps no credits. */
  credits?: Credits
  /** Reports an unexpected error; it is never given an input. */
  onFault(error: unknown, tool: string): void
}

/** The payment service, the prices and the terms under which payments are taken. */
export interface Payments {
  service: PaymentService
  prices: PriceBook
  terms: PaymentTerms
  /** Refunds of payment channels; null where they are not offered. */
  refunds?: ChannelRefunds | null
  /** Sentence on getting money without value, in a sandbox; each 402 contains it. */
  testMoney?(): string
}

interface Credits {
  service: CreditService
  prices: PriceBook
}

/** A credential of the right form: a payment that was read, or a credit with its key. */
type Credential =
  | { kind: 'payment'; payment: AnyPayment; secrets: ResendSecrets; service: PaymentService }
  | { kind: 'credit'; key: CreditUseKey; credits: Credits }

/** The credential of a request; `ended` when it is malformed or not accepted here. */
export type RequestPayment = { kind: 'none' } | Credential | { kind: 'ended'; outcome: Outcome }

const unknown = () => Promise.resolve('unknown' as const)

/** Says what is known of a payment that could not be claimed: another process may have charged the same one since it was looked up. */
async function chargedMeanwhile(credential: Credential): Promise<false | 'unknown'> {
  if (credential.kind === 'credit') return false
  if (credential.payment.scheme === 'batch-settlement') return 'unknown'
  const row = await credential.service.find(paymentKey(credential.payment.authorization)).catch(unknown)
  return row === null || (row !== 'unknown' && UNSENT_STATES.includes(row.state)) ? false : 'unknown'
}

/** Reads, admits and answers the payment of a call: a free call, an x402 payment or a credit. */
export class PaymentGate {
  readonly #deps: PaymentGateDeps

  constructor(deps: PaymentGateDeps) {
    this.#deps = deps
  }

  /** Returns the current price of a call; null where it costs nothing or nothing can be paid. Rejects while the store is down. */
  async #quote(tool: Tool, input: Record<string, unknown> | null): Promise<ReturnType<typeof priceOf> | null> {
    return tool.price === 'free' || this.#deps.payments === null
      ? null
      : priceOf(tool.price, input, await this.#deps.payments.prices.prices())
  }

  /** Returns why no network takes payments now; null while one does. */
  #noneNow(): string | null {
    return this.#deps.payments?.terms.networks?.noneNow?.() ?? null
  }

  /** Reads the credential of a request. A malformed one ends the call even while free calls remain; a free tool ignores it. */
  async read(call: DecodedCall, request: CallRequest): Promise<RequestPayment> {
    const { payments, credit, secrets = NO_SECRETS } = request
    const [first, second] = payments
    if (call.tool.price === 'free') return { kind: 'none' }
    if (first !== undefined && (second !== undefined || credit !== null) && this.#deps.payments !== null) {
      return this.#end(call, refusals.severalPaymentsRefusal())
    }
    if (first !== undefined) return this.#readX402Payment(call, first, secrets)
    return credit === null ? { kind: 'none' } : this.#readCredit(call, credit)
  }

  async #readX402Payment(call: DecodedCall, credential: PaymentCredential, secrets: ResendSecrets): Promise<RequestPayment> {
    if (this.#deps.payments === null) return this.#end(call, refusals.paymentsNotConfigured())
    const read = readPayment(credential)
    if (read.ok) return { kind: 'payment', payment: read.payment, secrets, service: this.#deps.payments.service }
    return this.#end(call, refusals.refusalForCheck(read))
  }

  async #readCredit(call: DecodedCall, credential: CreditCredential): Promise<RequestPayment> {
    const { credits } = this.#deps
    if (credits === undefined) {
      const detail = 'This deployment keeps no prepaid credits. The credit was not used.'
      return this.#end(call, refusals.refusedPayment(problem('NOT_CONFIGURED', detail)))
    }
    const read = async (): Promise<RequestPayment> => {
      const found = await credits.service.read(credential, quotaClient(call.address))
      return found.ok ? { kind: 'credit', key: found.key, credits } : this.#end(call, found.end)
    }
    return this.#orStoreDown(call.tool, unknown, read, (outcome) => ({ kind: 'ended', outcome }))
  }

  async #end(call: DecodedCall, result: PaymentResult): Promise<RequestPayment> {
    return { kind: 'ended', outcome: await this.outcome(call, result) }
  }

  /** Returns the stored outcome of the same payment and request, whichever process served it; null when the call has to run. */
  async replay(call: DecodedCall, credential: Credential): Promise<Outcome | null> {
    const replay = async (): Promise<Outcome | null> => {
      const request = boundRequest(call, credential)
      const result =
        credential.kind === 'credit'
          ? await credential.credits.service.replay(request, credential.key)
          : await credential.service.replay(request, credential.payment)
      return result === null ? null : this.outcome(call, result)
    }
    return this.#orStoreDown(call.tool, unknown, replay, (outcome) => outcome)
  }

  /** Verifies a payment, or reserves the price from a credit, and binds it to this call. Nothing is sent or debited yet. */
  async admit(call: DecodedCall, credential: Credential): Promise<Admission> {
    const admit = async (): Promise<Admission> => {
      const claimed = credential.kind === 'credit' ? await claimCredit(call, credential) : await this.#claimX402Payment(call, credential)
      if (claimed.kind === 'claimed') return { kind: 'paid', claim: claimed.claim }
      return { kind: 'ended', outcome: await this.outcome(call, claimed) }
    }
    return this.#orStoreDown(
      call.tool,
      () => chargedMeanwhile(credential),
      admit,
      (outcome) => ({ kind: 'ended', outcome }),
    )
  }

  async #claimX402Payment(call: DecodedCall, credential: Extract<Credential, { kind: 'payment' }>) {
    const price = await this.#quote(call.tool, call.input)
    if (price === null || this.#deps.payments === null) throw new Error('a payment was to be claimed where none is taken')
    const acceptable = { ...this.#deps.payments.terms, amounts: new Set(price.payable) }
    return credential.service.admit(boundRequest(call, credential), credential.payment, acceptable)
  }

  /** Runs a step that needs the store. When the store fails the payment stays as it was; `charged` is what is then known of it. */
  async #orStoreDown<Value>(
    tool: Tool,
    charged: () => Promise<false | 'unknown'>,
    step: () => Promise<Value>,
    refuse: (outcome: Outcome) => Value,
  ): Promise<Value> {
    try {
      return await step()
    } catch (error) {
      this.#deps.onFault(error, tool.id)
      return refuse(refusedOutcome(tool, refusals.paymentStoreDown(await charged()).problem))
    }
  }

  /** Returns the outcome of a call for the result of its payment. A refusal that the payer can correct includes the payment terms. */
  async outcome({ tool, input, address }: DecodedCall, result: PaymentResult): Promise<Outcome> {
    switch (result.kind) {
      case 'paid':
        return { kind: 'paid', tool: tool.id, text: result.text, settlement: result.settlement }
      case 'pending':
        return { kind: 'pending', tool: tool.id, problem: refusals.pendingProblem(result.pending), pending: result.pending }
      case 'refused': {
        const { problem: found, kind: _, ...reason } = result
        if (!refusals.isPaymentProblem(found)) return refusedOutcome(tool, found)
        try {
          const offered = refusals.acceptsNewPayment(found) ? this.#quote(tool, input) : null
          const [allowance, price] = await Promise.all([this.#deps.allowance.peek(tool.id, address), offered])
          const with_allowance = { ...found, extra: { ...found.extra, allowance: publicAllowance(allowance) } }
          return this.#paymentRequired(tool, with_allowance, allowance, price?.amount_minor ?? null, reason)
        } catch (error) {
          this.#deps.onFault(error, tool.id)
          return refusedOutcome(tool, found)
        }
      }
    }
  }

  /** Takes one free call, or asks for payment when none is left. */
  async takeFree({ tool, address, input }: DecodedCall, reads_sources: boolean): Promise<Admission> {
    try {
      const taken = await this.#deps.allowance.take(tool.id, address, reads_sources)
      if (taken.granted) return { kind: 'free', taken }
      const amount_minor = (await this.#quote(tool, input))?.amount_minor ?? null
      const found = paymentRequiredProblem(taken, {
        tool,
        amount_minor,
        site_url: this.#deps.issuer.origins.site_url,
        none: this.#noneNow(),
      })
      return { kind: 'ended', outcome: this.#paymentRequired(tool, found, taken.state, amount_minor, { x402_reason: null }) }
    } catch (error) {
      this.#deps.onFault(error, tool.id)
      return { kind: 'ended', outcome: refusedOutcome(tool, storeUnavailable()) }
    }
  }

  /**
   * Asks for payment when the body is too large to be read without one: x402 clients pay only on a 402. `too_large` is returned instead where the
   * price depends on the unread body, or where nothing can be paid.
   */
  async askForLargeBody(
    tool: Tool,
    too_large: Problem,
    allowance: AllowanceState,
    preflight: () => Promise<Problem | null>,
  ): Promise<Outcome> {
    if (too_large.code !== 'PAYLOAD_TOO_LARGE') return refusedOutcome(tool, too_large)
    try {
      const down = await preflight()
      const price = down === null ? await this.#quote(tool, null) : null
      if (price === null || price.formula !== null) return refusedOutcome(tool, down ?? too_large)
      const found = paymentRequiredProblem(
        { state: allowance, spent: 'own' },
        { tool, amount_minor: price.amount_minor, site_url: this.#deps.issuer.origins.site_url, none: this.#noneNow() },
      )
      return this.#paymentRequired(tool, found, allowance, price.amount_minor, { x402_reason: null })
    } catch (error) {
      this.#deps.onFault(error, tool.id)
      return refusedOutcome(tool, storeUnavailable())
    }
  }

  #paymentRequired(
    tool: Tool,
    found: Problem,
    allowance: AllowanceState,
    amount_minor: bigint | null,
    reason: Omit<PaymentRefusal, 'kind' | 'problem'>,
  ): Outcome {
    const test_money = this.#deps.payments?.testMoney?.()
    const told = test_money === undefined ? found : { ...found, extra: { ...found.extra, test_money } }
    return { kind: 'payment_required', tool: tool.id, problem: told, allowance, amount_minor, ...reason }
  }
}

/** Reserves the current price: credits have no quoted price. */
async function claimCredit(call: DecodedCall, credential: Extract<Credential, { kind: 'credit' }>) {
  const { key, credits } = credential
  if (marketOf(call.tool.price) === null) throw new Error('a credit was to be debited for a free tool')
  const { amount_minor } = priceOf(call.tool.price, call.input, await credits.prices.prices())
  return credits.service.admit(boundRequest(call, credential), key, amount_minor)
}

function boundRequest({ tool, inputHash, address }: DecodedCall, credential: Credential): BoundRequest {
  const secrets = credential.kind === 'payment' ? credential.secrets : NO_SECRETS
  const binding = { tool: tool.id, price_class: marketOf(tool.price) ?? tool.price, input_hash: inputHash() }
  return { ...binding, client: quotaClient(address), address, secrets }
}

/** Offer of a paid call to a caller without free calls. `amount_minor` is the price of the call; null where nothing can be paid. */
interface PaidOffer {
  tool: Pick<Tool, 'id'>
  amount_minor: bigint | null
  /** Origin of the page that explains payment. */
  site_url: string
  /** Reason why no network takes payments now; null while one does. */
  none: string | null
}

/**
 * Returns the 402 of a caller without free calls: what is used up, the price, what it buys and how to pay. It has no Retry-After, which clients
 * would obey until midnight instead of paying; the reset is in `allowance` and in the RateLimit header.
 */
function paymentRequiredProblem({ state, spent }: Pick<AllowanceTaken, 'state' | 'spent'>, offer: PaidOffer): Problem {
  const { none } = offer
  const used = spent === null || spent === 'own' ? ownAllowanceText(state.limit) : SHARED_ALLOWANCE[spent]
  const price = none === null ? priceText(offer) : `This call cannot be paid now. ${none} Try again in a minute.`
  const reset = `Free calls reset at 00:00 UTC (in ${waitText(state.resets_in_s)}).`
  const detail = [used, ...(state.limit === 0 ? [] : [reset]), price].join(' ')
  return problem('PAYMENT_REQUIRED', detail, { extra: { allowance: publicAllowance(state) } })
}

function priceText({ tool, amount_minor, site_url }: PaidOffer): string {
  if (amount_minor === null) return 'This deployment takes no payments.'
  return (
    `This call costs ${usdcText(amount_minor)} USDC, which buys one answer of ${tool.id} with a signed receipt. To pay, sign the USDC transfer in ` +
    `\`accepts\` (x402, EIP-3009) and send the same request again with it: ${site_url}/docs/payment`
  )
}

function ownAllowanceText(limit: number): string {
  if (limit === 0) return 'This deployment has no free calls.'
  return limit === 1 ? "You have used today's free call." : `You have used today's ${limit} free calls.`
}

const SHARED_ALLOWANCE: Readonly<Record<Exclude<NonNullable<AllowanceTaken['spent']>, 'own'>, string>> = {
  wide: "The networks of your IPv6 /48 have used today's free calls.",
  network: "Your network has used today's free calls that read outside sources.",
  all: "All clients together have used today's free calls that read outside sources.",
}
