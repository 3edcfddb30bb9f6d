import type { ChainReadResult } from '../../ports/chain.ts'
import { PROBE_YES, readSignatureWrapper, signatureProbe } from '../../pure/payments/signature-wrapper.ts'
import { bytes32Word, bytesTail, uintWord } from '../../pure/payments/token-calls.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { INVOICE_RULES, limits } from '../limits.ts'
import type { OutsideReads, RateLimitCode } from '../payments/allowance.ts'
import { problem, type Problem } from '../problems.ts'
import { isChainFault } from '../chain-fault.ts'

/** isValidSignature(bytes32,bytes), and the word that it returns for yes (ERC-1271, final). */
const SELECTOR = '0x1626ba7e'
const YES = `${SELECTOR}${'0'.repeat(56)}`

/** A signature that no key of `wallet` made, from a client that has not paid. */
interface ContractQuestion {
  wallet: string
  digest: Uint8Array
  signature: string
  /** Address of the client, whose budget the read draws on. */
  client: string
  /** Refusal where the wallet rejects the signature. */
  wrong: Problem
  /** Code of the refusal where the budget is used up. */
  rate_code: RateLimitCode
}

/** Asks contract wallets on the chain whether a signature is their own (ERC-1271). */
export interface ContractSignatures {
  /** Null when the wallet accepts the signature. The read draws on the budget of reads without a payment, and a rejection counts as a failure. */
  refusal(question: ContractQuestion): Promise<Problem | null>
}

interface SignatureRead {
  kind: 'call'
  to: string | null
  data: string
  gas: bigint
}

/**
 * By ERC-1271 at the newest block, with bounded gas, in one round trip. An account without code accepts no signature, nor does a wallet
 * that reverts or returns anything but the ERC-1271 magic value. A signature wrapped by ERC-6492 is asked of the wallet as its factory would
 * deploy it, without a transaction. A later check may give another result: a wallet can change its owners.
 */
export function createContractSignatures(
  read: (reads: SignatureRead[]) => Promise<ChainReadResult[]>,
  reads: OutsideReads,
): ContractSignatures {
  return {
    async refusal({ wallet, digest, signature, client, wrong, rate_code }) {
      if (!isBytes(signature)) return wrong
      const taken = await reads.take(client, rate_code)
      if (!taken.ok) return taken.problem
      const { yes, ...question } = questionTo(wallet, toHex(digest), signature.toLowerCase())
      try {
        const [answer] = await read([{ kind: 'call', ...question }])
        if (answer?.ok === true && answer.data.slice(0, yes.length) === yes) return null
      } catch (error) {
        if (!isChainFault(error)) throw error
        await taken.give_back()
        return chainDown()
      }
      taken.failed()
      return wrong
    },
  }
}

/** Read that asks the wallet, and the beginning of its answer for yes. */
function questionTo(wallet: string, digest: string, signature: string) {
  const { signature_gas, deployment_gas } = INVOICE_RULES
  const wrapper = readSignatureWrapper(signature)
  if (wrapper !== null)
    return { to: null, data: signatureProbe(wallet, digest, wrapper), gas: signature_gas + deployment_gas, yes: PROBE_YES }
  return { to: wallet, data: SELECTOR + bytes32Word(digest) + uintWord(64n) + bytesTail(signature), gas: signature_gas, yes: YES }
}

function isBytes(signature: string): boolean {
  return signature.length <= 2 + 2 * limits.payment_signature_bytes && /^0x(?:[0-9a-fA-F]{2})+$/.test(signature)
}

/** Refusal where only the chain could accept a signature, and it does not answer. */
export function chainDown(): Problem {
  const detail =
    'The signature was not made by the key of the account, and the chain, which could ask a contract wallet, does not answer now.'
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s })
}
