/** USDC has six decimals; amounts are minor units in a bigint, or decimal text. */
const DECIMALS = 6

/** "0.05" is 50000n. Null for anything that is not plain decimals with at most six of them behind the point. */
export function minorOf(usdc: string): bigint | null {
  const parts = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/.exec(usdc)
  const [, whole, fraction = ''] = parts ?? []
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

/** 50000n is "0.05". */
export function usdcOf(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return digits.slice(0, -DECIMALS) + (fraction === '' ? '' : `.${fraction}`)
}

/** An amount of minor units as x402 writes it; null for anything else. */
export function readMinor(value: unknown): bigint | null {
  return typeof value === 'string' && /^(?:0|[1-9][0-9]{0,30})$/.test(value) ? BigInt(value) : null
}
