/** The key that stamps receipts, already chosen; the secret stays inside. */
export interface Signer {
  /** 0x-prefixed lower-case EVM address of the key. */
  readonly address: string
  /** Which arithmetic signs: the native addon where it loads, pure JavaScript else. */
  readonly implementation: 'secp256k1-native' | 'noble'
  /** Signs a 32-byte digest: 0x-prefixed 65 bytes r, s, v with s low and v 27 or 28. Deterministic (RFC 6979). */
  sign(digest: Uint8Array): string
}

/** Signs with the same key, but together what waits together, beside the event loop where that pays. */
export interface SigningQueue {
  /** As `sign` of the signer; never later than its own arithmetic and what waits before it. */
  sign(digest: Uint8Array): Promise<string>
  /** Digests that are not signed yet. */
  waiting(): number
  stop(): Promise<void>
}
