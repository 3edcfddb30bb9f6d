import { isObject } from '../../is-object.ts'
import { member, members, type JsonRecord } from './json.ts'
import type { Draft, Vocabulary } from './keywords.ts'

/** The rules that a schema resource is read by. */
export interface Dialect {
  draft: Draft
  vocabularies: ReadonlySet<Vocabulary>
}

const OF_2019: readonly Vocabulary[] = ['core', 'applicator', 'validation', 'meta-data', 'format', 'content']
const OF_2020: readonly Vocabulary[] = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format', 'content']

/** draft-07 has no vocabularies: its keywords always stand together. */
export const VOCABULARIES: Readonly<Record<Draft, readonly Vocabulary[]>> = {
  '2020-12': OF_2020,
  '2019-09': OF_2019,
  'draft-07': OF_2019,
}

export const METASCHEMA_URI: Readonly<Record<Draft, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
}

export function wholeDialect(draft: Draft): Dialect {
  return { draft, vocabularies: new Set(VOCABULARIES[draft]) }
}

/** How a vocabulary is named in URIs: only 2020-12 says in the name that formats are notes. */
export function vocabularyName(draft: Draft, vocabulary: Vocabulary): string {
  return draft === '2020-12' && vocabulary === 'format' ? 'format-annotation' : vocabulary
}

/** The dialect that a `$schema` names; null when it is none of ours. Both schemes are taken, and an empty fragment is no difference. */
function knownDialect(uri: string): Dialect | null {
  const bare = uri.replace(/#$/, '').replace(/^https?:/, '')
  const draft = (Object.keys(METASCHEMA_URI) as Draft[]).find((one) => METASCHEMA_URI[one].replace(/^https?:/, '') === bare)
  return draft === undefined ? null : wholeDialect(draft)
}

/** How many metaschemas may stand behind one another. */
const METASCHEMA_DEPTH = 4

export type DialectAnswer = { ok: true; dialect: Dialect } | { ok: false; code: 'dialect_unknown' | 'vocabulary_unknown' }

/**
 * The dialect of a schema that names this metaschema. A metaschema of somebody else is followed when it was handed in: it rests on a
 * draft, and says which vocabularies hold.
 */
export function findDialect(uri: string, documents: Readonly<Record<string, unknown>>, depth = METASCHEMA_DEPTH): DialectAnswer {
  const known = knownDialect(uri)
  if (known !== null) return { ok: true, dialect: known }
  const bare = uri.replace(/#$/, '')
  const metaschema = Object.hasOwn(documents, bare) ? documents[bare] : undefined
  if (depth === 0 || !isObject(metaschema)) return { ok: false, code: 'dialect_unknown' }
  const behind = member(metaschema, '$schema')
  const answer = findDialect(typeof behind === 'string' ? behind : METASCHEMA_URI['2020-12'], documents, depth - 1)
  const declared = member(metaschema, '$vocabulary')
  return answer.ok && isObject(declared) ? declaredDialect(answer.dialect.draft, declared) : answer
}

function declaredDialect(draft: Draft, declared: JsonRecord): DialectAnswer {
  const vocabularies = new Set<Vocabulary>(['core'])
  for (const [uri, required] of members(declared)) {
    const prefix = `https://json-schema.org/draft/${draft}/vocab/`
    const known = VOCABULARIES[draft].find((one) => prefix + vocabularyName(draft, one) === uri)
    if (known !== undefined) vocabularies.add(known)
    else if (required === true) return { ok: false, code: 'vocabulary_unknown' }
  }
  return { ok: true, dialect: { draft, vocabularies } }
}
