import { releaseTable } from '../../datasets/release-table.ts'
import type { Snapshot } from '../../datasets/definition.ts'
import { MESSAGE_VERSIONS, RULES, RULES_VERSION } from './rules.ts'
import { CAMT053_TYPES, PACS008_TYPES, PAIN001_TYPES } from './structure-tables.ts'

/** Rules and structure tables of ISO 20022 messages as one dataset, so that an answer can name exactly what it was judged by. */
export const ISO20022_RULES = releaseTable('iso20022_rules', snapshot)

const TYPES = { 'pain.001': PAIN001_TYPES, 'pacs.008': PACS008_TYPES, 'camt.053': CAMT053_TYPES } as const

function snapshot(): Snapshot {
  const rules = Object.entries(RULES).map(([id, { severity, message }]) => ({ kind: 'rule', id, severity, message }))
  const versions = Object.entries(MESSAGE_VERSIONS).flatMap(([id, known]) =>
    [...known].map(([version, release_year]) => ({ kind: 'version', id, version, release_year })),
  )
  const types = Object.entries(TYPES).flatMap(([of, table]) =>
    Object.entries(table).map(([id, content]) => ({ kind: 'type', message: of, id, content })),
  )
  const rows = [...rules, ...versions, ...types]
  return {
    schema: 'assay/iso20022-rules/1',
    source: 'ISO 20022 message definition reports, EPC rulebooks, CBPR+, CGI-MP and Swiss guidelines',
    source_version: RULES_VERSION,
    published_at: null,
    compiled_at: RULES_VERSION,
    retrieved_at: RULES_VERSION,
    notes: 'Rules with their severity by profile, known message versions, and the types of each message.',
    count: rows.length,
    rows,
  }
}
