import type { WebhookEvent } from './webhooks.ts'

/** An entry of the directory of underwriters; one for each address. The store never looks into `entry`. */
export interface UnderwriterRow {
  /** 0x-prefixed lower-case hex. */
  address: string
  /** Hash of the entry that the underwriter signed. */
  entry_hash: string
  /** Canonical JSON text of the signed entry. */
  entry: string
  /** When it was signed and until when it holds, in seconds since 1970. */
  issued_s: number
  valid_until_s: number
  /** When its address was read in a file of the domain of its terms, in seconds since 1970; null for an unproven entry. */
  proven_s: number | null
  /** Source of the file: `https`, or `fixed_sample` in a sandbox; null for an unproven entry. */
  proof_source: string | null
  /** Registrable domain of its terms. */
  domain: string
  /** Keyed hash of the network that registered it; changes every day. */
  network: string
  /** The same of its provider's network (/16, /32). */
  provider: string
  /** End of its place in the directory, in seconds since 1970; 0 once the operator removed it. */
  listed_until_s: number
}

/** Entries that are listed at the same time. */
export interface DirectoryBounds {
  entries: number
  /** Unproven entries, of all networks and of one. */
  unproven: number
  unproven_network: number
  /** Proven entries of one registrable domain. */
  proven_domain: number
}

/** `older`: the address has a later entry, or this one has left the directory. The last four name the bound that is reached. */
export type Registered = 'registered' | 'unchanged' | 'older' | 'full' | 'unproven_full' | 'network_full' | 'domain_full'

/** A certificate as it was registered. The store never looks into `certificate`. */
export interface PolicyRow {
  policy_id: string
  underwriter: string
  /** Canonical JSON text, without the signature of the underwriter. */
  certificate: string
  /** Null until the underwriter countersigned. */
  underwriter_signature: string | null
  /** JSON text of what the registrar attests of the signature of a contract wallet; null for one of a key. */
  underwriter_attestation: string | null
}

/** Columns that the countersignature adds to a policy. */
export type Countersignature = Pick<PolicyRow, 'underwriter_attestation'> & { underwriter_signature: string }

export interface InsuranceStore {
  /**
   * Keeps the entry in the place of an earlier one of its address. The same entry again changes nothing, except that a proof is kept.
   * Entries that left the directory make room, and for a proven entry an unproven one does; for an unproven one of a network that has
   * none, one of the network with the most does. `networks` are the hashes of the client's
   * network on the days for which unproven entries are listed. Atomic and durable before it resolves.
   */
  register(row: UnderwriterRow, networks: readonly string[], bounds: DirectoryBounds, now_s: number): Promise<Registered>
  /** Takes an entry out of the directory; only an entry issued later comes in again. False when it is not listed. */
  remove(address: string, now_s: number): Promise<boolean>
  /** The entries that are listed now, proven ones first, then by address. */
  underwriters(now_s: number): Promise<UnderwriterRow[]>
  /** The entry of an address, listed or not. */
  underwriter(address: string): Promise<UnderwriterRow | null>
  /** Keeps the certificate unless there is one of its id; returns the one that is kept then. */
  bind(policy: Omit<PolicyRow, keyof Countersignature>): Promise<{ created: boolean; policy: PolicyRow }>
  policy(policy_id: string): Promise<PolicyRow | null>
  /** Keeps the first signature of the underwriter, and the event with it; a later one changes nothing. */
  countersign(policy_id: string, signature: Countersignature, event: WebhookEvent): Promise<PolicyRow | null>
}

/** Files in which domains name the keys of their underwriters. */

/** `absent`: the domain answered, and does not name the address. `unreachable`: the file could not be read; a later try may succeed. */
export type UnderwriterProof = { kind: 'proven' } | { kind: 'absent' | 'unreachable'; reason: string }

export interface UnderwriterProofs {
  /** Files of the domains, or a fixed sample that proves nothing about the world. */
  readonly source: 'https' | 'fixed_sample'
  /** Reads the file of `host` and looks for the lower-case address. Never rejects. */
  /** `client` is who asked for it: host names of one client are resolved one after the other. */
  check(host: string, address: string, client: string): Promise<UnderwriterProof>
}
