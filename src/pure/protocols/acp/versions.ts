import type { SpecReference } from '../protocol.ts'

/** Members and closed sets of ACP by version, from the published schemas of 2025-09-29 to 2026-04-17, read 2026-11-21. */

export const ACP_VERSIONS = ['2026-04-17', '2026-01-30', '2026-01-16', '2025-12-12', '2025-09-29'] as const

export type AcpVersion = (typeof ACP_VERSIONS)[number]

export const ACP_TYPES = ['checkout_session', 'order', 'discovery', 'error', 'allowance', 'feed_product'] as const

export const SESSION_TYPES = ['checkout_session'] as const satisfies readonly (typeof ACP_TYPES)[number][]

export type AcpType = (typeof ACP_TYPES)[number]

const EVERY = ['id', 'buyer', 'status', 'currency', 'line_items', 'fulfillment_options', 'totals', 'messages', 'links', 'order']
const DECEMBER = [...EVERY, 'payment_provider', 'fulfillment_details', 'selected_fulfillment_options', 'authentication_metadata']
/** Members that 2026-01-30 brought. */
export const JANUARY_NEW = [
  'protocol',
  'capabilities',
  'presentment_currency',
  'exchange_rate',
  'exchange_rate_timestamp',
  'locale',
  'timezone',
  'fulfillment_groups',
  'created_at',
  'updated_at',
  'expires_at',
  'continue_url',
  'metadata',
  'quote_id',
  'quote_expires_at',
  'discounts',
]
const JANUARY = [...DECEMBER.filter((name) => name !== 'payment_provider'), ...JANUARY_NEW]

/** Members of a checkout session; every schema is closed. */
export const SESSION_MEMBERS: Readonly<Record<AcpVersion, ReadonlySet<string>>> = {
  '2025-09-29': new Set([...EVERY, 'payment_provider', 'fulfillment_address', 'fulfillment_option_id']),
  '2025-12-12': new Set(DECEMBER),
  '2026-01-16': new Set([...DECEMBER, 'authentication_provider']),
  '2026-01-30': new Set(JANUARY),
  '2026-04-17': new Set([...JANUARY, 'marketing_consent_options']),
}

const ORDER = ['type', 'id', 'checkout_session_id', 'order_number', 'client_reference_id', 'permalink_url', 'status', 'estimated_delivery']

/** Members of the other documents in the newest version. */
export const OTHER_MEMBERS: Readonly<Record<Exclude<AcpType, 'checkout_session'>, ReadonlySet<string>>> = {
  order: new Set([...ORDER, 'confirmation', 'support', 'line_items', 'fulfillments', 'adjustments', 'totals']),
  discovery: new Set(['protocol', 'api_base_url', 'transports', 'capabilities']),
  error: new Set(['type', 'code', 'message', 'param', 'supported_versions']),
  allowance: new Set(['reason', 'max_amount', 'currency', 'checkout_session_id', 'merchant_id', 'expires_at']),
  feed_product: new Set(['id', 'title', 'description', 'url', 'media', 'variants']),
}

/** Amounts of a line up to 2026-01-16; since then they are entries of `totals`. */
export const OLD_LINE_AMOUNTS = ['base_amount', 'discount', 'subtotal', 'tax', 'total'] as const

const FIRST_STATUSES = ['not_ready_for_payment', 'ready_for_payment', 'completed', 'canceled', 'in_progress']
const NEW_STATUSES = ['authentication_required', 'incomplete', 'requires_escalation', 'pending_approval', 'complete_in_progress', 'expired']
const FIRST_TOTALS = ['items_base_amount', 'items_discount', 'subtotal', 'discount', 'fulfillment', 'tax', 'fee', 'total']
const NEW_TOTALS = [...FIRST_TOTALS, 'gift_wrap', 'tip', 'store_credit']
const FIRST_ERRORS = ['missing', 'invalid', 'out_of_stock', 'payment_declined', 'requires_sign_in', 'requires_3ds']
const NEW_ERRORS = [
  ...FIRST_ERRORS,
  'low_stock',
  'quantity_exceeded',
  'coupon_invalid',
  'coupon_expired',
  'minimum_not_met',
  'maximum_exceeded',
  'region_restricted',
  'age_verification_required',
  'approval_required',
  'unsupported',
  'not_found',
  'conflict',
  'rate_limited',
  'expired',
  'intervention_required',
]
export const FIRST_LINKS = ['terms_of_use', 'privacy_policy']
const NEW_LINKS = [...FIRST_LINKS, 'return_policy', 'shipping_policy', 'contact_us', 'about_us', 'faq', 'support']

export interface ClosedSets {
  statuses: readonly string[]
  totals: readonly string[]
  messages: readonly string[]
  errors: readonly string[]
  links: readonly string[]
  options: readonly string[]
}

const DECEMBER_SETS: ClosedSets = {
  statuses: [...FIRST_STATUSES, 'authentication_required'],
  totals: FIRST_TOTALS,
  messages: ['info', 'error'],
  errors: FIRST_ERRORS,
  links: [...FIRST_LINKS, 'return_policy'],
  options: ['shipping', 'digital'],
}
const JANUARY_SETS: ClosedSets = {
  statuses: [...FIRST_STATUSES, ...NEW_STATUSES],
  totals: NEW_TOTALS,
  messages: ['info', 'warning', 'error'],
  errors: NEW_ERRORS,
  links: NEW_LINKS,
  options: ['shipping', 'digital', 'pickup', 'local_delivery'],
}

export const CLOSED_SETS: Readonly<Record<AcpVersion, ClosedSets>> = {
  '2025-09-29': { ...DECEMBER_SETS, statuses: FIRST_STATUSES, links: [...FIRST_LINKS, 'seller_shop_policies'] },
  '2025-12-12': DECEMBER_SETS,
  '2026-01-16': DECEMBER_SETS,
  '2026-01-30': JANUARY_SETS,
  '2026-04-17': { ...JANUARY_SETS, totals: [...NEW_TOTALS, 'amount_refunded'] },
}

/** Why a discount code was turned down; warnings use the same codes. */
export const REJECTION_REASONS = [
  'discount_code_expired',
  'discount_code_invalid',
  'discount_code_already_applied',
  'discount_code_combination_disallowed',
  'discount_code_minimum_not_met',
  'discount_code_user_not_logged_in',
  'discount_code_user_ineligible',
  'discount_code_usage_limit_reached',
] as const

/** Types of errors that are still in use; 2026-04-17 dropped request_not_idempotent. */
export const ERROR_TYPES: readonly string[] = ['invalid_request', 'processing_error', 'service_unavailable', 'rate_limit_exceeded']

const REPOSITORY = 'https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/blob/main'

/** A definition in the JSON Schema of checkout, version 2026-04-17. */
export function schemaSpec(definition: string): SpecReference {
  return { url: `${REPOSITORY}/spec/2026-04-17/json-schema/schema.agentic_checkout.json`, section: definition }
}

/** A schema in the OpenAPI document of checkout, version 2026-01-16, the last one with amounts and a provider of the old form. */
export function oldSpec(definition: string): SpecReference {
  return { url: `${REPOSITORY}/spec/2026-01-16/openapi/openapi.agentic_checkout.yaml`, section: definition }
}

/** A section of one of the project's proposals, such as `rfc.discovery.md`. */
export function rfcSpec(name: string, section: string): SpecReference {
  return { url: `${REPOSITORY}/rfcs/rfc.${name}.md`, section }
}

export const ALLOWANCE_SPEC: SpecReference = {
  url: `${REPOSITORY}/spec/2026-04-17/openapi/openapi.delegate_payment.yaml`,
  section: 'Allowance',
}
