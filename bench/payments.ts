/** Payments for the suites that pay: the terms come out of a 402. */
import { writeFileSync } from 'node:fs'
import {
  PAYMENT_HEADER,
  signedPayments,
  termsIn,
  type Payers,
  type PaymentTerms,
  type SignedTransfer,
} from '../test/support/bulk-payments.ts'
import { callBody, PASTED_IBANS } from './call-requests.ts'

export const CALL = {
  path: '/v1/tools/iban-check/call',
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  bodies: PASTED_IBANS.map(callBody),
}

/** Payment terms of the call. */
export async function termsOf(port: number): Promise<PaymentTerms> {
  const { path, headers, bodies } = CALL
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: bodies[0] ?? '' })
  await response.arrayBuffer()
  if (response.status !== 402) throw new Error(`a call without a payment was answered ${response.status}`)
  return termsIn(response.headers.get('payment-required') ?? '')
}

/** Signs payments to the terms of now and puts them where the generator reads them. */
export async function writePayments(file: string, payers: Payers, port: number, count: number) {
  writeFileSync(file, signedPayments(payers, await termsOf(port), count).join('\n'))
  return { header: PAYMENT_HEADER, file }
}

/** Authorization in a header value. */
export function authorizationIn(header: string): SignedTransfer {
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as { payload: { authorization: SignedTransfer } }
  return payload.authorization
}
