/**
 * The metaschemas of the three drafts, as far as schemas may refer to them: made from the table of keywords, so that a schema passes them
 * exactly when its keywords have their form. Titles and defaults of the published documents are left out.
 */
import { METASCHEMA_URI, VOCABULARIES, vocabularyName } from './dialects.ts'
import { formSchema } from './forms.ts'
import { KEYWORDS, RETIRED, type Draft, type Vocabulary } from './keywords.ts'

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
export function findMetaschema(uri: string): Record<string, unknown> | null {
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
