import type { KeyList } from '../pure/receipts/keys.ts'

export type Hex = `0x${string}`

/** Data that a wallet signs: one EIP-3009 transfer (EIP-712). */
export interface TransferTypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
  types: { TransferWithAuthorization: { name: string; type: string }[] }
  primaryType: 'TransferWithAuthorization'
  message: { from: Hex; to: Hex; value: bigint; validAfter: bigint; validBefore: bigint; nonce: Hex }
}

/** Payer: a viem account or another signer of EIP-712 typed data. */
export interface Signer {
  readonly address: Hex
  signTypedData(data: TransferTypedData): Promise<string>
}

/** Maximum amounts, USDC as decimal text such as "0.05". */
export interface SpendCap {
  /** Maximum price of one call. */
  per_call_usdc: string
  /** Maximum total of all calls of this client. */
  session_usdc: string
}

/** Level of detail of answers: `brief` is decision, key facts and hashes; `standard` and `full` are the whole answer. */
export type Detail = 'brief' | 'standard' | 'full'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions<D extends Detail = Detail> {
  /** Origin of the service, such as https://assay.example, optionally with a path before /v1. */
  url: string
  /** Defaults to `fetch` of the platform. */
  fetch?: Fetch
  /** Without a signer only free calls are made. Needs `spend_cap`. */
  signer?: Signer
  spend_cap?: SpendCap
  /** Digest of the receipt that the first call links to: the head of an earlier chain. */
  previous_receipt?: string
  /**
   * Keys that may sign receipts: a published list, or addresses. By default they are fetched once from the service; only pinned keys
   * detect an impostor.
   */
  keys?: KeyList | readonly string[]
  /** Allowed recipient of payments. Defaults to the one that the service names; it must not change during the life of the client. */
  pay_to?: string
  /** Chain of payments: 8453 (Base) or 84532 (Base Sepolia, sandboxes). Defaults to the chain that the service names. */
  chain_id?: 8453 | 84532
  /**
   * Networks on which it may pay in USDC, in CAIP-2, the preferred first: of those that the service offers for a call, the first is taken. By
   * default only the chain of the service.
   */
  networks?: readonly string[]
  /** Timeout of one request; default 30 seconds. */
  request_ms?: number
  /** Maximum time to wait for the outcome of a payment; default 90 seconds. After that, `AssayError.payment` can be resumed. */
  patience_ms?: number
  /** Level of detail of all calls that state none; default `standard`. */
  detail?: D
  clock?: Clock
}

export interface CallOptions<D extends Detail = Detail> {
  /** Level of detail of this answer; defaults to that of the client. */
  detail?: D
  /** Cap for this call; the lower cap applies. USDC as decimal text. */
  max_usdc?: string
  /** Receipt to link to instead of the client's last one; null for none. */
  previous_receipt?: string | null
  /** Aborts the call. A payment that was already signed is in the error and can be resumed. */
  signal?: AbortSignal
}

/** Clock of the library, replaceable for tests. */
export interface Clock {
  /** Milliseconds since 1970. */
  now_ms(): number
  /** Resolves after this many milliseconds, or immediately if the signal is aborted. */
  wait(ms: number, signal: AbortSignal | null): Promise<void>
}

export const systemClock: Clock = {
  now_ms: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      if (signal?.aborted === true) done()
      else signal?.addEventListener('abort', done)
    }),
}
