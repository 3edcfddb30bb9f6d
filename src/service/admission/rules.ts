/** Bounds of admission, for one process. */
export const ADMISSION_RULES = {
  /** Calls in flight that no verified payment covers; the remaining slots are reserved for payers. */
  free_in_flight: 768,
  /** Calls of one client in flight with a verified payment. */
  client_paid: 512,
  /** Calls in flight whose payment is present but not yet verified: of one client, and of all. Further ones wait with the free calls. */
  client_unverified: 8,
  unverified_in_flight: 128,
  /** Failed payments within a minute after which further payments of the client wait with the free calls until the minute ends. */
  failed_claims_per_minute: 30,
  failing_clients: 20_000,
  /** Event-loop delay beyond which no more free calls start, except for a few that cannot be its cause. */
  lag_ms: 200,
  lag_spares: 32,
  /**
   * Starts within one turn of the event loop: at most so many, fewer while somebody pays, none after `slice_ms` of measured work. After its
   * slice a lane rests for `rest` times as long while calls are in flight.
   */
  lanes: {
    calls: { most: 64, while_paying: 4, slice_ms: 10, rest: 0 },
    intake: { most: 16, while_paying: 16, slice_ms: 10, rest: 0 },
    reads: { most: 64, while_paying: 1, slice_ms: 4, rest: 2 },
    probes: { most: 64, while_paying: 2, slice_ms: 4, rest: 1 },
  },
  /** A client's measured work counts half after this time. */
  cost_half_life_ms: 1_000,
  /** Clients whose measured work is remembered. */
  cost_clients: 20_000,
  /** After its last verified payment a payer is expected to pay again for this long. */
  payer_lately_ms: 1_000,
  /** Delay of a refusal, so that a client which retries in a loop does not use the time of others; at most so many are delayed. */
  refusal_hold_ms: 1_000,
  refusals_held: 2_048,
} as const
