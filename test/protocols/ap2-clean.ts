import {
  CARD,
  checkout,
  HASH,
  hashOf,
  HOUR_S,
  MERCHANT,
  openCheckout,
  openPayment,
  payment,
  PISP,
  PLAIN_CHECKOUT,
  presetPayment,
  takenApart,
  tokenOf,
} from './ap2-clean-parts.ts'
import { NOW_S, type CleanDocument } from './harness.ts'
import { checkout as ucpCheckout } from './ucp-clean-responses.ts'

/** Right documents of AP2, built by hand from the members that the schemas and types of each version name. */

const declared = (type: string) => ({ type, version: '0.2', version_source: 'declared' as const })
const legacy = (type: string) => ({ type, version: '0.1', version_source: 'inferred' as const, warnings: ['AP2-001'] })

const BINDING = { iat: NOW_S - 30, exp: NOW_S + 900, aud: 'credential-provider', nonce: 'a8b7c6d5e4f3a2b1', sd_hash: hashOf('chain') }
const D = Object.fromEntries(['payee', 'item', 'open', 'closed', 'token', 'other'].map((name) => [name, hashOf(name)]))
const digest = (name: string) => D[name] ?? ''

const sealedOpen = () => ({
  vct: 'mandate.payment.open.1',
  constraints: [
    { type: 'payment.amount_range', currency: 'USD', min: 0, max: 20_000 },
    { type: 'payment.allowed_payees', allowed: [{ '...': digest('payee') }] },
    { type: 'payment.reference', conditional_transaction_id: hashOf('open checkout mandate') },
  ],
  cnf: { jwk: openCheckout().cnf.jwk },
  iat: NOW_S - 60,
  exp: NOW_S + HOUR_S,
})

const { iat: _iat, exp: _exp, ...bare } = payment()

const chain = () => ({
  chain: [
    takenApart({ alg: 'ES256', typ: 'example+sd-jwt', kid: 'provider_1' }, {}, [
      [digest('payee'), MERCHANT],
      [digest('open'), sealedOpen()],
    ]),
    takenApart({ alg: 'ES256', typ: 'kb+sd-jwt' }, BINDING, [[digest('closed'), bare]]),
  ],
})

/** A closed checkout mandate whose token is disclosed, decoded. */
const disclosedCheckout = () =>
  takenApart({ alg: 'ES256', typ: 'kb+sd-jwt' }, { ...BINDING, aud: 'merchant' }, [
    [digest('token'), ['checkout_jwt', { header: { alg: 'ES256', typ: 'JWT' }, payload: PLAIN_CHECKOUT }]],
    [digest('closed'), { _sd: [digest('token')], vct: 'mandate.checkout.1', checkout_hash: HASH }],
  ])

const receipt = { iss: 'https://demo-merchant.example', iat: NOW_S - 10, reference: hashOf('mandate') }

const item = (label: string, value: number | string) => ({ label, amount: { currency: 'USD', value }, refund_period: 30 })

const legacyCart = () => ({
  contents: {
    id: 'cart_shoes_123',
    user_cart_confirmation_required: true,
    payment_request: {
      method_data: [{ supported_methods: 'CARD', data: { network: ['mastercard'] } }],
      details: {
        id: 'order_shoes_123',
        display_items: [item('Shoes', 99.9), item('Tax', 0.1), item('Delivery', '20.00')],
        shipping_options: null,
        total: item('Total', 120),
      },
      options: { request_shipping: true },
    },
    cart_expiry: '2026-11-21T13:00:00.250000+00:00',
    merchant_name: 'Demo Merchant',
  },
  merchant_authorization: tokenOf(
    { alg: 'ES256', kid: 'merchant_key' },
    { iss: 'merchant', sub: 'merchant', aud: 'processor', iat: NOW_S, exp: NOW_S + 900, jti: 'j1', cart_hash: hashOf('cart') },
  ),
})

const legacyPayment = () => ({
  payment_mandate_contents: {
    payment_mandate_id: 'pm_1',
    payment_details_id: 'order_shoes_123',
    payment_details_total: item('Total', 120),
    payment_response: { request_id: 'order_shoes_123', method_name: 'CARD', details: { token: 'tok_1' } },
    merchant_agent: 'DemoMerchantAgent',
    timestamp: '2026-11-21T12:00:00+00:00',
  },
  user_authorization: `${tokenOf({ alg: 'ES256K' }, { cnf: {} })}~`,
})

const intent = () => ({
  user_cart_confirmation_required: true,
  natural_language_description: 'High top, old school, red basketball shoes',
  merchants: ['Demo Merchant', 'Second Merchant'],
  skus: null,
  requires_refundability: true,
  intent_expiry: '2026-11-22T15:00:00Z',
})

const ucp = ucpCheckout('2026-04-08')
const total = ucp.totals.find(({ type }) => type === 'total')?.amount

export const AP2_CLEAN: Readonly<Record<string, CleanDocument>> = {
  checkout: { document: checkout(), ...declared('checkout_mandate') },
  payment: { document: payment(), ...declared('payment_mandate') },
  'open checkout': { document: openCheckout(), ...declared('open_checkout_mandate') },
  'open payment': { document: openPayment(), ...declared('open_payment_mandate') },
  'preset payment': { document: presetPayment(), ...declared('open_payment_mandate') },
  'token payload': {
    document: { header: { alg: 'ES256', typ: 'kb+sd-jwt' }, payload: { ...payment(), ...BINDING } },
    ...declared('payment_mandate'),
  },
  chain: {
    document: chain(),
    ...declared('mandates'),
    expected_payee: 'merchant_1',
    needed: ['open', 'closed'].flatMap((_name, index) => [
      `/chain/${index}/issuer_signed_jwt/payload/delegate_payload/0/...`,
      `/chain/${index}/disclosures/${1 - index}/digest`,
    ]),
  },
  'disclosed checkout': {
    document: disclosedCheckout(),
    ...declared('checkout_mandate'),
    needed: ['/issuer_signed_jwt/payload/delegate_payload/0/...', '/disclosures/1/digest'],
  },
  'direct pair': {
    document: { type: 'delegate', format: 'dc+sd-jwt', delegate_payload: [checkout(), payment()] },
    ...declared('mandates'),
    expected_payee: 'demo merchant',
  },
  'preset chain': {
    document: {
      mandates: [presetPayment(), { ...payment(), pisp: PISP, execution_date: '2026-12-24' }],
    },
    ...declared('mandates'),
  },
  'with ucp': {
    document: {
      checkout_mandate: { ...checkout(), checkout_jwt: '[REDACTED]' },
      payment_mandate: { ...payment(), payment_amount: { amount: total, currency: ucp.currency } },
      checkout: ucp,
    },
    ...declared('mandates'),
    warnings: ['PRE-002'],
  },
  'checkout receipt': {
    document: { status: 'Success', ...receipt, order_id: 'ord_1' },
    type: 'checkout_receipt',
    version: '0.2',
    version_source: 'inferred',
  },
  'payment receipt': {
    document: { status: 'Success', ...receipt, payment_id: 'pay_1', psp_confirmation_id: 'psp_1', network_confirmation_id: 'net_1' },
    type: 'payment_receipt',
    version: '0.2',
    version_source: 'inferred',
  },
  'failed receipt': {
    document: { status: 'Error', ...receipt, payment_id: 'pay_1', error: 'mandate_already_used', error_description: 'Used before' },
    type: 'payment_receipt',
    version: '0.2',
    version_source: 'inferred',
  },
  intent: { document: intent(), ...legacy('intent_mandate'), expected_payee: 'Demo Merchant' },
  cart: { document: legacyCart(), ...legacy('cart_mandate'), expected_payee: 'Demo Merchant' },
  'payment 0.1': { document: legacyPayment(), ...legacy('legacy_payment_mandate') },
  'message 0.1': {
    document: {
      messageId: 'm_1',
      role: 'user',
      parts: [
        { kind: 'data', data: { 'ap2.mandates.CartMandate': legacyCart(), risk_data: tokenOf({ alg: 'ES256' }, {}) } },
        { kind: 'data', data: { 'ap2.mandates.PaymentMandate': legacyPayment() } },
      ],
    },
    ...legacy('mandates'),
  },
  'hidden constraints': {
    document: { ...openPayment(), constraints: [{ '...': digest('other') }], payment_instrument: CARD },
    ...declared('open_payment_mandate'),
    warnings: ['AP2-034'],
  },
}
