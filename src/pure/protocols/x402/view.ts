import type { JsonCursor } from '../json-cursor.ts'
import { isBlank, UNKNOWN_TYPE, type RuleContext, type Detection, type SpecReference, type DocumentReader } from '../protocol.ts'
import { listCarriedPayments, listPaymentMetadata } from '../kit/a2a-messages.ts'
import { foldAsset, type KnownToken, networkAt, tokensOf, V1_NETWORKS, type X402Network } from './document-networks.ts'

const X402_TYPES = [
  'payment_required',
  'payment_requirements',
  'payment_payload',
  'verify_request',
  'settlement_response',
  'verify_response',
  'resource_list',
  'supported_response',
  'a2a_message',
] as const

type X402Version = '1' | '2'

/** One PaymentRequirements object. */
export interface RequirementsEntry {
  cursor: JsonCursor
  version: X402Version
  scheme: string | null
  /** null if it cannot be read. */
  network: X402Network | null
  /** Offered by a server, or echoed by a payer as `accepted`. */
  role: 'offered' | 'accepted'
}

/** One PaymentPayload. */
export interface X402Payload {
  cursor: JsonCursor
  version: X402Version
  /** Terms that the payer refers to: `accepted` of version 2, or the requirements sent with a payload of version 1. */
  terms: JsonCursor | null
}

/** Parts of a document that the rules of x402 read, collected once. */
export interface X402View {
  context: RuleContext
  document: JsonCursor
  version: X402Version
  /** Objects that must say `x402Version`. */
  envelopes: JsonCursor[]
  /** Objects that must have `accepts`. */
  challenges: JsonCursor[]
  entries: RequirementsEntry[]
  payloads: X402Payload[]
  /** `resource` objects of version 2, with whether they must be there. */
  resources: { cursor: JsonCursor; required: boolean }[]
  /** `extensions` objects. */
  extensions: JsonCursor[]
}

function isX402Document(document: JsonCursor): boolean {
  if (document.has('x402Version') || document.has('paymentPayload') || document.has('paymentRequirements')) return true
  if (listCarriedPayments(listPaymentMetadata(document)).length > 0) return true
  if (document.has('payTo') && document.has('network') && (document.has('amount') || document.has('maxAmountRequired'))) return true
  return document.has('success') && document.has('transaction') && document.has('network')
}

function detectType(document: JsonCursor): (typeof X402_TYPES)[number] {
  const has = (name: string) => document.has(name)
  if (listPaymentMetadata(document).length > 0) return 'a2a_message'
  if (has('paymentPayload') || has('paymentRequirements')) return 'verify_request'
  if (has('accepts')) return 'payment_required'
  if (has('payload')) return 'payment_payload'
  if (has('success') && (has('transaction') || has('network') || has('errorReason'))) return 'settlement_response'
  if (has('isValid')) return 'verify_response'
  if (document.get('kinds').kind === 'array') return 'supported_response'
  if (has('items') || document.get('resources').kind === 'array') return 'resource_list'
  return has('x402Version') || !['scheme', 'payTo', 'asset'].some(has) ? 'payment_required' : 'payment_requirements'
}

/** Members by which documents are known. */
const X402_MEMBERS = [
  'x402Version',
  'accepts',
  'payload',
  'paymentPayload',
  'paymentRequirements',
  'scheme',
  'network',
  'payTo',
  'asset',
  'amount',
  'maxAmountRequired',
  'success',
  'transaction',
  'isValid',
  'kinds',
  'items',
  'resources',
]

/** Returns whether the shape is one of the types: version and lists alone do not make a home-made document one of them. */
function isKnownShape(document: JsonCursor, type: (typeof X402_TYPES)[number]): boolean {
  const has = (...names: string[]) => names.some((name) => document.has(name))
  const { length } = document.members()
  if (isBlank(document)) return true
  if (type === 'resource_list') {
    const isListed = listItems(document).some((item) => ['accepts', 'x402Version', 'resource', 'payments'].some((name) => item.has(name)))
    const isNamed = document.items('resources').some((item) => /^https?:/i.test(item.text() ?? ''))
    return isListed || isNamed || document.integer('x402Version') !== null
  }
  if (type !== 'payment_required') return true
  if (has('x402Version')) return length === 1 || has('accepts', 'payments', 'error', 'resource', 'extensions')
  return has('accepts', 'payments')
}

function detectX402(document: JsonCursor): Detection {
  const type = detectType(document)
  if (!isKnownShape(document, type)) return { type: UNKNOWN_TYPE, version: '2', version_source: 'assumed', outside: 'unknown' }
  return { type, ...detectVersion(document) }
}

function detectVersion(document: JsonCursor): Pick<Detection, 'version' | 'version_source' | 'declared' | 'outside'> {
  const carried = listCarriedPayments(listPaymentMetadata(document)).map(({ cursor }) => cursor)
  const holders = [document, document.get('paymentPayload'), ...listItems(document).slice(0, 1), ...carried]
  const spoken = holders.map((cursor) => readVersion(cursor.get('x402Version'))).find((version) => version !== null)
  if (spoken !== undefined && spoken !== null) return { version: spoken, version_source: 'declared' }
  const newer = holders.map((cursor) => cursor.integer('x402Version')).find((version) => version !== null && version > 2n && version < 100n)
  if (newer !== undefined && newer !== null)
    return { version: '2', version_source: 'declared', declared: newer.toString(), outside: 'future' }
  const shape = inferVersion([document, document.get('paymentRequirements'), ...listItems(document).slice(0, 1), ...listOffers(document)])
  return shape === null ? { version: '2', version_source: 'assumed' } : { version: shape, version_source: 'inferred' }
}

/** Reads the version, also from the string "2", which a rule reports. */
function readVersion(cursor: JsonCursor): X402Version | null {
  const said = String(cursor.number() ?? cursor.text() ?? '')
  return said === '1' || said === '2' ? said : null
}

function inferVersion(cursors: readonly JsonCursor[]): X402Version | null {
  for (const cursor of cursors) {
    if (cursor.has('amount') || cursor.has('accepted') || cursor.get('resource').kind === 'object') return '2'
    if (cursor.has('maxAmountRequired')) return '1'
    const network = cursor.text('network')
    if (network !== null) return V1_NETWORKS.has(network) ? '1' : '2'
  }
  return null
}

function listItems(document: JsonCursor): JsonCursor[] {
  const items = document.get('items')
  return (items.present ? items : document.get('resources')).objects()
}

/** Items of `accepts`, or of its alias `payments`. */
function listOffers(document: JsonCursor): JsonCursor[] {
  const accepts = document.get('accepts')
  const cursors = accepts.present ? accepts.items() : document.items('payments')
  return cursors.filter(({ kind }) => kind === 'object')
}

function collectX402View(context: RuleContext): X402View {
  const { document, type } = context
  const version: X402Version = context.version === '1' ? '1' : '2'
  const view: X402View = {
    context,
    document,
    version,
    envelopes: [],
    challenges: [],
    entries: [],
    payloads: [],
    resources: [],
    // What a facilitator supports are names of extensions, and so are those of a message; neither has their data.
    extensions: type === 'supported_response' || type === 'a2a_message' ? [] : [document.get('extensions')],
  }
  if (type === 'payment_requirements') view.entries.push(readEntry(document, version, 'offered'))
  if (type === 'payment_required') addChallenge(view, document, version)
  if (type === 'resource_list')
    for (const item of listItems(document)) addChallenge(view, item, readVersion(item.get('x402Version')) ?? version)
  if (type === 'payment_payload') addPayload(view, document, version, [])
  if (type === 'verify_request') addVerifyRequest(view)
  return view
}

function addChallenge(view: X402View, cursor: JsonCursor, version: X402Version): void {
  const isItem = cursor !== view.document
  view.envelopes.push(cursor)
  view.challenges.push(cursor)
  for (const offer of listOffers(cursor)) {
    // Official lists state another version for an item than its terms have.
    const own = isItem ? (inferVersion([offer]) ?? version) : version
    view.entries.push(readEntry(offer, own, 'offered'))
  }
  // A list names the resource of an item as it likes.
  if (version === '2' && !isItem) view.resources.push({ cursor: cursor.get('resource'), required: true })
  if (isItem) view.extensions.push(cursor.get('extensions'))
  if (cursor.has('accepted')) view.entries.push(readEntry(cursor.get('accepted'), version, 'accepted'))
}

function addVerifyRequest(view: X402View): void {
  const { document, version } = view
  const requirements = document.get('paymentRequirements')
  const offers = (requirements.kind === 'array' ? requirements.items() : [requirements]).filter(({ kind }) => kind === 'object')
  for (const offer of offers) view.entries.push(readEntry(offer, version, 'offered'))
  if (document.has('x402Version')) view.envelopes.push(document)
  const payload = document.get('paymentPayload')
  if (payload.kind === 'object') addPayload(view, payload, version, offers)
}

function addPayload(view: X402View, cursor: JsonCursor, version: X402Version, offers: readonly JsonCursor[]): void {
  const accepted = cursor.get('accepted')
  const network = cursor.text('network')
  const offer = offers.find((one) => one.text('network') === network) ?? offers[0] ?? null
  view.envelopes.push(cursor)
  view.payloads.push({ cursor, version, terms: accepted.kind === 'object' ? accepted : offer })
  if (accepted.kind === 'object' && offers.length === 0) view.entries.push(readEntry(accepted, version, 'accepted'))
  if (version === '2' && cursor.has('resource')) view.resources.push({ cursor: cursor.get('resource'), required: false })
  if (cursor !== view.document) view.extensions.push(cursor.get('extensions'))
}

function readEntry(cursor: JsonCursor, version: X402Version, role: RequirementsEntry['role']): RequirementsEntry {
  return { cursor, version, role, scheme: cursor.text('scheme'), network: networkAt(networkCursor(cursor)) }
}

export function networkCursor(cursor: JsonCursor): JsonCursor {
  return firstPresent(cursor, ['network', 'chain'])
}

/** The token of the table that an entry asks for; null when it is not known. */
export function tokenOf({ cursor, network }: RequirementsEntry): KnownToken | null {
  const asset = assetOf(cursor).text()
  if (network === null || asset === null) return null
  const wanted = foldAsset(asset)
  return tokensOf(network).find((token) => foldAsset(token.asset) === wanted) ?? null
}

export function assetOf(cursor: JsonCursor): JsonCursor {
  return firstPresent(cursor, ['asset', 'usdcAddress'])
}

export function payToOf(cursor: JsonCursor): JsonCursor {
  return firstPresent(cursor, ['payTo', 'payToAddress', 'address'])
}

/** The first of these members that is there; else the first of all. */
function firstPresent(cursor: JsonCursor, [own = '', ...aliases]: readonly string[]): JsonCursor {
  const alias = cursor.has(own) ? undefined : aliases.find((name) => cursor.has(name))
  return cursor.get(alias ?? own)
}

/** Name of the amount in a version. */
export function amountName(version: X402Version): 'maxAmountRequired' | 'amount' {
  return version === '1' ? 'maxAmountRequired' : 'amount'
}

/** Common wrong names of members, by the right name. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  accepts: ['payments'],
  payTo: ['address', 'payToAddress'],
  network: ['chain'],
  asset: ['usdcAddress'],
  maxTimeoutSeconds: ['requiredDeadlineSeconds'],
}

/** Returns whether a member is missing and has no alias, so that the rule about its form reports it. */
export function isMissing(cursor: JsonCursor, name: string): boolean {
  return !cursor.has(name) && !(ALIASES[name] ?? []).some((alias) => cursor.has(alias))
}

/** Signed members on EVM networks, for both transfer methods (scheme_exact_evm §1 and §2, scheme_upto_evm §1). */
export interface SignedAuthorization {
  method: 'eip3009' | 'permit2'
  /** Recipient of the money; with Permit2 the witness, to which the proxy sends it. */
  to: JsonCursor
  amount: JsonCursor
  /** Unix time in seconds. */
  after: JsonCursor
  before: JsonCursor
  nonce: JsonCursor
  /** Every address that was signed. */
  addresses: JsonCursor[]
  /** Permit2 only: the token and its spender. EIP-3009 is signed for the token contract itself. */
  permitted: { token: JsonCursor; spender: JsonCursor } | null
}

export function schemeOfPayload({ terms, cursor }: X402Payload): string | null {
  return terms?.text('scheme') ?? cursor.text('scheme')
}

/** All authorizations of a payload. If there are two, readers differ in which one they use. */
export function listAuthorizations(payload: X402Payload): SignedAuthorization[] {
  const body = payload.cursor.get('payload')
  const [transfer, permit] = [body.get('authorization'), body.get('permit2Authorization')]
  return [
    ...(transfer.kind === 'object' ? [readTransfer(transfer)] : []),
    ...(permit.kind === 'object' ? [readPermit(permit, schemeOfPayload(payload) === 'upto')] : []),
  ]
}

function readTransfer(cursor: JsonCursor): SignedAuthorization {
  const [from, to] = [cursor.get('from'), cursor.get('to')]
  const [after, before] = [cursor.get('validAfter'), cursor.get('validBefore')]
  return {
    method: 'eip3009',
    to,
    amount: cursor.get('value'),
    after,
    before,
    nonce: cursor.get('nonce'),
    addresses: [from, to],
    permitted: null,
  }
}

function readPermit(cursor: JsonCursor, is_upto: boolean): SignedAuthorization {
  const to = cursor.get('witness', 'to')
  const permitted = { token: cursor.get('permitted', 'token'), spender: cursor.get('spender') }
  return {
    method: 'permit2',
    to,
    amount: cursor.get('permitted', 'amount'),
    after: cursor.get('witness', 'validAfter'),
    before: cursor.get('deadline'),
    nonce: cursor.get('nonce'),
    addresses: [cursor.get('from'), to, permitted.token, permitted.spender, ...(is_upto ? [cursor.get('witness', 'facilitator')] : [])],
    permitted,
  }
}

const SPECS = 'https://github.com/coinbase/x402/blob/main/specs'

/** The transport of a version over A2A. */
export const X402_OVER_A2A: SpecReference = { url: `${SPECS}/transports-v2/a2a.md`, section: 'Payment Required Signaling' }

/** A section of the specification of version 1 or 2. */
export function x402Spec(version: 1 | 2, section: string): SpecReference {
  return { url: `${SPECS}/x402-specification-v${version}.md`, section }
}

/** The document of a scheme on a family of networks. */
export function schemeSpec(path: string, section: string): SpecReference {
  return { url: `${SPECS}/schemes/${path}`, section }
}

export function eip(number: number, section: string): SpecReference {
  return { url: `https://eips.ethereum.org/EIPS/eip-${number}`, section }
}

export const X402_READER: DocumentReader<X402View> = {
  versions: ['2', '1'],
  types: X402_TYPES,
  members: X402_MEMBERS,
  recognises: isX402Document,
  detect: detectX402,
  specForVersion: ({ url, section }, version) => ({
    url: url.replace(/x402-specification-v[12]\.md$/, `x402-specification-v${version}.md`),
    section,
  }),
  view: collectX402View,
}
