/**
 * ERC-6492: the signature of a contract wallet that is not deployed yet, wrapped together with the call that deploys it:
 * abi.encode(address factory, bytes factoryCalldata, bytes signature) and a magic word behind it.
 */
import { addressOf, readTail, uintWord, wordsOf } from './abi.ts'

const MAGIC = '6492'.repeat(16)

export interface SignatureWrapper {
  /** Whoever is called to deploy the wallet. It may be any contract: only an allow-list makes it safe. */
  factory: string
  factory_data: string
  inner_signature: string
}

/** Whether a signature says that it is wrapped. If so and `readSignatureWrapper` returns null, it is broken. */
export function isInSignatureWrapper(signature: string): boolean {
  return signature.length >= 2 + MAGIC.length && signature.endsWith(MAGIC)
}

/**
 * What is inside; null for what is not wrapped or not laid out as abi.encode does it: head, first tail, second tail, each byte once. A looser
 * reader could be shown one call where another reads a different one.
 */
export function readSignatureWrapper(signature: string): SignatureWrapper | null {
  if (!isInSignatureWrapper(signature)) return null
  const words = wordsOf(signature.slice(0, -MAGIC.length))
  if (words === null || words[0] === undefined || words[1] !== uintWord(96n)) return null
  const factory = addressOf(words[0])
  const call = readTail(words, 3)
  if (factory === null || call === null || words[2] !== uintWord(BigInt(32 * call.next))) return null
  const inner = readTail(words, call.next)
  if (inner === null || inner.next !== words.length) return null
  return { factory, factory_data: call.bytes, inner_signature: inner.bytes }
}
