import { isObject } from '../../is-object.ts'
import { ownMember, type JsonRecord } from './json.ts'

/**
 * Keywords of the three dialects, each with its vocabulary and the form of its value, from the core and validation specifications of
 * draft-07 (March 2018), 2019-09 (September 2019) and 2020-12 (June 2022 patch). The check of a schema's form, the walk to its subschemas
 * and the metaschemas are derived from this table.
 */

export const DRAFTS = ['2020-12', '2019-09', 'draft-07'] as const

export type Draft = (typeof DRAFTS)[number]

type Vocabulary = 'core' | 'applicator' | 'unevaluated' | 'validation' | 'meta-data' | 'format' | 'content'

interface Keyword {
  vocabulary: Vocabulary
  /** Form of its value. */
  form: keyof typeof FORMS
  /** This draft removed it: schemas under it can still be referenced, and its form is still checked. */
  retired: boolean
}

type Table = Readonly<Record<string, Keyword>>

function keywordsWith(vocabulary: Vocabulary, form: Keyword['form'], names: string, retired = false): [string, Keyword][] {
  return names.split(' ').map((name) => [name, { vocabulary, form, retired }])
}

const SHARED: [string, Keyword][] = [
  ...keywordsWith('core', 'text', '$schema $ref $comment'),
  ...keywordsWith('applicator', 'schema_list', 'allOf anyOf oneOf'),
  ...keywordsWith('applicator', 'schema', 'not if then else additionalProperties propertyNames contains'),
  ...keywordsWith('applicator', 'schema_map', 'properties patternProperties'),
  ...keywordsWith('validation', 'type', 'type'),
  ...keywordsWith('validation', 'any', 'const'),
  ...keywordsWith('validation', 'list', 'enum'),
  ...keywordsWith('validation', 'number_above_zero', 'multipleOf'),
  ...keywordsWith('validation', 'number', 'maximum exclusiveMaximum minimum exclusiveMinimum'),
  ...keywordsWith('validation', 'count', 'maxLength minLength maxItems minItems maxProperties minProperties'),
  ...keywordsWith('validation', 'text', 'pattern'),
  ...keywordsWith('validation', 'boolean', 'uniqueItems'),
  ...keywordsWith('validation', 'text_set', 'required'),
  ...keywordsWith('meta-data', 'text', 'title description'),
  ...keywordsWith('meta-data', 'any', 'default'),
  ...keywordsWith('meta-data', 'boolean', 'readOnly writeOnly'),
  ...keywordsWith('meta-data', 'list', 'examples'),
  ...keywordsWith('format', 'text', 'format'),
  ...keywordsWith('content', 'text', 'contentMediaType contentEncoding'),
]

const SINCE_2019: [string, Keyword][] = [
  ...SHARED,
  ...keywordsWith('core', 'identifier', '$id'),
  ...keywordsWith('core', 'boolean_map', '$vocabulary'),
  ...keywordsWith('core', 'schema_map', '$defs'),
  ...keywordsWith('applicator', 'schema_map', 'dependentSchemas'),
  ...keywordsWith('validation', 'count', 'minContains maxContains'),
  ...keywordsWith('validation', 'text_set_map', 'dependentRequired'),
  ...keywordsWith('meta-data', 'boolean', 'deprecated'),
  ...keywordsWith('content', 'schema', 'contentSchema'),
  ...keywordsWith('core', 'schema_map', 'definitions', true),
  ...keywordsWith('core', 'dependencies', 'dependencies', true),
]

const DRAFT_07: [string, Keyword][] = [
  ...SHARED,
  ...keywordsWith('core', 'text', '$id'),
  ...keywordsWith('core', 'schema_map', 'definitions'),
  ...keywordsWith('applicator', 'schema_or_list', 'items'),
  ...keywordsWith('applicator', 'schema', 'additionalItems'),
  ...keywordsWith('applicator', 'dependencies', 'dependencies'),
]

const DRAFT_2019_09: [string, Keyword][] = [
  ...SINCE_2019,
  ...keywordsWith('core', 'anchor_2019', '$anchor'),
  ...keywordsWith('core', 'text', '$recursiveRef'),
  ...keywordsWith('core', 'boolean', '$recursiveAnchor'),
  ...keywordsWith('applicator', 'schema_or_list', 'items'),
  ...keywordsWith('applicator', 'schema', 'additionalItems unevaluatedItems unevaluatedProperties'),
]

const DRAFT_2020_12: [string, Keyword][] = [
  ...SINCE_2019,
  ...keywordsWith('core', 'anchor', '$anchor $dynamicAnchor'),
  ...keywordsWith('core', 'text', '$dynamicRef'),
  ...keywordsWith('applicator', 'schema_list', 'prefixItems'),
  ...keywordsWith('applicator', 'schema', 'items'),
  ...keywordsWith('unevaluated', 'schema', 'unevaluatedItems unevaluatedProperties'),
]

/** Has no prototype, so that a keyword named like a method of Object is not found by accident. */
function keywordTable(rows: [string, Keyword][]): Table {
  const made: Record<string, Keyword> = Object.create(null) as Record<string, Keyword>
  for (const [name, keyword] of rows) made[name] = keyword
  return made
}

export const KEYWORDS: Readonly<Record<Draft, Table>> = {
  '2020-12': keywordTable(DRAFT_2020_12),
  '2019-09': keywordTable(DRAFT_2019_09),
  'draft-07': keywordTable(DRAFT_07),
}

/** Draft and vocabularies by which a schema resource is read. */
export interface SchemaDialect {
  draft: Draft
  vocabularies: ReadonlySet<Vocabulary>
}

const OF_2019: readonly Vocabulary[] = ['core', 'applicator', 'validation', 'meta-data', 'format', 'content']
const OF_2020: readonly Vocabulary[] = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format', 'content']

/** draft-07 has no vocabularies: all its keywords apply. */
const VOCABULARIES: Readonly<Record<Draft, readonly Vocabulary[]>> = {
  '2020-12': OF_2020,
  '2019-09': OF_2019,
  'draft-07': OF_2019,
}

const METASCHEMA_URI: Readonly<Record<Draft, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
}

export function dialectOfDraft(draft: Draft): SchemaDialect {
  return { draft, vocabularies: new Set(VOCABULARIES[draft]) }
}

/** Name of a vocabulary in URIs; only 2020-12 says in the name that formats are annotations. */
function vocabularyName(draft: Draft, vocabulary: Vocabulary): string {
  return draft === '2020-12' && vocabulary === 'format' ? 'format-annotation' : vocabulary
}

/** Dialect of a `$schema` URI; null if unknown. Accepts http and https, and ignores an empty fragment. */
function knownDialect(uri: string): SchemaDialect | null {
  const bare = uri.replace(/#$/, '').replace(/^https?:/, '')
  const draft = (Object.keys(METASCHEMA_URI) as Draft[]).find((one) => METASCHEMA_URI[one].replace(/^https?:/, '') === bare)
  return draft === undefined ? null : dialectOfDraft(draft)
}

/** Maximum length of a chain of metaschemas. */
const METASCHEMA_DEPTH = 4

type DialectAnswer = { ok: true; dialect: SchemaDialect } | { ok: false; code: 'dialect_unknown' | 'vocabulary_unknown' }

/**
 * Dialect of a schema with this metaschema. A custom metaschema is followed if it was supplied: it is based on a draft and lists its
 * vocabularies.
 */
export function findDialect(uri: string, documents: Readonly<Record<string, unknown>>, depth = METASCHEMA_DEPTH): DialectAnswer {
  const known = knownDialect(uri)
  if (known !== null) return { ok: true, dialect: known }
  const bare = uri.replace(/#$/, '')
  const metaschema = Object.hasOwn(documents, bare) ? documents[bare] : undefined
  if (depth === 0 || !isObject(metaschema)) return { ok: false, code: 'dialect_unknown' }
  const behind = ownMember(metaschema, '$schema')
  const answer = findDialect(typeof behind === 'string' ? behind : METASCHEMA_URI['2020-12'], documents, depth - 1)
  const declared = ownMember(metaschema, '$vocabulary')
  return answer.ok && isObject(declared) ? declaredDialect(answer.dialect.draft, declared) : answer
}

function declaredDialect(draft: Draft, declared: JsonRecord): DialectAnswer {
  const vocabularies = new Set<Vocabulary>(['core'])
  for (const [uri, required] of Object.entries(declared)) {
    const prefix = `https://json-schema.org/draft/${draft}/vocab/`
    const known = VOCABULARIES[draft].find((one) => prefix + vocabularyName(draft, one) === uri)
    if (known !== undefined) vocabularies.add(known)
    else if (required === true) return { ok: false, code: 'vocabulary_unknown' }
  }
  return { ok: true, dialect: { draft, vocabularies } }
}

interface FormRule {
  /** As written in error messages. */
  description: string
  /** Of subschemas only their places are checked; the walk reads the schemas themselves. */
  accepts(value: unknown): boolean
  /** The form as a schema; `self` refers to the metaschema itself. */
  schema(self: Readonly<Record<string, string>>): unknown
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const

const TEXT_SET = { type: 'array', items: { type: 'string' }, uniqueItems: true }
const schemaList = (self: unknown) => ({ type: 'array', minItems: 1, items: self })
const mapOf = (values: unknown) => ({ type: 'object', additionalProperties: values })

export const FORMS = {
  any: { description: 'any value', accepts: () => true, schema: () => true },
  schema: { description: 'a schema: an object or a boolean', accepts: isSchema, schema: (self) => self },
  schema_list: { description: 'an array of at least one schema', accepts: isSchemaList, schema: schemaList },
  schema_map: { description: 'an object whose values are schemas', accepts: (value) => isMapOf(value, isSchema), schema: mapOf },
  schema_or_list: {
    description: 'a schema, or an array of at least one schema',
    accepts: (value) => isSchema(value) || isSchemaList(value),
    schema: (self) => ({ anyOf: [self, schemaList(self)] }),
  },
  dependencies: {
    description: 'an object whose values are schemas or arrays of distinct names',
    accepts: (value) => isMapOf(value, (one) => isSchema(one) || isTextSet(one)),
    schema: (self) => mapOf({ anyOf: [self, TEXT_SET] }),
  },
  list: { description: 'an array', accepts: Array.isArray, schema: () => ({ type: 'array' }) },
  boolean: { description: 'true or false', accepts: isBoolean, schema: () => ({ type: 'boolean' }) },
  boolean_map: {
    description: 'an object whose values are true or false',
    accepts: (value) => isMapOf(value, isBoolean),
    schema: () => mapOf({ type: 'boolean' }),
  },
  count: {
    description: 'a whole number, zero or more',
    accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
    schema: () => ({ type: 'integer', minimum: 0 }),
  },
  number: { description: 'a number', accepts: (value) => typeof value === 'number', schema: () => ({ type: 'number' }) },
  number_above_zero: {
    description: 'a number greater than zero',
    accepts: (value) => typeof value === 'number' && value > 0,
    schema: () => ({ type: 'number', exclusiveMinimum: 0 }),
  },
  text: { description: 'a string', accepts: (value) => typeof value === 'string', schema: () => ({ type: 'string' }) },
  text_set: { description: 'an array of distinct names', accepts: isTextSet, schema: () => TEXT_SET },
  text_set_map: {
    description: 'an object whose values are arrays of distinct names',
    accepts: (value) => isMapOf(value, isTextSet),
    schema: () => mapOf(TEXT_SET),
  },
  type: {
    description: 'the name of a type, or an array of distinct ones',
    accepts: isType,
    schema: () => ({ anyOf: [{ enum: [...TYPES] }, { type: 'array', items: { enum: [...TYPES] }, minItems: 1, uniqueItems: true }] }),
  },
  identifier: patternForm('a reference without fragment', '^[^#]*#?$'),
  anchor: patternForm('a name of letters, digits, dots, hyphens and underscores', '^[A-Za-z_][-A-Za-z0-9._]*$'),
  anchor_2019: patternForm('a name of letters, digits, dots, colons, hyphens and underscores', '^[A-Za-z][-A-Za-z0-9.:_]*$'),
} as const satisfies Record<string, FormRule>

function patternForm(description: string, pattern: string): FormRule {
  const expression = new RegExp(pattern)
  return {
    description,
    accepts: (value) => typeof value === 'string' && expression.test(value),
    schema: () => ({ type: 'string', pattern }),
  }
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isObject(value)
}

function isSchemaList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema)
}

function isMapOf(value: unknown, accepts: (member: unknown) => boolean): boolean {
  return isObject(value) && Object.entries(value).every(([, one]) => accepts(one))
}

function isTextSet(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') && new Set(value).size === value.length
}

function isType(value: unknown): boolean {
  const known = (one: unknown) => (TYPES as readonly unknown[]).includes(one)
  return known(value) || (Array.isArray(value) && value.length > 0 && value.every(known) && new Set(value).size === value.length)
}

/**
 * Metaschemas of the three drafts, generated from the keyword table: a schema passes exactly if its keywords have their form. Titles and
 * defaults of the published documents are left out.
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

/** Metaschema, or part of one, with this URI; null if there is none. */
export function findMetaschema(uri: string): Record<string, unknown> | null {
  for (const draft of ['2020-12', '2019-09', 'draft-07'] as const) {
    if (uri === METASCHEMA_URI[draft]) return draft === 'draft-07' ? singleMetaschema(draft) : composedMetaschema(draft)
    const vocabulary = VOCABULARIES[draft].find((one) => draft !== 'draft-07' && uri === vocabularyUri(draft, one))
    if (vocabulary !== undefined) return vocabularyMetaschema(draft, vocabulary)
  }
  return null
}

function vocabularyUri(draft: Draft, vocabulary: Vocabulary): string {
  return `https://json-schema.org/draft/${draft}/meta/${vocabularyName(draft, vocabulary)}`
}

function metaschemaProperties(draft: Draft, takes: (keyword: Keyword) => boolean): Record<string, unknown> {
  const rows = Object.entries(KEYWORDS[draft]).filter(([, keyword]) => takes(keyword))
  return Object.fromEntries(rows.map(([name, { form }]) => [name, FORMS[form].schema(SELF[draft])]))
}

function metaschemaHead(draft: Draft, uri: string): Record<string, unknown> {
  return { $schema: METASCHEMA_URI[draft], $id: uri, ...ANCHOR[draft], type: ['object', 'boolean'] }
}

function singleMetaschema(draft: Draft): Record<string, unknown> {
  return { ...metaschemaHead(draft, METASCHEMA_URI[draft]), properties: metaschemaProperties(draft, () => true) }
}

function composedMetaschema(draft: Draft): Record<string, unknown> {
  const allOf = VOCABULARIES[draft].map((vocabulary) => ({ $ref: vocabularyUri(draft, vocabulary) }))
  return { ...metaschemaHead(draft, METASCHEMA_URI[draft]), allOf, properties: metaschemaProperties(draft, ({ retired }) => retired) }
}

function vocabularyMetaschema(draft: Draft, vocabulary: Vocabulary): Record<string, unknown> {
  const takes = (keyword: Keyword) => keyword.vocabulary === vocabulary && !keyword.retired
  return { ...metaschemaHead(draft, vocabularyUri(draft, vocabulary)), properties: metaschemaProperties(draft, takes) }
}
