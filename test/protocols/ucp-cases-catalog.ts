import { drop, set, type Change, type RuleCase } from './harness.ts'

/** Changes of right catalogues of UCP, and of the shapes of errors. */

const of = (severity: RuleCase['severity'], change: Change, at: string, from = 'catalog 04-08'): RuleCase => ({
  code: 'UCP-046',
  severity,
  from,
  change,
  at,
})
const wrong = (at: string, value: unknown) => of('error', set(at, value), at)
const gone = (at: string) => of('error', drop(at), at)

const PRODUCT = '/products/0'
const VARIANT = '/products/0/variants/0'

export const UCP_CATALOG_CASES: readonly RuleCase[] = [
  wrong('/products', {}),
  wrong(PRODUCT, 'roses'),
  gone(`${PRODUCT}/id`),
  gone(`${PRODUCT}/title`),
  wrong(`${PRODUCT}/description`, 'A dozen roses'),
  gone(`${PRODUCT}/price_range`),
  gone(`${PRODUCT}/price_range/max`),
  wrong(`${PRODUCT}/price_range/min`, 1250),
  wrong(`${PRODUCT}/price_range/min/currency`, 'usd'),
  gone(`${PRODUCT}/variants`),
  wrong(`${PRODUCT}/variants`, []),
  wrong(`${PRODUCT}/tags`, 'roses'),
  wrong(`${PRODUCT}/rating`, 4.5),
  gone(`${VARIANT}/id`),
  gone(`${VARIANT}/price`),
  gone(`${VARIANT}/price/currency`),
  wrong(`${VARIANT}/title`, 7),
  wrong(`${VARIANT}/availability`, true),
  wrong('/pagination', 'next'),
  of('warning', set(`${PRODUCT}/price_range/max/amount`, 1_000), `${PRODUCT}/price_range/min`),
  of('error', drop(`${VARIANT}/price`), `${VARIANT}/price`, 'catalog 08-25'),
  {
    code: 'UCP-027',
    severity: 'error',
    from: 'order 04-08',
    change: set('/adjustments/0/totals', {}),
    at: '/adjustments/0/totals',
  },
  {
    code: 'UCP-030',
    severity: 'error',
    from: 'catalog 04-08',
    change: set(`${VARIANT}/list_price`, { amount: '12.50', currency: 'USD' }),
    at: `${VARIANT}/list_price/amount`,
  },
  { code: 'UCP-027', severity: 'error', from: 'checkout 08-25', change: set('/payment/instruments', {}), at: '/payment/instruments' },
  { code: 'UCP-027', severity: 'error', from: 'checkout 08-25', change: set('/discounts/codes', 'TEN'), at: '/discounts/codes' },
  {
    code: 'UCP-041',
    severity: 'error',
    from: 'checkout 08-25',
    change: set('/fulfillment/methods', 'shipping'),
    at: '/fulfillment/methods',
  },
  {
    code: 'UCP-041',
    severity: 'error',
    from: 'order 08-25',
    change: set('/fulfillment/events/0/type', 7),
    at: '/fulfillment/events/0/type',
  },
  // The error of a missing order, as the page on orders has it.
  {
    code: 'UCP-004',
    severity: 'warning',
    from: 'error 04-08',
    change: set('/ucp/capabilities', [{ name: 'dev.ucp.shopping.order', version: '2026-04-08' }]),
    at: '/ucp/capabilities',
  },
]
