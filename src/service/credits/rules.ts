/** Every bound of credits, in one place. Names end in the unit. */
export const CREDIT_RULES = {
  idempotency_key_chars: 128,
  /** Wrong codes of one client, over all instances. */
  wrong_codes_per_minute: 10,
  /** Requests of one client to buy or to look, in each process. */
  requests_per_minute: 60,
  /** Debits, and reversals, that a balance lists. */
  entries: 50,
  body_bytes: 4_096,
  /** Stripe keeps its notices far below this. */
  notice_bytes: 262_144,
  session_chars: 128,
  /** How far the clocks of Stripe and service may differ. */
  notice_tolerance_s: 300,
  checkout_retry_s: 5,
  /** One cent in minor units of USDC. */
  minor_per_cent: 10_000n,
} as const
