import { batchPrice, type PriceRules } from '../../pure/payments/price-curve.ts'

/**
 * What moves by itself: each market has one price, which follows its own sales. Amounts are minor units of USDC (1,000,000 = 1 USDC), the
 * target is the number of payers in an epoch of 10 seconds at which the price stays: two a second.
 */
export const MARKETS = {
  check: { floor_minor: 5_000n, cap_minor: 50_000n, target: 5 },
  chain: { floor_minor: 5_000n, cap_minor: 50_000n, target: 5 },
  contract: { floor_minor: 20_000n, cap_minor: 50_000n, target: 5 },
  document: { floor_minor: 10_000n, cap_minor: 50_000n, target: 5 },
} as const satisfies Record<string, PriceRules>

export type Market = keyof typeof MARKETS

/** How a tool is priced. Every price lies between the floor and the cap of its class. */
const CLASSES = {
  /** No price, no allowance. */
  free: { market: null, floor_minor: 0n, cap_minor: 0n, formula: null },
  /** One check of one value. */
  check: { market: 'check', floor_minor: 5_000n, cap_minor: 50_000n, formula: null },
  /** Facts read from the chain or from a market. */
  chain: { market: 'chain', floor_minor: 5_000n, cap_minor: 50_000n, formula: null },
  /** The facts of a token contract. */
  contract: { market: 'contract', floor_minor: 20_000n, cap_minor: 50_000n, formula: null },
  /** A whole document or file. */
  document: { market: 'document', floor_minor: 10_000n, cap_minor: 50_000n, formula: null },
  /** A tenth of a check for each item, within the bounds of a check. */
  batch: {
    market: 'check',
    floor_minor: 5_000n,
    cap_minor: 50_000n,
    formula: 'ceil(items * price of a check / 10), at least 0.005 and at most 0.05 USDC',
  },
} as const satisfies Record<string, PriceBounds & { market: Market | null }>

export type PriceClass = keyof typeof CLASSES

/** What can be said of a price without looking at the clock: for documents that outlive the price of the moment. */
export interface PriceBounds {
  floor_minor: bigint
  cap_minor: bigint
  /** Words for a price that depends on the input; null when it does not. */
  formula: string | null
}

/** The prices of one moment. While they stand it is the same object, so that what is derived from it can be kept beside it. */
export interface PricesNow {
  /** Number of the epoch of 10 seconds, by the clock of the store. */
  epoch: number
  amounts: Readonly<Record<Market, bigint>>
  /** Each price that may have been quoted within the last `maxTimeoutSeconds`, newest first, none twice. */
  payable: Readonly<Record<Market, readonly bigint[]>>
}

/** The price of one call. */
export interface CallPrice extends PriceBounds {
  class: PriceClass
  amount_minor: bigint
  /** The amounts that pay for it: those of now and of every moment in which a quote that still stands was given. Empty for a free tool. */
  payable: readonly bigint[]
}

export function priceBounds(name: PriceClass): PriceBounds {
  const { floor_minor, cap_minor, formula } = CLASSES[name]
  return { floor_minor, cap_minor, formula }
}

/** The market whose price a call of this class pays: what its payment is counted under as a sale. Null for a free tool. */
export function marketOf(name: PriceClass): Market | null {
  return CLASSES[name].market
}

/**
 * What a call costs, given its checked input; without an input, what the cheapest one costs: a batch of one item. Throws when the input of
 * a batch has no items, which its schema does not let through.
 */
export function priceOf(name: PriceClass, input: Readonly<Record<string, unknown>> | null, prices: PricesNow): CallPrice {
  const bounds = priceBounds(name)
  switch (name) {
    case 'free':
      return { class: name, amount_minor: 0n, payable: [], ...bounds }
    case 'check':
    case 'chain':
    case 'contract':
    case 'document':
      return { class: name, amount_minor: prices.amounts[name], payable: prices.payable[name], ...bounds }
    case 'batch': {
      const items = input === null ? 1 : itemsOf(input)
      const batch = (check_minor: bigint) => batchPrice(items, check_minor, bounds)
      return { class: name, amount_minor: batch(prices.amounts.check), payable: distinct(prices.payable.check.map(batch)), ...bounds }
    }
  }
}

function itemsOf(input: Readonly<Record<string, unknown>>): number {
  const { items } = input
  if (!Array.isArray(items)) throw new Error('a tool that is priced by the item has an input without items')
  return items.length
}

/** The amounts in their order, none twice. */
export function distinct(amounts: readonly bigint[]): bigint[] {
  return [...new Set(amounts)]
}

/** Minor units as USDC in decimals, without trailing zeros: 5000n is "0.005". */
export function usdcText(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return digits.slice(0, -6) + (fraction === '' ? '' : `.${fraction}`)
}
