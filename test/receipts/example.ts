import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { Receipt, ReceiptBody } from '../../src/pure/receipts/receipt.ts'

/** The private key 1; its address is published everywhere and belongs to nobody. */
export const KEY_ONE = Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 1 : 0))
export const ADDRESS_ONE = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'
export const signerOne = nobleSigner(KEY_ONE)

/** A receipt whose hashes and signature were computed apart from this project's code, with another implementation of each step. */
export const INPUT = { iban: 'GB82WEST12345698765432' }
export const RESULT = {
  country: 'GB',
  normalized: 'GB82WEST12345698765432',
  reason: 'checksum valid',
  scope: 'structure+checksum only',
  tool: 'iban-check',
  valid: true,
}
export const BODY: ReceiptBody = {
  v: 'XDR-1',
  tool: 'iban-check',
  tool_version: '1.0.0',
  input_hash: '0xab7d4ba329e033c4e5d6255c2d728a3ac138727087128fd58edb6c78e177e512',
  output_hash: '0xd4cd4cf3f762fb5b81b557c9042692be4465ea3ddf84d93c1402b6a12f4ac413',
  payer: `0x${'11'.repeat(20)}`,
  recipient: `0x${'22'.repeat(20)}`,
  amount: '5000',
  nonce: `0x${'33'.repeat(32)}`,
  ts: 1_790_000_000,
  tier: 'paid',
}
export const DIGEST = '0x198802f02d72ad4ba1e4432d3c94178090781739c3d0cdeece5dfef24120a46e'
export const DIGEST_WITH_TAIL = '0x5cd7fd316d5dffb647b7ac8c8a9db81424610c6ee70f64d37b3fcfba5e636754'
export const SIGNATURE =
  '0xf6230ca7fd1f7020073d785cc2397e7ac1b9aec3610fc20081b0bf3f7b09edd27a57dde70efa8c3cf8d572165c62c8c3ac04d550e7db947024dd840faba65ab61b'
export const RECEIPT: Receipt = { ...BODY, signer: ADDRESS_ONE, signature: SIGNATURE }

/** The same signature with s taken from the group order, which recovers to the same key (SEC 1 v2 §4.1.6). */
export function mirrored(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`
}
