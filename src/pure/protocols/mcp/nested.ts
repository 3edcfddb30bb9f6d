import { canonicalText } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { objects, type Call, type McpView } from './view.ts'

/** Documents of other protocols that an answer of MCP carries. */

/** Something of x402, and as what it is read: where it stands says that, whatever it looks like. */
interface Payment {
  place: Place
  type: 'payment_required' | 'settlement_response'
}

/** Whether a value in the answer of a tool asks to be paid by x402. What is no error may say the version of x402 for other reasons. */
export function isChallenge(value: Place, { place }: Call): boolean {
  return hasOffers(value) || (value.has('x402Version') && (value.has('accepts') || place.get('isError').boolean() === true))
}

function hasOffers(value: Place): boolean {
  return objects(value.get('accepts')).some((offer) => offer.has('payTo'))
}

/** Challenges in the answer of a tool: as structured content, and as JSON in a text. */
export function challengesOf(call: Call): Place[] {
  return [call.structured, ...call.values].filter((value) => isChallenge(value, call))
}

/** Whether the first block holds a challenge, where clients of x402 look, or cannot be read. */
export function standsFirst(call: Call): boolean {
  const { place, texts, values } = call
  const [block] = place.get('content').items()
  if (block === undefined || block.redacted || block.get('text').redacted) return true
  const [text, value] = [texts[0], values[0]]
  return text?.parent?.value === block.value && value !== undefined && isChallenge(value, call)
}

/** All that asks to be paid, and receipts of what was; of several that say the same, the first. */
export function paymentsOf({ messages, results, calls }: McpView): Payment[] {
  const metas = results.map((result) => result.get('_meta'))
  const errors = messages.map(({ place }) => place.get('error').get('data'))
  const challenges = [
    ...calls.flatMap(challengesOf),
    ...metas.map((meta) => meta.get('x402/error')),
    ...results.filter((result) => result.get('resultType').text() === 'payment_required').map((result) => result.get('paymentRequired')),
    ...errors.filter((data) => data.has('x402Version') || hasOffers(data)),
    ...errors.map((data) => data.get('x402')),
  ]
  const receipts = RECEIPTS.flatMap((key) => metas.map((meta) => meta.get(key)))
  return [...distinct(challenges, 'payment_required'), ...distinct(receipts, 'settlement_response')]
}

/** The key of the specification, and that of an earlier client package. */
const RECEIPTS = ['x402/payment-response', 'x402.payment-response']

function distinct(places: readonly Place[], type: Payment['type']): Payment[] {
  const found = new Map<string, Payment>()
  for (const place of places) {
    const text = place.kind === 'object' ? canonicalText(place.value) : null
    if (text !== null && !found.has(text)) found.set(text, { place, type })
  }
  return [...found.values()]
}

/** Where structured content may hold the body of a shop: itself, or one level below. */
export function bodiesIn({ structured }: Call): Place[] {
  return [structured, ...['checkout', 'cart', 'order', 'checkout_session'].map((name) => structured.get(name))].filter(
    ({ kind }) => kind === 'object',
  )
}
