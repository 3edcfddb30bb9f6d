import { typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import { canonicalText } from '../receipts/canonical.ts'
import type { ReceiptCrypto } from '../receipts/crypto.ts'
import { readSignature } from '../receipts/signature.ts'
import { DIP } from './dip1-table.ts'

/** Hashes of what claimants bring, and the two signatures that a dispute can carry. */

/** The hashes that a value may have been known by: its RFC 8785 text, and its text as it came. A text is also tried as JSON, and bare. */
export function hashesOf(value: unknown, crypto: ReceiptCrypto): Set<string> {
  const texts = typeof value === 'string' ? [value, ...textsOf(value), ...parsed(value).flatMap(textsOf)] : textsOf(value)
  return new Set(texts.map((text) => crypto.keccak256Hex(text)))
}

function textsOf(value: unknown): string[] {
  try {
    return [canonicalText(value), JSON.stringify(value)]
  } catch {
    // Nested too deep, or half a surrogate pair: nothing that a receipt of ours could cover.
    return []
  }
}

function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}

/** Whether an output hash says that nothing was delivered. */
export function isEmptyOutput(output_hash: string, crypto: ReceiptCrypto): boolean {
  const hash = output_hash.toLowerCase()
  return /^0x0{64}$/.test(hash) || DIP.table.empty_outputs.some((text) => crypto.keccak256Hex(text) === hash)
}

/**
 * Whether the seller signed that it delivered this output: raw keccak-256 of `DIP-1-TRANSPORT`, receipt hash and output hash, joined by bars,
 * under the key of the receipt.
 */
export function isTransportSigned(
  { receipt_hash, output_hash, signer }: { receipt_hash: string; output_hash: string; signer: string },
  signature: string,
  crypto: ReceiptCrypto,
): boolean {
  const read = readSignature(signature)
  if (!read.ok || read.high_s) return false
  const digest = crypto.keccak256(`DIP-1-TRANSPORT|${receipt_hash}|${output_hash}`)
  return crypto.recover(digest, read.rs, read.recovery) === signer
}

/** What tells one dispute from another with the same name: everything that was claimed and brought, but the claimant's signature. */
export function bodyHash(body: Readonly<Record<string, unknown>>, crypto: ReceiptCrypto): string {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  return crypto.keccak256Hex(canonicalText(given))
}

/** What the payer signs, in a domain of name DIP-1 and version 1. */
const DISPUTE: TypedStruct = {
  name: 'Dispute',
  fields: [
    { name: 'dispute_id', type: 'string' },
    { name: 'receipt_hash', type: 'bytes32' },
    { name: 'claim', type: 'string' },
    { name: 'body_hash', type: 'bytes32' },
  ],
}

export interface DisputeName {
  dispute_id: string
  receipt_hash: string
  claim: string
  body_hash: string
}

/** What the payer signs, as wallets take it. */
export function disputeTypedData(dispute: DisputeName) {
  return typedDataJson('DIP-1', DISPUTE, { ...dispute })
}

/** Whether the payer of the receipt filed this very dispute. Errs towards no: a contract wallet cannot be asked here. */
export function isFiledByPayer(dispute: DisputeName, payer: string, signature: string, crypto: ReceiptCrypto): boolean {
  return typedSigner(typedDigest('DIP-1', DISPUTE, { ...dispute }, crypto), signature, crypto) === payer.toLowerCase()
}
