import type { SpecReference } from '../protocol.ts'

/** Members and closed sets of ACP by version, from the published schemas of 2025-09-29 to 2026-04-17, read 2026-11-21. */

export const ACP_VERSIONS = ['2026-04-17', '2026-01-30', '2026-01-16', '2025-12-12', '2025-09-29'] as const

export type AcpVersion = (typeof ACP_VERSIONS)[number]

export const ACP_TYPES = ['checkout_session', 'order', 'discovery', 'error', 'allowance', 'feed_product'] as const

export const SESSION_TYPES = ['checkout_session'] as const satisfies readonly (typeof ACP_TYPES)[number][]

export type AcpType = (typeof ACP_TYPES)[number]

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

/** Amounts of a line up to 2026-01-16; since then they are entries of `totals`. */
export const OLD_LINE_AMOUNTS = ['base_amount', 'discount', 'subtotal', 'tax', 'total'] as const

export const FIRST_LINKS = ['terms_of_use', 'privacy_policy']

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
