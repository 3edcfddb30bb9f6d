/** Every bound of the service, in one place. Names end in the unit. */
export const limits = {
  /** Largest request body of a tool call; document tools have their own. */
  body_bytes: 1_048_576,
  document_body_bytes: 5 * 1_048_576,
  /** Bodies beyond this are read only for a caller who has allowance left or brings a payment. */
  unpaid_body_bytes: 65_536,
  /** Longer bodies are read in a worker thread: their JSON may take longer than the event loop may be blocked. */
  thread_body_bytes: 65_536,
  /** The same for a document to check, which costs more by its length. */
  preflight_thread_bytes: 16_384,
  /** What is read and thrown away of a refused body before the connection is closed. */
  linger_bytes: 16 * 1_048_576,
  /** Memory of all request bodies that this process holds, and of those of one client: an IPv4 address or an IPv6 /48. */
  bodies_bytes: 32 * 1_048_576,
  client_body_bytes: 16 * 1_048_576,
  /** Bodies beyond the unpaid bound that are read or served at once: of all clients, and of one. */
  large_bodies: 32,
  client_large_bodies: 8,
  /** A large body that takes longer may lose its slot to another client. */
  large_body_ms: 10_000,
  /** Least rate of a body, measured from its start less a time of grace. */
  body_bytes_per_second: 1_024,
  body_grace_ms: 2_000,
  json_depth: 64,
  json_nodes: 20_000,
  /** For tools that read whole JSON documents. */
  document_nodes: 200_000,
  /** Values around the input of a message that a worker thread has read: what the event loop has to make again. */
  envelope_nodes: 2_000,
  /** Longest text that an identifier check reads. */
  identifier_chars: 256,
  /** Longest text of context-distill. */
  text_chars: 500_000,
  /** A receipt given as JSON text. */
  receipt_chars: 16_384,
  batch_items: 50,
  batch_value_chars: 20_000,
  /** Receipt fields of other issuers are read up to this length. */
  receipt_field_chars: 1_024,
  free_daily: 3,
  /** In a sandbox, where whoever tries the service makes many. */
  sandbox_free_daily: 1_000,
  free_daily_max: 1_000_000_000,
  /** Clients whose free calls one IPv6 /48 has together: as many as there are addresses in an IPv4 /24. */
  free_network_clients: 256,
  /** Free calls a day that read sources: of one wider network, and of all callers. Paid ones are not counted. */
  source_reads_daily_network: 300,
  source_reads_daily: 20_000,
  /** Longest wait of a graceful stop for calls in flight. */
  stop_ms: 10_000,
  /** How long it leaves idle connections open for what is on its way. */
  stop_idle_ms: 200,
  /** Longest time a client may take to send headers, and a whole request. */
  header_timeout_ms: 10_000,
  request_timeout_ms: 30_000,
  /** How often those times are looked at. */
  timeout_check_ms: 1_000,
  keep_alive_ms: 65_000,
  /** A connection on which nothing moves for so long, in either direction, is closed: nobody reads what was asked for. */
  idle_ms: 120_000,
  header_bytes: 16_384,
  header_count: 100,
  /** How long a browser that saw this service over https asks for it over https alone: a year. */
  hsts_s: 31_536_000,
  /**
   * Open connections of one process, and of one network in it (an IPv4 /24, an IPv6 /48); beyond them the longest idle one makes room. A network
   * may have more of them than one client may have calls in flight.
   */
  connections: 4_096,
  /** A connection that gives way before its first request is held unread for this long, unless so many are held. */
  held_connection_ms: 1_000,
  held_connections: 4_096,
  /** Connections that the kernel completes before the process accepts them; fewer where the system allows fewer. */
  connections_backlog: 4_096,
  network_connections: 1_024,
  /** Busy connections that are looked at to find one that its peer stalls. */
  connection_looks: 16,
  /** Requests that wait on one connection behind the one that is served. */
  pipelined_requests: 16,
  /** Open connections of the operator port. */
  operator_connections: 64,
  /** Writes, and reads of a database, that wait in the store of one process; beyond it the store says that it is busy. */
  store_waiting: 32_768,
  /** Lines of the log that wait to be written. */
  log_bytes: 8 * 1_048_576,
  /** Calls of one process in flight at once; beyond it a call is answered 503 at once. */
  calls_in_flight: 1_024,
  /** Calls of one client in flight that nobody pays for, unless a setting says otherwise. */
  client_calls: 256,
  /** Threads for heavy tools, what may wait for them, and what one input may take. */
  heavy_workers: 2,
  heavy_queue: 32,
  /** Heavy jobs of one client network that wait; one runs at a time. */
  heavy_client_queue: 8,
  heavy_ms: 15_000,
  /** Inputs of one client network that may take more than that within such a span, paid or free; it then has to wait. */
  heavy_client_ended: 3,
  heavy_client_ended_ms: 600_000,
  heavy_memory_mb: 512,
  /** What a caller is told to wait when a source, or the store, is down. */
  source_retry_s: 10,
  store_retry_s: 2,
  overload_retry_s: 1,
  /** Statements that one store transaction holds. */
  store_batch: 64,
  description_chars: 400,
  field_description_chars: 200,
  proof_summary_chars: 600,
  /** Characters of the headline's sentence in a proof summary. */
  proof_sentence_chars: 200,
  request_id_chars: 64,
  jsonl_line_chars: 1_048_576,
  mcp_list_bytes: 262_144,
  llms_full_bytes: 1_000_000,
  /** Longest payment header; also of the base64 text in a message. */
  payment_header_chars: 8_192,
  /** Signatures of contract wallets are as long as they like up to here. */
  payment_signature_bytes: 4_096,
  /** What terms promise: a quoted price stays payable for so long. */
  max_timeout_s: 120,
  /** A call waits so long for its settlement, then answers 202. */
  settle_wait_ms: 15_000,
  /** An authorization must leave the 6 s of the reference facilitator beyond the longest wait for settlement. */
  payment_least_left_s: 21,
  payment_longest_s: 3_600,
  /** How far the clocks of payer and service may differ. */
  payment_skew_s: 5,
  /** A claim may run so long before others may release it. */
  claim_ms: 60_000,
  /** A stored answer can be fetched again for so long. */
  answer_kept_ms: 24 * 3_600_000,
  /** Age up to which a signed SIGN-IN-WITH-X challenge is accepted. */
  sign_in_ms: 5 * 60_000,
  /** How often a settlement that another process works on is looked at. */
  settlement_poll_ms: 250,
  /** Resends of one payment with another request: so many an hour, for one client. */
  mismatches_per_hour: 10,
  /** Failed verifications of one client. */
  failed_verifications_per_minute: 30,
  /** A payer that held too little is not looked up again for so long. */
  insufficient_remembered_ms: 10_000,
  /** What one process may ask of the chain to verify payments: sustained, and at once after a quiet time. */
  verification_round_trips_per_second: 250,
  verification_round_trips_burst: 500,
  /** Reads of the chain and of other outside sources for requests without a payment: sustained, and after a quiet time, of one process. */
  unpaid_reads_per_second: 25,
  unpaid_reads_burst: 100,
  /** The same of one network (IPv4 /24, IPv6 /48) in a minute. */
  unpaid_reads_per_minute_network: 60,
  /** Accepted payments that a payer made fail (cancelled, drained) at which it is shut out, and for how long they count. */
  payer_acts: 2,
  payer_acts_ms: 24 * 3_600_000,
  /** One of so many parts of the day's gas may be spent on such payers of one client network. */
  gas_share_parts: 20n,
  settlement_retry_s: 5,
  /** Blocks that settlement-history-check looks back: 48 hours at one block in two seconds. */
  history_blocks: 86_400,
  /** Transfers that its answer lists; totals count them all. */
  history_transfers: 200,
  // Directory of underwriters: longest use of the cached list in one process, entries of a page, and pages kept in memory.
  directory_cache_ms: 5_000,
  directory_page: 100,
  directory_pages_kept: 64,
  // Preflight: the whole body; depth and values of the document; its texts and keys; the items of any array.
  preflight_body_bytes: 262_144,
  preflight_depth: 64,
  preflight_nodes: 20_000,
  preflight_string_chars: 65_536,
  preflight_array_items: 5_000,
  preflight_payee_chars: 512,
  /** Characters of the version that a caller of the preflight states. */
  preflight_version_chars: 32,
  /** Documents that one client may send in a minute, unless a setting says otherwise. */
  preflight_per_minute: 60,
  /** Clients that are counted at once; beyond it the one that came first is forgotten. */
  preflight_clients: 20_000,
  // Tasks of the agent protocol: parts of a message, ids, tasks kept for one client and for all, and for how long.
  a2a_parts: 16,
  a2a_id_chars: 128,
  a2a_tasks_client: 64,
  /** Tasks that one context lists; older ones are found by their ids alone. */
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
  /** What V8 adds to a worker's heap so that it can end when the heap is full. */
  worker_end_mb: 16,
  /** Request bodies that are being read. */
  bodies_mb: limits.bodies_bytes / 1_048_576,
  /** Code, stacks, native libraries, database caches, sockets, and what the allocator has not returned. */
  off_heap_mb: 256,
} as const

/** Memory limit of a container with one process: the whole plan, rounded up to 256 MiB. */
export function containerMemoryMb(): number {
  const { heap_mb, young_mb, worker_end_mb, bodies_mb, off_heap_mb } = MEMORY_PLAN
  const workers_mb = limits.heavy_workers * (limits.heavy_memory_mb + young_mb + worker_end_mb)
  return Math.ceil((heap_mb + young_mb + workers_mb + bodies_mb + off_heap_mb) / 256) * 256
}
