import { need, needItems, needText, oneOf, optional } from '../kit/expect.ts'
import { readDateVersion } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { isEventOrder } from './detect.ts'
import { ACP_TYPES, ACP_VERSIONS, OLD_LINE_AMOUNTS, OTHER_MEMBERS, SESSION_MEMBERS } from './shape.ts'
import { schemaSpec } from './spec.ts'
import { objects, strays, type AcpView } from './view.ts'

const SESSION = schemaSpec('CheckoutSessionBase')
const SLIPS: Readonly<Record<string, string>> = { cancelled: 'canceled', ready_for_complete: 'ready_for_payment' }

/** ACP-001…007 and 046: the session as a whole, its status, and whether it is of one version. */
export const SESSION_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-001',
      severity: 'error',
      types: ['checkout_session', 'feed_product'],
      why: 'An agent cannot go on without these members.',
      spec: SESSION,
      hint: 'Send every required member, also when nothing has happened yet.',
      good: { id: 'cs_1', status: 'incomplete', currency: 'usd', line_items: [], totals: [] },
      bad: { status: 'incomplete', currency: 'usd' },
    },
    ({ error }, view) => {
      const { body, context, is_old } = view
      if (!need(error, body, 'object')) return
      if (context.type === 'feed_product') return feedProduct(error, body)
      for (const name of ['id', 'status', 'currency']) needText(error, body.get(name))
      for (const name of ['line_items', 'totals']) if (!body.has(name)) error(body.get(name), 'is missing', { expected: 'an array' })
      if (!is_old) need(error, body.get('capabilities'), 'object')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-002',
      severity: 'error',
      types: ['checkout_session'],
      why: 'Agents read these lists without asking whether they are there.',
      spec: SESSION,
      hint: 'Send an empty array where there is nothing to list.',
      good: { messages: [], links: [], fulfillment_options: [] },
      bad: { messages: null, links: {} },
    },
    ({ error }, { body }) => {
      if (body.kind !== 'object') return
      for (const name of ['messages', 'links', 'fulfillment_options']) need(error, body.get(name), 'array')
      for (const name of ['line_items', 'totals', 'selected_fulfillment_options', 'fulfillment_groups'])
        optional(error, body.get(name), 'array')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-003',
      severity: 'error',
      types: ['checkout_session'],
      why: 'The status tells the agent what to do next, and it knows only those of its version.',
      spec: schemaSpec('CheckoutSessionBase.status'),
      hint: 'Use a status of the version of the document.',
      good: { status: 'ready_for_payment' },
      bad: { status: 'ready' },
    },
    ({ error }, { body, sets }) => {
      const status = body.get('status')
      if (status.kind === 'string' && status.text()?.trim() !== '') oneOf(error, status, sets.statuses)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-004',
      severity: 'warning',
      types: ['checkout_session'],
      why: 'These are spellings of other protocols and of British English.',
      spec: schemaSpec('CheckoutSessionBase.status'),
      hint: 'Write canceled with one l, and ready_for_payment where UCP has ready_for_complete.',
      good: { status: 'canceled' },
      bad: { status: 'cancelled' },
    },
    ({ warning }, { body, status }) => {
      const right = status !== null && Object.hasOwn(SLIPS, status) ? SLIPS[status] : undefined
      if (right !== undefined) warning(body.get('status'), 'is not how this protocol spells it', { expected: right })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-005',
      severity: 'both',
      types: ['checkout_session', 'feed_product'],
      why: 'Amounts mean nothing without their currency.',
      spec: schemaSpec('CheckoutSessionBase.currency'),
      hint: 'Write the three letters of ISO 4217: lower case in checkout, upper case in product feeds.',
      hint_by_case: true,
      good: { currency: 'usd' },
      bad: { currency: 'US Dollar' },
    },
    (report, { body, context }) => {
      if (context.type === 'feed_product') return feedCurrencies(report, body)
      currency(report, body.get('currency'))
      currency(report, body.get('presentment_currency'))
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-006',
      severity: 'both',
      why: 'Every schema of the protocol is closed: a strict reader refuses the whole document for a member that it does not know.',
      spec: SESSION,
      hint: 'Take the member out, put it into metadata where the version has that, or name it in extends of the extension that adds it.',
      good: { id: 'cs_1', metadata: { shop: 'north' } },
      bad: { id: 'cs_1', shop: 'north' },
    },
    ({ error, warning }, { body, context, allowance, added }) => {
      const type = ACP_TYPES.find((one) => one === context.type) ?? 'checkout_session'
      if (type === 'error' && body.get('error').kind === 'object') return
      const place = type === 'allowance' ? allowance : body
      for (const member of place.members()) {
        if (versionsOf(type, member.key).length > 0 || added.names.has(member.key)) continue
        if (member.key === 'refunds' && isEventOrder(body)) continue
        if (added.is_open) warning(member, 'is no member of the protocol, and no extension says that it adds it')
        else error(member, 'is a member that no version of this protocol knows here')
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-007',
      severity: 'error',
      types: ['checkout_session'],
      why: 'A document half moved to another version fits the schema of neither.',
      spec: SESSION,
      hint: 'Move the whole document to one version, and take out what belongs to the other.',
      good: { capabilities: {}, fulfillment_details: {} },
      bad: { capabilities: {}, fulfillment_address: {} },
    },
    ({ error }, view) => {
      mixedSession(error, view)
      mixedLines(error, view)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-046',
      severity: 'both',
      types: ['checkout_session', 'discovery'],
      why: 'Which members, statuses and codes are right depends on the version.',
      spec: schemaSpec('ProtocolVersion'),
      hint: 'State the version in protocol.version, as the day it was published.',
      good: { protocol: { version: '2026-04-17' } },
      bad: { protocol: { version: 'latest' } },
    },
    ({ error, warning }, { body, context }) => {
      const place = body.down('protocol', 'version')
      const expected = `one of ${ACP_VERSIONS.join(', ')}`
      const read = readDateVersion(place.text(), ACP_VERSIONS)
      const isSession = context.type === 'checkout_session'
      if (place.present && !place.redacted && read.kind === 'unparsable') {
        if (isSession) error(place, 'is not a version, which is a day of the calendar', { expected })
      } else if (read.kind === 'newer') warning(place, 'is newer than the rules that were used', { expected })
      else if (read.kind === 'unknown') warning(place, 'is a version that was never published', { expected })
      else if (context.declared !== undefined) warning(place, 'is older than other members of the document', { expected: context.version })
      else if (isSession && context.version_source === 'assumed')
        warning(body, `does not say its version, and could be of several; the rules of ${context.version} were used`)
    },
  ),
]

function feedProduct(error: Say, body: Place): void {
  needText(error, body.get('id'))
  for (const variant of needItems(error, body.get('variants'))) {
    if (!need(error, variant, 'object')) continue
    for (const name of ['id', 'title']) needText(error, variant.get(name))
  }
}

function currency({ error, warning }: Report, place: Place): void {
  if (!optional(error, place, 'string')) return
  const text = place.text()
  if (text === null || text.trim() === '') return
  const expected = 'three lower-case letters, such as usd'
  if (!/^[A-Za-z]{3}$/.test(text)) error(place, 'is not a currency code of three letters', { expected })
  else if (text !== text.toLowerCase()) warning(place, 'is not in lower case', { expected })
}

/** Prices of a product feed, where the pattern asks for upper case. */
function feedCurrencies({ error }: Report, body: Place): void {
  for (const price of feedPrices(body)) {
    const place = price.get('currency')
    const isRight = place.redacted || /^[A-Z]{3}$/.test(place.text() ?? '')
    if (!isRight) error(place, 'is not a currency code of three upper-case letters', { expected: 'a code such as USD' })
  }
}

export function feedPrices(body: Place): Place[] {
  const names = ['price', 'list_price', 'unit_price']
  return objects(body.get('variants')).flatMap((variant) => names.map((name) => variant.get(name)).filter(({ kind }) => kind === 'object'))
}

/** Versions whose documents of a type have a member, oldest first. */
function versionsOf(type: (typeof ACP_TYPES)[number], name: string): readonly string[] {
  if (type !== 'checkout_session') return OTHER_MEMBERS[type].has(name) ? [ACP_VERSIONS[0]] : []
  return ACP_VERSIONS.filter((version) => SESSION_MEMBERS[version].has(name)).toReversed()
}

function mixedSession(error: Say, { body, version, is_old }: AcpView): void {
  for (const member of body.members()) {
    const versions = versionsOf('checkout_session', member.key)
    if (versions.length > 0 && !SESSION_MEMBERS[version].has(member.key))
      error(member, `is no member of version ${version}`, { expected: `it belongs to ${versions.join(', ')}` })
  }
  for (const selected of objects(body.get('selected_fulfillment_options'))) {
    const nested = ['shipping', 'digital'].map((name) => selected.get(name)).find(({ present }) => present)
    if (!is_old && nested !== undefined)
      error(nested, 'is the form of versions up to 2026-01-16', { expected: 'option_id and item_ids beside type' })
    const flat = selected.get('option_id')
    // Texts of 2026-01-16 have both forms.
    if (version === '2025-12-12' && flat.present && nested === undefined)
      error(flat, 'is the form of versions since 2026-01-30', { expected: 'option_id and item_ids inside a member named like the type' })
  }
}

function mixedLines(error: Say, { lines, options, version, is_old }: AcpView): void {
  const flat = version === '2025-09-29' || version === '2025-12-12'
  for (const { place } of lines) {
    if (is_old && place.has('totals'))
      error(place.get('totals'), 'stands on lines since 2026-01-30 only', { expected: 'base_amount to total' })
    const old = OLD_LINE_AMOUNTS.map((name) => place.get(name)).find(({ present }) => present)
    if (!is_old && old !== undefined) error(old, 'stands on lines up to 2026-01-16 only', { expected: 'entries of totals' })
  }
  for (const option of options) {
    const old = ['subtotal', 'tax', 'total'].map((name) => option.get(name)).find(({ present }) => present)
    if (!flat && old !== undefined) error(old, 'stands on fulfilment options up to 2025-12-12 only', { expected: 'entries of totals' })
    if (flat && option.has('totals'))
      error(option.get('totals'), 'stands on fulfilment options since 2026-01-16 only', { expected: 'total' })
  }
}

/** Says of items that are no objects that they are none. */
export function onlyObjects(error: Say, place: Place): void {
  for (const stray of strays(place)) error(stray, 'is not an object', { expected: 'an object' })
}
