import { readEncodedObject } from '../kit/keys.ts'
import { Place } from '../place.ts'
import type { Context, Detection } from '../rule.ts'
import type { Disclosed } from './disclosed.ts'
import { limitsOf, type Constraint, type Limits } from './limits.ts'
import { AP2_TYPES, findMandates, isLegacy, VCT, type Ap2Type, type Mandate } from './mandates.ts'

/** Newest first. */
export const AP2_VERSIONS = ['0.2', '0.1'] as const

export const CHECKOUTS = ['checkout_mandate', 'mandates'] as const satisfies Ap2Type[]
export const PAYMENTS = ['payment_mandate', 'mandates'] as const satisfies Ap2Type[]
export const OPEN_CHECKOUTS = ['open_checkout_mandate', 'mandates'] as const satisfies Ap2Type[]
export const OPEN_PAYMENTS = ['open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]
export const OPEN = ['open_checkout_mandate', 'open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]
export const ANY_PAYMENTS = ['payment_mandate', 'open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]
export const CURRENT = [
  'checkout_mandate',
  'open_checkout_mandate',
  'payment_mandate',
  'open_payment_mandate',
  'mandates',
] as const satisfies Ap2Type[]
export const RECEIPTS = ['checkout_receipt', 'payment_receipt', 'mandates'] as const satisfies Ap2Type[]

export interface OpenMandate {
  mandate: Mandate
  claims: Place
  is_payment: boolean
  list: Place
  constraints: Constraint[]
  /** Constraints may stand behind digests, or be redacted. */
  hides: boolean
  limits: Limits
}

interface Checkout {
  /** null where the checkout stands by itself. */
  mandate: Mandate | null
  /** Decoded; its places are those of the document only where `embedded`. */
  body: Place
  embedded: boolean
}

export interface ClosedPayment {
  mandate: Mandate
  claims: Place
  /** The open mandate that it was made from, where the document has it. */
  open: OpenMandate | null
  checkout: Checkout | null
}

/** What the rules of AP2 are about, gathered once. */
export interface Ap2View {
  context: Context
  mandates: Mandate[]
  tokens: Place[]
  disclosed: Disclosed
  open: OpenMandate[]
  payments: ClosedPayment[]
  checkouts: Checkout[]
}

export function isAp2(document: Place): boolean {
  const { mandates } = findMandates(document)
  return mandates.length > 0
}

/** One mandate gives its own type; the version is that of the newest one in the document. */
export function detectAp2(document: Place): Detection {
  const { mandates } = findMandates(document)
  const [first, ...others] = mandates
  if (first === undefined) return { type: 'unknown', version: '0.2', version_source: 'assumed' }
  const type = others.length > 0 ? 'mandates' : first.type
  if (mandates.every(isLegacy)) return { type, version: '0.1', version_source: 'inferred' }
  const known = Object.values(VCT)
  const isDeclared = mandates.some(({ claims }) => known.includes(claims.get('vct').text() ?? ''))
  return { type, version: '0.2', version_source: isDeclared ? 'declared' : 'inferred' }
}

export function viewAp2(context: Context): Ap2View {
  const found = findMandates(context.document)
  const { tokens, disclosed } = found
  const mandates = asStated(context, found.mandates)
  const open = mandates
    .filter(({ type }) => type === 'open_payment_mandate' || type === 'open_checkout_mandate')
    .map((mandate) => openOf(mandate, disclosed))
  const payments = paymentsOf(mandates, open)
  const checkouts = checkoutsOf(context.document, mandates, disclosed)
  const closed = new Map(checkouts.map((checkout) => [hashOf(checkout, disclosed), checkout]))
  const [only] = checkouts
  const isPair = checkouts.length === 1 && payments.length === 1
  for (const payment of payments) {
    const hash = disclosed.get(payment.claims, 'transaction_id').text()
    payment.checkout = (hash === null ? undefined : closed.get(hash)) ?? (isPair ? (only ?? null) : null)
  }
  return { context, mandates, tokens, disclosed, open, payments, checkouts }
}

/** The document as a mandate of the type that the caller states, where its claims show another one or none. */
function asStated({ type, document }: Context, mandates: Mandate[]): Mandate[] {
  const stated = AP2_TYPES.find((one) => one === type)
  const [only, ...others] = mandates
  if (stated === undefined || stated === 'mandates' || stated === 'unknown' || others.length > 0) return mandates
  if (only === undefined) return document.kind === 'object' ? [{ type: stated, claims: document, envelope: null }] : mandates
  return only.type === stated ? mandates : [{ ...only, type: stated }]
}

/** A chain puts the open mandate before those that are made from it. */
function paymentsOf(mandates: readonly Mandate[], open: readonly OpenMandate[]): ClosedPayment[] {
  const by_mandate = new Map(open.map((one) => [one.mandate, one]))
  const payments: ClosedPayment[] = []
  let latest = open.find(({ is_payment }) => is_payment) ?? null
  for (const mandate of mandates) {
    if (mandate.type === 'open_payment_mandate') latest = by_mandate.get(mandate) ?? latest
    if (mandate.type === 'payment_mandate') payments.push({ mandate, claims: mandate.claims, open: latest, checkout: null })
  }
  return payments
}

function hashOf({ mandate }: Checkout, disclosed: Disclosed): string | null {
  return mandate === null ? null : disclosed.get(mandate.claims, 'checkout_hash').text()
}

function openOf(mandate: Mandate, disclosed: Disclosed): OpenMandate {
  const { claims, type } = mandate
  const list = disclosed.get(claims, 'constraints')
  const constraints = disclosed.items(list).map((place) => ({ place, type: disclosed.get(place, 'type').text() }))
  const hides =
    list.redacted ||
    (!list.present && disclosed.hides(claims)) ||
    constraints.some(
      ({ place, type: known }) => place.redacted || disclosed.isSealed(place) || (known === null && isVeiled(place, disclosed)),
    )
  const limits = limitsOf(constraints, disclosed)
  return { mandate, claims, is_payment: type === 'open_payment_mandate', list, constraints, hides, limits }
}

function isVeiled(constraint: Place, disclosed: Disclosed): boolean {
  return disclosed.get(constraint, 'type').redacted || disclosed.hides(constraint)
}

/** Checkouts that can be read: decoded ones in a closed mandate or beside it, and payloads of their tokens. */
function checkoutsOf(document: Place, mandates: readonly Mandate[], disclosed: Disclosed): Checkout[] {
  const found: Checkout[] = []
  for (const mandate of mandates) {
    if (mandate.type !== 'checkout_mandate') continue
    const token = disclosed.get(mandate.claims, 'checkout_jwt')
    const beside = disclosed.get(mandate.claims, 'checkout')
    const body = token.kind === 'object' ? inner(token) : beside
    const payload = body.kind === 'object' ? null : readEncodedObject((token.text() ?? '').split('.', 3)[1] ?? '')
    if (body.kind === 'object') found.push({ mandate, body, embedded: true })
    else if (payload !== null) found.push({ mandate, body: Place.root(payload), embedded: false })
  }
  const alone = inner(document.get('checkout'))
  const [first] = mandates
  if (first === undefined || first.claims.value === document.value || !(alone.has('line_items') || alone.has('totals'))) return found
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return [...found, { mandate: null, body: alone, embedded: true }]
  return only.embedded ? found : [{ mandate: only.mandate, body: alone, embedded: true }]
}

function inner(token: Place): Place {
  const payload = token.get('payload')
  return payload.kind === 'object' ? payload : token
}

/** The hash algorithm of the token that carries a mandate; null where it cannot be told. */
export function algorithmOf({ claims, envelope }: Mandate): string | null {
  const own = claims.get('_sd_alg')
  const place = own.present ? own : (envelope?.payload.get('_sd_alg') ?? own)
  return place.present ? place.text() : 'sha-256'
}

/** Mandates of one type, or of several. */
export function ofTypes({ mandates }: Ap2View, ...types: Mandate['type'][]): Mandate[] {
  return mandates.filter(({ type }) => types.includes(type))
}
