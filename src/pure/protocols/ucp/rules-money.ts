import {
  describeChoices,
  expectType,
  expectText,
  expectTypeIfPresent,
  expectOneOf,
  expectReference,
  buildParentTree,
  expectUnique,
  expectItemTypes,
  expectObject,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import { expectMinorUnits, sumIntegers, expectInteger } from '../kit/money.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding, FindingReporter } from '../protocol.ts'
import { BASKETS, type UcpTotals, type UcpView, ucpSpec } from './view.ts'
import { expectShape } from '../kit/shape.ts'
import { OPTION_DESCRIPTION, responseShapes } from './schemas.ts'

const TOTALS = ucpSpec('reference', 'Totals')

/** The seven types that have a meaning; the rest is free since 2026-04-08. */
const TYPES = ['subtotal', 'items_discount', 'discount', 'fulfillment', 'tax', 'fee', 'total']
const DISCOUNTS: ReadonlySet<string> = new Set(['items_discount', 'discount'])
const CHARGES: ReadonlySet<string> = new Set(['subtotal', 'fulfillment', 'tax', 'fee'])

export const UCP_MONEY_RULES: RuleTable<UcpView> = {
  // UCP-030…034 and 036: amounts and how they add up.
  'UCP-030': {
    why: 'Amounts are integers of minor units; fractions and large numbers are read differently by different readers.',
    spec: ucpSpec('overview', 'Overarching guidelines'),
    hint: 'Send 1999 for 19.99, within 2^53 - 1.',
    good: { item: { price: 1999 } },
    bad: { item: { price: 19.99 } },
    check({ error }, view) {
      const amount = (cursor: JsonCursor, min?: bigint) => {
        if (expectType(error, cursor, 'number')) expectMinorUnits(error, cursor, min === undefined ? {} : { min })
      }
      for (const { entries } of view.totals) {
        for (const entry of entries) amount(entry.get('amount'))
        for (const part of entries.flatMap((entry) => entry.objects('lines'))) amount(part.get('amount'))
      }
      for (const line of view.lines) if (line.get('item').kind === 'object') amount(line.get('item', 'price'), 0n)
      for (const cursor of listDiscountAmounts(view.body)) amount(cursor, 0n)
      for (const price of listCatalogPrices(view.body)) amount(price.get('amount'), 0n)
      for (const change of view.body.objects('adjustments')) expectMinorUnits(error, change.get('amount'))
    },
  },
  'UCP-031': {
    severity: 'both',
    types: BASKETS,
    why: 'With two totals, or none, the amount to pay is ambiguous.',
    spec: TOTALS,
    hint: 'Send exactly one subtotal and exactly one total.',
    good: {
      totals: [
        { type: 'subtotal', amount: 100 },
        { type: 'total', amount: 100 },
      ],
    },
    bad: { totals: [{ type: 'subtotal', amount: 100 }] },
    check({ error, warning }, { totals, context }) {
      const report = context.atLeast('2026-04-08') ? error : warning
      for (const { cursor, entries } of totals.filter(isOfDocument)) {
        if (cursor.kind !== 'array') continue
        const isHidden = entries.some((entry) => entry.get('type').redacted)
        for (const type of isHidden ? [] : ['subtotal', 'total']) {
          const count = entries.filter((entry) => entry.text('type') === type).length
          if (count !== 1) report(cursor, `has ${count === 0 ? 'no' : 'more than one'} ${type}`, { expected: `exactly one ${type}` })
        }
      }
    },
  },
  'UCP-032': {
    types: BASKETS,
    why: 'Since 2026-04-08 the sign says whether an entry adds or takes away; before, every amount was positive.',
    spec: TOTALS,
    hint: 'Send discounts below zero and charges from zero up, and display_text with types of your own.',
    good: { type: 'discount', amount: -500 },
    bad: { type: 'discount', amount: 500 },
    check({ error }, { totals, context }) {
      const signed = context.atLeast('2026-04-08')
      for (const { of, entries } of totals) {
        for (const entry of entries) {
          expectTypeIfPresent(error, entry.get('display_text'), 'string')
          const type = expectText(error, entry.get('type'))
          if (type === null || of === 'adjustment') continue
          if (signed) checkSignedEntry(error, entry, type)
          else checkPositiveEntry(error, entry, type)
          // Only the totals of the whole are shown to the buyer line by line.
          if (signed && of === 'document' && !TYPES.includes(type)) expectText(error, entry.get('display_text'))
        }
      }
    },
  },
  'UCP-033': {
    severity: 'both',
    types: BASKETS,
    why: 'A platform must not complete a checkout by itself whose entries do not add up to its total.',
    spec: TOTALS,
    hint: 'Make the entries, repeated ones too, add up to the total.',
    good: {
      totals: [
        { type: 'subtotal', amount: 100 },
        { type: 'tax', amount: 20 },
        { type: 'total', amount: 120 },
      ],
    },
    bad: {
      totals: [
        { type: 'subtotal', amount: 100 },
        { type: 'tax', amount: 20 },
        { type: 'total', amount: 100 },
      ],
    },
    check({ error, warning }, { totals, context }) {
      for (const list of totals.filter(isOfDocument)) {
        if (!context.atLeast('2026-04-08')) checkPositiveSum(warning, list)
        else checkSignedSum(error, list)
      }
    },
  },
  'UCP-034': {
    why: 'Lines break an entry down; they must not change it.',
    spec: TOTALS,
    hint: 'Make the lines add up to their entry, each with display_text and amount.',
    good: {
      type: 'fee',
      amount: 30,
      lines: [
        { display_text: 'Bag', amount: 10 },
        { display_text: 'Box', amount: 20 },
      ],
    },
    bad: { type: 'fee', amount: 30, lines: [{ display_text: 'Bag', amount: 10 }] },
    check({ error }, { totals }) {
      for (const entry of totals.flatMap(({ entries }) => entries)) {
        const lines = entry.get('lines')
        if (!expectTypeIfPresent(error, lines, 'array') || lines.redacted) continue
        for (const line of lines.items()) if (expectObjectIfPresent(error, line)) expectType(error, line.get('display_text'), 'string')
        const [sum, amount] = [sumIntegers(lines.items().map((line) => line.get('amount'))), entry.integer('amount')]
        if (sum !== null && amount !== null && sum !== amount) error(lines, 'do not add up to the amount of their entry')
      }
    },
  },
  'UCP-036': {
    severity: 'warning',
    types: BASKETS,
    why: 'Mostly a wrong price or quantity; the buyer sees both.',
    spec: ucpSpec('reference', 'Line Item'),
    hint: 'Compare price, quantity and subtotal of the line, and the subtotal of the whole.',
    good: { item: { price: 1000 }, quantity: 2, totals: [{ type: 'subtotal', amount: 2000 }] },
    bad: { item: { price: 1000 }, quantity: 2, totals: [{ type: 'subtotal', amount: 1000 }] },
    check({ warning }, { lines, totals, is_newest_version }) {
      const cursors = totals.filter(({ of }) => of === 'line')
      const subtotals = cursors.map(({ entries }) => singleAmountOfType(entries, 'subtotal'))
      if (is_newest_version && lines.some(hasOtherUnit)) return
      for (const [index, line] of lines.entries()) {
        const [price, quantity, subtotal] = [line.integer('item', 'price'), readQuantity(line), subtotals[index] ?? null]
        if (price === null || price < 0n || quantity === null || quantity < 1n || subtotal === null || price * quantity === subtotal)
          continue
        warning(cursors[index]?.cursor ?? line, 'have a subtotal that is not price times quantity')
      }
      const whole = totals.find(isOfDocument)
      const subtotal = whole === undefined ? null : singleAmountOfType(whole.entries, 'subtotal')
      if (whole === undefined || subtotal === null || lines.some((line) => line.has('parent_id'))) return
      const sum = subtotals.reduce<bigint | null>((all, one) => (all === null || one === null ? null : all + one), 0n)
      if (subtotals.length > 0 && sum !== null && sum !== subtotal)
        warning(whole.cursor, 'have a subtotal that is not the sum of the lines')
    },
  },
  // UCP-035 and 041: lines and references to them.
  'UCP-035': {
    types: BASKETS,
    why: 'Fulfilment, discounts and refunds refer to lines by id and count their pieces.',
    spec: ucpSpec('reference', 'Line Item'),
    hint: 'Give each line its own id and a quantity from 1 up; in orders an object with total and fulfilled.',
    good: { id: 'li_1', quantity: 2 },
    bad: { id: 'li_1', quantity: 0 },
    check({ error }, { lines, context }) {
      const ids = lines.map((line) => line.get('id'))
      for (const line of lines) {
        expectText(error, line.get('id'))
        if (context.type === 'order') checkOrderedQuantity(error, line, context.atLeast('2026-04-08'))
        else if (expectType(error, line.get('quantity'), 'number')) expectInteger(error, line.get('quantity'), { min: 1n })
        expectType(error, line.get('totals'), 'array')
        expectItemTypes(error, line.get('totals'), 'object')
        expectTypeIfPresent(error, line.get('parent_id'), 'string')
      }
      checkParents(error, lines, expectUnique(error, ids, 'the id of another line'))
    },
  },
  'UCP-041': {
    severity: 'both',
    types: BASKETS,
    why: 'A choice or a parcel that points at nothing cannot be shown, priced or shipped.',
    spec: ucpSpec('fulfillment', 'Schema'),
    hint: 'Refer to ids that the response itself has.',
    hint_by_case: true,
    good: { line_items: [{ id: 'li_1' }], fulfillment: { methods: [{ line_item_ids: ['li_1'] }] } },
    bad: { line_items: [{ id: 'li_1' }], fulfillment: { methods: [{ line_item_ids: ['li_2'] }] } },
    check({ error, warning }, view) {
      const { body, lines, context, is_newest_version } = view
      const fulfillment = body.get('fulfillment')
      if (is_newest_version)
        for (const description of listOptionDescriptions(fulfillment)) checkDescription({ error, warning }, description)
      // Members of fulfilment differ between versions, so an unknown version says nothing about them.
      const isKnown = context.version_source !== 'assumed'
      if (context.type === 'order') {
        if (isKnown && fulfillment.kind === 'object') expectShape(error, fulfillment, responseShapes(is_newest_version).order_fulfillment)
        checkMovedQuantities(error, body)
      } else if (isKnown) expectShape(error, fulfillment, responseShapes(is_newest_version).checkout_fulfillment)
      const ids = lines.map((line) => line.text('id')).filter((id) => id !== null)
      // A reference to a line that cannot be read, or whose id cannot be read, proves nothing.
      if (body.get('line_items').kind !== 'array' || ids.length < body.items('line_items').length) return
      const known = new Set(ids)
      for (const cursor of listLineReferences(body)) expectReference(error, cursor, known, 'a line')
      checkChoices(error, fulfillment)
      checkAllocations(error, body)
    },
  },
}

function listOptionDescriptions(fulfillment: JsonCursor): JsonCursor[] {
  const groups = fulfillment.objects('methods').flatMap((method) => method.objects('groups'))
  return groups.flatMap((group) => group.objects('options')).map((option) => option.get('description'))
}

function checkDescription({ error, warning }: FindingReporter, description: JsonCursor): void {
  if (description.kind === 'string')
    warning(description, 'is a text, which the schema of this version does not allow', { expected: 'an object' })
  else expectShape(error, description, OPTION_DESCRIPTION)
}

/** The amount of the entries of one type; null unless exactly one has it, as an integer. */
function singleAmountOfType(entries: readonly JsonCursor[], type: string): bigint | null {
  const found = entries.filter((entry) => entry.text('type') === type)
  return found.length === 1 ? (found[0]?.integer('amount') ?? null) : null
}

function isOfDocument({ of }: UcpTotals): boolean {
  return of === 'document'
}

function listDiscountAmounts(body: JsonCursor): JsonCursor[] {
  return body
    .objects('discounts', 'applied')
    .flatMap((discount) => [discount.get('amount'), ...discount.objects('allocations').map((allocation) => allocation.get('amount'))])
}

/** Prices of a catalogue: of products and of their variants. */
function listCatalogPrices(body: JsonCursor): JsonCursor[] {
  const products = [...body.objects('products'), body.get('product')]
  const ranges = products
    .flatMap((product) => [product.get('price_range'), product.get('list_price_range')])
    .flatMap((range) => [range.get('min'), range.get('max')])
  const variants = products.flatMap((product) => product.objects('variants'))
  const prices = variants.flatMap((variant) => ['price', 'list_price', 'unit_price'].map((name) => variant.get(name)))
  return [...ranges, ...prices].filter(({ kind }) => kind === 'object')
}

function checkSignedEntry(error: ReportFinding, entry: JsonCursor, type: string): void {
  const amount = entry.integer('amount')
  if (amount !== null && DISCOUNTS.has(type) && amount >= 0n)
    error(entry.get('amount'), 'is not less than 0', { expected: 'a negative amount' })
  if (amount !== null && CHARGES.has(type) && amount < 0n) error(entry.get('amount'), 'is less than 0', { expected: 'an amount from 0 up' })
}

function checkPositiveEntry(error: ReportFinding, entry: JsonCursor, type: string): void {
  const amount = entry.integer('amount')
  if (amount !== null && amount < 0n) error(entry.get('amount'), 'is less than 0', { expected: 'an amount from 0 up' })
  if (!TYPES.includes(type)) error(entry.get('type'), 'is not one of the allowed values', { expected: describeChoices(TYPES) })
}

function checkSignedSum(error: ReportFinding, { cursor, entries }: UcpTotals): void {
  const total = singleAmountOfType(entries, 'total')
  const others = entries.filter((entry) => entry.text('type') !== 'total')
  // An item that cannot be read may hold what is missing.
  if (entries.length < cursor.items().length || others.some((entry) => entry.text('type') === null)) return
  const sum = sumIntegers(others.map((entry) => entry.get('amount')))
  if (total !== null && sum !== null && sum !== total) error(cursor, 'do not add up to the total')
}

/** No formula was written down then; discounts on items may be in the subtotal already. */
function checkPositiveSum(warning: ReportFinding, { cursor, entries }: UcpTotals): void {
  const total = singleAmountOfType(entries, 'total')
  const of = (...types: string[]) =>
    sumIntegers(entries.filter((entry) => types.includes(entry.text('type') ?? '')).map((entry) => entry.get('amount')))
  const [charges, discounts, on_items] = [of('subtotal', 'fulfillment', 'tax', 'fee'), of('discount'), of('items_discount')]
  if (total === null || charges === null || discounts === null || on_items === null || singleAmountOfType(entries, 'subtotal') === null)
    return
  const sum = charges - discounts
  if (sum !== total && sum - on_items !== total) warning(cursor, 'do not add up to the total')
}

/** Orders count what is left of a line under `total`. */
function readQuantity(line: JsonCursor): bigint | null {
  const quantity = line.get('quantity')
  return quantity.kind === 'object' ? quantity.integer('total') : quantity.integer()
}

/** Returns whether a line counts another unit than pieces. */
function hasOtherUnit(line: JsonCursor): boolean {
  return [...line.members(), ...line.members('item')].some(({ key }) => /unit|scale|measure/i.test(key))
}

function checkOrderedQuantity(error: ReportFinding, line: JsonCursor, has_removed: boolean): void {
  const states = ['processing', 'partial', 'fulfilled', ...(has_removed ? ['removed'] : [])]
  if (expectType(error, line.get('status'), 'string')) expectOneOf(error, line.get('status'), states)
  const quantity = line.get('quantity')
  if (!expectObject(error, quantity)) return
  const count = (name: string) =>
    expectType(error, quantity.get(name), 'number') ? expectInteger(error, quantity.get(name), { min: 0n }) : null
  const [total, fulfilled] = [count('total'), count('fulfilled')]
  expectInteger(error, quantity.get('original'), { min: 0n })
  if (total !== null && fulfilled !== null && fulfilled > total) error(quantity.get('fulfilled'), 'is more than total')
}

function checkParents(error: ReportFinding, lines: readonly JsonCursor[], known: ReadonlySet<string>): void {
  const parent_of = new Map<string, string | null>()
  for (const line of lines) {
    const id = line.text('id')
    if (id !== null && !parent_of.has(id)) parent_of.set(id, line.text('parent_id'))
    expectReference(error, line.get('parent_id'), known, 'a line')
  }
  const { in_cycle } = buildParentTree(parent_of)
  for (const line of lines) if (in_cycle.has(line.text('id') ?? '')) error(line.get('parent_id'), 'leads back to the line itself')
}

/** Lists of lines with quantities in an order; refunds count downwards, so only the type is asked for there. */
function checkMovedQuantities(error: ReportFinding, body: JsonCursor): void {
  for (const part of [...body.objects('fulfillment', 'expectations'), ...body.objects('fulfillment', 'events')]) {
    for (const line of part.objects('line_items'))
      if (expectType(error, line.get('quantity'), 'number')) expectInteger(error, line.get('quantity'), { min: 0n })
  }
  for (const line of body.objects('adjustments').flatMap((change) => change.objects('line_items')))
    if (expectType(error, line.get('quantity'), 'number')) expectInteger(error, line.get('quantity'))
}

/** All references to ids of lines. */
function listLineReferences(body: JsonCursor): JsonCursor[] {
  const fulfillment = body.get('fulfillment')
  const methods = fulfillment.objects('methods')
  const holders = [...methods, ...methods.flatMap((method) => method.objects('groups')), ...fulfillment.objects('available_methods')]
  const parts = [...fulfillment.objects('expectations'), ...fulfillment.objects('events'), ...body.objects('adjustments')]
  return [
    ...holders.flatMap((holder) => holder.items('line_item_ids')),
    ...parts.flatMap((part) => part.objects('line_items').map((line) => line.get('id'))),
  ]
}

/** Checks that selected destinations and options are among the offered ones, if those are sent. */
function checkChoices(error: ReportFinding, fulfillment: JsonCursor): void {
  const chosen = (cursor: JsonCursor, offers: JsonCursor, what: string) => {
    const offered = offers.objects().map((offer) => offer.get('id'))
    if (offers.kind !== 'array' || offered.some((id) => id.redacted)) return
    expectReference(error, cursor, new Set(offered.map((id) => id.text()).filter((id) => id !== null)), what)
  }
  for (const method of fulfillment.objects('methods')) {
    chosen(method.get('selected_destination_id'), method.get('destinations'), 'a destination')
    for (const group of method.objects('groups')) chosen(group.get('selected_option_id'), group.get('options'), 'an option')
  }
}

/** Only `$.line_items[n]` is looked up: other paths, such as `$.totals.shipping`, are written in more ways than one. */
function checkAllocations(error: ReportFinding, body: JsonCursor): void {
  const list = body.get('line_items')
  const count = list.items().length
  const applied = body.objects('discounts', 'applied')
  for (const path of applied.flatMap((discount) => discount.objects('allocations').map((allocation) => allocation.get('path')))) {
    const index = /^\$\.line_items\[([0-9]{1,9})\]/.exec(path.text() ?? '')?.[1]
    if (index !== undefined && list.kind === 'array' && Number(index) >= count)
      error(path, 'refers to a line that the document does not have')
  }
}
