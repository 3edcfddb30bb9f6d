import type { JsonCursor } from '../json-cursor.ts'
import {
  UNKNOWN_TYPE,
  isBlank,
  type RuleContext,
  type ReportFinding,
  type Detection,
  type ProtocolId,
  type SpecReference,
  type DocumentReader,
  isJsonRpcRequest,
} from '../protocol.ts'
import { expectTypeIfPresent, type JsonType } from '../kit/expect.ts'
import { isA2aExchange, isA2aRequest } from '../kit/a2a-messages.ts'
import { cutText } from '../../cut-text.ts'
import { readUrl } from '../kit/url.ts'

/** One way to reach the agent. */
export interface AgentInterface {
  cursor: JsonCursor
  url: JsonCursor
  /** `protocolBinding` of 1.0, `transport` or `preferredTransport` before. */
  binding: JsonCursor
  /** The binding in upper case; JSONRPC if an older card leaves it out. null if it is not a string. */
  spoken: string | null
}

/** Notation of a scheme: `type` as in OpenAPI, or one member per kind as in protocol buffers. */
type Style = 'openapi' | 'proto' | 'both' | 'none'

export interface SecurityScheme {
  name: string
  cursor: JsonCursor
  style: Style
  /** OAuth flows in it, by name. */
  flows: JsonCursor[]
  /** All scopes that its flows list; null if a flow does not say. */
  scopes: ReadonlySet<string> | null
}

/** Parts of an agent card that the rules of A2A read, collected once. */
export interface A2aView {
  context: RuleContext
  card: JsonCursor
  /** True if the card is of 1.0. */
  is_v1: boolean
  /** `supportedInterfaces` of 1.0; the main one and the additional ones before. */
  interfaces: AgentInterface[]
  extensions: JsonCursor[]
  skills: JsonCursor[]
  schemes: SecurityScheme[]
  /** Lists of security requirements: of the card, and of each skill that has one. */
  requirements: JsonCursor[]
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

function collectA2aView(context: RuleContext): A2aView {
  const card = unwrapCard(context.document)
  const is_v1 = context.atLeast('1.0')
  const skills = card.objects('skills')
  const requirement = is_v1 ? 'securityRequirements' : 'security'
  return {
    context,
    card,
    is_v1,
    interfaces: readInterfaces(card, is_v1),
    extensions: card.objects('capabilities', 'extensions'),
    skills,
    schemes: at(card, 'securitySchemes')
      .members()
      .filter(({ kind }) => kind === 'object')
      .map(readScheme),
    requirements: [card, ...skills].map((cursor) => at(cursor, requirement)).filter(({ present }) => present),
  }
}

function readInterfaces(card: JsonCursor, is_v1: boolean): AgentInterface[] {
  if (is_v1)
    return at(card, 'supportedInterfaces')
      .objects()
      .map((cursor) => makeInterface(cursor, at(cursor, 'protocolBinding')))
  const main = makeInterface(card, at(card, 'preferredTransport'))
  const additional = at(card, 'additionalInterfaces')
    .objects()
    .map((cursor) => makeInterface(cursor, cursor.get('transport')))
  return [main, ...additional]
}

function makeInterface(cursor: JsonCursor, binding: JsonCursor): AgentInterface {
  const isDefault = !binding.present && binding.key !== 'protocolBinding' && binding.key !== 'transport'
  return { cursor, url: cursor.get('url'), binding, spoken: isDefault ? 'JSONRPC' : (binding.text()?.trim().toUpperCase() ?? null) }
}

function readScheme(cursor: JsonCursor): SecurityScheme {
  const oauth = at(cursor, 'oauth2SecurityScheme')
  const flows = [oauth.get('flows'), cursor.get('flows')]
    .flatMap((holder) => FLOWS.map((name) => at(holder, name)))
    .filter(({ kind }) => kind === 'object')
  return { name: cursor.key, cursor, style: detectStyle(cursor), flows, scopes: listScopes(flows) }
}

function detectStyle(cursor: JsonCursor): Style {
  const [openapi, proto] = [cursor.has('type'), PROTO_KINDS.some((kind) => at(cursor, kind).present)]
  if (openapi && proto) return 'both'
  return openapi ? 'openapi' : proto ? 'proto' : 'none'
}

function listScopes(flows: readonly JsonCursor[]): ReadonlySet<string> | null {
  const maps = flows.map((flow) => flow.get('scopes'))
  if (maps.length === 0 || maps.some(({ kind }) => kind !== 'object')) return null
  return new Set(maps.flatMap((map) => map.members().map(({ key }) => key)))
}

/**
 * Members of a card are named in camelCase; cards that were written out of protocol buffers by hand have snake_case. One rule reports that,
 * and all others read such a member as if it were named rightly.
 */

const NAMES = [
  'supportedInterfaces',
  'protocolVersion',
  'protocolBinding',
  'preferredTransport',
  'additionalInterfaces',
  'documentationUrl',
  'iconUrl',
  'securitySchemes',
  'securityRequirements',
  'defaultInputModes',
  'defaultOutputModes',
  'supportsAuthenticatedExtendedCard',
  'pushNotifications',
  'stateTransitionHistory',
  'extendedAgentCard',
  'inputModes',
  'outputModes',
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
  'bearerFormat',
  'oauth2MetadataUrl',
  'openIdConnectUrl',
  'authorizationCode',
  'clientCredentials',
  'deviceCode',
  'authorizationUrl',
  'tokenUrl',
  'refreshUrl',
  'deviceAuthorizationUrl',
  'pkceRequired',
] as const

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Right names by their misspelling. */
export const CAMEL: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [snake(name), name]))

const SNAKE: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [name, snake(name)]))

/** The member of this name, in camelCase or snake_case. */
export function at(cursor: JsonCursor, name: string): JsonCursor {
  const own = cursor.get(name)
  const other = own.present ? undefined : SNAKE.get(name)
  return other !== undefined && cursor.has(other) ? cursor.get(other) : own
}

/** Returns whether a member is present in either spelling and not null, which means unset. */
export function isSet(cursor: JsonCursor, name: string): boolean {
  const { kind } = at(cursor, name)
  return kind !== 'absent' && kind !== 'null'
}

/** A required text: nothing is said of what is absent or null, since other rules do. */
export function expectNonEmptyText(error: ReportFinding, cursor: JsonCursor): void {
  if (cursor.kind === 'null' || !expectTypeIfPresent(error, cursor, 'string')) return
  if (cursor.text()?.trim() === '') error(cursor, 'is an empty string', { expected: 'a non-empty string' })
}

/** Expects the type if a value is present. Protocol buffers read null as an unset field; the schemas before 1.0 do not. */
export function expectTypeOrUnset(error: ReportFinding, cursor: JsonCursor, kind: JsonType, { is_v1 }: { is_v1: boolean }): boolean {
  return !(is_v1 && cursor.kind === 'null') && expectTypeIfPresent(error, cursor, kind)
}

/** Newest first. 0.2 means 0.2.0 to 0.2.4, whose cards do not state their version. */
/** The card itself: the method for extended cards wraps it into JSON-RPC. */
function unwrapCard(document: JsonCursor): JsonCursor {
  return document.has('jsonrpc') ? document.get('result') : document
}

/** Members by which a card is known; names and descriptions occur everywhere. */
const CARD_MEMBERS = [
  'supportedInterfaces',
  'skills',
  'capabilities',
  'protocolVersion',
  'defaultInputModes',
  'defaultOutputModes',
  'preferredTransport',
  'additionalInterfaces',
  'securitySchemes',
  'provider',
]

const USUAL = ['url', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'protocolVersion', 'preferredTransport']

function isA2aDocument(document: JsonCursor): boolean {
  const card = unwrapCard(document)
  if (isA2aRequest(document) || isA2aExchange(card)) return true
  if (at(card, 'supportedInterfaces').present) return true
  return card.has('skills') && USUAL.filter((name) => at(card, name).present).length >= 2
}

/** A task, whole or in the wrapper of 1.0. */
function unwrapTask(result: JsonCursor): JsonCursor {
  return result.get('task').kind === 'object' ? result.get('task') : result
}

function isTask(document: JsonCursor): boolean {
  const task = unwrapTask(unwrapCard(document))
  return task.text('kind') === 'task' || (task.has('id') && task.get('status').has('state'))
}

function isMessage(document: JsonCursor): boolean {
  const result = unwrapCard(document)
  const message = result.get('message').kind === 'object' ? result.get('message') : result
  return message.text('kind') === 'message' || (message.has('messageId') && message.has('parts'))
}

const EVENTS = ['statusUpdate', 'artifactUpdate']
const EVENT_KINDS: ReadonlySet<string> = new Set(['status-update', 'artifact-update'])

function isEvent(document: JsonCursor): boolean {
  const result = unwrapCard(document)
  return EVENTS.some((name) => result.get(name).kind === 'object') || EVENT_KINDS.has(result.text('kind') ?? '')
}

/** Members of older cards that came together with protocolVersion, or after it. */
const LATER = ['preferredTransport', 'additionalInterfaces', 'signatures']

type Version = Omit<Detection, 'type'>

/** The version that the interfaces of 1.0 declare, else that of the card, else the one that the shape shows. */
function detectVersion(card: JsonCursor): Version {
  const list = at(card, 'supportedInterfaces')
  const byInterfaces = detectInterfaceVersion(list.items())
  if (byInterfaces.version_source === 'declared') return byInterfaces
  const said = at(card, 'protocolVersion')
  const text = said.text()
  if (text !== null && text.trim() !== '') return parseVersion(text.trim())
  if (list.present) return byInterfaces
  if (said.present) return { version: '0.3', version_source: 'assumed' }
  if (LATER.some((name) => isSet(card, name))) return { version: '0.3', version_source: 'inferred' }
  return { version: isSet(card, 'url') ? '0.2' : '1.0', version_source: 'assumed' }
}

/** Cards with a list of interfaces are of 1.0; the interfaces may also speak older versions. */
function detectInterfaceVersion(interfaces: readonly JsonCursor[]): Version {
  const texts = interfaces.map((one) => at(one, 'protocolVersion').text() ?? '')
  if (texts.some((text) => /^1\.0(?:\.|$)/.test(text))) return { version: '1.0', version_source: 'declared' }
  const newer = texts.find((text) => /^(?:1\.[1-9][0-9]{0,2}|[2-9])(?:\.|$)/.test(text))
  if (newer !== undefined) return { version: '1.0', version_source: 'declared', declared: cutText(newer, 32, ''), outside: 'future' }
  return { version: '1.0', version_source: 'inferred' }
}

function parseVersion(text: string): Version {
  const [, major, minor = '0', patch] = /^v?([0-9]{1,3})(?:\.([0-9]{1,3})(?:\.([0-9]{1,3}))?)?$/i.exec(text) ?? []
  if (major === undefined) return { version: '0.3', version_source: 'assumed' }
  const declared = { version_source: 'declared', declared: cutText(text, 32, '') } as const
  if (major === '1' && minor === '0') return { version: '1.0', version_source: 'declared' }
  if (!/^0+$/.test(major)) return { version: '1.0', ...declared, outside: 'future' }
  if (minor === '3') return { version: '0.3', version_source: 'declared' }
  if (/^(?:[4-9]|[1-9][0-9]+)$/.test(minor)) return { version: '0.3', ...declared }
  if (minor === '2' && /^(?:[5-9]|[1-9][0-9]+)$/.test(patch ?? '')) return { version: '0.2.5', version_source: 'declared' }
  return minor === '2' ? { version: '0.2', version_source: 'declared' } : { version: '0.2', ...declared }
}

/** Extensions by which a card speaks of payments. */

type PaymentExtension = 'ap2' | 'ucp' | 'x402'

/** Which payment protocol an extension is about, by its URI; null for every other extension. */
export function extensionKind(extension: JsonCursor): PaymentExtension | null {
  const text = extension.text('uri')
  const url = readUrl(text)
  if (url === null) return null
  const path = url.pathname.toLowerCase()
  if (url.hostname === 'ucp.dev' || url.hostname.endsWith('.ucp.dev')) return 'ucp'
  if (url.hostname === 'github.com' && /^\/[^/]+\/a2a-x402(?:\/|$)/.test(path)) return 'x402'
  if (url.hostname === 'ap2-protocol.org' || (url.hostname === 'github.com' && /^\/[^/]+\/ap2(?:\/|$)/.test(path))) return 'ap2'
  return null
}

interface DelegatedDocument {
  protocol: ProtocolId
  cursor: JsonCursor
}

/** Documents of another protocol in the parameters of an extension, where it takes them: a challenge or terms of x402, a body of UCP. */
export function delegatedDocuments({ canDelegate: takes }: RuleContext, extension: JsonCursor): DelegatedDocument[] {
  return documentCandidates(extension).filter(({ protocol, cursor }) => takes(protocol, cursor))
}

function documentCandidates(extension: JsonCursor): DelegatedDocument[] {
  const kind = extensionKind(extension)
  const params = extension.get('params')
  if (params.kind !== 'object' || kind === null) return []
  if (kind === 'ucp') return params.has('ucp') ? [{ protocol: 'ucp', cursor: params }] : []
  if (params.has('x402Version')) return [{ protocol: 'x402', cursor: params }]
  return [params, ...offersIn(params)].filter((cursor) => cursor.has('payTo')).map((cursor) => ({ protocol: 'x402', cursor }))
}

/** Offers in the lists of an extension's parameters. */
export function offersIn(params: JsonCursor): JsonCursor[] {
  return ['accepts', 'paymentRequirements'].flatMap((name) => params.objects(name))
}

/** A heading of the specification of 1.0, whose objects are those of its protocol buffers. */
export function a2aSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/latest/specification/', section }
}

/** A heading of the last version before 1.0. */
export function oldSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/v0.3.0/specification/', section }
}

/** Sections of the versions before 1.0, by the section of 1.0 with the same content. */
const OLD_SECTIONS: ReadonlyMap<string, string> = new Map([
  ['4.4.1. AgentCard', '5.5. AgentCard Object Structure'],
  ['4.4.2. AgentProvider', '5.5.1. AgentProvider Object'],
  ['4.4.3. AgentCapabilities', '5.5.2. AgentCapabilities Object'],
  ['4.4.4. AgentExtension', '5.5.2.1. AgentExtension Object'],
  ['4.5. Security Objects', '5.5.3. SecurityScheme Object'],
  ['4.5.1. SecurityScheme', '5.5.3. SecurityScheme Object'],
  ['4.5.7. OAuthFlows', '5.5.3. SecurityScheme Object'],
  ['4.4.5. AgentSkill', '5.5.4. AgentSkill Object'],
  ['4.4.6. AgentInterface', '5.5.5. AgentInterface Object'],
  ['8.3.1. Supported Interfaces Declaration', '5.6. Transport Declaration and URL Relationships'],
  ['8.4. Agent Card Signing', '5.5.6. AgentCardSignature Object'],
  ['7.3. Client Authentication Process', '4.3. Authentication Process'],
  ['14.3. Well-Known URI Registration', '5.3. Recommended Location'],
])

const OLD_PAGES: Readonly<Record<string, string>> = { '0.3': 'v0.3.0', '0.2.5': 'v0.2.5', '0.2': 'v0.2.0' }

/** The page of the version that a card is of. */
function a2aSpecAt({ url, section }: SpecReference, version: string): SpecReference {
  const page = OLD_PAGES[version]
  if (page === undefined) return { url, section }
  if (url.includes('/v0.3.0/')) return { url: url.replace('v0.3.0', page), section }
  const old = OLD_SECTIONS.get(section)
  return !url.includes('/latest/') || old === undefined ? { url, section } : { url: url.replace('latest', page), section: old }
}

export const A2A_READER: DocumentReader<A2aView> = {
  versions: ['1.0', '0.3', '0.2.5', '0.2'],
  types: ['agent_card'],
  uncovered: [
    { type: 'request', recognises: isJsonRpcRequest },
    { type: 'error', recognises: (document) => document.has('jsonrpc') && document.has('error') && !document.has('result') },
    { type: 'task_list', recognises: (document) => unwrapCard(document).get('tasks').kind === 'array' },
    { type: 'event', recognises: isEvent },
    { type: 'task', recognises: isTask },
    { type: 'message', recognises: isMessage },
  ],
  // A version may have a patch number.
  readVersion: (text) => (parseVersion(text).declared === undefined ? parseVersion(text).version : text),
  members: CARD_MEMBERS,
  body: unwrapCard,
  recognises: isA2aDocument,
  detect(document) {
    const card = unwrapCard(document)
    const isKnown = isBlank(card) || CARD_MEMBERS.some((name) => at(card, name).present)
    return isKnown ? { type: 'agent_card', ...detectVersion(card) } : { type: UNKNOWN_TYPE, ...detectVersion(card), outside: 'unknown' }
  },
  specForVersion: a2aSpecAt,
  view: collectA2aView,
}
