import { need, needText, optional, treeOf, unique } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { onlyObjects } from './rules-session.ts'
import { OLD_LINE_AMOUNTS } from './shape.ts'
import { oldSpec, rfcSpec, schemaSpec } from './spec.ts'
import { amountOf, amountsOf, magnitude, onlyOne } from './totals.ts'
import { idsOf, lineDiscount, refers, unitAmount, type AcpView, type Line } from './view.ts'

const LINE = schemaSpec('LineItem')
const SESSION = ['checkout_session']

/** ACP-014…019: what is bought, how many, and what each line costs. */
export const LINE_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-014',
      severity: 'error',
      types: SESSION,
      why: 'Fulfilment, discounts and messages name lines and items by their ids.',
      spec: LINE,
      hint: 'Give each line an id of its own, and each item the id that the shop knows it by.',
      good: { id: 'li_1', item: { id: 'sku_1' } },
      bad: { id: '', item: {} },
    },
    ({ error }, { body, lines }) => {
      onlyObjects(error, body.get('line_items'))
      for (const { place } of lines) {
        needText(error, place.get('id'))
        if (need(error, place.get('item'), 'object') && !place.get('item').redacted) needText(error, place.down('item', 'id'))
      }
      const ids = lines.map(({ place }) => place.get('id')).filter((id) => id.text() !== '')
      unique(error, ids, 'the id of another line')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-015',
      severity: 'error',
      types: SESSION,
      why: 'How many are bought stands on the item up to 2026-01-16, and on the line since.',
      spec: LINE,
      hint: 'Write a whole number of at least 1 at the place of the version.',
      good: { id: 'li_1', item: { id: 'sku_1' }, quantity: 2 },
      bad: { id: 'li_1', item: { id: 'sku_1', quantity: 2 } },
    },
    ({ error }, { lines, is_old, version }) => {
      for (const { place } of lines) quantity(error, place, { is_old, may_be_part: version === '2025-09-29' })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-016',
      severity: 'error',
      types: SESSION,
      until: '2026-01-16',
      why: 'The parts of a line must come to its total.',
      spec: oldSpec('LineItem'),
      hint: 'Let subtotal be base_amount less discount, and total be subtotal plus tax.',
      good: { base_amount: 1000, discount: 100, subtotal: 900, tax: 90, total: 990 },
      bad: { base_amount: 1000, discount: 100, subtotal: 1000, tax: 90, total: 990 },
    },
    ({ error }, { lines }) => {
      for (const { place } of lines) oldAmounts(error, place)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-017',
      severity: 'warning',
      types: SESSION,
      since: '2026-01-30',
      why: 'A line that does not add up is a wrong price, or a quantity that was changed without it.',
      spec: schemaSpec('LineItem.totals'),
      hint: 'Let items_base_amount be unit_amount times quantity, and total be what is left after discounts, with tax.',
      good: { unit_amount: 500, quantity: 2, totals: [{ type: 'items_base_amount', amount: 1000 }] },
      bad: { unit_amount: 500, quantity: 2, totals: [{ type: 'items_base_amount', amount: 500 }] },
    },
    ({ warning }, { lines }) => {
      for (const line of lines) lineTotals(warning, line)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-018',
      severity: 'both',
      types: SESSION,
      why: 'The session sums up its lines.',
      spec: rfcSpec('discount_extension', '8.2 Invariants'),
      hint: 'Add up the lines again: subtotals, taxes, and discounts of items.',
      good: { line_items: [{ subtotal: 500 }, { subtotal: 500 }], totals: [{ type: 'subtotal', amount: 1000 }] },
      bad: { line_items: [{ subtotal: 500 }, { subtotal: 500 }], totals: [{ type: 'subtotal', amount: 500 }] },
    },
    ({ error, warning }, view) => {
      // Lines of a bundle may be counted in their parent.
      if (view.lines.length === 0 || view.lines.some(({ place }) => place.has('parent_id'))) return
      subtotals(warning, view)
      taxes(warning, view)
      if (!view.is_old && view.body.has('discounts')) itemDiscounts(error, view)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-019',
      severity: 'error',
      types: SESSION,
      since: '2026-01-30',
      why: 'A part of a bundle whose whole is missing cannot be shown.',
      spec: schemaSpec('LineItem.parent_id'),
      hint: 'Name the id of another line of the session.',
      good: [{ id: 'li_1' }, { id: 'li_2', parent_id: 'li_1' }],
      bad: [{ id: 'li_2', parent_id: 'li_9' }],
    },
    ({ error }, { lines }) => {
      const parents = new Map(lines.map(({ place }) => [place.get('id').text() ?? '', place.get('parent_id').text()]))
      const { in_cycle } = treeOf(parents)
      const ids = idsOf(lines.map(({ place }) => place.get('id')))
      for (const { place } of lines) {
        refers(error, place.get('parent_id'), ids, 'a line')
        if (in_cycle.has(place.get('id').text() ?? '')) error(place.get('parent_id'), 'leads back to the line itself')
      }
    },
  ),
]

/** 2025-09-29 also sells by weight and length: its quantities are any number above zero. */
function quantity(error: Say, line: Place, { is_old, may_be_part }: { is_old: boolean; may_be_part: boolean }): void {
  const [onLine, onItem] = [line.get('quantity'), line.down('item', 'quantity')]
  const [right, wrong] = is_old ? [onItem, onLine] : [onLine, onItem]
  const words = is_old
    ? 'stands on the line, where versions up to 2026-01-16 do not look'
    : 'stands on the item, where versions since 2026-01-30 do not look'
  if (wrong.present) error(wrong, words, { expected: is_old ? 'item.quantity' : 'quantity beside item' })
  else if (!right.present) error(right, 'is missing', { expected: may_be_part ? 'a number above 0' : 'an integer of at least 1' })
  if (!may_be_part) integer(error, right, { min: 1n })
  else if (optional(error, right, 'number') && (right.number() ?? 1) <= 0) error(right, 'is not above 0', { expected: 'a number above 0' })
}

function oldAmounts(error: Say, line: Place): void {
  for (const name of OLD_LINE_AMOUNTS)
    if (!line.has(name) && !line.has('totals')) error(line.get(name), 'is missing', { expected: 'an integer of minor units' })
  const [base, discount, subtotal, tax, total] = OLD_LINE_AMOUNTS.map((name) => line.get(name).integer())
  const off = magnitude(discount ?? null)
  // Official examples have the base amount of the whole line, and of one piece.
  const bases = typeof base === 'bigint' ? [base, base * (line.down('item', 'quantity').integer() ?? 1n)] : []
  if (bases.length > 0 && off !== null && typeof subtotal === 'bigint' && !bases.includes(subtotal + off))
    error(line.get('subtotal'), 'is not base_amount less discount', { expected: 'base_amount - discount' })
  if (typeof subtotal === 'bigint' && typeof tax === 'bigint' && typeof total === 'bigint' && total !== subtotal + tax)
    error(line.get('total'), 'is not subtotal plus tax', { expected: 'subtotal + tax' })
}

function lineTotals(warning: Say, { place, tallies }: Line): void {
  const [base, subtotal, total] = [onlyOne(tallies, 'items_base_amount'), onlyOne(tallies, 'subtotal'), onlyOne(tallies, 'total')]
  const [unit, count] = [unitAmount(place).integer(), place.get('quantity').integer()]
  const [onItem, beside] = [magnitude(amountOf(tallies, 'items_discount')), magnitude(amountOf(tallies, 'discount'))]
  const added = amountsOf(tallies, ['tax', 'fee', 'fulfillment', 'gift_wrap', 'tip'])
  if (base !== null && unit !== null && count !== null && base.amount !== unit * count)
    warning(base.place, 'is not the price of one times the quantity', { expected: 'unit_amount * quantity' })
  if (onItem === null || beside === null) return
  const off = onItem + beside
  if (base !== null && subtotal !== null && ![base.amount, base.amount - onItem, base.amount - off].includes(subtotal.amount))
    warning(subtotal.place, 'is not the base amount less discounts', { expected: 'items_base_amount - discount' })
  if (subtotal === null || total === null || added === null) return
  const gross = subtotal.amount + added
  if (![gross, gross - onItem, gross - beside, gross - off].includes(total.amount))
    warning(total.place, 'is not what the other totals of the line come to', { expected: 'subtotal + tax' })
}

function subtotals(warning: Say, { lines, totals, is_old }: AcpView): void {
  const session = onlyOne(totals.tallies, 'subtotal')
  const off = magnitude(amountOf(totals.tallies, 'items_discount'))
  const sum = sumOver(lines, (line) =>
    is_old ? line.place.get('subtotal').integer() : (onlyOne(line.tallies, 'subtotal')?.amount ?? null),
  )
  if (session === null || off === null || sum === null) return
  if (sum !== session.amount && sum !== session.amount + off)
    warning(session.place, 'is not the sum of the subtotals of the lines', { expected: 'the sum of the lines' })
}

function taxes(warning: Say, { lines, totals, is_old }: AcpView): void {
  const sum = sumOver(lines, (line) => (is_old ? line.place.get('tax').integer() : amountOf(line.tallies, 'tax')))
  const session = amountOf(totals.tallies, 'tax')
  if (totals.entries.length === 0 || sum === null || session === null || sum <= session) return
  const place = totals.tallies.by_type.get('tax')?.places[0]?.get('amount') ?? totals.place
  warning(place, 'has less tax than its lines together', { expected: 'at least the tax of the lines' })
}

/** A written invariant of the discount extension. */
function itemDiscounts(error: Say, { lines, totals }: AcpView): void {
  const session = onlyOne(totals.tallies, 'items_discount')
  const named = lines.map(lineDiscount).filter((amount) => amount !== undefined)
  if (session === null || named.length === 0 || named.includes(null)) return
  const sum = named.reduce<bigint>((total, amount) => total + (magnitude(amount) ?? 0n), 0n)
  if (magnitude(session.amount) !== sum)
    error(session.place, 'is not the sum of the discounts of the lines', { expected: 'the sum of the discounts of the lines' })
}

function sumOver(lines: readonly Line[], amountOfLine: (line: Line) => bigint | null): bigint | null {
  let sum = 0n
  for (const line of lines) {
    const amount = amountOfLine(line)
    if (amount === null) return null
    sum += amount
  }
  return sum
}
