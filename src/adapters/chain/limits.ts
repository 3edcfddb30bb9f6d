/** Bounds of talking to nodes. */
export const chainLimits = {
  /** One HTTP request. */
  attempt_ms: 2_000,
  /** Everything that one question may take: attempts, further endpoints, and a pause that a node asked for. */
  total_ms: 6_000,
  /** Largest answer of a node, decompressed. */
  answer_bytes: 8 * 1_048_576,
  /** Questions in one HTTP request; public nodes refuse large batches. */
  batch_items: 20,
  /** So many faults within this time take an endpoint out of service. */
  breaker: { failures: 3, window_ms: 10_000, open_ms: 5_000, open_max_ms: 60_000 },
  /** Pause after 429 when the node names none, and the longest that is honoured. */
  limited_ms: 1_000,
  limited_max_ms: 60_000,
  /** A head this much older than the clock is stale. */
  stale_ms: 30_000,
  /** How long a head that was seen binds: within it, a lower one is a lagging backend. */
  head_memory_ms: 30_000,
  /** Blocks that an endpoint may be behind another one. */
  lag_blocks: 5,
  /** Heads of one endpoint that are kept to tell a reorganisation from a lag. */
  heads_kept: 64,
  /** A head this young is worth asking at without looking for a newer one first. */
  head_guess_ms: 2_000,
  /** How long the answer to "does it answer" is good. */
  answers_ms: 2_000,
  /** Requests that one search for logs may be cut into. */
  log_requests: 32,
  /** Calls of a batch that was too much for a node are asked again with at most this much gas: twenty answers then fit into one. */
  lean_gas: 100_000n,
  /** A head dated so far after the clock is none that facts are read at, and none that other endpoints lag behind. */
  ahead_ms: 30_000,
  /** Everything that the facts of one answer may take. */
  facts_ms: 8_000,
  /** A head that was seen so long ago may still be read at. */
  pin_ms: 6_000,
  /** How often a live chain is looked at while nobody asks, and for how long what was seen then lets calls in. */
  probe_every_ms: 5_000,
  probe_good_ms: 10_000,
  /** Longest range of one question for logs, and the ranges that are tried when a node refuses it. */
  log_ranges: [10_000, 5_000, 2_000, 1_000, 500],
  /** How long the range that was found is good. */
  log_range_good_ms: 60_000,
  /** Requests that one history may take, how many of them at once, and the transfers that it may hold. */
  history_requests: 60,
  history_at_once: 4,
  history_transfers: 50_000,
  /** A history ends so far below the head. */
  history_behind: 2n,
  /** What one process may ask for facts: sustained, and at once after a quiet time. */
  facts_per_second: 50,
  facts_burst: 300,
  /** Offered to the sequencer when a node has no opinion. */
  default_priority_fee_wei: 1_000_000n,
} as const
