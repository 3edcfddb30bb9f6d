import { createHmac, createSecretKey, hkdfSync } from 'node:crypto'
import type { Derivation } from '../../ports/signer.ts'

/** HMAC-SHA256 under a separate key, derived from the deployment's secret with HKDF-SHA256 (RFC 5869, no salt). */
export function createDerivation(secret: Uint8Array): Derivation {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'assay derived values', 32)))
  return { hmac: (tag, text) => createHmac('sha256', key).update(`${tag}|${text}`, 'utf8').digest('hex') }
}
