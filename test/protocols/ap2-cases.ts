import { HASH, hashOf, HOUR_S, MERCHANT, tokenOf } from './ap2-clean-parts.ts'
import { AP2_LIMIT_CASES } from './ap2-cases-limits.ts'
import { error, same, warning } from './ap2-case.ts'
import { all, drop, literally, NOW_S, set, type RuleCase } from './harness.ts'

/** One change of a right document for each rule of AP2 and each severity it has: types, checkouts, payments, times and keys. */

const DAY_S = 24 * HOUR_S
const PAYEE = '/payment_mandate/payee'
const BOUND = '/chain/1/issuer_signed_jwt/payload'

/** A token in the place of another, with its own hash. */
const signed = (header: object) => {
  const token = tokenOf(header, { id: 'chk_1' })
  return all(set('/checkout_jwt', token), set('/checkout_hash', hashOf(token)))
}

const ENVELOPE_CASES: readonly RuleCase[] = [
  error('001', 'payment', () => '{"mandate":"pay for it"}', ''),
  error('001', 'payment', () => '{"vct":"com.example.credential","transaction_id":"1"}', ''),
  warning('001', 'preset chain', set('/older', { payment_mandate_contents: '[REDACTED]', user_authorization: '[REDACTED]' }), '/older', {
    also: ['PRE-002'],
  }),
  ...['mandate.payment', ' mandate.payment.1', 'mandate.payment.0', 'Mandate.Payment.1', 'mandate.cart.1'].map((vct) =>
    error('002', 'payment', set('/vct', vct), '/vct'),
  ),
  error('002', 'open checkout', set('/vct', 'mandate.checkout.open'), '/vct'),
  error('002', 'payment', drop('/vct'), '/vct'),
  error('002', 'checkout', set('/vct', 1), '/vct'),
  error('003', 'payment', () => JSON.stringify({ mandate: tokenOf({ alg: 'ES256' }, {}) }), '/mandate'),
  error('003', 'payment', () => JSON.stringify({ vp_token: { dpc: [`${tokenOf({ alg: 'ES256' }, {})}~ZGlz~`] } })),
  error('003', 'chain', set('/chain/-', `${tokenOf({ alg: 'ES256' }, {})}~`), '/chain/2'),
  warning('034', 'open checkout', set('/_sd', [hashOf('hidden')]), ''),
  warning('034', 'chain', drop('/chain/0/disclosures/0'), '/chain/0/disclosures/0/decoded/1/constraints/1/allowed/0', {
    also: ['AP2-044'],
  }),
  warning('034', 'disclosed checkout', drop('/disclosures/0'), '/disclosures/0/decoded/1'),
  error('035', 'chain', set('/chain/0/issuer_signed_jwt/payload/_sd_alg', 'SHA256')),
  error('035', 'disclosed checkout', set('/issuer_signed_jwt/payload/_sd_alg', 'md5'), '/issuer_signed_jwt/payload/_sd_alg'),
  ...['sd_hash', 'aud', 'nonce'].map((name) => warning('036', 'chain', drop(`${BOUND}/${name}`), `${BOUND}/${name}`)),
  warning('036', 'token payload', drop('/payload/sd_hash'), '/payload/sd_hash'),
  ...['none', 'HS256', '', 7].map((alg) => error('045', 'token payload', set('/header/alg', alg), '/header/alg')),
  error('045', 'chain', drop('/chain/0/issuer_signed_jwt/header/alg'), '/chain/0/issuer_signed_jwt/header/alg'),
]

const CHECKOUT_CASES: readonly RuleCase[] = [
  error('004', 'checkout', drop('/checkout_jwt'), '/checkout_jwt'),
  error('004', 'checkout', drop('/checkout_hash'), '/checkout_hash'),
  error('004', 'direct pair', set('/delegate_payload/0/checkout_jwt', ''), '/delegate_payload/0/checkout_jwt'),
  error('005', 'checkout', set('/checkout_jwt', 'ZmFrZS1qd3Q'), '/checkout_jwt'),
  error('005', 'checkout', signed({ alg: 'none' }), '/checkout_jwt'),
  error('005', 'checkout', signed({ alg: 'HS256' }), '/checkout_jwt'),
  error('005', 'checkout', signed({ typ: 'JWT' }), '/checkout_jwt'),
  error('005', 'disclosed checkout', set('/disclosures/0/decoded/2/header/alg', 'HS512')),
  error('006', 'checkout', set('/checkout_hash', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')),
  error('006', 'checkout', set('/checkout_hash', HASH.replace(/.$/, '=')), '/checkout_hash'),
  error('006', 'checkout', set('/checkout_hash', hashOf('another token')), '/checkout_hash'),
  error('006', 'checkout', set('/checkout_hash', hashOf('another', 'sha512')), '/checkout_hash'),
  error('038', 'with ucp', set('/payment_mandate/payment_amount/amount', 1), '/payment_mandate/payment_amount/amount'),
  error('038', 'with ucp', set('/payment_mandate/payment_amount/currency', 'EUR'), '/payment_mandate/payment_amount/currency'),
  error('038', 'direct pair', set('/delegate_payload/1/payment_amount/amount', 20_001), '/delegate_payload/1/payment_amount/amount'),
  error('038', 'disclosed checkout', set('/disclosures/0/decoded/2/payload/totals/2/amount', 20_001)),
  error('038', 'disclosed checkout', drop('/disclosures/0/decoded/2/payload/totals/0')),
  error('038', 'disclosed checkout', set('/disclosures/0/decoded/2/payload/status', 'open')),
  error('038', 'disclosed checkout', drop('/disclosures/0/decoded/2/payload/links')),
]

const PAYMENT_CASES: readonly RuleCase[] = [
  ...['transaction_id', 'payee', 'payment_amount', 'payment_instrument'].map((name) =>
    error('007', 'payment', drop(`/${name}`), `/${name}`),
  ),
  error('007', 'payment', set('/payee', 'merchant_1'), '/payee', { expected_payee: 'merchant_1', also: ['AP2-044'] }),
  error('008', 'payment', set('/transaction_id', 'tx_1'), '/transaction_id'),
  error('008', 'direct pair', set('/delegate_payload/1/transaction_id', hashOf('other')), '/delegate_payload/1/transaction_id'),
  error('009', 'payment', set('/payment_amount/amount', 279.99), '/payment_amount/amount'),
  error('009', 'payment', set('/payment_amount/amount', -1), '/payment_amount/amount'),
  error('009', 'payment', set('/payment_amount/amount', '20000'), '/payment_amount/amount'),
  error('009', 'payment', drop('/payment_amount/amount'), '/payment_amount/amount'),
  error('009', 'preset payment', set('/payment_amount', '200.00 USD'), '/payment_amount'),
  warning('009', 'payment', set('/payment_amount/amount', 0), '/payment_amount/amount'),
  warning('009', 'payment', literally('"amount":20000', '"amount":20000.00'), '/payment_amount/amount'),
  error('010', 'payment', set('/payment_amount/currency', 'usd'), '/payment_amount/currency'),
  error('010', 'payment', drop('/payment_amount/currency'), '/payment_amount/currency'),
  error('010', 'open payment', set('/constraints/1/currency', 'US$'), '/constraints/1/currency'),
  warning('010', 'payment', set('/payment_amount/currency', 'USX'), '/payment_amount/currency'),
  warning('010', 'payment', set('/payment_amount/currency', 'JPY'), '/payment_amount/currency'),
  warning('010', 'payment', set('/payment_amount/currency', 'KWD'), '/payment_amount/currency'),
  error('011', 'payment', drop('/payee/id'), '/payee/id', { expected_payee: 'Demo Merchant' }),
  error('011', 'payment', set('/payee/name', ''), '/payee/name'),
  warning('011', 'payment', drop('/payee/website'), '/payee/website'),
  warning('011', 'preset payment', set('/payee/website', 'http://demo-merchant.example'), '/payee/website'),
  error('012', 'payment', drop('/payment_instrument/type'), '/payment_instrument/type'),
  error('012', 'preset payment', drop('/payment_instrument/id'), '/payment_instrument/id'),
  // The number that card schemes give for tests.
  warning('012', 'payment', set('/payment_instrument/id', '4242424242424242'), '/payment_instrument/id'),
  warning('012', 'payment', set('/payment_instrument/description', 'Visa 4242 4242 4242 4242'), '/payment_instrument/description'),
  warning('012', 'open payment', set('/constraints/3/allowed/1/description', '4242-4242-4242-4242')),
  warning('012', 'checkout', set('/client_secret', 'shh-0123456789'), '/client_secret'),
  ...['legal_name', 'brand_name', 'domain_name'].map((name) =>
    error('013', 'preset chain', drop(`/mandates/1/pisp/${name}`), undefined, { also: ['AP2-032'] }),
  ),
  error('013', 'payment', set('/pisp', 'ExamplePay'), '/pisp'),
  error('016', 'payment', set('/execution_date', '24/12/2026'), '/execution_date'),
  error('016', 'payment', set('/execution_date', '2026-02-30'), '/execution_date'),
]

const TIME_CASES: readonly RuleCase[] = [
  error('014', 'payment', set('/iat', (NOW_S - 60) * 1_000), '/iat'),
  error('014', 'payment', set('/exp', `${NOW_S + 60}`), '/exp'),
  error('014', 'payment', set('/exp', NOW_S + 0.5), '/exp'),
  error('014', 'open payment', set('/exp', NOW_S - HOUR_S), '/exp'),
  error('014', 'checkout', set('/iat', NOW_S + 301), '/iat'),
  error('014', 'chain', set(`${BOUND}/iat`, NOW_S + 600), `${BOUND}/iat`),
  warning('014', 'payment', set('/exp', NOW_S - 1), '/exp'),
  warning('014', 'open payment', drop('/exp'), '/exp'),
  warning('015', 'payment', set('/exp', NOW_S + DAY_S), '/exp'),
  warning('015', 'open checkout', set('/exp', NOW_S + 366 * DAY_S), '/exp'),
]

const OPEN_CASES: readonly RuleCase[] = [
  error('017', 'open checkout', set('/constraints', []), '/constraints'),
  error('017', 'open payment', drop('/constraints'), '/constraints'),
  error('017', 'open payment', drop('/cnf'), '/cnf'),
  error('018', 'open payment', set('/cnf', { kid: 'agent' }), '/cnf/jwk'),
  error('018', 'open payment', set('/cnf/jwk/kty', 'OKP'), '/cnf/jwk/kty'),
  error('018', 'open payment', set('/cnf/jwk/crv', 'P-384'), '/cnf/jwk/crv'),
  error('018', 'open payment', set('/cnf/jwk/alg', 'ES384'), '/cnf/jwk/alg'),
  error('018', 'open checkout', set('/cnf/jwk/x', 'AAAA'), '/cnf/jwk/x'),
  error('018', 'open checkout', drop('/cnf/jwk/y'), '/cnf/jwk/y'),
  error('018', 'open checkout', set('/cnf/jwk/d', 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI'), '/cnf/jwk/d'),
  error('019', 'open checkout', drop('/constraints/0'), '/constraints'),
  error('020', 'open payment', drop('/constraints/0'), '/constraints'),
  error('020', 'open payment', drop('/constraints/0/conditional_transaction_id'), '/constraints/0/conditional_transaction_id'),
  error('021', 'open payment', set('/constraints/-', 'no refunds'), '/constraints/8'),
  error('021', 'open payment', set('/constraints/-', { max: 5 }), '/constraints/8/type'),
  warning('021', 'open payment', set('/constraints/-', { type: 'com.example.weekdays' }), '/constraints/8/type'),
  error('022', 'open checkout', set('/constraints/-', { type: 'payment.amount_range', currency: 'USD', max: 5 }), '/constraints/2/type'),
  error('022', 'open payment', set('/constraints/-', { type: 'checkout.allowed_merchants', allowed: [MERCHANT] }), '/constraints/8/type'),
  error('023', 'open payment', set('/constraints/-', { type: 'payment.amount_range', currency: 'USD', max: 99 }), '/constraints/8'),
  error('023', 'open payment', set('/constraints/-', { type: 'payment.execution_date', not_before: '2028-01-01' }), '/constraints/8'),
  warning('023', 'open payment', set('/constraints/-', { type: 'payment.allowed_payees', allowed: [MERCHANT] }), '/constraints/8'),
]

const PAYEE_CASES: readonly RuleCase[] = [
  error('044', 'payment', same, '/payee', { expected_payee: 'merchant_2' }),
  error('044', 'open payment', same, '/constraints/2/allowed', { expected_payee: 'merchant_3' }),
  error('044', 'open checkout', drop('/constraints/1/allowed/0'), '/constraints/1/allowed', { expected_payee: 'merchant_1' }),
  error('044', 'preset payment', same, '/payee', { expected_payee: 'second.example' }),
  error('044', 'checkout', same, '/checkout_jwt', { expected_payee: 'merchant_2' }),
  error('044', 'disclosed checkout', same, '/disclosures/0/decoded/2/payload/merchant', { expected_payee: 'merchant_2' }),
  error('044', 'intent', same, '/merchants', { expected_payee: 'Third Merchant' }),
  error('044', 'cart', same, '/contents/merchant_name', { expected_payee: 'Third Merchant' }),
  error('044', 'payment 0.1', same, '/payment_mandate_contents/merchant_agent', { expected_payee: 'OtherAgent' }),
  warning('044', 'checkout receipt', same, '', { expected_payee: 'merchant_1' }),
  warning('044', 'payment', set('/payee/id', '[REDACTED]'), '', { expected_payee: 'merchant_2', also: ['PRE-002'] }),
  warning('044', 'with ucp', set(PAYEE, '[REDACTED]'), '', { expected_payee: 'merchant_2', also: ['PRE-002', 'UCP-045'] }),
]

export const AP2_CASES: readonly RuleCase[] = [
  ...ENVELOPE_CASES,
  ...CHECKOUT_CASES,
  ...PAYMENT_CASES,
  ...TIME_CASES,
  ...OPEN_CASES,
  ...AP2_LIMIT_CASES,
  ...PAYEE_CASES,
]
