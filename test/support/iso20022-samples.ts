/** Random messages that a schema takes, made from the schema itself, and mutants of them. */
import { XmlDocument, XmlElement } from 'libxml2-wasm'
import type { Random } from '../fuzz/random.ts'
import { schemaText } from './iso20022-oracle.ts'

/** An element of a sample. It has children or a text. */
export interface Sample {
  name: string
  attributes: string
  children: Sample[]
  text: string
}

interface Particle {
  kind: string
  name: string
  type: string
  min: number
  max: number
  items: Particle[]
}

type SchemaType = { kind: 'complex'; items: Particle[] } | { kind: 'simple'; base: string; facets: [string, string][]; priced: boolean }

export type SchemaTypes = ReadonlyMap<string, SchemaType>

function elements(of: XmlElement): XmlElement[] {
  const found: XmlElement[] = []
  for (let node = of.firstChild; node !== null; node = node.next) if (node instanceof XmlElement) found.push(node)
  return found
}

function attribute(of: XmlElement, name: string): string {
  return of.attr(name)?.value ?? ''
}

function particle(of: XmlElement): Particle {
  const [min, max] = [attribute(of, 'minOccurs'), attribute(of, 'maxOccurs')]
  return {
    kind: of.name,
    name: attribute(of, 'name'),
    type: attribute(of, 'type'),
    min: min === '' ? 1 : Number(min),
    max: max === '' ? 1 : max === 'unbounded' ? 3 : Number(max),
    items: of.name === 'element' ? [] : elements(of).map(particle),
  }
}

/** The types of a schema by name. */
export function schemaTypes(name: string): SchemaTypes {
  const document = XmlDocument.fromString(schemaText(name))
  const types = new Map<string, SchemaType>()
  for (const one of elements(document.root)) {
    const [inner] = elements(one)
    if (inner === undefined) continue
    const key = attribute(one, 'name')
    if (inner.name === 'simpleContent') {
      const base = elements(inner).map((extension) => attribute(extension, 'base'))[0] ?? ''
      types.set(key, { kind: 'simple', base, facets: [], priced: true })
    } else if (one.name === 'simpleType') {
      const facets = elements(inner).map((facet): [string, string] => [facet.name, attribute(facet, 'value')])
      types.set(key, { kind: 'simple', base: attribute(inner, 'base'), facets, priced: false })
    } else types.set(key, { kind: 'complex', items: elements(one).map(particle) })
  }
  document.dispose()
  return types
}

/** Texts by pattern, each right for our checks of digits too. */
const BY_PATTERN: readonly (readonly [test: RegExp, text: string])[] = [
  [/^\[A-Z\]\{2,2\}\[0-9\]\{2,2\}\[a-zA-Z0-9\]/, 'DE89370400440532013000'],
  [/\[A-Z\]\{2,2\}\[A-Z0-9\]\{2,2\}|\[A-Z\]\{6,6\}/, 'COBADEFFXXX'],
  [/^\[A-Z0-9\]\{18,18\}/, '5493001KJTIIGC8Y1R12'],
  [/^\[a-f0-9\]\{8\}/, '8a562c67-ca16-48ba-b074-65581be6f001'],
  [/^\[A-Z\]\{3,3\}$/, 'EUR'],
  [/^\[A-Z\]\{2,2\}$/, 'DE'],
  [/^\\\+\[0-9\]/, '+49-301234567'],
  [/^\[a-zA-Z0-9\]\{4\}$/, 'Ab12'],
  [/^\[a-z\]\{2,2\}$/, 'de'],
  [/^\[A-Z0-9\]\{12/, 'DE0005140008'],
  [/^\[A-Z\]\{2,2\}\[A-Z0-9\]\{9/, 'DE0005140008'],
  [/^\(\[0-9A-F\]/, 'AB'.repeat(32)],
  [/^\[0-9a-fA-F\]\+/, 'ab12'],
  [/^\[0-9\]\{8,28\}/, '12345678'],
  [/^\[0-9\](?:\{2,3\}|\{3\}|\{3,4\})/, '123'],
  [/^\[0-9\]\{2\}$/, '12'],
  [/^\[0-9\](?:\{1,\d+\})?$/, '1'],
]

const BY_BASE: Readonly<Record<string, string>> = {
  'xs:date': '2026-11-21',
  'xs:dateTime': '2026-11-21T10:00:00+01:00',
  'xs:time': '10:00:00Z',
  'xs:boolean': 'true',
  'xs:decimal': '12',
  'xs:gYear': '2026',
  'xs:gYearMonth': '2026-11',
  'xs:base64Binary': 'QUJD',
}

function textOf(type: Extract<SchemaType, { kind: 'simple' }>, random: Random): string {
  const codes = type.facets.flatMap(([facet, value]) => (facet === 'enumeration' ? [value] : []))
  if (codes.length > 0) return random.pick(codes)
  const pattern = type.facets.find(([facet]) => facet === 'pattern')?.[1]
  if (pattern !== undefined) return BY_PATTERN.find(([test]) => test.test(pattern))?.[1] ?? fittingText(pattern)
  const most = Number(type.facets.find(([facet]) => facet === 'maxLength')?.[1] ?? '4')
  return BY_BASE[type.base] ?? 'Text of a value'.slice(0, Math.min(most, 1 + random.below(15))).trim()
}

/** A text by a pattern of upper-case letters and classes with a repetition, such as AU[0-9]{6,6}. */
function fittingText(pattern: string): string {
  return pattern.replaceAll(/\[(.)[^\]]*\](?:\{(\d+)(?:,\d+)?\})?/g, (_part, first: string, least: string | undefined) =>
    first.repeat(Number(least ?? '1')),
  )
}

/** Deeper than this only what is required is made. */
const OPTIONAL_DEPTH = 14

/** A random element of a type. `share` is how often an element is there that need not be. */
export function sampleOf(types: SchemaTypes, name: string, type_name: string, random: Random, share: number, depth = 0): Sample {
  const sample: Sample = { name, attributes: '', children: [], text: '' }
  const type = types.get(type_name)
  if (type?.kind === 'simple') {
    if (type.priced) sample.attributes = ' Ccy="EUR"'
    sample.text = textOf(type.priced ? { ...type, base: 'xs:decimal' } : type, random)
  } else if (type !== undefined) {
    for (const item of type.items) fill(item)
  }
  return sample

  function fill(item: Particle): void {
    const wanted = depth < OPTIONAL_DEPTH && random.chance(share)
    const times = Math.max(item.min, wanted ? Math.min(item.max, 1 + (random.chance(0.2) ? 1 : 0)) : 0)
    for (let time = 0; time < times; time++) {
      if (item.kind === 'element') sample.children.push(sampleOf(types, item.name, item.type, random, share, depth + 1))
      else if (item.kind === 'any') sample.children.push({ name: 'Any', attributes: '', children: [], text: 'a' })
      else if (item.kind === 'choice') fill(random.pick(item.items))
      else for (const inner of item.items) fill(inner)
    }
  }
}

export function written({ name, attributes, children, text }: Sample): string {
  return `<${name}${attributes}>${escaped(text)}${children.map(written).join('')}</${name}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Every element with its parent, but for Envlp and what stands inside, which the tool names as not checked. */
function placesOf(sample: Sample, found: { parent: Sample; at: number }[] = []): { parent: Sample; at: number }[] {
  sample.children.forEach((child, at) => {
    if (child.name === 'Envlp') return
    found.push({ parent: sample, at })
    placesOf(child, found)
  })
  return found
}

const TEXTS = [
  '',
  ' ',
  'x',
  '-1',
  '0',
  '1.123456',
  '1e5',
  '99:99:99',
  '2026-02-30',
  '2026-11-21T25:00:00',
  'ZZZZ',
  'zz',
  'DE',
  '12345678901234567890',
]
const ATTRIBUTES = [
  ' xml:lang="de"',
  ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"',
  ' a="b"',
  ' xmlns:f="urn:f" f:a="b"',
]

export const MUTATIONS = [
  'delete',
  'repeat',
  'swap',
  'rename',
  'borrow',
  'value',
  'long value',
  'case',
  'attribute',
  'currency',
  'text in elements',
  'element in value',
  'empty',
] as const

/** Changes one place of the sample, or nothing where the mutation does not fit the place. */
export function mutate(sample: Sample, mutation: (typeof MUTATIONS)[number], random: Random): void {
  const places = placesOf(sample)
  const { parent, at } = random.pick(places)
  const child = parent.children[at]
  if (child === undefined || child.name === 'Any') return
  const other = random.pick(places)
  const borrowed = other.parent.children[other.at]
  const is_value = child.children.length === 0
  const changes: Record<(typeof MUTATIONS)[number], () => void> = {
    delete: () => void parent.children.splice(at, 1),
    repeat: () => void parent.children.splice(at, 0, structuredClone(child)),
    swap: () => void parent.children.splice(at, 2, ...parent.children.slice(at, at + 2).toReversed()),
    rename: () => void (child.name = 'Foo'),
    borrow: () => {
      if (borrowed !== undefined) parent.children.splice(at, 0, structuredClone(borrowed))
    },
    value: () => {
      if (is_value) child.text = random.pick(TEXTS)
    },
    'long value': () => {
      if (is_value) child.text = `${child.text}${'a'.repeat(random.pick([1, 3, 40, 300, 3_000]))}`
    },
    case: () => {
      if (is_value) child.text = child.text === child.text.toLowerCase() ? child.text.toUpperCase() : child.text.toLowerCase()
    },
    attribute: () => void (child.attributes += random.pick(ATTRIBUTES)),
    currency: () => void (child.attributes = child.attributes === '' ? ' Ccy="EUR"' : random.pick(['', ' Ccy="eur"', ' Ccy="EURO"'])),
    'text in elements': () => {
      if (!is_value) child.text = 'stray'
    },
    'element in value': () => {
      if (is_value) child.children.push({ name: 'Foo', attributes: '', children: [], text: '' })
    },
    empty: () => {
      child.children = []
      child.text = ''
    },
  }
  changes[mutation]()
}
