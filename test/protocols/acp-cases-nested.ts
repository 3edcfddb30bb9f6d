import { drop, set, type Change, type RuleCase } from './harness.ts'

/** Changes deep in right documents of ACP: wrong types, values beyond closed sets, members that the schema of 2026-04-17 does not have. */

const nested = (severity: RuleCase['severity'], from: string, change: Change, at: string): RuleCase => ({
  code: 'ACP-047',
  severity,
  from,
  change,
  at,
})
const wrong = (from: string, at: string, value: unknown, severity: RuleCase['severity'] = 'error') =>
  nested(severity, from, set(at, value), at)
const gone = (from: string, at: string) => nested('error', from, drop(at), at)

const NEW = 'session_2026_04'
const OLDER = 'session_2026_01_30'

export const ACP_NESTED_CASES: readonly RuleCase[] = [
  wrong(NEW, '/protocol', '2026-04-17'),
  wrong(NEW, '/protocol/capabilities', []),
  wrong(NEW, '/capabilities/interventions/supported', '3ds'),
  wrong(NEW, '/capabilities/interventions/supported/0', 'otp'),
  wrong(NEW, '/capabilities/interventions/max_redirects', -1),
  wrong(NEW, '/capabilities/payment_methods', ['card']),
  wrong(NEW, '/capabilities/payment/handlers/0/instrument_schemas/0', {}),
  wrong(NEW, '/buyer/account_type', 'vip'),
  wrong(NEW, '/buyer/first_name', 7),
  wrong(NEW, '/buyer/age', 30),
  wrong(NEW, '/line_items/0/name', { en: 'Wool blanket' }),
  wrong(NEW, '/line_items/0/images', 'https://shop.example.com/1.png'),
  wrong(NEW, '/line_items/0/weight', 1),
  wrong(NEW, '/line_items/0/colour', 'grey'),
  wrong(NEW, '/line_items/0/availability_status', 'sold_out'),
  wrong(NEW, '/line_items/0/available_quantity', 1.5),
  wrong(NEW, '/line_items/0/disclosures/0/type', 'legal'),
  gone(NEW, '/line_items/0/disclosures/0/content_type'),
  wrong(NEW, '/line_items/0/totals/0/currency', 'usd'),
  gone(NEW, '/fulfillment_options/1/location'),
  wrong(NEW, '/fulfillment_options/1/location/name', 7),
  wrong(NEW, '/fulfillment_options/2/delivery_window', 'tonight'),
  wrong(NEW, '/fulfillment_options/0/service_level', 'ground'),
  wrong(NEW, '/fulfillment_details/email', ['ada@example.com']),
  wrong(NEW, '/selected_fulfillment_options/0/item_ids/0', 7),
  wrong(NEW, '/messages/0/resolution', 'nobody'),
  wrong(NEW, '/links/0/title', 7),
  wrong(NEW, '/discounts', []),
  wrong(NEW, '/discounts/codes', 'WOOL10'),
  wrong(NEW, '/discounts/applied/0/method', 'some'),
  wrong(NEW, '/marketing_consent_options/0/channel', 7),
  gone(NEW, '/marketing_consent_options/0/privacy_policy_url'),
  wrong('completed', '/order/status', 'lost'),
  wrong('completed', '/order/line_items', {}),
  wrong('order', '/line_items/0/quantity', 2),
  wrong('order', '/line_items/0/quantity/ordered', 0),
  gone('order', '/line_items/0/title'),
  wrong('order', '/fulfillments/0/type', 'courier'),
  wrong('order', '/fulfillments/0/line_items/0/quantity', '2'),
  gone('order', '/fulfillments/0/events/0/occurred_at'),
  wrong('order', '/adjustments/0/type', 'gift'),
  gone('order', '/adjustments/0/status'),
  wrong('order', '/totals', {}),
  wrong('discovery', '/capabilities/supported_currencies', 'usd'),
  nested('error', 'discovery', set('/capabilities/intervention_types', ['otp']), '/capabilities/intervention_types/0'),
  wrong('version_error', '/supported_versions', '2026-04-17'),
  wrong('error', '/param', 7),
  wrong('delegation', '/payment_method/number', 7),
  wrong('delegation', '/risk_signals', {}),
  wrong('product', '/variants/0/price', 'USD 20'),
  wrong('session_2025_12', '/fulfillment_details/name', 7),
  wrong('session_2026_01_16', '/authentication_provider', 'adyen'),
  wrong(OLDER, '/line_items/0/name', 7),
  wrong(OLDER, '/line_items/0/colour', 'grey', 'warning'),
  wrong(OLDER, '/capabilities/interventions/supported/0', 'otp', 'warning'),
]
