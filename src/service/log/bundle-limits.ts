/** Limits of requests for the service's part of an audit bundle; the format has further ones (src/pure/audit/bundle.ts). */
export const BUNDLE_RULES = {
  /** A request reads up to 232 proofs. */
  per_minute: 10,
  /** Maximum size of the request body in bytes: 232 entries with room. */
  body_bytes: 32_768,
} as const
