import type { Place } from '../place.ts'
import type { Context, Detection } from '../rule.ts'
import { networkAt, V1_NETWORKS, type Network } from './networks.ts'

export const X402_TYPES = [
  'payment_required',
  'payment_requirements',
  'payment_payload',
  'verify_request',
  'settlement_response',
  'verify_response',
  'resource_list',
  'supported_response',
] as const

export type X402Version = '1' | '2'

/** One PaymentRequirements object, wherever it stands. */
export interface Entry {
  place: Place
  version: X402Version
  scheme: string | null
  /** null where it cannot be read. */
  network: Network | null
  /** Offered by a server, or echoed by a payer as `accepted`. */
  role: 'offered' | 'accepted'
}

/** One PaymentPayload. */
export interface Payload {
  place: Place
  version: X402Version
  /** What the payer says was asked for: `accepted` of version 2, or the requirements sent beside a payload of version 1. */
  terms: Place | null
}

/** What the rules of x402 are about, gathered once. */
export interface X402View {
  context: Context
  document: Place
  version: X402Version
  /** Objects that must say `x402Version`. */
  envelopes: Place[]
  /** Objects that must have `accepts`. */
  challenges: Place[]
  entries: Entry[]
  payloads: Payload[]
  /** `resource` objects of version 2, with whether they must be there. */
  resources: { place: Place; required: boolean }[]
  /** `extensions` objects. */
  extensions: Place[]
}

export function isX402(document: Place): boolean {
  if (document.has('x402Version') || document.has('paymentPayload') || document.has('paymentRequirements')) return true
  if (document.has('payTo') && document.has('network') && (document.has('amount') || document.has('maxAmountRequired'))) return true
  return document.has('success') && document.has('transaction') && document.has('network')
}

export function detectX402(document: Place): Detection {
  return { type: typeOf(document), ...versionOf(document) }
}

function typeOf(document: Place): (typeof X402_TYPES)[number] {
  const has = (name: string) => document.has(name)
  if (has('paymentPayload') || has('paymentRequirements')) return 'verify_request'
  if (has('accepts')) return 'payment_required'
  if (has('payload')) return 'payment_payload'
  if (has('success') && (has('transaction') || has('network') || has('errorReason'))) return 'settlement_response'
  if (has('isValid')) return 'verify_response'
  if (document.get('kinds').kind === 'array') return 'supported_response'
  if (has('items') || document.get('resources').kind === 'array') return 'resource_list'
  return has('x402Version') || !['scheme', 'payTo', 'asset'].some(has) ? 'payment_required' : 'payment_requirements'
}

function versionOf(document: Place): Pick<Detection, 'version' | 'version_source'> {
  const spoken = [document, document.get('paymentPayload'), ...listed(document).slice(0, 1)]
    .map((place) => declared(place.get('x402Version')))
    .find((version) => version !== null)
  if (spoken !== undefined && spoken !== null) return { version: spoken, version_source: 'declared' }
  const shape = versionByShape([document, document.get('paymentRequirements'), ...listed(document).slice(0, 1), ...offersIn(document)])
  return shape === null ? { version: '2', version_source: 'assumed' } : { version: shape, version_source: 'inferred' }
}

/** Also the text "2", which a rule reports. */
function declared(place: Place): X402Version | null {
  const said = String(place.number() ?? place.text() ?? '')
  return said === '1' || said === '2' ? said : null
}

function versionByShape(places: readonly Place[]): X402Version | null {
  for (const place of places) {
    if (place.has('amount') || place.has('accepted') || place.get('resource').kind === 'object') return '2'
    if (place.has('maxAmountRequired')) return '1'
    const network = place.get('network').text()
    if (network !== null) return V1_NETWORKS.has(network) ? '1' : '2'
  }
  return null
}

function listed(document: Place): Place[] {
  const items = document.get('items')
  return (items.present ? items : document.get('resources')).items().filter(({ kind }) => kind === 'object')
}

/** `accepts` under its own name, or what stands in for it. */
function offersIn(document: Place): Place[] {
  const accepts = document.get('accepts')
  const places = accepts.present ? accepts.items() : document.get('payments').items()
  return places.filter(({ kind }) => kind === 'object')
}

export function viewX402(context: Context): X402View {
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
    // What a facilitator supports are names of extensions, not their data.
    extensions: type === 'supported_response' ? [] : [document.get('extensions')],
  }
  if (type === 'payment_requirements') view.entries.push(entryOf(document, version, 'offered'))
  if (type === 'payment_required') addChallenge(view, document, version)
  if (type === 'resource_list') for (const item of listed(document)) addChallenge(view, item, declared(item.get('x402Version')) ?? version)
  if (type === 'payment_payload') addPayload(view, document, version, [])
  if (type === 'verify_request') addVerifyRequest(view)
  return view
}

function addChallenge(view: X402View, place: Place, version: X402Version): void {
  const isItem = place !== view.document
  view.envelopes.push(place)
  view.challenges.push(place)
  for (const offer of offersIn(place)) {
    // Official lists name another version beside an item than its terms have the shape of.
    const own = isItem ? (versionByShape([offer]) ?? version) : version
    view.entries.push(entryOf(offer, own, 'offered'))
  }
  // A list names the resource of an item as it likes.
  if (version === '2' && !isItem) view.resources.push({ place: place.get('resource'), required: true })
  if (isItem) view.extensions.push(place.get('extensions'))
  if (place.has('accepted')) view.entries.push(entryOf(place.get('accepted'), version, 'accepted'))
}

function addVerifyRequest(view: X402View): void {
  const { document, version } = view
  const requirements = document.get('paymentRequirements')
  const offers = (requirements.kind === 'array' ? requirements.items() : [requirements]).filter(({ kind }) => kind === 'object')
  for (const offer of offers) view.entries.push(entryOf(offer, version, 'offered'))
  if (document.has('x402Version')) view.envelopes.push(document)
  const payload = document.get('paymentPayload')
  if (payload.kind === 'object') addPayload(view, payload, version, offers)
}

function addPayload(view: X402View, place: Place, version: X402Version, offers: readonly Place[]): void {
  const accepted = place.get('accepted')
  const network = place.get('network').text()
  const offer = offers.find((one) => one.get('network').text() === network) ?? offers[0] ?? null
  view.envelopes.push(place)
  view.payloads.push({ place, version, terms: accepted.kind === 'object' ? accepted : offer })
  if (accepted.kind === 'object' && offers.length === 0) view.entries.push(entryOf(accepted, version, 'accepted'))
  if (version === '2' && place.has('resource')) view.resources.push({ place: place.get('resource'), required: false })
  if (place !== view.document) view.extensions.push(place.get('extensions'))
}

function entryOf(place: Place, version: X402Version, role: Entry['role']): Entry {
  const network = place.has('network') ? place.get('network') : place.get('chain')
  return { place, version, role, scheme: place.get('scheme').text(), network: networkAt(network) }
}

/** What an amount is called in a version. */
export function amountName(version: X402Version): 'maxAmountRequired' | 'amount' {
  return version === '1' ? 'maxAmountRequired' : 'amount'
}

/** The amount of an entry under whichever name it has. */
export function amountOf({ place, version }: Entry): Place {
  const own = place.get(amountName(version))
  const other = place.get(amountName(version === '1' ? '2' : '1'))
  return own.present || !other.present ? own : other
}

/** Names that stand in for those of the protocol. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  accepts: ['payments'],
  payTo: ['address', 'payToAddress'],
  network: ['chain'],
  asset: ['usdcAddress'],
  maxTimeoutSeconds: ['requiredDeadlineSeconds'],
}

/** Whether a member is missing, and no alias explains it: then the rule about its form reports it. */
export function isMissing(place: Place, name: string): boolean {
  return !place.has(name) && !(ALIASES[name] ?? []).some((alias) => place.has(alias))
}
