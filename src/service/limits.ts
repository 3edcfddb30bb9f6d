/**
 * Limits of requests, calls, payments and storage; the tables below have the limits of single parts. A suffix names the unit (`_bytes`,
 * `_chars`, `_ms`, `_s`, `_mb`); a name without a unit is a count. Limits of pure code are in the files of that code.
 */
export const limits = {
  /** Maximum request body of a tool call, in bytes; a tool that reads documents has the higher limit. */
  body_bytes: 1_048_576,
  document_body_bytes: 5 * 1_048_576,
  /** Maximum body, in bytes, of a caller without free calls left and without a payment. */
  unpaid_body_bytes: 65_536,
  /** Maximum body, in bytes, whose JSON is parsed on the event loop; a worker thread parses larger ones. */
  thread_body_bytes: 65_536,
  /** The same limit for a document of the preflight, whose check takes longer for each byte. */
  preflight_thread_bytes: 16_384,
  /** Maximum number of bytes of a refused body that are read and discarded before the connection is closed. */
  linger_bytes: 16 * 1_048_576,
  /** Memory for request bodies, in bytes: of the whole process, and of one client (an IPv4 address or an IPv6 /48). */
  bodies_bytes: 32 * 1_048_576,
  client_body_bytes: 16 * 1_048_576,
  /**
   * Maximum number of bodies above `unpaid_body_bytes` that are read or served simultaneously: of all clients, of them those for callers with a
   * signed payment alone, of one network (IPv4 /24, IPv6 /48), and of one client.
   */
  large_bodies: 32,
  paid_large_bodies: 8,
  network_large_bodies: 12,
  client_large_bodies: 8,
  /** Time in ms within which a large body must arrive; one larger than `large_body_rate_bytes` at the rate of one of that size. */
  large_body_ms: 10_000,
  large_body_rate_bytes: 2 * 1_048_576,
  /** Minimum transfer rate of a body in bytes per second, measured from its start, and the grace period in ms. */
  body_bytes_per_second: 1_024,
  body_grace_ms: 2_000,
  json_depth: 64,
  json_nodes: 20_000,
  /** Maximum number of JSON values for tools that read whole JSON documents. */
  document_nodes: 200_000,
  /** Maximum number of values around the input of a message that a worker thread parsed; the event loop has to rebuild them. */
  envelope_nodes: 2_000,
  /** Maximum length of the text that an identifier check reads, in characters. */
  identifier_chars: 256,
  /** Maximum length of the text of context-distill, in characters. */
  text_chars: 500_000,
  /** Maximum length of a receipt given as JSON text, in characters. */
  receipt_chars: 16_384,
  batch_items: 50,
  batch_value_chars: 20_000,
  /** Maximum length of a receipt field of another issuer, in characters. */
  receipt_field_chars: 1_024,
  free_daily: 3,
  /** Free calls per client and UTC day in a sandbox. */
  sandbox_free_daily: 1_000,
  free_daily_max: 1_000_000_000,
  /** Number of clients whose free calls one IPv6 /48 has together: the number of addresses in an IPv4 /24. */
  free_network_clients: 256,
  /** Maximum number of free calls a UTC day that read outside sources: of one network (/24, /48), of one provider network (/16, /32), of all. */
  source_reads_daily_network: 300,
  source_reads_daily_provider: 4_800,
  source_reads_daily: 20_000,
  /** Maximum wait of a graceful stop for calls in flight, in ms. */
  stop_ms: 10_000,
  /** Time in ms for which a graceful stop keeps idle connections open for requests that were already sent. */
  stop_idle_ms: 200,
  /** Timeouts of a request's headers, and of the whole request, in ms. */
  header_timeout_ms: 10_000,
  request_timeout_ms: 30_000,
  /** Interval in ms at which those timeouts are checked. */
  timeout_check_ms: 1_000,
  keep_alive_ms: 65_000,
  /** Time without traffic in either direction after which a connection is closed, in ms. */
  idle_ms: 120_000,
  header_bytes: 16_384,
  header_count: 100,
  /** Time in seconds for which browsers use only https (Strict-Transport-Security): one year. */
  hsts_s: 31_536_000,
  /**
   * Maximum number of open connections of one process, and of one network in it (an IPv4 /24, an IPv6 /48); for a further one the longest
   * idle connection is closed. A network may have more connections than one client may have calls in flight.
   */
  connections: 4_096,
  /** Time in ms for which a connection that gives way before its first request stays open unread, and how many may. */
  held_connection_ms: 1_000,
  held_connections: 4_096,
  /** Maximum number of connections that the kernel completes before the process accepts them; the system may lower it. */
  connections_backlog: 4_096,
  network_connections: 1_024,
  /** Maximum number of busy connections that are examined to find one whose peer is stalling. */
  connection_looks: 16,
  /** Maximum number of requests that wait on one connection behind the one being served. */
  pipelined_requests: 16,
  /** Maximum number of open connections of the operator port. */
  operator_connections: 64,
  /** Maximum number of waiting writes and database reads in the store of one process; a further one fails as busy. */
  store_waiting: 32_768,
  /** Maximum size of log lines that wait to be written, in bytes. */
  log_bytes: 8 * 1_048_576,
  /** Maximum number of calls in flight in one process; a further call is answered 503 immediately. */
  calls_in_flight: 1_024,
  /** Maximum number of unpaid calls of one client in flight, unless ASSAY_CLIENT_CALLS is set. */
  client_calls: 256,
  /** Threads for heavy tools, and the maximum number of jobs that wait for them. */
  heavy_workers: 2,
  heavy_queue: 32,
  /** Maximum number of waiting heavy jobs of one client network; one runs at a time. */
  heavy_client_queue: 8,
  /** Time limit of one heavy job, in ms. */
  heavy_ms: 15_000,
  /** Number of inputs of one network, paid or free, stopped after `heavy_ms` within the span in ms; then the network has to wait. */
  heavy_client_ended: 3,
  heavy_client_ended_ms: 600_000,
  heavy_memory_mb: 512,
  /** Retry-After in seconds while a source, the log or the store is down, and under overload. */
  source_retry_s: 10,
  log_retry_s: 600,
  store_retry_s: 2,
  /**
   * Circuit breaker of a PostgreSQL store: number of failures to reach the server within a window after which operations are rejected
   * immediately, and the pause between two probes.
   */
  store_breaker: { failures: 3, window_ms: 10_000, open_ms: 500, open_max_ms: 2_000 },
  overload_retry_s: 1,
  /** Maximum number of statements in one store transaction. */
  store_batch: 64,
  description_chars: 400,
  field_description_chars: 200,
  proof_summary_chars: 600,
  /** Maximum length of the headline's sentence in a proof summary, in characters. */
  proof_sentence_chars: 200,
  request_id_chars: 64,
  jsonl_line_chars: 1_048_576,
  mcp_list_bytes: 160_000,
  llms_full_bytes: 1_000_000,
  /** Maximum length of a payment header, and of the base64 text in a message, in characters. */
  payment_header_chars: 10_240,
  /** Maximum length of a payment signature in bytes; signatures of contract wallets have no fixed length. */
  payment_signature_bytes: 4_096,
  /** Time in seconds for which a quoted price stays payable (`maxTimeoutSeconds` of x402). */
  max_timeout_s: 120,
  /** Maximum number of networks of ASSAY_NETWORKS: each adds about 0.9 kB to the header of a 402 and 0.6 kB to that of a payment. */
  further_networks: 5,
  /** Interval in ms at which each of several networks is checked. */
  network_check_ms: 5_000,
  /** Maximum wait of a call for its settlement, in ms; then the answer is 202. */
  settle_wait_ms: 15_000,
  /**
   * Minimum and maximum remaining validity of an authorization, in seconds. The minimum is the longest wait for settlement plus the 6 s
   * that the reference facilitator requires.
   */
  payment_least_left_s: 21,
  payment_longest_s: 3_600,
  /** Maximum clock difference of payer and service, in seconds. */
  payment_skew_s: 5,
  /** Duration of a claim in ms, after which another process may release it. */
  claim_ms: 60_000,
  /** Time for which a stored answer can be fetched again, in ms. */
  answer_kept_ms: 24 * 3_600_000,
  /**
   * Stored answers of callers who got the brief form: maximum length of one as it is stored, number and total length of those of one client
   * network (/24, /48) and day, of those of one provider (/16, /32), and total length of all, in bytes. Answers of paid and unpaid calls are
   * counted apart.
   */
  stored_answer_bytes: 262_144,
  stored_answers_client: 1_000,
  stored_answers_client_bytes: 1_048_576,
  stored_answers_provider_bytes: 8 * 1_048_576,
  stored_answers_bytes: 256 * 1_048_576,
  /** Maximum age of a signed SIGN-IN-WITH-X challenge, in ms. */
  sign_in_ms: 5 * 60_000,
  /** Interval in ms at which a settlement of another process is polled. */
  settlement_poll_ms: 250,
  /** Maximum number of resends of one payment with a different request, per hour and client. */
  mismatches_per_hour: 10,
  /**
   * Payments whose row was lost: time in ms after the transfer in which a resend that proves nothing else is answered, their number in a day and
   * client network, and the number of claims that a process remembers.
   */
  restore_unproven_ms: 10 * 60_000,
  restores_daily_network: 100,
  remembered_claims: 10_000,
  /** Maximum number of failed verifications per client and minute. */
  failed_verifications_per_minute: 30,
  /** Maximum number of chain lookups per client and minute for payments that were refused before the chain was asked. */
  refused_lookups_per_minute: 60,
  /** Time in ms for which a payer with insufficient balance is refused without another balance lookup. */
  insufficient_remembered_ms: 10_000,
  /** Rate limit of chain requests of one process for verification: sustained per second, and burst. */
  verification_round_trips_per_second: 250,
  verification_round_trips_burst: 500,
  /** Rate limit of one process for reads of the chain and of other outside sources without a payment: sustained per second, and burst. */
  unpaid_reads_per_second: 25,
  unpaid_reads_burst: 100,
  /** Rate limit per minute of the same reads for one network (IPv4 /24, IPv6 /48), and for one provider network (/16, /32). */
  unpaid_reads_per_minute_network: 60,
  unpaid_reads_per_minute_provider: 600,
  /** Reads of accounts that proved who they are and were paid or proven here: separate rate and burst, and reads of a day beyond those of all. */
  unpaid_reads_known: { per_second: 5, burst: 25, daily: 2_000 },
  /** Requests that wait for the rate of all clients: longest wait in ms; maximum number of one network, of one provider network, of all. */
  unpaid_reads_waiting: { wait_ms: 15_000, network: 8, provider: 200, all: 1_000 },
  /**
   * Number of accepted payments that a payer made fail (cancelled, or balance spent elsewhere) after which the payer is refused, and the
   * time in ms for which each counts.
   */
  payer_acts: 2,
  payer_acts_ms: 24 * 3_600_000,
  /** Divisor of the day's gas budget that gives the maximum gas spent on such payers of one client network. */
  gas_share_parts: 20n,
  settlement_retry_s: 5,
  /** Number of blocks that settlement-history-check looks back: 48 hours at one block in two seconds. */
  history_blocks: 86_400,
  /** Maximum number of transfers that its answer lists; totals count all of them. */
  history_transfers: 200,
  // Directory of underwriters: lifetime of the cached list in one process, entries of a page, and pages kept in memory.
  directory_cache_ms: 5_000,
  directory_page: 100,
  directory_pages_kept: 64,
  /** Maximum body of a registration or a countersignature in bytes, and the maximum number of them per client and minute. */
  insurance_body_bytes: 16_384,
  insurance_writes_per_minute: 30,
  // Preflight: maximum size of the whole body, depth and number of values of the document, length of its texts and keys, and items of an
  // array.
  preflight_body_bytes: 262_144,
  preflight_depth: 64,
  preflight_nodes: 20_000,
  preflight_string_chars: 65_536,
  preflight_array_items: 5_000,
  preflight_payee_chars: 512,
  /** Maximum length of the `version` member of a preflight request, in characters. */
  preflight_version_chars: 32,
  /** Maximum number of preflights per client and minute, unless ASSAY_PREFLIGHT_PER_MINUTE is set. */
  preflight_per_minute: 60,
  /** Maximum number of clients that are counted simultaneously; a further one evicts the oldest. */
  preflight_clients: 20_000,
  // A2A tasks: maximum number of parts of a message, length of ids, tasks kept for one client and for all, and their lifetime.
  a2a_parts: 16,
  a2a_id_chars: 128,
  a2a_tasks_client: 64,
  /** Maximum number of tasks that one context lists; older ones can be read only by id. */
  a2a_tasks_context: 64,
  a2a_tasks: 100_000,
  a2a_task_ms: 24 * 3_600_000,
} as const

/**
 * Memory of one process at its worst, in MiB: each part at its bound at the same time. The manifests in deploy/ and compose.yaml take their
 * memory limit and `--max-old-space-size` from here (`test/deploy/memory.test.ts`).
 */
export const MEMORY_PLAN = {
  /** Heap of the main thread, `--max-old-space-size`. */
  heap_mb: 512,
  /** Young generation of each thread: three semi-spaces (`--max-semi-space-size=16`). */
  young_mb: 48,
  /** Extra heap that V8 grants a worker so that it can end when its heap is full. */
  worker_end_mb: 16,
  /** Request bodies that are being received. */
  bodies_mb: limits.bodies_bytes / 1_048_576,
  /** Code, stacks, native libraries, database caches, sockets, and memory that the allocator has not returned. */
  off_heap_mb: 256,
} as const

/** Memory limit of a container with one process, in MiB: the whole plan, rounded up to a multiple of 256 MiB. */
export function containerMemoryMb(): number {
  const { heap_mb, young_mb, worker_end_mb, bodies_mb, off_heap_mb } = MEMORY_PLAN
  const workers_mb = limits.heavy_workers * (limits.heavy_memory_mb + young_mb + worker_end_mb)
  return Math.ceil((heap_mb + young_mb + workers_mb + bodies_mb + off_heap_mb) / 256) * 256
}

/** Limits of requests to RPC nodes. */
export const chainLimits = {
  /** Timeout of one HTTP request, in ms. */
  attempt_ms: 2_000,
  /** Total time of one query in ms: all attempts, further endpoints, and the pause that a node requested. */
  total_ms: 6_000,
  /** Maximum decompressed size of a response, in bytes. */
  answer_bytes: 8 * 1_048_576,
  /** Maximum number of queries in one HTTP request; public nodes refuse large batches. */
  batch_items: 20,
  /** Circuit breaker: number of faults within a window after which an endpoint is not used for a while. */
  breaker: { failures: 3, window_ms: 10_000, open_ms: 5_000, open_max_ms: 60_000 },
  /** Pause in ms after a 429 without Retry-After, and the maximum pause that is honoured. */
  limited_ms: 1_000,
  limited_max_ms: 60_000,
  /** Age in ms at which a head is stale. */
  stale_ms: 30_000,
  /** Time in ms for which the highest head seen is remembered: within it, a lower head means a lagging backend. */
  head_memory_ms: 30_000,
  /** Maximum number of blocks that an endpoint may be behind another one. */
  lag_blocks: 5,
  /** Number of heads remembered for each endpoint, to distinguish a reorganisation from a lagging backend. */
  heads_kept: 64,
  /** Maximum age in ms of a head at which facts are read without looking for a newer one first. */
  head_guess_ms: 2_000,
  /** Lifetime in ms of the cached result of the availability check. */
  answers_ms: 2_000,
  /** Maximum number of requests into which one log search is split. */
  log_requests: 32,
  /** Gas limit of each call when a batch was too large for a node and is sent again: twenty answers then fit into one response. */
  lean_gas: 100_000n,
  /** Maximum time in ms by which a head may be dated after the clock; facts and lags are never measured at a later one. */
  ahead_ms: 30_000,
  /** Total time for reading the facts of one answer, in ms. */
  facts_ms: 8_000,
  /** Time in ms for which facts may still be read at a head that was seen. */
  pin_ms: 6_000,
  /** Interval in ms of probes of a live chain without traffic, and the time in ms for which a successful probe admits calls. */
  probe_every_ms: 5_000,
  probe_good_ms: 10_000,
  /** Block ranges of one log query, tried from the largest when a node refuses the range. */
  log_ranges: [10_000, 5_000, 2_000, 1_000, 500],
  /** Time in ms for which the accepted range is remembered. */
  log_range_good_ms: 60_000,
  /** Maximum number of requests of one history, of concurrent ones, and of transfers in it. */
  history_requests: 60,
  history_at_once: 4,
  history_transfers: 50_000,
  /** Number of blocks below the head at which a history ends. */
  history_behind: 2n,
  /** Rate limit of one process for reading facts: sustained per second, and burst. */
  facts_per_second: 50,
  facts_burst: 300,
  /** Priority fee in wei that is offered when a node suggests none. */
  default_priority_fee_wei: 1_000_000n,
} as const

export { BUNDLE_RULES } from '../pure/audit/bundle.ts'
export { datasetLimits, nameLimits, proofLimits, rdapLimits, REGISTER_IDS, registerLimits, screeningLimits } from './dataset-limits.ts'
export { FAUCET_RULES, SANDBOX_RPC_RULES } from './sandbox/sandbox-limits.ts'
export { TASK_LIMITS } from './task-limits.ts'
export { WEBHOOK_RULES } from './webhooks/webhook-limits.ts'

/** Limits of credits. */
export const CREDIT_RULES = {
  idempotency_key_chars: 128,
  /** Maximum number of wrong codes per client and minute, over all instances. */
  wrong_codes_per_minute: 10,
  /** Maximum number of purchase and balance requests per client and minute, in each process. */
  requests_per_minute: 60,
  /** Maximum number of debits, and of reversals, that a balance lists. */
  entries: 50,
  body_bytes: 4_096,
  /** Maximum size of a Stripe webhook notice in bytes; real ones are much smaller. */
  notice_bytes: 262_144,
  session_chars: 128,
  /** Maximum clock difference of Stripe and service, in seconds. */
  notice_tolerance_s: 300,
  checkout_retry_s: 5,
  /** One cent in minor units of USDC. */
  minor_per_cent: 10_000n,
} as const

export { INVOICE_RULES, RAIL_LIMITS } from './invoices/invoice-limits.ts'

/** Times and limits of the receipts log. */
export const LOG_RULES = {
  /** Maximum time in seconds from signing a receipt to its inclusion in the log, as published. */
  merge_s: 60,
  /** Interval in ms at which waiting entries are appended. */
  append_every_ms: 2_000,
  /** Interval in ms at which new entries are stored as waiting. */
  flush_every_ms: 100,
  /** Maximum number of entries in memory that are not stored yet; further ones are dropped and counted, and can be submitted later. */
  gathered: 20_000,
  /**
   * Maximum number of entries that one step appends, pause between two steps in ms, and maximum number of steps in one round: a step delays
   * calls that arrive meanwhile.
   */
  step_entries: 256,
  step_rest_ms: 20,
  round_steps: 64,
  /** Time in ms after a failed read of the store in which no checkpoint is signed: other instances compare the store with what they published. */
  settle_ms: 6_000,
  /** Maximum number of receipts that one client may submit per minute, and of checkpoints. */
  per_minute: 60,
  /** Maximum size of either request body in bytes: whole answers, and checkpoints with sixteen signatures of the longest kind. */
  body_bytes: 147_456,
} as const

/** Limits of admission, for one process. */
export const ADMISSION_RULES = {
  /** Maximum number of calls in flight without a verified payment; the remaining slots are reserved for payers. */
  free_in_flight: 768,
  /** Maximum number of calls of one client in flight with a verified payment. */
  client_paid: 512,
  /** Maximum number of calls in flight with an unverified payment: of one client, and of all. Others wait with the free calls. */
  client_unverified: 8,
  unverified_in_flight: 128,
  /**
   * Number of failed payments within a minute after which further payments of the client wait with the free calls until the minute ends,
   * and the maximum number of clients that are counted.
   */
  failed_claims_per_minute: 30,
  failing_clients: 20_000,
  /**
   * Event-loop delay in ms above which no more free calls start, and the number of free calls in flight below which they start
   * nevertheless, since so few cannot cause the delay.
   */
  lag_ms: 200,
  lag_spares: 32,
  /**
   * Starts within one turn of the event loop: `most`, or `while_paying` while a payer is active, and none after `slice_ms` of measured
   * work. After its slice a lane rests for `rest` times as long while calls are in flight.
   */
  lanes: {
    calls: { most: 64, while_paying: 4, slice_ms: 10, rest: 0 },
    intake: { most: 16, while_paying: 16, slice_ms: 10, rest: 0 },
    reads: { most: 64, while_paying: 1, slice_ms: 4, rest: 2 },
    probes: { most: 64, while_paying: 2, slice_ms: 4, rest: 1 },
  },
  /** Half-life in ms of a client's measured work. */
  cost_half_life_ms: 1_000,
  /** Maximum number of clients whose measured work is remembered. */
  cost_clients: 20_000,
  /** Time in ms after the end of the last paid call for which further payments are expected. */
  payer_lately_ms: 1_000,
  /**
   * Delay of a refusal in ms, so that a client which retries in a loop does not use the time of others, and the maximum number of delayed
   * refusals.
   */
  refusal_hold_ms: 1_000,
  refusals_held: 2_048,
} as const

/** Limits of requests to price sources. */
export const priceLimits = {
  /** Timeout in ms of one request, including connection and body. */
  attempt_ms: 2_000,
  /** Maximum response size in bytes; a response about one pair has some hundred. */
  answer_bytes: 65_536,
  /** Maximum age of a price in ms, by the source's time and by the time of the request. */
  oldest_ms: 60_000,
  /** Maximum time in ms by which a source's clock may be ahead. */
  ahead_ms: 10_000,
  /** Time in ms for which a pair without a price is not requested again. */
  refused_ms: 5_000,
  /**
   * Circuit breaker: failures within the window after which a source is not used, and for how long; after a rate-limit response it is not
   * used for `limited_open_ms`, starting immediately.
   */
  breaker: { failures: 3, window_ms: 300_000, open_ms: 30_000, open_max_ms: 30_000 },
  limited_open_ms: 60_000,
} as const

/** EURC as a means of payment: the rate in US dollars that may be used, and how old it may be. */
export const EURC_LIMITS = {
  lowest: { numerator: 8n, denominator: 10n },
  highest: { numerator: 15n, denominator: 10n },
  /** By the oldest quote of the rate, in ms; clocks of sources may be ahead by `ahead_ms`. */
  oldest_ms: 300_000,
  ahead_ms: 60_000,
  refresh_ms: 20_000,
  /** Maximum difference of a payment from the amount that this instance offered, as a share: other instances read the rate at other times. */
  tolerance: { numerator: 5n, denominator: 1_000n },
} as const

/** Interval in ms at which gas is compared with prices, and the price of a coin is read; its age until it counts as old, and as unknown. */
export const GAS_WATCH_LIMITS = { check_ms: 10_000, coin_ms: 60_000, coin_fresh_ms: 300_000, coin_kept_ms: 86_400_000 } as const

/** Rules of payment channels (scheme batch-settlement). */
export const CHANNEL_RULES = {
  /** Delay in seconds of a withdrawal without this service: how long it may be down without losing a voucher. */
  withdraw_delay_s: 86_400,
  /** Deposit that the terms propose, and the smallest that is accepted, as multiples of the price: a deposit costs gas. */
  deposit_prices: 10n,
  least_deposit_prices: 3n,
  /** Age in ms at which the mirrored state of a channel is read again before a voucher is taken. */
  fresh_ms: 300_000,
  /**
   * Age in ms at which the job reads a channel with open charges again, and one without that was charged within `watch_used_ms`; the interval
   * of the job, and channels read in one run.
   */
  watch_ms: 60_000,
  watch_idle_ms: 3_600_000,
  watch_used_ms: 172_800_000,
  watch_every_ms: 10_000,
  watch_channels: 200,
  /** Open charges of all channels at which they are claimed, and the age in ms at which smaller ones are. */
  claim_minor: 5_000_000n,
  claim_every_ms: 3_600_000,
  /** Channels in one claim. */
  claim_items: 50,
  /** Interval in ms at which claims and refunds are searched, and the pause after a claim that changed nothing. */
  search_every_ms: 500,
  retry_ms: 60_000,
  /** Calls that wait for their turn on one channel. */
  waiting: 64,
  /** Channels whose state a process remembers. */
  remembered: 4_096,
  /** Maximum time in ms for which the chain is read until it shows a deposit whose receipt was seen. */
  deposit_seen_ms: 5_000,
  /** Deposits and refunds of one payer, and of one network, in a UTC day. */
  deposits_daily: 50,
  deposits_daily_network: 500,
  refunds_daily: 20,
  refunds_daily_network: 200,
  /** Age in ms at which a channel without a deposit is forgotten. */
  empty_ms: 86_400_000,
  /** Time in ms since the last charge for which the client network of a channel is kept. */
  network_kept_ms: 2_592_000_000,
} as const
