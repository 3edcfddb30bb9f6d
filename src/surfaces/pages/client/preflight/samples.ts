import type { ProtocolId } from '../../../../pure/protocols/protocol.ts'

/** Documents for those who have none at hand: of each protocol one that keeps its rules, and what is changed to break some. */
interface Sample {
  correct: unknown
  /** By JSON pointer; undefined takes the member away. */
  faults: Readonly<Record<string, unknown>>
  /** Payee that the caller expects; the faulty sample pays a different one. */
  expected_payee?: string
}

const HOUR_S = 3_600
const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const OTHER_PAYEE = '0x857b06519E91e3A54538791bDbb0E22373e36b66'

const UCP = {
  ucp: { version: '2026-08-25', capabilities: { 'dev.ucp.shopping.cart': [{ version: '2026-08-25' }] } },
  id: 'cart_1',
  currency: 'USD',
  line_items: [
    {
      id: 'li_1',
      item: { id: 'roses', title: 'Roses', price: 1250, image_url: 'https://shop.example.com/roses.png' },
      quantity: 2,
      totals: [
        { type: 'subtotal', amount: 2500 },
        { type: 'total', amount: 2500 },
      ],
    },
  ],
  totals: [
    { type: 'subtotal', display_text: 'Flowers', amount: 2500 },
    { type: 'fulfillment', display_text: 'Shipping', amount: 490 },
    { type: 'total', display_text: 'Total', amount: 2990 },
  ],
  continue_url: 'https://shop.example.com/cart/cart_1',
}

const ACP = {
  id: 'cs_1',
  payment_provider: { provider: 'stripe', supported_payment_methods: ['card'] },
  status: 'ready_for_payment',
  currency: 'usd',
  line_items: [
    { id: 'li_1', item: { id: 'blanket', quantity: 2 }, base_amount: 4000, discount: 400, subtotal: 3600, tax: 288, total: 3888 },
  ],
  fulfillment_address: {
    name: 'Ada Berg',
    line_one: '12 Harbour Street',
    city: 'Portland',
    state: 'OR',
    country: 'US',
    postal_code: '97201',
  },
  fulfillment_options: [{ type: 'digital', id: 'download', title: 'Download', subtotal: 0, tax: 0, total: 0 }],
  fulfillment_option_id: 'download',
  totals: [
    { type: 'items_base_amount', display_text: 'Blankets', amount: 4000 },
    { type: 'items_discount', display_text: 'Discount', amount: 400 },
    { type: 'subtotal', display_text: 'Subtotal', amount: 3600 },
    { type: 'tax', display_text: 'Tax', amount: 288 },
    { type: 'fulfillment', display_text: 'Delivery', amount: 0 },
    { type: 'total', display_text: 'Total', amount: 3888 },
  ],
  messages: [],
  links: [{ type: 'terms_of_use', url: 'https://shop.example.com/terms' }],
}

const MCP = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    tools: [
      {
        name: 'get_weather',
        title: 'Weather',
        description: 'Returns the weather forecast for a city.',
        inputSchema: {
          type: 'object',
          properties: { city: { type: 'string', description: 'Name of a city' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
          required: ['city'],
          additionalProperties: false,
        },
        outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
        annotations: { readOnlyHint: true, openWorldHint: true },
      },
      { name: 'list_stations', description: 'Lists all stations.', inputSchema: { type: 'object' } },
    ],
  },
}

const ap2 = (now_s: number) => ({
  vct: 'mandate.payment.1',
  transaction_id: 'XLOEsVoutWy2IJxszQv242SQ4onc6GubFr_xHbi_yyM',
  payee: { id: 'merchant_1', name: 'Demo Merchant', website: 'https://demo-merchant.example' },
  payment_amount: { amount: 20000, currency: 'USD' },
  payment_instrument: { id: 'pi_7f3a', type: 'card', description: 'Card ending in 4242' },
  iat: now_s - 60,
  exp: now_s + HOUR_S,
})

const X402 = {
  x402Version: 2,
  error: 'payment required',
  resource: { url: 'https://api.example.com/report', description: 'Weather report', mimeType: 'application/json' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: PAYEE,
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
}

const microAst = (now_s: number) => ({
  micro_ast: '1.0',
  merchant: { id: 'm-1', name: 'Shop', url: 'https://www.shop.example/', payee: PAYEE },
  currency: 'USD',
  issued_at: timeText(now_s - HOUR_S),
  expires_at: timeText(now_s + 24 * HOUR_S),
  nodes: [
    { id: 'c1', type: 'category', name: 'Shirts' },
    {
      id: 'p1',
      type: 'product',
      parent: 'c1',
      name: 'Shirt',
      url: 'https://shop.example/shirt',
      actions: [{ type: 'view', href: 'https://shop.example/shirt' }],
    },
    {
      id: 'v1',
      type: 'variant',
      parent: 'p1',
      name: 'Shirt, red',
      sku: 'S-R',
      price: { amount: 1999, currency: 'USD' },
      attributes: { colour: 'red' },
    },
    { id: 'r1', type: 'policy', name: 'Returns within 30 days' },
  ],
  signature: { alg: 'ES256', kid: 'k1', value: 'c2lnbmF0dXJl' },
})

const A2A = {
  name: 'Weather',
  description: 'Weather forecasts for the next days.',
  version: '1.4.0',
  supportedInterfaces: [{ url: 'https://agent.example.com/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    { id: 'forecast', name: 'Forecast', description: 'Forecasts the weather', tags: ['weather'], examples: ['Will it rain in Oslo?'] },
  ],
  signatures: [
    {
      protected: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJjYXJkLTIwMjYiLCJqa3UiOiJodHRwczovL2FnZW50LmV4YW1wbGUuY29tL2p3a3MuanNvbiJ9',
      signature: 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw',
    },
  ],
}

/** Mandates and catalogues are judged by the hour, so theirs follow the clock. */
const samples = (now_s: number): Readonly<Record<ProtocolId, Sample>> => ({
  ucp: {
    correct: UCP,
    faults: { '/totals/2/amount': 3990, '/line_items/0/quantity': 0, '/continue_url': 'http://shop.example.com/cart/cart_1' },
  },
  acp: {
    correct: ACP,
    faults: { '/line_items/0/total': 38.88, '/totals/5/amount': 4888, '/fulfillment_option_id': 'courier' },
  },
  mcp: {
    correct: MCP,
    faults: {
      '/result/tools/0/inputSchema/required/0': 'town',
      '/result/tools/1/name': 'get_weather',
      '/result/tools/1/inputSchema/type': 'array',
    },
  },
  ap2: {
    correct: ap2(now_s),
    faults: { '/exp': now_s - 2 * HOUR_S, '/payment_amount/amount': 199.99, '/payee/website': 'demo-merchant' },
  },
  x402: {
    correct: X402,
    faults: { '/accepts/0/payTo': OTHER_PAYEE, '/accepts/0/amount': 0.01, '/accepts/0/maxTimeoutSeconds': '60' },
    expected_payee: PAYEE,
  },
  'micro-ast': {
    correct: microAst(now_s),
    faults: { '/nodes/2/parent': 'p9', '/nodes/2/price/amount': 19.99, '/expires_at': timeText(now_s - 2 * HOUR_S) },
  },
  a2a: {
    correct: A2A,
    faults: { '/supportedInterfaces/0/url': 'http://agent.example.com/a2a', '/skills/0/tags': undefined, '/signatures': undefined },
  },
})

export interface SampleText {
  text: string
  expected_payee: string
}

/** The sample of a protocol as people write it, two spaces a level, at this Unix time. */
export function sampleText(protocol: ProtocolId, kind: 'correct' | 'faulty', now_s: number): SampleText {
  const { correct, faults, expected_payee = '' } = samples(now_s)[protocol]
  const document: unknown = structuredClone(correct)
  if (kind === 'faulty') for (const [pointer, value] of Object.entries(faults)) put(document, pointer.split('/').slice(1), value)
  return { text: JSON.stringify(document, null, 2), expected_payee: kind === 'faulty' ? expected_payee : '' }
}

function put(holder: unknown, [step = '', ...rest]: readonly string[], value: unknown): void {
  const members = holder as Record<string, unknown>
  if (rest.length > 0) put(members[step], rest, value)
  else members[step] = value
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}
