import type { ChainReadResult } from '../../ports/chain.ts'
import { bytes32Word, bytesTail, uintWord } from '../../pure/payments/abi.ts'
import { merchantDigest, merchantSigned, type MerchantSigning, type SignedTerms } from '../../pure/invoices/signing.ts'
import { toHex, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { limits } from '../limits.ts'
import type { OutsideReads, RateLimitCode } from '../payments/outside-reads.ts'
import { problem, type Problem } from '../problems.ts'
import { INVOICE_RULES } from './rules.ts'
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
  to: string
  data: string
  gas: bigint
}

/**
 * By ERC-1271 at the newest block, with bounded gas, in one round trip. An account without code accepts nothing, and so does a wallet that reverts
 * or returns anything but the one word for yes. What holds now may not hold later: a wallet can change its owners.
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
      const data = SELECTOR + bytes32Word(toHex(digest)) + uintWord(64n) + bytesTail(signature)
      try {
        const [answer] = await read([{ kind: 'call', to: wallet, data, gas: INVOICE_RULES.signature_gas }])
        if (answer?.ok === true && answer.data.slice(0, YES.length) === YES) return null
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

function isBytes(signature: string): boolean {
  return signature.length <= 2 + 2 * limits.payment_signature_bytes && /^0x(?:[0-9a-fA-F]{2})+$/.test(signature)
}

/** Null when the merchant signed it: an account by its key, a contract wallet by its answer on the chain (ERC-1271). `client` is the address of the sender. */
export async function merchantFault(
  { crypto, contracts }: { crypto: ReceiptCrypto; contracts: ContractSignatures | null },
  act: MerchantSigning,
  terms: SignedTerms,
  signature: string,
  client: string,
): Promise<Problem | null> {
  if (merchantSigned(act, terms, signature, crypto)) return null
  const wrong = problem('INVOICE_SIGNATURE_INVALID', 'The signature is not one of the merchant over this invoice.')
  if (contracts === null) return wrong
  const digest = merchantDigest(act, terms, crypto)
  return contracts.refusal({ wallet: terms.merchant, digest, signature, client, wrong, rate_code: 'INVOICE_RATE_LIMITED' })
}

/** Refusal where only the chain could accept a signature, and it does not answer. */
export function chainDown(): Problem {
  const detail =
    'The signature was not made by the key of the account, and the chain, which could ask a contract wallet, does not answer now.'
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s })
}
