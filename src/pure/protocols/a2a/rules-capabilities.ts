import { needText, optional, unique } from '../kit/expect.ts'
import { isReverseDomain } from '../kit/versions.ts'
import { isDate } from '../kit/dates.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { at, isSet, typed } from './names.ts'
import { extensionKind, handedOn } from './payments.ts'
import { a2aSpec } from './spec.ts'
import { objects, type A2aView } from './view.ts'

const CAPABILITIES = a2aSpec('4.4.3. AgentCapabilities')

/** A2A-016…018, 039: what the agent can do, and the extensions it declares. */
export const CAPABILITY_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-016',
      severity: 'both',
      why: 'Clients ask for streams and notifications only where these flags say so.',
      spec: CAPABILITIES,
      hint: 'Send an object of flags, each true or false.',
      good: { capabilities: { streaming: true } },
      bad: { capabilities: ['streaming'] },
    },
    ({ error, warning }, { card, is_new }) => {
      const capabilities = card.get('capabilities')
      if (capabilities.kind === 'null' || !optional(error, capabilities, 'object')) return
      for (const name of ['streaming', 'pushNotifications', 'stateTransitionHistory', 'extendedAgentCard', 'skillQuery']) {
        const flag = at(capabilities, name)
        typed(error, flag, 'boolean', { is_new })
      }
      const extended = at(capabilities, 'extendedAgentCard')
      if (!is_new && extended.present)
        warning(extended, 'came with 1.0', { expected: 'supportsAuthenticatedExtendedCard beside capabilities' })
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-017',
      severity: 'both',
      why: 'A client must know every extension that is required, and finds it by its URI.',
      spec: a2aSpec('4.4.4. AgentExtension'),
      hint: 'Give each extension an absolute URI, once, and say what it is for when it is required.',
      good: { uri: 'https://example.com/ext/v1', description: 'Quotes prices', required: true },
      bad: { uri: 'quotes', required: 'yes' },
    },
    ({ error, warning }, { card, extensions, is_new }) => {
      const list = card.get('capabilities').get('extensions')
      if (typed(error, list, 'array', { is_new })) for (const item of list.items()) optional(error, item, 'object')
      for (const extension of extensions) checkExtension(error, extension, is_new)
      const uris = extensions.map((extension) => extension.get('uri'))
      unique(error, uris, 'the URI of another extension')
      for (const extension of extensions) {
        const description = extension.get('description')
        const isSilent = !isSet(extension, 'description') || description.text()?.trim() === ''
        if (extension.get('required').boolean() === true && isSilent) warning(extension, 'is required, and does not say what it is')
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-018',
      severity: 'both',
      why: 'Clients send only what the modes accept, and compare them with media types.',
      spec: a2aSpec('4.4.1. AgentCard'),
      hint: 'List media types such as text/plain.',
      good: { defaultInputModes: ['text/plain', 'application/json'] },
      bad: { defaultInputModes: ['text'] },
    },
    ({ error, warning }, { card, skills, is_new }) => {
      for (const name of ['defaultInputModes', 'defaultOutputModes']) {
        const list = at(card, name)
        if (list.kind === 'null' || !optional(error, list, 'array')) continue
        if (list.kind === 'array' && list.items().length === 0) error(list, 'is empty', { expected: 'at least one media type' })
        for (const mode of list.items()) checkMode({ error, warning }, mode)
      }
      for (const list of skills.flatMap((skill) => ['inputModes', 'outputModes'].map((name) => at(skill, name)))) {
        if (!typed(error, list, 'array', { is_new })) continue
        for (const mode of list.items()) checkMode({ error, warning }, mode)
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-039',
      severity: 'warning',
      why: 'A payment extension says in its parameters which part the agent plays; without them a partner cannot tell.',
      spec: { url: 'https://ap2-protocol.org/a2a-extension', section: 'AgentCard Extension Object' },
      hint: 'Send params: roles for AP2, capabilities for UCP. What they hold of x402 and UCP is checked by those rules.',
      good: { uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1', params: { roles: ['merchant'] } },
      bad: { uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1' },
    },
    ({ warning }, { context, extensions }) => {
      for (const extension of extensions) {
        const params = extension.get('params')
        const kind = extensionKind(extension)
        if (kind === 'ap2') checkRoles(warning, params)
        if (kind === 'ucp' && !params.has('ucp')) checkUcp(warning, params)
        for (const place of handedOn(context, extension)) context.delegate(place.protocol, place.place)
      }
    },
  ),
]

function checkExtension(error: Say, extension: Place, is_new: boolean): void {
  const uri = extension.get('uri')
  const text = needText(error, uri)
  if (text !== null && text.trim() !== '' && !/^[a-z][a-z0-9+.-]*:[^\s]+$/i.test(text)) error(uri, 'is not an absolute URI')
  typed(error, extension.get('description'), 'string', { is_new })
  typed(error, extension.get('required'), 'boolean', { is_new })
  typed(error, extension.get('params'), 'object', { is_new })
}

const TOKEN = '[A-Za-z0-9!#$&^_.+*-]{1,127}'
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:\\s*;.{1,256})?$`)

function checkMode({ error, warning }: { error: Say; warning: Say }, mode: Place): void {
  if (!optional(error, mode, 'string')) return
  const text = mode.text()
  if (text === null) return
  if (text.trim() === '') error(mode, 'is an empty text', { expected: 'a media type' })
  else if (!MEDIA_TYPE.test(text)) warning(mode, 'is no media type', { expected: 'a media type such as text/plain' })
}

const ROLES: ReadonlySet<string> = new Set(['merchant', 'shopper', 'credentials-provider', 'payment-processor'])

function checkRoles(warning: Say, params: Place): void {
  const roles = params.get('roles')
  if (params.redacted || roles.redacted) return
  if (roles.items().length === 0) warning(roles, 'does not say which roles the agent plays', { expected: [...ROLES].join(', ') })
  for (const role of roles.items())
    if (!role.redacted && !ROLES.has(role.text() ?? '')) warning(role, 'is no role of AP2', { expected: [...ROLES].join(', ') })
}

/** Capabilities of UCP by name: a list in 2026-01-11, a map of lists since. */
function checkUcp(warning: Say, params: Place): void {
  const capabilities = params.get('capabilities')
  if (params.redacted || capabilities.redacted) return
  const named = [
    ...objects(capabilities).map((entry) => ({ name: entry.get('name'), text: entry.get('name').text(), entry })),
    ...capabilities.members().flatMap((member) => objects(member).map((entry) => ({ name: member, text: member.key, entry }))),
  ]
  if (named.length === 0) warning(capabilities, 'does not say which capabilities of UCP the agent has')
  for (const { name, text, entry } of named) {
    if (!name.redacted && (text === null || !isReverseDomain(text, { hyphens: true }))) warning(name, 'is no name of a capability')
    const version = entry.get('version')
    if (!version.redacted && !isDate(version.text() ?? '')) warning(version, 'is no version of UCP', { expected: 'a date' })
  }
}
