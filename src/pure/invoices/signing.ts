import { bytes32Word, addressWord, uintWord } from '../payments/abi.ts'
import { domainSeparator, normaliseSignature } from '../payments/eip3009.ts'
import { fromHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import type { InvoiceTerms } from './terms.ts'

/** What a merchant signs (EIP-712), under the domain `assay invoice`, version 1, the chain, and the token as the verifying contract. */
export type MerchantAct = 'issue' | 'void'

/** `create` is signed before there is an invoice: `request` is the keccak-256 of the Idempotency-Key that creates it. */
export type MerchantSigning = MerchantAct | 'create'

/** As wallets need it for eth_signTypedData_v4. */
const MERCHANT_TYPES = {
  issue: { name: 'InvoiceIssue', type: 'InvoiceIssue(bytes32 invoice,address merchant,uint256 amount,bytes32 cart)' },
  void: { name: 'InvoiceVoid', type: 'InvoiceVoid(bytes32 invoice,address merchant,uint256 amount,bytes32 cart)' },
  create: { name: 'InvoiceCreate', type: 'InvoiceCreate(bytes32 request,address merchant,uint256 amount,bytes32 cart)' },
} as const satisfies Record<MerchantSigning, { name: string; type: string }>

const MERCHANT_DOMAIN = { name: 'assay invoice', version: '1' } as const

type Crypto = Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex' | 'recover'>

/** For `create` the Idempotency-Key takes the place of the id. */
export type SignedTerms = Pick<InvoiceTerms, 'invoice_id' | 'merchant' | 'amount_minor' | 'cart_hash' | 'chain_id' | 'token'>

/** The 32 bytes that are signed. `invoice` is the keccak-256 of the id, so that a signature that is shown gives no access to the invoice. */
export function merchantDigest(act: MerchantSigning, terms: SignedTerms, crypto: Crypto): Uint8Array {
  const domain = { ...MERCHANT_DOMAIN, chain_id: terms.chain_id, verifying_contract: terms.token }
  const struct = [
    crypto.keccak256Hex(MERCHANT_TYPES[act].type).slice(2),
    crypto.keccak256Hex(terms.invoice_id).slice(2),
    addressWord(terms.merchant),
    uintWord(BigInt(terms.amount_minor)),
    bytes32Word(terms.cart_hash),
  ].join('')
  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(domainSeparator(domain, crypto.keccak256), 2)
  envelope.set(crypto.keccak256(fromHex(`0x${struct}`) ?? new Uint8Array()), 34)
  return crypto.keccak256(envelope)
}

/** Whether the merchant's own key made this signature. Accounts only: a contract wallet is asked on the chain. */
export function merchantSigned(act: MerchantSigning, terms: SignedTerms, signature: string, crypto: Crypto): boolean {
  const read = normaliseSignature(signature)
  if (read === null || read.high_s) return false
  return crypto.recover(merchantDigest(act, terms, crypto), read.rs, read.recovery) === terms.merchant
}
