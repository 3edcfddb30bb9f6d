import type { JsonCursor } from '../json-cursor.ts'
import { expectType, expectText } from '../kit/expect.ts'
import type { ReportFinding } from '../protocol.ts'

/** Finds the mandates and receipts in a document, in any wrapper. */

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
  header: JsonCursor
  payload: JsonCursor
}

export interface Ap2Mandate {
  type: MandateType
  claims: JsonCursor
  /** null if the claims have no token around them. */
  envelope: Envelope | null
}

interface Found {
  mandates: Ap2Mandate[]
  /** Encoded tokens in place of decoded claims. */
  tokens: JsonCursor[]
  disclosed: Disclosed
}

/** Values of `vct`, exactly. */
export const VCT: Readonly<Record<'checkout_mandate' | 'open_checkout_mandate' | 'payment_mandate' | 'open_payment_mandate', string>> = {
  checkout_mandate: 'mandate.checkout.1',
  open_checkout_mandate: 'mandate.checkout.open.1',
  payment_mandate: 'mandate.payment.1',
  open_payment_mandate: 'mandate.payment.open.1',
}

const LEGACY: Readonly<Record<string, MandateType>> = {
  'ap2.mandates.IntentMandate': 'intent_mandate',
  'ap2.mandates.CartMandate': 'cart_mandate',
  'ap2.mandates.PaymentMandate': 'legacy_payment_mandate',
}

export function isOfV01({ type }: Ap2Mandate): boolean {
  return Object.values(LEGACY).includes(type)
}

/** Maximum depth of a mandate: message, parts, data, token, payload. */
const MOST_LEVELS = 10

export function findMandates(document: JsonCursor): Found {
  const found: Found = { mandates: [], tokens: [], disclosed: new Disclosed(document) }
  collectMandates(document, null, 0, found)
  return found
}

function collectMandates(cursor: JsonCursor, envelope: Envelope | null, level: number, found: Found): void {
  const { disclosed, mandates, tokens } = found
  if (level > MOST_LEVELS) return
  if (isToken(cursor)) tokens.push(cursor)
  const type = detectClaimsType(cursor)
  if (type !== null) {
    mandates.push({ type, claims: cursor, envelope })
    return
  }
  const payload = cursor.get('payload')
  if (payload.kind === 'object') {
    collectMandates(payload, { header: cursor.get('header'), payload }, level + 1, found)
    return
  }
  const delegated = cursor.get('delegate_payload')
  if (delegated.present) {
    const carrier = envelope?.payload.value === cursor.value ? envelope : { header: cursor.get('header'), payload: cursor }
    if (delegated.kind === 'array') for (const item of disclosed.items(delegated)) collectMandates(item, carrier, level + 1, found)
    else collectMandates(delegated, carrier, level + 1, found)
    return
  }
  const inner = cursor.children()
  for (const one of inner) if (one.key !== 'disclosures') collectMandates(one, envelope, level + 1, found)
}

/** Names under which tokens travel; a token under another name is part of something else. */
const TOKEN_NAME = /mandate|token|jwt|credential|receipt|chain|delegate|payload|presentation/i

/** Returns whether this is a compact JWT or SD-JWT under a member name for tokens. */
function isToken(cursor: JsonCursor): boolean {
  const text = cursor.text()
  if (text === null || !isCompact(text)) return false
  const names = [cursor, cursor.parent, cursor.parent?.parent].map((one) => one?.key ?? '')
  return cursor.parent === null || names.some((name) => TOKEN_NAME.test(name))
}

function isCompact(text: string): boolean {
  return text.startsWith('eyJ') && /^[\w-]+\.[\w-]*\.[\w-]+(?:~|$)/.test(text)
}

/** The type of the claims here; null if there are none. For an unknown `vct` of this protocol the shape decides. */
function detectClaimsType(cursor: JsonCursor): MandateType | null {
  if (cursor.kind !== 'object') return null
  const vct = cursor.get('vct')
  const text = vct.text()
  if (text !== null) {
    const [, family, open] = /^\s*mandate\.(checkout|payment)(\.open)?(?![a-z])/i.exec(text) ?? []
    if (family !== undefined) return typeOfV02(family.toLowerCase() === 'checkout', open !== undefined)
    if (!/^\s*mandate\./i.test(text)) return null
  }
  const legacy = Object.hasOwn(LEGACY, cursor.key) ? (LEGACY[cursor.key] ?? null) : null
  return legacy ?? inferV02Type(cursor) ?? inferV01Type(cursor) ?? inferReceiptType(cursor) ?? (text === null ? null : 'unknown')
}

function typeOfV02(is_checkout: boolean, is_open: boolean): MandateType {
  if (is_checkout) return is_open ? 'open_checkout_mandate' : 'checkout_mandate'
  return is_open ? 'open_payment_mandate' : 'payment_mandate'
}

function countMembers(cursor: JsonCursor, ...names: string[]): number {
  return names.filter((name) => cursor.has(name)).length
}

function inferV02Type(cursor: JsonCursor): MandateType | null {
  if (cursor.has('checkout_jwt') || cursor.has('checkout_hash')) return 'checkout_mandate'
  const about_payment = countMembers(cursor, 'transaction_id', 'payment_amount', 'payment_instrument', 'payee', 'pisp')
  const constraints = cursor.get('constraints')
  const first = constraints
    .items()
    .map((item) => /^(checkout|payment)\./.exec(item.text('type') ?? '')?.[1])
    .find((family) => family !== undefined)
  if (constraints.present && (cursor.has('cnf') || first !== undefined)) {
    return typeOfV02(first === undefined ? about_payment === 0 : first === 'checkout', true)
  }
  return about_payment >= 2 ? 'payment_mandate' : null
}

function inferV01Type(cursor: JsonCursor): MandateType | null {
  if (cursor.has('natural_language_description') || cursor.has('intent_expiry')) return 'intent_mandate'
  if (cursor.has('payment_mandate_contents')) return 'legacy_payment_mandate'
  const contents = cursor.get('contents')
  const isCart =
    contents.kind === 'object' && (cursor.has('merchant_authorization') || countMembers(contents, 'payment_request', 'cart_expiry') > 0)
  return isCart ? 'cart_mandate' : null
}

function inferReceiptType(cursor: JsonCursor): MandateType | null {
  const says = countMembers(cursor, 'reference', 'iss', 'iat')
  const states = countMembers(cursor, 'status', 'result') > 0
  if (says < (states ? 2 : 3) || cursor.has('sd_hash')) return null
  const isPayment = countMembers(cursor, 'payment_id', 'psp_confirmation_id', 'network_confirmation_id') > 0
  return isPayment ? 'payment_receipt' : 'checkout_receipt'
}

/**
 * Reads claims with selective disclosure (RFC 9901, 4.2). Digests in `_sd` replace members, `{ "...": digest }` replaces items of arrays,
 * and a decoded document may list the disclosures as `{ digest, decoded }`. Each disclosure is used for one placeholder, so that its
 * contents are read once.
 */
export class Disclosed {
  /** Values of `_sd_alg` anywhere. */
  readonly algorithms: readonly JsonCursor[]
  private readonly sealed: readonly JsonCursor[]
  private readonly waiting = new Map<string, JsonCursor[]>()
  private readonly revealed = new Map<object, JsonCursor | null>()
  private readonly opened = new Map<object, Opened>()

  constructor(document: JsonCursor) {
    const algorithms: JsonCursor[] = []
    const sealed: JsonCursor[] = []
    const open = [document]
    for (let cursor = open.pop(); cursor !== undefined; cursor = open.pop()) {
      if (cursor.kind === 'object') {
        if (cursor.has('_sd_alg')) algorithms.push(cursor.get('_sd_alg'))
        if (cursor.has('_sd') || cursor.has('...')) sealed.push(cursor)
        for (const disclosure of cursor.items('disclosures')) this.keep(disclosure)
      }
      open.push(...cursor.children().toReversed())
    }
    this.algorithms = algorithms
    this.sealed = sealed
  }

  private keep(disclosure: JsonCursor): void {
    const digest = disclosure.text('digest')
    if (digest === null || disclosure.get('decoded').kind !== 'array') return
    this.waiting.set(digest, [...(this.waiting.get(digest) ?? []).slice(0, MOST_REPEATED), disclosure.get('decoded')])
  }

  /** The disclosed value of a placeholder item; the cursor itself if it is not a placeholder or not disclosed. */
  reveal(cursor: JsonCursor): JsonCursor {
    const digest = cursor.text('...')
    if (digest === null || typeof cursor.value !== 'object' || cursor.value === null) return cursor
    const before = this.revealed.get(cursor.value)
    if (before !== undefined) return before ?? cursor
    const [decoded, ...others] = this.waiting.get(digest) ?? []
    if (decoded !== undefined) this.waiting.set(digest, others)
    const found = decoded?.items()[1] ?? null
    this.revealed.set(cursor.value, found)
    return found ?? cursor
  }

  /** The items of an array, with those that are disclosed. */
  items(list: JsonCursor): JsonCursor[] {
    return list.items().map((item) => this.reveal(item))
  }

  /** The member of this name, also a disclosed one. */
  get(holder: JsonCursor, name: string): JsonCursor {
    const own = holder.get(name)
    return own.present ? own : (this.open(holder).members.get(name) ?? own)
  }

  /** Returns whether the object has undisclosed members, or the array undisclosed items. */
  hides(cursor: JsonCursor): boolean {
    if (cursor.kind === 'array') return this.items(cursor).some((item) => this.isSealed(item))
    return this.open(cursor).hides
  }

  /** Returns whether this is a placeholder whose value is not disclosed. */
  isSealed(cursor: JsonCursor): boolean {
    return cursor.has('...') && this.reveal(cursor) === cursor
  }

  /** Objects with undisclosed members, and placeholders of undisclosed items, in the order of the document. */
  undisclosed(): JsonCursor[] {
    return this.sealed.filter((cursor) => this.isSealed(cursor) || this.open(cursor).hides)
  }

  /** `need`, but silent where the member may be among the undisclosed ones. */
  need(report: ReportFinding, holder: JsonCursor, name: string, kind: Parameters<typeof expectType>[2]): boolean {
    const cursor = this.get(holder, name)
    return (cursor.present || !this.hides(holder)) && expectType(report, cursor, kind)
  }

  /** `needText`, but silent where the member may be among the undisclosed ones. */
  needText(report: ReportFinding, holder: JsonCursor, name: string): string | null {
    const cursor = this.get(holder, name)
    return cursor.present || !this.hides(holder) ? expectText(report, cursor) : null
  }

  private open(holder: JsonCursor): Opened {
    const digests = holder.get('_sd')
    if (digests.kind !== 'array' || typeof holder.value !== 'object' || holder.value === null) return NOTHING
    const before = this.opened.get(holder.value)
    if (before !== undefined) return before
    const members = new Map<string, JsonCursor>()
    let hides = false
    for (const digest of digests.items()) {
      const [decoded, ...others] = this.waiting.get(digest.text() ?? '') ?? []
      const [, name, value] = decoded?.items() ?? []
      const text = name?.text() ?? null
      if (text === null || value === undefined) hides = true
      else members.set(text, value)
      if (decoded !== undefined) this.waiting.set(digest.text() ?? '', others)
    }
    const found = { members, hides }
    this.opened.set(holder.value, found)
    return found
  }
}

interface Opened {
  members: ReadonlyMap<string, JsonCursor>
  hides: boolean
}

const NOTHING: Opened = { members: new Map(), hides: false }

/** A digest comes more than once where one token is part of two chains. */
const MOST_REPEATED = 7
