import type { PrivateKeyAccount } from 'viem/accounts'
import type { Authorization } from './authorization.ts'
import { base64, signTerms, termsOf, type Required, type Signed } from './paying.ts'

export const TOOL = 'iban-check'
/** The example of ISO 13616. */
export const INPUT = { iban: 'GB29 NWBK 6016 1331 9268 19' }

export interface Answered {
  status: number
  headers: Headers
  /** The body as it came. */
  text: string
  body: Record<string, unknown>
}

export interface CallOptions {
  tool?: string
  input?: unknown
  /** The whole body, instead of the input in its wrapping. */
  raw?: string
  /** Whose call it is, as a trusted proxy says it; a stranger each time unless told otherwise. */
  client?: string
}

let strangers = 0

/** One call over REST, with these headers. */
export async function call(url: string, headers: Record<string, string>, options: CallOptions = {}): Promise<Answered> {
  const { tool = TOOL, input = INPUT, raw = JSON.stringify({ input }), client = stranger() } = options
  const response = await fetch(`${url}/v1/tools/${tool}/call`, {
    method: 'POST',
    headers: { ...headers, 'x-forwarded-for': client },
    body: raw,
  })
  return answered(response)
}

export async function read(url: string): Promise<Answered> {
  return answered(await fetch(url))
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Record<string, unknown> }
}

/** An address that nobody has called from before. */
export function stranger(): string {
  strangers += 1
  return `10.${strangers >> 16}.${(strangers >> 8) & 255}.${strangers & 255}`
}

/** Terms of the plain call, signed. */
export async function signed(url: string, payer: PrivateKeyAccount, change: Partial<Authorization> = {}): Promise<Signed> {
  return signTerms(payer, await termsOf(url, TOOL, INPUT), change)
}

export function v2({ v2: value }: { v2: string }): Record<string, string> {
  return { 'payment-signature': value }
}

export function v1({ v1: value }: { v1: string }): Record<string, string> {
  return { 'x-payment': value }
}

/** A payment of version 2 as an object that a test may change. */
export interface PaymentV2 {
  x402Version: number
  resource: { url: string }
  accepted: Required['accepts'][0] & { scheme: string }
  payload: { signature: string; authorization: Record<string, string> }
}

/** The same payment with something else in it, signed over what it was before. */
export function tampered({ v2: value }: Signed, change: (payment: PaymentV2) => void): Record<string, string> {
  const payment = JSON.parse(Buffer.from(value, 'base64').toString()) as PaymentV2
  change(payment)
  return { 'payment-signature': base64(payment) }
}

/** The price that the terms ask, in minor units. */
export async function priceOf(url: string): Promise<bigint> {
  return BigInt((await termsOf(url, TOOL, INPUT)).accepts[0].amount)
}

/** Where the state of a payment is told. */
export function statusUrl(url: string, { message }: Pick<Signed, 'message'>): string {
  return `${url}/v1/payments/${message.from}/${message.nonce}`
}

export function seconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}
