/**
 * The link of a receipt to an earlier one. The signed text of a receipt has no place for it, so the link is signed on its own by the same
 * key: keccak-256 of `XDR-1-LINK`, the receipt's digest and the earlier digest, joined by bars. Verifiers that do not know links may
 * ignore them. Several receipts may follow one; links form a graph, not a line.
 */
import { nobleCrypto, toHex, type ReceiptCrypto } from './crypto.ts'
import { checkedSignature, type ReceiptSigner } from './sign.ts'
import { readSignature } from './signature.ts'

/** All three are 0x-prefixed lower-case hex; members in the order of RFC 8785. */
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
 * The link that travels in an answer, whatever it holds; undefined when there is none. Where the fields of a tool are the body itself, it goes
 * by another name, and `chain` may be a word of the tool.
 */
export function linkIn(answer: Readonly<Record<string, unknown>>): unknown {
  const { chain, receipt_chain } = answer
  return receipt_chain ?? (typeof chain === 'object' ? (chain ?? undefined) : undefined)
}

/** What stands in an answer beside the members of a result, where these are the body itself. */
const BESIDE: ReadonlySet<string> = new Set([
  'receipt',
  'receipt_chain',
  'tier',
  'settlement',
  'allowance',
  'embeddable_badge',
  'proof_summary_markdown',
])

/** The result in an answer, also where its members are the body itself: then they name the tool of the receipt. Undefined when there is none. */
export function resultIn(answer: Readonly<Record<string, unknown>>): unknown {
  const { result, receipt, tool } = answer
  const named = typeof receipt === 'object' && receipt !== null && 'tool' in receipt ? receipt.tool : undefined
  if (result !== undefined || typeof tool !== 'string' || tool !== named) return result
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !BESIDE.has(name)))
}

const HASH = /^0x[0-9a-f]{64}$/

/** A previous receipt hash as it is signed, in lower case; null when the text is not 32 bytes of 0x-prefixed hex. */
export function readReceiptHash(text: string): string | null {
  const lower = text.toLowerCase()
  return HASH.test(lower) ? lower : null
}

/** Both hashes must have passed `readReceiptHash`. 32 bytes. */
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

/** Whether `signer`, the recovered signer of the receipt, linked it. Takes whatever JSON can yield and never throws on it. */
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
