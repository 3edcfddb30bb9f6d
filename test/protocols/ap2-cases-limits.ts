import { hashOf, tokenOf } from './ap2-clean-parts.ts'
import { error, warning } from './ap2-case.ts'
import { all, drop, NOW_S, set, type RuleCase } from './harness.ts'

/** Changes of right documents for the members of constraints, for limits, receipts, and version 0.1. */

const ITEMS = '/constraints/0/items'
const CLOSED = '/mandates/1'
const CONTENTS = '/contents'
const DETAILS = `${CONTENTS}/payment_request/details`
const PAID = '/payment_mandate_contents'
const CART = '/parts/0/data/ap2.mandates.CartMandate/contents/payment_request/details'
const COPY = '/parts/1/data/ap2.mandates.PaymentMandate/payment_mandate_contents'
const STRANGER = { id: 'merchant_9', name: 'Demo Merchant', website: 'https://demo-merchant.example' }

const claims = { iss: 'm', sub: 'm', aud: 'p', iat: NOW_S, exp: NOW_S + 900, jti: 'j', cart_hash: hashOf('cart') }
const { jti: _jti, ...unnamed } = claims

const CONSTRAINT_CASES: readonly RuleCase[] = [
  error('024', 'open checkout', set(ITEMS, []), ITEMS),
  error('024', 'open checkout', drop(ITEMS), ITEMS),
  error('024', 'open checkout', drop(`${ITEMS}/0/id`), `${ITEMS}/0/id`),
  error('024', 'open checkout', set(`${ITEMS}/1/id`, 'shoes'), `${ITEMS}/1/id`),
  error('024', 'open checkout', set(`${ITEMS}/0/quantity`, 0), `${ITEMS}/0/quantity`),
  error('024', 'open checkout', set(`${ITEMS}/0/quantity`, 1.5), `${ITEMS}/0/quantity`),
  error('024', 'open checkout', set(`${ITEMS}/0/acceptable_items`, []), `${ITEMS}/0/acceptable_items`),
  error('024', 'open checkout', drop(`${ITEMS}/0/acceptable_items/1/title`), `${ITEMS}/0/acceptable_items/1/title`),
  error('025', 'open checkout', set('/constraints/1/allowed', []), '/constraints/1/allowed'),
  error('025', 'open payment', drop('/constraints/2/allowed'), '/constraints/2/allowed', { also: ['AP2-044'] }),
  error('025', 'open payment', drop('/constraints/2/allowed/1/id'), '/constraints/2/allowed/1/id'),
  error('025', 'open payment', drop('/constraints/3/allowed/1/type'), '/constraints/3/allowed/1/type'),
  error('025', 'open payment', drop('/constraints/4/allowed/0/legal_name'), '/constraints/4/allowed/0/legal_name'),
  error('026', 'open payment', drop('/constraints/1/max'), '/constraints/1/max'),
  error('026', 'open payment', drop('/constraints/1/currency'), '/constraints/1/currency'),
  error('026', 'open payment', set('/constraints/1/max', 250.5), '/constraints/1/max'),
  error('026', 'open payment', all(drop('/constraints/1/min'), set('/constraints/1/max', -1)), '/constraints/1/max'),
  error('026', 'open payment', set('/constraints/1/min', 25_001), '/constraints/1/min'),
  error('027', 'open payment', drop('/constraints/6/max'), '/constraints/6/max'),
  error('027', 'open payment', drop('/constraints/6/currency'), '/constraints/6/currency'),
  error('027', 'open payment', set('/constraints/6/max', -0.5), '/constraints/6/max'),
  warning('027', 'open payment', set('/constraints/6/max', 1000), '/constraints/6/max'),
  warning('027', 'open payment', drop('/constraints/5'), '/constraints/5'),
  warning('027', 'open payment', drop('/constraints/6'), '/constraints/5'),
  error('028', 'open payment', set('/constraints/5/frequency', 'monthly'), '/constraints/5/frequency'),
  error('028', 'open payment', drop('/constraints/5/frequency'), '/constraints/5/frequency'),
  error('028', 'open payment', set('/constraints/5/max_occurrences', 0), '/constraints/5/max_occurrences'),
  error('029', 'open payment', set('/constraints/7/not_before', '2028-01-01'), '/constraints/7/not_before'),
  error('029', 'open payment', set('/constraints/7/not_after', '2026-11-20T23:59:59Z'), '/constraints/7/not_after'),
  error('029', 'open payment', set('/constraints/7/not_after', 'next year'), '/constraints/7/not_after'),
]

const LIMIT_CASES: readonly RuleCase[] = [
  error('030', 'open payment', set('/constraints/6/currency', 'EUR'), '/constraints/6/currency'),
  error('030', 'preset payment', set('/payment_amount/currency', 'EUR'), '/constraints/1/currency'),
  error('031', 'preset payment', set('/payment_amount/amount', 25_001), '/payment_amount/amount'),
  error('031', 'preset payment', set('/payment_amount/amount', 99), '/payment_amount/amount'),
  error('031', 'preset payment', set('/payee', STRANGER), '/payee'),
  error('031', 'preset payment', set('/payment_instrument/id', 'pi_other'), '/payment_instrument'),
  error('031', 'preset payment', set('/pisp/domain_name', 'other.example'), '/pisp'),
  error('031', 'preset payment', set('/execution_date', '2028-01-01'), '/execution_date'),
  error('031', 'preset payment', set('/execution_date', '20261001T000000Z'), '/execution_date'),
  error('032', 'preset chain', set(`${CLOSED}/payment_amount/amount`, 20_001), `${CLOSED}/payment_amount/amount`),
  error('032', 'preset chain', set('/mandates/0/constraints/6/max', 100.5), `${CLOSED}/payment_amount/amount`, { also: ['AP2-031'] }),
  error('031', 'preset payment', set('/constraints/6/max', 199.99), '/payment_amount/amount'),
  error('032', 'preset chain', set(`${CLOSED}/payment_amount/currency`, 'EUR'), `${CLOSED}/payment_amount/currency`),
  error('032', 'preset chain', set(`${CLOSED}/payee`, STRANGER), `${CLOSED}/payee`),
  error('032', 'preset chain', set(`${CLOSED}/payment_instrument/id`, 'pi_upi'), `${CLOSED}/payment_instrument`),
  error('032', 'preset chain', set(`${CLOSED}/pisp/brand_name`, 'OtherPay'), `${CLOSED}/pisp`),
  error('032', 'preset chain', set(`${CLOSED}/execution_date`, '2026-12-27'), `${CLOSED}/execution_date`),
  error('032', 'chain', set('/chain/1/disclosures/0/decoded/1/payment_amount/amount', 20_001)),
  error('032', 'chain', set('/chain/1/disclosures/0/decoded/1/payee', STRANGER), undefined, { also: ['AP2-044'] }),
  warning('033', 'open payment', all(drop('/constraints/6'), drop('/constraints/5'), drop('/constraints/1')), '/constraints'),
  warning('033', 'open payment', drop('/constraints/2'), '/constraints', { also: ['AP2-044'] }),
]

const RECEIPT_CASES: readonly RuleCase[] = [
  ...['status', 'iss', 'iat', 'reference', 'order_id'].map((name) => error('037', 'checkout receipt', drop(`/${name}`), `/${name}`)),
  ...['payment_id', 'psp_confirmation_id', 'network_confirmation_id'].map((name) =>
    error('037', 'payment receipt', drop(`/${name}`), `/${name}`),
  ),
  ...['error', 'error_description'].map((name) => error('037', 'failed receipt', drop(`/${name}`), `/${name}`)),
  error('037', 'payment receipt', set('/error', 'declined'), '/error'),
  error('037', 'payment receipt', set('/status', 'Pending'), '/status'),
  error('037', 'checkout receipt', set('/iat', NOW_S * 1_000), '/iat'),
  warning('037', 'checkout receipt', set('/status', 'success'), '/status'),
  warning('037', 'failed receipt', set('/status', 'error'), '/status'),
]

const LEGACY_CASES: readonly RuleCase[] = [
  error('039', 'intent', drop('/natural_language_description'), '/natural_language_description'),
  error('039', 'intent', drop('/intent_expiry'), '/intent_expiry'),
  error('039', 'intent', set('/skus', {}), '/skus'),
  error('039', 'intent', set('/skus', [7]), '/skus/0'),
  error('039', 'intent', set('/requires_refundability', 'yes'), '/requires_refundability'),
  error('039', 'intent', set('/intent_expiry', 'tomorrow'), '/intent_expiry'),
  warning('039', 'intent', set('/user_cart_confirmation_required', false), '/user_cart_confirmation_required'),
  ...['id', 'merchant_name', 'cart_expiry', 'user_cart_confirmation_required', 'payment_request'].map((name) =>
    error('040', 'cart', drop(`${CONTENTS}/${name}`), `${CONTENTS}/${name}`, { also: ['AP2-044'] }),
  ),
  ...['id', 'display_items', 'total'].map((name) => error('040', 'cart', drop(`${DETAILS}/${name}`), `${DETAILS}/${name}`)),
  error('040', 'cart', set(`${CONTENTS}/payment_request/method_data`, []), `${CONTENTS}/payment_request/method_data`),
  error('040', 'cart', set(`${CONTENTS}/user_cart_confirmation_required`, 'yes')),
  error('040', 'cart', set(`${CONTENTS}/cart_expiry`, 'soon'), `${CONTENTS}/cart_expiry`),
  error('040', 'cart', set(`${DETAILS}/total/amount/value`, 120.01), `${DETAILS}/display_items`),
  error('040', 'cart', set(`${DETAILS}/display_items/0/amount/value`, '1e2')),
  error('040', 'cart', set(`${DETAILS}/display_items/1/amount/currency`, 'EUR'), `${DETAILS}/display_items/1/amount/currency`),
  error('041', 'cart', set('/merchant_authorization', 'sig_merchant_shoes_abc1'), '/merchant_authorization'),
  error('041', 'cart', set('/merchant_authorization', tokenOf({ alg: 'ES256' }, unnamed)), '/merchant_authorization'),
  error('041', 'cart', set('/merchant_authorization', { header: {}, payload: unnamed }), '/merchant_authorization/payload/jti'),
  warning('041', 'cart', drop('/merchant_authorization'), '/merchant_authorization'),
  warning(
    '041',
    'cart',
    set('/merchant_authorization', tokenOf({ alg: 'ES256' }, { ...claims, exp: NOW_S + 3_600 })),
    '/merchant_authorization',
  ),
  ...['payment_mandate_id', 'payment_details_id', 'payment_details_total', 'payment_response', 'merchant_agent'].map((name) =>
    error('042', 'payment 0.1', drop(`${PAID}/${name}`), `${PAID}/${name}`),
  ),
  error('042', 'payment 0.1', drop(`${PAID}/payment_response/method_name`), `${PAID}/payment_response/method_name`),
  error('042', 'payment 0.1', set(`${PAID}/payment_response/request_id`, 'order_2'), `${PAID}/payment_response/request_id`),
  error(
    '042',
    'message 0.1',
    all(set(`${CART}/total/amount/value`, 121), set(`${CART}/display_items/0/amount/value`, 100.9)),
    `${COPY}/payment_details_total/amount/value`,
  ),
  error('042', 'message 0.1', set(`${COPY}/payment_details_total/amount/currency`, 'EUR'), `${COPY}/payment_details_total/amount/currency`),
  error('042', 'message 0.1', set(`${CART}/id`, 'order_2'), `${COPY}/payment_details_id`),
  warning('043', 'payment 0.1', drop('/user_authorization'), '/user_authorization'),
  error('043', 'payment 0.1', set('/user_authorization', 7), '/user_authorization'),
]

export const AP2_LIMIT_CASES: readonly RuleCase[] = [...CONSTRAINT_CASES, ...LIMIT_CASES, ...RECEIPT_CASES, ...LEGACY_CASES]
