import { randomBytes } from 'node:crypto'
import { chooseSigning, type SigningBackend } from '../../src/adapters/signer/choose.ts'
import type { Signer } from '../../src/ports/signer.ts'
import { createAuthorizationDigest } from '../../src/pure/payments/eip3009.ts'

/** Many payments, signed by the project's own signer: viem needs a millisecond for each. */

export const PAYMENT_HEADER = 'payment-signature'

/** The service takes no authorization that runs longer than an hour. */
const VALID_S = 3_500

interface Accepted {
  network: string
  amount: string
  asset: string
  payTo: string
  extra: { name: string; version: string }
}

/** The object in PAYMENT-REQUIRED. */
export interface PaymentTerms {
  resource: unknown
  accepts: [Accepted]
}

export interface Payers {
  signing: SigningBackend
  signers: Signer[]
}

export interface SignedTransfer {
  from: string
  to: string
  value: string
  nonce: string
}

/** Accounts with random keys. */
export async function newPayers(count: number): Promise<Payers> {
  const signing = await chooseSigning()
  return { signing, signers: Array.from({ length: count }, () => signing.signer(randomBytes(32))) }
}

/** The terms in the header of a 402. */
export function termsIn(header: string): PaymentTerms {
  return JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentTerms
}

/** Header values of `count` payments, each with its own nonce, the payers in turn. `forge` may replace the signature. */
export function signedPayments(
  { signing, signers }: Payers,
  { resource, accepts: [accepted] }: PaymentTerms,
  count: number,
  forge: (signature: string) => string = (signature) => signature,
): string[] {
  const { asset, payTo, amount, network, extra } = accepted
  const domain = { ...extra, chain_id: Number(network.split(':')[1]), verifying_contract: asset }
  const digest = createAuthorizationDigest(domain, signing.crypto.keccak256)
  const valid_before_s = BigInt(Math.floor(Date.now() / 1000) + VALID_S)
  const shown = { value: amount, validAfter: '0', validBefore: valid_before_s.toString() }
  const terms = JSON.stringify({ x402Version: 2, resource, accepted }).slice(0, -1)
  return Array.from({ length: count }, (_, number) => {
    const signer = signers[number % signers.length]
    if (signer === undefined) throw new Error('there is no payer to sign')
    const nonce = `0x${randomBytes(32).toString('hex')}`
    const from = signer.address
    const signed = signer.sign(digest({ from, to: payTo, value_minor: BigInt(amount), valid_after_s: 0n, valid_before_s, nonce }))
    const authorization: SignedTransfer = { from, to: payTo, nonce, ...shown }
    return Buffer.from(`${terms},"payload":${JSON.stringify({ signature: forge(signed), authorization })}}`).toString('base64')
  })
}
