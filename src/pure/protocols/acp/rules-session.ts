import {
  expectType,
  expectItems,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectItemTypes,
  expectStringIfPresent,
} from '../kit/expect.ts'
import { readDateVersion } from '../kit/dates.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { followJsonPath } from './json-path.ts'
import { isEventOrder, type AcpView, listFeedPrices } from './view.ts'
import {
  ACP_TYPES,
  ACP_VERSIONS,
  OLD_LINE_AMOUNTS,
  schemaSpec,
  FIRST_LINKS,
  SESSION_TYPES,
  REJECTION_REASONS,
  JANUARY_NEW,
  type AcpVersion,
  type AcpType,
} from './versions.ts'
import { expectHttpsUrl } from '../kit/url.ts'
import { expectShape, type ShapeReporters } from '../kit/shape.ts'
import { EVENT_ORDER, DOCUMENTS, EXTENSION, OPTIONS, OLD_SESSIONS } from './schemas.ts'

const EVERY = ['id', 'buyer', 'status', 'currency', 'line_items', 'fulfillment_options', 'totals', 'messages', 'links', 'order']
const DECEMBER = [...EVERY, 'payment_provider', 'fulfillment_details', 'selected_fulfillment_options', 'authentication_metadata']

const JANUARY = [...DECEMBER.filter((name) => name !== 'payment_provider'), ...JANUARY_NEW]

/** Members of a checkout session; every schema is closed. */
const SESSION_MEMBERS: Readonly<Record<AcpVersion, ReadonlySet<string>>> = {
  '2025-09-29': new Set([...EVERY, 'payment_provider', 'fulfillment_address', 'fulfillment_option_id']),
  '2025-12-12': new Set(DECEMBER),
  '2026-01-16': new Set([...DECEMBER, 'authentication_provider']),
  '2026-01-30': new Set(JANUARY),
  '2026-04-17': new Set([...JANUARY, 'marketing_consent_options']),
}

const ORDER = ['type', 'id', 'checkout_session_id', 'order_number', 'client_reference_id', 'permalink_url', 'status', 'estimated_delivery']

/** Members of the other documents in the newest version. */
const OTHER_MEMBERS: Readonly<Record<Exclude<AcpType, 'checkout_session'>, ReadonlySet<string>>> = {
  order: new Set([...ORDER, 'confirmation', 'support', 'line_items', 'fulfillments', 'adjustments', 'totals']),
  discovery: new Set(['protocol', 'api_base_url', 'transports', 'capabilities']),
  error: new Set(['type', 'code', 'message', 'param', 'supported_versions']),
  allowance: new Set(['reason', 'max_amount', 'currency', 'checkout_session_id', 'merchant_id', 'expires_at']),
  feed_product: new Set(['id', 'title', 'description', 'url', 'media', 'variants']),
}

const SESSION_SCHEMA = schemaSpec('CheckoutSessionBase')
const SLIPS: Readonly<Record<string, string>> = { cancelled: 'canceled', ready_for_complete: 'ready_for_payment' }

/** ACP-001…007 and 046: the session as a whole, its status, and whether it is of one version. */
export const ACP_SESSION_RULES: RuleTable<AcpView> = {
  'ACP-001': {
    types: ['checkout_session', 'feed_product'],
    why: 'An agent cannot continue without these members.',
    spec: SESSION_SCHEMA,
    hint: 'Send every required member, also when nothing has happened yet.',
    good: { id: 'cs_1', status: 'incomplete', currency: 'usd', line_items: [], totals: [] },
    bad: { status: 'incomplete', currency: 'usd' },
    check({ error }, view) {
      const { body, context, is_before_202601 } = view
      if (!expectType(error, body, 'object')) return
      if (context.type === 'feed_product') return checkFeedProduct(error, body)
      for (const name of ['id', 'status', 'currency']) expectText(error, body.get(name))
      for (const name of ['line_items', 'totals']) if (!body.has(name)) error(body.get(name), 'is missing', { expected: 'an array' })
      if (!is_before_202601) expectType(error, body.get('capabilities'), 'object')
    },
  },
  'ACP-002': {
    types: ['checkout_session'],
    why: 'Agents read these lists without asking whether they are there.',
    spec: SESSION_SCHEMA,
    hint: 'Send an empty array where there is nothing to list.',
    good: { messages: [], links: [], fulfillment_options: [] },
    bad: { messages: null, links: {} },
    check({ error }, { body }) {
      if (body.kind !== 'object') return
      for (const name of ['messages', 'links', 'fulfillment_options']) expectType(error, body.get(name), 'array')
      for (const name of ['line_items', 'totals', 'selected_fulfillment_options', 'fulfillment_groups'])
        expectTypeIfPresent(error, body.get(name), 'array')
    },
  },
  'ACP-003': {
    types: ['checkout_session'],
    why: 'The agent decides by the status what to do next and knows only those of its version.',
    spec: schemaSpec('CheckoutSessionBase.status'),
    hint: 'Use a status of the version of the document.',
    good: { status: 'ready_for_payment' },
    bad: { status: 'ready' },
    check({ error }, { body, sets }) {
      const status = body.get('status')
      if (status.kind === 'string' && status.text()?.trim() !== '') expectOneOf(error, status, sets.statuses)
    },
  },
  'ACP-004': {
    severity: 'warning',
    types: ['checkout_session'],
    why: 'These are spellings of other protocols and of British English.',
    spec: schemaSpec('CheckoutSessionBase.status'),
    hint: 'Write canceled with one l, and ready_for_payment where UCP has ready_for_complete.',
    good: { status: 'canceled' },
    bad: { status: 'cancelled' },
    check({ warning }, { body, status }) {
      const right = status !== null && Object.hasOwn(SLIPS, status) ? SLIPS[status] : undefined
      if (right !== undefined) warning(body.get('status'), 'is not the spelling of this protocol', { expected: right })
    },
  },
  'ACP-005': {
    severity: 'both',
    types: ['checkout_session', 'feed_product'],
    why: 'Amounts mean nothing without their currency.',
    spec: schemaSpec('CheckoutSessionBase.currency'),
    hint: 'Write the three letters of ISO 4217: lower case in checkout, upper case in product feeds.',
    hint_by_case: true,
    good: { currency: 'usd' },
    bad: { currency: 'US Dollar' },
    check(report, { body, context }) {
      if (context.type === 'feed_product') return checkFeedCurrencies(report, body)
      checkCurrency(report, body.get('currency'))
      checkCurrency(report, body.get('presentment_currency'))
    },
  },
  'ACP-006': {
    severity: 'both',
    why: 'Every schema of the protocol is closed: a strict reader refuses the whole document for a member that it does not know.',
    spec: SESSION_SCHEMA,
    hint: 'Take the member out, put it into metadata where the version has that, or name it in extends of the extension that adds it.',
    good: { id: 'cs_1', metadata: { shop: 'north' } },
    bad: { id: 'cs_1', shop: 'north' },
    check({ error, warning }, { body, context, allowance, added }) {
      const type = ACP_TYPES.find((one) => one === context.type) ?? 'checkout_session'
      if (type === 'error' && body.get('error').kind === 'object') return
      const cursor = type === 'allowance' ? allowance : body
      for (const member of cursor.members()) {
        if (versionsWithMember(type, member.key).length > 0 || added.names.has(member.key)) continue
        if (member.key === 'refunds' && isEventOrder(body)) continue
        if (added.is_open) warning(member, 'is not a member of the protocol, and no extension declares it')
        else error(member, 'is not a member of this object in any version')
      }
    },
  },
  'ACP-007': {
    types: ['checkout_session'],
    why: 'A document half moved to another version fits the schema of neither.',
    spec: SESSION_SCHEMA,
    hint: 'Move the whole document to one version, and take out what belongs to the other.',
    good: { capabilities: {}, fulfillment_details: {} },
    bad: { capabilities: {}, fulfillment_address: {} },
    check({ error }, view) {
      checkSessionVersion(error, view)
      checkLineVersion(error, view)
    },
  },
  'ACP-046': {
    severity: 'both',
    types: ['checkout_session', 'discovery'],
    why: 'Which members, statuses and codes are right depends on the version.',
    spec: schemaSpec('ProtocolVersion'),
    hint: 'State the version in protocol.version, as the day it was published.',
    good: { protocol: { version: '2026-04-17' } },
    bad: { protocol: { version: 'latest' } },
    check({ error, warning }, { body, context }) {
      const cursor = body.get('protocol', 'version')
      const expected = `one of ${ACP_VERSIONS.join(', ')}`
      const read = readDateVersion(cursor.text(), ACP_VERSIONS)
      const isSession = context.type === 'checkout_session'
      if (cursor.present && !cursor.redacted && read.kind === 'unparsable') {
        if (isSession) error(cursor, 'is not a version, which is a day of the calendar', { expected })
      } else if (read.kind === 'newer') warning(cursor, 'is newer than the rules that were used', { expected })
      else if (read.kind === 'unknown') warning(cursor, 'is a version that was never published', { expected })
      else if (context.declared !== undefined) warning(cursor, 'is older than other members of the document', { expected: context.version })
      else if (isSession && context.version_source === 'assumed')
        warning(body, `does not state its version; the rules of ${context.version} were used`)
    },
  },
}

function checkFeedProduct(error: ReportFinding, body: JsonCursor): void {
  expectText(error, body.get('id'))
  for (const variant of expectItems(error, body.get('variants'))) {
    if (!expectType(error, variant, 'object')) continue
    for (const name of ['id', 'title']) expectText(error, variant.get(name))
  }
}

function checkCurrency({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  const text = expectStringIfPresent(error, cursor)
  if (text === null || text.trim() === '') return
  const expected = 'three lower-case letters, such as usd'
  if (!/^[A-Za-z]{3}$/.test(text)) error(cursor, 'is not a currency code of three letters', { expected })
  else if (text !== text.toLowerCase()) warning(cursor, 'is not in lower case', { expected })
}

/** Prices of a product feed, where the pattern asks for upper case. */
function checkFeedCurrencies({ error }: FindingReporter, body: JsonCursor): void {
  for (const price of listFeedPrices(body)) {
    const cursor = price.get('currency')
    const isRight = cursor.redacted || /^[A-Z]{3}$/.test(cursor.text() ?? '')
    if (!isRight) error(cursor, 'is not a currency code of three upper-case letters', { expected: 'a code such as USD' })
  }
}

/** Versions whose documents of a type have a member, oldest first. */
function versionsWithMember(type: (typeof ACP_TYPES)[number], name: string): readonly string[] {
  if (type !== 'checkout_session') return OTHER_MEMBERS[type].has(name) ? [ACP_VERSIONS[0]] : []
  return ACP_VERSIONS.filter((version) => SESSION_MEMBERS[version].has(name)).toReversed()
}

function checkSessionVersion(error: ReportFinding, { body, version, is_before_202601 }: AcpView): void {
  for (const member of body.members()) {
    const versions = versionsWithMember('checkout_session', member.key)
    if (versions.length > 0 && !SESSION_MEMBERS[version].has(member.key))
      error(member, `is not a member in version ${version}`, { expected: `it belongs to ${versions.join(', ')}` })
  }
  for (const selected of body.objects('selected_fulfillment_options')) {
    const nested = ['shipping', 'digital'].map((name) => selected.get(name)).find(({ present }) => present)
    if (!is_before_202601 && nested !== undefined)
      error(nested, 'is the form of versions up to 2026-01-16', { expected: 'option_id and item_ids next to type' })
    const flat = selected.get('option_id')
    // Texts of 2026-01-16 have both forms.
    if (version === '2025-12-12' && flat.present && nested === undefined)
      error(flat, 'is the form of versions since 2026-01-30', { expected: 'option_id and item_ids inside a member named like the type' })
  }
}

function checkLineVersion(error: ReportFinding, { lines, options, version, is_before_202601 }: AcpView): void {
  const flat = version === '2025-09-29' || version === '2025-12-12'
  for (const { cursor } of lines) {
    if (is_before_202601 && cursor.has('totals'))
      error(cursor.get('totals'), 'is a member of lines only since 2026-01-30', { expected: 'base_amount to total' })
    const old = OLD_LINE_AMOUNTS.map((name) => cursor.get(name)).find(({ present }) => present)
    if (!is_before_202601 && old !== undefined) error(old, 'is a member of lines only up to 2026-01-16', { expected: 'entries of totals' })
  }
  for (const option of options) {
    const old = ['subtotal', 'tax', 'total'].map((name) => option.get(name)).find(({ present }) => present)
    if (!flat && old !== undefined) error(old, 'is a member of fulfilment options only up to 2025-12-12', { expected: 'entries of totals' })
    if (flat && option.has('totals'))
      error(option.get('totals'), 'is a member of fulfilment options only since 2026-01-16', { expected: 'total' })
  }
}

const MESSAGE = schemaSpec('MessageError')

/** Elements, comments and declarations of HTML as CommonMark 0.31 reads them; links in angle brackets are none. */
const RAW_HTML = /(?<!\\)<(?:\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>|!--|!\[CDATA\[|![a-z]|\?)/i

const WARNING_CODES = [
  'low_stock',
  'high_demand',
  'shipping_delay',
  'price_change',
  'expiring_promotion',
  'limited_availability',
  ...REJECTION_REASONS,
] as const

/** ACP-024…028: messages and links for the buyer. */
export const ACP_MESSAGE_RULES: RuleTable<AcpView> = {
  'ACP-024': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'The agent acts on the status and shows the messages to the buyer, so both should agree.',
    spec: MESSAGE,
    hint: 'Say in a message what is still needed, and drop errors that are mended.',
    good: { status: 'not_ready_for_payment', messages: [{ type: 'error', code: 'missing' }] },
    bad: { status: 'not_ready_for_payment', messages: [] },
    check({ warning }, { body, status, messages }) {
      const wrong = messages.find((message) => message.text('type') === 'error')
      if (status === 'ready_for_payment' && wrong !== undefined) warning(wrong, 'is an error, but the session is ready to be paid')
      const list = body.get('messages')
      if (status === 'not_ready_for_payment' && list.kind === 'array' && list.items().length === 0)
        warning(list, 'is empty, so the agent does not learn what is needed')
    },
  },
  'ACP-025': {
    severity: 'both',
    types: SESSION_TYPES,
    why: 'Agents distinguish messages by type and code, and render them by content_type.',
    spec: MESSAGE,
    hint: 'Send type, content_type and content, and with errors and warnings a code of the version, or of an extension that is declared.',
    good: { type: 'error', code: 'missing', content_type: 'plain', content: 'An address is needed.' },
    bad: { type: 'error', code: 'no_address', content: 'An address is needed.' },
    check({ error, warning }, { body, messages, sets, added }) {
      expectItemTypes(error, body.get('messages'), 'object')
      for (const message of messages) {
        const type = expectText(error, message.get('type')) === null ? null : expectOneOf(error, message.get('type'), sets.messages)
        const codes = type === 'error' ? sets.errors : type === 'warning' ? WARNING_CODES : []
        if (codes.length > 0 && expectType(error, message.get('code'), 'string'))
          expectOneOf(added.is_foreign ? warning : error, message.get('code'), codes)
        expectType(error, message.get('content'), 'string')
        expectTypeIfPresent(error, message.get('param'), 'string')
        if (expectType(error, message.get('content_type'), 'string')) expectOneOf(error, message.get('content_type'), ['plain', 'markdown'])
      }
    },
  },
  'ACP-026': {
    types: SESSION_TYPES,
    why: 'HTML of a third party in the page of an agent can show and run anything.',
    spec: schemaSpec('MessageInfo.content'),
    hint: 'Write CommonMark without HTML, or plain text.',
    good: { content_type: 'markdown', content: '**Sold out**' },
    bad: { content_type: 'markdown', content: '<b>Sold out</b>' },
    check({ error }, { messages, lines }) {
      const disclosures = lines.flatMap(({ cursor }) => cursor.objects('disclosures'))
      for (const one of [...messages, ...disclosures]) {
        const content = one.get('content')
        if (one.text('content_type') !== 'markdown' || content.text() === null) continue
        if (RAW_HTML.test((content.text() ?? '').replace(/`[^`]*`/g, '')))
          error(content, 'contains raw HTML', { expected: 'CommonMark without HTML' })
      }
    },
  },
  'ACP-027': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'An agent finds what a message is about by this path.',
    spec: schemaSpec('MessageError.param'),
    hint: 'Write a JSONPath from the session, such as $.line_items[0].',
    good: { param: '$.line_items[0]' },
    bad: { param: 'line_items.0' },
    check({ warning }, { body, messages }) {
      for (const message of messages) {
        const param = message.get('param')
        if (param.text() === null) continue
        const outcome = followJsonPath(param.text() ?? '', body.value)
        if (outcome === 'malformed') warning(param, 'is not a JSONPath', { expected: 'a path that starts with $' })
        // A missing member cannot be found.
        if (outcome === 'nothing' && message.text('code') !== 'missing') warning(param, 'does not point to anything in the session')
      }
    },
  },
  'ACP-028': {
    severity: 'both',
    types: SESSION_TYPES,
    why: 'The buyer must be able to read the terms before paying.',
    spec: schemaSpec('Link'),
    hint: 'Link at least terms_of_use or privacy_policy, each at an https address.',
    good: [{ type: 'terms_of_use', url: 'https://shop.example.com/terms' }],
    bad: [{ type: 'terms', url: '/terms' }],
    check({ error, warning }, { body, links, sets }) {
      expectItemTypes(error, body.get('links'), 'object')
      for (const link of links) checkLink(error, link, sets.links)
      const isTold = links.some((link) => link.get('type').redacted || FIRST_LINKS.includes(link.text('type') ?? ''))
      if (body.get('links').kind === 'array' && !isTold) warning(body.get('links'), 'links neither terms_of_use nor privacy_policy')
    },
  },
}

function checkLink(error: ReportFinding, link: JsonCursor, types: readonly string[]): void {
  if (expectText(error, link.get('type')) !== null) expectOneOf(error, link.get('type'), types)
  const url = link.get('url')
  if (url.present) expectHttpsUrl(error, url)
  else error(url, 'is missing', { expected: 'an absolute https URL' })
}

/** ACP-047: members that no other rule reads, by the schema. */
export const ACP_NESTED_RULES: RuleTable<AcpView> = {
  'ACP-047': {
    severity: 'both',
    why: 'The schemas are closed to their last member: a strict reader refuses the whole document for one of another type.',
    spec: schemaSpec('CheckoutSessionBase'),
    hint: 'Send members of the type, and with the values, that the schema of the version has; declare what an extension adds.',
    hint_by_case: true,
    good: { line_items: [{ id: 'li_1', name: 'Wool blanket', images: ['https://shop.example.com/1.png'] }] },
    bad: { line_items: [{ id: 'li_1', name: 7, images: 'https://shop.example.com/1.png' }] },
    check(report, view) {
      const { body, context, version } = view
      const old = OLD_SESSIONS[version]
      const isGuessed = context.version_source === 'assumed'
      const type = ACP_TYPES.find((one) => one === context.type)
      // An error in a wrapper is reported as such.
      if (type === undefined || (type === 'error' && body.get('error').kind === 'object')) return
      const says = shapeReporters(report, view)
      if (type === 'order' && isEventOrder(body)) expectShape(says, body, EVENT_ORDER)
      else if (type !== 'checkout_session') expectShape(says, body, DOCUMENTS[type])
      else if (old !== undefined) expectShape({ ...says, rule: isGuessed ? report.warning : report.error }, body, old)
      else checkSessionShape(says, view)
    },
  },
}

function checkSessionShape(says: ShapeReporters, { body, options }: AcpView): void {
  expectShape(says, body, DOCUMENTS.checkout_session)
  for (const option of options) {
    const shape = OPTIONS.get(option.text('type') ?? '')
    if (shape !== undefined) expectShape(says, option, shape)
  }
  for (const extension of body.items('capabilities', 'extensions')) if (extension.kind !== 'string') expectShape(says, extension, EXTENSION)
}

const SURE: ReadonlySet<string> = new Set(['checkout_session', 'feed_product', 'discovery'])

/**
 * An unknown member is an error in every version. Closed sets and required members of sessions are the same since 2026-01-30, and feeds and
 * discovery exist only in the newest version; other documents are checked by the newest version, with errors only if that version is
 * certain.
 */
function shapeReporters({ error, warning }: FindingReporter, { context, added }: AcpView): ShapeReporters {
  const isSure = SURE.has(context.type) || (context.version === '2026-04-17' && context.version_source !== 'assumed')
  return {
    type: error,
    rule: isSure ? error : warning,
    stray: (member: JsonCursor) => {
      if (added.names.has(member.key)) return
      const sayStray = added.is_open ? warning : error
      sayStray(member, 'is not a member of this object in the schema')
    },
  }
}
