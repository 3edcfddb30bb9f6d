/**
 * How prices move with demand. Time is cut into epochs; a price holds for a whole one. From one epoch to the next it moves by at most an
 * eighth, in proportion to how far the sales were from the target, never out of its bounds. Amounts are minor units; all arithmetic is
 * exact integers, so that every instance that knows the same sales finds the same price.
 */

export interface PriceRules {
  floor_minor: bigint
  cap_minor: bigint
  /** Sales of an epoch at which the price stays as it is; at least 1. */
  target: number
}

/** A price that is known to have held in an epoch. */
export interface KnownPrice {
  epoch: number
  amount_minor: bigint
}

export interface EpochSales {
  epoch: number
  /** Payers that bought in the epoch. */
  payers: number
}

/** The most that a price moves in an epoch is this part of it: 12.5 %. */
const MOST_PART = 8n

/** The price of an epoch depends on the sales of the last epoch but one: one that is over, and had an epoch's time to be written down. */
export const LAG_EPOCHS = 2

const ITEMS_PER_CHECK = 10n

/**
 * The price of the next epoch: 12.5 % down without any sale, unchanged at the target, 12.5 % up at twice the target and beyond. Fractions
 * of a unit are dropped toward no movement, but a price that should move moves by at least one unit, so that it is never stuck above its
 * floor; only below 8 units can that be more than 12.5 %.
 */
export function nextPrice(amount_minor: bigint, sales: number, rules: PriceRules): bigint {
  const target = BigInt(rules.target)
  const off = within(BigInt(sales) - target, -target, target)
  const exact = (amount_minor * off) / (MOST_PART * target)
  const change = exact === 0n ? BigInt(Math.sign(sales - rules.target)) : exact
  return within(amount_minor + change, rules.floor_minor, rules.cap_minor)
}

/**
 * The price of `epoch`, from the newest one that is known at or before it and the sales since the epoch before that; null when none is
 * known, which stands for the floor before the first sale in the list. The sales may come in any order; sales of `epoch` and of the one
 * before it are not looked at. The work grows with the sales in the list, never with the time between them: at the floor nothing moves
 * until something is sold.
 */
export function priceAt(epoch: number, known: KnownPrice | null, sales: readonly EpochSales[], rules: PriceRules): bigint {
  const sold = sales.filter(({ payers }) => payers > 0).toSorted((a, b) => a.epoch - b.epoch)
  let price = within(known?.amount_minor ?? rules.floor_minor, rules.floor_minor, rules.cap_minor)
  let index = 0
  let at = (known?.epoch ?? Number.NEGATIVE_INFINITY) + 1
  while (at <= epoch) {
    let next = sold[index]
    while (next !== undefined && next.epoch < at - LAG_EPOCHS) next = sold[++index]
    if (price === rules.floor_minor) {
      if (next === undefined || next.epoch > epoch - LAG_EPOCHS) return price
      at = next.epoch + LAG_EPOCHS
    }
    price = nextPrice(price, next?.epoch === at - LAG_EPOCHS ? next.payers : 0, rules)
    at++
  }
  return price
}

/** What a batch costs when a check costs `check_minor`: a tenth of it an item, rounded up to a unit, within the bounds. */
export function batchPrice(items: number, check_minor: bigint, bounds: Pick<PriceRules, 'floor_minor' | 'cap_minor'>): bigint {
  const exact = BigInt(items) * check_minor
  return within((exact + ITEMS_PER_CHECK - 1n) / ITEMS_PER_CHECK, bounds.floor_minor, bounds.cap_minor)
}

function within(value: bigint, least: bigint, most: bigint): bigint {
  return value < least ? least : value > most ? most : value
}
