import { decodeJsonObject, PRIVATE_JWK_MEMBERS } from '../kit/keys.ts'
import { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding, RuleContext, Detection, SpecReference, DocumentReader } from '../protocol.ts'
import { type Disclosed, AP2_TYPES, findMandates, isOfV01, VCT, type Ap2Type, type Ap2Mandate } from './mandates.ts'
import { expectTypeIfPresent } from '../kit/expect.ts'
import { minorUnitDigits, expectMinorUnits } from '../kit/money.ts'
import { readIso8601, type InstantRange } from '../kit/dates.ts'

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
  const future = mandates.map(({ claims }) => futureVersion(claims.text('vct'))).find((version) => version !== null)
  if (future !== undefined) return { type, version: '0.2', version_source: 'declared', declared: future ?? '', outside: 'future' }
  const known = Object.values(VCT)
  const isDeclared = mandates.some(({ claims }) => known.includes(claims.text('vct') ?? ''))
  return { type, version: '0.2', version_source: isDeclared ? 'declared' : 'inferred' }
}

/** The type that names a version after 1, such as `mandate.payment.2`; null for every other text. */
function futureVersion(vct: string | null): string | null {
  return vct !== null && /^mandate\.(?:checkout|payment)(?:\.open)?\.(?:[2-9]|[1-9][0-9])$/.test(vct) ? vct : null
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

// Limits that the constraints of an open mandate set, collected once so that each comparison takes constant time.

interface Constraint {
  cursor: JsonCursor
  /** null if it cannot be read. */
  type: string | null
}

/** A list of what is allowed, by the names under which its items can be met. */
interface Allowed {
  names: ReadonlySet<string>
  /** Something in it is hidden or redacted, so that nothing is certainly outside. */
  unsure: boolean
}

interface AmountRange {
  cursor: JsonCursor
  currency: string | null
  min: bigint | null
  max: bigint | null
}

/** A sum that repeated payments may reach together. */
interface Budget {
  currency: string | null
  /** The most that it may mean, in minor units. */
  max: bigint | null
}

interface DateWindow {
  cursor: JsonCursor
  not_before: InstantRange | null
  not_after: InstantRange | null
}

export interface MandateLimits {
  payees: Allowed[]
  merchants: Allowed[]
  instruments: Allowed[]
  pisps: Allowed[]
  ranges: AmountRange[]
  budgets: Budget[]
  windows: DateWindow[]
}

function collectLimits(constraints: readonly Constraint[], disclosed: Disclosed): MandateLimits {
  const of = (type: string) => constraints.filter((one) => one.type === type).slice(0, MOST_OF_A_TYPE)
  const allowed = (type: string, party: Party) =>
    of(type).map(({ cursor }) => readAllowedParties(disclosed.get(cursor, 'allowed'), party, disclosed))
  return {
    payees: allowed('payment.allowed_payees', 'merchant'),
    merchants: allowed('checkout.allowed_merchants', 'merchant'),
    instruments: allowed('payment.allowed_payment_instruments', 'instrument'),
    pisps: allowed('payment.allowed_pisps', 'pisp'),
    ranges: of('payment.amount_range').map(({ cursor }) => readAmountRange(cursor)),
    budgets: of('payment.budget').map(({ cursor }) => readBudget(cursor, disclosed)),
    windows: of('payment.execution_date').map(({ cursor }) => readDateWindow(cursor)),
  }
}

/** Constraints of one type that closed mandates are checked against; repeated types draw a warning anyway. */
const MOST_OF_A_TYPE = 4

export type Party = 'merchant' | 'instrument' | 'pisp'

/** Names of a party: those under which it goes, and those under which an allowed one is met. */
interface Names {
  goes_by: readonly string[]
  met_by: readonly string[]
}

/** The names of a party; null if one of them is redacted or hidden, or nothing names it. */
function readPartyNames(cursor: JsonCursor, party: Party, disclosed: Disclosed): Names | null {
  if (cursor.kind !== 'object' || disclosed.hides(cursor)) return null
  const members = PARTY_MEMBERS[party].map((name) => disclosed.get(cursor, name))
  if (members.some((member) => member.redacted)) return null
  const [first = '', second = '', third = ''] = members.map((member) => member.text() ?? '')
  if (party === 'instrument') return first === '' ? null : singleName(`id ${first}`)
  if (party === 'pisp') return first === '' && second === '' && third === '' ? null : singleName(JSON.stringify([first, second, third]))
  return readMerchantNames(first, second, third)
}

const PARTY_MEMBERS: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name', 'website'],
  instrument: ['id'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

function singleName(name: string): Names {
  return { goes_by: [name], met_by: [name] }
}

/** The id decides; name and website together only where one of the two has no id, since anybody can take another's name. */
function readMerchantNames(id: string, name: string, website: string): Names | null {
  const site = name !== '' && website !== '' ? JSON.stringify([name, website]) : null
  if (id === '') return site === null ? null : { goes_by: [`any ${site}`], met_by: [`any ${site}`, `nameless ${site}`] }
  const full = site === null ? [] : [`any ${site}`]
  return { goes_by: [`id ${id}`, ...(site === null ? [] : [`nameless ${site}`])], met_by: [`id ${id}`, ...full] }
}

function readAllowedParties(list: JsonCursor, party: Party, disclosed: Disclosed): Allowed {
  const names = new Set<string>()
  const items = disclosed.items(list)
  let unsure = list.kind !== 'array' || items.length === 0
  for (const item of items) {
    const found = readPartyNames(item, party, disclosed)
    if (found === null) unsure = true
    else for (const name of found.met_by) names.add(name)
  }
  return { names, unsure }
}

/** Returns whether a party is certainly not among the allowed ones. */
export function isOutsideAllowed(cursor: JsonCursor, party: Party, { names, unsure }: Allowed, disclosed: Disclosed): boolean {
  const own = unsure ? null : readPartyNames(cursor, party, disclosed)
  return own !== null && !own.goes_by.some((name) => names.has(name))
}

/** Returns whether two objects certainly name different parties. */
export function areDifferentParties(one: JsonCursor, other: JsonCursor, party: Party, disclosed: Disclosed): boolean {
  const [own, met] = [readPartyNames(one, party, disclosed), readPartyNames(other, party, disclosed)]
  return own !== null && met !== null && !own.goes_by.some((name) => met.met_by.includes(name))
}

const silent = () => undefined

/** Bounds that contradict each other, or cannot be read, are left out. */
function readAmountRange(cursor: JsonCursor): AmountRange {
  const [min, max] = [expectMinorUnits(silent, cursor.get('min')), expectMinorUnits(silent, cursor.get('max'))]
  const broken = min !== null && max !== null && min > max
  return { cursor, currency: cursor.text('currency'), min: broken ? null : min, max: broken ? null : max }
}

/** In major units: minor ones would be less. The library of the protocol takes a hundredth for the minor unit of every currency. */
function readBudget(cursor: JsonCursor, disclosed: Disclosed): Budget {
  const currency = disclosed.get(cursor, 'currency').text()
  const digits = Math.max(2, minorUnitDigits(currency ?? '') ?? 2)
  const max = readDecimal(disclosed.get(cursor, 'max'))
  return { currency, max: max === null || max < 0n ? null : (max * 10n ** BigInt(digits)) / DECIMAL_SCALE }
}

function readDateWindow(cursor: JsonCursor): DateWindow {
  const [not_before, not_after] = [readIso8601(cursor.text('not_before')), readIso8601(cursor.text('not_after'))]
  const broken = not_before !== null && not_after !== null && not_before.from_s > not_after.to_s
  return { cursor, not_before: broken ? null : not_before, not_after: broken ? null : not_after }
}

const NEEDED: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name'],
  instrument: ['id', 'type'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

/** The members that a merchant, an instrument or an initiation service must have. */
export function expectPartyMembers(error: ReportFinding, cursor: JsonCursor, party: Party, disclosed: Disclosed): void {
  for (const name of NEEDED[party]) disclosed.needText(error, cursor, name)
  const more = party === 'merchant' ? 'website' : party === 'instrument' ? 'description' : null
  if (more !== null) expectTypeIfPresent(error, disclosed.get(cursor, more), 'string')
}

/** Amounts of version 0.1, and budgets: decimal numbers of major units, or texts of them, as the W3C Payment Request API has them. */

const DIGITS = 20
/** Units of a decimal in one. */
const DECIMAL_SCALE = 10n ** BigInt(DIGITS)

/** The value in units of 10^-20; null if it is not a plain decimal. */
export function readDecimal(cursor: JsonCursor): bigint | null {
  const { value } = cursor
  const text = typeof value === 'number' ? (cursor.literal() ?? String(value)) : cursor.text()
  const match = text === null ? null : /^(-?)([0-9]{1,30})(?:\.([0-9]{1,20}))?$/.exec(text)
  if (match === null) return null
  const size = BigInt(match[2] ?? '0') * DECIMAL_SCALE + BigInt((match[3] ?? '').padEnd(DIGITS, '0'))
  return match[1] === '-' ? -size : size
}

/** Returns whether two values differ by at least half of the smallest unit of a currency; sums of doubles differ by less. */
export function differByUnit(one: bigint, other: bigint, currency: string | null): boolean {
  const unit = DECIMAL_SCALE / 10n ** BigInt(currency === null ? 2 : (minorUnitDigits(currency) ?? 2))
  const difference = one > other ? one - other : other - one
  return difference * 2n >= unit
}

const ISO = 'a date or time of ISO 8601, such as 2026-03-31T00:00:00Z'

/** Expects the text to be one of ISO 8601; silent about absent and redacted values. */
export function expectIsoTime(report: ReportFinding, cursor: JsonCursor): InstantRange | null {
  if (!cursor.present || cursor.redacted) return null
  const span = readIso8601(cursor.text())
  if (span === null) report(cursor, 'is not an ISO 8601 date or time', { expected: ISO })
  return span
}

/** Hashes as mandates carry them: base64url without padding. */

/** Characters of a hash by the algorithm that RFC 9901 names. */
export const DIGEST_CHARS: Readonly<Record<string, number>> = { 'sha-256': 43, 'sha-384': 64, 'sha-512': 86 }

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
  members: ['vct', 'checkout_jwt', 'checkout_hash', 'transaction_id', 'payment_amount', 'constraints', 'cnf', 'delegate_payload'],
  recognises: (document) => findMandates(document).mandates.length > 0,
  detect: detectAp2,
  specForVersion: ap2SpecAt,
  view: collectAp2View,
}
