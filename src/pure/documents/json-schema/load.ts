import { isObject } from '../../is-object.ts'
import { dialectOfDraft, type Draft, findDialect, findMetaschema, FORMS, KEYWORDS, type SchemaDialect } from './keywords.ts'
import { type JsonRecord, ownMember, printableExcerpt, checkJsonBounds, readPointer } from './json.ts'
import { compilePattern } from './pattern.ts'
import {
  Budget,
  type SchemaGap,
  GAP_CODES,
  type GapCode,
  TICKS,
  type ChildSchemas,
  type SchemaResource,
  type SchemaNode,
  schemaPath,
  type DynamicScope,
} from './schema-model.ts'

/**
 * URI references (RFC 3986, January 2005) and JSON pointers (RFC 6901). Only dot segments are normalized and only pointers decoded, so that
 * urn: and tag: names work too.
 */

interface UriParts {
  scheme: string | undefined
  authority: string | undefined
  path: string
  query: string | undefined
  fragment: string | undefined
}

const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/

function splitUri(reference: string): UriParts {
  const [, scheme, authority, path = '', query, fragment] = PARTS.exec(reference) ?? [undefined, undefined, undefined, reference]
  return { scheme, authority, path, query, fragment }
}

/** Resolves a reference against a base, fragment included. An empty base leaves it unchanged. */
export function resolveUri(base: string, reference: string): string {
  const given = splitUri(reference)
  if (given.scheme !== undefined || base === '') return uriText({ ...given, path: removeDotSegments(given.path) })
  const from = splitUri(base)
  if (given.authority !== undefined) return uriText({ ...given, scheme: from.scheme, path: removeDotSegments(given.path) })
  const whole = { scheme: from.scheme, authority: from.authority, fragment: given.fragment }
  if (given.path === '') return uriText({ ...whole, path: from.path, query: given.query ?? from.query })
  return uriText({ ...whole, path: removeDotSegments(mergePaths(from, given.path)), query: given.query })
}

/** RFC 3986 §5.2.3. */
function mergePaths(base: UriParts, path: string): string {
  if (path.startsWith('/')) return path
  if (base.authority !== undefined && base.path === '') return `/${path}`
  return base.path.slice(0, base.path.lastIndexOf('/') + 1) + path
}

/** RFC 3986 §5.2.4, for paths that start with a slash; a relative path has no hierarchy to climb. */
function removeDotSegments(path: string): string {
  if (!path.startsWith('/') || !path.includes('/.')) return path
  const kept: string[] = []
  const steps = path.split('/').slice(1)
  steps.forEach((step, index) => {
    if (step === '..') kept.pop()
    else if (step !== '.') kept.push(step)
    if ((step === '.' || step === '..') && index === steps.length - 1) kept.push('')
  })
  return `/${kept.join('/')}`
}

function uriText({ scheme, authority, path, query, fragment }: UriParts): string {
  const head = (scheme === undefined ? '' : `${scheme}:`) + (authority === undefined ? '' : `//${authority}`)
  return head + path + (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`)
}

/** Splits a reference at its first `#`; without `#` the fragment is empty. */
function splitFragment(reference: string): { uri: string; fragment: string } {
  const at = reference.indexOf('#')
  return at === -1 ? { uri: reference, fragment: '' } : { uri: reference.slice(0, at), fragment: reference.slice(at + 1) }
}

/** Percent-decodes a fragment; null if its encoding is invalid. */
function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return null
  }
}

/** Splits a JSON pointer into decoded steps; null if it is not a pointer. */
function pointerSteps(pointer: string): string[] | null {
  if (pointer === '') return []
  return pointer.startsWith('/') && !/~(?![01])/.test(pointer) ? readPointer(pointer) : null
}

/** A schema with its subschemas and the other documents that it references. */
export interface LoadedSchema {
  /** By URI without fragment; null if two schemas claim the URI. */
  resources: Map<string, SchemaResource | null>
  /** All schemas of the caller's own document, in document order. */
  nodes: SchemaNode[]
  malformed: SchemaGap[]
  /** Keywords that assert nothing: annotations and unknown names. */
  annotations: Set<string>
  /** Number of schemas, including other documents. */
  count: number
  /** Some reference is resolved by the dynamic scope. */
  dynamic: boolean
  /** Some schema uses `unevaluatedProperties` or `unevaluatedItems`. */
  tracks: boolean
  documents: Readonly<Record<string, unknown>>
  formats: SchemaFormats
  /** Work limit for reading and applying the schema together. */
  budget: Budget
}

const SCHEMA_DEPTH = 64
const SCHEMA_CHARS = 262_144

/** Maximum number of listed findings. */
const LISTED = 20
/** Maximum number of listed annotation keywords. */
const ANNOTATIONS = 50

/** Reads a document whose size and depth were checked. `uri` is its URI; empty for the caller's own document. */
function addDocument(load: LoadedSchema, schema: boolean | JsonRecord, uri: string, dialect: SchemaDialect): SchemaNode {
  const found = findOwnDialect(load, schema, dialect)
  const resource = newResource(uri, uri, found.dialect, found.gap)
  const root = addNode(load, schema, resource, null, [])
  if (!load.resources.has(uri)) load.resources.set(uri, root.resource)
  return root
}

/** Finds a resource by URI: already read, a metaschema, or a supplied document. Nothing is fetched. */
function findResource(load: LoadedSchema, uri: string, dialect: SchemaDialect): SchemaResource | null {
  const known = load.resources.get(uri)
  if (known !== undefined) return known
  const given = findMetaschema(uri) ?? (Object.hasOwn(load.documents, uri) ? load.documents[uri] : undefined)
  if (given === undefined || checkJsonBounds(given, SCHEMA_DEPTH, SCHEMA_CHARS) !== null) return null
  return isObject(given) || typeof given === 'boolean' ? addDocument(load, given, uri, dialect).resource : null
}

function findOwnDialect(
  load: LoadedSchema,
  schema: boolean | JsonRecord,
  otherwise: SchemaDialect,
): { dialect: SchemaDialect; gap: GapCode | null } {
  const named = isObject(schema) ? ownMember(schema, '$schema') : undefined
  if (typeof named !== 'string') return { dialect: otherwise, gap: null }
  const answer = findDialect(named, load.documents)
  return answer.ok ? { dialect: answer.dialect, gap: null } : { dialect: otherwise, gap: answer.code }
}

function newResource(uri: string, document: string, dialect: SchemaDialect, gap: GapCode | null): SchemaResource {
  const names = { anchors: new Map<string, SchemaNode | null>(), dynamic_anchors: new Map<string, SchemaNode>() }
  return { uri, document, dialect, gap, ...names, root: null }
}

/** Reads a schema and its subschemas. */
function addNode(
  load: LoadedSchema,
  schema: boolean | JsonRecord,
  within: SchemaResource,
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
    for (const [name, value] of Object.entries(schema)) {
      if (!load.budget.spend(TICKS.load_keyword + elementsOf(value) * TICKS.load_element)) break
      addKeyword(load, node, name, value)
    }
  }
  return node
}

/** Elements that checking the value's form reads: of a list, or of an object and the lists in it. */
function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (!isObject(value)) return 0
  return Object.entries(value).reduce((sum, [, one]) => sum + 1 + (Array.isArray(one) ? one.length : 0), 0)
}

/** In draft-07 `$ref` disables its sibling keywords, even `$id`. */
export function isBareReference(schema: boolean | JsonRecord, { draft }: SchemaDialect): boolean {
  return draft === 'draft-07' && isObject(schema) && typeof ownMember(schema, '$ref') === 'string'
}

/** Resource that the schema opens by its `$id`, otherwise the enclosing one. */
function ownResource(load: LoadedSchema, schema: JsonRecord, within: SchemaResource, isRoot: boolean): SchemaResource {
  const id = ownMember(schema, '$id')
  if (typeof id !== 'string') return within
  const { dialect, gap } = isRoot ? within : findOwnDialect(load, schema, within.dialect)
  if (isBareReference(schema, dialect)) return within
  const { uri } = splitFragment(id)
  // draft-07 writes an anchor as a bare fragment.
  if (uri === '') return within
  load.budget.spend((within.uri.length + uri.length) * TICKS.uri_char)
  const absolute = load.budget.exhausted ? uri : splitFragment(resolveUri(within.uri, uri)).uri
  if (isRoot) within.uri = absolute
  const resource = isRoot ? within : newResource(absolute, within.document, dialect, within.gap ?? gap)
  load.resources.set(absolute, load.resources.has(absolute) ? null : resource)
  return resource
}

function addNames(load: LoadedSchema, node: SchemaNode, schema: JsonRecord): void {
  const { resource } = node
  const { draft } = resource.dialect
  const id = ownMember(schema, '$id')
  if (draft === 'draft-07') {
    if (typeof id === 'string' && !isBareReference(schema, resource.dialect)) addAnchor(node, splitFragment(id).fragment)
    return
  }
  addAnchor(node, ownMember(schema, '$anchor'))
  load.dynamic ||= ['$dynamicRef', '$recursiveRef'].some((name) => Object.hasOwn(schema, name))
  load.tracks ||= ['unevaluatedProperties', 'unevaluatedItems'].some((name) => Object.hasOwn(schema, name))
  const dynamic = draft === '2020-12' ? ownMember(schema, '$dynamicAnchor') : undefined
  if (typeof dynamic !== 'string') return
  if (dynamic !== ownMember(schema, '$anchor')) addAnchor(node, dynamic)
  resource.dynamic_anchors.set(dynamic, node)
}

function addAnchor(node: SchemaNode, name: unknown): void {
  if (typeof name !== 'string' || name === '') return
  const { anchors } = node.resource
  anchors.set(name, anchors.has(name) ? null : node)
}

function addKeyword(load: LoadedSchema, node: SchemaNode, name: string, value: unknown): void {
  const { draft, vocabularies } = node.resource.dialect
  const keyword = KEYWORDS[draft][name]
  const holds = keyword !== undefined && vocabularies.has(keyword.vocabulary) && !keyword.retired
  const decides = holds && !NOTES.has(name) && (keyword.vocabulary === 'core' || !isBareReference(node.schema, node.resource.dialect))
  if (node.resource.document === '' && !decides) noteAnnotation(load, name)
  if (keyword === undefined) return
  if (FORMS[keyword.form].accepts(value)) addChildren(load, node, name, value, keyword.form)
  else if (load.malformed.length < LISTED) load.malformed.push(malformedGap(node, name, keyword.form))
}

/** Known keywords that are listed as annotations. Titles and the like are not listed. */
const NOTES = new Set(['format', 'contentEncoding', 'contentMediaType', 'contentSchema'])

function noteAnnotation(load: LoadedSchema, name: string): void {
  if (load.annotations.size < ANNOTATIONS && name !== 'definitions') load.annotations.add(printableExcerpt(name))
}

function malformedGap(node: SchemaNode, keyword: string, form: keyof typeof FORMS): SchemaGap {
  const message = `The value of ${keyword} must be ${FORMS[form].description}.`
  return { code: 'schema_malformed', schema_path: schemaPath(node, keyword), keyword, message }
}

/** Reads the subschemas of a keyword, if its form has any. */
function addChildren(load: LoadedSchema, node: SchemaNode, name: string, value: unknown, form: keyof typeof FORMS): void {
  const add = (schema: unknown, ...more: string[]) => addNode(load, schema as boolean | JsonRecord, node.resource, node, [name, ...more])
  if (form === 'schema_map' || form === 'dependencies') {
    const inside = isObject(value) ? Object.entries(value).filter(([, schema]) => !Array.isArray(schema)) : []
    node.children.set(name, { kind: 'map', nodes: new Map(inside.map(([key, schema]) => [key, add(schema, key)])) })
  } else if (form === 'schema' || form === 'schema_list' || form === 'schema_or_list') {
    const nodes = Array.isArray(value) ? value.map((schema, index) => add(schema, String(index))) : null
    node.children.set(name, nodes === null ? { kind: 'one', node: add(value) } : { kind: 'list', nodes })
  }
}

/** Schema that a reference points to, and the anchor's name if it was found by one. */
interface ReferenceTarget {
  node: SchemaNode
  anchor: string | null
}

/** Target of a `$ref`, `$dynamicRef` or `$recursiveRef` by the dynamic scope; null if it is not available or ambiguous. */
export function resolveTarget(
  load: LoadedSchema,
  node: SchemaNode,
  keyword: string,
  reference: string,
): ((scope: DynamicScope) => SchemaNode) | null {
  const target = resolveReference(load, node, reference)
  if (target === null) return null
  switch (keyword) {
    case '$dynamicRef':
      return (scope) => dynamicTarget(target, scope)
    case '$recursiveRef':
      return (scope) => recursiveTarget(target.node, scope)
    default:
      return () => target.node
  }
}

function resolveReference(load: LoadedSchema, node: SchemaNode, reference: string): ReferenceTarget | null {
  if (!load.budget.spend(TICKS.load_keyword + (node.resource.uri.length + reference.length) * TICKS.uri_char)) return null
  const { uri, fragment } = splitFragment(resolveUri(node.resource.uri, reference))
  const resource = uri === node.resource.uri ? node.resource : findResource(load, uri, node.resource.dialect)
  if (resource === null || resource.root === null) return null
  const name = decodeFragment(fragment)
  if (name === null) return null
  if (name === '' || name.startsWith('/')) {
    const found = followPointer(load, resource.root, name)
    return found === null ? null : { node: found, anchor: null }
  }
  const found = resource.anchors.get(name) ?? null
  return found === null ? null : { node: found, anchor: name }
}

/** RFC 6901 from the root of a resource. A pointer may lead through places that are not subschemas of a keyword. */
function followPointer(load: LoadedSchema, root: SchemaNode, pointer: string): SchemaNode | null {
  const steps = pointerSteps(pointer)
  if (steps === null) return null
  let node = root
  for (let at = 0; at < steps.length;) {
    const next = node.children.get(steps[at] ?? '')
    const child = next === undefined ? null : childSchema(next, steps[at + 1])
    if (child === null) return nodeElsewhere(load, node, steps.slice(at))
    node = child
    at += next?.kind === 'one' ? 1 : 2
  }
  return node
}

function childSchema(children: ChildSchemas, step: string | undefined): SchemaNode | null {
  switch (children.kind) {
    case 'one':
      return children.node
    case 'list':
      return step === undefined || !/^(?:0|[1-9][0-9]{0,5})$/.test(step) ? null : (children.nodes[Number.parseInt(step, 10)] ?? null)
    case 'map':
      return step === undefined ? null : (children.nodes.get(step) ?? null)
  }
}

/** Maximum number of schemas: such places can be nested, and each would be read again. */
const SCHEMAS_MAX = 100_000

/** Reads a schema at a place that the walk skipped, for example under an unknown keyword. */
function nodeElsewhere(load: LoadedSchema, from: SchemaNode, steps: readonly string[]): SchemaNode | null {
  const name = `/${steps.map(encodeURIComponent).join('/')}`
  const known = from.children.get(name)
  if (known?.kind === 'one') return known.node
  let value: unknown = from.schema
  for (const step of steps) {
    const inside = (Array.isArray(value) || isObject(value)) && Object.hasOwn(value, step) && step !== 'length'
    if (!inside) return null
    value = (value as Record<string, unknown>)[step]
  }
  if (load.count > SCHEMAS_MAX || (!isObject(value) && typeof value !== 'boolean')) return null
  const node = addNode(load, value, from.resource, from, steps)
  from.children.set(name, { kind: 'one', node })
  return node
}

/** 2020-12: the outermost resource in the dynamic scope that has this dynamic anchor. */
function dynamicTarget({ node, anchor }: ReferenceTarget, scope: DynamicScope | null): SchemaNode {
  if (anchor === null || !node.resource.dynamic_anchors.has(anchor)) return node
  return findOutermost(scope, (resource) => resource.dynamic_anchors.get(anchor) ?? null) ?? node
}

/** 2019-09: the outermost root in the dynamic scope with `$recursiveAnchor`, if the target has it too. */
function recursiveTarget(root: SchemaNode, scope: DynamicScope | null): SchemaNode {
  return isRecursive(root) ? (findOutermost(scope, ({ root: one }) => (one !== null && isRecursive(one) ? one : null)) ?? root) : root
}

function isRecursive({ schema }: SchemaNode): boolean {
  return isObject(schema) && Object.hasOwn(schema, '$recursiveAnchor') && schema['$recursiveAnchor'] === true
}

function findOutermost(scope: DynamicScope | null, find: (resource: SchemaResource) => SchemaNode | null): SchemaNode | null {
  let found: SchemaNode | null = null
  for (let at = scope; at !== null; at = at.outer) found = find(at.resource) ?? found
  return found
}

/** Formats that are asserted, by their name; a text that is refused does not have the format. */
type SchemaFormats = Readonly<Record<string, (text: string) => boolean>>

export interface SchemaOptions {
  /** Dialect of a schema without `$schema`; default 2020-12. */
  draft?: Draft
  /** Other schemas that may be referenced, by URI without fragment. */
  documents?: Readonly<Record<string, unknown>>
  /** Work limit in steps. */
  steps?: number
  /** Formats that are asserted; all are annotations if left out. */
  formats?: SchemaFormats
}

/** The dialect applied, and where it was named. */
export interface DialectUsed {
  /** Null if the dialect is unknown or the schema could not be read. */
  draft: Draft | null
  draft_source: 'schema' | 'input' | 'default'
}

interface OpenedSchema {
  load: LoadedSchema
  /** Null if the schema exceeds a limit or is not a schema. */
  root: SchemaNode | null
  used: DialectUsed
  /** Reasons why the schema cannot be applied. */
  gaps: SchemaGap[]
}

/** Default work limit. */
const STEPS = 2_000_000

/** Reads a schema and its subschemas. */
export function openSchema(schema: unknown, { draft, documents = {}, steps = STEPS, formats = {} }: SchemaOptions): OpenedSchema {
  const lists = { nodes: [], malformed: [], annotations: new Set<string>() }
  const budget = new Budget(steps)
  const load: LoadedSchema = { ...lists, resources: new Map(), count: 0, dynamic: false, tracks: false, documents, formats, budget }
  const otherwise = dialectOfDraft(draft ?? '2020-12')
  const named = isObject(schema) && typeof ownMember(schema, '$schema') === 'string'
  const draft_source = named ? 'schema' : draft === undefined ? 'default' : 'input'
  const unread = { load, root: null, used: { draft: named ? null : otherwise.draft, draft_source } } as const
  const fault = checkJsonBounds(schema, SCHEMA_DEPTH, SCHEMA_CHARS)
  if (fault !== null) return { ...unread, gaps: [gapOf(`schema_${fault}`)] }
  if (!isObject(schema) && typeof schema !== 'boolean') return { ...unread, gaps: [gapOf('schema_not_json')] }
  const root = addDocument(load, schema, '', otherwise)
  const { dialect, gap } = root.resource
  if (load.budget.exhausted) return { ...unread, gaps: [gapOf('budget_exceeded')] }
  if (gap !== null) return { load, root, used: { draft: null, draft_source }, gaps: [gapOf(gap, '/$schema', '$schema')] }
  return { load, root, used: { draft: dialect.draft, draft_source }, gaps: load.malformed }
}

export function gapOf(code: GapCode, schema_path = '', keyword: string | null = null): SchemaGap {
  return { code, schema_path, keyword, message: GAP_CODES[code] }
}

export interface SchemaCheck extends DialectUsed {
  /** Every keyword has a value that its draft permits. Null if the dialect is unknown or the schema exceeds a limit. */
  well_formed: boolean | null
  /** Keywords with a value that is not permitted; at most 20. */
  findings: SchemaGap[]
  /** Parts that a validation could not decide: unresolvable references, unsupported patterns. At most 20. */
  unsupported: SchemaGap[]
  /** Keywords without effect on the verdict: annotations such as format, and unknown names. */
  annotations_only: string[]
}

/** Checks whether a schema is well-formed and can be applied, without data. Never throws. */
export function checkSchema(schema: unknown, options: SchemaOptions = {}): SchemaCheck {
  const { used, load, gaps, root } = openSchema(schema, options)
  const findings = gaps.filter(({ code }) => code === 'schema_malformed')
  const others = gaps.filter(({ code }) => code !== 'schema_malformed')
  const unsupported = others.length > 0 || root === null ? others : findGaps(load)
  const well_formed = others.length > 0 ? null : findings.length === 0
  return { ...used, well_formed, findings, unsupported, annotations_only: [...load.annotations] }
}

/** Unresolvable references and unsupported patterns of every schema in the document. */
function findGaps(load: LoadedSchema): SchemaGap[] {
  const found: SchemaGap[] = []
  // A copy, because resolving a reference may add schemas.
  for (const node of load.nodes.slice()) {
    for (const [keyword, code] of [...faultyReferences(load, node), ...faultyPatterns(load, node)]) {
      if (found.length < LISTED) found.push(gapOf(code, schemaPath(node, keyword), keyword))
    }
    if (found.length === LISTED || load.budget.exhausted) break
  }
  return load.budget.exhausted ? [...found.slice(0, LISTED - 1), gapOf('budget_exceeded')] : found
}

type SchemaFault = [keyword: string, code: GapCode]

function faultyReferences(load: LoadedSchema, node: SchemaNode): SchemaFault[] {
  const { schema } = node
  const { draft } = node.resource.dialect
  const keywords = ['$ref', ...(draft === '2020-12' ? ['$dynamicRef'] : []), ...(draft === '2019-09' ? ['$recursiveRef'] : [])]
  return keywords.flatMap((keyword): SchemaFault[] => {
    const reference = isObject(schema) ? ownMember(schema, keyword) : undefined
    return typeof reference === 'string' && resolveTarget(load, node, keyword, reference) === null ? [[keyword, 'ref_unresolvable']] : []
  })
}

function faultyPatterns({ budget }: LoadedSchema, { schema }: SchemaNode): SchemaFault[] {
  if (!isObject(schema)) return []
  const named = ownMember(schema, 'patternProperties')
  const sources = [
    ['pattern', ownMember(schema, 'pattern')],
    ...Object.keys(isObject(named) ? named : {}).map((one) => ['patternProperties', one]),
  ]
  return sources.flatMap(([keyword, source]): SchemaFault[] => {
    const state = typeof source === 'string' ? (compilePattern(source, budget)?.state ?? 'ready') : 'ready'
    return state === 'ready' ? [] : [[String(keyword), state === 'broken' ? 'pattern_invalid' : 'pattern_unsupported']]
  })
}
