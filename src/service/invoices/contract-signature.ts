import type { ChainReadResult } from '../../ports/chain.ts'
import { bytes32Word, bytesTail, uintWord } from '../../pure/payments/abi.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { limits } from '../limits.ts'
import { INVOICE_RULES } from './rules.ts'

/** isValidSignature(bytes32,bytes), and the word that it returns for yes (ERC-1271, final). */
const SELECTOR = '0x1626ba7e'
const YES = `${SELECTOR}${'0'.repeat(56)}`

/** Whether a contract wallet takes a signature over a digest as its own, asked of the chain. Rejects as the chain does. */
export interface ContractSignatures {
  accepts(wallet: string, digest: Uint8Array, signature: string): Promise<boolean>
}

interface SignatureRead {
  kind: 'call'
  to: string
  data: string
  gas: bigint
}

/**
 * By ERC-1271 at the newest block, with bounded gas, in one round trip. An account without code accepts nothing, and so does a wallet that reverts
 * or returns anything but the one word for yes. What holds now may not hold later: a wallet can change its owners.
 */
export function createContractSignatures(read: (reads: SignatureRead[]) => Promise<ChainReadResult[]>): ContractSignatures {
  return {
    async accepts(wallet, digest, signature) {
      if (!isBytes(signature)) return false
      const data = SELECTOR + bytes32Word(toHex(digest)) + uintWord(64n) + bytesTail(signature)
      const [answer] = await read([{ kind: 'call', to: wallet, data, gas: INVOICE_RULES.signature_gas }])
      return answer?.ok === true && answer.data.slice(0, YES.length) === YES
    },
  }
}

function isBytes(signature: string): boolean {
  return signature.length <= 2 + 2 * limits.payment_signature_bytes && /^0x(?:[0-9a-fA-F]{2})+$/.test(signature)
}
