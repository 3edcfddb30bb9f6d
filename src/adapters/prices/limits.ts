/** Bounds of asking price interfaces. */
export const priceLimits = {
  /** One question, connection and body together. */
  attempt_ms: 2_000,
  /** Answers about one pair have some hundred bytes. */
  answer_bytes: 65_536,
  /** No price older than this is told, be it the source's own time or ours. */
  oldest_ms: 60_000,
  /** How far a source's clock may be ahead of ours. */
  ahead_ms: 10_000,
  /** A question without a price is not asked again for so long. */
  refused_ms: 5_000,
  /** Failures in a row after which a source is left alone, and for how long; at once and for longer when it says that it was too much. */
  breaker: { failures: 3, window_ms: 300_000, open_ms: 30_000, open_max_ms: 30_000 },
  limited_open_ms: 60_000,
} as const
