import type { JsonCursor } from '../json-cursor.ts'
import {
  isBlank,
  UNKNOWN_TYPE,
  type RuleContext,
  type Detection,
  type SpecReference,
  type DocumentReader,
  isJsonRpcRequest,
} from '../protocol.ts'
import { declaredVersion } from '../kit/dates.ts'
import { parseJsonText } from '../kit/json-text.ts'

export type Registry = 'services' | 'capabilities' | 'payment_handlers'

/** One version of a service, a capability or a payment handler. */
export interface UcpEntity {
  registry: Registry
  cursor: JsonCursor
  /** Cursor on its name: the member of a map, or `name` of an item in 2026-01-11. */
  name_cursor: JsonCursor
  name: string | null
}

/** One way to reach a service. */
interface Binding {
  entity: UcpEntity
  /** The object with endpoint and schema. */
  cursor: JsonCursor
  transport: Transport | null
}

/** A list of totals. `document` and `line` follow the rules of a basket, `option` prices a choice, `adjustment` moves money either way. */
export interface UcpTotals {
  cursor: JsonCursor
  of: 'document' | 'line' | 'option' | 'adjustment'
  entries: JsonCursor[]
}

/** Parts of a document that the rules of UCP read, collected once. */
export interface UcpView {
  context: RuleContext
  /** The UCP body, unwrapped from an MCP answer. */
  body: JsonCursor
  ucp: JsonCursor
  /** True for the shapes of 2026-01-11: an array of capabilities, one object per service, handlers under `payment`. */
  is_first_version: boolean
  /** True for the rules of 2026-08-25, the newest ones. */
  is_newest_version: boolean
  is_profile: boolean
  is_platform: boolean
  entities: UcpEntity[]
  bindings: Binding[]
  /** Keys in both fields that a profile may have. */
  keys: JsonCursor[]
  lines: JsonCursor[]
  totals: UcpTotals[]
  messages: JsonCursor[]
}

function collectUcpView(context: RuleContext): UcpView {
  const body = unwrapBody(context.document)
  const is_first_version = !context.atLeast('2026-01-23')
  const entities = collectEntities(body, is_first_version)
  const is_profile = context.type === 'business_profile' || context.type === 'platform_profile'
  return {
    context,
    body,
    ucp: body.get('ucp'),
    is_first_version,
    is_newest_version: context.atLeast('2026-08-25'),
    is_profile,
    is_platform: context.type === 'platform_profile',
    entities,
    bindings: collectBindings(entities, is_first_version),
    keys: ['signing_keys', 'keys'].flatMap((name) => body.objects(name)),
    lines: body.objects('line_items'),
    totals: collectTotals(body),
    messages: body.objects('messages'),
  }
}

/** The registry at its position in this version. */
export function registryCursor(body: JsonCursor, registry: Registry, is_first_version: boolean): JsonCursor {
  return is_first_version && registry === 'payment_handlers' ? body.get('payment', 'handlers') : body.get('ucp', registry)
}

function collectEntities(body: JsonCursor, is_first_version: boolean): UcpEntity[] {
  return (['services', 'capabilities', 'payment_handlers'] as const).flatMap((registry): UcpEntity[] => {
    const holder = registryCursor(body, registry, is_first_version)
    if (!is_first_version)
      return holder.members().flatMap((name) => name.objects().map((cursor) => ({ registry, cursor, name_cursor: name, name: name.key })))
    if (registry !== 'services')
      return holder.objects().map((cursor) => ({ registry, cursor, name_cursor: cursor.get('name'), name: cursor.text('name') }))
    return holder
      .members()
      .filter(({ kind }) => kind === 'object')
      .map((cursor) => ({ registry, cursor, name_cursor: cursor, name: cursor.key }))
  })
}

function collectBindings(entities: readonly UcpEntity[], is_first_version: boolean): Binding[] {
  const services = entities.filter(({ registry }) => registry === 'services')
  if (!is_first_version) {
    return services.map((entity) => {
      const said = entity.cursor.text('transport')
      return { entity, cursor: entity.cursor, transport: TRANSPORTS.find((one) => one === said) ?? null }
    })
  }
  return services.flatMap((entity) =>
    TRANSPORTS.map((transport) => ({ entity, cursor: entity.cursor.get(transport), transport })).filter(
      ({ cursor }) => cursor.kind === 'object',
    ),
  )
}

function collectTotals(body: JsonCursor): UcpTotals[] {
  const groups = body.objects('fulfillment', 'methods').flatMap((method) => method.objects('groups'))
  const list = (of: UcpTotals['of'], holder: JsonCursor) => {
    const cursor = holder.get('totals')
    return { cursor, of, entries: cursor.objects() }
  }
  return [
    list('document', body),
    ...body.objects('line_items').map((line) => list('line', line)),
    ...groups.flatMap((group) => group.objects('options')).map((option) => list('option', option)),
    ...body.objects('adjustments').map((adjustment) => list('adjustment', adjustment)),
  ]
}

export function isCapability({ registry }: UcpEntity): boolean {
  return registry === 'capabilities'
}

/** Newest first. */
const UCP_VERSIONS = ['2026-08-25', '2026-04-08', '2026-01-23', '2026-01-11'] as const
export type UcpVersion = (typeof UCP_VERSIONS)[number]

const UCP_TYPES = ['business_profile', 'platform_profile', 'checkout', 'cart', 'order', 'catalog', 'error'] as const

type UcpType = (typeof UCP_TYPES)[number]

export const PROFILES = ['business_profile', 'platform_profile'] as const satisfies UcpType[]

/** Responses with lines and totals. */
export const BASKETS = ['checkout', 'cart', 'order'] as const satisfies UcpType[]

export const TRANSPORTS = ['rest', 'mcp', 'a2a', 'embedded'] as const

type Transport = (typeof TRANSPORTS)[number]

/** The UCP body of a document, unwrapped from an MCP answer if necessary. */
function unwrapBody(document: JsonCursor): JsonCursor {
  if (document.has('ucp')) return document
  const answers = [document.get('result'), document]
  const contents = [
    ...answers.map((answer) => answer.get('structuredContent')),
    ...answers.filter((answer) => !answer.has('structuredContent')).flatMap(textContents),
  ]
  for (const content of contents) {
    const inner = [content, content.get('checkout'), content.get('cart'), content.get('order')].find((cursor) => cursor.has('ucp'))
    if (inner !== undefined) return inner
  }
  return document
}

/** The JSON in the texts of an MCP answer, for servers without structured content. */
function textContents(answer: JsonCursor): JsonCursor[] {
  return answer
    .objects('content')
    .slice(0, 10)
    .map((block) => parseJsonText(block.get('text')))
    .filter(({ kind }) => kind === 'object')
}

/** Members that requests have, and those that only responses, profiles and errors have. */
const ASKED = [
  'line_items',
  'payment',
  'query',
  'filters',
  'fulfillment',
  'discounts',
  'buyer',
  'context',
  'signals',
  'risk_signals',
  'ids',
  'selected',
  'preferences',
  'cart_id',
  'payment_data',
  'attribution',
  'pagination',
]
const ANSWERED = [
  'ucp',
  'status',
  'totals',
  'links',
  'messages',
  'products',
  'product',
  'keys',
  'signing_keys',
  'checkout_id',
  'permalink_url',
]

/** Requests carry no `ucp`: their version travels in a header. */
function isUcpRequest(document: JsonCursor): boolean {
  if (isJsonRpcRequest(document)) return true
  return ASKED.some((name) => document.has(name)) && !ANSWERED.some((name) => document.has(name))
}

/** Detects the type by the members; of profiles also by what only one side publishes. */
function detectUcp(document: JsonCursor): Detection {
  const body = unwrapBody(document)
  const version = detectVersion(body)
  const isKnown = isBlank(body) || UCP_MEMBERS.some((name) => body.has(name))
  return isKnown ? { type: detectType(body, version.version), ...version } : { type: UNKNOWN_TYPE, ...version, outside: 'unknown' }
}

/** Members by which documents are known. */
const UCP_MEMBERS = [
  'ucp',
  'line_items',
  'totals',
  'checkout_id',
  'permalink_url',
  'products',
  'product',
  'signing_keys',
  'keys',
  'payment',
  'messages',
  'links',
  'fulfillment',
  'discounts',
]

function detectVersion(body: JsonCursor): Omit<Detection, 'type'> {
  const declared = declaredVersion(body.text('ucp', 'version'), UCP_VERSIONS)
  if (declared !== null) return declared
  const ucp = body.get('ucp')
  const isFirst =
    ucp.get('capabilities').kind === 'array' || body.get('payment', 'handlers').present || ucp.members('services').some(isFirstService)
  if (isFirst) return { version: '2026-01-11', version_source: 'inferred' }
  const [has_old_keys, has_new_keys] = [body.has('signing_keys'), body.has('keys')]
  if (has_new_keys && !has_old_keys) return { version: '2026-08-25', version_source: 'inferred' }
  if (has_old_keys) return { version: '2026-04-08', version_source: 'inferred' }
  if (body.items('totals').some(isPositiveDiscount)) return { version: '2026-01-23', version_source: 'inferred' }
  return { version: '2026-08-25', version_source: 'assumed' }
}

/** The first version keeps one object a service, with a member for each transport. */
function isFirstService(service: JsonCursor): boolean {
  return service.kind === 'object' && TRANSPORTS.some((transport) => service.has(transport))
}

/** Discounts turned negative with 2026-04-08. */
function isPositiveDiscount(entry: JsonCursor): boolean {
  return /^(?:items_)?discount$/.test(entry.text('type') ?? '') && (entry.integer('amount') ?? 0n) > 0n
}

function detectType(body: JsonCursor, version: string): UcpType {
  const has = (...names: string[]) => names.some((name) => body.has(name))
  const ucp = body.get('ucp')
  if (ucp.text('status') === 'error' && !has('line_items', 'products')) return 'error'
  if (has('checkout_id', 'permalink_url')) return 'order'
  if (has('products', 'product')) return 'catalog'
  if (has('line_items', 'totals') || (has('status', 'currency') && !looksLikeProfile(body)))
    return isCart(body, version) ? 'cart' : 'checkout'
  const isProfile = ['services', 'capabilities', 'payment_handlers'].some((name) => ucp.has(name)) || has('keys', 'signing_keys', 'payment')
  if (!isProfile && has('messages')) return 'error'
  return isPlatform(body, version) ? 'platform_profile' : 'business_profile'
}

/** Returns whether a body without lines has services or is named as only profiles are; a status and a currency occur everywhere. */
function looksLikeProfile(body: JsonCursor): boolean {
  const ucp = body.get('ucp')
  return ucp.has('services') || body.has('services') || (ucp.present && ucp.kind !== 'object' && !body.has('id'))
}

/** Members of a checkout that no cart has. */
const CHECKOUT_MEMBERS = ['status', 'payment', 'order', 'fulfillment', 'ap2', 'cart_id']

/**
 * Returns whether a body is a cart and not a checkout, since 2026-04-08. A capability of only one of the two decides; otherwise a member of
 * checkouts, or the payment handlers that every checkout has, makes it a checkout.
 */
function isCart(body: JsonCursor, version: string): boolean {
  if (version < '2026-04-08') return false
  const ucp = body.get('ucp')
  const names = ucp.get('capabilities')
  const [names_checkout, names_cart] = [names.has('dev.ucp.shopping.checkout'), names.has('dev.ucp.shopping.cart')]
  if (names_checkout !== names_cart) return names_cart
  return !ucp.has('payment_handlers') && !CHECKOUT_MEMBERS.some((name) => body.has(name))
}

/**
 * Returns whether a profile is that of a platform. Only platforms have a webhook_url for orders. Since 2026-04-08 platforms publish no
 * endpoints but spec and schema of every entity; a profile without endpoints that lacks one of those belongs to a business.
 */
function isPlatform(body: JsonCursor, version: string): boolean {
  const ucp = body.get('ucp')
  const capabilities = listEntries(ucp.get('capabilities'))
  if (capabilities.some((entry) => entry.get('config').has('webhook_url'))) return true
  if (version < '2026-04-08' || ucp.has('supported_versions')) return false
  const bindings = listEntries(ucp.get('services'))
  if (bindings.length === 0 || bindings.some((binding) => binding.has('endpoint'))) return false
  // Platforms that take orders must name their webhook.
  if (ucp.get('capabilities').has('dev.ucp.shopping.order')) return false
  const isDescribed = (entry: JsonCursor) => entry.has('spec') && (entry.has('schema') || entry.text('transport') === 'a2a')
  return [...bindings, ...capabilities].every(isDescribed)
}

/** Entries of a registry: an array, or arrays by name. */
function listEntries(registry: JsonCursor): JsonCursor[] {
  return registry.kind === 'array' ? registry.items() : registry.members().flatMap((member) => member.items())
}

type Page = 'overview' | 'checkout' | 'order' | 'fulfillment' | 'ap2-mandates' | 'signatures' | 'reference'

/** A heading of a page of the specification as published for 2026-04-08. */
export function ucpSpec(page: Page, section: string): SpecReference {
  return { url: `https://ucp.dev/2026-04-08/specification/${page}/`, section }
}

export const UCP_READER: DocumentReader<UcpView> = {
  versions: UCP_VERSIONS,
  types: UCP_TYPES,
  uncovered: [{ type: 'request', recognises: isUcpRequest }],
  members: UCP_MEMBERS,
  body: unwrapBody,
  recognises: (document) => unwrapBody(document).has('ucp'),
  detect: detectUcp,
  // Pages are kept by version.
  specForVersion: ({ url, section }, version) => ({
    url: url.replace('https://ucp.dev/2026-04-08/', `https://ucp.dev/${version}/`),
    section,
  }),
  view: collectUcpView,
}
