/** Times and bounds of the receipts log. */
export const LOG_RULES = {
  /** What is promised: a receipt is in the log so long after it was made, at the latest. */
  merge_s: 60,
  /** How often waiting entries are appended. */
  append_every_ms: 2_000,
  /** How often what was made is written down as waiting. */
  flush_every_ms: 100,
  /** Entries in memory that are not written down yet; beyond it they are dropped, counted, and can be handed in. */
  gathered: 20_000,
  /** Entries that one step appends, the rest between two steps, and steps in one round: a step holds up whoever calls meanwhile. */
  step_entries: 256,
  step_rest_ms: 20,
  round_steps: 64,
  /** Receipts that one client may hand in, and checkpoints it may bring, in a minute. */
  per_minute: 60,
  /** Largest body of either: whole answers, and checkpoints with sixteen signatures of the longest kind. */
  body_bytes: 147_456,
} as const
