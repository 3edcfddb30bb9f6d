import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, fromHex, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'

type Point = InstanceType<typeof secp256k1.Point>

/** The two public keys of a recipient; with a short meta-address they are one. */
export interface MetaAddress {
  readonly spending: Point
  readonly viewing: Point
}

/** Points are 33 bytes, 65 bytes with both coordinates, or nothing: infinity and points off the curve are refused. */
export function readPoint(bytes: Uint8Array): Point | null {
  try {
    // noble knows no encoding of infinity.
    return secp256k1.Point.fromBytes(bytes)
  } catch {
    return null
  }
}

export type MetaReading = { ok: true; meta: MetaAddress } | { ok: false; code: 'recipient_malformed' | 'point_invalid' }

/**
 * Reads `st:<chain>:0x…`, or its hexadecimal part alone: the compressed spending key, then the compressed viewing key (ERC-5564, February
 * 2023). 33 bytes are one key for both uses.
 */
export function readMetaAddress(text: string): MetaReading {
  const bytes = fromHex(/^(?:st:[a-zA-Z0-9-]{1,32}:)?(0x[0-9a-fA-F]*)$/.exec(text)?.[1] ?? '')
  if (bytes === null || (bytes.length !== 33 && bytes.length !== 66)) return { ok: false, code: 'recipient_malformed' }
  const [spending, viewing] = [readPoint(bytes.subarray(0, 33)), readPoint(bytes.subarray(bytes.length - 33))]
  return spending === null || viewing === null ? { ok: false, code: 'point_invalid' } : { ok: true, meta: { spending, viewing } }
}

export interface StealthAddress {
  /** 0x-prefixed, lower case. */
  stealth_address: string
  /** 33 bytes, 0x-prefixed. */
  ephemeral_pubkey: string
  /** One byte, 0x-prefixed. */
  view_tag: string
}

/**
 * The address that the recipient alone can spend from, by scheme 1 of ERC-5564. The ERC leaves the hash of the shared secret open: here it is
 * keccak-256 of the compressed point, as the ScopeLift SDK has it (2024). Null for a key out of range and for the results that the curve
 * forbids, which nobody will meet.
 */
export function stealthAddress(meta: MetaAddress, ephemeral_key: bigint, crypto: ReceiptCrypto): StealthAddress | null {
  const { BASE, Fn } = secp256k1.Point
  if (!Fn.isValidNot0(ephemeral_key)) return null
  const hashed = crypto.keccak256(meta.viewing.multiply(ephemeral_key).toBytes(true))
  const scalar = BigInt(toHex(hashed))
  if (!Fn.isValidNot0(scalar)) return null
  const point = meta.spending.add(BASE.multiply(scalar))
  if (point.is0()) return null
  return {
    stealth_address: addressOfPublicKey(point.toBytes(false), crypto.keccak256),
    ephemeral_pubkey: toHex(BASE.multiply(ephemeral_key).toBytes(true)),
    view_tag: toHex(hashed.subarray(0, 1)),
  }
}

/** What is paid: a token by its 0x address, or `native` for the chain's own currency. The amount counts smallest units. */
export interface Paid {
  readonly token: string
  readonly amount: bigint
}

/** Stands for the chain's own currency, and `transfer(address,uint256)` of ERC-20. */
const NATIVE = { selector: 'ee'.repeat(4), token: 'ee'.repeat(20) }
const TRANSFER_SELECTOR = 'a9059cbb'

/** Metadata of an announcement: the view tag, and in 57 bytes the selector, the token and the amount when they are known. */
export function announcementMetadata(view_tag: string, paid: Paid | null): string {
  if (paid === null) return view_tag
  const selector = paid.token === 'native' ? NATIVE.selector : TRANSFER_SELECTOR
  const token = paid.token === 'native' ? NATIVE.token : paid.token.slice(2).toLowerCase()
  return `${view_tag}${selector}${token}${paid.amount.toString(16).padStart(64, '0')}`
}
