/**
 * Link of a receipt to an earlier one. The signed text of a receipt has no field for it, so the same key signs the link separately:
 * keccak-256 of `XDR-1-LINK`, the receipt's digest and the earlier digest, joined by bars. Verifiers that do not support links may ignore
 * them. Several receipts may link to one, so links form a graph.
 */
import { nobleCrypto, toHex, type ReceiptCrypto, readSignature } from './crypto.ts'
import { checkedSignature, type ReceiptSigner } from './receipt.ts'

/** 0x-prefixed lower-case hex; members in the order of RFC 8785. */
export interface ChainLink {
  link_digest: string
  link_signature: string
  prev_receipt_hash: string
}

export type LinkCode = keyof typeof LINK_CODES

export const LINK_CODES = {
  ok: 'The same signer linked this receipt to the earlier one.',
  bad_shape: 'The link does not hold three texts of the right form.',
  digest_mismatch: 'The digest of the link does not follow from the two receipts.',
  bad_signature: 'The signature of the link cannot be read, or has the high s.',
  signer_mismatch: 'The link was signed by another key than the receipt, or was altered.',
} as const

export interface LinkVerdict {
  valid: boolean
  code: LinkCode
  reason: string
}

/**
 * Returns the link in an answer; undefined if there is none. In an answer with the result members at top level it is named
 * `receipt_chain`, because `chain` may be a member of the result.
 */
export function linkIn(answer: Readonly<Record<string, unknown>>): unknown {
  const { chain, receipt_chain } = answer
  return receipt_chain ?? (typeof chain === 'object' ? (chain ?? undefined) : undefined)
}

/** Members of an answer that are not members of the result. */
const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  'receipt',
  'receipt_chain',
  'tier',
  'settlement',
  'allowance',
  'embeddable_badge',
  'proof_summary_markdown',
])

/** Returns the result of an answer. If its members are at top level, `tool` must match the receipt. Undefined if there is none. */
export function resultIn(answer: Readonly<Record<string, unknown>>): unknown {
  const { result, receipt, tool } = answer
  const named = typeof receipt === 'object' && receipt !== null && 'tool' in receipt ? receipt.tool : undefined
  if (result !== undefined || typeof tool !== 'string' || tool !== named) return result
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !ANSWER_MEMBERS.has(name)))
}

const HASH = /^0x[0-9a-f]{64}$/

/** Previous receipt hash in lower case; null if the text is not 32 bytes of 0x-prefixed hex. */
export function readReceiptHash(text: string): string | null {
  const lower = text.toLowerCase()
  return HASH.test(lower) ? lower : null
}

/** 32 bytes. Both hashes must be results of `readReceiptHash`. */
export function linkDigest(receipt_hash: string, prev_receipt_hash: string, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  return crypto.keccak256(`XDR-1-LINK|${receipt_hash}|${prev_receipt_hash}`)
}

export function signLink(
  receipt_hash: string,
  prev_receipt_hash: string,
  signer: ReceiptSigner,
  crypto: ReceiptCrypto = nobleCrypto,
): ChainLink {
  const digest = linkDigest(receipt_hash, prev_receipt_hash, crypto)
  return { link_digest: toHex(digest), link_signature: checkedSignature(signer, digest), prev_receipt_hash }
}

/** Verifies that `signer`, the recovered signer of the receipt, signed the link. Accepts any value and never throws. */
export function verifyLink(link: unknown, receipt_hash: string, signer: string, crypto: ReceiptCrypto = nobleCrypto): LinkVerdict {
  const fields = readLink(link)
  if (fields === null) return verdict('bad_shape')
  const digest = linkDigest(receipt_hash, fields.prev_receipt_hash, crypto)
  if (toHex(digest) !== fields.link_digest) return verdict('digest_mismatch')
  const signature = readSignature(fields.link_signature)
  if (!signature.ok || signature.high_s) return verdict('bad_signature')
  return verdict(crypto.recover(digest, signature.rs, signature.recovery) === signer.toLowerCase() ? 'ok' : 'signer_mismatch')
}

function readLink(link: unknown): ChainLink | null {
  if (typeof link !== 'object' || link === null) return null
  const { link_digest, link_signature, prev_receipt_hash } = link as Record<string, unknown>
  if (typeof link_digest !== 'string' || typeof link_signature !== 'string' || typeof prev_receipt_hash !== 'string') return null
  const [digest, previous] = [readReceiptHash(link_digest), readReceiptHash(prev_receipt_hash)]
  return digest === null || previous === null ? null : { link_digest: digest, link_signature, prev_receipt_hash: previous }
}

function verdict(code: LinkCode): LinkVerdict {
  return { valid: code === 'ok', code, reason: LINK_CODES[code] }
}
