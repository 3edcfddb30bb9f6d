import { pathToFileURL } from 'node:url'
import type { MessageFinding, MessageProfile } from '../pure/documents/iso20022/rules.ts'

/** The answer to one file. */
export interface FileVerdict {
  file: string
  format: 'xml' | 'json' | 'ach' | null
  verdict: 'valid' | 'invalid' | 'undetermined'
  /** The format or message that was found, where it is not one that is judged. */
  found: string | null
  message_type: string | null
  version: string | null
  profile: MessageProfile | null
  finding_counts: Record<'error' | 'warning' | 'info', number>
  truncated: boolean
  findings: MessageFinding[]
}

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const

/** Findings of all files in the Static Analysis Results Interchange Format (SARIF 2.1.0, OASIS), which code hosts show at the lines. */
export function sarifLog(files: readonly FileVerdict[]): object {
  const results = files.flatMap(({ file, findings }) =>
    findings.map(({ code, severity, path, line, found, expected, message }) => ({
      ruleId: code,
      level: LEVELS[severity],
      message: {
        text: [message, found === null ? '' : `Found: ${found}.`, expected === null ? '' : `Expected: ${expected}.`].join(' ').trim(),
      },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: file === '-' ? 'stdin' : pathToFileURL(file).href },
            region: { startLine: line ?? 1 },
          },
          logicalLocations: [{ fullyQualifiedName: path }],
        },
      ],
    })),
  )
  const rules = [...new Set(results.map(({ ruleId }) => ruleId))].toSorted().map((id) => ({ id }))
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'assay validate', rules } }, results }],
  }
}
