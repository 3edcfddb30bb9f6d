/** Limits of webhooks. */
export const WEBHOOK_RULES = {
  /**
   * Maximum number of subscriptions: of one account or invoice, of one network (/24, /48) and of one provider network (/16, /32) in a day, of all owners
   * that were never paid, of all. The rest is kept for accounts that were paid.
   */
  owner_subscriptions: 10,
  network_subscriptions: 50,
  provider_subscriptions: 500,
  unpaid_subscriptions: 10_000,
  subscriptions: 20_000,
  /**
   * Requests that a receiver gets in a minute, by host, registrable domain and IP address: those that it accepts with 2xx, and those that it does not,
   * once for receivers that accepted their last request and once for the others. A share of the first is kept for accounts that were paid.
   */
  rate: {
    host: { all: 300, unaccepted: 10 },
    domain: { all: 600, unaccepted: 20 },
    address: { all: 1_200, unaccepted: 30 },
    share_of_paid: 0.25,
    /** Longest wait that is given in ms, wait for an address that got enough, and number of counts that are kept. */
    address_wait_ms: 15_000,
    wait_max_ms: 600_000,
    remembered: 60_000,
  },
  /** Time in ms of failures after which a receiver must answer a challenge again, and after which a further failure ends its subscription. */
  dead_ms: 7 * 86_400_000,
  /** Maximum number of deliveries that wait for one subscription; further events are dropped and counted. */
  queued: 5_000,
  /** Maximum number of payments of before that are reported one by one when a merchant signs an invoice. */
  caught_up: 20,
  url_chars: 500,
  body_bytes: 16_384,
  /** Maximum number of requests per client and minute, in each process. */
  per_minute: 60,
  /** Maximum difference in seconds between the time of a signed subscription and the clock. */
  signed_s: 600,
  /** Maximum and usual number of deliveries in one page of the list. */
  page_max: 100,
  page: 50,
  /** Total time of one attempt in ms: name resolution, connection and response. */
  send_ms: 10_000,
  /** The response is read to its end so that the receiver is not cut off, and then discarded. */
  response: { redirects: 0, answer_bytes: 65_536, accept: '*/*' },
  /** Challenges that a receiver answers before its first event. */
  challenge: {
    /** Waiting times in seconds after each challenge of a subscription; after the last one it waits for its expiry. */
    retry_s: [5, 30, 300, 1_200, 1_800],
    /** Maximum number of challenges, with those that its owner asks for, and least time in ms before an owner asks again. */
    most: 12,
    ask_ms: 5_000,
    /** Time in ms after which a subscription without an answer expires, and for which it can be read afterwards. */
    expires_ms: 3_600_000,
    kept_ms: 86_400_000,
    /** Maximum number of challenges: by subscribing network and day, by network and receiving host in an hour, by host in an hour. */
    network_daily: 300,
    network_host_hourly: 60,
    host_hourly: 240,
    /** Maximum number of requests per client and minute that ask for a challenge, in each process. */
    asked_per_minute: 12,
    /** Maximum number of challenges at a time, and share of them for receivers that failed one. */
    concurrent: 16,
    concurrent_repeated: 8,
  },
  /** Interval of the jobs in ms, and of the one that ends and purges. */
  every_ms: 2_000,
  purge_every_ms: 600_000,
  /** Times that one round asks for subscriptions that are ready, when those before have to wait for the rate of their receivers. */
  passes: 10,
  /** Maximum number of subscriptions that are served at a time, and share of them for receivers that failed or were slow. */
  concurrent: 32,
  concurrent_slow: 16,
  /** An attempt of more than so many ms makes its receiver slow; a turn of one subscription starts no attempt after `turn_ms`. */
  slow_ms: 2_000,
  turn_ms: 10_000,
  turn_deliveries: 100,
  /** Waiting times in seconds before each further attempt: 73 hours in total, after which a delivery is dead. */
  retry_s: [2, 10, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 64_800, 82_800],
  /** From so many consecutive failures on, a receiver is paused: first for `pause_ms`, then twice as long with each failure up to `pause_max_ms`. */
  pause_failures: 3,
  pause_ms: 5_000,
  pause_max_ms: 600_000,
  /** A delivery that was not attempted often enough because its receiver was paused is dead after so many ms. */
  pending_ms: 4 * 86_400_000,
  /** Time in ms for which delivered and dead deliveries are kept. */
  delivered_kept_ms: 7 * 86_400_000,
  dead_kept_ms: 30 * 86_400_000,
  /** Maximum number of invoices whose expiry one round notes. */
  expired: 200,
} as const
