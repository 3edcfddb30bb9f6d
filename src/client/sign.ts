import { toHex } from '../pure/receipts/crypto.ts'
import { toBase64 } from './base64.ts'
import { localError } from './error.ts'
import type { Hex, Signer, TransferTypedData } from './options.ts'
import type { Payment } from './payment.ts'
import type { Terms } from './terms.ts'

/** The fields of an EIP-3009 transfer, in their order. */
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

/** What a payment is for. */
export interface Purpose {
  tool: string
  input_text: string
  previous_receipt: string | null
}

/**
 * Has the signer sign one transfer of exactly the amount of the terms, with a random nonce, and wraps it for PAYMENT-SIGNATURE. The
 * payment-identifier id is a secret that never reaches the chain: it lets the same bytes fetch the answer again from another network. Throws
 * SIGNING_FAILED when the signer does not sign.
 */
export async function signPayment(signer: Signer, terms: Terms, purpose: Purpose, now_ms: number): Promise<Payment> {
  const valid_before_s = Math.floor(now_ms / 1_000) + terms.timeout_s
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(32))) as Hex
  const data = typedData(signer.address, terms, nonce, valid_before_s)
  const signature = await signed(signer, data)
  const { from, to, value } = data.message
  const authorization = { from, to, value: value.toString(), validAfter: '0', validBefore: valid_before_s.toString(), nonce }
  const { resource, accepted } = terms
  const extensions = { 'payment-identifier': { info: { required: false, id: toHex(crypto.getRandomValues(new Uint8Array(16))).slice(2) } } }
  return {
    v: 1,
    ...purpose,
    payer: from.toLowerCase(),
    pay_to: terms.pay_to,
    nonce,
    amount_minor: value.toString(),
    chain_id: terms.chain_id,
    asset: terms.token.address,
    valid_before_s,
    header: toBase64(JSON.stringify({ x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions })),
  }
}

function typedData(from: Hex, { amount_minor, pay_to, chain_id, token }: Terms, nonce: Hex, valid_before_s: number): TransferTypedData {
  const validBefore = BigInt(valid_before_s)
  return {
    domain: { name: token.name, version: token.version, chainId: chain_id, verifyingContract: token.address as Hex },
    types: { TransferWithAuthorization: TRANSFER.map((field) => ({ ...field })) },
    primaryType: 'TransferWithAuthorization',
    message: { from, to: pay_to as Hex, value: amount_minor, validAfter: 0n, validBefore, nonce },
  }
}

async function signed(signer: Signer, data: TransferTypedData): Promise<string> {
  try {
    const signature: unknown = await signer.signTypedData(data)
    if (typeof signature === 'string' && /^0x(?:[0-9a-fA-F]{2}){64,8192}$/.test(signature)) return signature
  } catch (cause) {
    throw localError('SIGNING_FAILED', 'The signer did not sign the payment. Nothing was sent.', { cause })
  }
  throw localError('SIGNING_FAILED', 'The signer returned no signature. Nothing was sent.')
}
