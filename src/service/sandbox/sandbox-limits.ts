/** Limits of the faucet, by UTC day. */
export const FAUCET_RULES = {
  /** Amounts that one address gets once a day: minor units of the tokens, wei of ether. */
  amounts: { usdc: 100_000_000n, eurc: 100_000_000n, eth: 10n ** 16n },
  /** Maximum number of requests of a day that give something: of one client (IPv4 address, IPv6 /64), of its network (/24, /48), and of all. */
  client_daily: 50,
  network_daily: 200,
  all_daily: 5_000,
  /** Maximum number of requests per minute and client, also of those that give nothing. */
  per_minute: 30,
  /** Maximum number of waiting requests, of one client and of all; one runs at a time. */
  client_queue: 8,
  queue: 64,
  retry_s: 2,
  body_bytes: 1_024,
} as const

/** Limits of the public JSON-RPC of a sandbox's chain. */
export const SANDBOX_RPC_RULES = {
  body_bytes: 131_072,
  json_depth: 12,
  json_nodes: 4_000,
  /** Maximum number of calls in one batch. */
  batch: 20,
  /** Maximum number of calls per minute: of one client, and of its network (/24, /48). */
  client_per_minute: 1_200,
  network_per_minute: 3_000,
  /** Maximum number of requests in flight: of one client, and of all. */
  client_in_flight: 8,
  in_flight: 32,
  /** Number of calls that the node works on at the same time. */
  at_node: 4,
  /** Timeout in ms of one request to the node, and maximum size of its answer in bytes. */
  attempt_ms: 5_000,
  answer_bytes: 4 * 1_048_576,
  /** Maximum gas of a simulated call. */
  call_gas: 10_000_000n,
  /** Maximum number of blocks of one log query. */
  log_blocks: 10_000n,
  retry_s: 1,
} as const
