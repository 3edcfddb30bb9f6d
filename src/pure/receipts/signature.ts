/** Reads the 65-byte signatures of receipts: r, s and the recovery byte v, as 0x-prefixed hex. */
import { fromHex } from './crypto.ts'
import type { ReceiptCode } from './reasons.ts'

/** Order of the secp256k1 group and half of it, rounded down (SEC 2 v2.0 §2.4.1), as hex: texts of one length compare as numbers do. */
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
const ZERO = '0'.repeat(64)

export type SignatureReading =
  | { ok: true; rs: Uint8Array; recovery: 0 | 1; high_s: boolean }
  | {
      ok: false
      code: Extract<
        ReceiptCode,
        'bad_signature_format' | 'bad_signature_length' | 'bad_recovery_id' | 'zero_signature' | 'signature_out_of_range'
      >
    }

/**
 * v may be 0, 1, 27 or 28: wallets and libraries write both. Values that encode a chain (EIP-155) or a compact form (EIP-2098) are
 * refused. High s is read and marked, so that the caller can say why it refuses it.
 */
export function readSignature(text: string): SignatureReading {
  const bytes = fromHex(text)
  if (bytes === null) return { ok: false, code: 'bad_signature_format' }
  if (bytes.length !== 65) return { ok: false, code: 'bad_signature_length' }
  const recovery = RECOVERY.get(bytes[64] ?? -1)
  if (recovery === undefined) return { ok: false, code: 'bad_recovery_id' }
  const [r, s] = scalars(text)
  if (r === ZERO || s === ZERO) return { ok: false, code: 'zero_signature' }
  if (r >= ORDER || s >= ORDER) return { ok: false, code: 'signature_out_of_range' }
  return { ok: true, rs: bytes.subarray(0, 64), recovery, high_s: s > HALF_ORDER }
}

/** Whether s of a well-formed 65-byte signature lies in the lower half. The twin with the other s recovers to the same signer. */
export function isLowS(signature: string): boolean {
  return scalars(signature)[1] <= HALF_ORDER
}

const RECOVERY: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])

function scalars(signature: string): [r: string, s: string] {
  return [signature.slice(2, 66).toLowerCase(), signature.slice(66, 130).toLowerCase()]
}
