import type { RegisterId } from '../ports/registers.ts'

/** Limits of datasets and of reading their feeds. */
export const datasetLimits = {
  /** Maximum size of a snapshot's text in bytes. */
  snapshot_bytes: 33_554_432,
  /** Interval in ms at which each process looks for a newly activated snapshot. */
  poll_ms: 10_000,
  /** Interval in ms at which a folder, or a publisher's server, is read. */
  folder_every_ms: 60_000,
  server_every_ms: 3_600_000,
  /** Total time in ms of reading one document, and number of redirects. */
  read_ms: 300_000,
  redirects: 3,
  accept: 'application/xml, text/xml;q=0.9, application/json;q=0.9, text/plain;q=0.7, application/octet-stream;q=0.5',
  /** Maximum size of one element of a publisher's document, in characters. */
  element_chars: 4_194_304,
  /** Number of stored snapshots that are listed. */
  listed: 200,
  /** Number of texts that a process caches for readers. */
  cached_texts: 4,
} as const

/** Live registers, as ASSAY_REGISTERS names them. */
export const REGISTER_IDS = ['vies', 'gleif', 'companies-house'] as const satisfies readonly RegisterId[]

/** Limits of requests to live registers (VIES, GLEIF, Companies House), for one process. */
export const registerLimits = {
  /** Total time in ms that an answer waits for its register: budgets, name resolution, connection and response. */
  lookup_ms: 2_500,
  redirects: 0,
  accept: 'application/vnd.api+json, application/json',
  /** Maximum response size in bytes; records have one to fifteen thousand. */
  answer_bytes: 131_072,
  name_chars: 300,
  address_chars: 500,
  status_chars: 60,
  /**
   * Requests per minute to each register, and of them those of one client network (IPv4 /24, IPv6 /48). GLEIF allows 60 a minute, Companies
   * House 600 in five minutes; VIES publishes no number. A minute here may end where one there begins, so half of it is used.
   */
  per_minute: { vies: 30, gleif: 30, 'companies-house': 60 },
  client_per_minute: { vies: 10, gleif: 10, 'companies-house': 20 },
  /** Cache lifetime in ms of a record, and of the answer that there is none; number of cached answers. */
  found_ms: 3_600_000,
  not_found_ms: 300_000,
  remembered: 5_000,
  /** Circuit breaker of each register, and the pause in ms after a rate-limit response: without Retry-After, and the longest. */
  breaker: { failures: 5, window_ms: 60_000, open_ms: 30_000, open_max_ms: 300_000 },
  limited_ms: 60_000,
  limited_max_ms: 600_000,
} as const

/** Limits of the screening of names by an engine of the operator. */
export const screeningLimits = {
  /** Total time in ms of the requests for one name. */
  search_ms: 5_000,
  /** Maximum response size in bytes. */
  answer_bytes: 4_194_304,
  /** Least score of a possible match. Watchman 0.52 gives an equal name alone 0.81; at 0.7 all of 80 listed names were found, and 4 of 40 others. Of yente its default. */
  threshold: { watchman: 0.7, yente: 0.7 },
  /** Age in days of a list after which "no match" is not relied on, as for addresses. */
  list_days: 30,
  /** Number of matches, of lists, and of texts of one match; length of a text. */
  matches: 10,
  lists: 40,
  texts: 20,
  text_chars: 300,
  /** Circuit breaker of the engine. */
  breaker: { failures: 5, window_ms: 60_000, open_ms: 10_000, open_max_ms: 60_000 },
} as const

/** Limits of requests to an RDAP registry. */
export const rdapLimits = {
  /** Total time in ms: name resolution, connections, redirects and response. */
  lookup_ms: 1_500,
  redirects: 3,
  accept: 'application/rdap+json, application/json;q=0.5',
  /** Maximum response size in bytes; a registry's response has about ten thousand. */
  answer_bytes: 262_144,
  /** Circuit breaker: consecutive failures after which a registry is not used, and for how long. */
  breaker: { failures: 5, window_ms: 60_000, open_ms: 30_000, open_max_ms: 30_000 },
  breakers: 1_000,
  /** Cache lifetime in ms, and number of cached registrations; a date changes only when a lapsed domain is registered again. */
  remembered_ms: 3_600_000,
  remembered: 2_000,
} as const

/** Limits of reading the file by which a domain proves an underwriter. A redirect is refused: it could lead to a file of another domain. */
export const proofLimits = {
  read_ms: 2_000,
  redirects: 0,
  accept: 'application/json',
  answer_bytes: 16_384,
  /** Cache lifetime in ms, and number of cached files. */
  remembered_ms: 10_000,
  remembered: 1_000,
} as const

/** Limits of resolving host names that callers give. */
export const nameLimits = {
  /** Time in ms after which a query is cancelled. */
  query_ms: 2_000,
  /** Maximum number of queries that run at the same time, and of those that one party caused. */
  in_flight: 4,
  party_in_flight: 1,
  /** Maximum number of waiting queries, and of those of one party. */
  waiting: 256,
  party_waiting: 16,
  /** Time in ms for which a domain whose name servers did not answer is not asked again, and the number of domains remembered. */
  silent_ms: 60_000,
  silent_kept: 4_096,
  /** Hosts of the operator: time in ms for which the last address is used when its name servers fail, number kept, and wait in ms for an answer. */
  address_kept_ms: 24 * 3_600_000,
  addresses_kept: 256,
  slow_ms: 2_000,
} as const
