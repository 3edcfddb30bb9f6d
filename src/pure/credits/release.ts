import { normaliseSignature, recoverPayer } from '../payments/eip3009.ts'
import { personalMessageDigest } from '../payments/sign-in.ts'
import type { ReceiptCrypto } from '../receipts/crypto.ts'

/** What the payer of an invoice signs with a wallet's plain message (EIP-191, version 0x45) to be given the credit that it bought. */
export function releaseText(invoice_id: string, chain_id: number): string {
  return `Release the calls of invoice ${invoice_id} on chain ${chain_id} as an assay credit code.`
}

/** The 32 bytes that are signed. */
export function releaseDigest(invoice_id: string, chain_id: number, crypto: Pick<ReceiptCrypto, 'keccak256'>): Uint8Array {
  return personalMessageDigest(releaseText(invoice_id, chain_id), crypto)
}

/** The account whose own key signed the release; null when none did. A contract wallet is asked on the chain. */
export function releasedBy(
  invoice_id: string,
  chain_id: number,
  signature: string,
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>,
): string | null {
  const read = normaliseSignature(signature)
  return read === null ? null : recoverPayer(releaseDigest(invoice_id, chain_id, crypto), read, crypto.recover)
}
