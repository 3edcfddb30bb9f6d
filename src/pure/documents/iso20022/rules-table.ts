import { releaseTable } from '../../datasets/release-table.ts'
import type { Snapshot } from '../../datasets/definition.ts'
import messages from '../../../../data/iso20022/messages.json' with { type: 'json' }
import { RULES, RULES_VERSION } from './rules.ts'

/**
 * Rules of ISO 20022 messages and the SHA-256 of the structure tables as one dataset, so that an answer can name exactly what it was judged
 * by.
 */
export const ISO20022_RULES = releaseTable('iso20022_rules', snapshot)

function snapshot(): Snapshot {
  const rules = Object.entries(RULES).map(([id, { severity, message }]) => ({ kind: 'rule', id, severity, message }))
  const known = messages.messages.map((id) => ({ kind: 'message', id }))
  const rows = [...rules, ...known, { kind: 'structure', id: 'data/iso20022/types.json', sha256: messages.types_sha256 }]
  return {
    schema: 'assay/iso20022-rules/2',
    source: 'ISO 20022 message schemas and definition reports, EPC rulebooks, CBPR+, CGI-MP and Swiss guidelines',
    source_version: RULES_VERSION,
    published_at: null,
    compiled_at: RULES_VERSION,
    retrieved_at: RULES_VERSION,
    notes: 'Rules with their severity by profile, known messages, and the SHA-256 of the tables of their structure.',
    count: rows.length,
    rows,
  }
}
