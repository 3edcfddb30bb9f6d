import { isObject } from '../../is-object.ts'
import { type Draft, type Form, type Keyword, KEYWORDS, RETIRED, type Vocabulary } from './keywords.ts'
import { type JsonRecord, member, members, shown, survey } from './json.ts'
import { type Dialect, findDialect, METASCHEMA_URI, VOCABULARIES, vocabularyName } from './dialects.ts'
import { type Budget, TICKS } from './budget.ts'
import type { Gap, GapCode } from './gaps.ts'
import { type Children, type Resource, type SchemaNode, schemaPath } from './nodes.ts'
import { resolveUri, splitFragment } from './uri.ts'

/** Whether a keyword's value has its form; schemas inside are for the walk to look at, only their places are checked here. */
function hasForm(value: unknown, form: Form): boolean {
  switch (form) {
    case 'any':
      return true
    case 'schema':
      return isSchema(value)
    case 'schema_list':
      return isSchemaList(value)
    case 'schema_map':
      return isObject(value) && members(value).every(([, one]) => isSchema(one))
    case 'schema_or_list':
      return isSchema(value) || isSchemaList(value)
    case 'dependencies':
      return isObject(value) && members(value).every(([, one]) => isSchema(one) || isTextSet(one))
    case 'list':
      return Array.isArray(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'boolean_map':
      return isObject(value) && members(value).every(([, one]) => typeof one === 'boolean')
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'number':
      return typeof value === 'number'
    case 'number_above_zero':
      return typeof value === 'number' && value > 0
    case 'text':
      return typeof value === 'string'
    case 'text_set':
      return isTextSet(value)
    case 'text_set_map':
      return isObject(value) && members(value).every(([, one]) => isTextSet(one))
    case 'type':
      return isType(value)
    case 'identifier':
      return typeof value === 'string' && new RegExp(IDENTIFIER_PATTERN).test(value)
    case 'anchor':
      return typeof value === 'string' && new RegExp(ANCHOR_PATTERN).test(value)
    case 'anchor_2019':
      return typeof value === 'string' && new RegExp(ANCHOR_2019_PATTERN).test(value)
  }
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const

const IDENTIFIER_PATTERN = '^[^#]*#?$'
const ANCHOR_PATTERN = '^[A-Za-z_][-A-Za-z0-9._]*$'
const ANCHOR_2019_PATTERN = '^[A-Za-z][-A-Za-z0-9.:_]*$'

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isObject(value)
}

function isSchemaList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema)
}

function isTextSet(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') && new Set(value).size === value.length
}

function isType(value: unknown): boolean {
  const known = (one: unknown) => (TYPES as readonly unknown[]).includes(one)
  return known(value) || (Array.isArray(value) && value.length > 0 && value.every(known) && new Set(value).size === value.length)
}

/** What a message says of the form that was expected. */
const FORM_WORDS: Readonly<Record<Form, string>> = {
  schema: 'a schema: an object or a boolean',
  schema_list: 'a list of at least one schema',
  schema_map: 'an object whose values are schemas',
  schema_or_list: 'a schema, or a list of at least one schema',
  dependencies: 'an object whose values are schemas or lists of different names',
  any: 'any value',
  list: 'a list',
  boolean: 'true or false',
  boolean_map: 'an object whose values are true or false',
  count: 'a whole number, zero or more',
  number: 'a number',
  number_above_zero: 'a number greater than zero',
  text: 'a text',
  text_set: 'a list of different names',
  text_set_map: 'an object whose values are lists of different names',
  type: 'the name of a type, or a list of different ones',
  identifier: 'a reference without fragment',
  anchor: 'a name of letters, digits, dots, hyphens and underscores',
  anchor_2019: 'a name of letters, digits, dots, colons, hyphens and underscores',
}

const TEXT_SET = { type: 'array', items: { type: 'string' }, uniqueItems: true }

/** The form as a schema; `self` refers to the metaschema itself. */
function formSchema(form: Form, self: Readonly<Record<string, string>>): unknown {
  const list = { type: 'array', minItems: 1, items: self }
  switch (form) {
    case 'any':
      return true
    case 'schema':
      return self
    case 'schema_list':
      return list
    case 'schema_map':
      return { type: 'object', additionalProperties: self }
    case 'schema_or_list':
      return { anyOf: [self, list] }
    case 'dependencies':
      return { type: 'object', additionalProperties: { anyOf: [self, TEXT_SET] } }
    case 'list':
      return { type: 'array' }
    case 'boolean':
      return { type: 'boolean' }
    case 'boolean_map':
      return { type: 'object', additionalProperties: { type: 'boolean' } }
    case 'count':
      return { type: 'integer', minimum: 0 }
    case 'number':
      return { type: 'number' }
    case 'number_above_zero':
      return { type: 'number', exclusiveMinimum: 0 }
    case 'text':
      return { type: 'string' }
    case 'text_set':
      return TEXT_SET
    case 'text_set_map':
      return { type: 'object', additionalProperties: TEXT_SET }
    case 'type':
      return { anyOf: [{ enum: [...TYPES] }, { type: 'array', items: { enum: [...TYPES] }, minItems: 1, uniqueItems: true }] }
    case 'identifier':
      return { type: 'string', pattern: IDENTIFIER_PATTERN }
    case 'anchor':
      return { type: 'string', pattern: ANCHOR_PATTERN }
    case 'anchor_2019':
      return { type: 'string', pattern: ANCHOR_2019_PATTERN }
  }
}

/**
 * The metaschemas of the three drafts, as far as schemas may refer to them: made from the table of keywords, so that a schema passes them
 * exactly when its keywords have their form. Titles and defaults of the published documents are left out.
 */

const SELF: Readonly<Record<Draft, Readonly<Record<string, string>>>> = {
  '2020-12': { $dynamicRef: '#meta' },
  '2019-09': { $recursiveRef: '#' },
  'draft-07': { $ref: '#' },
}

const ANCHOR: Readonly<Record<Draft, Readonly<Record<string, unknown>>>> = {
  '2020-12': { $dynamicAnchor: 'meta' },
  '2019-09': { $recursiveAnchor: true },
  'draft-07': {},
}

/** The metaschema, or the part of one, with this URI; null when it is none of theirs. */
function findMetaschema(uri: string): Record<string, unknown> | null {
  for (const draft of ['2020-12', '2019-09', 'draft-07'] as const) {
    if (uri === METASCHEMA_URI[draft]) return draft === 'draft-07' ? wholeDraft(draft) : composedDraft(draft)
    const vocabulary = VOCABULARIES[draft].find((one) => draft !== 'draft-07' && uri === partUri(draft, one))
    if (vocabulary !== undefined) return partOf(draft, vocabulary)
  }
  return null
}

function partUri(draft: Draft, vocabulary: Vocabulary): string {
  return `https://json-schema.org/draft/${draft}/meta/${vocabularyName(draft, vocabulary)}`
}

function properties(draft: Draft, takes: (vocabulary: Vocabulary) => boolean, table = KEYWORDS): Record<string, unknown> {
  const rows = Object.entries(table[draft]).filter(([, { vocabulary }]) => takes(vocabulary))
  return Object.fromEntries(rows.map(([name, { form }]) => [name, formSchema(form, SELF[draft])]))
}

function head(draft: Draft, uri: string): Record<string, unknown> {
  return { $schema: METASCHEMA_URI[draft], $id: uri, ...ANCHOR[draft], type: ['object', 'boolean'] }
}

function wholeDraft(draft: Draft): Record<string, unknown> {
  return { ...head(draft, METASCHEMA_URI[draft]), properties: properties(draft, () => true) }
}

function composedDraft(draft: Draft): Record<string, unknown> {
  const allOf = VOCABULARIES[draft].map((vocabulary) => ({ $ref: partUri(draft, vocabulary) }))
  return { ...head(draft, METASCHEMA_URI[draft]), allOf, properties: properties(draft, () => true, RETIRED) }
}

function partOf(draft: Draft, vocabulary: Vocabulary): Record<string, unknown> {
  const vocabularies = (one: Vocabulary) => one === vocabulary
  return { ...head(draft, partUri(draft, vocabulary)), properties: properties(draft, vocabularies) }
}

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
  return isObject(given) || typeof given === 'boolean' ? addDocument(load, given, uri, dialect).resource : null
}

function findOwnDialect(load: Loaded, schema: boolean | JsonRecord, otherwise: Dialect): { dialect: Dialect; gap: GapCode | null } {
  const named = isObject(schema) ? member(schema, '$schema') : undefined
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
  const resource = isObject(schema) ? ownResource(load, schema, within, parent === null) : within
  const node: SchemaNode = { schema, resource, parent, steps, children: new Map(), rules: null }
  resource.root ??= node
  load.count++
  if (resource.document === '') load.nodes.push(node)
  if (isObject(schema) && load.budget.spend(TICKS.load_schema)) {
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
  if (!isObject(value)) return 0
  return members(value).reduce((sum, [, one]) => sum + 1 + (Array.isArray(one) ? one.length : 0), 0)
}

/** In draft-07 a reference stands alone: what is beside it does not count, not even an identifier. */
export function isBareReference(schema: boolean | JsonRecord, { draft }: Dialect): boolean {
  return draft === 'draft-07' && isObject(schema) && typeof member(schema, '$ref') === 'string'
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
      const inside = isObject(value) ? members(value).filter(([, schema]) => !Array.isArray(schema)) : []
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
