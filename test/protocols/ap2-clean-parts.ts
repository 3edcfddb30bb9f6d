import { createHash } from 'node:crypto'
import { NOW_S } from './harness.ts'

/** Pieces of right documents of AP2 0.2, built by hand from the members that its schemas name. */

export const HOUR_S = 3_600

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The hash of a token as the protocol computes it, by another implementation than the one that is tested. */
export const hashOf = (token: string, algorithm = 'sha256') => createHash(algorithm).update(token).digest('base64url')

export const tokenOf = (header: object, payload: object) => `${encoded(header)}.${encoded(payload)}.c2lnbmF0dXJl`

export const MERCHANT = { id: 'merchant_1', name: 'Demo Merchant', website: 'https://demo-merchant.example' }
const OTHER_MERCHANT = { id: 'merchant_2', name: 'Second Merchant', website: 'https://second.example' }
export const CARD = { id: 'pi_7f3a', type: 'card', description: 'Card ending in 4242' }
export const PISP = { legal_name: 'Example Payments Ltd', brand_name: 'ExamplePay', domain_name: 'examplepay.com' }

/** A checkout as the schemas of AP2 have it: one of UCP without its `ucp` member, with the merchant. */
export const PLAIN_CHECKOUT = {
  id: 'chk_1',
  merchant: MERCHANT,
  line_items: [
    {
      id: 'li_0',
      item: { id: 'sku_1', title: 'Gold sneaker', price: 19_900 },
      quantity: 1,
      totals: [
        { type: 'subtotal', amount: 19_900 },
        { type: 'total', amount: 19_900 },
      ],
    },
  ],
  status: 'ready_for_complete',
  currency: 'USD',
  totals: [
    { type: 'subtotal', amount: 19_900 },
    { type: 'tax', amount: 100 },
    { type: 'total', amount: 20_000 },
  ],
  links: [{ type: 'privacy_policy', url: 'https://demo-merchant.example/privacy' }],
}

const TOKEN = tokenOf({ alg: 'ES256', typ: 'JWT', kid: 'merchant_key' }, PLAIN_CHECKOUT)
export const HASH = hashOf(TOKEN)

/** The point of the example in RFC 7515, A.3. */
const JWK = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}

export const checkout = () => ({
  vct: 'mandate.checkout.1',
  checkout_jwt: TOKEN,
  checkout_hash: HASH,
  iat: NOW_S - 60,
  exp: NOW_S + HOUR_S,
})

export const payment = () => ({
  vct: 'mandate.payment.1',
  transaction_id: HASH,
  payee: MERCHANT,
  payment_amount: { amount: 20_000, currency: 'USD' },
  payment_instrument: CARD,
  iat: NOW_S - 60,
  exp: NOW_S + HOUR_S,
})

export const openCheckout = () => ({
  vct: 'mandate.checkout.open.1',
  constraints: [
    {
      type: 'checkout.line_items',
      items: [
        {
          id: 'shoes',
          acceptable_items: [
            { id: 'sku_1', title: 'Gold sneaker' },
            { id: 'sku_2', title: 'Silver sneaker' },
          ],
          quantity: 1,
        },
        { id: 'socks', acceptable_items: [{ id: 'sku_3', title: 'Socks' }], quantity: 2 },
      ],
    },
    { type: 'checkout.allowed_merchants', allowed: [MERCHANT, OTHER_MERCHANT] },
  ],
  cnf: { jwk: JWK },
  iat: NOW_S - HOUR_S,
  exp: NOW_S + 30 * 24 * HOUR_S,
})

export const openPayment = () => ({
  vct: 'mandate.payment.open.1',
  constraints: [
    { type: 'payment.reference', conditional_transaction_id: hashOf('open checkout mandate') },
    { type: 'payment.amount_range', currency: 'USD', min: 100, max: 25_000 },
    { type: 'payment.allowed_payees', allowed: [MERCHANT, OTHER_MERCHANT] },
    { type: 'payment.allowed_payment_instruments', allowed: [CARD, { id: 'pi_upi', type: 'UPI' }] },
    { type: 'payment.allowed_pisps', allowed: [PISP] },
    { type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 12 },
    { type: 'payment.budget', max: 1000.5, currency: 'USD' },
    { type: 'payment.execution_date', not_before: '2026-11-01T00:00:00Z', not_after: '2027-11-30T23:59:59+01:00' },
  ],
  cnf: { jwk: { ...JWK, alg: 'ES256', use: 'sig' } },
  iat: NOW_S - HOUR_S,
  exp: NOW_S + 30 * 24 * HOUR_S,
})

/** An open mandate that leaves only the time of its use to the agent. */
export const presetPayment = () => ({
  ...openPayment(),
  payee: MERCHANT,
  payment_amount: { amount: 20_000, currency: 'USD' },
  payment_instrument: CARD,
  pisp: PISP,
  execution_date: '2026-12-24',
})

/** A token taken apart, with the mandate behind a digest, as the documentation shows it. */
export const takenApart = (header: object, payload: object, disclosures: readonly (readonly [string, unknown])[]) => ({
  issuer_signed_jwt: { header, payload: { ...payload, delegate_payload: [{ '...': disclosures.at(-1)?.[0] }], _sd_alg: 'sha-256' } },
  disclosures: disclosures.map(([digest, value]) => ({
    digest,
    decoded: ['c2FsdHNhbHRzYWx0c2FsdA', ...(Array.isArray(value) ? (value as unknown[]) : [value])],
  })),
})
