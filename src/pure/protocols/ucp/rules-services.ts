import { need, needText, optional, optionalText } from '../kit/expect.ts'
import { httpsFault, privateHost, readUrl } from '../kit/url.ts'
import { rule } from '../rule.ts'
import { PROFILES } from './detect.ts'
import { ucpSpec } from './spec.ts'
import { isCapability, type UcpView } from './view.ts'

const SERVICE = ucpSpec('overview', 'Service Definition')
const ENDPOINT = ucpSpec('overview', 'Endpoint Resolution')

/** UCP-009…013: how services are reached, and where entities are described. */
export const SERVICE_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-009',
      severity: 'error',
      types: PROFILES,
      why: 'A service without an endpoint cannot be called.',
      spec: SERVICE,
      hint: 'Add the endpoint of each rest, mcp and a2a transport.',
      good: { transport: 'rest', endpoint: 'https://shop.example.com/ucp' },
      bad: { transport: 'rest' },
    },
    ({ error }, { bindings, is_platform, first }) => {
      for (const { place, transport } of bindings) {
        const endpoint = place.get('endpoint')
        const isAsked = transport !== null && transport !== 'embedded' && (first || !is_platform)
        if (isAsked) need(error, endpoint, 'string')
        else optional(error, endpoint, 'string')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-010',
      severity: 'error',
      types: PROFILES,
      why: 'Platforms declare transports by their specification and schema; without them nothing can be composed.',
      spec: SERVICE,
      hint: 'Add spec, and schema for rest, mcp and embedded; version 2026-01-23 asks platforms for an endpoint too.',
      hint_by_case: true,
      good: {
        transport: 'rest',
        spec: 'https://ucp.dev/2026-04-08/specification/overview',
        schema: 'https://ucp.dev/2026-04-08/services/shopping/rest.openapi.json',
      },
      bad: { transport: 'rest' },
    },
    ({ error }, view) => {
      const { bindings, entities, is_platform, first, context } = view
      for (const { place, transport } of bindings) {
        const isAsked = transport !== null && transport !== 'a2a' && (first || is_platform)
        if (isAsked) needText(error, place.get('schema'))
        else optionalText(error, place.get('schema'))
        const isCalled = transport === 'rest' || transport === 'mcp'
        if (is_platform && isCalled && context.version === '2026-01-23') needText(error, place.get('endpoint'))
      }
      for (const { place } of entities.filter(({ registry }) => registry === 'services')) {
        if (first || is_platform) needText(error, place.get('spec'))
        else optionalText(error, place.get('spec'))
        optional(error, place.get('config'), 'object')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-011',
      severity: 'both',
      types: PROFILES,
      why: 'Paths of the interface are appended to the endpoint, so it must be whole, safe, and without a slash at its end.',
      spec: ENDPOINT,
      hint: 'Send an absolute https URL without user name and without a trailing slash.',
      good: { endpoint: 'https://shop.example.com/ucp' },
      bad: { endpoint: '{{ENDPOINT}}' },
    },
    ({ error, warning }, { bindings }) => {
      for (const { place } of bindings) {
        const endpoint = place.get('endpoint')
        const text = endpoint.text()
        const fault = text === null ? null : httpsFault(text)
        if (fault !== null) error(endpoint, fault, { expected: 'an absolute https URL' })
        else if (text !== null && text.endsWith('/')) warning(endpoint, 'ends with a slash, and paths are appended to it')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-012',
      severity: 'warning',
      types: PROFILES,
      why: 'A published profile is read by strangers, who do not reach such a host.',
      spec: ENDPOINT,
      hint: 'Publish the public host name.',
      good: { endpoint: 'https://shop.example.com/ucp' },
      bad: { endpoint: 'https://localhost:8182/ucp' },
    },
    ({ warning }, { bindings }) => {
      for (const { place } of bindings) {
        const endpoint = place.get('endpoint')
        const url = readUrl(endpoint.text())
        const reach = url === null ? null : privateHost(url)
        if (reach !== null) warning(endpoint, `is at ${REACH_WORDS[reach]}`, { expected: 'a public host name' })
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-013',
      severity: 'both',
      why: 'Each side fetches the schema of a capability before it composes requests.',
      spec: ucpSpec('overview', 'Capability Definition'),
      hint: 'Add the URLs spec and schema.',
      hint_by_case: true,
      good: {
        spec: 'https://ucp.dev/2026-04-08/specification/checkout',
        schema: 'https://ucp.dev/2026-04-08/schemas/shopping/checkout.json',
      },
      bad: { version: '2026-04-08' },
    },
    ({ error, warning }, view) => {
      const { entities, is_profile, is_platform, first, newest, context } = view
      for (const { place } of entities.filter(isCapability)) {
        const [spec, schema] = [place.get('spec'), place.get('schema')]
        if (is_profile && (is_platform || first)) needText(error, spec)
        else optionalText(error, spec)
        if (is_profile && (is_platform || first || newest)) needText(error, schema)
        else if (is_profile && !schema.present && context.atLeast('2026-04-08'))
          warning(schema, 'is missing', { expected: 'the URL of its JSON Schema' })
        else optionalText(error, schema)
        optional(error, place.get('config'), 'object')
      }
    },
  ),
]

const REACH_WORDS = { localhost: 'the own machine', ip_address: 'an IP address', local_name: 'a private name' } as const
