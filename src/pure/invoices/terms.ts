import { addressWord, uintWord } from '../payments/abi.ts'
import { canonicalText } from '../receipts/canonical.ts'
import { fromHex, nobleCrypto, type ReceiptCrypto } from '../receipts/crypto.ts'

/** What an invoice asks for. It never changes: who wants it otherwise voids it and issues another. Amounts are decimal text of minor units. */
export interface InvoiceTerms {
  v: 1
  invoice_id: string
  /** 0x-prefixed lower-case hex, as the referrer and the token. */
  merchant: string
  client_name: string | null
  memo: string | null
  referrer: string | null
  amount_minor: string
  chain_id: number
  token: string
  /** What is bought beside; null for a plain invoice. */
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

/** `inv_` and 26 lower-case characters of 5 bits each from 32 random bytes: 130 bits, so that whoever has it was given it. */
export function invoiceId(random_hex: string): string {
  const bytes = fromHex(random_hex)
  if (bytes === null || bytes.length < ID_CHARS) throw new RangeError('not enough random bytes')
  return `inv_${Array.from(bytes.subarray(0, ID_CHARS), (byte) => ALPHABET.charAt(byte & 31)).join('')}`
}

export type Cart = Pick<InvoiceTerms, 'merchant' | 'amount_minor' | 'memo' | 'client_name' | 'chain_id' | 'token'>

/** keccak-256 of the RFC 8785 text of what is owed to whom for what: the same for two invoices of the same content. */
export function cartHash(cart: Cart, crypto: Pick<ReceiptCrypto, 'keccak256Hex'> = nobleCrypto): string {
  const { merchant, amount_minor, memo, client_name, chain_id, token } = cart
  return crypto.keccak256Hex(canonicalText({ merchant, amount_minor, memo, client_name, chain_id, token }))
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

/** Reads what `termsText` wrote, and nothing else ever was written. */
export function readTerms(text: string): InvoiceTerms {
  return JSON.parse(text) as InvoiceTerms
}
