/** The key of the public receipts log. */
export interface LogSigner {
  /** 32 bytes. */
  readonly public_key: Uint8Array
  /** Ed25519 over the text: 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}
