import type { ChainReadResult } from '../../ports/chain.ts'
import { PROBE_YES, readSignatureWrapper, signatureProbe } from '../../pure/payments/signature-wrapper.ts'
import { bytes32Word, bytesTail, uintWord } from '../../pure/payments/token-calls.ts'
import {
  merchantDigest,
  merchantKind,
  merchantSigned,
  merchantTypedData,
  type MerchantSigning,
  type SignedTerms,
} from '../../pure/invoices/terms.ts'
import { toHex, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { INVOICE_RULES, limits } from '../limits.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
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

interface MerchantSignatureParts {
  crypto: ReceiptCrypto
  contracts: ContractSignatures | null
  site_url(): string
}

/**
 * Returns the signature when the merchant made it: an account by its key, a contract wallet by its answer on the chain (ERC-1271). The problem
 * carries the typed data to sign. `client` is the address of the sender.
 */
export async function checkMerchantSignature(
  { crypto, contracts, site_url }: MerchantSignatureParts,
  act: MerchantSigning,
  terms: SignedTerms,
  signature: string | null,
  client: string,
): Promise<{ ok: true; signature: string } | { ok: false; problem: Problem }> {
  if (signature !== null && merchantSigned(act, terms, signature, crypto)) return { ok: true, signature }
  const detail =
    signature === null
      ? 'Sign `sign.typed_data` with the wallet of the merchant and send the signature.'
      : 'The signature is not one of the merchant over this invoice. Sign `sign.typed_data` with the wallet of the merchant.'
  const sign = signRequest({
    kind: merchantKind(act, terms),
    origin: site_url(),
    signer: terms.merchant,
    signable: { method: 'eth_signTypedData_v4', typed_data: merchantTypedData(act, terms, crypto) },
    values: act === 'create' ? { request: terms.invoice_id } : { id: terms.invoice_id },
  })
  const wrong = problem('INVOICE_SIGNATURE_INVALID', detail, { extra: { sign } })
  if (signature === null || contracts === null) return { ok: false, problem: wrong }
  const digest = merchantDigest(act, terms, crypto)
  const refusal = await contracts.refusal({ wallet: terms.merchant, digest, signature, client, wrong, rate_code: 'INVOICE_RATE_LIMITED' })
  return refusal === null ? { ok: true, signature } : { ok: false, problem: refusal }
}

/** Refusal where only the chain could accept a signature, and it does not answer. */
export function chainDown(): Problem {
  const detail =
    'The signature was not made by the key of the account, and the chain, which could ask a contract wallet, does not answer now.'
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s })
}
