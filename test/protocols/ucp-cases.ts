import { all, drop, literally, set, type Change, type RuleCase } from './harness.ts'

/** One change of a right document for each rule of UCP and each severity it has. */

type More = Partial<Pick<RuleCase, 'expected_payee' | 'now_s'>>

const error = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  code: `UCP-${code}`,
  severity: 'error',
  from,
  change,
  ...(at === undefined ? {} : { at }),
  ...more,
})
const warning = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  ...error(code, from, change, at, more),
  severity: 'warning',
})
const same: Change = (text) => text

const SHOPPING = '/ucp/services/dev.ucp.shopping'
const CHECKOUT = '/ucp/capabilities/dev.ucp.shopping.checkout'
const DISCOUNT = '/ucp/capabilities/dev.ucp.shopping.discount/0'
const TOKENIZER = '/ucp/payment_handlers/com.example.tokenizer/0'
const GPAY = '/ucp/payment_handlers/com.google.pay/0'
const METHOD = '/fulfillment/methods/0'
/** 32 bytes of zero in base64url. */
const COORDINATE = 'A'.repeat(43)
const ELSEWHERE = 'https://cdn.example.net/schema.json'

/** Gives a member another name. */
const renamed =
  (holder: string, from: string, to: string): Change =>
  (text) => {
    const root = JSON.parse(text) as Record<string, unknown>
    let place = root
    for (const step of holder.split('/').slice(1)) place = place[step] as Record<string, unknown>
    place[to] = place[from]
    delete place[from]
    return JSON.stringify(root)
  }

const escalated = all(
  set('/status', 'requires_escalation'),
  set('/messages', [{ type: 'error', code: 'age', severity: 'requires_buyer_input', content: 'Confirm your age' }]),
)

const PROFILE_CASES: readonly RuleCase[] = [
  { ...error('001', 'checkout 04-08', set('/ucp', '2026-04-08'), '/ucp'), also: ['UCP-041'] },
  error('001', 'checkout 04-08', set('/ucp/status', 'error'), '/ucp/status'),
  error('001', 'catalog 04-08', set('/ucp/status', 'error'), '/ucp/status'),
  error('001', 'error 08-25', set('/ucp', []), '/ucp'),
  ...['draft', '1.0', 'latest', '2026-02-30', '2026-4-8', ''].map((version) =>
    error('002', 'business 08-25', set('/ucp/version', version), '/ucp/version'),
  ),
  error('002', 'order 01-11', set('/ucp/version', 20_260_111), '/ucp/version'),
  error('002', 'catalog 08-25', drop('/ucp/version'), '/ucp/version'),
  warning('003', 'checkout 08-25', set('/ucp/version', '2027-01-01'), '/ucp/version'),
  warning('003', 'order 01-23', set('/ucp/version', '2026-03-01'), '/ucp/version'),
  error('004', 'order 04-08', set('/ucp/capabilities', [{ name: 'dev.ucp.shopping.order', version: '2026-04-08' }]), '/ucp/capabilities'),
  warning('004', 'order 01-11', set('/ucp/capabilities', { 'dev.ucp.shopping.order': [{ version: '2026-01-11' }] }), '/ucp/capabilities'),
  error('004', 'order 01-11', set('/ucp/capabilities', { 'dev.ucp.shopping.order': { version: '2026-01-11' } }), '/ucp/capabilities'),
  error('004', 'business 01-11', set(SHOPPING, [{ version: '2026-01-11' }]), SHOPPING),
  error('004', 'business 01-11', set('/payment/handlers', {}), '/payment/handlers'),
  error('004', 'business 04-08', set(SHOPPING, { version: '2026-04-08' }), SHOPPING),
  error('004', 'business 04-08', set(GPAY, 'gpay'), GPAY),
  error('005', 'business 04-08', drop('/ucp/services'), '/ucp/services'),
  error('005', 'business 01-23', drop('/ucp/payment_handlers'), '/ucp/payment_handlers'),
  error('005', 'business 01-11', drop('/ucp/services'), '/ucp/services'),
  error('005', 'business 01-11', drop('/ucp/capabilities'), '/ucp/capabilities'),
  ...['Com.Example.pay', 'example', 'com.example.', 'com.ex-ample.pay'].map((name) =>
    error('006', 'business 04-08', set(`/ucp/payment_handlers/${name}`, []), `/ucp/payment_handlers/${name}`),
  ),
  error('006', 'business 08-25', set('/ucp/payment_handlers/com.example.-pay', []), '/ucp/payment_handlers/com.example.-pay'),
  error('006', 'business 01-11', set('/payment/handlers/0/name', 'tokenizer'), '/payment/handlers/0/name'),
  error('006', 'order 01-11', drop('/ucp/capabilities/0/name'), '/ucp/capabilities/0/name'),
  error('007', 'business 04-08', set(`${CHECKOUT}/0/version`, '1.0'), `${CHECKOUT}/0/version`),
  error('007', 'business 01-11', drop('/payment/handlers/0/version'), '/payment/handlers/0/version'),
  error('007', 'checkout 08-25', drop(`${GPAY}/version`), `${GPAY}/version`),
  error('008', 'business 04-08', set(`${SHOPPING}/3/transport`, 'graphql'), `${SHOPPING}/3/transport`),
  error('008', 'business 01-23', drop(`${SHOPPING}/3/transport`), `${SHOPPING}/3/transport`),
  error('009', 'business 04-08', drop(`${SHOPPING}/0/endpoint`), `${SHOPPING}/0/endpoint`),
  error('009', 'business 08-25', drop(`${SHOPPING}/2/endpoint`), `${SHOPPING}/2/endpoint`),
  error('009', 'business 01-11', drop(`${SHOPPING}/rest/endpoint`), `${SHOPPING}/rest/endpoint`),
  error('010', 'platform 04-08', drop(`${SHOPPING}/0/schema`), `${SHOPPING}/0/schema`),
  error('010', 'platform 08-25', drop(`${SHOPPING}/2/spec`), `${SHOPPING}/2/spec`),
  error('010', 'platform 01-23', drop(`${SHOPPING}/1/endpoint`), `${SHOPPING}/1/endpoint`),
  error('010', 'business 01-11', drop(`${SHOPPING}/embedded/schema`), `${SHOPPING}/embedded/schema`),
  ...['http://shop.example.com/ucp', '{{ENDPOINT}}', '/ucp', 'https://user:pass@shop.example.com/ucp'].map((endpoint) =>
    error('011', 'business 04-08', set(`${SHOPPING}/0/endpoint`, endpoint), `${SHOPPING}/0/endpoint`),
  ),
  warning('011', 'business 01-11', set(`${SHOPPING}/rest/endpoint`, 'https://shop.example.com/ucp/'), `${SHOPPING}/rest/endpoint`),
  ...['localhost:8182', '10.0.0.1', '[::1]', 'shop.local', 'shop'].map((host) =>
    warning('012', 'business 08-25', set(`${SHOPPING}/0/endpoint`, `https://${host}/ucp`), `${SHOPPING}/0/endpoint`),
  ),
  error('013', 'platform 04-08', drop(`${CHECKOUT}/0/spec`), `${CHECKOUT}/0/spec`),
  error('013', 'business 08-25', drop(`${CHECKOUT}/0/schema`), `${CHECKOUT}/0/schema`),
  error('013', 'business 01-11', drop('/ucp/capabilities/0/schema'), '/ucp/capabilities/0/schema'),
  error('013', 'checkout 04-08', set(`${CHECKOUT}/0/config`, 'none'), `${CHECKOUT}/0/config`),
  warning('013', 'business 04-08', drop(`${CHECKOUT}/0/schema`), `${CHECKOUT}/0/schema`),
  ...[
    ELSEWHERE,
    'http://ucp.dev/schema.json',
    'https://user@ucp.dev/schema.json',
    'https://127.0.0.1/a',
    'https://localhost/a',
    'https://dev/a',
    'schema.json',
  ].map((schema) => error('014', 'business 04-08', set(`${CHECKOUT}/0/schema`, schema), `${CHECKOUT}/0/schema`)),
  error('014', 'business 08-25', set(`${TOKENIZER}/schema`, 'https://cdn.example.com/a.json'), `${TOKENIZER}/schema`),
  error('014', 'business 08-25', set(`${SHOPPING}/0/schema`, ELSEWHERE), `${SHOPPING}/0/schema`),
  warning('014', 'business 04-08', set(`${TOKENIZER}/schema`, 'https://cdn.example.com/a.json'), `${TOKENIZER}/schema`),
  warning('014', 'business 01-11', set(`${SHOPPING}/mcp/schema`, ELSEWHERE), `${SHOPPING}/mcp/schema`),
  error('015', 'business 04-08', set(`${CHECKOUT}/0/spec`, 'https://example.com/checkout'), `${CHECKOUT}/0/spec`),
  error('015', 'business 08-25', set(`${CHECKOUT}/0/spec`, 'http://ucp.dev/checkout'), `${CHECKOUT}/0/spec`),
  warning(
    '016',
    'business 04-08',
    set('/ucp/capabilities/dev.ucp.shopping.checkuot', [{ version: '2026-04-08', schema: 'https://ucp.dev/a.json' }]),
  ),
  warning('016', 'business 01-23', set('/ucp/capabilities/dev.ucp.shopping.cart', [{ version: '2026-01-23' }])),
  error('017', 'business 04-08', set(`${DISCOUNT}/extends`, []), `${DISCOUNT}/extends`),
  error('017', 'business 01-23', set(`${DISCOUNT}/extends`, ['dev.ucp.shopping.checkout']), `${DISCOUNT}/extends`),
  error('017', 'business 04-08', set(`${DISCOUNT}/extends/1`, 'Cart'), `${DISCOUNT}/extends/1`),
  error('017', 'order 01-11', set('/ucp/capabilities/0/extends', 7), '/ucp/capabilities/0/extends'),
  warning('017', 'business 08-25', set(`${DISCOUNT}/extends`, 'dev.ucp.shopping.cart'), `${DISCOUNT}/extends`),
  error('018', 'order 04-08', set('/ucp/capabilities/dev.ucp.shopping.order/-', { version: '2026-04-08' })),
  error('018', 'order 01-11', set('/ucp/capabilities/-', { name: 'dev.ucp.shopping.order', version: '2026-01-11' })),
  warning(
    '018',
    'business 04-08',
    all(set(`${SHOPPING}/0/transport`, 'mcp'), set(`${SHOPPING}/0/endpoint`, 'https://shop.example.com/mcp')),
  ),
  error('019', 'business 04-08', drop(`${GPAY}/id`), `${GPAY}/id`),
  error('019', 'checkout 01-11', drop('/payment/handlers/0/instrument_schemas'), '/payment/handlers/0/instrument_schemas'),
  warning('019', 'business 08-25', set(`${GPAY}/id`, 'card'), `${GPAY}/id`),
  error('020', 'business 04-08', set(`${TOKENIZER}/available_instruments`, [])),
  error('020', 'business 04-08', drop(`${TOKENIZER}/available_instruments/0/type`)),
  error('020', 'checkout 08-25', set(`${TOKENIZER}/available_instruments/0/constraints`, {})),
  error('021', 'business 04-08', set('/ucp/supported_versions/1.0', 'https://shop.example.com/ucp/1')),
  error('021', 'business 04-08', set('/ucp/supported_versions/2026-01-23', '/ucp/2026-01-23')),
  warning('021', 'business 08-25', set('/ucp/supported_versions/2026-08-25', 'https://shop.example.com/ucp')),
  error('022', 'business 04-08', renamed('', 'signing_keys', 'keys'), '/keys'),
  error('022', 'business 08-25', renamed('', 'keys', 'signing_keys'), '/signing_keys'),
  error('022', 'business 08-25', set('/ucp/keys', []), '/ucp/keys'),
  error('023', 'business 04-08', drop('/signing_keys/0/kid'), '/signing_keys/0/kid'),
  error('023', 'business 08-25', drop('/keys/0/y'), '/keys/0/y'),
  error('023', 'business 08-25', drop('/keys/1/x'), '/keys/1/x'),
  error('023', 'business 01-11', set('/signing_keys/0/x', 'AAAA'), '/signing_keys/0/x'),
  error('023', 'business 01-23', set('/signing_keys/0/y', 'not base64url!'), '/signing_keys/0/y'),
  error('023', 'business 08-25', set('/keys/-', { kid: 'r', kty: 'RSA', e: 'AQAB' }), '/keys/2/n'),
  error('023', 'business 08-25', set('/keys/-', { kid: 'r', kty: 'RSA', n: 'AQAB' }), '/keys/2/e'),
  error('023', 'business 08-25', all(set('/keys/1/crv', 'P-256'), drop('/keys/1/alg')), '/keys/1/crv'),
  ...['Ed25519', 'Ed448', 'X25519', 'X448'].map((curve) =>
    error('023', 'business 08-25', set('/keys/-', { kid: 'r', kty: 'EC', crv: curve, x: COORDINATE, y: COORDINATE }), '/keys/2/crv'),
  ),
  ...['d', 'k', 'qi'].map((name) => error('024', 'business 08-25', set(`/keys/1/${name}`, 'c2VjcmV0'), `/keys/1/${name}`)),
  warning('024', 'checkout 04-08', set('/note', 'sk_live_0123456789abcdef'), '/note'),
  error('025', 'business 04-08', set('/signing_keys/1/kid', 'shop_2026'), '/signing_keys/1/kid'),
  warning('025', 'business 04-08', set('/signing_keys/0/alg', 'ES384'), '/signing_keys/0/alg'),
  error('025', 'business 08-25', set('/keys/0/alg', 'ES384'), '/keys/0/alg'),
  warning('025', 'business 08-25', drop('/keys/0'), '/keys'),
  warning('026', 'platform 01-23', set('/ucp/capabilities/dev.ucp.shopping.order/0/config/webhook_url', '/orders')),
  // Without its webhook and without endpoints, a profile that takes orders is that of a business.
  error('009', 'platform 04-08', drop('/ucp/capabilities/dev.ucp.shopping.order/0/config'), `${SHOPPING}/0/endpoint`),
  error(
    '009',
    'business 04-08',
    all(...[0, 1, 2].map((index) => drop(`${SHOPPING}/${index}/endpoint`)), drop('/ucp/supported_versions')),
    `${SHOPPING}/0/endpoint`,
  ),
  error('047', 'checkout 04-08', set('/ucp/status', 'banana'), '/ucp/status'),
  error('047', 'cart 08-25', set('/ucp/status', ''), '/ucp/status'),
  ...['not a url', '', '/terms'].map((url) => error('027', 'checkout 04-08', set('/links/0/url', url), '/links/0/url')),
  error('027', 'order 04-08', set('/permalink_url', ''), '/permalink_url'),
  error('040', 'completed 04-08', set('/order/permalink_url', 'not a url'), '/order/permalink_url'),
  error('041', 'order 04-08', set('/fulfillment/events/0/tracking_url', 'soon'), '/fulfillment/events/0/tracking_url'),
  error('030', 'checkout 04-08', set('/discounts/applied/0/allocations/0/amount', -1), '/discounts/applied/0/allocations/0/amount'),
  error('046', 'catalog 04-08', set('/products/0/description', {}), '/products/0/description'),
  error('014', 'business 04-08', set(`${SHOPPING}/0/schema`, 'not a url'), `${SHOPPING}/0/schema`),
  error('019', 'business 04-08', set(`${TOKENIZER}/schema`, ''), `${TOKENIZER}/schema`),
  warning('026', 'platform 01-11', set('/ucp/capabilities/2/config/webhook_url', 'http://agent.example.com/orders')),
  error('045', 'business 04-08', same, `${TOKENIZER}/config/merchant_id`, { expected_payee: 'm_0815' }),
  error('045', 'checkout 01-11', same, '/payment/handlers/0/config/merchant_id', { expected_payee: 'm_0815' }),
  warning('045', 'business 04-08', set(`${GPAY}/config`, { merchant_info: { merchant_id: 'm_0815' } }), undefined, {
    expected_payee: 'm_4711',
  }),
  warning('045', 'checkout 08-25', same, '/continue_url', { expected_payee: 'other.example.net' }),
  warning('045', 'business 01-23', same, `${SHOPPING}/0/endpoint`, { expected_payee: 'https://other.example.net/shop' }),
  warning('045', 'error 04-08', same, '', { expected_payee: 'm_4711' }),
]

const RESPONSE_CASES: readonly RuleCase[] = [
  ...['id', 'line_items', 'status', 'currency', 'totals', 'links'].map((name) =>
    error('027', 'checkout 04-08', drop(`/${name}`), `/${name}`),
  ),
  error('027', 'checkout 01-23', drop('/ucp/payment_handlers'), '/ucp/payment_handlers'),
  error('027', 'order 01-11', drop('/ucp/capabilities'), '/ucp/capabilities'),
  error('027', 'order 08-25', drop('/permalink_url'), '/permalink_url'),
  error('027', 'cart 04-08', drop('/id'), '/id'),
  error('027', 'wrapped 08-25', drop('/result/structuredContent/links'), '/result/structuredContent/links'),
  ...['cancelled', 'open', 'COMPLETED', ''].map((status) => error('028', 'completed 04-08', set('/status', status), '/status')),
  error('029', 'checkout 04-08', set('/currency', 'US$'), '/currency'),
  warning('029', 'order 01-11', set('/currency', 'usd'), '/currency'),
  warning('029', 'cart 08-25', set('/currency', 'USX'), '/currency'),
  error('030', 'checkout 04-08', set('/line_items/0/item/price', -1250), '/line_items/0/item/price'),
  error('030', 'checkout 01-11', set('/totals/5/amount', '3440'), '/totals/5/amount'),
  error('030', 'checkout 08-25', set('/discounts/applied/0/amount', 2.5), '/discounts/applied/0/amount'),
  error('030', 'order 04-08', drop('/totals/3/amount'), '/totals/3/amount'),
  error('030', 'catalog 08-25', set('/products/0/variants/0/price/amount', 12.5), '/products/0/variants/0/price/amount'),
  error('031', 'order 04-08', drop('/totals/5'), '/totals'),
  error('031', 'checkout 08-25', set('/totals/-', { type: 'total', amount: 3440 }), '/totals'),
  warning('031', 'checkout 01-11', drop('/totals/0'), '/totals'),
  error('032', 'checkout 04-08', all(set('/totals/1/amount', 300), set('/totals/5/amount', 4040)), '/totals/1/amount'),
  error('032', 'cart 08-25', all(set('/totals/2/amount', -490), set('/totals/5/amount', 2460)), '/totals/2/amount'),
  error('032', 'checkout 04-08', set('/totals/-', { type: 'deposit', amount: 0 }), '/totals/6/display_text'),
  error('032', 'checkout 01-11', set('/totals/-', { type: 'deposit', amount: 0, display_text: 'Deposit' }), '/totals/6/type'),
  error('032', 'order 01-23', all(set('/totals/1/amount', -300), set('/totals/5/amount', 4040)), '/totals/1/amount'),
  error('033', 'checkout 04-08', set('/totals/5/amount', 3390), '/totals'),
  error('033', 'cart 08-25', set('/totals/-', { type: 'fee', amount: 100 }), '/totals'),
  warning('033', 'checkout 01-11', set('/totals/5/amount', 3441), '/totals'),
  error('034', 'checkout 04-08', set('/totals/4/lines/0/amount', 21), '/totals/4/lines'),
  error('034', 'order 01-11', drop('/totals/4/lines/1'), '/totals/4/lines'),
  error('035', 'checkout 04-08', set('/line_items/1/quantity', 0), '/line_items/1/quantity'),
  error('035', 'checkout 01-11', set('/line_items/1/quantity', -1), '/line_items/1/quantity'),
  error('035', 'cart 08-25', set('/line_items/1/id', 'li_1'), '/line_items/1/id'),
  error('035', 'cart 04-08', set('/line_items/1/parent_id', 'li_9'), '/line_items/1/parent_id'),
  error(
    '035',
    'cart 04-08',
    all(set('/line_items/0/parent_id', 'li_2'), set('/line_items/1/parent_id', 'li_1')),
    '/line_items/0/parent_id',
  ),
  error('035', 'order 04-08', set('/line_items/0/quantity/fulfilled', 3), '/line_items/0/quantity/fulfilled'),
  error('035', 'order 01-11', set('/line_items/0/quantity', 2), '/line_items/0/quantity'),
  warning('036', 'checkout 04-08', set('/line_items/0/item/price', 1251), '/line_items/0/totals'),
  warning('036', 'order 01-11', set('/line_items/1/totals/0/amount', 501), '/totals'),
  error('037', 'checkout 04-08', all(escalated, drop('/continue_url')), '/continue_url'),
  error('037', 'checkout 01-11', set('/status', 'requires_escalation'), '/messages'),
  error('038', 'checkout 04-08', set('/continue_url', '/checkout/chk_1'), '/continue_url'),
  error('038', 'error 08-25', set('/continue_url', 'http://shop.example.com/'), '/continue_url'),
  warning('038', 'checkout 01-11', drop('/continue_url'), '/continue_url'),
  warning('038', 'completed 08-25', set('/continue_url', 'https://shop.example.com/c/1'), '/continue_url'),
  error('039', 'checkout 04-08', set('/messages/1/type', 'failure'), '/messages/1/type'),
  error('039', 'checkout 01-11', drop('/messages/0/severity'), '/messages/0/severity'),
  error('039', 'error 08-25', drop('/messages/0/code'), '/messages/0/code'),
  error('039', 'checkout 08-25', drop('/messages/2/content'), '/messages/2/content'),
  warning('039', 'checkout 04-08', set('/messages/0/path', 'buyer.phone_number'), '/messages/0/path'),
  error('040', 'completed 08-25', drop('/order'), '/order'),
  error('040', 'completed 01-11', drop('/order/permalink_url'), '/order/permalink_url'),
  error(
    '040',
    'checkout 08-25',
    all(set('/status', 'complete_in_progress'), set('/order', { id: 'ord_1', permalink_url: 'https://shop.example.com/o/1' })),
  ),
  warning('040', 'completed 04-08', drop('/order'), '/order'),
  warning('040', 'checkout 04-08', set('/status', 'ready_for_complete'), '/messages/0'),
  error('048', 'checkout 08-25', set('/policies', 'none'), '/policies'),
  error('048', 'checkout 08-25', set('/policies', [{ type: 7 }]), '/policies/0/type'),
  error('048', 'checkout 08-25', set('/actions', [7]), '/actions'),
  error('048', 'catalog 08-25', set('/messages', 'x'), '/messages'),
  error('048', 'catalog 08-25', set('/messages', ['x']), '/messages/0'),
  error('041', 'checkout 04-08', set(`${METHOD}/line_item_ids/1`, 'li_9'), `${METHOD}/line_item_ids/1`),
  warning(
    '041',
    'checkout 08-25',
    set(`${METHOD}/groups/0/options/0/description`, 'Within two days'),
    `${METHOD}/groups/0/options/0/description`,
  ),
  error('041', 'checkout 08-25', set(`${METHOD}/groups/0/options/0/description`, 7), `${METHOD}/groups/0/options/0/description`),
  error('041', 'checkout 08-25', set(`${METHOD}/selected_destination_id`, 'work'), `${METHOD}/selected_destination_id`),
  error('041', 'checkout 01-11', set(`${METHOD}/groups/0/selected_option_id`, 'express'), `${METHOD}/groups/0/selected_option_id`),
  error('041', 'checkout 01-11', set('/discounts/applied/0/allocations/0/path', '$.line_items[2]')),
  error('041', 'order 04-08', set('/fulfillment/events/0/line_items/0/id', 'li_9'), '/fulfillment/events/0/line_items/0/id'),
  error('041', 'order 01-11', set('/adjustments/0/line_items/0/id', 'li_9'), '/adjustments/0/line_items/0/id'),
  error('042', 'completed 04-08', set('/ap2/merchant_authorization', 'e30.e30.c2ln'), '/ap2/merchant_authorization'),
  error('042', 'completed 08-25', set('/ap2/checkout_mandate', 'mandate'), '/ap2/checkout_mandate'),
  warning('042', 'completed 01-11', drop('/ap2/merchant_authorization'), '/ap2/merchant_authorization'),
  error('043', 'error 04-08', set('/messages', []), '/messages'),
  error('043', 'error 08-25', set('/id', 'chk_1'), '/id'),
  error('043', 'error 04-08', drop('/ucp/status'), '/ucp/status'),
  error('044', 'checkout 04-08', set('/expires_at', '2026-11-21 18:00'), '/expires_at'),
  error('044', 'order 01-11', set('/fulfillment/events/0/occurred_at', 'yesterday'), '/fulfillment/events/0/occurred_at'),
  warning('044', 'checkout 08-25', literally('2026-11-21T18:00:00Z', '2026-11-21T11:59:59Z'), '/expires_at'),
]

export const UCP_CASES: readonly RuleCase[] = [...PROFILE_CASES, ...RESPONSE_CASES]
