import { expectTypeIfPresent, expectText, expectUnique, expectItemTypes, expectNotEmpty, expectStringIfPresent } from '../kit/expect.ts'
import { listCarriedPayments, listPaymentMetadata } from '../kit/a2a-messages.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding } from '../protocol.ts'
import {
  at,
  CAMEL,
  expectTypeOrUnset,
  PROTO_KINDS,
  type A2aView,
  a2aSpec,
  oldSpec,
  isSet,
  expectNonEmptyText,
  extensionKind,
  delegatedDocuments,
} from './view.ts'
import { isReverseDomain, isDate } from '../kit/dates.ts'

const CARD = a2aSpec('4.4.1. AgentCard')
const COMMON = ['name', 'description', 'version', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills'] as const

/** A2A-001…005, 038: the card as a whole. */
export const A2A_CARD_RULES: RuleTable<A2aView> = {
  'A2A-001': {
    why: 'Readers of JSON look for names in camelCase, and find nothing under others.',
    spec: a2aSpec('5.5. JSON Field Naming Convention'),
    hint: 'Send the card as one object, with names such as supportedInterfaces.',
    good: { supportedInterfaces: [] },
    bad: { supported_interfaces: [] },
    check({ error }, view) {
      const { card } = view
      if (card.kind !== 'object' && !card.redacted)
        error(card, card.present ? 'is not an object' : 'is missing', { expected: 'an agent card' })
      for (const cursor of namedCursors(view))
        for (const member of cursor.members()) {
          const expected = CAMEL.get(member.key)
          if (expected !== undefined) error(member, 'is not written in camelCase', { expected })
        }
    },
  },
  'A2A-042': {
    severity: 'warning',
    why: 'The version is none whose rules are known here, so newer or other rules may apply.',
    spec: a2aSpec('3.6. Versioning'),
    hint: 'Compare it with the published versions; findings follow the nearest known one.',
    good: { supportedInterfaces: [{ protocolVersion: '1.0' }] },
    bad: { supportedInterfaces: [{ protocolVersion: '1.1' }] },
    check({ warning }, { card, context, interfaces }) {
      if (context.declared === undefined) return
      const versions = [at(card, 'protocolVersion'), ...interfaces.map(({ cursor }) => at(cursor, 'protocolVersion'))]
      const found = versions.find((cursor) => cursor.text()?.startsWith(context.declared ?? '') === true)
      warning(found ?? card, 'is a version without rules here', { expected: 'a published version, such as 1.0' })
    },
  },
  'A2A-002': {
    since: '1.0',
    why: 'Clients that read 1.0 refuse a card without these members.',
    spec: CARD,
    hint: 'Add the member. Cards of 1.0 name their addresses in supportedInterfaces, not in url.',
    good: {
      name: 'Weather',
      supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    },
    bad: { name: 'Weather', url: 'https://a.example.com' },
    check: ({ error }, { card }) => checkRequiredMembers(error, card, ['supportedInterfaces', ...COMMON]),
  },
  'A2A-003': {
    until: '0.3',
    why: 'Clients of these versions refuse a card without these members.',
    spec: oldSpec('5.5. AgentCard Object Structure'),
    hint: 'Add the member; protocolVersion is asked for since 0.2.5.',
    good: { name: 'Weather', url: 'https://a.example.com', protocolVersion: '0.3.0' },
    bad: { name: 'Weather', protocolVersion: '0.3.0' },
    check: ({ error }, { card, context }) =>
      checkRequiredMembers(error, card, ['url', ...(context.atLeast('0.2.5') ? ['protocolVersion'] : []), ...COMMON]),
  },
  'A2A-004': {
    severity: 'warning',
    until: '0.3',
    why: 'A client has to guess by which version the card is read; an empty version means 0.3.',
    spec: oldSpec('5.5. AgentCard Object Structure'),
    hint: 'Say protocolVersion, or send a card of 1.0 with supportedInterfaces.',
    good: { url: 'https://a.example.com', protocolVersion: '0.3.0' },
    bad: { url: 'https://a.example.com' },
    check({ warning }, { card, context }) {
      const version = at(card, 'protocolVersion')
      if (!version.present && !context.atLeast('0.2.5'))
        warning(version, 'is missing, so the version was assumed', { expected: 'a version such as 0.3.0' })
      else if (version.text()?.trim() === '') warning(version, 'is empty, which means 0.3', { expected: 'a version such as 0.3.0' })
    },
  },
  'A2A-005': {
    why: 'People and models choose an agent by its name and description.',
    spec: CARD,
    hint: 'Send texts that say something.',
    good: { name: 'Weather', description: 'Reports the weather.', version: '1.4.0' },
    bad: { name: ' ', description: '', version: 1 },
    check({ error }, { card }) {
      for (const name of ['name', 'description', 'version']) expectNonEmptyText(error, card.get(name))
    },
  },
  'A2A-038': {
    why: 'A reader that goes by the protocol buffers or the schema throws on a value of another type.',
    spec: { url: 'https://protobuf.dev/programming-guides/json/', section: 'Representation of each type' },
    hint: 'Send the type that the field has, and never null for a required one.',
    good: { documentationUrl: 'https://a.example.com/docs' },
    bad: { skills: null, documentationUrl: ['https://a.example.com/docs'] },
    check({ error }, view) {
      for (const cursor of requiredCursors(view)) if (cursor.kind === 'null') error(cursor, 'is null but required')
      for (const cursor of textCursors(view)) expectTypeOrUnset(error, cursor, 'string', view)
      for (const cursor of view.skills.map((skill) => skill.get('examples')))
        if (expectTypeOrUnset(error, cursor, 'array', view)) expectItemTypes(error, cursor, 'string')
      for (const cursor of flagCursors(view)) expectTypeOrUnset(error, cursor, 'boolean', view)
    },
  },
}

/** Says which of these are missing; null is reported as a value of the wrong type. */
function checkRequiredMembers(error: ReportFinding, card: JsonCursor, names: readonly string[]): void {
  if (card.kind !== 'object') return
  for (const name of names) if (!at(card, name).present) error(card.get(name), 'is missing')
}

/** Objects whose member names the protocol defines; schemes and requirements are named by the agent. */
function namedCursors({ card, interfaces, skills, schemes, is_v1 }: A2aView): JsonCursor[] {
  const kinds = schemes.flatMap(({ cursor }) => [cursor, ...PROTO_KINDS.map((kind) => at(cursor, kind))])
  const flows = schemes.flatMap(({ flows: found }) => found)
  const holders = kinds.map((kind) => kind.get('flows'))
  const own = is_v1 ? interfaces.map(({ cursor }) => cursor) : []
  return [card, card.get('capabilities'), ...own, ...skills, ...kinds, ...holders, ...flows]
}

function requiredCursors({ card, interfaces, skills, is_v1 }: A2aView): JsonCursor[] {
  const own = is_v1 ? ['supportedInterfaces'] : ['url', 'protocolVersion']
  const ways = is_v1 ? interfaces.flatMap(({ url, binding, cursor }) => [url, binding, at(cursor, 'protocolVersion')]) : []
  return [
    ...[...COMMON, ...own].map((name) => at(card, name)),
    ...ways,
    ...skills.flatMap((skill) => ['id', 'name', 'description', 'tags'].map((name) => skill.get(name))),
  ]
}

function textCursors({ card, interfaces, schemes, is_v1 }: A2aView): JsonCursor[] {
  const kinds = schemes.flatMap(({ cursor }) => [cursor, ...PROTO_KINDS.map((kind) => at(cursor, kind))])
  return [
    at(card, 'documentationUrl'),
    at(card, 'iconUrl'),
    ...(is_v1 ? interfaces.map(({ cursor }) => cursor.get('tenant')) : []),
    ...kinds.flatMap((kind) => [kind.get('description'), at(kind, 'bearerFormat')]),
  ]
}

function flagCursors({ card, schemes, is_v1 }: A2aView): JsonCursor[] {
  const flows = schemes.flatMap(({ flows: found }) => found)
  const old = is_v1 ? [] : [at(card, 'supportsAuthenticatedExtendedCard')]
  return [...old, ...flows.map((flow) => at(flow, 'pkceRequired'))]
}

const CAPABILITIES = a2aSpec('4.4.3. AgentCapabilities')

const SKILL = a2aSpec('4.4.5. AgentSkill')
const TEXTS = ['id', 'name', 'description'] as const

/** A2A-016…018, 039: capabilities and extensions; A2A-019…023: skills. */
export const A2A_CAPABILITY_RULES: RuleTable<A2aView> = {
  'A2A-016': {
    severity: 'both',
    why: 'Clients ask for streams and notifications only where these flags say so.',
    spec: CAPABILITIES,
    hint: 'Send an object of flags, each true or false.',
    good: { capabilities: { streaming: true } },
    bad: { capabilities: ['streaming'] },
    check({ error, warning }, { card, is_v1 }) {
      const capabilities = card.get('capabilities')
      if (capabilities.kind === 'null' || !expectTypeIfPresent(error, capabilities, 'object')) return
      for (const name of ['streaming', 'pushNotifications', 'stateTransitionHistory', 'extendedAgentCard', 'skillQuery']) {
        const flag = at(capabilities, name)
        expectTypeOrUnset(error, flag, 'boolean', { is_v1 })
      }
      const extended = at(capabilities, 'extendedAgentCard')
      if (!is_v1 && extended.present)
        warning(extended, 'was introduced with 1.0', { expected: 'supportsAuthenticatedExtendedCard next to capabilities' })
    },
  },
  'A2A-017': {
    severity: 'both',
    why: 'A client must know every extension that is required, and finds it by its URI.',
    spec: a2aSpec('4.4.4. AgentExtension'),
    hint: 'Give each extension an absolute URI, once, and say what it is for when it is required.',
    good: { uri: 'https://example.com/ext/v1', description: 'Quotes prices', required: true },
    bad: { uri: 'quotes', required: 'yes' },
    check({ error, warning }, { card, extensions, is_v1 }) {
      const list = card.get('capabilities', 'extensions')
      if (expectTypeOrUnset(error, list, 'array', { is_v1 })) expectItemTypes(error, list, 'object')
      for (const extension of extensions) checkExtension(error, extension, is_v1)
      const uris = extensions.map((extension) => extension.get('uri'))
      expectUnique(error, uris, 'the URI of another extension')
      for (const extension of extensions) {
        const description = extension.get('description')
        const isSilent = !isSet(extension, 'description') || description.text()?.trim() === ''
        if (extension.boolean('required') === true && isSilent) warning(extension, 'is required but has no description')
      }
    },
  },
  'A2A-018': {
    severity: 'both',
    why: 'Clients send only what the modes accept, and compare them with media types.',
    spec: a2aSpec('4.4.1. AgentCard'),
    hint: 'List media types such as text/plain.',
    good: { defaultInputModes: ['text/plain', 'application/json'] },
    bad: { defaultInputModes: ['text'] },
    check({ error, warning }, { card, skills, is_v1 }) {
      for (const name of ['defaultInputModes', 'defaultOutputModes']) {
        const list = at(card, name)
        if (list.kind === 'null' || !expectTypeIfPresent(error, list, 'array')) continue
        expectNotEmpty(error, list, 'at least one media type')
        for (const mode of list.items()) checkMode({ error, warning }, mode)
      }
      for (const list of skills.flatMap((skill) => ['inputModes', 'outputModes'].map((name) => at(skill, name)))) {
        if (!expectTypeOrUnset(error, list, 'array', { is_v1 })) continue
        for (const mode of list.items()) checkMode({ error, warning }, mode)
      }
    },
  },
  'A2A-039': {
    severity: 'warning',
    why: 'The parameters of a payment extension name the roles of the agent; without them a partner does not know them.',
    spec: { url: 'https://ap2-protocol.org/a2a-extension', section: 'AgentCard Extension Object' },
    hint: 'Send params: roles for AP2, capabilities for UCP. Documents of x402 and UCP in them are checked by the rules of those protocols.',
    good: { uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1', params: { roles: ['merchant'] } },
    bad: { uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1' },
    check({ warning }, { context, extensions }) {
      for (const extension of extensions) {
        const params = extension.get('params')
        const kind = extensionKind(extension)
        if (kind === 'ap2') checkRoles(warning, params)
        if (kind === 'ucp' && !params.has('ucp')) checkUcpCapabilities(warning, params)
        for (const cursor of delegatedDocuments(context, extension)) context.delegate(cursor.protocol, cursor.cursor)
      }
    },
  },
  'A2A-043': {
    types: ['request', 'task', 'task_list', 'event', 'message'],
    why: 'A client pays what the metadata of a task asks for.',
    spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/transports-v2/a2a.md', section: 'Payment Required Signaling' },
    hint: 'Send the documents of x402 as objects in x402.payment.required, x402.payment.payload or x402.payment.receipts.',
    good: { metadata: { 'x402.payment.status': 'payment-required', 'x402.payment.required': { x402Version: 2, accepts: [] } } },
    bad: { metadata: { 'x402.payment.status': 'payment-required', 'x402.payment.required': 'eyJ…' } },
    check({ error }, { context }) {
      const { document } = context
      const metadata = listPaymentMetadata(document)
      for (const { cursor } of listCarriedPayments(metadata)) expectTypeIfPresent(error, cursor, 'object')
      if (metadata.length > 0) context.delegate('x402', document, 'a2a_message')
    },
  },
  'A2A-019': {
    severity: 'both',
    why: 'Clients choose an agent by its skills; the test kit refuses a card without any.',
    spec: SKILL,
    hint: 'List at least one skill.',
    good: { skills: [{ id: 'forecast', name: 'Forecast', description: 'Reports the weather', tags: ['weather'] }] },
    bad: { skills: [] },
    check({ error, warning }, { card }) {
      const list = card.get('skills')
      if (list.kind === 'null' || !expectTypeIfPresent(error, list, 'array')) return
      expectItemTypes(error, list, 'object')
      expectNotEmpty(warning, list, 'at least one skill')
    },
  },
  'A2A-020': {
    severity: 'both',
    why: 'These members are required; registries index skills by their tags.',
    spec: SKILL,
    hint: 'Send id, name, description and a list of tags.',
    good: { id: 'forecast', name: 'Forecast', description: 'Reports the weather', tags: ['weather'] },
    bad: { id: 'forecast', name: 'Forecast' },
    check({ error, warning }, { skills }) {
      for (const skill of skills) {
        for (const name of TEXTS) {
          if (!skill.has(name)) error(skill.get(name), 'is missing')
          expectNonEmptyText(error, skill.get(name))
        }
        const tags = skill.get('tags')
        if (!tags.present) error(tags, 'is missing', { expected: 'a list of tags' })
        if (tags.kind === 'null' || !expectTypeIfPresent(error, tags, 'array')) continue
        expectItemTypes(error, tags, 'string')
        expectNotEmpty(warning, tags, 'at least one tag')
      }
    },
  },
  'A2A-021': {
    severity: 'both',
    why: 'Clients request a skill by its id and show it by its name.',
    spec: SKILL,
    hint: 'Give each skill a unique id and name.',
    good: [
      { id: 'forecast', name: 'Forecast' },
      { id: 'history', name: 'History' },
    ],
    bad: [
      { id: 'weather', name: 'Weather' },
      { id: 'weather', name: 'Weather' },
    ],
    check({ error, warning }, { skills }) {
      const of = (name: string) => skills.map((skill) => skill.get(name))
      expectUnique(error, of('id'), 'the id of another skill')
      expectUnique(warning, of('name'), 'the name of another skill')
    },
  },
  'A2A-022': {
    severity: 'warning',
    why: 'Clients ignore other members, and strict readers reject them.',
    spec: SKILL,
    hint: 'Leave the member out, or put it into an extension.',
    good: { id: 'forecast', name: 'Forecast', description: 'Reports the weather', tags: ['weather'] },
    bad: { id: 'forecast', name: 'Forecast', description: 'Reports the weather', tags: ['weather'], parameters: {} },
    check({ warning }, { skills, is_v1 }) {
      const known = new Set([...TEXTS, 'tags', 'examples', 'inputModes', 'outputModes', is_v1 ? 'securityRequirements' : 'security'])
      for (const skill of skills)
        for (const member of skill.members())
          if (!known.has(CAMEL.get(member.key) ?? member.key)) warning(member, 'is not a member of a skill')
    },
  },
  'A2A-023': {
    severity: 'warning',
    why: 'Modes of a skill replace those of the card: an empty list accepts nothing, and the same list says nothing.',
    spec: SKILL,
    hint: 'Leave the list out where the modes of the card hold.',
    good: { defaultInputModes: ['text/plain'], skills: [{ inputModes: ['image/png'] }] },
    bad: { defaultInputModes: ['text/plain'], skills: [{ inputModes: ['text/plain'] }] },
    check({ warning }, { card, skills }) {
      for (const [name, general] of MODES) {
        const defaults = modesAsText(at(card, general))
        for (const skill of skills) {
          const list = at(skill, name)
          if (list.kind !== 'array') continue
          if (list.items().length === 0) warning(list, 'is empty')
          else if (defaults !== '' && modesAsText(list) === defaults) warning(list, 'repeats the modes of the card')
        }
      }
    },
  },
}

function checkExtension(error: ReportFinding, extension: JsonCursor, is_v1: boolean): void {
  const uri = extension.get('uri')
  const text = expectText(error, uri)
  if (text !== null && text.trim() !== '' && !/^[a-z][a-z0-9+.-]*:[^\s]+$/i.test(text)) error(uri, 'is not an absolute URI')
  expectTypeOrUnset(error, extension.get('description'), 'string', { is_v1 })
  expectTypeOrUnset(error, extension.get('required'), 'boolean', { is_v1 })
  expectTypeOrUnset(error, extension.get('params'), 'object', { is_v1 })
}

const TOKEN = '[A-Za-z0-9!#$&^_.+*-]{1,127}'
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:\\s*;.{1,256})?$`)

function checkMode({ error, warning }: { error: ReportFinding; warning: ReportFinding }, mode: JsonCursor): void {
  const text = expectStringIfPresent(error, mode)
  if (text === null) return
  if (text.trim() === '') error(mode, 'is an empty string', { expected: 'a media type' })
  else if (!MEDIA_TYPE.test(text)) warning(mode, 'is not a media type', { expected: 'a media type such as text/plain' })
}

const ROLES: ReadonlySet<string> = new Set(['merchant', 'shopper', 'credentials-provider', 'payment-processor'])

function checkRoles(warning: ReportFinding, params: JsonCursor): void {
  const roles = params.get('roles')
  if (params.redacted || roles.redacted) return
  if (roles.items().length === 0) warning(roles, 'does not list the roles of the agent', { expected: [...ROLES].join(', ') })
  for (const role of roles.items())
    if (!role.redacted && !ROLES.has(role.text() ?? '')) warning(role, 'is not an AP2 role', { expected: [...ROLES].join(', ') })
}

/** Capabilities of UCP by name: a list in 2026-01-11, a map of lists since. */
function checkUcpCapabilities(warning: ReportFinding, params: JsonCursor): void {
  const capabilities = params.get('capabilities')
  if (params.redacted || capabilities.redacted) return
  const named = [
    ...capabilities.objects().map((entry) => ({ name: entry.get('name'), text: entry.text('name'), entry })),
    ...capabilities.members().flatMap((member) => member.objects().map((entry) => ({ name: member, text: member.key, entry }))),
  ]
  if (named.length === 0) warning(capabilities, 'does not list the UCP capabilities of the agent')
  for (const { name, text, entry } of named) {
    if (!name.redacted && (text === null || !isReverseDomain(text, { hyphens: true }))) warning(name, 'is not a capability name')
    const version = entry.get('version')
    if (!version.redacted && !isDate(version.text() ?? ''))
      warning(version, 'is not a UCP version', { expected: 'a date such as 2026-04-08' })
  }
}

const MODES = [
  ['inputModes', 'defaultInputModes'],
  ['outputModes', 'defaultOutputModes'],
] as const

/** The modes in sorted order, as one text; empty if one of them is not a string. */
function modesAsText(list: JsonCursor): string {
  const items = list.items()
  const texts = items.map((item) => item.text()).filter((text) => text !== null)
  if (texts.length === 0 || texts.length < items.length) return ''
  return JSON.stringify([...new Set(texts)].toSorted())
}
