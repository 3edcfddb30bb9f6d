/**
 * Whether a claim has run out, so that the same request may claim again. A claim that ends later than two claims from now was written by a
 * machine whose clock was ahead: it counts as run out too, or nobody could claim again until the clocks of others caught up. Fencing numbers
 * keep a claimer that is taken for dead from doing harm.
 */
export function claimRanOut(claim_until_ms: number, now_ms: number, claim_ms: number): boolean {
  return claim_until_ms < now_ms || claim_until_ms > now_ms + 2 * claim_ms
}
