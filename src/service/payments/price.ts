/** Prices in minor units of USDC (1,000,000 = 1 USDC). Every price lies between the floor and the cap of its class. */
const CLASSES = {
  /** No price, no allowance. */
  free: { floor_minor: 0n, cap_minor: 0n },
  /** One check of one value. */
  check: { floor_minor: 5_000n, cap_minor: 50_000n },
  /** A tenth of a check for each item, within the bounds of a check. */
  batch: { floor_minor: 5_000n, cap_minor: 50_000n },
} as const

export type PriceClass = keyof typeof CLASSES

export interface PriceNow {
  class: PriceClass
  amount_minor: bigint
  floor_minor: bigint
  cap_minor: bigint
  /** Words for a price that depends on the input; null when it does not. */
  formula: string | null
}

/** What a call costs now, before anything is known of its input. */
export function priceNow(name: PriceClass): PriceNow {
  const { floor_minor, cap_minor } = CLASSES[name]
  const formula = name === 'batch' ? 'ceil(items * price of a check / 10), at least 0.005 and at most 0.05 USDC' : null
  return { class: name, amount_minor: floor_minor, floor_minor, cap_minor, formula }
}

/** Minor units as USDC in decimals, without trailing zeros: 5000n is "0.005". */
export function usdcText(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return digits.slice(0, -6) + (fraction === '' ? '' : `.${fraction}`)
}
