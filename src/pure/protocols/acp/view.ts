import type { JsonCursor } from '../json-cursor.ts'
import {
  isBlank,
  isJsonRpcRequest,
  UNKNOWN_TYPE,
  type RuleContext,
  type Detection,
  type DocumentReader,
  type SpecReference,
} from '../protocol.ts'
import { ACP_TYPES, ACP_VERSIONS, type AcpVersion, ERROR_TYPES, JANUARY_NEW, type AcpType, FIRST_LINKS } from './versions.ts'
import { readDateVersion } from '../kit/dates.ts'

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

const NEW_LINKS = [...FIRST_LINKS, 'return_policy', 'shipping_policy', 'contact_us', 'about_us', 'faq', 'support']

interface ClosedSets {
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

const CLOSED_SETS: Readonly<Record<AcpVersion, ClosedSets>> = {
  '2025-09-29': { ...DECEMBER_SETS, statuses: FIRST_STATUSES, links: [...FIRST_LINKS, 'seller_shop_policies'] },
  '2025-12-12': DECEMBER_SETS,
  '2026-01-16': DECEMBER_SETS,
  '2026-01-30': JANUARY_SETS,
  '2026-04-17': { ...JANUARY_SETS, totals: [...NEW_TOTALS, 'amount_refunded'] },
}

export interface AcpTotals {
  cursor: JsonCursor
  /** Entries that are objects. */
  entries: JsonCursor[]
  tallies: Tallies
}

export interface SessionLine {
  cursor: JsonCursor
  /** Entries of `totals`, which lines have since 2026-01-30; empty before. */
  tallies: Tallies
}

/** A chosen fulfilment option, read alike from the forms of all versions. */
interface Selection {
  /** null if 2025-09-29 names an id alone. */
  type: JsonCursor | null
  option_id: JsonCursor
  item_ids: JsonCursor
}

/** Places of a document that the rules are about, gathered once. */
export interface AcpView {
  context: RuleContext
  version: AcpVersion
  sets: ClosedSets
  /** Version 2026-01-16 or older: amounts on the line, quantity on the item. */
  is_before_202601: boolean
  body: JsonCursor
  /** Status of a session; null when there is none. */
  status: string | null
  lines: SessionLine[]
  options: JsonCursor[]
  selections: Selection[]
  /** Totals of the session or order as a whole. */
  totals: AcpTotals
  /** Totals of lines and fulfilment options. */
  inner_totals: AcpTotals[]
  messages: JsonCursor[]
  links: JsonCursor[]
  handlers: JsonCursor[]
  applied: JsonCursor[]
  /** The order, which is the document or a member of the session. */
  order: JsonCursor
  allowance: JsonCursor
  added: AddedMembers
}

function collectAcpView(context: RuleContext): AcpView {
  const body = unwrapBody(context.document)
  const version = ACP_VERSIONS.find((one) => one === context.version) ?? ACP_VERSIONS[0]
  const isSession = context.type === 'checkout_session'
  const lines = isSession ? body.objects('line_items') : []
  const options = body.objects('fulfillment_options')
  const order = context.type === 'order' ? body : body.get('order')
  const totals = [...lines, ...options, ...order.objects('line_items')].map((one) => one.get('totals'))
  if (isSession && order.has('totals')) totals.push(order.get('totals'))
  return {
    context,
    version,
    sets: CLOSED_SETS[version],
    is_before_202601: !context.atLeast('2026-01-30'),
    body,
    status: isSession ? body.text('status') : null,
    lines: lines.map((cursor) => ({ cursor, tallies: tallyTotals(cursor.get('totals')) })),
    options,
    selections: readSelections(body),
    totals: readTotals(body.get('totals')),
    inner_totals: totals.filter(({ present }) => present).map(readTotals),
    messages: body.objects('messages'),
    links: body.objects('links'),
    handlers: body.objects('capabilities', 'payment', 'handlers'),
    applied: body.objects('discounts', 'applied'),
    order,
    allowance: findAllowance(body),
    added: readExtensions(body),
  }
}

function readTotals(cursor: JsonCursor): AcpTotals {
  return { cursor, entries: cursor.objects(), tallies: tallyTotals(cursor) }
}

function readSelections(body: JsonCursor): Selection[] {
  const selections: Selection[] = body.objects('selected_fulfillment_options').map((one) => {
    const type = one.get('type')
    // If the type is redacted, the member that is present names it.
    const nested = type.redacted ? one.get(one.has('shipping') ? 'shipping' : 'digital') : one.get(type.text() ?? '')
    const holder = nested.kind === 'object' ? nested : one
    return { type, option_id: holder.get('option_id'), item_ids: holder.get('item_ids') }
  })
  const first = body.get('fulfillment_option_id')
  if (first.present) selections.push({ type: null, option_id: first, item_ids: first.get('item_ids') })
  return selections
}

/** Amounts of a list of totals, added up by type. */
interface Tally {
  /** null when one of the amounts cannot be read. */
  amount: bigint | null
  cursors: JsonCursor[]
}

interface Tallies {
  readonly by_type: ReadonlyMap<string, Tally>
  /** False when the type of an entry cannot be read, so that no sum is known. */
  readonly is_whole: boolean
}

export function tallyTotals(list: JsonCursor): Tallies {
  const by_type = new Map<string, Tally>()
  const entries = list.items()
  for (const entry of entries) {
    const type = entry.text('type')
    if (type === null) continue
    const amount = entry.integer('amount')
    const known = by_type.get(type)
    if (known === undefined) by_type.set(type, { amount, cursors: [entry] })
    else {
      known.amount = known.amount === null || amount === null ? null : known.amount + amount
      known.cursors.push(entry)
    }
  }
  return { by_type, is_whole: !list.redacted && entries.every((entry) => entry.text('type') !== null) }
}

/** Sum of a type: zero when there is none, null when it cannot be read. */
export function sumOfType({ by_type, is_whole }: Tallies, type: string): bigint | null {
  const found = by_type.get(type)
  return is_whole ? (found === undefined ? 0n : found.amount) : null
}

/** Sum of several types; null when one of them cannot be read. */
export function sumOfTypes(tallies: Tallies, types: readonly string[]): bigint | null {
  let sum = 0n
  for (const type of types) {
    const amount = sumOfType(tallies, type)
    if (amount === null) return null
    sum += amount
  }
  return sum
}

/** The only entry of a type; null when there is none or more than one, or its amount cannot be read. */
export function singleAmount({ by_type, is_whole }: Tallies, type: string): { cursor: JsonCursor; amount: bigint } | null {
  const found = by_type.get(type)
  const cursor = found?.cursors[0]
  if (!is_whole || found === undefined || cursor === undefined || found.cursors.length > 1 || found.amount === null) return null
  return { cursor: cursor.get('amount'), amount: found.amount }
}

/** Discounts are positive, and taken off; some write them negative. */
export function absoluteAmount(amount: bigint | null): bigint | null {
  return amount !== null && amount < 0n ? -amount : amount
}

/** Members and message codes that the extensions of a session add to it (rfc.extensions, 3.4 and 5.3). */
interface AddedMembers {
  /** Members that an extension says it adds. */
  names: ReadonlySet<string>
  /** True if an extension does not list its members, so any unknown member may belong to it. */
  is_open: boolean
  /** True if there is an extension other than discounts, whose members and codes are known. */
  is_foreign: boolean
}

function readExtensions(body: JsonCursor): AddedMembers {
  const list = body.get('capabilities', 'extensions')
  const foreign = list.items().filter((item) => !/^discount(?:@|$)/.test((item.kind === 'object' ? item.get('name') : item).text() ?? ''))
  const fields = list.items().flatMap((item) => item.items('extends'))
  const names = fields
    .map((field) => /^\$\.(?:\w{1,64}\.){1,8}(\w{1,64})$/.exec(field.text() ?? '')?.[1])
    .filter((name) => name !== undefined)
  const is_open = list.redacted || foreign.some((item) => item.items('extends').length === 0)
  return { names: new Set(names), is_open, is_foreign: list.redacted || foreign.length > 0 }
}

/** The document itself: JSON-RPC carries it in `result`, an error in `error.data`, a webhook event its order in `data`. */
function unwrapBody(document: JsonCursor): JsonCursor {
  if (!document.has('jsonrpc')) return isEvent(document) ? document.get('data') : document
  const result = document.get('result')
  const structured = result.get('structuredContent')
  if (structured.kind === 'object') return structured
  if (result.kind === 'object') return result
  const data = document.get('error', 'data')
  return data.kind === 'object' ? data : document
}

function isEvent(document: JsonCursor): boolean {
  return ['order_create', 'order_update'].includes(document.text('type') ?? '') && document.get('data').kind === 'object'
}

/** Returns whether this is the order of a webhook event up to 2026-01-30: it has refunds and no id. */
export function isEventOrder(order: JsonCursor): boolean {
  return order.text('type') === 'order' && order.has('refunds') && !order.has('id')
}

/** Returns whether a document can only be of ACP. Errors and feeds have no distinguishing member. */
function isAcpDocument(document: JsonCursor): boolean {
  const body = unwrapBody(document)
  if (body.has('ucp')) return false
  if (body.has('line_items') && body.has('totals') && body.has('fulfillment_options')) return true
  const protocol = body.get('protocol')
  if (protocol.text('name') === 'acp' || (protocol.has('supported_versions') && body.has('api_base_url'))) return true
  if (body.has('checkout_session_id') && body.has('permalink_url')) return true
  if (body !== document && document.has('error')) return isError(body)
  const allowance = findAllowance(body)
  return allowance.has('max_amount') && allowance.has('merchant_id')
}

/** The allowance, which is the document or a member of a request to delegate a payment. */
function findAllowance(body: JsonCursor): JsonCursor {
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
function isAcpRequest(document: JsonCursor): boolean {
  if (isJsonRpcRequest(document)) return true
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

function isAcpCart(document: JsonCursor): boolean {
  const body = unwrapBody(document)
  return ['id', 'line_items', 'totals'].every((name) => body.has(name)) && !NO_CART.some((name) => body.has(name))
}

/** Members by which documents are known. */
const ACP_MEMBERS = [
  'line_items',
  'totals',
  'fulfillment_options',
  'checkout_session_id',
  'permalink_url',
  'api_base_url',
  'transports',
  'allowance',
  'max_amount',
  'variants',
  'messages',
  'links',
  'payment_provider',
  'protocol',
  'capabilities',
  'error',
  'code',
  'param',
]

function detectAcp(document: JsonCursor): Detection {
  const body = unwrapBody(document)
  const type = detectType(body)
  const isKnown = document !== body || isBlank(body) || ACP_MEMBERS.some((name) => body.has(name))
  if (!isKnown) return { type: UNKNOWN_TYPE, version: ACP_VERSIONS[0], version_source: 'assumed', outside: 'unknown' }
  switch (type) {
    case 'checkout_session':
    case 'discovery':
      return { type, ...detectVersion(body, type) }
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

function detectType(body: JsonCursor): AcpType {
  const has = (...names: string[]) => names.some((name) => body.has(name))
  if (findAllowance(body) !== body || has('max_amount')) return 'allowance'
  if (has('permalink_url', 'checkout_session_id')) return 'order'
  if (has('line_items')) return 'checkout_session'
  if (has('api_base_url', 'transports') || body.get('protocol').has('name')) return 'discovery'
  if (isError(body) || body.get('error').kind === 'object') return 'error'
  return has('variants') ? 'feed_product' : 'checkout_session'
}

/** Members that an error has not, and each other document has. */
const NO_ERROR = ['id', 'currency', 'totals', 'fulfillment_options', 'variants']

/** Returns whether a body is an error: it has two members of errors, or a type that only errors have. ACP-043 reports what it lacks. */
function isError(body: JsonCursor): boolean {
  if (NO_ERROR.some((name) => body.has(name))) return false
  const isTyped = ERROR_TYPES.includes(body.text('type') ?? '')
  return isTyped || ['type', 'code', 'message', 'param'].filter((name) => body.has(name)).length >= 2
}

function detectVersion(body: JsonCursor, type: 'checkout_session' | 'discovery'): Omit<Detection, 'type'> {
  const text = body.text('protocol', 'version')
  const read = readDateVersion(text, ACP_VERSIONS)
  const shape = type === 'discovery' ? ({ version: ACP_VERSIONS[0], version_source: 'assumed' } as const) : inferVersion(body)
  switch (read.kind) {
    case 'known':
      // Official examples of 2026-04-17 still state 2026-01-30 while they have newer members.
      if (read.version === '2026-01-30' && hasMembersOf202604(body))
        return { version: '2026-04-17', version_source: 'inferred', declared: read.version }
      return { version: read.version, version_source: 'declared' }
    case 'newer':
      return { version: read.version, version_source: 'declared', declared: text ?? '', outside: 'future' }
    case 'unknown':
      // Documents of a version may state the date of its draft: their shape is more reliable.
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
function inferVersion(body: JsonCursor): Shape {
  const lines = body.items('line_items')
  if (JANUARY_NEW.some((name) => body.has(name)) || lines.some((line) => line.has('quantity') || line.has('totals'))) {
    return { version: '2026-04-17', version_source: hasMembersOf202604(body) ? 'inferred' : 'assumed' }
  }
  return hasMembersOf202604(body) ? { version: '2026-04-17', version_source: 'inferred' } : inferOldVersion(body, lines)
}

function hasMembersOf202604(body: JsonCursor): boolean {
  const order = body.get('order')
  return (
    body.has('marketing_consent_options') ||
    ['line_items', 'fulfillments', 'adjustments'].some((name) => order.has(name)) ||
    body.items('messages').some((message) => message.has('resolution')) ||
    body.items('totals').some((total) => total.text('type') === 'amount_refunded')
  )
}

function inferOldVersion(body: JsonCursor, lines: readonly JsonCursor[]): Shape {
  const options = body.items('fulfillment_options')
  const links = body.items('links')
  if (body.has('authentication_provider') || body.get('payment_provider').has('merchant_id') || options.some((one) => one.has('totals')))
    return { version: '2026-01-16', version_source: 'inferred' }
  const isFirst = body.has('fulfillment_address') || body.has('fulfillment_option_id')
  if (isFirst || links.some((link) => link.text('type') === 'seller_shop_policies'))
    return { version: '2025-09-29', version_source: 'inferred' }
  const isDecember = ['fulfillment_details', 'selected_fulfillment_options', 'authentication_metadata'].some((name) => body.has(name))
  if (options.length > 0 && isDecember) return { version: '2025-12-12', version_source: 'inferred' }
  const isOld =
    isDecember || body.has('payment_provider') || lines.some((line) => line.has('base_amount') || line.get('item').has('quantity'))
  if (!isOld) return { version: '2026-04-17', version_source: 'assumed' }
  return { version: options.length > 0 ? '2025-12-12' : '2026-01-16', version_source: 'assumed' }
}

/** Prices of a product feed. */
export function listFeedPrices(body: JsonCursor): JsonCursor[] {
  const names = ['price', 'list_price', 'unit_price']
  return body.objects('variants').flatMap((variant) => names.map((name) => variant.get(name)).filter(({ kind }) => kind === 'object'))
}

export const ACP_READER: DocumentReader<AcpView> = {
  versions: ACP_VERSIONS,
  types: ACP_TYPES,
  uncovered: [
    { type: 'request', recognises: isAcpRequest },
    { type: 'cart', recognises: isAcpCart },
    { type: 'feed', recognises: (document) => document.has('products') },
    { type: 'authentication_session', recognises: () => false },
  ],
  members: ACP_MEMBERS,
  body: unwrapBody,
  recognises: isAcpDocument,
  detect: detectAcp,
  specForVersion: acpSpecAt,
  view: collectAcpView,
}

/** The same file of another version; definitions keep their names. Feeds and discovery came with 2026-04-17. */
function acpSpecAt({ url, section }: SpecReference, version: string): SpecReference {
  return { url: url.replace(/\/spec\/[0-9-]{10}\//, `/spec/${version}/`), section }
}
