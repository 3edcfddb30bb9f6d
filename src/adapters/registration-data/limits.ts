/** Bounds of asking a registry. */
export const rdapLimits = {
  /** Names, connections, redirects and answer together. */
  lookup_ms: 1_500,
  redirects: 3,
  accept: 'application/rdap+json, application/json;q=0.5',
  /** A registry's answer has some ten thousand bytes. */
  answer_bytes: 262_144,
  /** Failures in a row after which a registry is left alone, and for how long. */
  breaker: { failures: 5, window_ms: 60_000, open_ms: 30_000, open_max_ms: 30_000 },
  breakers: 1_000,
  /** A date of registration stays what it is; a new one appears when the domain changes hands after a lapse. */
  remembered_ms: 3_600_000,
  remembered: 2_000,
} as const

/** Bounds of reading the file by which a domain proves an underwriter. A redirect is refused: it could lead to a file of another domain. */
export const proofLimits = {
  read_ms: 2_000,
  redirects: 0,
  accept: 'application/json',
  answer_bytes: 16_384,
  /** A file is read again after this time. */
  remembered_ms: 10_000,
  remembered: 1_000,
} as const
