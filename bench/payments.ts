/** Payments for the suites that pay: the terms come out of a 402, the signatures from the project's own signer, since viem needs a millisecond each. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { chooseSigning, type Signing } from '../src/adapters/signer/choose.ts'
import type { Signer } from '../src/ports/signer.ts'
import { createAuthorizationDigest } from '../src/pure/payments/eip3009.ts'
import { callBody, PASTED_IBANS } from './call-requests.ts'

export const CALL = {
  path: '/v1/tools/iban-check/call',
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  bodies: PASTED_IBANS.map(callBody),
}

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
export interface Required {
  resource: unknown
  accepts: [Accepted]
}

export interface Payers {
  signing: Signing
  signers: Signer[]
}

export interface Authorization {
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

/** What a server asks for the call. */
export async function termsOf(port: number): Promise<Required> {
  const { path, headers, bodies } = CALL
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: bodies[0] ?? '' })
  await response.arrayBuffer()
  if (response.status !== 402) throw new Error(`a call without a payment was answered ${response.status}`)
  return JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()) as Required
}

/** Header values of so many payments, each with a nonce of its own, the payers in turn. */
export function signedPayments({ signing, signers }: Payers, { resource, accepts: [accepted] }: Required, count: number): string[] {
  const { asset, payTo, amount, network, extra } = accepted
  const domain = { ...extra, chain_id: Number(network.split(':')[1]), verifying_contract: asset }
  const digest = createAuthorizationDigest(domain, signing.crypto.keccak256)
  const valid_before_s = BigInt(Math.floor(Date.now() / 1000) + VALID_S)
  const shown = { value: amount, validAfter: '0', validBefore: valid_before_s.toString() }
  const terms = JSON.stringify({ x402Version: 2, resource, accepted }).slice(0, -1)
  return Array.from({ length: count }, (_, number) => {
    const signer = signers[number % signers.length]
    if (signer === undefined) throw new Error('nobody pays')
    const nonce = `0x${randomBytes(32).toString('hex')}`
    const from = signer.address
    const signature = signer.sign(digest({ from, to: payTo, value_minor: BigInt(amount), valid_after_s: 0n, valid_before_s, nonce }))
    const authorization: Authorization = { from, to: payTo, nonce, ...shown }
    return Buffer.from(`${terms},"payload":${JSON.stringify({ signature, authorization })}}`).toString('base64')
  })
}

/** Signs payments to the terms of now and puts them where the generator reads them. */
export async function writePayments(file: string, payers: Payers, port: number, count: number) {
  writeFileSync(file, signedPayments(payers, await termsOf(port), count).join('\n'))
  return { header: PAYMENT_HEADER, file }
}

/** What a header value authorizes. */
export function authorizationIn(header: string): Authorization {
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as { payload: { authorization: Authorization } }
  return payload.authorization
}
