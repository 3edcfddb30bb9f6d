import { isRequest } from '../coverage.ts'
import { declaredVersion } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import type { Detection } from '../rule.ts'

/** Newest first. */
export const UCP_VERSIONS = ['2026-08-25', '2026-04-08', '2026-01-23', '2026-01-11'] as const

export const UCP_TYPES = ['business_profile', 'platform_profile', 'checkout', 'cart', 'order', 'catalog', 'error'] as const

export type UcpType = (typeof UCP_TYPES)[number]

export const PROFILES = ['business_profile', 'platform_profile'] as const satisfies UcpType[]

/** Responses with lines and totals. */
export const BASKETS = ['checkout', 'cart', 'order'] as const satisfies UcpType[]

export const TRANSPORTS = ['rest', 'mcp', 'a2a', 'embedded'] as const

export type Transport = (typeof TRANSPORTS)[number]

/** The UCP body of a document: the document, or what an MCP answer wraps it in. */
export function bodyOf(document: Place): Place {
  if (document.has('ucp')) return document
  const contents = [document.down('result', 'structuredContent'), document.get('structuredContent')]
  for (const content of contents) {
    const inner = [content, content.get('checkout'), content.get('cart'), content.get('order')].find((place) => place.has('ucp'))
    if (inner !== undefined) return inner
  }
  return document
}

export function isUcp(document: Place): boolean {
  return bodyOf(document).has('ucp')
}

/** Members that requests have, and those that only responses, profiles and errors have. */
const ASKED = ['line_items', 'payment', 'query', 'filters', 'fulfillment', 'discounts']
const ANSWERED = ['ucp', 'id', 'status', 'currency', 'totals', 'links', 'messages', 'products', 'product', 'keys', 'signing_keys']

/** Requests carry no `ucp`: their version travels in a header. */
export function isUcpRequest(document: Place): boolean {
  if (isRequest(document)) return true
  return ASKED.some((name) => document.has(name)) && !ANSWERED.some((name) => document.has(name))
}

/** Profiles, responses and errors, by the members they have; whose profile it is, by what only one side publishes. */
export function detectUcp(document: Place): Detection {
  const body = bodyOf(document)
  const version = versionOf(body)
  return { type: typeOf(body, version.version), ...version }
}

function versionOf(body: Place): Omit<Detection, 'type'> {
  const declared = declaredVersion(body.down('ucp', 'version').text(), UCP_VERSIONS)
  if (declared !== null) return declared
  const ucp = body.get('ucp')
  const isFirst =
    ucp.get('capabilities').kind === 'array' ||
    body.down('payment', 'handlers').present ||
    ucp.get('services').members().some(isFirstService)
  if (isFirst) return { version: '2026-01-11', version_source: 'inferred' }
  const [has_old_keys, has_new_keys] = [body.has('signing_keys'), body.has('keys')]
  if (has_new_keys && !has_old_keys) return { version: '2026-08-25', version_source: 'inferred' }
  if (has_old_keys) return { version: '2026-04-08', version_source: 'inferred' }
  if (body.get('totals').items().some(isPositiveDiscount)) return { version: '2026-01-23', version_source: 'inferred' }
  return { version: '2026-08-25', version_source: 'assumed' }
}

/** The first version keeps one object a service, with a member for each transport. */
function isFirstService(service: Place): boolean {
  return service.kind === 'object' && TRANSPORTS.some((transport) => service.has(transport))
}

/** Discounts turned negative with 2026-04-08. */
function isPositiveDiscount(entry: Place): boolean {
  return /^(?:items_)?discount$/.test(entry.get('type').text() ?? '') && (entry.get('amount').integer() ?? 0n) > 0n
}

function typeOf(body: Place, version: string): UcpType {
  const has = (...names: string[]) => names.some((name) => body.has(name))
  const ucp = body.get('ucp')
  if (ucp.get('status').text() === 'error' && !has('line_items', 'products')) return 'error'
  if (has('checkout_id', 'permalink_url')) return 'order'
  if (has('products', 'product')) return 'catalog'
  if (has('line_items', 'totals', 'status', 'currency')) return isCart(body, version) ? 'cart' : 'checkout'
  const isProfile = ['services', 'capabilities', 'payment_handlers'].some((name) => ucp.has(name)) || has('keys', 'signing_keys', 'payment')
  if (!isProfile && has('messages')) return 'error'
  return isPlatform(body, version) ? 'platform_profile' : 'business_profile'
}

/** Members of a checkout that no cart has. */
const CHECKOUT_MEMBERS = ['status', 'payment', 'order', 'fulfillment', 'ap2', 'cart_id']

/**
 * Tells a cart from a checkout, since 2026-04-08. Capabilities that name one of the two decide; a response that names both, or none, is a
 * checkout when it has a member of checkouts or the payment handlers that every checkout needs.
 */
function isCart(body: Place, version: string): boolean {
  if (version < '2026-04-08') return false
  const ucp = body.get('ucp')
  const names = ucp.get('capabilities')
  const [names_checkout, names_cart] = [names.has('dev.ucp.shopping.checkout'), names.has('dev.ucp.shopping.cart')]
  if (names_checkout !== names_cart) return names_cart
  return !ucp.has('payment_handlers') && !CHECKOUT_MEMBERS.some((name) => body.has(name))
}

/**
 * Tells the profile of a platform from that of a business. Only platforms say where orders are reported to. Since 2026-04-08 platforms
 * publish no endpoints, but spec and schema of everything; a profile without endpoints that lacks one of those is a business's.
 */
function isPlatform(body: Place, version: string): boolean {
  const ucp = body.get('ucp')
  const capabilities = entriesIn(ucp.get('capabilities'))
  if (capabilities.some((entry) => entry.get('config').has('webhook_url'))) return true
  if (version < '2026-04-08' || ucp.has('supported_versions')) return false
  const bindings = entriesIn(ucp.get('services'))
  if (bindings.length === 0 || bindings.some((binding) => binding.has('endpoint'))) return false
  // Platforms that take orders must name their webhook.
  if (ucp.get('capabilities').has('dev.ucp.shopping.order')) return false
  const isDescribed = (entry: Place) => entry.has('spec') && (entry.has('schema') || entry.get('transport').text() === 'a2a')
  return [...bindings, ...capabilities].every(isDescribed)
}

/** Entries of a registry: an array, or arrays by name. */
function entriesIn(registry: Place): Place[] {
  return registry.kind === 'array' ? registry.items() : registry.members().flatMap((member) => member.items())
}
