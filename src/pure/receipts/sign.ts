/** Stamps a receipt. The key stays with whoever signs; this file only knows an address and a function. */
import { nobleCrypto, toHex, type ReceiptCrypto } from './crypto.ts'
import { digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, type Receipt, type ReceiptBody } from './receipt.ts'
import { isLowS } from './signature.ts'

export interface ReceiptSigner {
  /** 0x-prefixed lower-case address of the key. */
  readonly address: string
  /** Signs a 32-byte digest: 0x-prefixed 65 bytes r, s, v with s low and v 27 or 28. */
  sign(digest: Uint8Array): string
}

export interface SignedReceipt {
  receipt: Receipt
  /** The receipt's digest: 0x-prefixed, 32 bytes. */
  digest: string
}

/**
 * Signs the body and returns the whole receipt. Throws when a field breaks the grammar or the signer does not keep its promise: both are
 * faults of the program, and such a receipt must never leave.
 */
export function signReceipt(body: ReceiptBody, signer: ReceiptSigner, crypto: ReceiptCrypto = nobleCrypto): SignedReceipt {
  const digest = receiptDigest(body, crypto)
  return signedReceipt(body, digest, signer.address, signer.sign(digest))
}

/** What is to be signed, 32 bytes; throws when a field breaks the grammar. */
export function receiptDigest(body: ReceiptBody, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  assertGrammar(body)
  return crypto.keccak256(digestText(body))
}

/** The whole receipt, once its digest is signed; throws when the signature is of another form than receipts carry. */
export function signedReceipt(body: ReceiptBody, digest: Uint8Array, signer: string, signature: string): SignedReceipt {
  return { receipt: { ...body, signer, signature: ofReceiptForm(signature) }, digest: toHex(digest) }
}

/** A signature over a digest, refused unless it has the one form that receipts carry. */
export function checkedSignature(signer: ReceiptSigner, digest: Uint8Array): string {
  return ofReceiptForm(signer.sign(digest))
}

function ofReceiptForm(signature: string): string {
  if (!/^0x[0-9a-f]{128}1[bc]$/.test(signature) || !isLowS(signature)) throw new Error('The signer returned a signature of another form.')
  return signature
}

function assertGrammar(body: ReceiptBody): void {
  for (const field of SIGNED_FIELDS) {
    if (!GRAMMAR[field].test(String(body[field]))) throw new Error(`The receipt field ${field} breaks the XDR-1 grammar.`)
  }
  for (const field of TAIL_FIELDS) {
    const value = body[field]
    if (value !== undefined && !GRAMMAR[field].test(value)) throw new Error(`The receipt field ${field} breaks the XDR-1 grammar.`)
  }
}
