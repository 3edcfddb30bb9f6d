/** First form, so that others can run; to be replaced whole. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, nobleCrypto, toHex, fromHex } from '../../pure/receipts/crypto.ts'
import type { KeyLife, KeyList } from '../../pure/receipts/keys.ts'
import type { StoreIdentity } from '../../ports/store.ts'

export interface RingKey extends KeyLife {
  private_key: Uint8Array
}
export interface Keyring extends StoreIdentity {
  keys: RingKey[]
}
export function loadKeyring(path: string, identity: StoreIdentity, now_ts: number): { ok: true; ring: Keyring } | { ok: false; message: string } {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, toHex(secp256k1.utils.randomSecretKey()), { mode: 0o600 })
  }
  const private_key = fromHex(readFileSync(path, 'utf8').trim())
  if (private_key?.length !== 32) return { ok: false, message: `The key file ${path} is broken.` }
  const address = addressOfPublicKey(secp256k1.getPublicKey(private_key, false), nobleCrypto.keccak256)
  return { ok: true, ring: { ...identity, keys: [{ address, private_key, status: 'active', not_before: Math.min(0, now_ts), not_after: null, revoked_at: null, reason: null }] } }
}
export function activeKey(ring: Keyring): RingKey | undefined {
  return ring.keys.find(({ status }) => status === 'active')
}
export function publicKeys(ring: Keyring): KeyList {
  return ring.keys.map(({ private_key: _, ...life }) => ({ ...life, mode: ring.mode, chain_id: ring.chain_id }))
}
