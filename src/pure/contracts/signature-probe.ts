/** Creation code that asks a wallet which is not deployed yet for its signature (ERC-6492). Source: contracts/SignatureProbe.sol. */
import artifact from '../../../data/contracts/signature-probe.json' with { type: 'json' }
import type { SignatureWrapper } from '../payments/signature-wrapper.ts'
import { addressWord, bytes32Word, bytesTail, uintWord } from '../payments/token-calls.ts'

/** Data of an `eth_call` without a recipient; it returns the word 1 if the wallet accepts the inner signature. Arguments are 0x-prefixed hex. */
export function signatureProbe(wallet: string, digest: string, { factory, factory_data, inner_signature }: SignatureWrapper): string {
  const signature = bytesTail(inner_signature)
  const heads = 5n * 32n
  const behind = heads + BigInt(signature.length / 2)
  const words = [addressWord(wallet), bytes32Word(digest), uintWord(heads), addressWord(factory), uintWord(behind)]
  return artifact.creation_code + words.join('') + signature + bytesTail(factory_data)
}

export const PROBE_YES = `0x${uintWord(1n)}`
