import { isObject } from '../../is-object.ts'
import { Budget } from './budget.ts'
import { wholeDialect } from './dialects.ts'
import { GAP_CODES, type Gap, type GapCode } from './gaps.ts'
import { member, survey } from './json.ts'
import type { Draft } from './keywords.ts'
import { addDocument, emptyLoad, SCHEMA_CHARS, SCHEMA_DEPTH, type Loaded } from './load.ts'
import type { SchemaNode } from './nodes.ts'

export interface SchemaOptions {
  /** The dialect of a schema that names none; 2020-12 when it is left out. */
  draft?: Draft
  /** Other schemas that may be referred to, by URI without fragment. */
  documents?: Readonly<Record<string, unknown>>
  /** The bound of the work, in steps. */
  steps?: number
}

/** Which dialect was taken, and who said so. */
export interface DialectUsed {
  /** Null when the schema names one that is not ours, or could not be read. */
  draft: Draft | null
  draft_source: 'schema' | 'input' | 'default'
}

export interface OpenedSchema {
  load: Loaded
  /** Null when the schema is out of bounds or no schema. */
  root: SchemaNode | null
  used: DialectUsed
  /** Why it cannot be applied. */
  gaps: Gap[]
}

/** Bound of the work where none is given. */
const STEPS = 2_000_000

/** Reads a schema with all that is inside it. */
export function openSchema(schema: unknown, { draft, documents = {}, steps = STEPS }: SchemaOptions): OpenedSchema {
  const load = emptyLoad(documents, new Budget(steps))
  const otherwise = wholeDialect(draft ?? '2020-12')
  const named = isObject(schema) && typeof member(schema, '$schema') === 'string'
  const draft_source = named ? 'schema' : draft === undefined ? 'default' : 'input'
  const unread = { load, root: null, used: { draft: named ? null : otherwise.draft, draft_source } } as const
  const fault = survey(schema, SCHEMA_DEPTH, SCHEMA_CHARS)
  if (fault !== null) return { ...unread, gaps: [gapOf(`schema_${fault}`)] }
  if (!isObject(schema) && typeof schema !== 'boolean') return { ...unread, gaps: [gapOf('schema_not_json')] }
  const root = addDocument(load, schema, '', otherwise)
  const { dialect, gap } = root.resource
  if (load.budget.exhausted) return { ...unread, gaps: [gapOf('budget_exceeded')] }
  if (gap !== null) return { load, root, used: { draft: null, draft_source }, gaps: [gapOf(gap, '/$schema', '$schema')] }
  return { load, root, used: { draft: dialect.draft, draft_source }, gaps: load.malformed }
}

export function gapOf(code: GapCode, schema_path = '', keyword: string | null = null): Gap {
  return { code, schema_path, keyword, message: GAP_CODES[code] }
}
