/**
 * The payer's signature: EIP-712 over `TransferWithAuthorization` of EIP-3009 (both final as of 2023), its digest, and how a signature over it is read.
 * Hand-written, because a payment is hashed on the hot path and its structure never varies.
 */
import { type ReceiptCrypto, readSignature } from '../receipts/crypto.ts'

const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const TRANSFER_TYPE =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'

const WORD = 32
const ADDRESS_BYTES = 20

/**
 * Returns the function that computes the 32-byte EIP-712 digest of an authorization for one token. The domain separator is hashed once
 * here, so a digest costs two hashes. The function throws a RangeError for an invalid address, nonce or number: such an authorization has
 * no digest.
 */
export function createAuthorizationDigest(
  domain: TokenDomain,
  keccak256: ReceiptCrypto['keccak256'],
): (authorization: Authorization) => Uint8Array {
  // Both buffers are reused: hashing is synchronous and the hash function keeps no reference to them.
  const struct = new Uint8Array(7 * WORD)
  const numbers = new DataView(struct.buffer)
  const envelope = new Uint8Array(2 + 2 * WORD)
  struct.set(keccak256(TRANSFER_TYPE))
  envelope.set([0x19, 0x01])
  envelope.set(domainSeparator(domain, keccak256), 2)
  return ({ from, to, value_minor, valid_after_s, valid_before_s, nonce }) => {
    writeHex(struct, 2 * WORD, from, ADDRESS_BYTES)
    writeHex(struct, 3 * WORD, to, ADDRESS_BYTES)
    writeUint(numbers, 3 * WORD, value_minor)
    writeUint(numbers, 4 * WORD, valid_after_s)
    writeUint(numbers, 5 * WORD, valid_before_s)
    writeHex(struct, 7 * WORD, nonce, WORD)
    envelope.set(keccak256(struct), 2 + WORD)
    return keccak256(envelope)
  }
}

/** Returns the 32 bytes that the token's DOMAIN_SEPARATOR() returns when name, version, chain and address are those of the token. */
export function domainSeparator(domain: TokenDomain, keccak256: ReceiptCrypto['keccak256']): Uint8Array {
  const fields = new Uint8Array(5 * WORD)
  fields.set(keccak256(DOMAIN_TYPE))
  fields.set(keccak256(domain.name), WORD)
  fields.set(keccak256(domain.version), 2 * WORD)
  writeUint(new DataView(fields.buffer), 3 * WORD, BigInt(domain.chain_id))
  writeHex(fields, 5 * WORD, domain.verifying_contract, ADDRESS_BYTES)
  return keccak256(fields)
}

/** Signature of an account's key in the one form that every token accepts. */
export interface AccountSignature {
  /** r and s, 64 bytes. */
  rs: Uint8Array
  recovery: 0 | 1
  v: 27 | 28
  /** 0x-prefixed lower-case hex, 32 bytes. */
  r: string
  s: string
  /** s is in the upper half of the group order (malleable form), which USDC and OpenZeppelin reject. */
  high_s: boolean
}

/**
 * Reads 65 bytes r, s, v (v of 0, 1, 27 or 28) or the 64 bytes of EIP-2098, as 0x-prefixed hex. Returns null for anything else and for r or
 * s out of range; the signature of a contract wallet may be either.
 */
export function normaliseSignature(hex: string): AccountSignature | null {
  const text = hex.length === 130 ? expandCompact(hex) : hex
  const reading = readSignature(text)
  if (!reading.ok) return null
  const { rs, recovery, high_s } = reading
  const digits = text.toLowerCase()
  return { rs, recovery, v: recovery === 0 ? 27 : 28, r: `0x${digits.slice(2, 66)}`, s: `0x${digits.slice(66, 130)}`, high_s }
}

/**
 * Returns the account whose key signed the digest, as lower-case hex; null when recovery fails, and for high s, which the token rejects.
 */
export function recoverPayer(digest: Uint8Array, signature: AccountSignature, recover: ReceiptCrypto['recover']): string | null {
  return signature.high_s ? null : recover(digest, signature.rs, signature.recovery)
}

/** Expands the EIP-2098 form, which stores the recovery bit in the top bit of s; low s leaves that bit free. */
function expandCompact(hex: string): string {
  const top = NIBBLES[hex.charCodeAt(66)] ?? NO_DIGIT
  if (top === NO_DIGIT) return ''
  return `${hex.slice(0, 66)}${(top & 7).toString(16)}${hex.slice(67)}${top >= 8 ? '1c' : '1b'}`
}

const NO_DIGIT = 0xff

/** Value of a hexadecimal digit by its character code. */
const NIBBLES = new Uint8Array(128).fill(NO_DIGIT)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  NIBBLES[digit.charCodeAt(0)] = value
  NIBBLES[digit.toUpperCase().charCodeAt(0)] = value
}

/** Decodes 0x-prefixed hex of exactly `bytes` bytes into the buffer so that it ends before `end`. */
function writeHex(into: Uint8Array, end: number, hex: string, bytes: number): void {
  if (hex.length !== 2 + 2 * bytes || !hex.startsWith('0x')) throw new RangeError(`not 0x and ${2 * bytes} hexadecimal digits`)
  for (let index = 2, at = end - bytes; at < end; at++, index += 2) {
    const high = NIBBLES[hex.charCodeAt(index)] ?? NO_DIGIT
    const low = NIBBLES[hex.charCodeAt(index + 1)] ?? NO_DIGIT
    if (high === NO_DIGIT || low === NO_DIGIT) throw new RangeError(`not 0x and ${2 * bytes} hexadecimal digits`)
    into[at] = (high << 4) | low
  }
}

const UINT64_END = 1n << 64n
const UINT256_END = 1n << 256n

function writeUint(into: DataView, start: number, value: bigint): void {
  if (value < 0n || value >= UINT256_END) throw new RangeError('not a uint256')
  const small = value < UINT64_END
  into.setBigUint64(start, small ? 0n : value >> 192n)
  // setBigUint64 stores the lowest 64 bits of its argument.
  into.setBigUint64(start + 8, small ? 0n : value >> 128n)
  into.setBigUint64(start + 16, small ? 0n : value >> 64n)
  into.setBigUint64(start + 24, value)
}

/** Transfer that a payer signs (EIP-3009, transferWithAuthorization). Addresses and nonce are 0x-prefixed lower-case hex. */
export interface Authorization {
  from: string
  to: string
  value_minor: bigint
  /** Seconds since 1970; the token accepts the authorization strictly between the two times. */
  valid_after_s: bigint
  valid_before_s: bigint
  /** 32 bytes, chosen by the payer; usable once. */
  nonce: string
}

/** Authorization with its signature: 65 bytes of an account's key, or bytes that a contract wallet verifies (ERC-1271). */
export interface SignedAuthorization extends Authorization {
  /** 0x-prefixed lower-case hex. */
  signature: string
}

/** The EIP-712 domain of a token. */
export interface TokenDomain {
  name: string
  version: string
  chain_id: number
  verifying_contract: string
}
