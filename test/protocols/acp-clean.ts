import { event_order, order, revised_order } from './acp-clean-orders.ts'
import { address, total } from './acp-clean-parts.ts'
import type { CleanDocument } from './harness.ts'

/** Right documents of ACP, built by hand from the published schemas of its five versions. */

const details = { name: 'Ada Berg', phone_number: '15035550123', email: 'ada@example.com', address }
const terms = [{ type: 'terms_of_use', url: 'https://shop.example.com/terms' }]
const window = { earliest_delivery_time: '2026-11-24T08:00:00Z', latest_delivery_time: '2026-11-26T18:00:00Z' }

const first_line = {
  id: 'li_1',
  item: { id: 'sku_1', quantity: 2 },
  base_amount: 4000,
  discount: 400,
  subtotal: 3600,
  tax: 288,
  total: 3888,
}
const first_totals = [
  total('items_base_amount', 4000),
  total('items_discount', 400),
  total('subtotal', 3600),
  total('tax', 288),
  total('fulfillment', 500),
  total('total', 4388),
]
const first = {
  id: 'cs_1',
  payment_provider: { provider: 'stripe', supported_payment_methods: ['card'] },
  status: 'ready_for_payment',
  currency: 'usd',
  line_items: [first_line],
  fulfillment_address: address,
  fulfillment_options: [
    { type: 'shipping', id: 'standard', title: 'Standard', ...window, subtotal: 500, tax: 0, total: 500 },
    { type: 'digital', id: 'download', title: 'Download', subtotal: 0, tax: 0, total: 0 },
  ],
  fulfillment_option_id: 'standard',
  totals: first_totals,
  messages: [],
  links: [...terms, { type: 'seller_shop_policies', url: 'https://shop.example.com/policies' }],
}

const { fulfillment_address: _address, fulfillment_option_id: _option, ...common } = first
const nested = [{ type: 'shipping', shipping: { option_id: 'standard', item_ids: ['sku_1'] } }]
const card = { type: 'card', supported_card_networks: ['visa', 'mastercard'] }
const december = {
  ...common,
  buyer: { first_name: 'Ada', last_name: 'Berg', email: 'ada@example.com' },
  payment_provider: { provider: 'stripe', supported_payment_methods: [card] },
  fulfillment_details: details,
  fulfillment_options: [{ type: 'shipping', id: 'standard', title: 'Standard', ...window, total: 500 }],
  selected_fulfillment_options: nested,
  links: [...terms, { type: 'return_policy', url: 'https://shop.example.com/returns' }],
}
const middle = {
  ...december,
  payment_provider: { provider: 'stripe', merchant_id: 'acct_1', supported_payment_methods: [card] },
  authentication_provider: { provider: 'adyen', merchant_id: 'acct_1', supported_authentication_methods: ['3ds'] },
  fulfillment_options: [{ type: 'shipping', id: 'standard', title: 'Standard', ...window, totals: [total('total', 500)] }],
}

const handler = {
  id: 'card',
  name: 'dev.acp.tokenized.card',
  version: '2026-01-22',
  spec: 'https://handlers.example.com/card',
  requires_delegate_payment: true,
  requires_pci_compliance: false,
  psp: 'stripe',
  config_schema: 'https://handlers.example.com/card/config.json',
  instrument_schemas: ['https://handlers.example.com/card/instrument.json'],
  config: { merchant_id: 'acct_1', psp: 'stripe' },
}
const line = {
  id: 'li_1',
  item: { id: 'sku_1' },
  quantity: 2,
  name: 'Wool blanket',
  unit_amount: 2000,
  disclosures: [{ type: 'disclaimer', content_type: 'markdown', content: 'Wash **cold**; see <https://shop.example.com/care> and `<b>`.' }],
  totals: [total('items_base_amount', 4000), total('discount', 400), total('subtotal', 3600), total('tax', 288), total('total', 3888)],
}
const second_line = {
  id: 'li_2',
  item: { id: 'sku_2', name: 'Soap', unit_amount: 150 },
  quantity: 1,
  totals: [total('items_base_amount', 150), total('subtotal', 150), total('tax', 12), total('total', 162)],
}
const location = { name: 'Pearl Street', address }
const options = [
  { type: 'shipping', id: 'standard', title: 'Standard', ...window, totals: [total('total', 500)] },
  {
    type: 'pickup',
    id: 'pickup',
    title: 'Pick up',
    location,
    ready_by: '2026-11-22T10:00:00Z',
    pickup_by: '2026-11-29T18:00:00Z',
    totals: [total('fulfillment', 0), total('total', 0)],
  },
  {
    type: 'local_delivery',
    id: 'courier',
    title: 'Tonight',
    delivery_window: { start: '2026-11-21T18:00:00-08:00', end: '2026-11-21T20:00:00-08:00' },
    totals: [total('fulfillment', 900), total('tax', 72), total('total', 972)],
  },
]
const modern = {
  id: 'cs_1',
  protocol: { version: '2026-01-30' },
  capabilities: { payment: { handlers: [handler] }, interventions: { supported: ['3ds'], required: [], enforcement: 'conditional' } },
  buyer: { email: 'ada@example.com' },
  status: 'ready_for_payment',
  currency: 'usd',
  line_items: [line, second_line],
  fulfillment_details: details,
  fulfillment_options: options,
  selected_fulfillment_options: [{ type: 'shipping', option_id: 'standard', item_ids: ['li_1', 'sku_2'] }],
  totals: [
    total('items_base_amount', 4150),
    total('items_discount', 400),
    total('subtotal', 3750),
    total('tax', 300),
    total('fulfillment', 500),
    total('tip', 100),
    total('store_credit', 50),
    total('total', 4600),
  ],
  messages: [{ type: 'info', content_type: 'plain', content: 'Two are left.', param: '$.line_items[0].quantity' }],
  links: [{ type: 'privacy_policy', title: 'Privacy', url: 'https://shop.example.com/privacy' }],
  created_at: '2026-11-21T11:00:00Z',
  expires_at: '2026-11-21T13:00:00Z',
}

const coupon = { id: 'c_1', name: 'Ten per cent', percent_off: 10 }
const discounts = {
  codes: ['WOOL10', 'OLD'],
  applied: [{ id: 'd_1', code: 'WOOL10', coupon, amount: 400, method: 'each', allocations: [{ path: '$.line_items[0]', amount: 400 }] }],
  rejected: [{ code: 'OLD', reason: 'discount_code_expired', message: 'It ended in May.' }],
}
const newest = {
  ...modern,
  protocol: { version: '2026-04-17' },
  discounts,
  presentment_currency: 'eur',
  exchange_rate: 0.92,
  exchange_rate_timestamp: '2026-11-21T11:00:00Z',
  totals: modern.totals.map((entry) => ({ ...entry, presentment_amount: 1 })),
  messages: [{ type: 'warning', code: 'discount_code_expired', resolution: 'recoverable', content_type: 'markdown', content: '*Ended.*' }],
  marketing_consent_options: [{ channel: 'email', display_text: 'News', privacy_policy_url: 'https://shop.example.com/privacy' }],
}
const { protocol: _protocol, ...unstated } = modern

const short_order = { id: 'o_1', checkout_session_id: 'cs_1', permalink_url: 'https://shop.example.com/orders/o_1' }

const details_3ds = {
  acquirer_bin: '411111',
  acquirer_country: 'US',
  acquirer_merchant_id: 'mid_1',
  merchant_name: 'Example Shop',
}
/** What the browser of the buyer says, for 3-D Secure. */
const channel = {
  type: 'browser',
  browser: { accept_header: '*/*', ip_address: '203.0.113.7', javascript_enabled: false, language: 'en', user_agent: 'Example/1.0' },
}
const allowance = {
  reason: 'one_time',
  max_amount: 5000,
  currency: 'usd',
  checkout_session_id: 'cs_1',
  merchant_id: 'acct_1',
  expires_at: '2026-11-21T13:00:00Z',
}
const delegation = {
  payment_method: { type: 'card', card_number_type: 'network_token', number: 'tok_1', display_card_funding_type: 'credit', metadata: {} },
  allowance,
  billing_address: address,
  risk_signals: [{ type: 'card_testing', score: 5, action: 'authorized' }],
  metadata: {},
}

const session = (version: string, version_source: 'declared' | 'inferred' | 'assumed') => ({
  type: 'checkout_session',
  version,
  version_source,
})
const other = (type: string, version_source: 'declared' | 'inferred' | 'assumed') => ({ type, version: '2026-04-17', version_source })

export const ACP_CLEAN: Readonly<Record<string, CleanDocument>> = {
  session_2025_09: { document: first, ...session('2025-09-29', 'inferred') },
  /** Goods by weight: 2025-09-29 asks for any number above zero. */
  weighed_2025_09: {
    document: { ...first, line_items: [{ ...first_line, item: { id: 'sku_1', quantity: 2.5 } }] },
    ...session('2025-09-29', 'inferred'),
  },
  session_2025_12: { document: december, ...session('2025-12-12', 'inferred') },
  session_2026_01_16: { document: middle, ...session('2026-01-16', 'inferred'), expected_payee: 'acct_1' },
  session_2026_01_30: { document: modern, ...session('2026-01-30', 'declared'), expected_payee: 'acct_1' },
  session_2026_04: { document: newest, ...session('2026-04-17', 'declared') },
  unstated: { document: unstated, ...session('2026-04-17', 'assumed'), warnings: ['ACP-046'] },
  authenticated: {
    document: {
      ...modern,
      status: 'authentication_required',
      authentication_metadata: { channel, acquirer_details: details_3ds, directory_server: 'visa' },
    },
    ...session('2026-01-30', 'declared'),
  },
  unready: {
    document: {
      ...modern,
      status: 'not_ready_for_payment',
      selected_fulfillment_options: [],
      totals: [],
      messages: [{ type: 'error', code: 'missing', param: '$.buyer.phone_number', content_type: 'plain', content: 'A number is needed.' }],
    },
    ...session('2026-01-30', 'declared'),
  },
  completed_2025_09: { document: { ...first, status: 'completed', order: short_order }, ...session('2025-09-29', 'inferred') },
  completed: { document: { ...newest, status: 'completed', order }, ...session('2026-04-17', 'declared') },
  wrapped: {
    document: { jsonrpc: '2.0', id: 1, result: modern },
    ...session('2026-01-30', 'declared'),
  },
  /** Discount beside the subtotal, as two official examples have it. */
  discounted: {
    document: {
      ...modern,
      line_items: [line],
      selected_fulfillment_options: [],
      totals: [total('items_base_amount', 4000), total('subtotal', 3600), total('discount', 400), total('tax', 288), total('total', 3888)],
    },
    ...session('2026-01-30', 'declared'),
  },
  order: { document: order, ...other('order', 'inferred') },
  revised_order: { document: revised_order, ...other('order', 'inferred') },
  order_event: { document: { type: 'order_update', data: order }, ...other('order', 'inferred'), needed: ['/type'] },
  old_order_event: {
    document: { type: 'order_update', data: event_order },
    ...other('order', 'inferred'),
    version: '2026-01-30',
    needed: ['/type', '/data/type'],
  },
  short_order: { document: short_order, ...other('order', 'assumed') },
  discovery: {
    document: {
      protocol: { name: 'acp', version: '2026-04-17', supported_versions: ['2025-09-29', '2026-01-30', '2026-04-17'] },
      api_base_url: 'https://acp.example.com/api',
      transports: ['rest', 'mcp'],
      capabilities: { services: ['checkout', 'orders'], supported_currencies: ['usd'] },
    },
    ...other('discovery', 'declared'),
  },
  error: {
    document: { type: 'invalid_request', code: 'missing', message: 'A currency is needed.', param: '$.currency' },
    ...other('error', 'assumed'),
  },
  wrapped_error: {
    document: {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message: 'No session', data: { type: 'invalid_request', code: 'not_found', message: 'No session' } },
    },
    ...other('error', 'assumed'),
  },
  version_error: {
    document: { type: 'invalid_request', code: 'unsupported_version', message: 'Too old.', supported_versions: ['2026-04-17'] },
    ...other('error', 'inferred'),
  },
  allowance: { document: allowance, ...other('allowance', 'assumed'), expected_payee: 'acct_1' },
  delegation: { document: delegation, ...other('allowance', 'assumed') },
  product: {
    document: {
      id: 'p_1',
      title: 'Wool blanket',
      description: { plain: 'Warm.' },
      url: 'https://shop.example.com/blankets',
      media: [{ type: 'image', url: 'https://shop.example.com/1.png', alt_text: 'A blanket', width: 640 }],
      variants: [
        {
          id: 'sku_1',
          title: 'Grey',
          url: 'https://shop.example.com/blankets/grey',
          barcodes: [{ type: 'gtin', value: '4006381333931' }],
          price: { amount: 2000, currency: 'USD' },
          list_price: { amount: 2500, currency: 'USD' },
          unit_price: { amount: 10, currency: 'USD', measure: { value: 1.5, unit: 'kg' }, reference: { value: 1, unit: 'kg' } },
          availability: { available: true, status: 'in_stock' },
          categories: [{ value: 'Bedding', taxonomy: 'google' }],
          condition: ['new'],
          variant_options: [{ name: 'Colour', value: 'Grey' }],
          seller: { name: 'Example Shop', links: [{ type: 'terms', url: 'https://shop.example.com/terms' }] },
        },
      ],
    },
    ...other('feed_product', 'assumed'),
  },
}
