import type { Place } from '../place.ts'
import type { Context } from '../rule.ts'
import { cardOf } from './detect.ts'
import { at } from './names.ts'

/** One way to reach the agent. */
export interface Interface {
  place: Place
  url: Place
  /** `protocolBinding` of 1.0, `transport` or `preferredTransport` before. */
  binding: Place
  /** The binding in upper case; JSONRPC where an older card leaves it out. null where it is no text. */
  spoken: string | null
}

/** How a scheme is written: with `type` like OpenAPI, or by the member of its kind like protocol buffers. */
type Style = 'openapi' | 'proto' | 'both' | 'none'

export interface Scheme {
  name: string
  place: Place
  style: Style
  /** OAuth flows in it, by name. */
  flows: Place[]
  /** All scopes that its flows list; null where a flow does not say. */
  scopes: ReadonlySet<string> | null
}

/** What the rules of A2A are about, gathered once. */
export interface A2aView {
  context: Context
  card: Place
  /** Whether the card is of 1.0. */
  is_new: boolean
  /** `supportedInterfaces` of 1.0; the main one and the additional ones before. */
  interfaces: Interface[]
  extensions: Place[]
  skills: Place[]
  schemes: Scheme[]
  /** Lists of security requirements: of the card, and of each skill that has one. */
  requirements: Place[]
}

/** Kinds of schemes in 1.0. */
export const PROTO_KINDS = [
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
] as const

export const FLOWS = ['authorizationCode', 'clientCredentials', 'implicit', 'password', 'deviceCode'] as const

export function viewA2a(context: Context): A2aView {
  const card = cardOf(context.document)
  const is_new = context.atLeast('1.0')
  const skills = objects(card.get('skills'))
  const requirement = is_new ? 'securityRequirements' : 'security'
  return {
    context,
    card,
    is_new,
    interfaces: is_new ? objects(at(card, 'supportedInterfaces')).map(newInterface) : oldInterfaces(card),
    extensions: objects(card.get('capabilities').get('extensions')),
    skills,
    schemes: at(card, 'securitySchemes')
      .members()
      .filter(({ kind }) => kind === 'object')
      .map(schemeOf),
    requirements: [card, ...skills].map((place) => at(place, requirement)).filter(({ present }) => present),
  }
}

/** The items of an array that are objects; rules about shape speak of the others. */
export function objects(list: Place): Place[] {
  return list.items().filter(({ kind }) => kind === 'object')
}

function newInterface(place: Place): Interface {
  return interfaceAt(place, at(place, 'protocolBinding'))
}

function oldInterfaces(card: Place): Interface[] {
  const main = interfaceAt(card, at(card, 'preferredTransport'))
  const additional = objects(at(card, 'additionalInterfaces')).map((place) => interfaceAt(place, place.get('transport')))
  return [main, ...additional]
}

function interfaceAt(place: Place, binding: Place): Interface {
  const isDefault = !binding.present && binding.key !== 'protocolBinding' && binding.key !== 'transport'
  return { place, url: place.get('url'), binding, spoken: isDefault ? 'JSONRPC' : (binding.text()?.trim().toUpperCase() ?? null) }
}

function schemeOf(place: Place): Scheme {
  const oauth = at(place, 'oauth2SecurityScheme')
  const flows = [oauth.get('flows'), place.get('flows')]
    .flatMap((holder) => FLOWS.map((name) => at(holder, name)))
    .filter(({ kind }) => kind === 'object')
  return { name: place.key, place, style: styleOf(place), flows, scopes: scopesOf(flows) }
}

function styleOf(place: Place): Style {
  const [openapi, proto] = [place.has('type'), PROTO_KINDS.some((kind) => at(place, kind).present)]
  if (openapi && proto) return 'both'
  return openapi ? 'openapi' : proto ? 'proto' : 'none'
}

function scopesOf(flows: readonly Place[]): ReadonlySet<string> | null {
  const maps = flows.map((flow) => flow.get('scopes'))
  if (maps.length === 0 || maps.some(({ kind }) => kind !== 'object')) return null
  return new Set(maps.flatMap((map) => map.members().map(({ key }) => key)))
}
