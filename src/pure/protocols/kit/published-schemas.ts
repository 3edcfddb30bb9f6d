import { isObject } from '../../is-object.ts'
import { readPointer } from '../../documents/json-schema/json.ts'
import { compileJsonSchema, type CompiledSchema } from '../../documents/json-schema/validate.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { FindingDetails, ReportFinding, RuleContext } from '../protocol.ts'
import { isDate, readDateTime } from './dates.ts'
import { containsRedaction } from './expect.ts'
import { describeUriFault } from './url.ts'

/** The schemas that the protocols publish (data/protocol-schemas), run by the interpreter for JSON Schema: nothing is fetched or generated. */

type SchemaFiles = Readonly<Record<string, unknown>>

/** Schemas of one protocol: version → file name → schema. */
export type PublishedSchemas = Readonly<Record<string, SchemaFiles>>

/** Places where a schema is not followed, with the reason in a comment: an expression for pointers, and for the keyword that refuses. */
export interface SchemaExemption {
  path: RegExp
  keyword?: RegExp
}

export interface SchemaSet {
  schemas: PublishedSchemas
  exemptions: readonly SchemaExemption[]
  /** One compiled schema for each version and root. */
  compiled: Map<string, CompiledSchema | null>
}

export function schemaSet(schemas: PublishedSchemas, exemptions: readonly SchemaExemption[]): SchemaSet {
  return { schemas, exemptions, compiled: new Map() }
}

/** Base of the file names, so that references between files resolve. */
const BASE = 's://a/'

/** A reference to a file, or to a definition in it by a JSON pointer. */
export function schemaRef(path: string): { $ref: string } {
  return { $ref: `${BASE}${path}` }
}

/** Formats that a reader of the protocols refuses; all others are annotations. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => describeUriFault(text) === null,
  'date-time': (text) => readDateTime(text) !== null,
  date: isDate,
  email: (text) => /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(text),
}

/** Steps for reading a schema and applying it to the largest document. */
const STEPS = 20_000_000

function compiledSchema({ schemas, compiled }: SchemaSet, version: string, root: object): CompiledSchema | null {
  const files = schemas[version]
  if (files === undefined) return null
  const key = `${version} ${JSON.stringify(root)}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const documents = Object.fromEntries(Object.entries(files).map(([path, file]) => [`${BASE}${path}`, file]))
  const made = compileJsonSchema(root, { documents, formats: FORMATS, steps: STEPS })
  compiled.set(key, made)
  return made
}

/**
 * Reports where a value differs from the schema of a version, at places that no other rule has reported: one fault has one code. Faults that
 * depend on everything below a place are not reported where something below is redacted.
 */
export function reportBySchema(error: ReportFinding, context: RuleContext, cursor: JsonCursor, set: SchemaSet, root: object): void {
  const { version } = context
  const schema = compiledSchema(set, version, root)
  if (schema === null || cursor.value === undefined) return
  const verdict = schema.validate(cursor.value, STEPS)
  if (verdict.outcome === 'undetermined') context.addNotChecked('parts of the published schema that are beyond the reader')
  const seen = new Set<string>()
  for (const fault of withoutBranches(verdict.errors)) {
    const place = cursorAt(cursor, readPointer(fault.instance_path))
    for (const at of fault.code === 'property_missing' ? missingMembers(set, version, fault.schema_path, place) : [place]) {
      const path = at.path()
      if (seen.has(path) || context.isReported(path) || isHidden(at, fault.code)) continue
      seen.add(path)
      const own = at.path().slice(cursor.path().length)
      const isExempt = set.exemptions.some(({ path: form, keyword }) => form.test(own) && keyword?.test(fault.keyword) !== false)
      if (!isExempt) error(at, ...wordsOf(fault.code, at))
    }
  }
}

type Faults = ReturnType<CompiledSchema['validate']>['errors']

/** The faults without those of the branches of a union, which follow the fault of the union at its place or below. */
function withoutBranches(faults: Faults): Faults {
  let union: string | null = null
  return faults.filter(({ code, instance_path }) => {
    if (union !== null && (instance_path === union || instance_path.startsWith(`${union}/`))) return false
    union = code === 'no_branch_matches' ? instance_path : null
    return true
  })
}

function cursorAt(cursor: JsonCursor, steps: readonly string[]): JsonCursor {
  let at = cursor
  for (const key of steps) at = (at.kind === 'array' ? at.items()[Number(key)] : undefined) ?? at.get(key)
  return at
}

/** Required members of the schema at a path that an object lacks; the object itself if they cannot be read. */
function missingMembers({ schemas }: SchemaSet, version: string, schema_path: string, place: JsonCursor): JsonCursor[] {
  const [uri = '', pointer = ''] = schema_path.split('#')
  let value: unknown = schemas[version]?.[uri.replace(BASE, '')]
  for (const step of readPointer(pointer))
    value = (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined
  const names = Array.isArray(value) ? value.filter((name) => typeof name === 'string' && !place.has(name)) : []
  return names.length === 0 ? [place] : names.map((name) => place.get(String(name)))
}

/** Faults that depend on everything below a place. */
const COMPOSITE = new Set([
  'no_branch_matches',
  'several_branches_match',
  'match_forbidden',
  'property_not_allowed',
  'not_unique',
  'too_few',
  'too_many',
])

function isHidden(cursor: JsonCursor, code: string): boolean {
  return cursor.redacted || (COMPOSITE.has(code) && containsRedaction(cursor.present ? cursor : (cursor.parent ?? cursor)))
}

const WORDS: Readonly<Record<string, string>> = {
  type_mismatch: 'has a type that the published schema does not allow',
  property_missing: 'is missing',
  no_branch_matches: 'fits none of the forms that the published schema allows',
  property_not_allowed: 'is not a member of the published schema',
  not_in_enum: 'is not one of the allowed values',
  not_const: 'is not the value that the published schema requires',
  pattern_mismatch: 'does not have the form that the published schema requires',
}

function wordsOf(code: string, at: JsonCursor): [string, FindingDetails] {
  const expected = code === 'property_missing' ? { expected: `the member ${at.label}` } : {}
  return [WORDS[code] ?? 'does not fit the published schema', expected]
}
