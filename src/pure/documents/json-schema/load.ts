import { TICKS, type Budget } from './budget.ts'
import { findDialect, type Dialect } from './dialects.ts'
import { FORM_WORDS, hasForm } from './forms.ts'
import type { Gap, GapCode } from './gaps.ts'
import { isRecord, member, members, shown, survey, type JsonRecord } from './json.ts'
import { KEYWORDS, RETIRED, type Form, type Keyword } from './keywords.ts'
import { findMetaschema } from './metaschemas.ts'
import { schemaPath, type Children, type Resource, type SchemaNode } from './nodes.ts'
import { resolveUri, splitFragment } from './uri.ts'

/** A schema with all that is inside it, and the other documents that it reaches. */
export interface Loaded {
  /** By URI without fragment; null when two schemas claim it. */
  resources: Map<string, Resource | null>
  /** All schemas of the caller's own document, in the order in which they stand there. */
  nodes: SchemaNode[]
  malformed: Gap[]
  /** Keywords that were met and do not decide: notes, and names unknown to the dialect. */
  annotations: Set<string>
  /** All schemas, those of other documents too. */
  count: number
  /** Some reference depends on the way that led to it. */
  dynamic: boolean
  /** Some schema asks what the others have left over. */
  tracks: boolean
  documents: Readonly<Record<string, unknown>>
  /** What reading it and applying it may cost together. */
  budget: Budget
}

export const SCHEMA_DEPTH = 64
export const SCHEMA_CHARS = 262_144

/** Findings of each kind that are listed. */
const LISTED = 20
/** Keywords that do not decide, listed. */
const ANNOTATIONS = 50

export function emptyLoad(documents: Readonly<Record<string, unknown>>, budget: Budget): Loaded {
  const lists = { nodes: [], malformed: [], annotations: new Set<string>() }
  return { ...lists, resources: new Map(), count: 0, dynamic: false, tracks: false, documents, budget }
}

/** Takes in a document. Its size and depth must have been looked at. `uri` is where it is known to be; empty for the caller's own. */
export function addDocument(load: Loaded, schema: boolean | JsonRecord, uri: string, dialect: Dialect): SchemaNode {
  const found = findOwnDialect(load, schema, dialect)
  const resource = newResource(uri, uri, found.dialect, found.gap)
  const root = addNode(load, schema, resource, null, [])
  if (!load.resources.has(uri)) load.resources.set(uri, root.resource)
  return root
}

/** A resource by its URI: already there, a metaschema, or one that was handed in. Nothing is fetched. */
export function findResource(load: Loaded, uri: string, dialect: Dialect): Resource | null {
  const known = load.resources.get(uri)
  if (known !== undefined) return known
  const given = findMetaschema(uri) ?? (Object.hasOwn(load.documents, uri) ? load.documents[uri] : undefined)
  if (given === undefined || survey(given, SCHEMA_DEPTH, SCHEMA_CHARS) !== null) return null
  return isRecord(given) || typeof given === 'boolean' ? addDocument(load, given, uri, dialect).resource : null
}

function findOwnDialect(load: Loaded, schema: boolean | JsonRecord, otherwise: Dialect): { dialect: Dialect; gap: GapCode | null } {
  const named = isRecord(schema) ? member(schema, '$schema') : undefined
  if (typeof named !== 'string') return { dialect: otherwise, gap: null }
  const answer = findDialect(named, load.documents)
  return answer.ok ? { dialect: answer.dialect, gap: null } : { dialect: otherwise, gap: answer.code }
}

function newResource(uri: string, document: string, dialect: Dialect, gap: GapCode | null): Resource {
  const names = { anchors: new Map<string, SchemaNode | null>(), dynamic_anchors: new Map<string, SchemaNode>() }
  return { uri, document, dialect, gap, ...names, root: null }
}

/** Takes in a schema and all schemas inside it. */
export function addNode(
  load: Loaded,
  schema: boolean | JsonRecord,
  within: Resource,
  parent: SchemaNode | null,
  steps: readonly string[],
): SchemaNode {
  const resource = isRecord(schema) ? ownResource(load, schema, within, parent === null) : within
  const node: SchemaNode = { schema, resource, parent, steps, children: new Map(), rules: null }
  resource.root ??= node
  load.count++
  if (resource.document === '') load.nodes.push(node)
  if (isRecord(schema) && load.budget.spend(TICKS.load_schema)) {
    addNames(load, node, schema)
    for (const [name, value] of members(schema)) {
      if (!load.budget.spend(TICKS.load_keyword + elementsOf(value) * TICKS.load_element)) break
      addKeyword(load, node, name, value)
    }
  }
  return node
}

/** Elements of a keyword's value that its form makes somebody look at: of a list, or of an object and of the lists in it. */
function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (!isRecord(value)) return 0
  return members(value).reduce((sum, [, one]) => sum + 1 + (Array.isArray(one) ? one.length : 0), 0)
}

/** In draft-07 a reference stands alone: what is beside it does not count, not even an identifier. */
export function isBareReference(schema: boolean | JsonRecord, { draft }: Dialect): boolean {
  return draft === 'draft-07' && isRecord(schema) && typeof member(schema, '$ref') === 'string'
}

/** The resource that a schema opens by its `$id`, or the one around it. */
function ownResource(load: Loaded, schema: JsonRecord, within: Resource, isRoot: boolean): Resource {
  const id = member(schema, '$id')
  if (typeof id !== 'string') return within
  const { dialect, gap } = isRoot ? within : findOwnDialect(load, schema, within.dialect)
  if (isBareReference(schema, dialect)) return within
  const { uri } = splitFragment(id)
  // Draft-07 names an anchor by a bare fragment.
  if (uri === '') return within
  load.budget.spend((within.uri.length + uri.length) * TICKS.uri_char)
  const absolute = load.budget.exhausted ? uri : splitFragment(resolveUri(within.uri, uri)).uri
  if (isRoot) within.uri = absolute
  const resource = isRoot ? within : newResource(absolute, within.document, dialect, within.gap ?? gap)
  load.resources.set(absolute, load.resources.has(absolute) ? null : resource)
  return resource
}

function addNames(load: Loaded, node: SchemaNode, schema: JsonRecord): void {
  const { resource } = node
  const { draft } = resource.dialect
  const id = member(schema, '$id')
  if (draft === 'draft-07') {
    if (typeof id === 'string' && !isBareReference(schema, resource.dialect)) addAnchor(node, splitFragment(id).fragment)
    return
  }
  addAnchor(node, member(schema, '$anchor'))
  load.dynamic ||= ['$dynamicRef', '$recursiveRef'].some((name) => Object.hasOwn(schema, name))
  load.tracks ||= ['unevaluatedProperties', 'unevaluatedItems'].some((name) => Object.hasOwn(schema, name))
  const dynamic = draft === '2020-12' ? member(schema, '$dynamicAnchor') : undefined
  if (typeof dynamic !== 'string') return
  if (dynamic !== member(schema, '$anchor')) addAnchor(node, dynamic)
  resource.dynamic_anchors.set(dynamic, node)
}

function addAnchor(node: SchemaNode, name: unknown): void {
  if (typeof name !== 'string' || name === '') return
  const { anchors } = node.resource
  anchors.set(name, anchors.has(name) ? null : node)
}

function addKeyword(load: Loaded, node: SchemaNode, name: string, value: unknown): void {
  const { draft, vocabularies } = node.resource.dialect
  const keyword: Keyword | undefined = KEYWORDS[draft][name] ?? RETIRED[draft][name]
  const holds = keyword !== undefined && vocabularies.has(keyword.vocabulary) && name in KEYWORDS[draft]
  const decides = holds && !NOTES.has(name) && (keyword.vocabulary === 'core' || !isBareReference(node.schema, node.resource.dialect))
  if (node.resource.document === '' && !decides) note(load, name)
  if (keyword === undefined) return
  if (hasForm(value, keyword.form)) addChildren(load, node, name, value, keyword.form)
  else if (load.malformed.length < LISTED) load.malformed.push(malformed(node, name, keyword.form))
}

/** Keywords that are known and read as notes; titles and the like, which nobody takes for a rule, are not worth a word. */
const NOTES = new Set(['format', 'contentEncoding', 'contentMediaType', 'contentSchema'])

function note(load: Loaded, name: string): void {
  if (load.annotations.size < ANNOTATIONS && name !== 'definitions') load.annotations.add(shown(name))
}

function malformed(node: SchemaNode, keyword: string, form: Form): Gap {
  const message = `The value of ${keyword} must be ${FORM_WORDS[form]}.`
  return { code: 'schema_malformed', schema_path: schemaPath(node, keyword), keyword, message }
}

function addChildren(load: Loaded, node: SchemaNode, name: string, value: unknown, form: Form): void {
  const children = readChildren(load, node, name, value, form)
  if (children !== null) node.children.set(name, children)
}

function readChildren(load: Loaded, node: SchemaNode, name: string, value: unknown, form: Form): Children | null {
  const add = (schema: unknown, ...more: string[]) => addNode(load, schema as boolean | JsonRecord, node.resource, node, [name, ...more])
  switch (form) {
    case 'schema':
    case 'schema_list':
    case 'schema_or_list':
      if (!Array.isArray(value)) return { kind: 'one', node: add(value) }
      return { kind: 'list', nodes: value.map((schema, index) => add(schema, String(index))) }
    case 'schema_map':
    case 'dependencies': {
      const inside = isRecord(value) ? members(value).filter(([, schema]) => !Array.isArray(schema)) : []
      return { kind: 'map', nodes: new Map(inside.map(([key, schema]) => [key, add(schema, key)])) }
    }
    case 'any':
    case 'list':
    case 'boolean':
    case 'boolean_map':
    case 'count':
    case 'number':
    case 'number_above_zero':
    case 'text':
    case 'text_set':
    case 'text_set_map':
    case 'type':
    case 'identifier':
    case 'anchor':
    case 'anchor_2019':
      return null
  }
}
