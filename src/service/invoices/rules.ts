/** Bounds and times of invoices. */
export const INVOICE_RULES = {
  /** 1,000,000 USDC. */
  ceiling_minor: 1_000_000_000_000n,
  /** An invoice is open for 14 days, and its merchant's transfers are read for 30 more: what comes late is seen too. */
  open_s: 14 * 86_400,
  watch_more_s: 30 * 86_400,
  /** Open invoices of a merchant that it signed. */
  merchant_signed: 1_000,
  /**
   * Unsigned invoices, beyond which the oldest are evicted: of one creating network (/24, /48) and day, of all networks, and of those made by
   * calls. In the 14 days for which an invoice is open one network creates fewer than fit in all, so that it evicts no open invoice of another.
   */
  network_unsigned: 1_000,
  all_unsigned: 20_000,
  calls_unsigned: 20_000,
  client_name_chars: 120,
  memo_chars: 500,
  amount_chars: 32,
  amount_max: 1_000_000_000,
  request_key_chars: 128,
  body_bytes: 16_384,
  /** Requests of one client that write, in each process. */
  per_minute: 30,
  /** Documents (PDF) that one client may have drawn in a minute, in each process. */
  documents_per_minute: 60,
  /** What the gas wallet carries to the chain for nothing: at least so much each, and so often a day. */
  relay_minimum_minor: 1_000_000n,
  relays_daily_client: 20,
  relays_daily_network: 60,
  /** Each counted for signed and for unsigned invoices apart. */
  relays_daily_merchant: 100,
  relays_daily: 1_000,
  /** A record is stale when its merchant was not looked at for so long. */
  stale_ms: 60_000,
  /** How far clocks may differ. */
  skew_s: 120,
  /** Of one look at one merchant. */
  look_blocks: 5_000n,
  look_receipts: 100,
  payments_rechecked: 500,
  candidates: 500,
  /** Transfers of other assets that one submitted transaction is read for. */
  other_assets: 20,
  /** Gas of asking a contract wallet whether a signature is its own. */
  signature_gas: 300_000n,
  /** Of one round of the job. */
  merchants: 50,
  watch_every_ms: 4_000,
  /** Streams of events: how often an invoice that is followed is read, what keeps the line alive, and how many may follow for how long. */
  live_every_ms: 2_000,
  heartbeat_ms: 15_000,
  follow_longest_ms: 600_000,
  followers: 500,
  followers_client: 5,
} as const
