/**
 * The XDR-1 receipt: its fields, their grammar, and the text whose keccak-256 is signed.
 *
 * The signed text is the eleven values joined by bars, in the order below. Where a receipt has `successor` or `stream_state`, both are
 * appended; an empty one counts as absent. No field of the grammar can contain a bar, so two different calls never share a text.
 * The text starts with the letters XDR-1, so it can be neither an EIP-191 or EIP-712 message (first byte 0x19) nor a legacy transaction
 * (first byte 0xc0 or above).
 */
import { canonicalText } from './canonical.ts'
import { nobleCrypto, type ReceiptCrypto, toHex, isLowS } from './crypto.ts'

export type StreamState = (typeof STREAM_STATES)[number]

const STREAM_STATES = ['active', 'rotating', 'closed'] as const

/** Signed fields. Hashes and addresses are 0x-prefixed lower-case hex. */
export interface ReceiptBody {
  v: 'XDR-1'
  /** Id of the tool, with hyphens. */
  tool: string
  /** Semantic version of the tool. */
  tool_version: string
  /** keccak-256 of the RFC 8785 text of the tool's input, without any wrapper. */
  input_hash: string
  /** keccak-256 of the RFC 8785 text of the tool's result, without receipt and badges. */
  output_hash: string
  /** Zero address without an on-chain payment. */
  payer: string
  recipient: string
  /** Minor units of USDC, six decimals, as decimal text; or another token with its price, as in `ReceiptAmount`. */
  amount: string
  /** 32 bytes: the nonce of the payment, or random. */
  nonce: string
  /** Seconds since 1970-01-01T00:00:00Z. */
  ts: number
  tier: 'free' | 'paid'
  /** Address of the next signer, or the digest of the receipt that replaces this one. */
  successor?: string
  stream_state?: StreamState
}

export interface Receipt extends ReceiptBody {
  /** Address of the key that signed. */
  signer: string
  /** 65 bytes r, s, v; low s, v 27 or 28. */
  signature: string
}

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** Signed fields in the order in which they are joined. */
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

/** Format of each signed field; `ts` as a decimal number. */
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
  // At most 78 digits, enough for 256 bits; 20 of another token, and of its price 12 before the point.
  amount:
    /^(?:(?:0|[1-9][0-9]{0,77})|eip155:[1-9][0-9]{0,9}\/erc20:0x[0-9a-f]{40} [1-9][0-9]{0,19} for (?:0|[1-9][0-9]{0,11})(?:\.[0-9]{0,5}[1-9])? USD)$/,
  nonce: HASH,
  ts: /^(?:0|[1-9][0-9]{0,11})$/,
  tier: /^(?:free|paid)$/,
  successor: /^(?:0x[0-9a-f]{40}|0x[0-9a-f]{64})?$/,
  stream_state: new RegExp(`^(?:${STREAM_STATES.join('|')})$`),
}

/**
 * Amount that was paid. USDC is written as its minor units, "5000"; another token as "{CAIP-19 id} {minor units} for {price} USD", which no
 * reader of numbers takes for an amount of USDC. Both are signed as they are, so earlier verifiers accept the signature of the second
 * and report that its amount does not match the format.
 */
export interface ReceiptAmount {
  /** Null for USDC. */
  asset: string | null
  /** In minor units of the asset. */
  amount_minor: bigint
  /** In millionths of a US dollar; for USDC the amount. */
  price_minor: bigint
}

const PRICE_DECIMALS = 6

/** Text of an amount, which violates the grammar for a token other than USDC that moved nothing. */
export function amountField({ asset, amount_minor, price_minor }: ReceiptAmount): string {
  if (asset === null) return amount_minor.toString()
  const digits = price_minor.toString().padStart(PRICE_DECIMALS + 1, '0')
  const decimals = digits.slice(-PRICE_DECIMALS).replace(/0+$/, '')
  const price = digits.slice(0, -PRICE_DECIMALS) + (decimals === '' ? '' : `.${decimals}`)
  return `${asset} ${amount_minor} for ${price} USD`
}

/** Reads an amount; null for a text that violates the grammar, which other issuers may write. */
export function readAmount(text: string): ReceiptAmount | null {
  if (!GRAMMAR.amount.test(text)) return null
  const [asset = '', amount, , price = ''] = text.split(' ')
  if (amount === undefined) return { asset: null, amount_minor: BigInt(text), price_minor: BigInt(text) }
  const [whole = '', decimals = ''] = price.split('.')
  return { asset, amount_minor: BigInt(amount), price_minor: BigInt(whole + decimals.padEnd(PRICE_DECIMALS, '0')) }
}

/** Values that can be joined; receipts of other issuers may violate the grammar. */
export type Joinable = Record<Exclude<SignedField, 'ts'>, string> & { ts: number; successor?: string; stream_state?: string }

/** Signed text, with the values unchanged. */
export function digestText(receipt: Joinable): string {
  const { v, tool, tool_version, input_hash, output_hash, payer, recipient, amount, nonce, ts, tier, successor, stream_state } = receipt
  const text = `${v}|${tool}|${tool_version}|${input_hash}|${output_hash}|${payer}|${recipient}|${amount}|${nonce}|${ts}|${tier}`
  // As in the public reference verifiers: two empty texts append nothing.
  return successor || stream_state ? `${text}|${successor ?? ''}|${stream_state || 'active'}` : text
}

/** Digest of the receipt, which also identifies it. 32 bytes. */
export function receiptDigest(receipt: Joinable, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  return crypto.keccak256(digestText(receipt))
}

/** `input_hash` or `output_hash` of a JSON value. Throws `CanonicalError` if it is not JSON. */
export function valueHash(value: unknown, crypto: ReceiptCrypto = nobleCrypto): string {
  return crypto.keccak256Hex(canonicalText(value))
}

/** Reproducible receipt: published with the specification, and the example of receipt-verify. */
export const TEST_VECTOR = {
  notice: 'Made with the private key 1, so that anybody can repeat it; it is the receipt of no call.',
  receipt: {
    v: 'XDR-1',
    tool: 'iban-check',
    tool_version: '1.0.0',
    input_hash: '0xab7d4ba329e033c4e5d6255c2d728a3ac138727087128fd58edb6c78e177e512',
    output_hash: '0xd4cd4cf3f762fb5b81b557c9042692be4465ea3ddf84d93c1402b6a12f4ac413',
    payer: `0x${'11'.repeat(20)}`,
    recipient: `0x${'22'.repeat(20)}`,
    amount: '5000',
    nonce: `0x${'33'.repeat(32)}`,
    ts: 1_790_000_000,
    tier: 'paid',
    signer: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    signature:
      '0xf6230ca7fd1f7020073d785cc2397e7ac1b9aec3610fc20081b0bf3f7b09edd27a57dde70efa8c3cf8d572165c62c8c3ac04d550e7db947024dd840faba65ab61b',
  },
  digest: '0x198802f02d72ad4ba1e4432d3c94178090781739c3d0cdeece5dfef24120a46e',
  link_to: `0x${'44'.repeat(32)}`,
  link_digest: '0x8e0544a37535f1ba7dab476e3185b1450a9393d0511d7d103efd2d9cc2124ffd',
} as const

export interface ReceiptSigner {
  /** 0x-prefixed lower-case address of the key. */
  readonly address: string
  /** Signs a 32-byte digest: 0x-prefixed 65 bytes r, s, v with low s and v 27 or 28. */
  sign(digest: Uint8Array): string
}

export interface SignedReceipt {
  receipt: Receipt
  /** Digest of the receipt: 0x-prefixed, 32 bytes. */
  digest: string
}

/**
 * Signs the fields and returns the receipt. Throws for a field that violates the grammar or an invalid signature: both are programming
 * errors, and such a receipt must not be sent.
 */
export function signReceipt(body: ReceiptBody, signer: ReceiptSigner, crypto: ReceiptCrypto = nobleCrypto): SignedReceipt {
  const digest = digestToSign(body, crypto)
  return signedReceipt(body, digest, signer.address, signer.sign(digest))
}

/** Digest to sign, 32 bytes; throws if a field violates the grammar. */
export function digestToSign(body: ReceiptBody, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  assertGrammar(body)
  return crypto.keccak256(digestText(body))
}

/** Adds signer and signature to the fields; throws for a signature in another format. */
export function signedReceipt(body: ReceiptBody, digest: Uint8Array, signer: string, signature: string): SignedReceipt {
  return { receipt: { ...body, signer, signature: receiptSignature(signature) }, digest: toHex(digest) }
}

/** Signs a digest and checks the format of the signature. */
export function checkedSignature(signer: ReceiptSigner, digest: Uint8Array): string {
  return receiptSignature(signer.sign(digest))
}

function receiptSignature(signature: string): string {
  if (!/^0x[0-9a-f]{128}1[bc]$/.test(signature) || !isLowS(signature)) throw new Error('The signer returned a signature of another form.')
  return signature
}

function assertGrammar(body: ReceiptBody): void {
  for (const field of SIGNED_FIELDS) {
    if (!GRAMMAR[field].test(String(body[field]))) throw new Error(`The receipt field ${field} breaks the XDR-1 grammar.`)
  }
  for (const field of TAIL_FIELDS) {
    const value = body[field]
    if (value !== undefined && !GRAMMAR[field].test(value)) throw new Error(`The receipt field ${field} breaks the XDR-1 grammar.`)
  }
}
