/** The key that stamps receipts, already chosen; the secret stays inside. */
export interface Signer {
  /** 0x-prefixed lower-case EVM address of the key. */
  readonly address: string
  /** Which arithmetic signs: the native addon where it loads, pure JavaScript else. */
  readonly implementation: 'secp256k1-native' | 'noble'
  /** Signs a 32-byte digest: 0x-prefixed 65 bytes r, s, v with s low and v 27 or 28. Deterministic (RFC 6979). */
  sign(digest: Uint8Array): string
}

/** Signs with the same key; digests that wait are signed together, outside the event loop where that is faster. */
export interface SigningQueue {
  /** As `sign` of the signer; never later than its own arithmetic and what waits before it. */
  sign(digest: Uint8Array): Promise<string>
  /** Digests that are not signed yet. */
  waiting(): number
  stop(): Promise<void>
}

/** Values that cannot be guessed without the deployment's secret. */
export interface Derivation {
  /** HMAC-SHA256 of `tag|text` as UTF-8: 64 lower-case hexadecimal digits, the same for the same words. A tag holds no bar. */
  hmac(tag: string, text: string): string
}

/** Keeps text from everybody who reads the store but not the deployment's secret. */
export interface Sealer {
  /** Base64 of the text encrypted and authenticated together with `context`, which opens it again and nothing else does. */
  seal(text: string, context: string): string
  /** Null for what was not sealed under this secret and context. */
  open(sealed: string, context: string): string | null
  /** 64 hexadecimal digits that cannot be guessed without the secret; the same for the same context. */
  token(context: string): string
}

/** The key of this service where it signs other things than receipts, and what else says who this service is. */
export interface Registrar {
  /** Public origin of this deployment, without a final slash. */
  readonly origin: string
  readonly chain_id: number
  /** 0x-prefixed lower-case address of the receipt key. */
  readonly address: string
  /** Signs a 32-byte digest: 65 bytes r, s, v as 0x-prefixed hex, s low, v 27 or 28. */
  sign(digest: Uint8Array): string
  /** True when this address was a valid receipt key of this service at that time, in seconds since 1970. */
  owns(address: string, ts: number): boolean
}

/** The key of the public receipts log. */
export interface LogSigner {
  /** 32 bytes. */
  readonly public_key: Uint8Array
  /** Ed25519 over the text: 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}
