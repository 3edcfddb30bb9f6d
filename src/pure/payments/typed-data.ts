/**
 * EIP-712 (final as of 2023) for flat messages under a domain of name and version alone: what wallets show to whoever signs, field by field.
 * Throws a RangeError for a value that its type cannot hold.
 */
import { fromHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { readSignature } from '../receipts/signature.ts'
import { addressWord, bytes32Word, uintWord } from './abi.ts'

type FieldType = 'string' | 'string[]' | 'address' | 'bytes32' | 'uint256' | 'uint64' | 'bool'

export interface TypedStruct {
  name: string
  /** In the order in which they are hashed. */
  fields: readonly { name: string; type: FieldType }[]
}

/** Whole numbers are bigints, addresses and words 0x-prefixed hex. */
export type TypedMessage = Readonly<Record<string, string | bigint | boolean | readonly string[]>>

type Keccak = ReceiptCrypto['keccak256Hex']

/** The 32-byte digest that a wallet signs. */
export function typedDigest(standard: string, struct: TypedStruct, message: TypedMessage, crypto: ReceiptCrypto): Uint8Array {
  const hash = crypto.keccak256Hex
  const domain = [hash('EIP712Domain(string name,string version)'), hash(standard), hash('1')]
  const type = `${struct.name}(${struct.fields.map((field) => `${field.type} ${field.name}`).join(',')})`
  const words = struct.fields.map((field) => wordOf(field, message[field.name], hash))
  return crypto.keccak256(bytesOf(`1901${hashWords(domain, hash)}${hashWords([hash(type), ...words], hash)}`))
}

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
] as const

/** The same message in the form that eth_signTypedData_v4 takes, which every wallet signs. Whole numbers are decimal texts. */
export function typedDataJson(standard: string, struct: TypedStruct, message: TypedMessage) {
  return {
    domain: { name: standard, version: '1' },
    types: { EIP712Domain: [...DOMAIN_FIELDS], [struct.name]: [...struct.fields] },
    primaryType: struct.name,
    message: Object.fromEntries(Object.entries(message).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value])),
  }
}

/** The account whose key signed the digest: 65 bytes with low s. Null for every other text; contract wallets have none. */
export function typedSigner(digest: Uint8Array, signature: string, crypto: ReceiptCrypto): string | null {
  const read = readSignature(signature)
  return read.ok && !read.high_s ? crypto.recover(digest, read.rs, read.recovery) : null
}

const UINT64_END = 1n << 64n

function wordOf({ name, type }: TypedStruct['fields'][number], value: TypedMessage[string] | undefined, hash: Keccak): string {
  if (typeof value === 'boolean') {
    if (type === 'bool') return uintWord(value ? 1n : 0n)
  } else if (typeof value === 'bigint') {
    if (type === 'uint256' || (type === 'uint64' && value < UINT64_END)) return uintWord(value)
  } else if (typeof value === 'string') {
    if (type === 'string') return hash(value)
    if (type === 'address') return addressWord(value)
    if (type === 'bytes32') return bytes32Word(value)
  } else if (value !== undefined && type === 'string[]') {
    return hash(bytesOf(value.map((item) => hash(item).slice(2)).join('')))
  }
  throw new RangeError(`the field ${name} is no ${type}`)
}

function hashWords(words: readonly string[], hash: Keccak): string {
  return hash(bytesOf(words.map((word) => word.replace('0x', '')).join(''))).slice(2)
}

function bytesOf(digits: string): Uint8Array {
  return fromHex(`0x${digits}`) ?? new Uint8Array()
}
