/**
 * Compact form of a receipt for links: a fixed binary layout in base64url without padding (RFC 4648 §5). It has the same fields as the JSON
 * form, and the digest is computed from them as always; each receipt has exactly one compact form.
 *
 * Bytes in order: version (1); flags; tool and tool_version, each with a byte for its length; input_hash; output_hash; payer, unless it is the
 * zero address; recipient; amount, big-endian without leading zeros, with a byte for its length; for a token other than USDC its chain id in
 * 5 bytes, its address, and its price in millionths of a US dollar as the amount; nonce; ts in 5 bytes, big-endian; successor, if it has bytes;
 * signer; r and s of the signature.
 *
 * Flags from the lowest bit: tier is `paid`; v is 28; payer is written; successor in two bits (absent, empty, address, digest); stream_state
 * in two bits (absent, active, rotating, closed); the amount is of a token other than USDC.
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import { bytesOfBase64Url, toBase64Url } from './base64url.ts'
import { toHex } from './crypto.ts'
import { amountField, GRAMMAR, readAmount, type Receipt, SIGNED_FIELDS, type StreamState, TAIL_FIELDS, ZERO_ADDRESS } from './receipt.ts'

const VERSION = 1

const PAID = 1
const V_IS_28 = 2
const PAYER = 4
const SUCCESSOR_SHIFT = 3
const STATE_SHIFT = 5
const OTHER_TOKEN = 128
/** Bytes of the successor by its flag; undefined for none. */
const SUCCESSORS: readonly (number | undefined)[] = [undefined, 0, 20, 32]
const STATES: readonly (StreamState | undefined)[] = [undefined, 'active', 'rotating', 'closed']

const HASH_BYTES = 32
const ADDRESS_BYTES = 20
const TS_BYTES = 5
const SIGNATURE_BYTES = 64
const TEXT_BYTES_MAX = 64
/** 78 digits need 260 bits. */
const AMOUNT_BYTES_MAX = 33
const CHAIN_BYTES = 5
/** An amount of 20 digits and a price of 18 digits, each with its length, chain and address. */
const TOKEN_BYTES_MAX = 1 + 9 + CHAIN_BYTES + ADDRESS_BYTES + 1 + 8
const MONEY_BYTES_MAX = Math.max(1 + AMOUNT_BYTES_MAX, TOKEN_BYTES_MAX)
const BYTES_MAX = 2 + 2 * (1 + TEXT_BYTES_MAX) + 4 * HASH_BYTES + 3 * ADDRESS_BYTES + MONEY_BYTES_MAX + TS_BYTES + SIGNATURE_BYTES

/** Maximum length of a compact receipt in characters. Those of this service have at most 360. */
export const COMPACT_CHARS_MAX = Math.ceil((BYTES_MAX * 4) / 3)

/** Reasons why a receipt has no compact form, or a text is none. */
export const COMPACT_CODES = {
  not_an_object: 'The receipt must be a JSON object.',
  off_grammar: 'A field does not match the XDR-1 format, so that the receipt has no compact form.',
  unsigned_fields: 'The receipt has additional fields, which the compact form cannot contain.',
  too_long: `A compact receipt has at most ${COMPACT_CHARS_MAX} characters.`,
  not_base64url: 'A compact receipt consists of letters, digits, - and _ (base64url without padding).',
  unknown_version: 'The first byte of a compact receipt is its version, 1.',
  truncated: 'The compact receipt ends before its last field. Copy it whole.',
  trailing_bytes: 'The compact receipt has bytes after its last field.',
  not_canonical: 'The compact receipt is another encoding than the one that its receipt has.',
} as const

export type CompactCode = keyof typeof COMPACT_CODES

export interface CompactProblem {
  ok: false
  code: CompactCode
  /** Field of the receipt; null for the whole. */
  field: string | null
  message: string
}

/** Encodes a receipt of any issuer; refuses one that differs from the XDR-1 grammar, because it could not be restored. */
export function encodeReceipt(receipt: unknown): { ok: true; text: string } | CompactProblem {
  if (typeof receipt !== 'object' || receipt === null || Array.isArray(receipt)) return refused('not_an_object')
  const fields = receipt as Record<string, unknown>
  const fault = faultOf(fields)
  return fault ?? { ok: true, text: textOf(fields as unknown as Receipt) }
}

/** Decodes a compact receipt. Accepts exactly the texts that `encodeReceipt` makes; never throws. */
export function decodeReceipt(text: string): { ok: true; receipt: Receipt } | CompactProblem {
  if (text.length > COMPACT_CHARS_MAX) return refused('too_long')
  const bytes = bytesOfBase64Url(text)
  if (bytes === null) return refused('not_base64url')
  if (bytes.length === 0) return refused('truncated')
  if (bytes[0] !== VERSION) return refused('unknown_version')
  const cursor = new Cursor(bytes)
  const receipt = read(cursor)
  if (cursor.left() < 0) return refused('truncated')
  if (cursor.left() > 0) return refused('trailing_bytes')
  const fault = faultOf({ ...receipt })
  if (fault !== null) return fault
  // One comparison covers bits that are not used, zeros that are not needed and a payer that should have been left out.
  return textOf(receipt) === text ? { ok: true, receipt } : refused('not_canonical')
}

/** Returns true for a text that begins as a compact receipt does; JSON in base64url begins otherwise. */
export function looksCompact(text: string): boolean {
  return /^A[Q-Za-f][\w-]*$/.test(text)
}

function refused(code: CompactCode, field: string | null = null): CompactProblem {
  return { ok: false, code, field, message: COMPACT_CODES[code] }
}

const SIGNED = [...SIGNED_FIELDS, ...TAIL_FIELDS] as const
const SIGNATURE = /^0x[0-9a-f]{128}1[bc]$/
const FIELDS: ReadonlySet<string> = new Set([...SIGNED, 'signer', 'signature'])

function faultOf(fields: Readonly<Record<string, unknown>>): CompactProblem | null {
  for (const name of SIGNED) {
    const value = fields[name]
    if (value === undefined && (name === 'successor' || name === 'stream_state')) continue
    if (typeof value !== (name === 'ts' ? 'number' : 'string') || !GRAMMAR[name].test(String(value))) return refused('off_grammar', name)
  }
  const { signer, signature } = fields
  if (typeof signer !== 'string' || !GRAMMAR.recipient.test(signer)) return refused('off_grammar', 'signer')
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return refused('off_grammar', 'signature')
  return Object.keys(fields).every((name) => FIELDS.has(name)) ? null : refused('unsigned_fields')
}

/** Compact text of a receipt that matches the grammar. */
function textOf(receipt: Receipt): string {
  return toBase64Url(hexToBytes(write(receipt)))
}

/** Writes the fields of a receipt that matches the grammar, as hexadecimal digits. */
function write(receipt: Receipt): string {
  const { tool, tool_version, input_hash, output_hash, payer, recipient, amount, nonce, ts, tier, successor, stream_state } = receipt
  const { signer, signature } = receipt
  const has_payer = payer !== ZERO_ADDRESS
  const successor_bytes = successor === undefined ? undefined : hexBytes(successor)
  const flags =
    (tier === 'paid' ? PAID : 0) |
    (signature.endsWith('1c') ? V_IS_28 : 0) |
    (has_payer ? PAYER : 0) |
    (SUCCESSORS.indexOf(successor_bytes) << SUCCESSOR_SHIFT) |
    (STATES.indexOf(stream_state) << STATE_SHIFT) |
    (amount.includes(' ') ? OTHER_TOKEN : 0)
  return [
    byteHex(VERSION) + byteHex(flags),
    byteHex(tool.length) + textHex(tool),
    byteHex(tool_version.length) + textHex(tool_version),
    input_hash.slice(2) + output_hash.slice(2),
    (has_payer ? payer.slice(2) : '') + recipient.slice(2),
    moneyHex(amount),
    nonce.slice(2),
    ts.toString(16).padStart(2 * TS_BYTES, '0'),
    (successor ?? '').slice(2),
    signer.slice(2),
    signature.slice(2, 2 + 2 * SIGNATURE_BYTES),
  ].join('')
}

/** The amount, and for a token other than USDC what names it. */
function moneyHex(text: string): string {
  const found = readAmount(text)
  if (found === null) throw new Error('The amount of the receipt breaks the XDR-1 grammar.')
  const { asset, amount_minor, price_minor } = found
  if (asset === null) return numberHex(amount_minor)
  const [chain = '', token = ''] = asset.slice('eip155:'.length).split('/erc20:0x')
  const chain_hex = BigInt(chain)
    .toString(16)
    .padStart(2 * CHAIN_BYTES, '0')
  return numberHex(amount_minor) + chain_hex + token + numberHex(price_minor)
}

/** A number without leading zeros after its length in bytes; nothing but the length for zero. */
function numberHex(value: bigint): string {
  const hex = value === 0n ? '' : evenHex(value.toString(16))
  return byteHex(hex.length / 2) + hex
}

function byteHex(value: number): string {
  return value.toString(16).padStart(2, '0')
}

/** ASCII text. */
function textHex(text: string): string {
  let hex = ''
  for (let index = 0; index < text.length; index++) hex += text.charCodeAt(index).toString(16)
  return hex
}

/** Bytes of 0x-prefixed hex; 0 for an empty text. */
function hexBytes(text: string): number {
  return text === '' ? 0 : (text.length - 2) / 2
}

function evenHex(digits: string): string {
  return digits.length % 2 === 0 ? digits : `0${digits}`
}

/** Reads the fields in order; a receipt that ends too early is noticed by its cursor. */
function read(cursor: Cursor): Receipt {
  cursor.number(1)
  const flags = cursor.number(1)
  const bit = (mask: number) => (flags & mask) !== 0
  const successor_bytes = SUCCESSORS[(flags >> SUCCESSOR_SHIFT) & 3]
  const state = STATES[(flags >> STATE_SHIFT) & 3]
  const tool = cursor.text(cursor.number(1))
  const tool_version = cursor.text(cursor.number(1))
  const input_hash = cursor.hex(HASH_BYTES)
  const output_hash = cursor.hex(HASH_BYTES)
  const payer = bit(PAYER) ? cursor.hex(ADDRESS_BYTES) : ZERO_ADDRESS
  const recipient = cursor.hex(ADDRESS_BYTES)
  const amount = readMoney(cursor, bit(OTHER_TOKEN))
  const nonce = cursor.hex(HASH_BYTES)
  const ts = cursor.number(TS_BYTES)
  const successor = successor_bytes === undefined ? undefined : cursor.hex(successor_bytes)
  const signer = cursor.hex(ADDRESS_BYTES)
  const signature = `${cursor.hex(SIGNATURE_BYTES)}${bit(V_IS_28) ? '1c' : '1b'}`
  return {
    v: 'XDR-1',
    tool,
    tool_version,
    input_hash,
    output_hash,
    payer,
    recipient,
    amount,
    nonce,
    ts,
    tier: bit(PAID) ? 'paid' : 'free',
    ...(successor === undefined ? {} : { successor }),
    ...(state === undefined ? {} : { stream_state: state }),
    signer,
    signature,
  }
}

function readMoney(cursor: Cursor, is_other_token: boolean): string {
  const number = () => BigInt(cursor.hex(cursor.number(1)) || 0)
  const amount_minor = number()
  if (!is_other_token) return amount_minor.toString()
  const chain = cursor.number(CHAIN_BYTES)
  const token = cursor.hex(ADDRESS_BYTES)
  const price_minor = number()
  return amountField({ asset: `eip155:${chain}/erc20:${token}`, amount_minor, price_minor })
}

/** Reads bytes in order. Beyond the end it reads nothing, and `left` is negative. */
class Cursor {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  left(): number {
    return this.#bytes.length - this.#at
  }

  #take(length: number): Uint8Array {
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Big-endian number of up to six bytes. */
  number(length: number): number {
    return this.#take(length).reduce((sum, byte) => sum * 256 + byte, 0)
  }

  text(length: number): string {
    return String.fromCharCode(...this.#take(length))
  }

  /** 0x-prefixed hex; empty for no bytes. */
  hex(length: number): string {
    const bytes = this.#take(length)
    return bytes.length === 0 ? '' : toHex(bytes)
  }
}
