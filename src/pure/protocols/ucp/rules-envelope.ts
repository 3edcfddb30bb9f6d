import { isDate, isReverseDomain } from '../kit/dates.ts'
import {
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectTextIfPresent,
  expectItems,
  expectArrayIfPresent,
  expectString,
} from '../kit/expect.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding, FindingReporter } from '../protocol.ts'
import {
  PROFILES,
  TRANSPORTS,
  registryCursor,
  type Registry,
  type UcpVersion,
  type UcpView,
  ucpSpec,
  isCapability,
  type UcpEntity,
} from './view.ts'
import { describeHttpsFault, classifyPrivateHost, readUrl, describeUriFault } from '../kit/url.ts'

const REGISTRIES: readonly Registry[] = ['services', 'capabilities', 'payment_handlers']

const SERVICE = ucpSpec('overview', 'Service Definition')
const ENDPOINT = ucpSpec('overview', 'Endpoint Resolution')
const BINDING = ucpSpec('overview', 'Spec URL Binding')

export const UCP_ENVELOPE_RULES: RuleTable<UcpView> = {
  // UCP-001…008: the object `ucp` and its registries.
  'UCP-001': {
    why: 'Version, services, capabilities and the outcome all hang from the object ucp.',
    spec: ucpSpec('overview', 'Profile Structure'),
    hint: 'Send a JSON object with the object ucp in it.',
    good: { ucp: { version: '2026-04-08' } },
    bad: { ucp: '2026-04-08' },
    check({ error }, { body, ucp }) {
      if (expectTypeIfPresent(error, body, 'object')) expectType(error, ucp, 'object')
      // An error response is sent instead of the resource.
      const isResource = ['line_items', 'products'].some((name) => body.has(name))
      if (ucp.text('status') === 'error' && isResource)
        error(ucp.get('status'), 'is error although the response has the resource', {
          expected: 'success, or an error response without the resource',
        })
    },
  },
  'UCP-002': {
    why: 'Both sides choose their rules by this date; words such as draft or latest choose nothing.',
    spec: ucpSpec('overview', 'Protocol Version'),
    hint: 'Send the date of the specification, such as 2026-04-08.',
    good: { ucp: { version: '2026-04-08' } },
    bad: { ucp: { version: 'draft' } },
    check({ error }, { ucp }) {
      if (ucp.kind === 'object') expectDate(error, ucp.get('version'))
    },
  },
  'UCP-003': {
    severity: 'warning',
    why: 'The version is none whose rules are known here, so newer or other rules may apply.',
    spec: ucpSpec('overview', 'Protocol Version'),
    hint: 'Compare the date with the published versions; findings follow the nearest known one.',
    good: { ucp: { version: '2026-04-08' } },
    bad: { ucp: { version: '2027-01-01' } },
    check({ warning }, { context, ucp }) {
      if (context.declared !== undefined)
        warning(ucp.get('version'), 'is a version without rules here', { expected: 'a published version' })
    },
  },
  'UCP-004': {
    severity: 'both',
    why: 'Version 2026-01-11 keeps capabilities in an array and one object a service; later ones map names to arrays.',
    spec: ucpSpec('overview', 'Profile Structure'),
    hint: 'Move the registries to the shape of the version that the document declares.',
    good: { ucp: { version: '2026-04-08', capabilities: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }] } } },
    bad: { ucp: { version: '2026-04-08', capabilities: [{ name: 'dev.ucp.shopping.checkout' }] } },
    check({ error, warning }, { body, context, is_first_version, is_profile }) {
      // Errors on the pages of the specification list capabilities in the old shape still; nothing is negotiated by them.
      const report = context.type === 'error' ? warning : error
      if (is_first_version && is_profile) expectTypeIfPresent(error, body.get('payment'), 'object')
      // Published answers of the first version have maps of lists too, which its schemas allow as well as the list.
      if (is_first_version) checkFirstShapes({ error: report, warning: is_profile ? report : warning }, body)
      else for (const registry of REGISTRIES) expectMapOfArrays(report, body.get('ucp', registry))
    },
  },
  'UCP-005': {
    types: PROFILES,
    why: 'A profile that lacks a registry is refused, even when it would be empty.',
    spec: ucpSpec('overview', 'Profile Structure'),
    hint: 'Add the registry; it may be an empty object where there is nothing to list.',
    good: { ucp: { version: '2026-04-08', services: {}, payment_handlers: {} } },
    bad: { ucp: { version: '2026-04-08' } },
    check({ error }, { ucp, is_first_version }) {
      if (ucp.kind !== 'object') return
      for (const name of ['services', is_first_version ? 'capabilities' : 'payment_handlers'])
        if (!ucp.has(name))
          error(ucp.get(name), 'is missing', { expected: is_first_version && name === 'capabilities' ? 'an array' : 'an object' })
    },
  },
  'UCP-006': {
    why: 'Names are matched between both parties, and say whose domain governs them.',
    spec: ucpSpec('overview', 'Naming Convention'),
    hint: 'Use the reversed domain in lower case, then the service and the capability.',
    good: { name: 'com.example.payments.installments' },
    bad: { name: 'Example_Payments' },
    check({ error }, { body, entities, is_first_version, is_newest_version }) {
      const expected = 'a reversed domain name such as com.example.shopping.loyalty'
      for (const registry of REGISTRIES) {
        for (const cursor of is_first_version ? [] : body.members('ucp', registry))
          if (!isReverseDomain(cursor.key, { hyphens: is_newest_version }))
            error(cursor, 'has a name that is not a reversed domain name', { expected })
      }
      for (const { registry, name_cursor, name } of is_first_version ? entities : []) {
        if (registry !== 'services' && expectText(error, name_cursor) === null) continue
        if (name !== null && !isReverseDomain(name, { hyphens: false })) error(name_cursor, 'is not a reversed domain name', { expected })
      }
    },
  },
  'UCP-007': {
    why: 'Negotiation picks the newest version that both sides have of each entity.',
    spec: ucpSpec('overview', 'Capability Definition'),
    hint: 'Give every service, capability and payment handler its version, such as 2026-04-08.',
    good: { version: '2026-04-08' },
    bad: { version: '1.0' },
    check({ error }, { entities }) {
      for (const { cursor } of entities) expectDate(error, cursor.get('version'))
    },
  },
  'UCP-008': {
    since: '2026-01-23',
    why: 'A service cannot be called over an undefined transport.',
    spec: ucpSpec('overview', 'Service Definition'),
    hint: 'Use rest, mcp, a2a or embedded.',
    good: { transport: 'rest' },
    bad: { transport: 'graphql' },
    check({ error }, { bindings }) {
      for (const { cursor } of bindings)
        if (expectType(error, cursor.get('transport'), 'string')) expectOneOf(error, cursor.get('transport'), TRANSPORTS)
    },
  },
  // UCP-009…013: endpoints of services, and URLs that describe entities.
  'UCP-009': {
    types: PROFILES,
    why: 'A service without an endpoint cannot be called.',
    spec: SERVICE,
    hint: 'Add the endpoint of each rest, mcp and a2a transport.',
    good: { transport: 'rest', endpoint: 'https://shop.example.com/ucp' },
    bad: { transport: 'rest' },
    check({ error }, { bindings, is_platform, is_first_version }) {
      for (const { cursor, transport } of bindings) {
        const endpoint = cursor.get('endpoint')
        const isAsked = transport !== null && transport !== 'embedded' && (is_first_version || !is_platform)
        if (isAsked) expectType(error, endpoint, 'string')
        else expectTypeIfPresent(error, endpoint, 'string')
      }
    },
  },
  'UCP-010': {
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
    check({ error }, view) {
      const { bindings, entities, is_platform, is_first_version, context } = view
      for (const { cursor, transport } of bindings) {
        const isAsked = transport !== null && transport !== 'a2a' && (is_first_version || is_platform)
        if (isAsked) expectText(error, cursor.get('schema'))
        else expectTextIfPresent(error, cursor.get('schema'))
        const isCalled = transport === 'rest' || transport === 'mcp'
        if (is_platform && isCalled && context.version === '2026-01-23') expectText(error, cursor.get('endpoint'))
      }
      for (const { cursor } of entities.filter(({ registry }) => registry === 'services')) {
        if (is_first_version || is_platform) expectText(error, cursor.get('spec'))
        else expectTextIfPresent(error, cursor.get('spec'))
        expectTypeIfPresent(error, cursor.get('config'), 'object')
      }
    },
  },
  'UCP-011': {
    severity: 'both',
    types: PROFILES,
    why: 'Paths of the interface are appended to the endpoint, so it must be whole, safe, and without a slash at its end.',
    spec: ENDPOINT,
    hint: 'Send an absolute https URL without user name and without a trailing slash.',
    good: { endpoint: 'https://shop.example.com/ucp' },
    bad: { endpoint: '{{ENDPOINT}}' },
    check({ error, warning }, { bindings }) {
      for (const { cursor } of bindings) {
        const endpoint = cursor.get('endpoint')
        const text = endpoint.text()
        const fault = text === null ? null : describeHttpsFault(text)
        if (fault !== null) error(endpoint, fault, { expected: 'an absolute https URL' })
        else if (text !== null && text.endsWith('/')) warning(endpoint, 'ends with a slash, and paths are appended to it')
      }
    },
  },
  'UCP-012': {
    severity: 'warning',
    types: PROFILES,
    why: 'A profile is public, and its readers cannot reach such a host.',
    spec: ENDPOINT,
    hint: 'Publish the public host name.',
    good: { endpoint: 'https://shop.example.com/ucp' },
    bad: { endpoint: 'https://localhost:8182/ucp' },
    check({ warning }, { bindings }) {
      for (const { cursor } of bindings) {
        const endpoint = cursor.get('endpoint')
        const url = readUrl(endpoint.text())
        const reach = url === null ? null : classifyPrivateHost(url)
        if (reach !== null) warning(endpoint, `is at ${REACH_WORDS[reach]}`, { expected: 'a public host name' })
      }
    },
  },
  'UCP-013': {
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
    check({ error, warning }, view) {
      const { entities, is_profile, is_platform, is_first_version, is_newest_version, context } = view
      for (const { cursor } of entities.filter(isCapability)) {
        const [spec, schema] = [cursor.get('spec'), cursor.get('schema')]
        if (is_profile && (is_platform || is_first_version)) expectText(error, spec)
        else expectTextIfPresent(error, spec)
        if (is_profile && (is_platform || is_first_version || is_newest_version)) expectText(error, schema)
        else if (is_profile && !schema.present && context.atLeast('2026-04-08'))
          warning(schema, 'is missing', { expected: 'the URL of its JSON Schema' })
        else expectTextIfPresent(error, schema)
        expectTypeIfPresent(error, cursor.get('config'), 'object')
      }
    },
  },
  // UCP-014…018: names and their domains, and consistency of registries.
  'UCP-014': {
    severity: 'both',
    why: 'The owner of the domain in a name controls its schema; a schema from another host can redefine what is paid.',
    spec: BINDING,
    hint: 'Serve the schema by https from the domain whose reversed labels the name starts with.',
    good: { 'com.example.pay': [{ schema: 'https://example.com/pay.json' }] },
    bad: { 'com.example.pay': [{ schema: 'https://cdn.example.com/pay.json' }] },
    check({ error, warning }, view) {
      for (const { cursor, entity } of listSchemas(view)) {
        const [text, { name }] = [cursor.text(), entity]
        if (text === null || name === null || text.trim() === '' || !isReverseDomain(name, { hyphens: view.is_newest_version })) continue
        const fault = describeAuthorityFault(text, name)
        const isStrict = view.is_newest_version || isCapability(entity) || describeUriFault(text) !== null
        if (fault !== null) (isStrict ? error : warning)(cursor, fault, { expected: 'an https URL of the domain in the name' })
      }
    },
  },
  'UCP-015': {
    why: 'People and agents read there what a name means.',
    spec: BINDING,
    hint: 'Use an https URL; before 2026-08-25 it must be of the domain that the name reverses.',
    good: { 'dev.ucp.shopping.checkout': [{ spec: 'https://ucp.dev/2026-04-08/specification/checkout' }] },
    bad: { 'dev.ucp.shopping.checkout': [{ spec: 'https://example.com/checkout' }] },
    check({ error }, { entities, is_newest_version }) {
      for (const { cursor, name, registry } of entities) {
        const spec = cursor.get('spec')
        const text = spec.text()
        if (text === null || text.trim() === '') continue
        // Published examples describe payment handlers elsewhere than at the domain in their name.
        const isBound = !is_newest_version && registry !== 'payment_handlers' && name !== null && isReverseDomain(name, { hyphens: false })
        const fault = isBound ? describeAuthorityFault(text, name) : /^https:\/\/[^\s/]/i.test(text) ? null : 'is not an https URL'
        if (fault !== null) error(spec, fault, { expected: 'an https URL' })
      }
    },
  },
  'UCP-016': {
    severity: 'warning',
    why: 'Names under dev.ucp are reserved; one that no specification defines is mostly a typing error, and matches nothing.',
    spec: ucpSpec('overview', 'Governance Model'),
    hint: 'Compare with the names of that version, or use a domain of your own.',
    good: { 'dev.ucp.shopping.checkout': [] },
    bad: { 'dev.ucp.shopping.checkuot': [] },
    check({ warning }, { entities, context }) {
      const said = new Set<string>()
      for (const { registry, name, name_cursor } of entities) {
        if (registry === 'payment_handlers' || name === null || said.has(name)) continue
        said.add(name)
        if (isUnknownReserved(name, context.version)) warning(name_cursor, 'is a reserved name that this version does not define')
      }
    },
  },
  'UCP-017': {
    severity: 'both',
    why: 'An extension without a parent in the same profile is dropped at negotiation.',
    spec: ucpSpec('overview', 'Extensions'),
    hint: 'Name a capability of the profile, or since 2026-04-08 an array of such names.',
    good: { extends: 'dev.ucp.shopping.checkout' },
    bad: { extends: [] },
    check(report, view) {
      const names = new Set(view.entities.filter(isCapability).map(({ name }) => name))
      for (const { cursor } of view.entities.filter(isCapability)) checkExtension(report, view, cursor.get('extends'), names)
    },
  },
  'UCP-018': {
    severity: 'both',
    why: 'Of two entries for the same thing, each reader takes another one.',
    spec: ucpSpec('overview', 'Intersection Algorithm'),
    hint: 'Keep one entry for each version, and one for each transport, version and endpoint.',
    good: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }, { version: '2026-01-23' }] },
    bad: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }, { version: '2026-04-08' }] },
    check({ error, warning }, { entities, is_first_version }) {
      const repeated = (
        report: ReportFinding,
        list: readonly UcpEntity[],
        keyOf: (cursor: JsonCursor) => (string | null)[],
        words: string,
      ) => {
        const seen = new Set<string>()
        for (const { cursor, name } of list) {
          const parts = keyOf(cursor)
          if (name === null || parts.some((part) => part === null)) continue
          const key = JSON.stringify([name, ...parts])
          if (seen.has(key)) report(cursor, words)
          seen.add(key)
        }
      }
      repeated(
        error,
        entities.filter(isCapability),
        (cursor) => [cursor.text('version')],
        'declares a version of this capability a second time',
      )
      const services = is_first_version ? [] : entities.filter(({ registry }) => registry === 'services')
      const binding = (cursor: JsonCursor) => [cursor.text('transport'), cursor.text('version'), cursor.text('endpoint') ?? '']
      repeated(warning, services, binding, 'repeats transport, version and endpoint of this service')
    },
  },
}

function expectDate(error: ReportFinding, cursor: JsonCursor): void {
  const text = expectString(error, cursor)
  if (text !== null && !isDate(text)) error(cursor, 'is not a calendar date', { expected: 'a date as YYYY-MM-DD' })
}

function checkFirstShapes({ error, warning }: FindingReporter, body: JsonCursor): void {
  for (const registry of ['capabilities', 'payment_handlers'] as const) {
    const list = registryCursor(body, registry, true)
    if (list.kind === 'object' && list.members().every(({ kind }) => kind === 'array'))
      warning(list, 'is a map of the versions after 2026-01-11', { expected: 'an array' })
    else expectArrayIfPresent(error, list, 'object')
  }
  const services = body.get('ucp', 'services')
  expectTypeIfPresent(error, services, 'object')
  for (const service of services.members()) {
    expectTypeIfPresent(error, service, 'object')
    for (const transport of TRANSPORTS) expectTypeIfPresent(error, service.get(transport), 'object')
  }
}

function expectMapOfArrays(error: ReportFinding, registry: JsonCursor): void {
  expectTypeIfPresent(error, registry, 'object')
  for (const name of registry.members()) {
    expectArrayIfPresent(error, name, 'object')
  }
}

const REACH_WORDS = { localhost: 'the own machine', ip_address: 'an IP address', local_name: 'a private name' } as const

/** Every `schema` URL with the entity whose name must match its host. */
function listSchemas({ entities, bindings, is_first_version }: UcpView): { cursor: JsonCursor; entity: UcpEntity }[] {
  return [
    ...entities.map((entity) => ({ cursor: entity.cursor.get('schema'), entity })),
    ...(is_first_version ? bindings.map(({ cursor, entity }) => ({ cursor: cursor.get('schema'), entity })) : []),
  ]
}

function checkExtension({ error, warning }: FindingReporter, view: UcpView, cursor: JsonCursor, names: ReadonlySet<string | null>): void {
  if (!cursor.present) return
  const isList = cursor.kind === 'array' && view.context.atLeast('2026-04-08')
  if (!isList && !expectTypeIfPresent(error, cursor, 'string')) return
  const parents = isList ? expectItems(error, cursor) : [cursor]
  const grammar = { hyphens: view.is_newest_version }
  for (const parent of parents) {
    if (parent !== cursor) expectTypeIfPresent(error, parent, 'string')
    const text = parent.text()
    if (text !== null && !isReverseDomain(text, grammar))
      error(parent, 'is not a reversed domain name', { expected: 'the name of a capability' })
  }
  const isReadable = parents.length > 0 && parents.every((parent) => isReverseDomain(parent.text() ?? '', grammar))
  if (view.is_profile && isReadable && !parents.some((parent) => names.has(parent.text())))
    warning(cursor, 'names no capability of this profile')
}

/**
 * Names under `dev.ucp` that the published specifications of each version use (ucp.dev, read 2026-11-21). Those of 2026-08-25 were read three
 * days before its cut, so the list is generous there.
 */
const FIRST = [
  'dev.ucp.shopping',
  'dev.ucp.shopping.checkout',
  'dev.ucp.shopping.order',
  'dev.ucp.shopping.fulfillment',
  'dev.ucp.shopping.discount',
  'dev.ucp.shopping.buyer_consent',
  'dev.ucp.shopping.ap2_mandate',
  'dev.ucp.common.identity_linking',
]
const SINCE_04 = [
  'dev.ucp.shopping.cart',
  'dev.ucp.shopping.catalog.search',
  'dev.ucp.shopping.catalog.lookup',
  'dev.ucp.shopping.permalink',
  'dev.ucp.common.loyalty',
]
const SINCE_08 = [
  'dev.ucp.common',
  'dev.ucp.common.location.search',
  'dev.ucp.common.location.lookup',
  'dev.ucp.common.ap2_mandate',
  'dev.ucp.common.payment.ap2_mandate',
  'dev.ucp.common.payment.authentication',
  'dev.ucp.common.payment.split_payments',
  'dev.ucp.common.payment.terms',
]

const ALL_04: ReadonlySet<string> = new Set([...FIRST, ...SINCE_04])
const BY_VERSION: Readonly<Record<UcpVersion, ReadonlySet<string>>> = {
  '2026-01-11': new Set(FIRST),
  '2026-01-23': new Set(FIRST),
  '2026-04-08': ALL_04,
  '2026-08-25': new Set([...ALL_04, ...SINCE_08]),
}
const KNOWN = new Map(Object.entries(BY_VERSION))

/** Returns whether a name is in the reserved namespace and not used by that version. */
function isUnknownReserved(name: string, version: string): boolean {
  return /^dev\.ucp(?:\.|$)/.test(name) && KNOWN.get(version)?.has(name) === false
}

/**
 * Why the host of a URL has no authority over a name; null when it has. The labels of the host, last one first, must be the first labels of
 * the name: ucp.dev speaks for dev.ucp.shopping, cdn.example.com does not speak for com.example.pay.
 */
function describeAuthorityFault(text: string, name: string): string | null {
  const url = readUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'is not an https URL'
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  const labels = url.hostname.toLowerCase().split('.').toReversed()
  const isDomain = labels.length >= 2 && labels.every((label) => /^[a-z0-9_-]+$/.test(label)) && !/^[0-9]+$/.test(labels[0] ?? '')
  if (!isDomain || labels[0] === 'localhost') return 'is not at a domain name'
  const parts = name.split('.')
  return labels.every((label, index) => parts[index] === label) ? null : 'is at a host that the name does not start with'
}
