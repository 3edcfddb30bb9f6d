import type { Place } from '../place.ts'
import { Disclosed } from './disclosed.ts'

/** Finds the mandates and receipts in a document, whatever they are wrapped in. */

export const AP2_TYPES = [
  'checkout_mandate',
  'open_checkout_mandate',
  'payment_mandate',
  'open_payment_mandate',
  'checkout_receipt',
  'payment_receipt',
  'intent_mandate',
  'cart_mandate',
  'legacy_payment_mandate',
  // Several of them, such as a chain.
  'mandates',
  'unknown',
] as const

export type Ap2Type = (typeof AP2_TYPES)[number]

type MandateType = Exclude<Ap2Type, 'mandates'>

/** Decoded header and payload of the token that carried a mandate. */
interface Envelope {
  header: Place
  payload: Place
}

export interface Mandate {
  type: MandateType
  claims: Place
  /** null where the claims stand by themselves. */
  envelope: Envelope | null
}

interface Found {
  mandates: Mandate[]
  /** Encoded tokens where claims should stand. */
  tokens: Place[]
  disclosed: Disclosed
}

/** Values of `vct`, exactly. */
export const VCT: Readonly<Record<'checkout_mandate' | 'open_checkout_mandate' | 'payment_mandate' | 'open_payment_mandate', string>> = {
  checkout_mandate: 'mandate.checkout.1',
  open_checkout_mandate: 'mandate.checkout.open.1',
  payment_mandate: 'mandate.payment.1',
  open_payment_mandate: 'mandate.payment.open.1',
}

export function isCurrent({ type }: Mandate): boolean {
  return type in VCT
}

const LEGACY: Readonly<Record<string, MandateType>> = {
  'ap2.mandates.IntentMandate': 'intent_mandate',
  'ap2.mandates.CartMandate': 'cart_mandate',
  'ap2.mandates.PaymentMandate': 'legacy_payment_mandate',
}

export function isLegacy({ type }: Mandate): boolean {
  return Object.values(LEGACY).includes(type)
}

/** What encloses mandates lies no deeper: a message, its parts, their data, a token, its payload. */
const MOST_LEVELS = 10

export function findMandates(document: Place): Found {
  const found: Found = { mandates: [], tokens: [], disclosed: new Disclosed(document) }
  look(document, null, 0, found)
  return found
}

function look(place: Place, envelope: Envelope | null, level: number, found: Found): void {
  const { disclosed, mandates, tokens } = found
  if (level > MOST_LEVELS) return
  if (isToken(place)) tokens.push(place)
  const type = typeOf(place)
  if (type !== null) {
    mandates.push({ type, claims: place, envelope })
    return
  }
  const payload = place.get('payload')
  if (payload.kind === 'object') {
    look(payload, { header: place.get('header'), payload }, level + 1, found)
    return
  }
  const delegated = place.get('delegate_payload')
  if (delegated.present) {
    const carrier = envelope?.payload.value === place.value ? envelope : { header: place.get('header'), payload: place }
    if (delegated.kind === 'array') for (const item of disclosed.items(delegated)) look(item, carrier, level + 1, found)
    else look(delegated, carrier, level + 1, found)
    return
  }
  const inner = place.kind === 'array' ? place.items() : place.members()
  for (const one of inner) if (one.key !== 'disclosures') look(one, envelope, level + 1, found)
}

/** Names under which tokens travel; a token under another name is part of something else. */
const TOKEN_NAME = /mandate|token|jwt|credential|receipt|chain|delegate|payload|presentation/i

/** Whether a compact JWT or SD-JWT stands here under the name of one. */
function isToken(place: Place): boolean {
  const text = place.text()
  if (text === null || !isCompact(text)) return false
  const names = [place, place.parent, place.parent?.parent].map((one) => one?.key ?? '')
  return place.parent === null || names.some((name) => TOKEN_NAME.test(name))
}

function isCompact(text: string): boolean {
  return text.startsWith('eyJ') && /^[\w-]+\.[\w-]*\.[\w-]+(?:~|$)/.test(text)
}

/** The type of the claims here; null where none stand. An unknown `vct` of this protocol gives way to the shape. */
function typeOf(place: Place): MandateType | null {
  if (place.kind !== 'object') return null
  const vct = place.get('vct')
  const text = vct.text()
  if (text !== null) {
    const [, family, open] = /^\s*mandate\.(checkout|payment)(\.open)?(?![a-z])/i.exec(text) ?? []
    if (family !== undefined) return currentType(family.toLowerCase() === 'checkout', open !== undefined)
    if (!/^\s*mandate\./i.test(text)) return null
  }
  const legacy = Object.hasOwn(LEGACY, place.key) ? (LEGACY[place.key] ?? null) : null
  return legacy ?? currentShape(place) ?? legacyShape(place) ?? receiptShape(place) ?? (text === null ? null : 'unknown')
}

function currentType(is_checkout: boolean, is_open: boolean): MandateType {
  if (is_checkout) return is_open ? 'open_checkout_mandate' : 'checkout_mandate'
  return is_open ? 'open_payment_mandate' : 'payment_mandate'
}

function countOf(place: Place, ...names: string[]): number {
  return names.filter((name) => place.has(name)).length
}

function currentShape(place: Place): MandateType | null {
  if (place.has('checkout_jwt') || place.has('checkout_hash')) return 'checkout_mandate'
  const about_payment = countOf(place, 'transaction_id', 'payment_amount', 'payment_instrument', 'payee', 'pisp')
  const constraints = place.get('constraints')
  const first = constraints
    .items()
    .map((item) => /^(checkout|payment)\./.exec(item.get('type').text() ?? '')?.[1])
    .find((family) => family !== undefined)
  if (constraints.present && (place.has('cnf') || first !== undefined)) {
    return currentType(first === undefined ? about_payment === 0 : first === 'checkout', true)
  }
  return about_payment >= 2 ? 'payment_mandate' : null
}

function legacyShape(place: Place): MandateType | null {
  if (place.has('natural_language_description') || place.has('intent_expiry')) return 'intent_mandate'
  if (place.has('payment_mandate_contents')) return 'legacy_payment_mandate'
  const contents = place.get('contents')
  const isCart =
    contents.kind === 'object' && (place.has('merchant_authorization') || countOf(contents, 'payment_request', 'cart_expiry') > 0)
  return isCart ? 'cart_mandate' : null
}

function receiptShape(place: Place): MandateType | null {
  const says = countOf(place, 'reference', 'iss', 'iat')
  const states = countOf(place, 'status', 'result') > 0
  if (says < (states ? 2 : 3) || place.has('sd_hash')) return null
  const isPayment = countOf(place, 'payment_id', 'psp_confirmation_id', 'network_confirmation_id') > 0
  return isPayment ? 'payment_receipt' : 'checkout_receipt'
}
