import type { ReceiptCrypto } from '../receipts/crypto.ts'

/** Fields of a sign-in message; times as RFC 3339 text. */
export interface SignInMessage {
  domain: string
  /** Spelled as the wallet spells it: another spelling gives another message, and another signature. */
  address: string
  statement: string
  uri: string
  version: '1'
  chain_id: number
  nonce: string
  issuedAt: string
  expirationTime: string
}

/** Returns the text that a wallet signs to sign in (EIP-4361, final 2025-04). */
export function signInText(message: SignInMessage): string {
  const { domain, address, statement, uri, version, chain_id, nonce, issuedAt, expirationTime } = message
  return `${domain} wants you to sign in with your Ethereum account:
${address}

${statement}

URI: ${uri}
Version: ${version}
Chain ID: ${chain_id}
Nonce: ${nonce}
Issued At: ${issuedAt}
Expiration Time: ${expirationTime}`
}

/** Returns the 32 bytes that a wallet signs for a plain message (EIP-191, version 0x45). */
export function personalMessageDigest(text: string, { keccak256 }: Pick<ReceiptCrypto, 'keccak256'>): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const head = new TextEncoder().encode(`\u0019Ethereum Signed Message:\n${bytes.length}`)
  const signed = new Uint8Array(head.length + bytes.length)
  signed.set(head)
  signed.set(bytes, head.length)
  return keccak256(signed)
}
