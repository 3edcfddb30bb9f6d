import type { Place } from '../place.ts'
import { objects, type Call, type McpView } from './view.ts'

/** Documents of other protocols that an answer of MCP carries. */

/** Whether the answer of a tool asks to be paid by x402: an error whose structured content is a challenge. */
export function isPayment({ place, structured }: Call): boolean {
  if (place.get('isError').boolean() !== true) return false
  return structured.has('x402Version') || objects(structured.get('accepts')).some((offer) => offer.has('payTo'))
}

/** Receipts of a settlement, and challenges that older servers send as a JSON-RPC error. */
export function otherPayments({ messages, results }: McpView): Place[] {
  const receipts = results.map((result) => result.get('_meta').get('x402/payment-response'))
  const challenges = messages.map(({ place }) => place.get('error').get('data')).filter((data) => data.has('x402Version'))
  return [...receipts, ...challenges].filter(({ kind }) => kind === 'object')
}

/** Where structured content may hold the body of a shop: itself, or one level below. */
export function bodiesIn({ structured }: Call): Place[] {
  return [structured, ...['checkout', 'cart', 'order', 'checkout_session'].map((name) => structured.get(name))].filter(
    ({ kind }) => kind === 'object',
  )
}
