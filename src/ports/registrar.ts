/** The key of this service where it signs other things than receipts, and what else says who this service is. */
export interface Registrar {
  /** Where this deployment is known to the world, without a final slash. */
  readonly origin: string
  readonly chain_id: number
  /** 0x-prefixed lower-case address of the receipt key. */
  readonly address: string
  /** Signs a 32-byte digest: 65 bytes r, s, v as 0x-prefixed hex, s low, v 27 or 28. */
  sign(digest: Uint8Array): string
  /** Whether this address was a good receipt key of this service then, in seconds since 1970. */
  owns(address: string, ts: number): boolean
}
