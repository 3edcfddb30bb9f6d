import { optional } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { at, CAMEL, typed } from './names.ts'
import { a2aSpec, oldSpec } from './spec.ts'
import { PROTO_KINDS, type A2aView } from './view.ts'

const CARD = a2aSpec('4.4.1. AgentCard')
const COMMON = ['name', 'description', 'version', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills'] as const

/** A2A-001…005, 038: the card as a whole. */
export const CARD_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-001',
      severity: 'error',
      why: 'Readers of JSON look for names in camelCase, and find nothing under others.',
      spec: a2aSpec('5.5. JSON Field Naming Convention'),
      hint: 'Send the card as one object, with names such as supportedInterfaces.',
      good: { supportedInterfaces: [] },
      bad: { supported_interfaces: [] },
    },
    ({ error }, view) => {
      const { card } = view
      if (card.kind !== 'object' && !card.redacted)
        error(card, card.present ? 'is not an object' : 'is missing', { expected: 'an agent card' })
      for (const place of namedPlaces(view))
        for (const member of place.members()) {
          const expected = CAMEL.get(member.key)
          if (expected !== undefined) error(member, 'is not written in camelCase', { expected })
        }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-042',
      severity: 'warning',
      why: 'The version is none whose rules are known here, so newer or other rules may apply.',
      spec: a2aSpec('3.6. Versioning'),
      hint: 'Compare it with the published versions; findings follow the nearest known one.',
      good: { supportedInterfaces: [{ protocolVersion: '1.0' }] },
      bad: { supportedInterfaces: [{ protocolVersion: '1.1' }] },
    },
    ({ warning }, { card, context, interfaces }) => {
      if (context.declared === undefined) return
      const versions = [at(card, 'protocolVersion'), ...interfaces.map(({ place }) => at(place, 'protocolVersion'))]
      const found = versions.find((place) => place.text()?.startsWith(context.declared ?? '') === true)
      warning(found ?? card, 'is a version that is not known here', { expected: 'a published version, such as 1.0' })
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-002',
      severity: 'error',
      since: '1.0',
      why: 'Clients that read 1.0 refuse a card without these members.',
      spec: CARD,
      hint: 'Add the member. Cards of 1.0 name their addresses in supportedInterfaces, not in url.',
      good: {
        name: 'Weather',
        supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      },
      bad: { name: 'Weather', url: 'https://a.example.com' },
    },
    ({ error }, { card }) => required(error, card, ['supportedInterfaces', ...COMMON]),
  ),
  rule<A2aView>(
    {
      code: 'A2A-003',
      severity: 'error',
      until: '0.3',
      why: 'Clients of these versions refuse a card without these members.',
      spec: oldSpec('5.5. AgentCard Object Structure'),
      hint: 'Add the member; protocolVersion is asked for since 0.2.5.',
      good: { name: 'Weather', url: 'https://a.example.com', protocolVersion: '0.3.0' },
      bad: { name: 'Weather', protocolVersion: '0.3.0' },
    },
    ({ error }, { card, context }) => required(error, card, ['url', ...(context.atLeast('0.2.5') ? ['protocolVersion'] : []), ...COMMON]),
  ),
  rule<A2aView>(
    {
      code: 'A2A-004',
      severity: 'warning',
      until: '0.3',
      why: 'A client has to guess by which version the card is read; an empty version means 0.3.',
      spec: oldSpec('5.5. AgentCard Object Structure'),
      hint: 'Say protocolVersion, or send a card of 1.0 with supportedInterfaces.',
      good: { url: 'https://a.example.com', protocolVersion: '0.3.0' },
      bad: { url: 'https://a.example.com' },
    },
    ({ warning }, { card, context }) => {
      const version = at(card, 'protocolVersion')
      if (!version.present && !context.atLeast('0.2.5'))
        warning(version, 'is missing, so the version is a guess', { expected: 'a version such as 0.3.0' })
      else if (version.text()?.trim() === '') warning(version, 'is empty, which is taken for 0.3', { expected: 'a version such as 0.3.0' })
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-005',
      severity: 'error',
      why: 'People and models choose an agent by its name and description.',
      spec: CARD,
      hint: 'Send texts that say something.',
      good: { name: 'Weather', description: 'Tells the weather.', version: '1.4.0' },
      bad: { name: ' ', description: '', version: 1 },
    },
    ({ error }, { card }) => {
      for (const name of ['name', 'description', 'version']) saysSomething(error, card.get(name))
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-038',
      severity: 'error',
      why: 'A reader that goes by the protocol buffers or the schema throws on a value of another type.',
      spec: { url: 'https://protobuf.dev/programming-guides/json/', section: 'Representation of each type' },
      hint: 'Send the type that the field has, and never null for a required one.',
      good: { documentationUrl: 'https://a.example.com/docs' },
      bad: { skills: null, documentationUrl: ['https://a.example.com/docs'] },
    },
    ({ error }, view) => {
      for (const place of requiredPlaces(view)) if (place.kind === 'null') error(place, 'is null, and must be there')
      for (const place of textPlaces(view)) typed(error, place, 'string', view)
      for (const place of listPlaces(view))
        if (typed(error, place, 'array', view)) for (const item of place.items()) optional(error, item, 'string')
      for (const place of flagPlaces(view)) typed(error, place, 'boolean', view)
    },
  ),
]

/** Says which of these are missing; null is reported as a value of the wrong type. */
function required(error: Say, card: Place, names: readonly string[]): void {
  if (card.kind !== 'object') return
  for (const name of names) if (!at(card, name).present) error(card.get(name), 'is missing')
}

/** A required text: nothing is said of what is absent or null, since other rules do. */
export function saysSomething(error: Say, place: Place): void {
  if (place.kind === 'null' || !optional(error, place, 'string')) return
  if (place.text()?.trim() === '') error(place, 'is an empty text', { expected: 'a text that says something' })
}

/** Whatever has members that are named by the protocol; schemes and requirements are named by the agent. */
function namedPlaces({ card, interfaces, skills, schemes, is_new }: A2aView): Place[] {
  const kinds = schemes.flatMap(({ place }) => [place, ...PROTO_KINDS.map((kind) => at(place, kind))])
  const flows = schemes.flatMap(({ flows: found }) => found)
  const holders = kinds.map((kind) => kind.get('flows'))
  const own = is_new ? interfaces.map(({ place }) => place) : []
  return [card, card.get('capabilities'), ...own, ...skills, ...kinds, ...holders, ...flows]
}

function requiredPlaces({ card, interfaces, skills, is_new }: A2aView): Place[] {
  const own = is_new ? ['supportedInterfaces'] : ['url', 'protocolVersion']
  const ways = is_new ? interfaces.flatMap(({ url, binding, place }) => [url, binding, at(place, 'protocolVersion')]) : []
  return [
    ...[...COMMON, ...own].map((name) => at(card, name)),
    ...ways,
    ...skills.flatMap((skill) => ['id', 'name', 'description', 'tags'].map((name) => skill.get(name))),
  ]
}

function textPlaces({ card, interfaces, schemes, is_new }: A2aView): Place[] {
  const kinds = schemes.flatMap(({ place }) => [place, ...PROTO_KINDS.map((kind) => at(place, kind))])
  return [
    at(card, 'documentationUrl'),
    at(card, 'iconUrl'),
    ...(is_new ? interfaces.map(({ place }) => place.get('tenant')) : []),
    ...kinds.flatMap((kind) => [kind.get('description'), at(kind, 'bearerFormat')]),
  ]
}

function listPlaces({ skills }: A2aView): Place[] {
  return skills.map((skill) => skill.get('examples'))
}

function flagPlaces({ card, schemes, is_new }: A2aView): Place[] {
  const flows = schemes.flatMap(({ flows: found }) => found)
  const old = is_new ? [] : [at(card, 'supportsAuthenticatedExtendedCard')]
  return [...old, ...flows.map((flow) => at(flow, 'pkceRequired'))]
}
