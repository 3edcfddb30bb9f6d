import { need, needText, oneOf, optional, present } from '../kit/expect.ts'
import { httpsUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { at, isSet, typed } from './names.ts'
import { a2aSpec, oldSpec, rfc } from './spec.ts'
import { FLOWS, PROTO_KINDS, type A2aView, type Scheme } from './view.ts'

const SCHEME = a2aSpec('4.5.1. SecurityScheme')
const OAUTH = a2aSpec('4.5.7. OAuthFlows')

/** A2A-024…029: how callers prove who they are. */
export const SCHEME_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-024',
      severity: 'error',
      why: 'Cards of 1.0 name a scheme by its kind, older ones by type; readers of one do not understand the other.',
      spec: SCHEME,
      hint: 'Write all schemes in the style of the version of the card.',
      good: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      bad: { bearer: { type: 'http', scheme: 'Bearer' } },
    },
    ({ error }, { card, schemes, is_new }) => {
      const map = at(card, 'securitySchemes')
      if (!typed(error, map, 'object', { is_new })) return
      for (const member of map.members()) optional(error, member, 'object')
      for (const { place, style } of schemes) {
        if (style === 'both') error(place, 'mixes the styles of two versions')
        else if (style === (is_new ? 'openapi' : 'proto')) error(place, 'is written in the style of another version')
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-025',
      severity: 'error',
      until: '0.3',
      why: 'A client cannot build credentials for a scheme that it cannot read.',
      spec: oldSpec('5.5. AgentCard Object Structure'),
      hint: 'Send type, and in and name for apiKey, scheme for http, flows for oauth2, openIdConnectUrl for openIdConnect.',
      good: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
      bad: { key: { type: 'apikey' } },
    },
    ({ error }, { schemes }) => {
      for (const { place, style } of schemes) if (style === 'openapi' || style === 'none') oldScheme(error, place)
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-026',
      severity: 'error',
      since: '1.0',
      why: 'A scheme is of exactly one kind; a reader keeps one of several, and nobody knows which.',
      spec: SCHEME,
      hint: 'Send exactly one kind, with the members that it needs.',
      good: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      bad: { key: {} },
    },
    ({ error }, { schemes }) => {
      for (const { place, style } of schemes) if (style === 'proto' || style === 'none') newScheme(error, place)
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-027',
      severity: 'error',
      why: 'A client needs these addresses to get a token.',
      spec: OAUTH,
      hint: 'Send one flow (several before 1.0) with its URLs and its scopes, {} if there are none.',
      good: { clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: {} } },
      bad: { clientCredentials: {} },
    },
    ({ error }, { schemes, is_new }) => {
      for (const { place } of schemes) for (const holder of flowHolders(place)) checkFlows(error, holder, is_new)
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-028',
      severity: 'warning',
      why: 'These flows give tokens to whoever looks on; the current practice is an authorization code with PKCE.',
      spec: rfc(9700, '2.1'),
      hint: 'Use authorizationCode, with pkceRequired in 1.0, or clientCredentials.',
      good: { authorizationCode: { authorizationUrl: 'https://…', tokenUrl: 'https://…', scopes: {}, pkceRequired: true } },
      bad: { implicit: { authorizationUrl: 'https://…', scopes: {} } },
    },
    ({ warning }, { schemes, is_new }) => {
      for (const flow of schemes.flatMap(({ flows }) => flows)) {
        if (flow.key === 'implicit' || flow.key === 'password') warning(flow, 'is a flow that is no longer recommended')
        const isCode = flow.key === 'authorizationCode' || flow.key === 'authorization_code'
        if (is_new && isCode && at(flow, 'pkceRequired').boolean() !== true) warning(flow, 'does not require PKCE')
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-029',
      severity: 'error',
      why: 'Tokens and passwords travel to these addresses.',
      spec: OAUTH,
      hint: 'Send https URLs; an API key goes into header, query or cookie.',
      good: { tokenUrl: 'https://id.example.com/token' },
      bad: { tokenUrl: 'http://id.example.com/token' },
    },
    ({ error }, { schemes, is_new }) => {
      for (const scheme of schemes) {
        for (const url of urlsOf(scheme)) if (!(is_new && url.kind === 'null' && NOT_NEEDED.has(url.key))) httpsUrl(error, url)
        const { place, style } = scheme
        const isKey = style !== 'proto' && place.get('type').text() === 'apiKey'
        const locations = [...(isKey ? [place.get('in')] : []), at(place, 'apiKeySecurityScheme').get('location')]
        for (const location of locations) if (location.text()?.trim() !== '') oneOf(error, location, ['header', 'query', 'cookie'])
      }
    },
  ),
]

function oldScheme(error: Say, scheme: Place): void {
  const type = scheme.get('type')
  if (!present(error, type)) return
  switch (oneOf(error, type, ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'])) {
    case 'apiKey':
      present(error, scheme.get('in'))
      needText(error, scheme.get('name'))
      return
    case 'http':
      needText(error, scheme.get('scheme'))
      return
    case 'oauth2':
      need(error, scheme.get('flows'), 'object')
      return
    case 'openIdConnect':
      present(error, at(scheme, 'openIdConnectUrl'))
      return
    case 'mutualTLS':
    case null:
      return
  }
}

function newScheme(error: Say, scheme: Place): void {
  const kinds = PROTO_KINDS.filter((kind) => isSet(scheme, kind))
  if (kinds.length !== 1)
    error(scheme, kinds.length === 0 ? 'is of no kind that is known' : 'is of several kinds', { expected: 'exactly one kind' })
  for (const kind of kinds) {
    const place = at(scheme, kind)
    if (optional(error, place, 'object') && !place.redacted) newMembers(error, kind, place)
  }
}

function newMembers(error: Say, kind: (typeof PROTO_KINDS)[number], place: Place): void {
  switch (kind) {
    case 'apiKeySecurityScheme':
      needText(error, place.get('location'))
      needText(error, place.get('name'))
      return
    case 'httpAuthSecurityScheme':
      needText(error, place.get('scheme'))
      return
    case 'oauth2SecurityScheme':
      need(error, place.get('flows'), 'object')
      return
    case 'openIdConnectSecurityScheme':
      present(error, at(place, 'openIdConnectUrl'))
      return
    case 'mtlsSecurityScheme':
      return
  }
}

function flowHolders(scheme: Place): Place[] {
  return [scheme.get('flows'), at(scheme, 'oauth2SecurityScheme').get('flows')].filter(({ kind }) => kind === 'object')
}

/** What each flow must say; the last two only before 1.0. */
const NEEDED: Readonly<Record<(typeof FLOWS)[number], readonly string[]>> = {
  authorizationCode: ['authorizationUrl', 'tokenUrl', 'scopes'],
  clientCredentials: ['tokenUrl', 'scopes'],
  deviceCode: ['deviceAuthorizationUrl', 'tokenUrl', 'scopes'],
  implicit: ['authorizationUrl', 'scopes'],
  password: ['tokenUrl', 'scopes'],
}

function checkFlows(error: Say, holder: Place, is_new: boolean): void {
  const known = FLOWS.filter((name) => is_new || name !== 'deviceCode')
  const flows = known.filter((name) => isSet(holder, name))
  if (flows.length === 0) error(holder, 'has no flow that is known', { expected: known.join(', ') })
  if (is_new && flows.length > 1) error(holder, 'has several flows, of which 1.0 keeps one', { expected: 'exactly one flow' })
  for (const name of flows) {
    const flow = at(holder, name)
    if (!optional(error, flow, 'object') || flow.redacted) continue
    const isOptional = is_new && (name === 'implicit' || name === 'password')
    for (const member of isOptional ? [] : NEEDED[name]) present(error, at(flow, member))
    const scopes = flow.get('scopes')
    if (optional(error, scopes, 'object')) for (const scope of scopes.members()) optional(error, scope, 'string')
  }
}

/** Addresses that a scheme may lack, in either spelling. */
const NOT_NEEDED: ReadonlySet<string> = new Set(['refreshUrl', 'refresh_url', 'oauth2MetadataUrl', 'oauth2_metadata_url'])

function urlsOf({ place, flows }: Scheme): Place[] {
  const oauth = at(place, 'oauth2SecurityScheme')
  const connect = at(place, 'openIdConnectSecurityScheme')
  return [
    ...flows.flatMap((flow) => ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'].map((name) => at(flow, name))),
    ...[place, oauth].map((one) => at(one, 'oauth2MetadataUrl')),
    ...[place, connect].map((one) => at(one, 'openIdConnectUrl')),
  ]
}
