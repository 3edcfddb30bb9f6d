import { sha256 } from '@noble/hashes/sha2.js'
import { addressWord, uintWord } from '../payments/token-calls.ts'
import { canonicalText } from '../receipts/canonical.ts'
import { fromHex, nobleCrypto, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { normaliseSignature } from '../payments/eip3009.ts'
import { bankSignedText, type BankTerms } from './links.ts'
import { ruleBookDomain, type TypedData, typedDataJson, typedDigest, type TypedDomain, type TypedStruct } from '../payments/typed-data.ts'

/** Terms of an invoice. They never change: to change one, void it and issue another. Amounts are decimal text of minor units. */
export interface InvoiceTerms {
  v: 1
  invoice_id: string
  /** 0x-prefixed lower-case hex, as the referrer and the token. */
  merchant: string
  client_name: string | null
  memo: string | null
  referrer: string | null
  order_number: string | null
  return_url: string | null
  /** Null if the invoice names no account of the merchant at a bank. */
  bank: BankTerms | null
  amount_minor: string
  chain_id: number
  token: string
  /** Product that the invoice buys; null for a plain invoice. */
  product: 'ap2_pilot' | null
  created_s: number
  expires_s: number
  /** 32 bytes; makes the nonces below unguessable from the public parts. */
  salt: string
  cart_hash: string
  fee_policy_version: string
  fee_policy_hash: string
}

/** An authorization can be signed with each of these once by each payer: more than one is needed only for payments in parts. */
const NONCES = 4

const ID_CHARS = 26
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
export const INVOICE_ID = /^inv_[0-9a-z]{12,26}$/

/** `inv_` and 26 lower-case characters of 5 bits each from 32 random bytes: 130 bits, so that an id cannot be guessed. */
export function invoiceId(random_hex: string): string {
  const bytes = fromHex(random_hex)
  if (bytes === null || bytes.length < ID_CHARS) throw new RangeError('not enough random bytes')
  return `inv_${Array.from(bytes.subarray(0, ID_CHARS), (byte) => ALPHABET.charAt(byte & 31)).join('')}`
}

type ShopTerms = Pick<InvoiceTerms, 'order_number' | 'return_url' | 'bank'>

export type Cart = Pick<InvoiceTerms, 'merchant' | 'amount_minor' | 'memo' | 'client_name' | 'chain_id' | 'token'> & ShopTerms

/**
 * keccak-256 of the RFC 8785 text of what is owed to whom for what: the same for two invoices of the same content. An absent order number, return
 * URL or bank account is left out, so that the hashes of invoices without them stay as they were before there were any.
 */
export function cartHash(cart: Cart, crypto: Pick<ReceiptCrypto, 'keccak256Hex'> = nobleCrypto): string {
  const { merchant, amount_minor, memo, client_name, chain_id, token } = cart
  return crypto.keccak256Hex(canonicalText({ merchant, amount_minor, memo, client_name, chain_id, token, ...presentShopTerms(cart) }))
}

/** Order number, return URL and bank account as members, those that are given. */
export function presentShopTerms({ order_number, return_url, bank }: ShopTerms): Partial<ShopTerms> {
  return {
    ...(order_number === null ? {} : { order_number }),
    ...(return_url === null ? {} : { return_url }),
    ...(bank === null ? {} : { bank }),
  }
}

const NONCE_TAG = 'ASSAY-INVOICE-1'

/**
 * The nonces that name this invoice in the token's own AuthorizationUsed log: keccak-256 over five words, which are the keccak-256 of the tag,
 * that of the id, the merchant, the amount, and the salt with the place added modulo 2^256.
 */
export function invoiceNonces(
  { invoice_id, merchant, amount_minor, salt }: Pick<InvoiceTerms, 'invoice_id' | 'merchant' | 'amount_minor' | 'salt'>,
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'> = nobleCrypto,
): string[] {
  const head = crypto.keccak256Hex(NONCE_TAG).slice(2) + crypto.keccak256Hex(invoice_id).slice(2)
  const fixed = head + addressWord(merchant) + uintWord(BigInt(amount_minor))
  return Array.from({ length: NONCES }, (_, place) => {
    const bytes = fromHex(`0x${fixed}${uintWord(BigInt.asUintN(256, BigInt(salt) + BigInt(place)))}`)
    return crypto.keccak256Hex(bytes ?? new Uint8Array())
  })
}

export function termsText(terms: InvoiceTerms): string {
  return canonicalText(terms)
}

/** Reads what `termsText` wrote, and nothing else ever was written. Invoices of earlier releases have no order number, return URL and bank account. */
export function readTerms(text: string): InvoiceTerms {
  const terms = JSON.parse(text) as Omit<InvoiceTerms, keyof ShopTerms> & Partial<ShopTerms>
  return { ...terms, order_number: terms.order_number ?? null, return_url: terms.return_url ?? null, bank: terms.bank ?? null }
}

/** Terms without names, memo, order number, return URL and bank account. The hash of the cart, which signatures cover, stays that of the whole terms. */
export function erasedTerms(terms: InvoiceTerms): InvoiceTerms {
  return { ...terms, client_name: null, memo: null, order_number: null, return_url: null, bank: null }
}

/**
 * Fee of the service on an invoice. It is zero today; a later fee applies only to invoices created under it, and never exceeds the cap that
 * their own record states. Versioned: each invoice contains the hash of the canonical text as accepted, so a change of the text is a new
 * version.
 */
export const FEE_POLICY = {
  version: '2026-11-21',
  mode: 'direct_zero',
  protocol_fee_bps: 0,
  protocol_fee_cap_bps: 50,
  referrer_rebate_bps_of_fee: 2_000,
  text:
    'The payer pays the merchant directly on the chain and the service holds nothing. The protocol fee of this invoice is zero. A fee of a ' +
    'later policy applies only to invoices created under that policy, is stated in them, and never exceeds 0.5 % of the amount. A referrer ' +
    'other than the merchant is due 20 % of the fee, rounded down. Nobody can stop a transfer on the chain: payments after expiry, after ' +
    'voiding or beyond the amount reach the merchant, who alone can return them.',
} as const

export const FEE_POLICY_HASH = nobleCrypto.keccak256Hex(canonicalText(FEE_POLICY))

interface Fee {
  fee_minor: bigint
  cap_minor: bigint
  rebate_minor: bigint
  merchant_net_minor: bigint
}

const BPS = 10_000n

/** The fee of an amount under this policy; fractions of a unit are dropped in favour of the merchant, then of the service. */
export function feeOf(amount_minor: bigint, referred: boolean, policy: Policy = FEE_POLICY): Fee {
  const asked = (amount_minor * BigInt(policy.protocol_fee_bps)) / BPS
  const cap_minor = (amount_minor * BigInt(policy.protocol_fee_cap_bps)) / BPS
  const fee_minor = asked < cap_minor ? asked : cap_minor
  const rebate_minor = referred ? (fee_minor * BigInt(policy.referrer_rebate_bps_of_fee)) / BPS : 0n
  return { fee_minor, cap_minor, rebate_minor, merchant_net_minor: amount_minor - fee_minor }
}

interface Policy {
  protocol_fee_bps: number
  protocol_fee_cap_bps: number
  referrer_rebate_bps_of_fee: number
}

/**
 * Actions that a merchant signs (EIP-712), under the domain `assay invoice`, version 1, the chain, and the token as the verifying contract.
 */
export type MerchantAct = 'issue' | 'void'

/** `create` is signed before there is an invoice: `request` is the keccak-256 of the Idempotency-Key that creates it. */
export type MerchantSigning = MerchantAct | 'create'

const MERCHANT_NAMES = { issue: 'InvoiceIssue', void: 'InvoiceVoid', create: 'InvoiceCreate' } as const satisfies Record<
  MerchantSigning,
  string
>

/**
 * `invoice` is the keccak-256 of the id, so that a signature that is shown gives no access to the invoice. With a bank account, `bank` shows it in the
 * wallet, so that the merchant does not sign an exchanged account.
 */
function merchantStruct(act: MerchantSigning, { bank }: SignedTerms): TypedStruct {
  const fields = [
    { name: act === 'create' ? 'request' : 'invoice', type: 'bytes32' },
    { name: 'merchant', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'cart', type: 'bytes32' },
  ] as const
  if (act === 'void' || bank === null) return { name: MERCHANT_NAMES[act], fields }
  return { name: `${MERCHANT_NAMES[act]}WithBank`, fields: [...fields, { name: 'bank', type: 'string' }] }
}

type Crypto = Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex' | 'recover'>

/** For `create` the Idempotency-Key takes the place of the id. */
export type SignedTerms = Pick<InvoiceTerms, 'invoice_id' | 'merchant' | 'amount_minor' | 'cart_hash' | 'chain_id' | 'token' | 'bank'>

function merchantDomain({ chain_id, token }: SignedTerms): TypedDomain {
  return { name: 'assay invoice', version: '1', chainId: chain_id, verifyingContract: token }
}

function merchantMessage(act: MerchantSigning, terms: SignedTerms, crypto: Pick<ReceiptCrypto, 'keccak256Hex'>) {
  const { merchant, amount_minor, cart_hash, bank } = terms
  const name = crypto.keccak256Hex(terms.invoice_id)
  const shown = act === 'void' || bank === null ? {} : { bank: bankSignedText(bank) }
  return { [act === 'create' ? 'request' : 'invoice']: name, merchant, amount: BigInt(amount_minor), cart: cart_hash, ...shown }
}

/** Kind of what a merchant signs, by which the signature is asked for. */
export function merchantKind(act: MerchantSigning, { bank }: Pick<SignedTerms, 'bank'>) {
  return act === 'void' || bank === null ? (`invoice-${act}` as const) : (`invoice-${act}-bank` as const)
}

/** The 32 bytes that are signed. */
export function merchantDigest(act: MerchantSigning, terms: SignedTerms, crypto: Crypto): Uint8Array {
  return typedDigest(merchantDomain(terms), merchantStruct(act, terms), merchantMessage(act, terms, crypto), crypto)
}

/** The same in the form of wallets. */
export function merchantTypedData(
  act: MerchantSigning,
  terms: SignedTerms,
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'> = nobleCrypto,
): TypedData {
  return typedDataJson(merchantDomain(terms), merchantStruct(act, terms), merchantMessage(act, terms, crypto))
}

/** Returns true when the merchant's own key made this signature. Accounts only: a contract wallet is asked on the chain. */
export function merchantSigned(act: MerchantSigning, terms: SignedTerms, signature: string, crypto: Crypto): boolean {
  const read = normaliseSignature(signature)
  if (read === null || read.high_s) return false
  return crypto.recover(merchantDigest(act, terms, crypto), read.rs, read.recovery) === terms.merchant
}

/** Request of a merchant for the list of its invoices, as the merchant signs it (EIP-712). */
export interface ListTerms {
  /** Origin of the service, so that another deployment cannot use the signature. */
  service: string
  merchant: string
  /** Seconds since 1970. */
  issued_at: number
}

const LIST_DOMAIN = ruleBookDomain('assay invoice list')

const LIST: TypedStruct = {
  name: 'InvoiceList',
  fields: [
    { name: 'service', type: 'string' },
    { name: 'merchant', type: 'address' },
    { name: 'issued_at', type: 'uint64' },
  ],
}

export function listDigest(terms: ListTerms, crypto: Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>): Uint8Array {
  return typedDigest(LIST_DOMAIN, LIST, { ...terms }, crypto)
}

/** Typed data for the merchant to sign, in the form of wallets. */
export function listTypedData(terms: ListTerms): TypedData {
  return typedDataJson(LIST_DOMAIN, LIST, { ...terms })
}

/** Upload of a bank statement that confirms transfers to the merchant, as the merchant signs it (EIP-712). */
export interface StatementTerms {
  /** Origin of the service, so that another deployment cannot use the signature. */
  service: string
  merchant: string
  /** SHA-256 of the document as sent, in UTF-8; 0x-prefixed. */
  document_sha256: string
  /** Seconds since 1970. */
  issued_at: number
}

/** SHA-256 of a document in UTF-8; 0x-prefixed. */
export function documentSha256(document: string): string {
  return toHex(sha256(new TextEncoder().encode(document)))
}

const STATEMENT_DOMAIN = ruleBookDomain('assay bank statement')

const STATEMENT: TypedStruct = {
  name: 'BankStatement',
  fields: [
    { name: 'service', type: 'string' },
    { name: 'merchant', type: 'address' },
    { name: 'document_sha256', type: 'bytes32' },
    { name: 'issued_at', type: 'uint64' },
  ],
}

export function statementDigest(terms: StatementTerms, crypto: Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>): Uint8Array {
  return typedDigest(STATEMENT_DOMAIN, STATEMENT, { ...terms }, crypto)
}

/** Typed data for the merchant to sign, in the form of wallets. */
export function statementTypedData(terms: StatementTerms): TypedData {
  return typedDataJson(STATEMENT_DOMAIN, STATEMENT, { ...terms })
}
