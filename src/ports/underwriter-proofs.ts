/** Files in which domains name the keys of their underwriters. */

/** `absent`: the domain answered, and does not name the address. `unreachable`: the file could not be read; a later try may succeed. */
export type UnderwriterProof = { kind: 'proven' } | { kind: 'absent' | 'unreachable'; reason: string }

export interface UnderwriterProofs {
  /** Files of the domains, or a fixed sample that proves nothing about the world. */
  readonly source: 'https' | 'fixed_sample'
  /** Reads the file of `host` and looks for the lower-case address. Never rejects. */
  check(host: string, address: string): Promise<UnderwriterProof>
}
