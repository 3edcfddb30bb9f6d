/**
 * Bounds of a share seen in `calls` calls: the score interval of E. B. Wilson (Journal of the American Statistical Association 22, 1927)
 * for two-sided 95 %, z = 1.96. They draw together as the number of calls grows, so that a small sample never looks perfect.
 *
 * Whole numbers only. A bound x is where (p − x)² · n = z² · x(1 − x); instead of taking its root, each basis point is asked on which side
 * of it it lies, which is exact. The lower bound is rounded down to a basis point and the upper one up: both err against the agent.
 */

const WHOLE_BP = 10_000
/** A share is read to nine decimals. */
const DECIMALS = 9
const WHOLE_PPB = 10n ** BigInt(DECIMALS)
const PPB_PER_BP = WHOLE_PPB / BigInt(WHOLE_BP)

/** Basis points that the true share is at least, 0 without calls. `share` lies in 0 to 1; `calls` is a whole number from 0, `z_milli` counts thousandths. */
export function lowerBoundBp(share: number, calls: number, z_milli: number): number {
  return lowerBound(toPpb(share), BigInt(calls), BigInt(z_milli))
}

/** Basis points that the true share is at most, 10,000 without calls. */
export function upperBoundBp(share: number, calls: number, z_milli: number): number {
  return WHOLE_BP - lowerBound(WHOLE_PPB - toPpb(share), BigInt(calls), BigInt(z_milli))
}

/** The decimals as they are written, rounded at the ninth: toFixed is exact, a multiplication is not. */
function toPpb(share: number): bigint {
  return BigInt(share.toFixed(DECIMALS).replace('.', ''))
}

/** The highest basis point that is not above the bound. */
function lowerBound(share_ppb: bigint, calls: bigint, z_milli: bigint): number {
  let [holds, fails] = [0, WHOLE_BP + 1]
  while (fails - holds > 1) {
    const middle = Math.floor((holds + fails) / 2)
    if (isBelow(BigInt(middle), share_ppb, calls, z_milli)) holds = middle
    else fails = middle
  }
  return holds
}

/** Returns whether x is at or below the lower bound: less than the share, and at least as far from it as the bound. */
function isBelow(x_bp: bigint, share_ppb: bigint, calls: bigint, z_milli: bigint): boolean {
  const distance = share_ppb - x_bp * PPB_PER_BP
  if (distance <= 0n) return false
  // d² counts 10^18, z² counts 10^6 and x(1 − x) counts 10^8: what is left between the two sides is 10^4.
  return distance * distance * calls >= z_milli * z_milli * x_bp * (10_000n - x_bp) * 10_000n
}
