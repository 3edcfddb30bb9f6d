/**
 * EIP-712 (final as of 2023) for flat messages, which wallets show to the signer field by field. A domain has a name and a version, and may name
 * a chain and a contract.
 * Throws a RangeError for a value that does not fit its type.
 */
import { fromHex, type ReceiptCrypto, readSignature } from '../receipts/crypto.ts'
import { addressWord, bytes32Word, uintWord } from './token-calls.ts'

type FieldType = 'string' | 'string[]' | 'address' | 'bytes32' | 'uint256' | 'uint64' | 'bool'

export interface TypedStruct {
  readonly name: string
  /** In hashing order. */
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[]
}

/** Integers are bigints, or numbers where a double holds them; addresses and words are 0x-prefixed hex. */
export type TypedMessage = Readonly<Record<string, string | bigint | number | boolean | readonly string[]>>

/** Domain of a signature, in the names of the standard. An object never changes: its hash is kept. */
export interface TypedDomain {
  readonly name: string
  readonly version: string
  readonly chainId?: number
  readonly verifyingContract?: string
}

/** Domain of a rule book, whose signatures are valid on every chain. */
export function ruleBookDomain(standard: string): TypedDomain {
  return { name: standard, version: '1' }
}

type Keccak = Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>

/** Returns the 32-byte digest that a wallet signs. */
export function typedDigest(domain: TypedDomain, struct: TypedStruct, message: TypedMessage, crypto: Keccak): Uint8Array {
  const hash = crypto.keccak256Hex
  return crypto.keccak256(hexBytes(`1901${separatorOf(domain, hash)}${structHash(struct, message, hash)}`))
}

/** Separators and hashes of types by the objects that name them: constants are hashed once. */
const separators = new WeakMap<TypedDomain, string>()
const typeHashes = new WeakMap<TypedStruct, string>()

function separatorOf(domain: TypedDomain, hash: Keccak['keccak256Hex']): string {
  const known = separators.get(domain)
  if (known !== undefined) return known
  const separator = structHash({ name: 'EIP712Domain', fields: domainFields(domain) }, { ...domain }, hash)
  separators.set(domain, separator)
  return separator
}

function typeHashOf(struct: TypedStruct, hash: Keccak['keccak256Hex']): string {
  const known = typeHashes.get(struct)
  if (known !== undefined) return known
  const found = hash(`${struct.name}(${struct.fields.map((field) => `${field.type} ${field.name}`).join(',')})`)
  typeHashes.set(struct, found)
  return found
}

function structHash(struct: TypedStruct, message: TypedMessage, hash: Keccak['keccak256Hex']): string {
  const words = [typeHashOf(struct, hash), ...struct.fields.map((field) => encodeField(field, message[field.name], hash))]
  return hash(hexBytes(words.map((word) => word.replace('0x', '')).join(''))).slice(2)
}

const DOMAIN_FIELDS: TypedStruct['fields'] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** Fields that the domain has, in the order of the standard. */
function domainFields(domain: TypedDomain): TypedStruct['fields'] {
  return DOMAIN_FIELDS.filter(({ name }) => Object.hasOwn(domain, name))
}

/** A message in the form of eth_signTypedData_v4, which every wallet signs. */
export type TypedData = {
  domain: TypedDomain
  types: Record<string, TypedStruct['fields']>
  primaryType: string
  /** Integers are decimal strings. */
  message: Record<string, string | boolean | readonly string[]>
}

export function typedDataJson(domain: TypedDomain, struct: TypedStruct, message: TypedMessage): TypedData {
  return {
    domain,
    types: { EIP712Domain: domainFields(domain), [struct.name]: [...struct.fields] },
    primaryType: struct.name,
    message: Object.fromEntries(
      Object.entries(message).map(([name, value]) => [
        name,
        typeof value === 'bigint' || typeof value === 'number' ? String(value) : value,
      ]),
    ),
  }
}

/**
 * Returns the account whose key signed the digest, for 65 bytes with low s; null for every other text. Contract wallets have no such
 * signature.
 */
export function typedSigner(digest: Uint8Array, signature: string, crypto: ReceiptCrypto): string | null {
  const read = readSignature(signature)
  return read.ok && !read.high_s ? crypto.recover(digest, read.rs, read.recovery) : null
}

const UINT64_END = 1n << 64n

function encodeField(
  { name, type }: TypedStruct['fields'][number],
  value: TypedMessage[string] | undefined,
  hash: Keccak['keccak256Hex'],
): string {
  if (typeof value === 'boolean') {
    if (type === 'bool') return uintWord(value ? 1n : 0n)
  } else if (typeof value === 'bigint' || typeof value === 'number') {
    if (type === 'uint256' || (type === 'uint64' && value < UINT64_END)) return uintWord(BigInt(value))
  } else if (typeof value === 'string') {
    if (type === 'string') return hash(value)
    if (type === 'address') return addressWord(value)
    if (type === 'bytes32') return bytes32Word(value)
  } else if (value !== undefined && type === 'string[]') {
    return hash(hexBytes(value.map((item) => hash(item).slice(2)).join('')))
  }
  throw new RangeError(`the field ${name} is not a valid ${type}`)
}

function hexBytes(digits: string): Uint8Array {
  return fromHex(`0x${digits}`) ?? new Uint8Array()
}

/** Returns the digest of typed data in the form of wallets. Throws a RangeError for types that are not flat, or values that do not fit them. */
export function typedDataDigest({ domain, types, primaryType, message }: TypedData, crypto: Keccak): Uint8Array {
  const fields = types[primaryType]
  if (fields === undefined) throw new RangeError(`types has no ${primaryType}`)
  const values = fields.map(({ name, type }) => [name, readValue(name, type, message[name])] as const)
  return typedDigest(domain, { name: primaryType, fields }, Object.fromEntries(values), crypto)
}

function readValue(name: string, type: FieldType, value: TypedData['message'][string] | undefined): TypedMessage[string] {
  if (value === undefined) throw new RangeError(`the message has no ${name}`)
  if (!type.startsWith('uint')) return value
  if (typeof value !== 'string' || !/^(?:0|[1-9][0-9]{0,77})$/.test(value)) throw new RangeError(`the field ${name} is not a valid ${type}`)
  return BigInt(value)
}
