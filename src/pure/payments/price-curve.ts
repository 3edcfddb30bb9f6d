/**
 * Prices that follow demand. Time is divided into epochs, and a price applies to a whole epoch. From one epoch to the next it changes by at
 * most an eighth, in proportion to the distance of the sales from the target, within its bounds. Amounts are minor units; all arithmetic is
 * on integers, so that all instances with the same sales compute the same price.
 */

export interface PriceRules {
  floor_minor: bigint
  cap_minor: bigint
  /** Sales of an epoch at which the price stays as it is; at least 1. */
  target: number
}

/** Price of an epoch that is stored. */
interface KnownPrice {
  epoch: number
  amount_minor: bigint
}

export interface EpochSales {
  epoch: number
  /** Payers that bought in the epoch. */
  payers: number
}

/** A price changes by at most this fraction of itself in an epoch: 1/8 = 12.5 %. */
const MAX_CHANGE_DIVISOR = 8n

/** The price of epoch n depends on the sales of epoch n - 2: that epoch is over, and its sales had the length of an epoch to be stored. */
export const SALES_DELAY_EPOCHS = 2

const ITEMS_PER_CHECK = 10n

/**
 * Returns the price of the next epoch: 12.5 % lower without any sale, unchanged at the target, 12.5 % higher at twice the target and above.
 * Fractions of a unit are rounded toward no change, but a price that should change changes by at least one unit, so that it always reaches
 * its floor; this exceeds 12.5 % only below 8 units.
 */
export function nextPrice(amount_minor: bigint, sales: number, rules: PriceRules): bigint {
  const target = BigInt(rules.target)
  const off = clamp(BigInt(sales) - target, -target, target)
  const exact = (amount_minor * off) / (MAX_CHANGE_DIVISOR * target)
  const change = exact === 0n ? BigInt(Math.sign(sales - rules.target)) : exact
  return clamp(amount_minor + change, rules.floor_minor, rules.cap_minor)
}

/**
 * Returns the price of `epoch`, computed from the newest known price at or before it and the sales since the epoch before that. Null as
 * known price means the floor before the first sale in the list. Sales may come in any order; those of `epoch` and of the epoch before it
 * are ignored. The work grows with the number of sales, not with the time between them, since a price at its floor changes only after a
 * sale.
 */
export function priceAt(epoch: number, known: KnownPrice | null, sales: readonly EpochSales[], rules: PriceRules): bigint {
  const sold = sales.filter(({ payers }) => payers > 0).toSorted((a, b) => a.epoch - b.epoch)
  let price = clamp(known?.amount_minor ?? rules.floor_minor, rules.floor_minor, rules.cap_minor)
  let index = 0
  let at = (known?.epoch ?? Number.NEGATIVE_INFINITY) + 1
  while (at <= epoch) {
    let next = sold[index]
    while (next !== undefined && next.epoch < at - SALES_DELAY_EPOCHS) next = sold[++index]
    if (price === rules.floor_minor) {
      if (next === undefined || next.epoch > epoch - SALES_DELAY_EPOCHS) return price
      at = next.epoch + SALES_DELAY_EPOCHS
    }
    price = nextPrice(price, next?.epoch === at - SALES_DELAY_EPOCHS ? next.payers : 0, rules)
    at++
  }
  return price
}

/** Known prices of one market by their epoch. */
export type KnownPrices = ReadonlyMap<number, bigint>

/** Returns the prices of the epochs from `first` to `last`, each as `priceAt` computes it from the newest known price. */
export function priceSpan(first: number, last: number, known: KnownPrices, sales: readonly EpochSales[], rules: PriceRules) {
  const epochs = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return new Map(epochs.map((epoch) => [epoch, priceAt(epoch, newestAt(epoch, known), sales, rules)]))
}

/** Returns the first epoch whose sales `priceSpan` needs; `oldest` is the epoch before which sales are ignored where no price is known. */
export function salesNeededFrom(first: number, known: KnownPrices, oldest: number): number {
  return (newestAt(first, known)?.epoch ?? oldest) + 1 - SALES_DELAY_EPOCHS
}

/** Returns the newest known price at or before an epoch. */
function newestAt(epoch: number, known: KnownPrices): KnownPrice | null {
  let best: KnownPrice | null = null
  for (const [at, amount_minor] of known) if (at <= epoch && (best === null || at > best.epoch)) best = { epoch: at, amount_minor }
  return best
}

/**
 * Returns the price of a batch at `check_minor` for one check: a tenth of it for each item, rounded up to a whole unit, within the bounds.
 */
export function batchPrice(items: number, check_minor: bigint, bounds: Pick<PriceRules, 'floor_minor' | 'cap_minor'>): bigint {
  const exact = BigInt(items) * check_minor
  return clamp((exact + ITEMS_PER_CHECK - 1n) / ITEMS_PER_CHECK, bounds.floor_minor, bounds.cap_minor)
}

function clamp(value: bigint, least: bigint, most: bigint): bigint {
  return value < least ? least : value > most ? most : value
}
