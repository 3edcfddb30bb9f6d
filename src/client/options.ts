import type { KeyList } from '../pure/receipts/keys.ts'
import type { Clock } from './clock.ts'

export type Hex = `0x${string}`

/** What a wallet is asked to sign: one EIP-3009 transfer (EIP-712). */
export interface TransferTypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
  types: { TransferWithAuthorization: { name: string; type: string }[] }
  primaryType: 'TransferWithAuthorization'
  message: { from: Hex; to: Hex; value: bigint; validAfter: bigint; validBefore: bigint; nonce: Hex }
}

/** Who pays. An account of viem fits, and so does anything that signs EIP-712 typed data. */
export interface Signer {
  readonly address: Hex
  signTypedData(data: TransferTypedData): Promise<string>
}

/** How much may be signed for. USDC as decimal text, such as "0.05". */
export interface SpendCap {
  /** The most that one call may cost. */
  per_call_usdc: string
  /** The most that all calls of this client may cost together. */
  session_usdc: string
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** Origin of the service, such as https://assay.example; a path in front of /v1 is kept. */
  url: string
  /** `fetch` of the platform unless given. */
  fetch?: Fetch
  /** Without one only free calls are made. Needs `spend_cap`. */
  signer?: Signer
  spend_cap?: SpendCap
  /** Digest of a receipt that the first call is to follow: the head of an earlier chain. */
  previous_receipt?: string
  /**
   * The keys that may sign receipts: a published list, or addresses. They are fetched from the service, once, unless pinned here; only
   * pinned keys tell a service from one that took its place.
   */
  keys?: KeyList | readonly string[]
  /** Whom payments may go to. Unless pinned, it is whom the service names, and may not change while this client lives. */
  pay_to?: string
  /** The chain that payments are made on: 8453 (Base) or 84532 (Base Sepolia, sandboxes). Unless given, the one that the service names. */
  chain_id?: 8453 | 84532
  /** How long one request may take; 30 seconds unless given. */
  request_ms?: number
  /** How long a payment is followed whose end is not known; 90 seconds unless given. Then `AssayError.payment` can be resumed. */
  patience_ms?: number
  clock?: Clock
}

export interface CallOptions {
  /** A cap for this call alone; the lower one counts. USDC as decimal text. */
  max_usdc?: string
  /** The receipt to follow instead of the last one of this client; null follows none. */
  previous_receipt?: string | null
  /** Ends the call. A payment that was signed by then is in the error, and can be resumed. */
  signal?: AbortSignal
}
