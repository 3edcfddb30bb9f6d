/** Bounds of admission, for one process. */
export const ADMISSION_RULES = {
  /** Of the calls in flight, those that nobody pays for; the rest is kept for callers who pay. */
  free_in_flight: 768,
  /** Calls of one client in flight that carry a payment. */
  client_paid: 512,
  /** A client whose payments failed so often within a minute is no longer believed to pay until the minute is over. */
  failed_claims_per_minute: 30,
  failing_clients: 20_000,
  /** The event loop is late by more than this: no more free calls, but for so many that they are not what makes it late. */
  lag_ms: 200,
  lag_spares: 32,
  /** What begins in one turn of the event loop, when nobody pays and while somebody does. Large documents cost as much as dozens of calls. */
  turns: {
    calls: { most: 64, beside_payers: 4 },
    reads: { most: 64, beside_payers: 1 },
    probes: { most: 64, beside_payers: 1 },
  },
  /** Somebody who paid so lately is about to pay again. */
  payer_lately_ms: 1_000,
  /** A refusal waits so long, so that who asks again at once does not spend the time of others; so many of them wait at most. */
  refusal_hold_ms: 1_000,
  refusals_held: 2_048,
} as const
