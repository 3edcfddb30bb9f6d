import {
  merchantDigest,
  merchantKind,
  merchantSigned,
  merchantTypedData,
  type MerchantSigning,
  type SignedTerms,
} from '../../pure/invoices/terms.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { signRequest, type SignRequest } from '../../pure/signing/sign-request.ts'
import { problem, type Problem } from '../problems.ts'
import type { ContractSignatures } from './contract-signature.ts'
import type { WriteBudget } from './write-budget.ts'

export interface SignatureParts {
  crypto: ReceiptCrypto
  /** Asks merchants that are contracts; null where there is no chain to ask. */
  contracts: ContractSignatures | null
  site_url(): string
  budget: WriteBudget
}

/**
 * Returns the signature when the merchant made it: an account by its key, a contract wallet by its answer on the chain (ERC-1271). The problem
 * carries the typed data to sign. `client` is the address of the sender.
 */
export async function checkMerchantSignature(
  parts: SignatureParts,
  act: MerchantSigning,
  terms: SignedTerms,
  signature: string | null,
  client: string,
): Promise<{ ok: true; signature: string } | { ok: false; problem: Problem }> {
  const { crypto, contracts, budget } = parts
  const limited = signature === null ? null : budget.checking(client, terms.merchant)
  if (limited !== null) return { ok: false, problem: limited }
  if (signature !== null && merchantSigned(act, terms, signature, crypto)) return { ok: true, signature }
  const detail =
    signature === null
      ? 'Sign `sign.typed_data` with the wallet of the merchant and send the signature.'
      : 'The signature is not one of the merchant over this invoice. Sign `sign.typed_data` with the wallet of the merchant.'
  const wrong = problem('INVOICE_SIGNATURE_INVALID', detail, { extra: { sign: merchantSignRequest(parts, act, terms) } })
  if (signature === null) return { ok: false, problem: wrong }
  if (contracts === null) {
    budget.wrong(client, terms.merchant)
    return { ok: false, problem: wrong }
  }
  const digest = merchantDigest(act, terms, crypto)
  const refusal = await contracts.refusal({ wallet: terms.merchant, digest, signature, client, wrong, rate_code: 'INVOICE_RATE_LIMITED' })
  if (refusal === null) return { ok: true, signature }
  if (refusal === wrong) budget.wrong(client, terms.merchant)
  return { ok: false, problem: refusal }
}

/** Returns the typed data that the merchant signs for an act, and where the signature goes. */
export function merchantSignRequest(
  { crypto, site_url }: Pick<SignatureParts, 'crypto' | 'site_url'>,
  act: MerchantSigning,
  terms: SignedTerms,
): SignRequest {
  return signRequest({
    kind: merchantKind(act, terms),
    origin: site_url(),
    signer: terms.merchant,
    signable: { method: 'eth_signTypedData_v4', typed_data: merchantTypedData(act, terms, crypto) },
    values: act === 'create' ? { request: terms.invoice_id } : { id: terms.invoice_id },
  })
}

export function notFound(): Problem {
  return problem('INVOICE_NOT_FOUND', 'No invoice has this id.')
}
