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

/** A cart has no status; what the response says of its capabilities comes first. Carts came with 2026-04-08. */
function isCart(body: Place, version: string): boolean {
  if (version < '2026-04-08') return false
  const { ucp, status } = { ucp: body.get('ucp'), status: body.get('status') }
  const names = ucp.get('capabilities')
  if (names.has('dev.ucp.shopping.checkout')) return false
  if (names.has('dev.ucp.shopping.cart')) return true
  return !status.present && !ucp.has('payment_handlers')
}

/** Only platforms say where orders are reported to; since 2026-04-08 they publish no endpoints, and businesses must. */
function isPlatform(body: Place, version: string): boolean {
  const ucp = body.get('ucp')
  const capabilities = ucp.get('capabilities')
  const list = capabilities.kind === 'array' ? capabilities.items() : capabilities.members().flatMap((member) => member.items())
  if (list.some((entry) => entry.get('config').has('webhook_url'))) return true
  if (version < '2026-04-08' || ucp.has('supported_versions')) return false
  const bindings = ucp
    .get('services')
    .members()
    .flatMap((service) => service.items())
  return bindings.length > 0 && !bindings.some((binding) => binding.has('endpoint'))
}
