/** Right responses of UCP: one set of flowers, as each version writes it. */

export type Version = '2026-01-11' | '2026-01-23' | '2026-04-08' | '2026-08-25'

export const isSigned = (version: Version) => version >= '2026-04-08'

export const firstHandler = {
  id: 'card',
  name: 'com.example.tokenizer',
  version: '2026-01-11',
  spec: 'https://example.com/ucp/tokenizer',
  config_schema: 'https://example.com/ucp/tokenizer.json',
  instrument_schemas: ['https://ucp.dev/schemas/shopping/types/card_payment_instrument.json'],
  config: { merchant_id: 'm_4711', endpoint: 'https://shop.example.com/tokens' },
}

/** The newest version writes constraints as expressions (schemas/common/types/constraint_expression.json). */
const constraintsOf = (version: Version) =>
  version >= '2026-08-25' ? { properties: { brands: { enum: ['visa'] } } } : { brands: ['visa'] }

export const handlers = (version: Version) => ({
  'com.example.tokenizer': [
    {
      id: 'card',
      version,
      spec: 'https://example.com/ucp/tokenizer',
      schema: 'https://example.com/ucp/tokenizer.json',
      ...(isSigned(version) ? { available_instruments: [{ type: 'card', constraints: constraintsOf(version) }] } : {}),
      config: { merchant_id: 'm_4711' },
    },
  ],
  'com.google.pay': [{ id: 'gpay', version, spec: 'https://pay.google.com/ucp', schema: 'https://pay.google.com/ucp/config.json' }],
})

const meta = (version: Version, name: string) => ({
  version,
  capabilities: version === '2026-01-11' ? [{ name, version }] : { [name]: [{ version }] },
})

const JWS_HEADER = 'eyJhbGciOiJFUzI1NiIsImtpZCI6InNob3BfMjAyNiJ9'

const line = (id: string, price: number, quantity: unknown, subtotal: number) => ({
  id,
  item: { id: `sku_${id}`, title: 'Roses', price, image_url: 'https://shop.example.com/roses.png' },
  quantity,
  totals: [
    { type: 'subtotal', amount: subtotal },
    { type: 'total', amount: subtotal },
  ],
})

/** 2 × 12.50 + 1 × 5.00 − 3.00 + 4.90 + 2.00 and 0.50 = 34.40; the discount changes its sign with 2026-04-08. */
const totals = (version: Version) => [
  { type: 'subtotal', display_text: 'Flowers', amount: 3000 },
  { type: 'discount', display_text: 'Spring', amount: isSigned(version) ? -300 : 300 },
  { type: 'fulfillment', display_text: 'Shipping', amount: 490 },
  { type: 'tax', display_text: 'State tax', amount: 200 },
  { type: 'tax', display_text: 'City tax', amount: 50, lines: [20, 30].map((amount) => ({ display_text: 'Part', amount })) },
  { type: 'total', display_text: 'Total', amount: 3440 },
]

const ADDRESS = {
  street_address: 'Market Street 1',
  address_locality: 'Springfield',
  address_region: 'IL',
  postal_code: '62701',
  address_country: 'US',
}

const fulfillmentOf = (version: Version) => ({
  methods: [
    {
      id: 'ship',
      type: 'shipping',
      line_item_ids: ['li_1', 'li_2'],
      selected_destination_id: 'home',
      destinations: [{ id: 'home', ...(version >= '2026-08-25' ? { type: 'shipping_address' } : {}), ...ADDRESS }],
      groups: [
        {
          id: 'parcel',
          line_item_ids: ['li_1', 'li_2'],
          selected_option_id: 'standard',
          options: [
            {
              id: 'standard',
              title: 'Standard',
              description: version >= '2026-08-25' ? { plain: 'Three days' } : 'Three days',
              latest_fulfillment_time: '2026-11-25T18:00:00Z',
              totals: [{ type: 'total', amount: 490 }],
            },
          ],
        },
      ],
    },
  ],
  available_methods: [{ type: 'shipping', line_item_ids: ['li_1'], description: 'Parcel', fulfillable_on: null }],
})

/** Consents are named by who defines them since 2026-08-25 (schemas/shopping/buyer_consent.json). */
const consentOf = (version: Version) =>
  version >= '2026-08-25'
    ? { 'dev.ucp.marketing': { granted: false, source: 'business', description: 'News by e-mail' } }
    : { marketing: false }

export function checkout(version: Version) {
  const first = version === '2026-01-11'
  return {
    ucp: { ...meta(version, 'dev.ucp.shopping.checkout'), ...(first ? {} : { payment_handlers: handlers(version) }) },
    id: 'chk_1',
    status: 'incomplete',
    currency: 'USD',
    buyer: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Jones', phone_number: '+15550100', consent: consentOf(version) },
    context: { address_country: 'US', postal_code: '62701' },
    line_items: [line('li_1', 1250, 2, 2500), line('li_2', 500, 1, 500)],
    totals: totals(version),
    messages: [
      { type: 'error', code: 'missing', severity: 'recoverable', content: 'A telephone number is needed', path: '$.buyer.phone_number' },
      { type: 'warning', code: 'delay', content: 'Shipping is slower this week' },
      { type: 'info', content: 'Thank you', content_type: 'plain' },
    ],
    links: [{ type: 'terms_of_service', url: 'https://shop.example.com/terms', title: 'Terms' }],
    continue_url: 'https://shop.example.com/checkout/chk_1',
    expires_at: '2026-11-21T18:00:00Z',
    discounts: {
      codes: ['SPRING'],
      applied: [
        {
          title: 'Spring',
          code: 'SPRING',
          amount: 300,
          method: 'across',
          priority: 1,
          automatic: false,
          allocations: [{ path: '$.line_items[0]', amount: 300 }],
        },
      ],
    },
    fulfillment: fulfillmentOf(version),
    payment: {
      ...(first ? { handlers: [firstHandler] } : {}),
      instruments: [
        {
          id: 'pi_1',
          handler_id: 'card',
          type: 'card',
          brand: 'visa',
          last_digits: '4242',
          selected: true,
          credential: { type: 'token', token: 'tok_1' },
          billing_address: ADDRESS,
        },
      ],
    },
  }
}

export const completed = (version: Version) => {
  const { messages: _messages, continue_url: _url, expires_at: _expires, ...rest } = checkout(version)
  const name = 'dev.ucp.shopping.ap2_mandate'
  const { capabilities } = rest.ucp
  const mandates = Array.isArray(capabilities) ? [...capabilities, { name, version }] : { ...capabilities, [name]: [{ version }] }
  return {
    ...rest,
    ucp: { ...rest.ucp, capabilities: mandates },
    status: 'completed',
    order: { id: 'ord_1', permalink_url: 'https://shop.example.com/orders/ord_1' },
    ap2: { merchant_authorization: `${JWS_HEADER}..c2lnbmF0dXJl`, checkout_mandate: `${JWS_HEADER}.e30.c2lnbmF0dXJl~ZGlzY2xvc3VyZQ~` },
  }
}

export const order = (version: Version) => ({
  ucp: meta(version, 'dev.ucp.shopping.order'),
  id: 'ord_1',
  checkout_id: 'chk_1',
  permalink_url: 'https://shop.example.com/orders/ord_1',
  currency: 'USD',
  line_items: [
    { ...line('li_1', 1250, { total: 2, fulfilled: 2 }, 2500), status: 'fulfilled' },
    { ...line('li_2', 500, { total: 1, fulfilled: 0 }, 500), status: 'processing' },
  ],
  totals: totals(version),
  fulfillment: {
    expectations: [
      {
        id: 'exp_1',
        line_items: [{ id: 'li_1', quantity: 2 }],
        method_type: 'shipping',
        destination: ADDRESS,
        description: 'Three days',
        fulfillable_on: 'now',
      },
    ],
    events: [
      {
        id: 'ev_1',
        type: 'shipped',
        occurred_at: '2026-11-20T09:00:00Z',
        line_items: [{ id: 'li_1', quantity: 2 }],
        carrier: 'Post',
        tracking_url: 'https://post.example.com/RR1',
        tracking_number: 'RR1',
      },
    ],
  },
  adjustments: [
    {
      id: 'adj_1',
      type: 'refund',
      status: 'completed',
      occurred_at: '2026-11-21T09:00:00Z',
      line_items: [{ id: 'li_1', quantity: isSigned(version) ? -1 : 1 }],
      ...(isSigned(version) ? { totals: [{ type: 'total', amount: -1250 }] } : { amount: 1250 }),
    },
  ],
})

export const cart = (version: Version) => ({
  ucp: meta(version, 'dev.ucp.shopping.cart'),
  id: 'cart_1',
  currency: 'USD',
  line_items: [line('li_1', 1250, 2, 2500), line('li_2', 500, 1, 500)],
  totals: totals(version),
  continue_url: 'https://shop.example.com/cart/cart_1',
})

/** A cart of a shop that also sells by checkout, as the pages of the specification show it. */
export const sharedCart = (version: Version) => {
  const { ucp, ...rest } = cart(version)
  const capabilities = { 'dev.ucp.shopping.checkout': [{ version }], 'dev.ucp.shopping.cart': [{ version }] }
  return { ...rest, ucp: { ...ucp, status: 'success', capabilities } }
}

export const catalog = (version: Version) => ({
  ucp: meta(version, 'dev.ucp.shopping.catalog.search'),
  products: [
    {
      id: 'prod_1',
      title: 'Roses',
      description: { plain: 'A dozen roses' },
      price_range: { min: { amount: 1250, currency: 'USD' }, max: { amount: 1250, currency: 'USD' } },
      variants: [{ id: 'sku_li_1', title: 'Red', description: { plain: 'Red roses' }, price: { amount: 1250, currency: 'USD' } }],
    },
  ],
})

export const failed = (version: Version) => ({
  ucp: { version, status: 'error' },
  messages: [{ type: 'error', code: 'out_of_stock', severity: 'unrecoverable', content: 'There are no roses left' }],
  continue_url: 'https://shop.example.com/',
})
