import {
  expectType,
  expectText,
  expectTypeIfPresent,
  buildParentTree,
  expectUnique,
  expectOneOf,
  expectItemTypes,
  expectObject,
  expectUniqueMembers,
  expectReference,
} from '../kit/expect.ts'
import { expectInteger } from '../kit/money.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding } from '../protocol.ts'
import { OLD_LINE_AMOUNTS, SESSION_TYPES, oldSpec, rfcSpec, schemaSpec } from './versions.ts'
import { sumOfType, sumOfTypes, absoluteAmount, singleAmount, type AcpView, type SessionLine, tallyTotals } from './view.ts'
import { readDateTime } from '../kit/dates.ts'

const LINE = schemaSpec('LineItem')

const SELECTED = schemaSpec('SelectedFulfillmentOption')

export const ACP_LINE_RULES: RuleTable<AcpView> = {
  // ACP-014…019: lines, quantities and line amounts.
  'ACP-014': {
    types: SESSION_TYPES,
    why: 'Fulfilment, discounts and messages name lines and items by their ids.',
    spec: LINE,
    hint: 'Give each line a unique id, and each item its id in the shop.',
    good: { id: 'li_1', item: { id: 'sku_1' } },
    bad: { id: '', item: {} },
    check({ error }, { body, lines }) {
      expectItemTypes(error, body.get('line_items'), 'object')
      for (const { cursor } of lines) {
        expectText(error, cursor.get('id'))
        if (expectObject(error, cursor.get('item'))) expectText(error, cursor.get('item', 'id'))
      }
      const ids = lines.map(({ cursor }) => cursor.get('id')).filter((id) => id.text() !== '')
      expectUnique(error, ids, 'the id of another line')
    },
  },
  'ACP-015': {
    types: SESSION_TYPES,
    why: 'Up to 2026-01-16 the quantity is a member of the item, since 2026-01-30 of the line.',
    spec: LINE,
    hint: 'Write a whole number of at least 1 at the place of the version.',
    good: { id: 'li_1', item: { id: 'sku_1' }, quantity: 2 },
    bad: { id: 'li_1', item: { id: 'sku_1', quantity: 2 } },
    check({ error }, { lines, is_before_202601, version }) {
      for (const { cursor } of lines) checkQuantity(error, cursor, { is_before_202601, may_be_part: version === '2025-09-29' })
    },
  },
  'ACP-016': {
    types: SESSION_TYPES,
    until: '2026-01-16',
    why: 'The parts of a line must come to its total.',
    spec: oldSpec('LineItem'),
    hint: 'Let subtotal be base_amount less discount, and total be subtotal plus tax.',
    good: { base_amount: 1000, discount: 100, subtotal: 900, tax: 90, total: 990 },
    bad: { base_amount: 1000, discount: 100, subtotal: 1000, tax: 90, total: 990 },
    check({ error }, { lines }) {
      for (const { cursor } of lines) checkOldAmounts(error, cursor)
    },
  },
  'ACP-017': {
    severity: 'warning',
    types: SESSION_TYPES,
    since: '2026-01-30',
    why: 'A line that does not add up is a wrong price, or a quantity that was changed without it.',
    spec: schemaSpec('LineItem.totals'),
    hint: 'Let items_base_amount be unit_amount times quantity, and total be what is left after discounts, with tax.',
    good: { unit_amount: 500, quantity: 2, totals: [{ type: 'items_base_amount', amount: 1000 }] },
    bad: { unit_amount: 500, quantity: 2, totals: [{ type: 'items_base_amount', amount: 500 }] },
    check({ warning }, { lines }) {
      for (const line of lines) checkLineTotals(warning, line)
    },
  },
  'ACP-018': {
    severity: 'both',
    types: SESSION_TYPES,
    why: 'The session sums up its lines.',
    spec: rfcSpec('discount_extension', '8.2 Invariants'),
    hint: 'Add up the lines again: subtotals, taxes, and discounts of items.',
    good: { line_items: [{ subtotal: 500 }, { subtotal: 500 }], totals: [{ type: 'subtotal', amount: 1000 }] },
    bad: { line_items: [{ subtotal: 500 }, { subtotal: 500 }], totals: [{ type: 'subtotal', amount: 500 }] },
    check({ error, warning }, view) {
      // Lines of a bundle may be counted in their parent.
      if (view.lines.length === 0 || view.lines.some(({ cursor }) => cursor.has('parent_id'))) return
      checkSubtotals(warning, view)
      checkTaxes(warning, view)
      if (!view.is_before_202601 && view.body.has('discounts')) checkItemDiscounts(error, view)
    },
  },
  'ACP-019': {
    types: SESSION_TYPES,
    since: '2026-01-30',
    why: 'A part of a bundle whose whole is missing cannot be shown.',
    spec: schemaSpec('LineItem.parent_id'),
    hint: 'Name the id of another line of the session.',
    good: [{ id: 'li_1' }, { id: 'li_2', parent_id: 'li_1' }],
    bad: [{ id: 'li_2', parent_id: 'li_9' }],
    check({ error }, { lines }) {
      const parents = new Map(lines.map(({ cursor }) => [cursor.text('id') ?? '', cursor.text('parent_id')]))
      const { in_cycle } = buildParentTree(parents)
      const ids = collectIds(lines.map(({ cursor }) => cursor.get('id')))
      for (const { cursor } of lines) {
        expectKnownId(error, cursor.get('parent_id'), ids, 'a line')
        if (in_cycle.has(cursor.text('id') ?? '')) error(cursor.get('parent_id'), 'leads back to the line itself')
      }
    },
  },
  // ACP-020…023: fulfilment.
  'ACP-020': {
    types: SESSION_TYPES,
    why: 'The buyer chooses among these options by title and price, and the agent by id.',
    spec: schemaSpec('FulfillmentOptionShipping'),
    hint: 'Give each option a type of the version, a unique id, a title, and its price where the version has it.',
    good: { type: 'shipping', id: 'standard', title: 'Standard', totals: [] },
    bad: { type: 'courier', id: 'standard' },
    check({ error }, view) {
      const { body, options } = view
      expectItemTypes(error, body.get('fulfillment_options'), 'object')
      for (const option of options) checkOption(error, option, view)
      expectUniqueMembers(error, options, 'id', 'the id of another option')
    },
  },
  'ACP-021': {
    types: ['checkout_session', 'order'],
    why: 'A window that ends before it begins cannot be kept.',
    spec: schemaSpec('FulfillmentOptionShipping'),
    hint: 'Put the earlier time first.',
    good: { earliest_delivery_time: '2026-12-01T00:00:00Z', latest_delivery_time: '2026-12-03T00:00:00Z' },
    bad: { earliest_delivery_time: '2026-12-03T00:00:00Z', latest_delivery_time: '2026-12-01T00:00:00Z' },
    check({ error }, { options, order }) {
      for (const option of options) {
        checkTimeOrder(error, option, ['earliest_delivery_time', 'latest_delivery_time'])
        checkTimeOrder(error, option, ['ready_by', 'pickup_by'])
        checkTimeOrder(error, option.get('delivery_window'), ['start', 'end'], true)
      }
      for (const holder of [order, ...order.objects('fulfillments')])
        checkTimeOrder(error, holder.get('estimated_delivery'), ['earliest', 'latest'])
    },
  },
  'ACP-022': {
    types: SESSION_TYPES,
    why: 'An option that is not offered, or an item that is not bought, cannot be sent.',
    spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
    hint: 'Select an id out of fulfillment_options with its type, and name lines of the session.',
    good: { fulfillment_options: [{ id: 'standard' }], selected_fulfillment_options: [{ option_id: 'standard' }] },
    bad: { fulfillment_options: [{ id: 'standard' }], selected_fulfillment_options: [{ option_id: 'express' }] },
    check({ error }, view) {
      checkSelections(error, view)
    },
  },
  'ACP-023': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'A total that lacks the price of the chosen delivery is too low, and changes at payment.',
    spec: SELECTED,
    hint: 'Let the fulfillment total be the price of the selected option.',
    good: { totals: [{ type: 'fulfillment', amount: 500 }], selected: 500 },
    bad: { totals: [{ type: 'tax', amount: 80 }], selected: 500 },
    check({ warning }, view) {
      checkFulfillmentTotal(warning, view)
    },
  },
}

/** Ids that may be referred to; null if one of them is redacted, so the list is incomplete. */
function collectIds(cursors: readonly JsonCursor[]): ReadonlySet<string> | null {
  return cursors.some(({ redacted }) => redacted) ? null : new Set(cursors.map((cursor) => cursor.text() ?? ''))
}

/** Expects the text to be one of these ids, where they are known. */
function expectKnownId(report: ReportFinding, cursor: JsonCursor, ids: ReadonlySet<string> | null, what: string): void {
  if (ids !== null) expectReference(report, cursor, ids, what)
}

/** 2025-09-29 also sells by weight and length: its quantities are any number above zero. */
function checkQuantity(
  error: ReportFinding,
  line: JsonCursor,
  { is_before_202601, may_be_part }: { is_before_202601: boolean; may_be_part: boolean },
): void {
  const [onLine, onItem] = [line.get('quantity'), line.get('item', 'quantity')]
  const [right, wrong] = is_before_202601 ? [onItem, onLine] : [onLine, onItem]
  const words = is_before_202601
    ? 'is on the line; versions up to 2026-01-16 read it from the item'
    : 'is on the item; versions since 2026-01-30 read it from the line'
  if (wrong.present) error(wrong, words, { expected: is_before_202601 ? 'item.quantity' : 'quantity next to item' })
  else if (!right.present) error(right, 'is missing', { expected: may_be_part ? 'a number above 0' : 'an integer of at least 1' })
  if (!may_be_part) expectInteger(error, right, { min: 1n })
  else if (expectTypeIfPresent(error, right, 'number') && (right.number() ?? 1) <= 0)
    error(right, 'is not above 0', { expected: 'a number above 0' })
}

function checkOldAmounts(error: ReportFinding, line: JsonCursor): void {
  for (const name of OLD_LINE_AMOUNTS)
    if (!line.has(name) && !line.has('totals')) error(line.get(name), 'is missing', { expected: 'an integer of minor units' })
  const [base, discount, subtotal, tax, total] = OLD_LINE_AMOUNTS.map((name) => line.integer(name))
  const off = absoluteAmount(discount ?? null)
  // Official examples have the base amount of the whole line, and of one piece.
  const bases = typeof base === 'bigint' ? [base, base * (line.integer('item', 'quantity') ?? 1n)] : []
  if (bases.length > 0 && off !== null && typeof subtotal === 'bigint' && !bases.includes(subtotal + off))
    error(line.get('subtotal'), 'is not base_amount less discount', { expected: 'base_amount - discount' })
  if (typeof subtotal === 'bigint' && typeof tax === 'bigint' && typeof total === 'bigint' && total !== subtotal + tax)
    error(line.get('total'), 'is not subtotal plus tax', { expected: 'subtotal + tax' })
}

function checkLineTotals(warning: ReportFinding, { cursor, tallies }: SessionLine): void {
  const [base, subtotal, total] = [
    singleAmount(tallies, 'items_base_amount'),
    singleAmount(tallies, 'subtotal'),
    singleAmount(tallies, 'total'),
  ]
  const [unit, count] = [unitAmountOf(cursor).integer(), cursor.integer('quantity')]
  const [onItem, beside] = [absoluteAmount(sumOfType(tallies, 'items_discount')), absoluteAmount(sumOfType(tallies, 'discount'))]
  const added = sumOfTypes(tallies, ['tax', 'fee', 'fulfillment', 'gift_wrap', 'tip'])
  if (base !== null && unit !== null && count !== null && base.amount !== unit * count)
    warning(base.cursor, 'is not the price of one times the quantity', { expected: 'unit_amount * quantity' })
  if (onItem === null || beside === null) return
  const off = onItem + beside
  if (base !== null && subtotal !== null && ![base.amount, base.amount - onItem, base.amount - off].includes(subtotal.amount))
    warning(subtotal.cursor, 'is not the base amount less discounts', { expected: 'items_base_amount - discount' })
  if (subtotal === null || total === null || added === null) return
  const gross = subtotal.amount + added
  if (![gross, gross - onItem, gross - beside, gross - off].includes(total.amount))
    warning(total.cursor, 'does not match the other totals of the line', { expected: 'subtotal + tax' })
}

/** Unit price and quantity of a line where its version keeps them. */
function unitAmountOf(line: JsonCursor): JsonCursor {
  return line.has('unit_amount') ? line.get('unit_amount') : line.get('item', 'unit_amount')
}

function checkSubtotals(warning: ReportFinding, { lines, totals, is_before_202601 }: AcpView): void {
  const session = singleAmount(totals.tallies, 'subtotal')
  const off = absoluteAmount(sumOfType(totals.tallies, 'items_discount'))
  const sum = sumOverLines(lines, (line) =>
    is_before_202601 ? line.cursor.integer('subtotal') : (singleAmount(line.tallies, 'subtotal')?.amount ?? null),
  )
  if (session === null || off === null || sum === null) return
  if (sum !== session.amount && sum !== session.amount + off)
    warning(session.cursor, 'is not the sum of the subtotals of the lines', { expected: 'the sum of the lines' })
}

function checkTaxes(warning: ReportFinding, { lines, totals, is_before_202601 }: AcpView): void {
  const sum = sumOverLines(lines, (line) => (is_before_202601 ? line.cursor.integer('tax') : sumOfType(line.tallies, 'tax')))
  const session = sumOfType(totals.tallies, 'tax')
  if (totals.entries.length === 0 || sum === null || session === null || sum <= session) return
  const cursor = totals.tallies.by_type.get('tax')?.cursors[0]?.get('amount') ?? totals.cursor
  warning(cursor, 'has less tax than its lines together', { expected: 'at least the tax of the lines' })
}

/** A written invariant of the discount extension. */
function checkItemDiscounts(error: ReportFinding, { lines, totals }: AcpView): void {
  const session = singleAmount(totals.tallies, 'items_discount')
  const named = lines.map(discountOfLine).filter((amount) => amount !== undefined)
  if (session === null || named.length === 0 || named.includes(null)) return
  const sum = named.reduce<bigint>((total, amount) => total + (absoluteAmount(amount) ?? 0n), 0n)
  if (absoluteAmount(session.amount) !== sum)
    error(session.cursor, 'is not the sum of the discounts of the lines', { expected: 'the sum of the discounts of the lines' })
}

/** Discounts that a line has of itself: `items_discount`, else `discount`; null when unreadable, undefined when it names none. */
function discountOfLine({ tallies: { by_type, is_whole } }: SessionLine): bigint | null | undefined {
  return is_whole ? (by_type.get('items_discount') ?? by_type.get('discount'))?.amount : null
}

function sumOverLines(lines: readonly SessionLine[], amountOfLine: (line: SessionLine) => bigint | null): bigint | null {
  let sum = 0n
  for (const line of lines) {
    const amount = amountOfLine(line)
    if (amount === null) return null
    sum += amount
  }
  return sum
}

function checkOption(error: ReportFinding, option: JsonCursor, { sets, version }: AcpView): void {
  if (expectText(error, option.get('type')) !== null) expectOneOf(error, option.get('type'), sets.options)
  expectText(error, option.get('id'))
  expectType(error, option.get('title'), 'string')
  const asked = version === '2025-09-29' ? ['subtotal', 'tax', 'total'] : version === '2025-12-12' ? ['total'] : ['totals']
  // Prices in the form of another version are reported as such.
  if (['subtotal', 'tax', 'total', 'totals'].some((name) => option.has(name) && !asked.includes(name)) && version !== '2025-12-12') return
  for (const name of asked)
    if (!option.has(name)) error(option.get(name), 'is missing', { expected: name === 'totals' ? 'an array' : 'an integer of minor units' })
}

function checkTimeOrder(error: ReportFinding, holder: JsonCursor, [first, last]: readonly [string, string], strictly = false): void {
  const [from, to] = [readDateTime(holder.text(first)), readDateTime(holder.text(last))]
  if (from === null || to === null) return
  if (from > to || (strictly && from === to)) error(holder.get(last), `is not after ${first}`, { expected: `a time after ${first}` })
}

function checkSelections(error: ReportFinding, { body, options, selections, lines, sets }: AcpView): void {
  const types = new Map(options.map((option) => [option.text('id') ?? '', option.text('type')]))
  const ids = collectIds(options.map((option) => option.get('id')))
  // Official examples name items by the id of the item as well as by that of its line.
  const items = collectIds(lines.flatMap(({ cursor }) => [cursor.get('id'), cursor.get('item', 'id')]))
  expectItemTypes(error, body.get('selected_fulfillment_options'), 'object')
  for (const { type, option_id, item_ids } of selections) {
    expectText(error, option_id)
    expectKnownId(error, option_id, ids, 'an option')
    if (type === null) continue
    if (expectText(error, type) !== null) expectOneOf(error, type, sets.options)
    const offered = types.get(option_id.text() ?? '')
    const isKnown = [type.text(), offered].every((one) => typeof one === 'string' && sets.options.includes(one))
    if (isKnown && typeof offered === 'string' && offered !== type.text())
      error(type, 'is not the type of the option', { expected: offered })
    if (expectType(error, item_ids, 'array')) for (const id of item_ids.items()) expectKnownId(error, id, items, 'a line')
  }
  for (const group of body.objects('fulfillment_groups'))
    for (const id of group.items('item_ids')) expectKnownId(error, id, items, 'a line')
}

interface Price {
  /** Its fulfillment entry or subtotal, else its total. */
  net: bigint
  total: bigint
}

function readOptionPrice(option: JsonCursor): Price | null {
  const list = option.get('totals')
  const tallies = tallyTotals(list)
  const [total, fulfillment, subtotal] = list.present
    ? ['total', 'fulfillment', 'subtotal'].map((type) => singleAmount(tallies, type)?.amount ?? null)
    : [option.integer('total'), null, option.integer('subtotal')]
  const net = fulfillment ?? subtotal ?? total ?? null
  return net === null ? null : { net, total: total ?? net }
}

function checkFulfillmentTotal(warning: ReportFinding, { options, selections, totals }: AcpView): void {
  const chosen = new Set(selections.map(({ option_id }) => option_id.text()))
  const prices = options.filter((option) => chosen.has(option.text('id') ?? '')).map(readOptionPrice)
  const isUnknown = collectIds([...selections.map(({ option_id }) => option_id), ...options.map((option) => option.get('id'))]) === null
  if (prices.length === 0 || isUnknown || !totals.tallies.by_type.has('total')) return
  let [net, total] = [0n, 0n]
  for (const one of prices) {
    if (one === null) return
    net += one.net
    total += one.total
  }
  const amount = sumOfType(totals.tallies, 'fulfillment')
  if (amount === null || amount === net || amount === total) return
  warning(
    totals.tallies.by_type.get('fulfillment')?.cursors[0]?.get('amount') ?? totals.cursor,
    'does not have the price of the selected fulfilment',
    {
      expected: 'a fulfillment total of the price of the selected option',
    },
  )
}
