import { isRequest } from '../coverage.ts'
import { readDateVersion } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import type { Detection } from '../rule.ts'
import { ACP_VERSIONS, ERROR_TYPES, JANUARY_NEW, type AcpType, type AcpVersion } from './shape.ts'

/** The document itself: JSON-RPC carries it in `result`, an error in `error.data`, a webhook event its order in `data`. */
export function bodyOf(document: Place): Place {
  if (!document.has('jsonrpc')) return isEvent(document) ? document.get('data') : document
  const result = document.get('result')
  const structured = result.get('structuredContent')
  if (structured.kind === 'object') return structured
  if (result.kind === 'object') return result
  const data = document.down('error', 'data')
  return data.kind === 'object' ? data : document
}

function isEvent(document: Place): boolean {
  return ['order_create', 'order_update'].includes(document.get('type').text() ?? '') && document.get('data').kind === 'object'
}

/** What events up to 2026-01-30 tell of an order: an object of its own, with refunds and no id. */
export function isEventOrder(order: Place): boolean {
  return order.get('type').text() === 'order' && order.has('refunds') && !order.has('id')
}

/** Whether a document can be of no other protocol. Errors and feeds have no mark of their own. */
export function isAcp(document: Place): boolean {
  const body = bodyOf(document)
  if (body.has('ucp')) return false
  if (body.has('line_items') && body.has('totals') && body.has('fulfillment_options')) return true
  const protocol = body.get('protocol')
  if (protocol.get('name').text() === 'acp' || (protocol.has('supported_versions') && body.has('api_base_url'))) return true
  if (body.has('checkout_session_id') && body.has('permalink_url')) return true
  if (body !== document && document.has('error')) return isError(body)
  const allowance = allowanceIn(body)
  return allowance.has('max_amount') && allowance.has('merchant_id')
}

/** An allowance stands alone or in a request to delegate a payment. */
export function allowanceIn(body: Place): Place {
  return body.get('allowance').kind === 'object' ? body.get('allowance') : body
}

/** Members that requests have, and those that only other documents have. */
const ASKED = ['items', 'line_items', 'payment_data', 'buyer', 'fulfillment_details', 'fulfillment_address', 'selected_fulfillment_options']
const ANSWERED = [
  'id',
  'status',
  'totals',
  'fulfillment_options',
  'messages',
  'links',
  'permalink_url',
  'allowance',
  'max_amount',
  'variants',
]

/** Requests to create, update, complete or cancel a session: they have no id, no status and no totals. */
export function isAcpRequest(document: Place): boolean {
  if (isRequest(document)) return true
  return [...ASKED, 'intent_trace'].some((name) => document.has(name)) && !ANSWERED.some((name) => document.has(name))
}

/** Members of a session that no cart has (schema.cart.json of 2026-04-17). */
const NO_CART = [
  'status',
  'fulfillment_options',
  'fulfillment_details',
  'selected_fulfillment_options',
  'links',
  'payment_provider',
  'capabilities',
]

export function isAcpCart(document: Place): boolean {
  const body = bodyOf(document)
  return ['id', 'line_items', 'totals'].every((name) => body.has(name)) && !NO_CART.some((name) => body.has(name))
}

export function detectAcp(document: Place): Detection {
  const body = bodyOf(document)
  const type = typeOf(body)
  switch (type) {
    case 'checkout_session':
    case 'discovery':
      return { type, ...versionOf(body, type) }
    case 'order': {
      if (isEventOrder(body)) return { type, version: '2026-01-30', version_source: 'inferred' }
      const isRich = ['line_items', 'fulfillments', 'adjustments', 'totals'].some((name) => body.has(name))
      return { type, version: ACP_VERSIONS[0], version_source: isRich ? 'inferred' : 'assumed' }
    }
    case 'error':
      return { type, version: ACP_VERSIONS[0], version_source: body.has('supported_versions') ? 'inferred' : 'assumed' }
    case 'allowance':
    case 'feed_product':
      return { type, version: ACP_VERSIONS[0], version_source: 'assumed' }
  }
}

function typeOf(body: Place): AcpType {
  const has = (...names: string[]) => names.some((name) => body.has(name))
  if (allowanceIn(body) !== body || has('max_amount')) return 'allowance'
  if (has('permalink_url', 'checkout_session_id')) return 'order'
  if (has('line_items')) return 'checkout_session'
  if (has('api_base_url', 'transports') || body.get('protocol').has('name')) return 'discovery'
  if (isError(body) || body.get('error').kind === 'object') return 'error'
  return has('variants') ? 'feed_product' : 'checkout_session'
}

/** Members that an error has not, and each other document has. */
const NO_ERROR = ['id', 'currency', 'totals', 'fulfillment_options', 'variants']

/** An error may lack what ACP-043 asks for; two of its members, or a type that only errors have, tell it. */
function isError(body: Place): boolean {
  if (NO_ERROR.some((name) => body.has(name))) return false
  const isTyped = ERROR_TYPES.includes(body.get('type').text() ?? '')
  return isTyped || ['type', 'code', 'message', 'param'].filter((name) => body.has(name)).length >= 2
}

function versionOf(body: Place, type: 'checkout_session' | 'discovery'): Omit<Detection, 'type'> {
  const text = body.down('protocol', 'version').text()
  const read = readDateVersion(text, ACP_VERSIONS)
  const shape = type === 'discovery' ? ({ version: ACP_VERSIONS[0], version_source: 'assumed' } as const) : shapeOf(body)
  switch (read.kind) {
    case 'known':
      // Official examples of 2026-04-17 still say 2026-01-30, beside members that came later.
      if (read.version === '2026-01-30' && isApril(body))
        return { version: '2026-04-17', version_source: 'inferred', declared: read.version }
      return { version: read.version, version_source: 'declared' }
    case 'newer':
      return { version: read.version, version_source: 'declared', declared: text ?? '' }
    case 'unknown':
      // Dates of drafts stand in documents of the version that came of them: their shape says more.
      return { ...shape, declared: text ?? '' }
    case 'unparsable':
      return shape
  }
}

interface Shape {
  version: AcpVersion
  version_source: 'inferred' | 'assumed'
}

/** The version that a session looks like. Marks of a newer version outweigh those of an older one, which are reported. */
function shapeOf(body: Place): Shape {
  const lines = body.get('line_items').items()
  if (JANUARY_NEW.some((name) => body.has(name)) || lines.some((line) => line.has('quantity') || line.has('totals'))) {
    return { version: '2026-04-17', version_source: isApril(body) ? 'inferred' : 'assumed' }
  }
  return isApril(body) ? { version: '2026-04-17', version_source: 'inferred' } : oldShape(body, lines)
}

function isApril(body: Place): boolean {
  const order = body.get('order')
  return (
    body.has('marketing_consent_options') ||
    ['line_items', 'fulfillments', 'adjustments'].some((name) => order.has(name)) ||
    body
      .get('messages')
      .items()
      .some((message) => message.has('resolution')) ||
    body
      .get('totals')
      .items()
      .some((total) => total.get('type').text() === 'amount_refunded')
  )
}

function oldShape(body: Place, lines: readonly Place[]): Shape {
  const options = body.get('fulfillment_options').items()
  const links = body.get('links').items()
  if (body.has('authentication_provider') || body.get('payment_provider').has('merchant_id') || options.some((one) => one.has('totals')))
    return { version: '2026-01-16', version_source: 'inferred' }
  const isFirst = body.has('fulfillment_address') || body.has('fulfillment_option_id')
  if (isFirst || links.some((link) => link.get('type').text() === 'seller_shop_policies'))
    return { version: '2025-09-29', version_source: 'inferred' }
  const isDecember = ['fulfillment_details', 'selected_fulfillment_options', 'authentication_metadata'].some((name) => body.has(name))
  if (options.length > 0 && isDecember) return { version: '2025-12-12', version_source: 'inferred' }
  const isOld =
    isDecember || body.has('payment_provider') || lines.some((line) => line.has('base_amount') || line.get('item').has('quantity'))
  if (!isOld) return { version: '2026-04-17', version_source: 'assumed' }
  return { version: options.length > 0 ? '2025-12-12' : '2026-01-16', version_source: 'assumed' }
}
