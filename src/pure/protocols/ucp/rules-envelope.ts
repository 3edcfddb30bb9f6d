import { isDate } from '../kit/dates.ts'
import { need, needText, oneOf, optional } from '../kit/expect.ts'
import { isReverseDomain } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { PROFILES, TRANSPORTS } from './detect.ts'
import { ucpSpec } from './spec.ts'
import { registryPlace, type Registry, type UcpView } from './view.ts'

const REGISTRIES: readonly Registry[] = ['services', 'capabilities', 'payment_handlers']

/** UCP-001…008: the object `ucp`, and what its registries are made of. */
export const ENVELOPE_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-001',
      severity: 'error',
      why: 'Version, services and capabilities all hang from the object ucp.',
      spec: ucpSpec('overview', 'Profile Structure'),
      hint: 'Send a JSON object with the object ucp in it.',
      good: { ucp: { version: '2026-04-08' } },
      bad: { ucp: '2026-04-08' },
    },
    ({ error }, { body, ucp }) => {
      if (optional(error, body, 'object')) need(error, ucp, 'object')
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-002',
      severity: 'error',
      why: 'Both sides choose their rules by this date; words such as draft or latest choose nothing.',
      spec: ucpSpec('overview', 'Protocol Version'),
      hint: 'Send the date of the specification, such as 2026-04-08.',
      good: { ucp: { version: '2026-04-08' } },
      bad: { ucp: { version: 'draft' } },
    },
    ({ error }, { ucp }) => {
      if (ucp.kind === 'object') date(error, ucp.get('version'))
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-003',
      severity: 'warning',
      why: 'The version is none whose rules are known here, so newer or other rules may apply.',
      spec: ucpSpec('overview', 'Protocol Version'),
      hint: 'Compare the date with the published versions; findings follow the nearest known one.',
      good: { ucp: { version: '2026-04-08' } },
      bad: { ucp: { version: '2027-01-01' } },
    },
    ({ warning }, { context, ucp }) => {
      if (context.declared !== undefined) warning(ucp.get('version'), 'is no version known here', { expected: 'a published version' })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-004',
      severity: 'both',
      why: 'Version 2026-01-11 keeps capabilities in an array and one object a service; later ones map names to arrays.',
      spec: ucpSpec('overview', 'Profile Structure'),
      hint: 'Move the registries to the shape of the version that the document declares.',
      good: { ucp: { version: '2026-04-08', capabilities: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }] } } },
      bad: { ucp: { version: '2026-04-08', capabilities: [{ name: 'dev.ucp.shopping.checkout' }] } },
    },
    ({ error, warning }, { body, context, first, is_profile }) => {
      // Errors on the pages of the specification list capabilities in the old shape still; nothing is negotiated by them.
      const say = context.type === 'error' ? warning : error
      if (first && is_profile) optional(error, body.get('payment'), 'object')
      if (first) firstShapes(say, body)
      else for (const registry of REGISTRIES) mapOfArrays(say, body.down('ucp', registry))
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-005',
      severity: 'error',
      types: PROFILES,
      why: 'A profile that lacks a registry is refused, even when it would be empty.',
      spec: ucpSpec('overview', 'Profile Structure'),
      hint: 'Add the registry; it may be an empty object where there is nothing to list.',
      good: { ucp: { version: '2026-04-08', services: {}, payment_handlers: {} } },
      bad: { ucp: { version: '2026-04-08' } },
    },
    ({ error }, { ucp, first }) => {
      if (ucp.kind !== 'object') return
      for (const name of ['services', first ? 'capabilities' : 'payment_handlers'])
        if (!ucp.has(name)) error(ucp.get(name), 'is missing', { expected: first && name === 'capabilities' ? 'an array' : 'an object' })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-006',
      severity: 'error',
      why: 'Names are matched between both parties, and say whose domain governs them.',
      spec: ucpSpec('overview', 'Naming Convention'),
      hint: 'Use the reversed domain in lower case, then the service and the capability.',
      good: { name: 'com.example.payments.installments' },
      bad: { name: 'Example_Payments' },
    },
    ({ error }, { body, entities, first, newest }) => {
      const expected = 'a reversed domain name such as com.example.shopping.loyalty'
      for (const registry of REGISTRIES) {
        for (const place of first ? [] : body.down('ucp', registry).members())
          if (!isReverseDomain(place.key, { hyphens: newest })) error(place, 'has a name that is no reversed domain name', { expected })
      }
      for (const { registry, name_place, name } of first ? entities : []) {
        if (registry !== 'services' && needText(error, name_place) === null) continue
        if (name !== null && !isReverseDomain(name, { hyphens: false })) error(name_place, 'is no reversed domain name', { expected })
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-007',
      severity: 'error',
      why: 'Negotiation picks the newest version that both sides have of each entity.',
      spec: ucpSpec('overview', 'Capability Definition'),
      hint: 'Give every service, capability and payment handler its version, such as 2026-04-08.',
      good: { version: '2026-04-08' },
      bad: { version: '1.0' },
    },
    ({ error }, { entities }) => {
      for (const { place } of entities) date(error, place.get('version'))
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-008',
      severity: 'error',
      since: '2026-01-23',
      why: 'Nobody can call a service over a transport that is not defined.',
      spec: ucpSpec('overview', 'Service Definition'),
      hint: 'Use rest, mcp, a2a or embedded.',
      good: { transport: 'rest' },
      bad: { transport: 'graphql' },
    },
    ({ error }, { bindings }) => {
      for (const { place } of bindings) if (need(error, place.get('transport'), 'string')) oneOf(error, place.get('transport'), TRANSPORTS)
    },
  ),
]

function date(error: Say, place: Place): void {
  if (!need(error, place, 'string')) return
  const text = place.text()
  if (text !== null && !isDate(text)) error(place, 'is no calendar date', { expected: 'a date as YYYY-MM-DD' })
}

function firstShapes(error: Say, body: Place): void {
  for (const registry of ['capabilities', 'payment_handlers'] as const) {
    const list = registryPlace(body, registry, true)
    optional(error, list, 'array')
    for (const item of list.items()) optional(error, item, 'object')
  }
  const services = body.down('ucp', 'services')
  optional(error, services, 'object')
  for (const service of services.members()) {
    optional(error, service, 'object')
    for (const transport of TRANSPORTS) optional(error, service.get(transport), 'object')
  }
}

function mapOfArrays(error: Say, registry: Place): void {
  optional(error, registry, 'object')
  for (const name of registry.members()) {
    optional(error, name, 'array')
    for (const item of name.items()) optional(error, item, 'object')
  }
}
