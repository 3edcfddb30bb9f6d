/**
 * Receipt library: issues, links and verifies XDR-1 receipts, offline and in a browser. It depends only on keccak-256 and secp256k1 of
 * noble, which `ReceiptCrypto` can replace.
 */
export { canonicalText, CanonicalError, CANONICAL_DEPTH_MAX } from './canonical.ts'
export { LINK_CODES, linkDigest, readReceiptHash, signLink, verifyLink, type ChainLink, type LinkCode, type LinkVerdict } from './chain.ts'
export { COMPACT_CHARS_MAX, COMPACT_CODES, decodeReceipt, encodeReceipt, type CompactCode, type CompactProblem } from './compact.ts'
export { addressOfPublicKey, fromHex, nobleCrypto, toHex, type ReceiptCrypto } from './crypto.ts'
export { activeOf, judgeKey, readKeyList, revoked, rotated } from './keys.ts'
export type { KeyLife, KeyList, KeyStatus, KeyVerdict, PublishedKey } from './keys.ts'
export { RECEIPT_CODES, type ReceiptCode, type ReceiptFinding } from './reasons.ts'
export {
  amountField,
  digestText,
  GRAMMAR,
  readAmount,
  receiptDigest,
  SIGNED_FIELDS,
  TAIL_FIELDS,
  valueHash,
  ZERO_ADDRESS,
} from './receipt.ts'
export type { Receipt, ReceiptAmount, ReceiptBody, StreamState } from './receipt.ts'
export { SEAL_UNITS, sealPaths, sealShape, sealSvg, type SealForm, type SealPath } from './seal.ts'
export { signReceipt, type ReceiptSigner, type SignedReceipt } from './receipt.ts'
export { FIELD_CHARS_MAX, verifyReceipt, type ReceiptVerdict } from './verify.ts'
