import { optional } from '../kit/expect.ts'
import { httpsFault, privateHost, readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { saysSomething } from './rules-card.ts'
import { at, isSet } from './names.ts'
import { a2aSpec, oldSpec } from './spec.ts'
import type { A2aView, Interface } from './view.ts'

const INTERFACE = a2aSpec('4.4.6. AgentInterface')
const OLD_INTERFACE = oldSpec('5.6. Transport Declaration and URL Relationships')
const CORE = ['JSONRPC', 'GRPC', 'HTTP+JSON'] as const

/** A2A-006…015: where and how the agent is reached. */
export const INTERFACE_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-006',
      severity: 'error',
      since: '1.0',
      why: 'A client picks an interface from this list; without one the agent cannot be reached.',
      spec: INTERFACE,
      hint: 'List at least one interface with url, protocolBinding and protocolVersion.',
      good: { supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
      bad: { supportedInterfaces: [] },
    },
    ({ error }, { card, interfaces }) => {
      const list = at(card, 'supportedInterfaces')
      if (list.kind === 'null' || !optional(error, list, 'array')) return
      if (list.kind === 'array' && list.items().length === 0) error(list, 'is empty', { expected: 'at least one interface' })
      for (const item of list.items()) optional(error, item, 'object')
      for (const { url, binding, place } of interfaces) {
        for (const member of [url, binding]) if (!member.present) error(member, 'is missing')
        saysSomething(error, binding)
        const version = at(place, 'protocolVersion')
        if (version.kind !== 'null') optional(error, version, 'string')
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-007',
      severity: 'both',
      why: 'A client compares this version with its own.',
      spec: INTERFACE,
      hint: 'Send major and minor in an interface of 1.0, such as 1.0; before that three numbers, such as 0.3.0.',
      hint_by_case: true,
      good: { supportedInterfaces: [{ protocolVersion: '1.0' }] },
      bad: { supportedInterfaces: [{ protocolVersion: 'v1' }] },
    },
    (report, { card, interfaces, is_new }) => {
      if (is_new) for (const { place } of interfaces) newVersion(report, at(place, 'protocolVersion'))
      else oldVersion(report.error, at(card, 'protocolVersion'))
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-008',
      severity: 'warning',
      since: '1.0',
      why: 'Without it clients take the interface for one of 0.3; a library leaves it out by default.',
      spec: INTERFACE,
      hint: 'Say which version the interface speaks.',
      good: { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      bad: { url: 'https://a.example.com', protocolBinding: 'JSONRPC' },
    },
    ({ warning }, { interfaces }) => {
      for (const { place } of interfaces) {
        const version = at(place, 'protocolVersion')
        if (!version.present || version.text()?.trim() === '') warning(version, 'is missing', { expected: 'a version such as 1.0' })
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-009',
      severity: 'both',
      why: 'Clients compare the binding exactly, and most speak the three core ones only.',
      spec: INTERFACE,
      hint: 'Write JSONRPC, GRPC or HTTP+JSON; other bindings are for clients that know them.',
      good: { protocolBinding: 'HTTP+JSON' },
      bad: { protocolBinding: 'http+json' },
    },
    ({ error, warning }, { interfaces }) => {
      for (const { binding } of interfaces) {
        const text = binding.text()
        if (text === null || text.trim() === '' || CORE.some((core) => core === text)) continue
        const expected = CORE.find((core) => core === text.trim().toUpperCase())
        if (expected === undefined) warning(binding, 'is none of the core bindings', { expected: CORE.join(', ') })
        else error(binding, 'is a core binding in another spelling', { expected })
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-010',
      severity: 'both',
      why: 'Whoever reads the card from elsewhere reaches the agent only by a whole and safe address.',
      spec: INTERFACE,
      hint: 'Send an absolute https URL; GRPC may have host and port instead.',
      good: { url: 'https://agent.example.com/a2a', protocolBinding: 'JSONRPC' },
      bad: { url: '/a2a', protocolBinding: 'JSONRPC' },
    },
    (report, { interfaces }) => {
      for (const one of interfaces) address(report, one)
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-011',
      severity: 'warning',
      since: '1.0',
      why: 'An entry that stands twice says nothing new, and one of them may have been meant otherwise.',
      spec: INTERFACE,
      hint: 'Leave the second out, or mend it.',
      good: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      bad: [
        { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    },
    ({ warning }, { interfaces }) => {
      const seen = new Set<string>()
      for (const { place, url, binding } of interfaces) {
        const parts = [url, binding, at(place, 'protocolVersion'), place.get('tenant')].map((part) => part.text())
        const key = JSON.stringify(parts)
        if (parts[0] !== null && seen.has(key)) warning(place, 'repeats another interface')
        seen.add(key)
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-012',
      severity: 'both',
      until: '0.3',
      why: 'Clients choose by url and transport; the main address belongs among the others.',
      spec: OLD_INTERFACE,
      hint: 'Give each entry url and transport, and repeat the main pair; without preferredTransport that is JSONRPC.',
      good: { url: 'https://a.example.com', additionalInterfaces: [{ url: 'https://a.example.com', transport: 'JSONRPC' }] },
      bad: { url: 'https://a.example.com', additionalInterfaces: [{ url: 'https://a.example.com' }] },
    },
    ({ error, warning }, { card, interfaces }) => {
      optional(error, at(card, 'preferredTransport'), 'string')
      const list = at(card, 'additionalInterfaces')
      if (!optional(error, list, 'array')) return
      for (const item of list.items()) optional(error, item, 'object')
      const [main, ...others] = interfaces
      for (const { url, binding } of others) {
        for (const member of [url, binding]) if (!member.present) error(member, 'is missing')
        optional(error, binding, 'string')
      }
      const isListed = others.some(({ url, spoken }) => url.redacted || (url.text() === main?.url.text() && spoken === main.spoken))
      const isKnown = main !== undefined && main.url.text() !== null && main.spoken !== null
      if (isKnown && others.length > 0 && others.every(({ binding }) => binding.text() !== null) && !isListed)
        warning(list, 'does not have the main url with its transport')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-013',
      severity: 'warning',
      until: '0.3',
      why: 'One clause of 0.3 forbids several transports at one address, another allows it; clients differ.',
      spec: OLD_INTERFACE,
      hint: 'Give each transport an address of its own.',
      good: [
        { url: 'https://a.example.com/rpc', transport: 'JSONRPC' },
        { url: 'https://a.example.com/rest', transport: 'HTTP+JSON' },
      ],
      bad: [
        { url: 'https://a.example.com', transport: 'JSONRPC' },
        { url: 'https://a.example.com', transport: 'HTTP+JSON' },
      ],
    },
    ({ warning }, { interfaces }) => {
      const first = new Map<string, string>()
      for (const { url, spoken } of interfaces) {
        const text = url.text()
        if (text === null || spoken === null) continue
        const before = first.get(text) ?? spoken
        if (before !== spoken) warning(url, 'is declared with another transport as well')
        first.set(text, before)
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-014',
      severity: 'both',
      since: '1.0',
      why: 'Older clients call url, newer ones an interface: with different addresses they reach different agents.',
      spec: a2aSpec('8.3.1. Supported Interfaces Declaration'),
      hint: 'Leave url out, or make it that of an interface for older clients.',
      good: { supportedInterfaces: [{ url: 'https://a.example.com' }] },
      bad: { url: 'https://b.example.com', supportedInterfaces: [{ url: 'https://a.example.com' }] },
    },
    ({ error, warning }, { card, interfaces }) => {
      const url = card.get('url')
      if (!url.present || interfaces.length === 0) return
      const isKnown = url.text() !== null && interfaces.every((one) => one.url.text() !== null)
      if (isKnown && !interfaces.some((one) => one.url.text() === url.text())) error(url, 'is the address of no interface')
      else warning(url, 'is how older versions name the address')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-015',
      severity: 'warning',
      since: '1.0',
      why: 'Clients of 1.0 do not read these members any more.',
      spec: a2aSpec('Appendix A. Migration & Legacy Compatibility'),
      hint: 'Use supportedInterfaces, capabilities.extendedAgentCard and securityRequirements.',
      good: { securityRequirements: [{ schemes: { oauth: { list: [] } } }] },
      bad: { security: [{ oauth: [] }] },
    },
    ({ warning }, { card }) => {
      for (const name of ['preferredTransport', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard', 'security'])
        if (isSet(card, name)) warning(at(card, name), 'was removed with 1.0')
      const history = at(card.get('capabilities'), 'stateTransitionHistory')
      if (history.present) warning(history, 'was removed with 1.0')
    },
  ),
]

function newVersion({ error, warning }: Report, place: Place): void {
  const text = place.text()
  if (text === null || text.trim() === '' || /^[0-9]{1,3}\.[0-9]{1,3}$/.test(text)) return
  if (/^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(text)) warning(place, 'has a patch number, which interfaces leave out')
  else error(place, 'is no version of the protocol', { expected: 'major and minor, such as 1.0' })
}

function oldVersion(error: Say, place: Place): void {
  if (place.kind === 'null' || !optional(error, place, 'string')) return
  const text = place.text()
  if (text === null || text.trim() === '' || /^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(text)) return
  error(place, 'is no version of the protocol', { expected: 'three numbers, such as 0.3.0' })
}

/** Host and port, as channels of gRPC have them. */
const HOST_AND_PORT = /^(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,16}\.?|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}$/i

function address({ error, warning }: Report, { url, spoken }: Interface): void {
  if (url.kind === 'null' || !optional(error, url, 'string')) return
  const text = url.text()
  if (text === null) return
  const read = readUrl(text)
  const isCore = spoken === 'JSONRPC' || spoken === 'HTTP+JSON'
  if (!isCore && (read !== null || HOST_AND_PORT.test(text))) return
  const fault = isCore ? httpsFault(text) : 'is not an absolute URL'
  if (read?.protocol === 'http:' && privateHost(read) === 'localhost')
    warning(url, 'is at the own machine', { expected: 'an absolute https URL' })
  else if (fault !== null) error(url, fault, { expected: 'an absolute https URL' })
}
