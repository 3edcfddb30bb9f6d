/** An entry of the directory of underwriters; one for each address. The store never looks into `entry`. */
export interface UnderwriterRow {
  /** 0x-prefixed lower-case hex. */
  address: string
  /** What the underwriter signed, as a hash. */
  entry_hash: string
  /** Canonical JSON text of the signed entry. */
  entry: string
  /** When it was signed and until when it holds, in seconds since 1970. */
  issued_s: number
  valid_until_s: number
}

/** `older`: the address has a later entry already. */
export type Registered = 'registered' | 'unchanged' | 'older' | 'full'

/** A certificate as it was registered. The store never looks into `certificate`. */
export interface PolicyRow {
  policy_id: string
  underwriter: string
  /** Canonical JSON text, without the signature of the underwriter. */
  certificate: string
  /** Null until the underwriter countersigned. */
  underwriter_signature: string | null
}

export interface InsuranceStore {
  /** Keeps the entry in the place of an earlier one of its address; expired ones make room. Atomic and durable before it resolves. */
  register(row: UnderwriterRow, most: number, now_s: number): Promise<Registered>
  /** The entries that hold now, by address. */
  underwriters(now_s: number): Promise<UnderwriterRow[]>
  /** The entry of an address, held or expired. */
  underwriter(address: string): Promise<UnderwriterRow | null>
  /** Keeps the certificate unless there is one of its id; returns the one that is kept then. */
  bind(policy: Omit<PolicyRow, 'underwriter_signature'>): Promise<{ created: boolean; policy: PolicyRow }>
  policy(policy_id: string): Promise<PolicyRow | null>
  /** Keeps the first signature of the underwriter; a later one changes nothing. */
  countersign(policy_id: string, signature: string): Promise<PolicyRow | null>
}
