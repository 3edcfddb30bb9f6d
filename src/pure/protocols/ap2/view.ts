import { decodeJsonObject, PRIVATE_JWK_MEMBERS } from '../kit/keys.ts'
import { JsonCursor } from '../json-cursor.ts'
import type { RuleContext, Detection, SpecReference, DocumentReader } from '../protocol.ts'
import { type Disclosed, AP2_TYPES, findMandates, isOfV01, VCT, type Ap2Type, type Ap2Mandate } from './mandates.ts'
import { collectLimits, type Constraint, type MandateLimits } from './values.ts'
export const OPEN_PAYMENTS = ['open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]
export const CURRENT = [
  'checkout_mandate',
  'open_checkout_mandate',
  'payment_mandate',
  'open_payment_mandate',
  'mandates',
] as const satisfies Ap2Type[]

export interface OpenMandate {
  mandate: Ap2Mandate
  claims: JsonCursor
  is_payment: boolean
  list: JsonCursor
  constraints: Constraint[]
  /** True if constraints may be undisclosed or redacted. */
  hides: boolean
  limits: MandateLimits
}

interface Checkout {
  /** null if the checkout is not part of a mandate. */
  mandate: Ap2Mandate | null
  /** Decoded; its places are those of the document only where `embedded`. */
  body: JsonCursor
  embedded: boolean
}

export interface ClosedPayment {
  mandate: Ap2Mandate
  claims: JsonCursor
  /** The open mandate that it was made from, where the document has it. */
  open: OpenMandate | null
  checkout: Checkout | null
}

/** Mandates and checkouts that the rules of AP2 read, collected once. */
export interface Ap2View {
  context: RuleContext
  mandates: Ap2Mandate[]
  tokens: JsonCursor[]
  disclosed: Disclosed
  open: OpenMandate[]
  payments: ClosedPayment[]
  checkouts: Checkout[]
}

/** One mandate gives its own type; the version is that of the newest one in the document. */
function detectAp2(document: JsonCursor): Detection {
  const { mandates } = findMandates(document)
  const [first, ...others] = mandates
  if (first === undefined) return { type: 'unknown', version: '0.2', version_source: 'assumed' }
  const type = others.length > 0 ? 'mandates' : first.type
  if (mandates.every(isOfV01)) return { type, version: '0.1', version_source: 'inferred' }
  const known = Object.values(VCT)
  const isDeclared = mandates.some(({ claims }) => known.includes(claims.text('vct') ?? ''))
  return { type, version: '0.2', version_source: isDeclared ? 'declared' : 'inferred' }
}

function collectAp2View(context: RuleContext): Ap2View {
  const found = findMandates(context.document)
  const { tokens, disclosed } = found
  const mandates = applyStatedType(context, found.mandates)
  const open = mandates
    .filter(({ type }) => type === 'open_payment_mandate' || type === 'open_checkout_mandate')
    .map((mandate) => readOpenMandate(mandate, disclosed))
  const payments = collectPayments(mandates, open)
  const checkouts = collectCheckouts(context.document, mandates, disclosed)
  const closed = new Map(checkouts.map((checkout) => [checkoutHash(checkout, disclosed), checkout]))
  const [only] = checkouts
  const isPair = checkouts.length === 1 && payments.length === 1
  for (const payment of payments) {
    const hash = disclosed.get(payment.claims, 'transaction_id').text()
    payment.checkout = (hash === null ? undefined : closed.get(hash)) ?? (isPair ? (only ?? null) : null)
  }
  return { context, mandates, tokens, disclosed, open, payments, checkouts }
}

/** The document as a mandate of the type that the caller states, where its claims show another one or none. */
function applyStatedType({ type, document }: RuleContext, mandates: Ap2Mandate[]): Ap2Mandate[] {
  const stated = AP2_TYPES.find((one) => one === type)
  const [only, ...others] = mandates
  if (stated === undefined || stated === 'mandates' || stated === 'unknown' || others.length > 0) return mandates
  if (only === undefined) return document.kind === 'object' ? [{ type: stated, claims: document, envelope: null }] : mandates
  return only.type === stated ? mandates : [{ ...only, type: stated }]
}

/** A chain puts the open mandate before those that are made from it. */
function collectPayments(mandates: readonly Ap2Mandate[], open: readonly OpenMandate[]): ClosedPayment[] {
  const by_mandate = new Map(open.map((one) => [one.mandate, one]))
  const payments: ClosedPayment[] = []
  let latest = open.find(({ is_payment }) => is_payment) ?? null
  for (const mandate of mandates) {
    if (mandate.type === 'open_payment_mandate') latest = by_mandate.get(mandate) ?? latest
    if (mandate.type === 'payment_mandate') payments.push({ mandate, claims: mandate.claims, open: latest, checkout: null })
  }
  return payments
}

function checkoutHash({ mandate }: Checkout, disclosed: Disclosed): string | null {
  return mandate === null ? null : disclosed.get(mandate.claims, 'checkout_hash').text()
}

function readOpenMandate(mandate: Ap2Mandate, disclosed: Disclosed): OpenMandate {
  const { claims, type } = mandate
  const list = disclosed.get(claims, 'constraints')
  const constraints = disclosed.items(list).map((cursor) => ({ cursor, type: disclosed.get(cursor, 'type').text() }))
  const hides =
    list.redacted ||
    (!list.present && disclosed.hides(claims)) ||
    constraints.some(
      ({ cursor, type: known }) => cursor.redacted || disclosed.isSealed(cursor) || (known === null && mayHideType(cursor, disclosed)),
    )
  const limits = collectLimits(constraints, disclosed)
  return { mandate, claims, is_payment: type === 'open_payment_mandate', list, constraints, hides, limits }
}

function mayHideType(constraint: JsonCursor, disclosed: Disclosed): boolean {
  return disclosed.get(constraint, 'type').redacted || disclosed.hides(constraint)
}

/** Readable checkouts: decoded ones in or next to a closed mandate, and payloads of their tokens. */
function collectCheckouts(document: JsonCursor, mandates: readonly Ap2Mandate[], disclosed: Disclosed): Checkout[] {
  const found: Checkout[] = []
  for (const mandate of mandates) {
    if (mandate.type !== 'checkout_mandate') continue
    const token = disclosed.get(mandate.claims, 'checkout_jwt')
    const beside = disclosed.get(mandate.claims, 'checkout')
    const body = token.kind === 'object' ? unwrapPayload(token) : beside
    const payload = body.kind === 'object' ? null : decodeJsonObject((token.text() ?? '').split('.', 3)[1] ?? '')
    if (body.kind === 'object') found.push({ mandate, body, embedded: true })
    else if (payload !== null) found.push({ mandate, body: JsonCursor.root(payload), embedded: false })
  }
  const alone = unwrapPayload(document.get('checkout'))
  const [first] = mandates
  if (first === undefined || first.claims.value === document.value || !(alone.has('line_items') || alone.has('totals'))) return found
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return [...found, { mandate: null, body: alone, embedded: true }]
  return only.embedded ? found : [{ mandate: only.mandate, body: alone, embedded: true }]
}

function unwrapPayload(token: JsonCursor): JsonCursor {
  const payload = token.get('payload')
  return payload.kind === 'object' ? payload : token
}

/** Mandates of one type, or of several. */
export function mandatesOfTypes({ mandates }: Ap2View, ...types: Ap2Mandate['type'][]): Ap2Mandate[] {
  return mandates.filter(({ type }) => types.includes(type))
}

/** The key that a mandate is bound to. */
interface CnfKey {
  mandate: Ap2Mandate
  cnf: JsonCursor
  jwk: JsonCursor
  /** Members that only the holder of the key may know. */
  secrets: JsonCursor[]
}

export function cnfKeys({ mandates, disclosed }: Ap2View): CnfKey[] {
  return mandates.flatMap((mandate) => {
    const cnf = disclosed.get(mandate.claims, 'cnf')
    const jwk = cnf.get('jwk')
    const secrets = PRIVATE_JWK_MEMBERS.map((name) => jwk.get(name)).filter((cursor) => cursor.present && !cursor.redacted)
    return cnf.present ? [{ mandate, cnf, jwk, secrets }] : []
  })
}

const REPOSITORY = 'https://github.com/google-agentic-commerce/AP2/blob'

type Page = 'specification' | 'agent_authorization' | 'checkout_mandate' | 'payment_mandate'

/** A heading of a page of the specification, version 0.2. */
export function ap2Spec(page: Page, section: string): SpecReference {
  return { url: `${REPOSITORY}/v0.2.0/docs/ap2/${page}.md`, section }
}

/** A type of version 0.1, which is written down as code. */
export function legacySpec(type: string): SpecReference {
  return { url: `${REPOSITORY}/v0.1.0/src/ap2/types/mandate.py`, section: type }
}

export const ISSUE_BUDGET: SpecReference = {
  url: 'https://github.com/google-agentic-commerce/AP2/issues/339',
  section: 'Budget unit and withheld disclosures',
}

/** Version 0.1 had one page; its mandates are written down as code. */
function ap2SpecAt(spec: SpecReference, version: string): SpecReference {
  if (version !== '0.1' || !spec.url.startsWith(`${REPOSITORY}/v0.2.0/`)) return spec
  return { url: `${REPOSITORY}/v0.1.0/docs/specification.md`, section: spec.section }
}

export const AP2_READER: DocumentReader<Ap2View> = {
  versions: ['0.2', '0.1'],
  types: AP2_TYPES,
  recognises: (document) => findMandates(document).mandates.length > 0,
  detect: detectAp2,
  specForVersion: ap2SpecAt,
  view: collectAp2View,
}
