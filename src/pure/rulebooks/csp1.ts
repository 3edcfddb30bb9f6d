import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, fromHex, nobleCrypto, type ReceiptCrypto, toHex } from '../receipts/crypto.ts'
import { readEvmAddress } from '../checks/evm-address.ts'
import { unpayableAddress } from '../contracts/unpayable.ts'
import { canonicalText } from '../receipts/canonical.ts'
import { ruleBook } from './rule-book.ts'

type Point = InstanceType<typeof secp256k1.Point>

/** The two public keys of a recipient; with a short meta-address they are one. */
interface MetaAddress {
  readonly spending: Point
  readonly viewing: Point
}

/** Points are 33 bytes, 65 bytes with both coordinates, or nothing: infinity and points off the curve are refused. */
function readPoint(bytes: Uint8Array): Point | null {
  try {
    // noble knows no encoding of infinity.
    return secp256k1.Point.fromBytes(bytes)
  } catch {
    return null
  }
}

type MetaReading = { ok: true; meta: MetaAddress } | { ok: false; code: 'recipient_malformed' | 'point_invalid' }

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

interface StealthAddress {
  /** 0x-prefixed, lower case. */
  stealth_address: string
  /** 33 bytes, 0x-prefixed. */
  ephemeral_pubkey: string
  /** One byte, 0x-prefixed. */
  view_tag: string
}

/**
 * Derives the stealth address that only the recipient can spend from, by scheme 1 of ERC-5564. The ERC leaves the hash of the shared secret
 * open: here it is keccak-256 of the compressed point, as in the ScopeLift SDK (2024). null for a key out of range and for invalid curve
 * results, which practically never occur.
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

/** Payment of an invoice: a token by its 0x address, or `native` for the chain's currency; the amount in smallest units. */
interface Paid {
  readonly token: string
  readonly amount: bigint
}

/** Markers for the native currency, and the selector of ERC-20 `transfer(address,uint256)`. */
const NATIVE = { selector: 'ee'.repeat(4), token: 'ee'.repeat(20) }
const TRANSFER_SELECTOR = 'a9059cbb'

/** Metadata of an announcement: the view tag, and in 57 bytes the selector, the token and the amount when they are known. */
function announcementMetadata(view_tag: string, paid: Paid | null): string {
  if (paid === null) return view_tag
  const selector = paid.token === 'native' ? NATIVE.selector : TRANSFER_SELECTOR
  const token = paid.token === 'native' ? NATIVE.token : paid.token.slice(2).toLowerCase()
  return `${view_tag}${selector}${token}${paid.amount.toString(16).padStart(64, '0')}`
}

/** HMAC under a secret that the caller of the service cannot know: a tag without bar and a text give 64 hexadecimal digits. */
type Hmac = (tag: string, text: string) => string

/** Parts of fixed length before the one that has none: no two inputs share a text. */
const TAGS = { commitment: 'CSP-1 commitment', salt: 'CSP-1 salt', ephemeral: 'CSP-1 ephemeral' } as const

export const CSP1 = ruleBook('CSP-1', {
  commitment: 'keccak256(keccak256(tag) || salt || RFC 8785 text of the invoice)',
  derived_salt: 'keccak256(keccak256(tag) || HMAC-SHA256(secret, invoice))',
  tags: TAGS,
  salt_bytes: 32,
  stealth: { erc: 5564, scheme_id: 1, shared_secret: 'keccak256(compressed point)', metadata_bytes: [1, 57] },
})

/** The announcer of ERC-5564, at one address on every chain that has it. */
const ANNOUNCER = '0x55649E01B5Df198D18D95b5cc5051630cfD45564'

export const CSP1_CODES = {
  invoice_empty: 'The invoice is empty, so the commitment binds to nothing.',
  salt_predictable: 'All bytes of the salt are the same, so a reader who guesses the terms can open the commitment.',
  recipient_missing: 'ephemeral_pubkey and view_tag belong to a stealth_recipient, which is missing.',
  recipient_malformed: 'stealth_recipient is neither an address (20 bytes) nor a meta-address of one or two points of 33 bytes.',
  recipient_checksum: 'The checksum of stealth_recipient (EIP-55) is broken.',
  recipient_zero: 'stealth_recipient is the zero address.',
  recipient_unpayable: 'stealth_recipient is a contract, a precompile or a burn address: money sent there is lost.',
  point_invalid: 'A public key is not a point of secp256k1.',
  ephemeral_missing: 'With an address, ephemeral_pubkey is needed; with a meta-address it is derived here.',
  ephemeral_malformed: 'ephemeral_pubkey is not a key of 33 or 65 bytes.',
  ephemeral_not_expected: 'With a meta-address, ephemeral_pubkey and view_tag are derived here and must not be given.',
  view_tag_missing: 'With an address, view_tag is needed; with a meta-address it is derived here.',
} as const

type Csp1Code = keyof typeof CSP1_CODES

interface CommitmentRequest {
  readonly invoice_object: Readonly<Record<string, unknown>>
  /** 0x and 64 hexadecimal digits. */
  readonly salt_hex?: string | undefined
  readonly stealth_recipient?: string | undefined
  readonly ephemeral_pubkey?: string | undefined
  /** 0x and two hexadecimal digits. */
  readonly view_tag?: string | undefined
}

interface Announcement extends StealthAddress {
  scheme_id: 1
  metadata: string
  announcer: string
}

interface Commitment {
  ok: boolean
  codes: Csp1Code[]
  salt_hex: string
  salt_source: 'given' | 'derived'
  invoice_commitment: string
  canonical_jcs: string
  announcement: Announcement | null
  /** True if the service derived the address, so that it could link the payment to the recipient. */
  linkable_by_service: boolean
}

/**
 * Binds to an invoice without showing it, and packages or derives the announcement of a stealth payment. A salt that is not given follows
 * from the invoice and the service's secret: the same invoice gives the same commitment, and who knows only the terms cannot guess it. Throws
 * `CanonicalError` for an invoice that is not JSON. Errs towards refusing: a recipient that is not sound gives no announcement.
 */
export function createCommitment(asked: CommitmentRequest, hmac: Hmac, crypto: ReceiptCrypto = nobleCrypto): Commitment {
  const canonical_jcs = canonicalText(asked.invoice_object)
  const salt_hex = asked.salt_hex?.toLowerCase() ?? deriveSalt(canonical_jcs, hmac, crypto)
  const invoice_commitment = computeCommitment(canonical_jcs, salt_hex, crypto)
  const found = makeAnnouncement(asked, invoice_commitment, hmac, crypto)
  const codes: Csp1Code[] = [
    ...(Object.keys(asked.invoice_object).length === 0 ? (['invoice_empty'] as const) : []),
    ...(/^0x(..)\1{31}$/.test(salt_hex) ? (['salt_predictable'] as const) : []),
    ...(found.ok ? [] : [found.code]),
  ]
  return {
    ok: codes.length === 0,
    codes,
    salt_hex,
    salt_source: asked.salt_hex === undefined ? 'derived' : 'given',
    invoice_commitment,
    canonical_jcs,
    announcement: found.ok ? found.announcement : null,
    linkable_by_service: found.ok && found.derived,
  }
}

/** The commitment to a canonical text under a salt of 32 bytes. */
function computeCommitment(canonical_jcs: string, salt_hex: string, crypto: ReceiptCrypto): string {
  return crypto.keccak256Hex(concatBytes(crypto.keccak256(TAGS.commitment), read32Bytes(salt_hex), new TextEncoder().encode(canonical_jcs)))
}

function deriveSalt(canonical_jcs: string, hmac: Hmac, crypto: ReceiptCrypto): string {
  return crypto.keccak256Hex(concatBytes(crypto.keccak256(TAGS.salt), read32Bytes(`0x${hmac(TAGS.salt, canonical_jcs)}`)))
}

type Announced = { ok: true; announcement: Announcement | null; derived: boolean } | { ok: false; code: Csp1Code }

function makeAnnouncement(asked: CommitmentRequest, invoice_commitment: string, hmac: Hmac, crypto: ReceiptCrypto): Announced {
  const { stealth_recipient, ephemeral_pubkey, view_tag } = asked
  if (stealth_recipient === undefined) {
    const stray = ephemeral_pubkey !== undefined || view_tag !== undefined
    return stray ? { ok: false, code: 'recipient_missing' } : { ok: true, announcement: null, derived: false }
  }
  const paid = readPayment(asked.invoice_object)
  const whole = (stealth: StealthAddress, derived: boolean): Announced => {
    const metadata = announcementMetadata(stealth.view_tag, paid)
    return { ok: true, announcement: { scheme_id: 1, ...stealth, metadata, announcer: ANNOUNCER }, derived }
  }
  if (/^0x[0-9a-fA-F]{40}$/.test(stealth_recipient)) {
    const packaged = packageAddress(stealth_recipient, ephemeral_pubkey, view_tag)
    return packaged.ok ? whole(packaged.stealth, false) : packaged
  }
  const read = readMetaAddress(stealth_recipient)
  if (!read.ok) return read
  if (ephemeral_pubkey !== undefined || view_tag !== undefined) return { ok: false, code: 'ephemeral_not_expected' }
  for (let attempt = 0; ; attempt++) {
    // The key is as unguessable as the secret, and another one for every invoice, salt and recipient.
    const text = `${invoice_commitment}|${toHex(read.meta.spending.toBytes(true))}|${toHex(read.meta.viewing.toBytes(true))}|${attempt}`
    const stealth = stealthAddress(read.meta, BigInt(`0x${hmac(TAGS.ephemeral, text)}`), crypto)
    if (stealth !== null) return whole(stealth, true)
    if (attempt === ATTEMPTS_MAX) throw new Error('No ephemeral key was found: the derivation is broken.')
  }
}

/** One attempt fails with odds of 1 to 2^127. */
const ATTEMPTS_MAX = 8

function packageAddress(recipient: string, ephemeral_pubkey: string | undefined, view_tag: string | undefined) {
  const refuse = (code: Csp1Code) => ({ ok: false, code }) as const
  const address = readEvmAddress(recipient)
  if (address === null) return refuse('recipient_malformed')
  if (address.checksum === 'broken') return refuse('recipient_checksum')
  const unpayable = unpayableAddress(address.address)
  if (unpayable !== null) return refuse(unpayable.kind === 'zero' ? 'recipient_zero' : 'recipient_unpayable')
  if (ephemeral_pubkey === undefined) return refuse('ephemeral_missing')
  if (view_tag === undefined) return refuse('view_tag_missing')
  const bytes = fromHex(ephemeral_pubkey)
  if (bytes === null || (bytes.length !== 33 && bytes.length !== 65)) return refuse('ephemeral_malformed')
  const point = readPoint(bytes)
  if (point === null) return refuse('point_invalid')
  const stealth = { stealth_address: address.address, ephemeral_pubkey: toHex(point.toBytes(true)), view_tag: view_tag.toLowerCase() }
  return { ok: true, stealth } as const
}

const UINT256 = 1n << 256n

/** Token and amount of the invoice, if it has `token_address` (an address or `native`) and `amount_minor` (decimal text). */
function readPayment(invoice: Readonly<Record<string, unknown>>): Paid | null {
  const [token, amount] = [invoice['token_address'], invoice['amount_minor']]
  if (typeof token !== 'string' || typeof amount !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(amount)) return null
  const units = BigInt(amount)
  if (units >= UINT256) return null
  return token === 'native' || /^0x[0-9a-fA-F]{40}$/.test(token) ? { token, amount: units } : null
}

function read32Bytes(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes?.length !== 32) throw new Error('32 bytes as 0x-prefixed hexadecimal digits were promised.')
  return bytes
}

function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
