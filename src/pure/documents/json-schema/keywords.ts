/**
 * What the three dialects know: each keyword with the vocabulary that it belongs to and the form that its value must have. Read off the
 * specifications: draft-07 (March 2018), 2019-09 (September 2019), 2020-12 (June 2022 patch), core and validation. From this one table
 * come the check of a schema's form, the walk to the schemas inside it, and the metaschemas.
 */

export const DRAFTS = ['2020-12', '2019-09', 'draft-07'] as const

export type Draft = (typeof DRAFTS)[number]

export type Vocabulary = 'core' | 'applicator' | 'unevaluated' | 'validation' | 'meta-data' | 'format' | 'content'

/** What a keyword's value may be; the forms that hold schemas say where. */
export type Form =
  | 'schema'
  | 'schema_list'
  | 'schema_map'
  | 'schema_or_list'
  | 'dependencies'
  | 'any'
  | 'list'
  | 'boolean'
  | 'boolean_map'
  | 'count'
  | 'number'
  | 'number_above_zero'
  | 'text'
  | 'text_set'
  | 'text_set_map'
  | 'type'
  | 'identifier'
  | 'anchor'
  | 'anchor_2019'

export interface Keyword {
  vocabulary: Vocabulary
  form: Form
}

type Table = Readonly<Record<string, Keyword>>

function all(vocabulary: Vocabulary, form: Form, names: string): [string, Keyword][] {
  return names.split(' ').map((name) => [name, { vocabulary, form }])
}

const SHARED: [string, Keyword][] = [
  ...all('core', 'text', '$schema $ref $comment'),
  ...all('applicator', 'schema_list', 'allOf anyOf oneOf'),
  ...all('applicator', 'schema', 'not if then else additionalProperties propertyNames contains'),
  ...all('applicator', 'schema_map', 'properties patternProperties'),
  ...all('validation', 'type', 'type'),
  ...all('validation', 'any', 'const'),
  ...all('validation', 'list', 'enum'),
  ...all('validation', 'number_above_zero', 'multipleOf'),
  ...all('validation', 'number', 'maximum exclusiveMaximum minimum exclusiveMinimum'),
  ...all('validation', 'count', 'maxLength minLength maxItems minItems maxProperties minProperties'),
  ...all('validation', 'text', 'pattern'),
  ...all('validation', 'boolean', 'uniqueItems'),
  ...all('validation', 'text_set', 'required'),
  ...all('meta-data', 'text', 'title description'),
  ...all('meta-data', 'any', 'default'),
  ...all('meta-data', 'boolean', 'readOnly writeOnly'),
  ...all('meta-data', 'list', 'examples'),
  ...all('format', 'text', 'format'),
  ...all('content', 'text', 'contentMediaType contentEncoding'),
]

const SINCE_2019: [string, Keyword][] = [
  ...SHARED,
  ...all('core', 'identifier', '$id'),
  ...all('core', 'boolean_map', '$vocabulary'),
  ...all('core', 'schema_map', '$defs'),
  ...all('applicator', 'schema_map', 'dependentSchemas'),
  ...all('validation', 'count', 'minContains maxContains'),
  ...all('validation', 'text_set_map', 'dependentRequired'),
  ...all('meta-data', 'boolean', 'deprecated'),
  ...all('content', 'schema', 'contentSchema'),
]

const SEVEN: [string, Keyword][] = [
  ...SHARED,
  ...all('core', 'text', '$id'),
  ...all('core', 'schema_map', 'definitions'),
  ...all('applicator', 'schema_or_list', 'items'),
  ...all('applicator', 'schema', 'additionalItems'),
  ...all('applicator', 'dependencies', 'dependencies'),
]

const NINETEEN: [string, Keyword][] = [
  ...SINCE_2019,
  ...all('core', 'anchor_2019', '$anchor'),
  ...all('core', 'text', '$recursiveRef'),
  ...all('core', 'boolean', '$recursiveAnchor'),
  ...all('applicator', 'schema_or_list', 'items'),
  ...all('applicator', 'schema', 'additionalItems unevaluatedItems unevaluatedProperties'),
]

const TWENTY: [string, Keyword][] = [
  ...SINCE_2019,
  ...all('core', 'anchor', '$anchor $dynamicAnchor'),
  ...all('core', 'text', '$dynamicRef'),
  ...all('applicator', 'schema_list', 'prefixItems'),
  ...all('applicator', 'schema', 'items'),
  ...all('unevaluated', 'schema', 'unevaluatedItems unevaluatedProperties'),
]

/** Without a prototype, so that a keyword named like a method of objects is found only when it stands here. */
function table(rows: [string, Keyword][]): Table {
  const made: Record<string, Keyword> = Object.create(null) as Record<string, Keyword>
  for (const [name, keyword] of rows) made[name] = keyword
  return made
}

export const KEYWORDS: Readonly<Record<Draft, Table>> = {
  '2020-12': table(TWENTY),
  '2019-09': table(NINETEEN),
  'draft-07': table(SEVEN),
}

/** Keywords that the later drafts took back; schemas under them can still be referred to, and their form is still looked at. */
export const RETIRED: Readonly<Record<Draft, Table>> = {
  '2020-12': table([...all('core', 'schema_map', 'definitions'), ...all('core', 'dependencies', 'dependencies')]),
  '2019-09': table([...all('core', 'schema_map', 'definitions'), ...all('core', 'dependencies', 'dependencies')]),
  'draft-07': table([]),
}
