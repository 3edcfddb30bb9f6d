/** Limits and times of invoices. */
export const INVOICE_RULES = {
  /** Days after the end of an invoice for which its personal details are kept: a business year and the month in which it is closed. */
  retention_days: 400,
  /** Maximum amount of an invoice in minor units: 1,000,000 USDC. */
  ceiling_minor: 1_000_000_000_000n,
  /** Time in seconds for which an invoice is open if it names no due date, and for which late payments to its merchant are watched afterwards. */
  open_s: 14 * 86_400,
  /** Longest due date in days. Deposits, authorizations and transfers are watched until it and `watch_more_s` are over. */
  due_days_max: 90,
  watch_more_s: 30 * 86_400,
  /** Maximum number of open invoices that one merchant has signed. */
  merchant_signed: 1_000,
  /**
   * Maximum number of unsigned invoices, above which the oldest are evicted: created by one network (/24, /48) in a day, by all networks,
   * and by calls. In 14 days, as long as an invoice without a due date is open, one network creates fewer than the total limit, so that
   * it evicts no open invoice of another network; one with a later due date is safe after that only once its merchant signed it.
   */
  network_unsigned: 1_000,
  all_unsigned: 20_000,
  calls_unsigned: 20_000,
  client_name_chars: 120,
  memo_chars: 500,
  order_number_chars: 64,
  return_url_chars: 500,
  amount_chars: 32,
  amount_max: 1_000_000_000,
  request_key_chars: 128,
  body_bytes: 16_384,
  /** Maximum number of writes without a valid signature of the merchant per client and minute, of wrong signatures, and of payments, in each process. */
  per_minute: 30,
  /** Maximum number of signed writes of a merchant per minute, in each process, unless ASSAY_MERCHANT_WRITES_PER_MINUTE is set; a statement counts several. */
  merchant_per_minute: 300,
  statement_writes: 5,
  /** Maximum number of signed writes per minute, in each process, of all merchants in a network (/24, /48) that were never paid here. */
  network_new_per_minute: 300,
  /**
   * Maximum number of invoices a UTC day that merchants sign which were never paid here on the chain: from one network (/24, /48), from one
   * provider network (/16, /32), and from all. A network that has used up to `new_signed_small` of them uses the whole of the wider budgets;
   * others leave half of them to such networks.
   */
  new_signed_network: 500,
  new_signed_provider: 2_000,
  new_signed_all: 20_000,
  new_signed_small: 20,
  /** Time in ms for which further requests of a client in the name of a merchant whose signature it sent count for that merchant, and the number kept. */
  proof_ms: 600_000,
  proofs_remembered: 10_000,
  /** Maximum number of requests to write, and of statements, per client and minute, which bounds the reading of bodies. */
  requests_per_minute: 10_000,
  statements_per_minute: 120,
  /** Length of a page of a merchant's list, at most, and of one that names no length. */
  list_page_max: 100,
  list_page: 50,
  /** Maximum number of pages of lists per client and minute, in each process. */
  lists_per_minute: 60,
  /** Maximum difference between the signature of a list and the time of the service, and validity of the token for further pages, in seconds. */
  list_signed_s: 600,
  list_token_s: 8 * 3_600,
  /** Maximum number of PDF documents per client and minute, in each process. */
  documents_per_minute: 60,
  /** Free relaying to the chain by the gas wallet: minimum amount in minor units, and maximum number of payments per day. */
  relay_minimum_minor: 1_000_000n,
  relays_daily_client: 20,
  relays_daily_network: 60,
  relays_daily_provider: 200,
  /** Maximum number per merchant and day; signed and unsigned invoices are counted separately. */
  relays_daily_merchant: 100,
  relays_daily: 1_000,
  /** Time in ms since the last look at the merchant's transfers after which a record is stale. */
  stale_ms: 60_000,
  /** Maximum clock difference, in seconds. */
  skew_s: 120,
  /** Limits of one look at one merchant: blocks, receipts, payments rechecked, and candidate invoices. */
  look_blocks: 5_000n,
  look_receipts: 100,
  payments_rechecked: 500,
  candidates: 500,
  /**
   * Deposit addresses of a merchant that one look reads, more than the limits on invoices allow to be open, and the number in one page and one log
   * search: half of what geth accepts for one position of a filter (1,000), in a request of 36 kB.
   */
  deposits_watched: 50_000,
  deposits_page: 500,
  /** Deposits of an invoice after which only those of a hundredth of its amount and more are recorded. */
  small_deposits: 100,
  small_deposit_parts: 100n,
  /** Sweeps by the gas wallet: minimum deposit in minor units, deposits in a transaction, and maximum number of deposits a day. */
  sweep_minimum_minor: 1_000_000n,
  sweep_items: 50,
  sweeps_daily: 1_000,
  sweeps_daily_merchant: 100,
  /**
   * Largest shares of the day's sweeps and relays, as one of so many parts: of the network (/24, /48) that created the invoices, and of the
   * address that pays. Half of the budgets that many share is kept for amounts from `sponsored_large_minor`.
   */
  sponsored_network_parts: 5,
  sponsored_payer_parts: 10,
  sponsored_large_minor: 10_000_000n,
  /**
   * Relays of payers and merchants that are known, by a paid call or by an invoice that was paid so many seconds ago: all others have one part of so
   * many of the day together, and of the rest known ones have all but one part of so many for amounts below `sponsored_large_minor`.
   */
  known_merchant_s: 7 * 86_400,
  relay_new_parts: 2,
  relay_known_small_parts: 4,
  /** Days for which the network that created an invoice has the same keyed hash: its share does not grow with each day of preparation. */
  creator_days: 30,
  /** The gas wallet sweeps while at least one part of so many of the day's gas budget is left for payments. */
  sweep_gas_parts: 2n,
  /** Interval of the search for deposits to sweep in ms, and the pause after an attempt, which doubles while it moves nothing. */
  sweep_every_ms: 5_000,
  sweep_pause_ms: 60_000,
  /** Maximum number of transfers of other assets that are read from one submitted transaction. */
  other_assets: 20,
  /** Gas limit of the ERC-1271 signature check of a contract wallet. */
  signature_gas: 300_000n,
  /** Additional gas where the wallet is not deployed yet (ERC-6492). */
  deployment_gas: 3_000_000n,
  /** Interval of the rounds of the watch in ms. */
  watch_every_ms: 4_000,
  /**
   * Limits of one round: log searches of `deposits_page` addresses, and those of them that are left to merchants that were never paid; merchants with
   * payments in blocks that are not final; merchants that are read before they are due where searches are free; and failures of the chain, after
   * which the round ends.
   */
  round_searches: 30,
  round_searches_new: 10,
  round_unsettled: 500,
  round_spare: 1_500,
  round_faults: 16,
  /** Merchants whose transfers are searched together, and deposit addresses of them that do not count as too many for it. */
  group_merchants: 250,
  group_deposits: 5_000,
  /** Longest pause between looks at a merchant without a new payment: one that was paid, any other, and one whose transfers are too many for a look. */
  wait_proven_ms: 30_000,
  wait_new_ms: 600_000,
  wait_crowded_ms: 3_600_000,
  /** Open invoices of a merchant for each one that was paid on the chain, up to which it is looked at before merchants that only signed. */
  proven_open: 20,
  /** Invoices that one run of the job deletes, and days for which a short row of each deleted invoice is kept. */
  purged_together: 20_000,
  purged_kept_days: 1_095,
  /** Event streams: interval of reads, interval of heartbeats, maximum duration. */
  live_every_ms: 2_000,
  heartbeat_ms: 15_000,
  follow_longest_ms: 600_000,
  /**
   * Maximum number of event streams in each process: in all, of one client, of one network (/24, /48), of one provider (/16, /32), and the part
   * of all that is kept for invoices of merchants that were paid before.
   */
  followers: 500,
  followers_client: 5,
  followers_network: 20,
  followers_provider: 80,
  followers_kept: 100,
} as const

/** Limits of one run that matches bank entries to invoices; each entry takes some hundred bytes of memory. */
export const RAIL_LIMITS = {
  invoices: 200_000,
  entries: 200_000,
  unmatched_shown: 1_000,
  page_rows: 500,
  key_chars: 80,
  /** Statement that a merchant sends: characters, creditor references that are looked up, and unmatched entries and findings that are listed. */
  upload_chars: 1_048_576,
  upload_references: 1_000,
  upload_shown: 50,
  /** Statements per client and minute, in each process. */
  uploads_per_minute: 10,
} as const
