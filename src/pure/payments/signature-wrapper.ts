/**
 * ERC-6492: the signature of a contract wallet that is not deployed yet, wrapped together with the call that deploys it:
 * abi.encode(address factory, bytes factoryCalldata, bytes signature) and a magic word behind it.
 */
import probe from '../../../data/contracts/signature-probe.json' with { type: 'json' }
import { addressInWord, addressWord, bytes32Word, bytesTail, readAbiBytes, uintWord, splitAbiWords } from './token-calls.ts'

const MAGIC = '6492'.repeat(16)

export interface SignatureWrapper {
  /** Contract that is called to deploy the wallet. It may be any contract, so callers must compare it with an allow-list. */
  factory: string
  factory_data: string
  inner_signature: string
}

/**
 * Returns true when a signature ends with the magic word of ERC-6492. When `readSignatureWrapper` then returns null, the wrapper is
 * malformed.
 */
export function isWrappedSignature(signature: string): boolean {
  return signature.length >= 2 + MAGIC.length && signature.endsWith(MAGIC)
}

/**
 * Decodes a wrapper; null for an unwrapped signature and for any layout other than that of abi.encode: head, first tail, second tail, each
 * byte once. A looser decoder could read another deployment call than the token or wallet reads.
 */
export function readSignatureWrapper(signature: string): SignatureWrapper | null {
  if (!isWrappedSignature(signature)) return null
  const words = splitAbiWords(signature.slice(0, -MAGIC.length))
  if (words === null || words[0] === undefined || words[1] !== uintWord(96n)) return null
  const factory = addressInWord(words[0])
  const call = readAbiBytes(words, 3)
  if (factory === null || call === null || words[2] !== uintWord(BigInt(32 * call.next))) return null
  const inner = readAbiBytes(words, call.next)
  if (inner === null || inner.next !== words.length) return null
  return { factory, factory_data: call.bytes, inner_signature: inner.bytes }
}

/**
 * Data of an `eth_call` without a recipient that asks a wallet which is not deployed yet; it returns the word 1 if the wallet accepts the inner
 * signature. Arguments are 0x-prefixed hex. Source: contracts/SignatureProbe.sol.
 */
export function signatureProbe(wallet: string, digest: string, { factory, factory_data, inner_signature }: SignatureWrapper): string {
  const signature = bytesTail(inner_signature)
  const heads = 5n * 32n
  const behind = heads + BigInt(signature.length / 2)
  const words = [addressWord(wallet), bytes32Word(digest), uintWord(heads), addressWord(factory), uintWord(behind)]
  return probe.creation_code + words.join('') + signature + bytesTail(factory_data)
}

export const PROBE_YES = `0x${uintWord(1n)}`
