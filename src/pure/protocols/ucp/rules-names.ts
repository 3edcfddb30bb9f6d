import { needItems, optional } from '../kit/expect.ts'
import { isReverseDomain } from '../kit/versions.ts'
import { uriFault } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { authorityFault, isUnknownReserved } from './names.ts'
import { ucpSpec } from './spec.ts'
import { isCapability, type Entity, type UcpView } from './view.ts'

const BINDING = ucpSpec('overview', 'Spec URL Binding')

/** UCP-014…018: what names bind, and how entities of a registry go together. */
export const NAME_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-014',
      severity: 'both',
      why: 'Whoever owns the domain in a name decides on its schema; a schema from elsewhere can redefine what is paid.',
      spec: BINDING,
      hint: 'Serve the schema by https from the domain whose reversed labels the name starts with.',
      good: { 'com.example.pay': [{ schema: 'https://example.com/pay.json' }] },
      bad: { 'com.example.pay': [{ schema: 'https://cdn.example.com/pay.json' }] },
    },
    ({ error, warning }, view) => {
      for (const { place, entity } of schemasOf(view)) {
        const [text, { name }] = [place.text(), entity]
        if (text === null || name === null || text.trim() === '' || !isReverseDomain(name, { hyphens: view.newest })) continue
        const fault = authorityFault(text, name)
        const isStrict = view.newest || isCapability(entity) || uriFault(text) !== null
        if (fault !== null) (isStrict ? error : warning)(place, fault, { expected: 'an https URL of the domain in the name' })
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-015',
      severity: 'error',
      why: 'People and agents read there what a name means.',
      spec: BINDING,
      hint: 'Use an https URL; before 2026-08-25 it must be of the domain that the name reverses.',
      good: { 'dev.ucp.shopping.checkout': [{ spec: 'https://ucp.dev/2026-04-08/specification/checkout' }] },
      bad: { 'dev.ucp.shopping.checkout': [{ spec: 'https://example.com/checkout' }] },
    },
    ({ error }, { entities, newest }) => {
      for (const { place, name, registry } of entities) {
        const spec = place.get('spec')
        const text = spec.text()
        if (text === null || text.trim() === '') continue
        // Published examples describe payment handlers elsewhere than at the domain in their name.
        const isBound = !newest && registry !== 'payment_handlers' && name !== null && isReverseDomain(name, { hyphens: false })
        const fault = isBound ? authorityFault(text, name) : /^https:\/\/[^\s/]/i.test(text) ? null : 'is not an https URL'
        if (fault !== null) error(spec, fault, { expected: 'an https URL' })
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-016',
      severity: 'warning',
      why: 'Names under dev.ucp are reserved; one that no specification defines is mostly a typing error, and matches nothing.',
      spec: ucpSpec('overview', 'Governance Model'),
      hint: 'Compare with the names of that version, or use a domain of your own.',
      good: { 'dev.ucp.shopping.checkout': [] },
      bad: { 'dev.ucp.shopping.checkuot': [] },
    },
    ({ warning }, { entities, context }) => {
      const said = new Set<string>()
      for (const { registry, name, name_place } of entities) {
        if (registry === 'payment_handlers' || name === null || said.has(name)) continue
        said.add(name)
        if (isUnknownReserved(name, context.version)) warning(name_place, 'is a reserved name that this version does not define')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-017',
      severity: 'both',
      why: 'An extension without a parent in the same profile is dropped at negotiation.',
      spec: ucpSpec('overview', 'Extensions'),
      hint: 'Name a capability of the profile, or since 2026-04-08 an array of such names.',
      good: { extends: 'dev.ucp.shopping.checkout' },
      bad: { extends: [] },
    },
    (report, view) => {
      const names = new Set(view.entities.filter(isCapability).map(({ name }) => name))
      for (const { place } of view.entities.filter(isCapability)) extension(report, view, place.get('extends'), names)
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-018',
      severity: 'both',
      why: 'Of two entries for the same thing, each reader takes another one.',
      spec: ucpSpec('overview', 'Intersection Algorithm'),
      hint: 'Keep one entry for each version, and one for each transport, version and endpoint.',
      good: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }, { version: '2026-01-23' }] },
      bad: { 'dev.ucp.shopping.checkout': [{ version: '2026-04-08' }, { version: '2026-04-08' }] },
    },
    ({ error, warning }, { entities, first }) => {
      const repeated = (say: Say, list: readonly Entity[], keyOf: (place: Place) => (string | null)[], words: string) => {
        const seen = new Set<string>()
        for (const { place, name } of list) {
          const parts = keyOf(place)
          if (name === null || parts.some((part) => part === null)) continue
          const key = JSON.stringify([name, ...parts])
          if (seen.has(key)) say(place, words)
          seen.add(key)
        }
      }
      repeated(
        error,
        entities.filter(isCapability),
        (place) => [place.get('version').text()],
        'declares a version of this capability a second time',
      )
      const services = first ? [] : entities.filter(({ registry }) => registry === 'services')
      const binding = (place: Place) => [place.get('transport').text(), place.get('version').text(), place.get('endpoint').text() ?? '']
      repeated(warning, services, binding, 'repeats transport, version and endpoint of this service')
    },
  ),
]

/** Every `schema` with the entity whose name must stand for it. */
function schemasOf({ entities, bindings, first }: UcpView): { place: Place; entity: Entity }[] {
  return [
    ...entities.map((entity) => ({ place: entity.place.get('schema'), entity })),
    ...(first ? bindings.map(({ place, entity }) => ({ place: place.get('schema'), entity })) : []),
  ]
}

function extension({ error, warning }: Report, view: UcpView, place: Place, names: ReadonlySet<string | null>): void {
  if (!place.present) return
  const isList = place.kind === 'array' && view.context.atLeast('2026-04-08')
  if (!isList && !optional(error, place, 'string')) return
  const parents = isList ? needItems(error, place) : [place]
  const grammar = { hyphens: view.newest }
  for (const parent of parents) {
    if (parent !== place) optional(error, parent, 'string')
    const text = parent.text()
    if (text !== null && !isReverseDomain(text, grammar))
      error(parent, 'is no reversed domain name', { expected: 'the name of a capability' })
  }
  const isReadable = parents.length > 0 && parents.every((parent) => isReverseDomain(parent.text() ?? '', grammar))
  if (view.is_profile && isReadable && !parents.some((parent) => names.has(parent.text())))
    warning(place, 'names no capability of this profile')
}
