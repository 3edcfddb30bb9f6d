/** Terms and payments as clients of x402 write them, and how they wrap them. */
import type { PaymentTerms, Terms } from '../../src/service/payments/terms.ts'

export const PLACE: PaymentTerms = {
  pay_to: '0xAbCdEf0123456789aBcDeF0123456789abcdef01',
  token: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin', version: '2' },
  chain_id: 8453,
  network: 'base',
}

export const TERMS: Terms = {
  ...PLACE,
  resource: 'https://tools.example/v1/tools/iban-check/call',
  description: 'Checks an IBAN.',
  amount_minor: 5_000n,
}

export const AUTHORIZATION = {
  from: `0x${'1A'.repeat(20)}`,
  to: PLACE.pay_to,
  value: '5000',
  validAfter: '0',
  validBefore: '1700000120',
  nonce: `0x${'3C'.repeat(32)}`,
}
export const PAYLOAD = { signature: `0x${'5E'.repeat(64)}1b`, authorization: AUTHORIZATION }

const ACCEPTED = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '5000',
  asset: PLACE.token.address,
  payTo: PLACE.pay_to,
  maxTimeoutSeconds: 120,
  extra: { name: 'USD Coin', version: '2' },
}

export const V1 = { x402Version: 1, scheme: 'exact', network: 'base', payload: PAYLOAD }
export const V2 = { x402Version: 2, resource: { url: TERMS.resource }, accepted: ACCEPTED, payload: PAYLOAD, extensions: {} }

export function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64')
}

/** A copy with the value at a path of member names replaced, or left out when it is undefined. */
export function changed(value: object, path: string, to: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = structuredClone({ ...value })
  const names = path.split('.')
  const last = names.pop() ?? ''
  let place = copy
  for (const name of names) place = place[name] as Record<string, unknown>
  if (to === undefined) delete place[last]
  else place[last] = to
  return copy
}
