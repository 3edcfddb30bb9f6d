/**
 * Rebuilds the structure tables of `data/iso20022/` from message schemas (XSD): `types.json`, the types of all messages, each once, and
 * `messages.json`, the list of messages, which is small enough to load at a start. Sources: the catalogue of www.iso20022.org, and the
 * schemas of communities that restrict it. The grammar of a type is described in `src/pure/documents/iso20022/structure.ts`.
 *
 *   node scripts/iso20022-tables.ts --schemas <folder> --more <folder> --published 2026-04-06 --retrieved 2026-11-28
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linearPattern } from './support/schema-pattern.ts'
import { readSchema, type SchemaNode } from './support/schema-reader.ts'
import { assert, option, tableDates } from './support/table.ts'

const FOLDER = new URL('../data/iso20022/', import.meta.url)
const SOURCE = 'ISO 20022 message schemas; pain.001 and pain.008 of Deutsche Kreditwirtschaft; pain.001 of SIX'

/** Types and values by their name in the tables. Equal names with other content get a number: `PostalAddress6~2`. */
const types = new Map<string, string>()
const values = new Map<string, string>()
const named = new Map<string, string>()

/** Stores the content under its name, and returns the name in the tables. */
function nameFor(table: Map<string, string>, name: string, content: string): string {
  const known = named.get(`${name} ${content}`)
  if (known !== undefined) return known
  let free = name
  for (let number = 2; types.has(free) || values.has(free); number++) free = `${name}~${number}`
  table.set(free, content)
  named.set(`${name} ${content}`, free)
  return free
}

/** Reads one schema into the tables. */
class SchemaTables {
  private readonly nodes: ReadonlyMap<string, SchemaNode>
  private readonly names = new Map<string, string>()
  private readonly open = new Set<string>()

  constructor(schema: SchemaNode) {
    const named_types = schema.children.filter(({ name }) => name === 'complexType' || name === 'simpleType')
    this.nodes = new Map(named_types.map((node) => [node.attributes['name'] ?? '', node]))
  }

  /** The name of a type in the tables; its content is stored there. */
  table(name: string): string {
    const known = this.names.get(name)
    if (known !== undefined) return known
    assert(!this.open.has(name), `${name} contains itself`)
    this.open.add(name)
    const stored = this.store(name)
    this.open.delete(name)
    this.names.set(name, stored)
    return stored
  }

  private store(name: string): string {
    const node = this.nodes.get(name)
    const [inner, another] = node?.children ?? []
    assert(node !== undefined && inner !== undefined && another === undefined, `${name} is not a type with one part`)
    if (node.name === 'simpleType') return nameFor(values, name, this.value(inner))
    if (inner.name === 'simpleContent') return nameFor(values, name, this.amount(inner))
    return nameFor(types, name, this.content(inner))
  }

  private content(part: SchemaNode): string {
    if (part.name === 'choice') return this.choice(part)
    assert(part.name === 'sequence', `a type of ${part.name}`)
    return part.children.map((item) => this.item(item)).join(' ')
  }

  private item(item: SchemaNode): string {
    switch (item.name) {
      case 'choice':
        return this.choice(item)
      case 'any':
        return 'any'
      default:
        return this.element(item)
    }
  }

  private choice(part: SchemaNode): string {
    assert(Object.keys(part.attributes).length === 0, 'a choice with bounds')
    return part.children.map((item) => this.element(item)).join('|')
  }

  private element({ name, attributes }: SchemaNode): string {
    const { minOccurs: min = '1', maxOccurs: max = '1' } = attributes
    assert(name === 'element' && (min === '0' || min === '1'), `${name} with minOccurs ${min}`)
    const many = min === '0' ? '*' : '+'
    const mark = max === '1' ? (min === '0' ? '?' : '') : max === 'unbounded' ? many : `${many}${max}`
    return `${attributes['name']}${mark}=${this.table(attributes['type'] ?? '')}`
  }

  private amount({ children }: SchemaNode): string {
    const [extension] = children
    const [attribute, another] = extension?.children ?? []
    assert(
      attribute?.attributes['name'] === 'Ccy' && attribute.attributes['use'] === 'required' && another === undefined,
      'a value with attributes',
    )
    return `currency ${this.table(attribute.attributes['type'] ?? '')} ${this.table(extension?.attributes['base'] ?? '')}`
  }

  private value(restriction: SchemaNode): string {
    const facets = this.facets(restriction)
    const all = (name: string) => facets.filter((facet) => facet.name === name).map((facet) => facet.value)
    const one = (name: string) => all(name)[0] ?? '-'
    const base = this.base(restriction)
    const codes = all('enumeration')
    const patterns = all('pattern')
    const size = `${one('minLength')} ${one('maxLength')}`
    if (codes.length > 0) return `codes ${codes.join(' ')}`
    assert(patterns.length < 2, 'two patterns')
    if (base === 'decimal') {
      return `decimal ${one('totalDigits')} ${one('fractionDigits')} ${one('minInclusive')} ${one('maxInclusive')}`
    }
    if (base === 'base64Binary') return `base64 ${size}`
    if (base !== 'string') return base
    return patterns.length === 0 ? `text ${size}` : `pattern ${size} ${linearPattern(patterns[0] ?? '')}`
  }

  private base({ attributes }: SchemaNode): string {
    const base = attributes['base'] ?? ''
    if (base.startsWith('xs:')) return base.slice(3)
    const parent = this.nodes.get(base)?.children[0]
    assert(parent !== undefined, `unknown base ${base}`)
    return this.base(parent)
  }

  /** Facets of a restriction, then those of the types that it restricts. */
  private facets({ attributes, children }: SchemaNode): { name: string; value: string }[] {
    const own = children.map((facet) => ({ name: facet.name, value: facet.attributes['value'] ?? '' }))
    const parent = this.nodes.get(attributes['base'] ?? '')?.children[0]
    return parent === undefined ? own : [...own, ...this.facets(parent)]
  }
}

/** `pain.001.001.09` or `pain.001.001.03.ch.02` of a target namespace. */
const MESSAGE = /([a-z]{4}\.\d{3}\.\d{3}\.\d{2}(?:\.ch\.\d{2})?)(?:\.xsd)?$/

async function readMessage(path: string): Promise<[message: string, root: string]> {
  const schema = readSchema(await readFile(path, 'utf8'))
  const message = MESSAGE.exec(schema.attributes['targetNamespace'] ?? '')?.[1]
  const root = schema.children.find(({ name }) => name === 'element')
  assert(message !== undefined && root !== undefined, `${path} is not the schema of a message`)
  const tables = new SchemaTables(schema)
  // Below Document there is one element; the header has no Document.
  const type = tables.table(root.attributes['type'] ?? '')
  if (root.attributes['name'] !== 'Document') return [message, `${root.attributes['name']}=${type}`]
  const document = types.get(type) ?? ''
  types.delete(type)
  named.delete(`Document ${document}`)
  assert(/^[\w.]+=[\w.~-]+$/.test(document), `${path}: Document has other than one element`)
  return [message, document]
}

const folders = [option('schemas'), option('more')]
const dates = tableDates(null)
const messages: [string, string][] = []
// In the order of the folders, so that types of ISO 20022 keep their names.
for (const folder of folders) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.xsd'))
  for (const name of names.toSorted()) messages.push(await readMessage(join(folder, name)))
}
messages.sort(([one], [other]) => (one < other ? -1 : 1))
assert(messages.length >= 300, `${messages.length} messages`)

const sorted = (table: Map<string, string>) => [...table].toSorted(([one], [other]) => (one < other ? -1 : 1))
const section = (name: string, rows: readonly (readonly [string, string])[]) =>
  `  ${JSON.stringify(name)}: {\n${rows.map(([key, text]) => `    ${JSON.stringify(key)}: ${JSON.stringify(text)}`).join(',\n')}\n  }`
const tables = `{\n${[section('messages', messages), section('types', sorted(types)), section('values', sorted(values))].join(',\n')}\n}\n`
await writeFile(new URL('types.json', FOLDER), tables)

const list = {
  schema: 'assay/iso20022-messages/1',
  source: SOURCE,
  source_version: dates.published_at ?? dates.retrieved_at,
  ...dates,
  notes: 'Messages whose structure is known; types.json has their types. types_sha256 is its SHA-256.',
  types_sha256: createHash('sha256').update(tables).digest('hex'),
  count: messages.length,
  messages: messages.map(([message]) => message),
}
await writeFile(new URL('messages.json', FOLDER), `${JSON.stringify(list, null, 2)}\n`)
console.log(`${messages.length} messages, ${types.size} types, ${values.size} values, ${tables.length} characters`)
