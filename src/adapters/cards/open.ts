import { readFileSync } from 'node:fs'
import type Stripe from 'stripe'
import type { CardServer, Cards, CardEvent, CardNoticeFault, CheckoutAsked } from '../../ports/cards.ts'

export interface CardSettings {
  secret_key_file: string
  webhook_secret_file: string
  /** Real money moves here. */
  real: boolean
  /** Address of the processor, for tests; by default its public one. */
  at?: CardServer
  tolerance_s: number
}

type Opened = { ok: true; cards: Cards } | { ok: false; message: string }

/** Card payments over Stripe; its library is loaded only here. The message names the file and the fix, and never what is in it. */
export async function openCards({ secret_key_file, webhook_secret_file, real, at, tolerance_s }: CardSettings): Promise<Opened> {
  const key = firstLine(secret_key_file)
  const found = /^(?:sk|rk)_(test|live)_[A-Za-z0-9_]+$/.exec(key ?? '')
  if (key === null || found === null) {
    return { ok: false, message: `ASSAY_STRIPE_SECRET_KEY_FILE: ${secret_key_file} must hold a secret key of Stripe, sk_… or rk_….` }
  }
  if ((found[1] === 'live') !== real) {
    const need = real ? 'a live key' : 'a test key: no real money moves here'
    return { ok: false, message: `ASSAY_STRIPE_SECRET_KEY_FILE: ${secret_key_file} must hold ${need}.` }
  }
  const webhook_secret = firstLine(webhook_secret_file)
  if (webhook_secret === null || !/^whsec_\S+$/.test(webhook_secret)) {
    return {
      ok: false,
      message: `ASSAY_STRIPE_WEBHOOK_SECRET_FILE: ${webhook_secret_file} must hold the signing secret of the webhook, whsec_….`,
    }
  }
  const { default: Library } = await import('stripe')
  const stripe = new Library(key, { timeout: TIMEOUT_MS, maxNetworkRetries: RETRIES, telemetry: false, ...at })
  return { ok: true, cards: stripeCards(stripe, webhook_secret, real, tolerance_s) }
}

/** Null when the file cannot be read. */
function firstLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}

const TIMEOUT_MS = 10_000
const RETRIES = 2
const CENT_MINOR = 10_000n
/** Twelve digits, the longest amount of a Stripe charge (API reference, Charges, `amount`). */
const CENTS_MAX = 999_999_999_999
const CENTS_PER_USD = 100
/** By which a payment of this service is known among others of the same account. */
const CLAIM = 'assay_claim'
const CLAIM_HASH = /^0x[0-9a-f]{64}$/

/** Checkout Sessions and webhooks of Stripe, by its own library (stripe 23, 2026-10). */
function stripeCards(stripe: Stripe, webhook_secret: string, real: boolean, tolerance_s: number): Cards {
  return {
    async checkout(asked) {
      const session = await stripe.checkout.sessions.create(sessionOf(asked), {
        idempotencyKey: `assay-${asked.pack_usd}-${asked.claim_hash}`,
      })
      if (session.url === null) throw new Error('Stripe opened a checkout without an address')
      return session.url
    },
    read(raw, signature, now_ms) {
      const fault = timeFault(signature ?? '', tolerance_s, now_ms)
      if (fault !== null) return { ok: false, fault }
      try {
        const event = stripe.webhooks.constructEvent(raw, signature ?? '', webhook_secret, tolerance_s, undefined, now_ms)
        return event.livemode === real ? { ok: true, event: eventOf(event) } : { ok: false, fault: otherMode(real) }
      } catch (error) {
        // The library throws for a wrong signature, and for a body that is not an event.
        return { ok: false, fault: error instanceof NoticeError ? error.fault : UNSIGNED }
      }
    },
  }
}

const UNSIGNED: CardNoticeFault = {
  pointer: '',
  code: 'signature',
  message: 'Stripe-Signature does not match the body and the signing secret of this webhook.',
}

function otherMode(real: boolean): CardNoticeFault {
  return { pointer: '/livemode', code: 'mode', message: `livemode is ${!real}; this deployment takes events with livemode ${real}.` }
}

/** The event has a value that no payment of this service has. */
class NoticeError extends Error {
  readonly fault: CardNoticeFault

  constructor(fault: CardNoticeFault) {
    super(fault.message)
    this.fault = fault
  }
}

/**
 * The time of the signature must occur once and lie within the tolerance of the clock. The library checks neither a time in the future nor one
 * that is not a number.
 */
function timeFault(signature: string, tolerance_s: number, now_ms: number): CardNoticeFault | null {
  const [time = '', second] = signature.split(',').filter((part) => part.startsWith('t='))
  const expected = `expected once, in seconds since 1970, within ${tolerance_s} s of the time of this service`
  const fault = (found: string): CardNoticeFault => ({ pointer: '', code: 'time', message: `t in Stripe-Signature ${found}; ${expected}.` })
  if (time === '') return fault('is missing')
  if (second !== undefined) return fault('occurs more than once')
  if (!/^t=\d{1,12}$/.test(time)) return fault('is not a number of seconds')
  const age_s = Math.floor(now_ms / 1_000) - Number(time.slice(2))
  if (Math.abs(age_s) <= tolerance_s) return null
  return fault(age_s > 0 ? `is ${age_s} s old` : `lies ${-age_s} s in the future`)
}

function sessionOf({ pack_usd, claim_hash, success_url, cancel_url }: CheckoutAsked): Stripe.Checkout.SessionCreateParams {
  const product_data = { name: `assay service credit, ${pack_usd} USD` }
  return {
    mode: 'payment',
    line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: pack_usd * CENTS_PER_USD, product_data } }],
    success_url,
    cancel_url,
    client_reference_id: claim_hash,
    metadata: { [CLAIM]: claim_hash },
    payment_intent_data: { metadata: { [CLAIM]: claim_hash } },
    // Refunds and disputes must be in the currency of the grant.
    adaptive_pricing: { enabled: false },
  }
}

/** Handled kinds of events. Stripe has some two hundred, and every version adds more; the others are ignored. */
function eventOf(event: Stripe.Event): CardEvent {
  if (event.type === 'checkout.session.completed' || event.type === 'checkout.session.async_payment_succeeded') {
    return paidOf(event.id, event.data.object)
  }
  if (event.type === 'charge.refunded') return refundOf(event.id, event.data.object)
  if (event.type === 'charge.dispute.created' || event.type === 'charge.dispute.closed') return disputeOf(event.id, event.data.object)
  return { kind: 'other' }
}

/** A session that is completed but not paid yet causes another event when it is paid. */
function paidOf(event_id: string, session: Stripe.Checkout.Session): CardEvent {
  const claim_hash = session.metadata?.[CLAIM] ?? ''
  const { id: session_id, amount_total, payment_status, currency } = session
  if (!CLAIM_HASH.test(claim_hash) || payment_status !== 'paid' || currency !== 'usd' || amount_total === null || amount_total <= 0) {
    return { kind: 'other' }
  }
  const payment_ref = idOf(session.payment_intent) ?? session_id
  return { kind: 'paid', event_id, session_id, payment_ref, claim_hash, amount_minor: minorOf('amount_total', amount_total) }
}

/** `amount_refunded` is the sum of all refunds of the charge so far. */
function refundOf(event_id: string, charge: Stripe.Charge): CardEvent {
  const payment_ref = idOf(charge.payment_intent)
  if (payment_ref === null || charge.amount_refunded <= 0) return { kind: 'other' }
  const amount_minor = minorOf('amount_refunded', charge.amount_refunded)
  return { kind: 'reversed', event_id, payment_ref, reference: charge.id, amount_minor, standing: 'lost' }
}

/** Outcomes that leave the money here; every other outcome is still open, or lost. */
const KEPT: ReadonlySet<string> = new Set(['won', 'warning_closed', 'prevented'])

function disputeOf(event_id: string, dispute: Stripe.Dispute): CardEvent {
  const payment_ref = idOf(dispute.payment_intent)
  if (payment_ref === null) return { kind: 'other' }
  const standing = KEPT.has(dispute.status) ? 'won' : dispute.status === 'lost' ? 'lost' : 'open'
  return { kind: 'reversed', event_id, payment_ref, reference: dispute.id, amount_minor: minorOf('amount', dispute.amount), standing }
}

/** Minor units of USDC for an amount in cents. Throws a NoticeError for one that no payment has, which the store could not hold. */
function minorOf(member: string, cents: number): bigint {
  if (Number.isSafeInteger(cents) && cents >= 0 && cents <= CENTS_MAX) return BigInt(cents) * CENT_MINOR
  const message = `${member} is ${cents}; expected whole cents from 0 to ${CENTS_MAX}.`
  throw new NoticeError({ pointer: `/data/object/${member}`, code: 'amount', message })
}

/** The id of what Stripe names by it, or sends whole. */
function idOf(named: string | { id: string } | null | undefined): string | null {
  if (typeof named === 'string') return named
  return named?.id ?? null
}
