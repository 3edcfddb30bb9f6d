import { listed, need, needText, optional } from '../kit/expect.ts'
import { minorUnits, sumOf } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { BASKETS } from './detect.ts'
import { ucpSpec } from './spec.ts'
import { amountOfType, objects, type TotalsList, type UcpView } from './view.ts'

const TOTALS = ucpSpec('reference', 'Totals')

/** The seven types that have a meaning; the rest is free since 2026-04-08. */
const TYPES = ['subtotal', 'items_discount', 'discount', 'fulfillment', 'tax', 'fee', 'total']
const DISCOUNTS: ReadonlySet<string> = new Set(['items_discount', 'discount'])
const CHARGES: ReadonlySet<string> = new Set(['subtotal', 'fulfillment', 'tax', 'fee'])

/** UCP-030…034 and 036: amounts and how they add up. */
export const MONEY_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-030',
      severity: 'error',
      why: 'Amounts are integers of minor units; fractions and large numbers are read differently by different readers.',
      spec: ucpSpec('overview', 'Overarching guidelines'),
      hint: 'Send 1999 for 19.99, within 2^53 - 1.',
      good: { item: { price: 1999 } },
      bad: { item: { price: 19.99 } },
    },
    ({ error }, view) => {
      const amount = (place: Place, min?: bigint) => {
        if (need(error, place, 'number')) minorUnits(error, place, min === undefined ? {} : { min })
      }
      for (const { entries } of view.totals) {
        for (const entry of entries) amount(entry.get('amount'))
        for (const part of entries.flatMap((entry) => objects(entry.get('lines')))) amount(part.get('amount'))
      }
      for (const line of view.lines) if (line.get('item').kind === 'object') amount(line.down('item', 'price'), 0n)
      for (const place of discountAmounts(view.body)) amount(place, 0n)
      for (const price of catalogPrices(view.body)) amount(price.get('amount'), 0n)
      for (const change of objects(view.body.get('adjustments'))) minorUnits(error, change.get('amount'))
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-031',
      severity: 'both',
      types: BASKETS,
      why: 'With two totals, or none, nobody knows what is to be paid.',
      spec: TOTALS,
      hint: 'Send exactly one subtotal and exactly one total.',
      good: {
        totals: [
          { type: 'subtotal', amount: 100 },
          { type: 'total', amount: 100 },
        ],
      },
      bad: { totals: [{ type: 'subtotal', amount: 100 }] },
    },
    ({ error, warning }, { totals, context }) => {
      const say = context.atLeast('2026-04-08') ? error : warning
      for (const { place, entries } of totals.filter(isOfDocument)) {
        if (place.kind !== 'array') continue
        const isHidden = entries.some((entry) => entry.get('type').redacted)
        for (const type of isHidden ? [] : ['subtotal', 'total']) {
          const count = entries.filter((entry) => entry.get('type').text() === type).length
          if (count !== 1) say(place, `has ${count === 0 ? 'no' : 'more than one'} ${type}`, { expected: `exactly one ${type}` })
        }
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-032',
      severity: 'error',
      types: BASKETS,
      why: 'Since 2026-04-08 the sign says whether an entry adds or takes away; before, every amount was positive.',
      spec: TOTALS,
      hint: 'Send discounts below zero and charges from zero up, and display_text with types of your own.',
      good: { type: 'discount', amount: -500 },
      bad: { type: 'discount', amount: 500 },
    },
    ({ error }, { totals, context }) => {
      const signed = context.atLeast('2026-04-08')
      for (const { of, entries } of totals) {
        for (const entry of entries) {
          optional(error, entry.get('display_text'), 'string')
          const type = needText(error, entry.get('type'))
          if (type === null || of === 'adjustment') continue
          if (signed) signedEntry(error, entry, type)
          else positiveEntry(error, entry, type)
          // Only the totals of the whole are shown to the buyer line by line.
          if (signed && of === 'document' && !TYPES.includes(type)) needText(error, entry.get('display_text'))
        }
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-033',
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
    },
    ({ error, warning }, { totals, context }) => {
      for (const list of totals.filter(isOfDocument)) {
        if (!context.atLeast('2026-04-08')) positiveSum(warning, list)
        else signedSum(error, list)
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-034',
      severity: 'error',
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
    },
    ({ error }, { totals }) => {
      for (const entry of totals.flatMap(({ entries }) => entries)) {
        const lines = entry.get('lines')
        if (!optional(error, lines, 'array') || lines.redacted) continue
        for (const line of lines.items())
          if (optional(error, line, 'object') && !line.redacted) need(error, line.get('display_text'), 'string')
        const [sum, amount] = [sumOf(lines.items().map((line) => line.get('amount'))), entry.get('amount').integer()]
        if (sum !== null && amount !== null && sum !== amount) error(lines, 'do not add up to the amount of their entry')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-036',
      severity: 'warning',
      types: BASKETS,
      why: 'Mostly a wrong price or quantity; the buyer sees both.',
      spec: ucpSpec('reference', 'Line Item'),
      hint: 'Compare price, quantity and subtotal of the line, and the subtotal of the whole.',
      good: { item: { price: 1000 }, quantity: 2, totals: [{ type: 'subtotal', amount: 2000 }] },
      bad: { item: { price: 1000 }, quantity: 2, totals: [{ type: 'subtotal', amount: 1000 }] },
    },
    ({ warning }, { lines, totals, newest }) => {
      const places = totals.filter(({ of }) => of === 'line')
      const subtotals = places.map(({ entries }) => amountOfType(entries, 'subtotal'))
      if (newest && lines.some(isScaled)) return
      for (const [index, line] of lines.entries()) {
        const [price, quantity, subtotal] = [line.down('item', 'price').integer(), quantityOf(line), subtotals[index] ?? null]
        if (price === null || price < 0n || quantity === null || quantity < 1n || subtotal === null || price * quantity === subtotal)
          continue
        warning(places[index]?.place ?? line, 'have a subtotal that is not price times quantity')
      }
      const whole = totals.find(isOfDocument)
      const subtotal = whole === undefined ? null : amountOfType(whole.entries, 'subtotal')
      if (whole === undefined || subtotal === null || lines.some((line) => line.has('parent_id'))) return
      const sum = subtotals.reduce<bigint | null>((all, one) => (all === null || one === null ? null : all + one), 0n)
      if (subtotals.length > 0 && sum !== null && sum !== subtotal) warning(whole.place, 'have a subtotal that is not the sum of the lines')
    },
  ),
]

function isOfDocument({ of }: TotalsList): boolean {
  return of === 'document'
}

function discountAmounts(body: Place): Place[] {
  return objects(body.down('discounts', 'applied')).flatMap((discount) => [
    discount.get('amount'),
    ...objects(discount.get('allocations')).map((allocation) => allocation.get('amount')),
  ])
}

/** Prices of a catalogue: of products and of their variants. */
function catalogPrices(body: Place): Place[] {
  const products = [...objects(body.get('products')), body.get('product')]
  const ranges = products
    .flatMap((product) => [product.get('price_range'), product.get('list_price_range')])
    .flatMap((range) => [range.get('min'), range.get('max')])
  const variants = products.flatMap((product) => objects(product.get('variants')))
  const prices = variants.flatMap((variant) => ['price', 'list_price', 'unit_price'].map((name) => variant.get(name)))
  return [...ranges, ...prices].filter(({ kind }) => kind === 'object')
}

function signedEntry(error: Say, entry: Place, type: string): void {
  const amount = entry.get('amount').integer()
  if (amount !== null && DISCOUNTS.has(type) && amount >= 0n)
    error(entry.get('amount'), 'is not less than 0', { expected: 'a negative amount' })
  if (amount !== null && CHARGES.has(type) && amount < 0n) error(entry.get('amount'), 'is less than 0', { expected: 'an amount from 0 up' })
}

function positiveEntry(error: Say, entry: Place, type: string): void {
  const amount = entry.get('amount').integer()
  if (amount !== null && amount < 0n) error(entry.get('amount'), 'is less than 0', { expected: 'an amount from 0 up' })
  if (!TYPES.includes(type)) error(entry.get('type'), 'is none of the values that the protocol knows', { expected: listed(TYPES) })
}

function signedSum(error: Say, { place, entries }: TotalsList): void {
  const total = amountOfType(entries, 'total')
  const others = entries.filter((entry) => entry.get('type').text() !== 'total')
  // An item that cannot be read may hold what is missing.
  if (entries.length < place.items().length || others.some((entry) => entry.get('type').text() === null)) return
  const sum = sumOf(others.map((entry) => entry.get('amount')))
  if (total !== null && sum !== null && sum !== total) error(place, 'do not add up to the total')
}

/** No formula was written down then; discounts on items may be in the subtotal already. */
function positiveSum(warning: Say, { place, entries }: TotalsList): void {
  const total = amountOfType(entries, 'total')
  const of = (...types: string[]) =>
    sumOf(entries.filter((entry) => types.includes(entry.get('type').text() ?? '')).map((entry) => entry.get('amount')))
  const [charges, discounts, on_items] = [of('subtotal', 'fulfillment', 'tax', 'fee'), of('discount'), of('items_discount')]
  if (total === null || charges === null || discounts === null || on_items === null || amountOfType(entries, 'subtotal') === null) return
  const sum = charges - discounts
  if (sum !== total && sum - on_items !== total) warning(place, 'do not add up to the total')
}

/** Orders count what is left of a line under `total`. */
function quantityOf(line: Place): bigint | null {
  const quantity = line.get('quantity')
  return quantity.kind === 'object' ? quantity.get('total').integer() : quantity.integer()
}

/** Whether a line counts in something else than pieces. */
function isScaled(line: Place): boolean {
  return [...line.members(), ...line.get('item').members()].some(({ key }) => /unit|scale|measure/i.test(key))
}
