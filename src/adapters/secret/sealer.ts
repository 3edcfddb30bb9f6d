import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomFillSync, type KeyObject } from 'node:crypto'
import type { Sealer } from '../../ports/signer.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** Vectors drawn at a time: asking for randomness costs far more than a byte of it. */
const IVS_DRAWN = 256

/** AES-256-GCM under a key derived from the deployment's secret: initialisation vector, ciphertext and tag in one text. */
export function createSealer(secret: Uint8Array): Sealer {
  const answer_key = derivedKey(secret, 'assay stored answers')
  const token_key = derivedKey(secret, 'assay answer tokens')
  const nextIv = createIvs()
  return {
    seal(text, context) {
      const iv = nextIv()
      const cipher = createCipheriv(CIPHER, answer_key, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(context))
      const sealed = cipher.update(text, 'utf8')
      return Buffer.concat([iv, sealed, cipher.final(), cipher.getAuthTag()]).toString('base64')
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64')
      if (bytes.length < IV_BYTES + TAG_BYTES) return null
      const opening = createDecipheriv(CIPHER, answer_key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      opening.setAAD(Buffer.from(context))
      opening.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      try {
        return Buffer.concat([opening.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES)), opening.final()]).toString('utf8')
      } catch {
        // Another secret, another context, or damaged bytes: the tag cannot say which.
        return null
      }
    },
    token: (context) => createHmac('sha256', token_key).update(context).digest('hex'),
  }
}

/** Random initialisation vectors, each handed out once. */
function createIvs(): () => Buffer {
  const drawn = Buffer.alloc(IVS_DRAWN * IV_BYTES)
  let next = drawn.length
  return () => {
    if (next === drawn.length) {
      randomFillSync(drawn)
      next = 0
    }
    next += IV_BYTES
    return Buffer.from(drawn.subarray(next - IV_BYTES, next))
  }
}

function derivedKey(secret: Uint8Array, use: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', use, 32)))
}
