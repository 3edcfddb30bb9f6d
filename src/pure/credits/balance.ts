/** What a credit holds. All amounts are in its own unit, and none is below zero. */
export interface CreditSums {
  granted: bigint
  /** What reversed card payments take back: refunds, and disputes that are open or lost. At most what was granted. */
  reversed: bigint
  /** What answered calls have cost. */
  spent: bigint
  /** What calls that are running now may cost. */
  reserved: bigint
}

/** What further calls may cost. */
export function availableOf({ granted, reversed, spent, reserved }: CreditSums): bigint {
  const left = granted - reversed - spent - reserved
  return left > 0n ? left : 0n
}

/** What a reversal could not take back, because it was spent before. */
export function shortfallOf({ granted, reversed, spent }: CreditSums): bigint {
  const missing = reversed + spent - granted
  return missing > 0n ? missing : 0n
}
