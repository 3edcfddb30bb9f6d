import { readFileSync } from 'node:fs'
import type Stripe from 'stripe'
import type { CardServer, Cards, CardEvent, CheckoutAsked } from '../../ports/cards.ts'

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
      if (!isTimed(signature ?? '')) return { ok: false }
      try {
        const event = stripe.webhooks.constructEvent(raw, signature ?? '', webhook_secret, tolerance_s, undefined, now_ms)
        return event.livemode === real ? { ok: true, event: eventOf(event) } : { ok: false }
      } catch {
        // The library throws for a wrong or outdated signature, and for a body that is not an event.
        return { ok: false }
      }
    },
  }
}

/** One time, in seconds. The library does not check the age of an event whose time is not a number. */
function isTimed(signature: string): boolean {
  const [time = '', second] = signature.split(',').filter((part) => part.startsWith('t='))
  return second === undefined && /^t=\d{1,12}$/.test(time)
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
  return { kind: 'paid', event_id, session_id, payment_ref, claim_hash, amount_minor: BigInt(amount_total) * CENT_MINOR }
}

/** `amount_refunded` is the sum of all refunds of the charge so far. */
function refundOf(event_id: string, charge: Stripe.Charge): CardEvent {
  const payment_ref = idOf(charge.payment_intent)
  if (payment_ref === null || charge.amount_refunded <= 0) return { kind: 'other' }
  const amount_minor = BigInt(charge.amount_refunded) * CENT_MINOR
  return { kind: 'reversed', event_id, payment_ref, reference: charge.id, amount_minor, standing: 'lost' }
}

/** Outcomes that leave the money here; every other outcome is still open, or lost. */
const KEPT: ReadonlySet<string> = new Set(['won', 'warning_closed', 'prevented'])

function disputeOf(event_id: string, dispute: Stripe.Dispute): CardEvent {
  const payment_ref = idOf(dispute.payment_intent)
  if (payment_ref === null) return { kind: 'other' }
  const standing = KEPT.has(dispute.status) ? 'won' : dispute.status === 'lost' ? 'lost' : 'open'
  return { kind: 'reversed', event_id, payment_ref, reference: dispute.id, amount_minor: BigInt(dispute.amount) * CENT_MINOR, standing }
}

/** The id of what Stripe names by it, or sends whole. */
function idOf(named: string | { id: string } | null | undefined): string | null {
  if (typeof named === 'string') return named
  return named?.id ?? null
}
