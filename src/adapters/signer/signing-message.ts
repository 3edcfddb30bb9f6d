import type { Signer } from '../../ports/signer.ts'

/** What the threads tell each other: digests one after the other, then as many signatures in the same order. */
export const DIGEST_BYTES = 32
export const SIGNATURE_BYTES = 65

/** What the signing thread is started with; the key never leaves the process. */
export interface SigningWorkerData {
  private_key: Uint8Array
  implementation: Signer['implementation']
}
