/** keccak-256 in WebAssembly: several times as fast as JavaScript. */
import { createKeccak } from 'hash-wasm'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'

/** Compiles the hasher once; afterwards hashing is synchronous. */
export async function wasmKeccak(): Promise<Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>> {
  // One mutable instance: init, update and digest must stay in one synchronous stretch, and here they do.
  const hasher = await createKeccak(256)
  return {
    keccak256: (data) => hasher.init().update(data).digest('binary'),
    keccak256Hex: (data) => `0x${hasher.init().update(data).digest('hex')}`,
  }
}
