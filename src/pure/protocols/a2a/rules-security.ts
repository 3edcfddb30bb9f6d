import {
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectPresent,
  expectItemTypes,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import { expectHttpsUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { rfc, type RuleTable, type ReportFinding } from '../protocol.ts'
import { at, isSet, expectTypeOrUnset, FLOWS, PROTO_KINDS, type A2aView, type SecurityScheme, a2aSpec, oldSpec } from './view.ts'
import { SECRET_DESCRIPTIONS, type DetectedSecret } from '../secrets.ts'

const SCHEME = a2aSpec('4.5.1. SecurityScheme')
const OAUTH = a2aSpec('4.5.7. OAuthFlows')

const REQUIREMENT = a2aSpec('4.5. Security Objects')

export const A2A_SECURITY_RULES: RuleTable<A2aView> = {
  // A2A-024…029: security schemes.
  'A2A-024': {
    why: 'Cards of 1.0 name a scheme by its kind, older ones by type; readers of one do not understand the other.',
    spec: SCHEME,
    hint: 'Write all schemes in the style of the version of the card.',
    good: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    bad: { bearer: { type: 'http', scheme: 'Bearer' } },
    check({ error }, { card, schemes, is_v1 }) {
      const map = at(card, 'securitySchemes')
      if (!expectTypeOrUnset(error, map, 'object', { is_v1 })) return
      for (const member of map.members()) expectTypeIfPresent(error, member, 'object')
      for (const { cursor, style } of schemes) {
        if (style === 'both') error(cursor, 'mixes the styles of two versions')
        else if (style === (is_v1 ? 'openapi' : 'proto')) error(cursor, 'is written in the style of another version')
      }
    },
  },
  'A2A-025': {
    until: '0.3',
    why: 'A client cannot build credentials for a scheme that it cannot read.',
    spec: oldSpec('5.5. AgentCard Object Structure'),
    hint: 'Send type, and in and name for apiKey, scheme for http, flows for oauth2, openIdConnectUrl for openIdConnect.',
    good: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    bad: { key: { type: 'apikey' } },
    check({ error }, { schemes }) {
      for (const { cursor, style } of schemes) if (style === 'openapi' || style === 'none') checkOpenApiScheme(error, cursor)
    },
  },
  'A2A-026': {
    since: '1.0',
    why: 'A scheme has exactly one kind; of several, each reader keeps a different one.',
    spec: SCHEME,
    hint: 'Send exactly one kind, with the members that it needs.',
    good: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
    bad: { key: {} },
    check({ error }, { schemes }) {
      for (const { cursor, style } of schemes) if (style === 'proto' || style === 'none') checkProtoScheme(error, cursor)
    },
  },
  'A2A-027': {
    why: 'A client needs these addresses to get a token.',
    spec: OAUTH,
    hint: 'Send one flow (several before 1.0) with its URLs and its scopes, {} if there are none.',
    good: { clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: {} } },
    bad: { clientCredentials: {} },
    check({ error }, { schemes, is_v1 }) {
      for (const { cursor } of schemes) for (const holder of flowHolders(cursor)) checkFlows(error, holder, is_v1)
    },
  },
  'A2A-028': {
    severity: 'warning',
    why: 'These flows expose tokens to observers; current practice is the authorization code flow with PKCE.',
    spec: rfc(9700, '2.1'),
    hint: 'Use authorizationCode, with pkceRequired in 1.0, or clientCredentials.',
    good: { authorizationCode: { authorizationUrl: 'https://…', tokenUrl: 'https://…', scopes: {}, pkceRequired: true } },
    bad: { implicit: { authorizationUrl: 'https://…', scopes: {} } },
    check({ warning }, { schemes, is_v1 }) {
      for (const flow of schemes.flatMap(({ flows }) => flows)) {
        if (flow.key === 'implicit' || flow.key === 'password') warning(flow, 'is a flow that is no longer recommended')
        const isCode = flow.key === 'authorizationCode' || flow.key === 'authorization_code'
        if (is_v1 && isCode && at(flow, 'pkceRequired').boolean() !== true) warning(flow, 'does not require PKCE')
      }
    },
  },
  'A2A-029': {
    why: 'Tokens and passwords travel to these addresses.',
    spec: OAUTH,
    hint: 'Send https URLs; an API key goes into header, query or cookie.',
    good: { tokenUrl: 'https://id.example.com/token' },
    bad: { tokenUrl: 'http://id.example.com/token' },
    check({ error }, { schemes, is_v1 }) {
      for (const scheme of schemes) {
        for (const url of urlsOfScheme(scheme)) if (!(is_v1 && url.kind === 'null' && NOT_NEEDED.has(url.key))) expectHttpsUrl(error, url)
        const { cursor, style } = scheme
        const isKey = style !== 'proto' && cursor.text('type') === 'apiKey'
        const locations = [...(isKey ? [cursor.get('in')] : []), at(cursor, 'apiKeySecurityScheme').get('location')]
        for (const location of locations) if (location.text()?.trim() !== '') expectOneOf(error, location, ['header', 'query', 'cookie'])
      }
    },
  },
  // A2A-030…034: required schemes, and secrets that do not belong in a card.
  'A2A-030': {
    why: 'A client cannot meet a requirement whose scheme is not described.',
    spec: REQUIREMENT,
    hint: 'Name a scheme of securitySchemes, spelled exactly the same.',
    good: { securitySchemes: { key: { mtlsSecurityScheme: {} } }, securityRequirements: [{ schemes: { key: { list: [] } } }] },
    bad: { securitySchemes: {}, securityRequirements: [{ schemes: { key: { list: [] } } }] },
    check({ error }, view) {
      const map = at(view.card, 'securitySchemes')
      if (map.redacted) return
      for (const { cursor } of requiredSchemes(view)) if (!map.has(cursor.key)) error(cursor, 'is not defined in securitySchemes')
    },
  },
  'A2A-031': {
    why: 'Cards of 1.0 wrap names and scopes, older ones do not; readers of one find nothing in the other.',
    spec: REQUIREMENT,
    hint: 'Send [{"schemes": {"name": {"list": ["scope"]}}}] in 1.0, [{"name": ["scope"]}] before.',
    good: { securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }] },
    bad: { securityRequirements: [{ oauth: ['read'] }] },
    check({ error }, { requirements, is_v1 }) {
      for (const list of requirements) {
        if (!expectTypeOrUnset(error, list, 'array', { is_v1 })) continue
        for (const item of list.items()) {
          if (!expectObjectIfPresent(error, item)) continue
          if (is_v1) checkProtoRequirement(error, item)
          else for (const member of item.members()) expectScopeList(error, member, { is_v1 })
        }
      }
    },
  },
  'A2A-032': {
    severity: 'warning',
    why: 'A server that grants tokens refuses a scope that it does not know.',
    spec: REQUIREMENT,
    hint: 'List the scope in the flow, or ask for one that is listed.',
    good: { scopes: { read: 'Read' }, list: ['read'] },
    bad: { scopes: { read: 'Read' }, list: ['write'] },
    check({ warning }, view) {
      const known = new Map(view.schemes.map(({ name, scopes }) => [name, scopes]))
      for (const { cursor, scopes } of requiredSchemes(view)) {
        const listed = known.get(cursor.key) ?? null
        if (listed === null) continue
        for (const scope of scopes) {
          const text = scope.text()
          if (text !== null && !listed.has(text)) warning(scope, 'is not listed in any flow of the scheme')
        }
      }
    },
  },
  'A2A-033': {
    severity: 'warning',
    why: 'A scheme that nothing requires protects nothing, and an extended card is for callers who are known.',
    spec: a2aSpec('7.3. Client Authentication Process'),
    hint: 'Require a scheme of securitySchemes, or leave them out.',
    good: { securitySchemes: { key: { mtlsSecurityScheme: {} } }, securityRequirements: [{ schemes: { key: { list: [] } } }] },
    bad: { securitySchemes: { key: { mtlsSecurityScheme: {} } } },
    check({ warning }, { card, requirements }) {
      const map = at(card, 'securitySchemes')
      const isRequired = requirements.some(
        (list) => list.redacted || (list.kind !== 'null' && (list.kind !== 'array' || list.items().length > 0)),
      )
      const old = at(card, 'security')
      if (map.members().length > 0 && !isRequired && !old.present) warning(map, 'defines schemes that no requirement uses')
      const offers = [at(card.get('capabilities'), 'extendedAgentCard'), at(card, 'supportsAuthenticatedExtendedCard')]
      const offer = offers.find((cursor) => cursor.boolean() === true)
      if (offer !== undefined && map.members().length === 0 && !map.redacted)
        warning(offer, 'offers an extended card without a security scheme')
    },
  },
  'A2A-034': {
    severity: 'both',
    why: 'Cards are public: anyone who reads a credential in one can use it.',
    spec: a2aSpec('14.3. Well-Known URI Registration'),
    hint: 'Describe how to get credentials, publish none, and replace those that were published.',
    good: { securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } },
    bad: { authentication: { schemes: ['Bearer'], credentials: '…' } },
    check({ error, warning }, { context, card }) {
      const reported = new Set<string>()
      for (const secret of context.secrets) {
        reported.add(secret.cursor.path())
        const report = isUnmistakable(secret) ? error : warning
        report(secret.cursor, `looks like ${SECRET_DESCRIPTIONS[secret.kind]}`)
      }
      const credentials = card.get('authentication', 'credentials')
      const text = credentials.text()
      if (text !== null && text !== '' && !reported.has(credentials.path())) warning(credentials, 'contains credentials in a public card')
    },
  },
}

function checkOpenApiScheme(error: ReportFinding, scheme: JsonCursor): void {
  const type = scheme.get('type')
  if (!expectPresent(error, type)) return
  switch (expectOneOf(error, type, ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'])) {
    case 'apiKey':
      expectPresent(error, scheme.get('in'))
      expectText(error, scheme.get('name'))
      return
    case 'http':
      expectText(error, scheme.get('scheme'))
      return
    case 'oauth2':
      expectType(error, scheme.get('flows'), 'object')
      return
    case 'openIdConnect':
      expectPresent(error, at(scheme, 'openIdConnectUrl'))
      return
    case 'mutualTLS':
    case null:
      return
  }
}

function checkProtoScheme(error: ReportFinding, scheme: JsonCursor): void {
  const kinds = PROTO_KINDS.filter((kind) => isSet(scheme, kind))
  if (kinds.length !== 1) error(scheme, kinds.length === 0 ? 'has no known kind' : 'has several kinds', { expected: 'exactly one kind' })
  for (const kind of kinds) {
    const cursor = at(scheme, kind)
    if (expectObjectIfPresent(error, cursor)) checkProtoMembers(error, kind, cursor)
  }
}

function checkProtoMembers(error: ReportFinding, kind: (typeof PROTO_KINDS)[number], cursor: JsonCursor): void {
  switch (kind) {
    case 'apiKeySecurityScheme':
      expectText(error, cursor.get('location'))
      expectText(error, cursor.get('name'))
      return
    case 'httpAuthSecurityScheme':
      expectText(error, cursor.get('scheme'))
      return
    case 'oauth2SecurityScheme':
      expectType(error, cursor.get('flows'), 'object')
      return
    case 'openIdConnectSecurityScheme':
      expectPresent(error, at(cursor, 'openIdConnectUrl'))
      return
    case 'mtlsSecurityScheme':
      return
  }
}

function flowHolders(scheme: JsonCursor): JsonCursor[] {
  return [scheme.get('flows'), at(scheme, 'oauth2SecurityScheme').get('flows')].filter(({ kind }) => kind === 'object')
}

/** Required members of each flow; the last two exist only before 1.0. */
const NEEDED: Readonly<Record<(typeof FLOWS)[number], readonly string[]>> = {
  authorizationCode: ['authorizationUrl', 'tokenUrl', 'scopes'],
  clientCredentials: ['tokenUrl', 'scopes'],
  deviceCode: ['deviceAuthorizationUrl', 'tokenUrl', 'scopes'],
  implicit: ['authorizationUrl', 'scopes'],
  password: ['tokenUrl', 'scopes'],
}

function checkFlows(error: ReportFinding, holder: JsonCursor, is_v1: boolean): void {
  const known = FLOWS.filter((name) => is_v1 || name !== 'deviceCode')
  const flows = known.filter((name) => isSet(holder, name))
  if (flows.length === 0) error(holder, 'has no known flow', { expected: known.join(', ') })
  if (is_v1 && flows.length > 1) error(holder, 'has several flows; 1.0 allows one', { expected: 'exactly one flow' })
  for (const name of flows) {
    const flow = at(holder, name)
    if (!expectObjectIfPresent(error, flow)) continue
    const isOptional = is_v1 && (name === 'implicit' || name === 'password')
    for (const member of isOptional ? [] : NEEDED[name]) expectPresent(error, at(flow, member))
    const scopes = flow.get('scopes')
    if (expectTypeIfPresent(error, scopes, 'object')) for (const scope of scopes.members()) expectTypeIfPresent(error, scope, 'string')
  }
}

/** Addresses that a scheme may lack, in either spelling. */
const NOT_NEEDED: ReadonlySet<string> = new Set(['refreshUrl', 'refresh_url', 'oauth2MetadataUrl', 'oauth2_metadata_url'])

function urlsOfScheme({ cursor, flows }: SecurityScheme): JsonCursor[] {
  const oauth = at(cursor, 'oauth2SecurityScheme')
  const connect = at(cursor, 'openIdConnectSecurityScheme')
  return [
    ...flows.flatMap((flow) => ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'].map((name) => at(flow, name))),
    ...[cursor, oauth].map((one) => at(one, 'oauth2MetadataUrl')),
    ...[cursor, connect].map((one) => at(one, 'openIdConnectUrl')),
  ]
}

interface Named {
  /** The member that names a scheme. */
  cursor: JsonCursor
  scopes: JsonCursor[]
}

/** Schemes that a requirement names, where its shape is right. */
function requiredSchemes({ requirements, is_v1 }: A2aView): Named[] {
  const items = requirements.flatMap((list) => list.items())
  if (is_v1) return items.flatMap((item) => item.members('schemes')).map((cursor) => ({ cursor, scopes: cursor.items('list') }))
  return items
    .flatMap((item) => item.members())
    .filter(({ kind }) => kind === 'array')
    .map((cursor) => ({ cursor, scopes: cursor.items() }))
}

function expectScopeList(error: ReportFinding, list: JsonCursor, age: { is_v1: boolean }): void {
  if (expectTypeOrUnset(error, list, 'array', age)) expectItemTypes(error, list, 'string')
}

function checkProtoRequirement(error: ReportFinding, item: JsonCursor): void {
  const schemes = item.get('schemes')
  const strays = item.members().filter(({ key }) => key !== 'schemes')
  for (const stray of strays) error(stray, 'is not a member of a requirement', { expected: 'schemes' })
  if (!expectTypeOrUnset(error, schemes, 'object', { is_v1: true })) return
  for (const scheme of schemes.members())
    if (expectTypeIfPresent(error, scheme, 'object')) expectScopeList(error, scheme.get('list'), { is_v1: true })
}

/** Forms that nothing else has. 64 hexadecimal digits may be a hash. */
function isUnmistakable({ kind, cursor }: DetectedSecret): boolean {
  switch (kind) {
    case 'api_key':
    case 'bearer_token':
    case 'jwk_private_member':
      return true
    case 'private_key':
      return cursor.text()?.startsWith('-----BEGIN') === true
    case 'card_number':
    case 'client_secret':
      return false
  }
}
