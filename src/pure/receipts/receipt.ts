/**
 * The XDR-1 receipt: what it holds, which grammar its fields have, and the text whose keccak-256 is signed.
 *
 * The signed text is the eleven values joined by bars, in the order below; where a receipt has `successor` or `stream_state`, both are
 * appended, and an empty one of them is as good as none. No field of the grammar can hold a bar, so two different calls never share a text.
 * The text starts with the letters XDR-1 and so can be neither an EIP-191 or EIP-712 message (first byte 0x19) nor a legacy transaction
 * (first byte 0xc0 or above).
 */
import { canonicalText } from './canonical.ts'
import { nobleCrypto, type ReceiptCrypto } from './crypto.ts'

export type StreamState = (typeof STREAM_STATES)[number]

const STREAM_STATES = ['active', 'rotating', 'closed'] as const

/** What is signed. All hashes and addresses are 0x-prefixed lower-case hex. */
export interface ReceiptBody {
  v: 'XDR-1'
  /** Id of the tool, in hyphens. */
  tool: string
  /** Semantic version of the tool. */
  tool_version: string
  /** keccak-256 of the RFC 8785 text of the tool's input, without any wrapper. */
  input_hash: string
  /** keccak-256 of the RFC 8785 text of the tool's result, without receipt and badges. */
  output_hash: string
  /** The zero address when nobody paid on chain. */
  payer: string
  recipient: string
  /** Minor units of USDC, six decimals, as decimal text. */
  amount: string
  /** 32 bytes: the nonce of the payment, or random. */
  nonce: string
  /** Seconds since 1970-01-01T00:00:00Z. */
  ts: number
  tier: 'free' | 'paid'
  /** The next signer's address, or the digest of a receipt that replaces this one. */
  successor?: string
  stream_state?: StreamState
}

export interface Receipt extends ReceiptBody {
  /** Address of the key that signed. */
  signer: string
  /** 65 bytes r, s, v with s low and v 27 or 28. */
  signature: string
}

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** The signed fields in the order in which they are joined. */
export const SIGNED_FIELDS = [
  'v',
  'tool',
  'tool_version',
  'input_hash',
  'output_hash',
  'payer',
  'recipient',
  'amount',
  'nonce',
  'ts',
  'tier',
] as const

export const TAIL_FIELDS = ['successor', 'stream_state'] as const

export type SignedField = (typeof SIGNED_FIELDS)[number]
export type TailField = (typeof TAIL_FIELDS)[number]

const ADDRESS = /^0x[0-9a-f]{40}$/
const HASH = /^0x[0-9a-f]{64}$/

/** What each signed field looks like in a receipt of this grammar; `ts` in plain decimal. */
export const GRAMMAR: Record<SignedField | TailField, RegExp> = {
  v: /^XDR-1$/,
  tool: /^[a-z0-9-]{1,64}$/,
  // Semantic Versioning 2.0.0, in at most 64 characters.
  tool_version:
    /^(?=.{5,64}$)(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/,
  input_hash: HASH,
  output_hash: HASH,
  payer: ADDRESS,
  recipient: ADDRESS,
  // At most 78 digits, as many as the largest 256-bit amount has.
  amount: /^(?:0|[1-9][0-9]{0,77})$/,
  nonce: HASH,
  ts: /^(?:0|[1-9][0-9]{0,11})$/,
  tier: /^(?:free|paid)$/,
  successor: /^(?:0x[0-9a-f]{40}|0x[0-9a-f]{64})?$/,
  stream_state: new RegExp(`^(?:${STREAM_STATES.join('|')})$`),
}

/** Any set of values that can be joined; a receipt of another issuer may hold texts that the grammar does not allow. */
export type Joinable = Record<Exclude<SignedField, 'ts'>, string> & { ts: number; successor?: string; stream_state?: string }

/** The text that is signed, values taken as they stand. */
export function digestText(receipt: Joinable): string {
  const { v, tool, tool_version, input_hash, output_hash, payer, recipient, amount, nonce, ts, tier, successor, stream_state } = receipt
  const text = `${v}|${tool}|${tool_version}|${input_hash}|${output_hash}|${payer}|${recipient}|${amount}|${nonce}|${ts}|${tier}`
  // As the public reference verifiers have it: empty texts alone append nothing.
  return successor || stream_state ? `${text}|${successor ?? ''}|${stream_state || 'active'}` : text
}

/** The digest, which is also the hash by which a receipt is named. 32 bytes. */
export function receiptDigest(receipt: Joinable, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  return crypto.keccak256(digestText(receipt))
}

/** `input_hash` or `output_hash` of a JSON value. Throws `CanonicalError` for what is not JSON. */
export function valueHash(value: unknown, crypto: ReceiptCrypto = nobleCrypto): string {
  return crypto.keccak256Hex(canonicalText(value))
}
