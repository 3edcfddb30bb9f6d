import { findJsonRanges } from '../pure/documents/json-text.ts'
import type { PreflightFinding, PreflightReport } from '../pure/protocols/check.ts'

/** Reports of the preflight in the formats of other tools. */

/** One document of a file, and what was found in it. */
export interface CheckedPart {
  file: string
  /** Place of the document in the file; null if it is the whole file. */
  part: string | null
  /** The document as JSON. */
  text: string
  report: PreflightReport
}

interface Place {
  finding: PreflightFinding
  /** Counted from 1; null where the document is a decoded part of the file. */
  line: number | null
  column: number | null
}

/** Findings with their place in the file, errors first. */
function placesOf({ part, text, report }: CheckedPart): Place[] {
  const findings = [...report.errors, ...report.warnings]
  if (part !== null) return findings.map((finding) => ({ finding, line: null, column: null }))
  const ranges = findJsonRanges(
    text,
    findings.map(({ path }) => path),
  )
  const starts = lineStarts(text)
  return findings.map((finding) => {
    const start = ranges.get(finding.path)?.start ?? 0
    const line = lastAtMost(starts, start)
    return { finding, line: line + 1, column: start - (starts[line] ?? 0) + 1 }
  })
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function lastAtMost(starts: readonly number[], position: number): number {
  const after = starts.findIndex((start) => start > position)
  return after === -1 ? starts.length - 1 : after - 1
}

function messageOf({ part }: CheckedPart, { message, hint, path }: PreflightFinding): string {
  const where = part === null ? '' : ` (${part}, ${path === '' ? 'the whole document' : path})`
  return `${message} ${hint}${where}`
}

/** SARIF 2.1.0 (OASIS, 27 March 2020): one run, each finding as a result. */
export function sarifLog(checked: readonly CheckedPart[]): object {
  const rules = new Map<string, object>()
  const results = checked.flatMap((one) =>
    placesOf(one).map(({ finding, line, column }) => {
      const { code, severity, spec, path } = finding
      rules.set(code, { id: code, helpUri: spec.url, shortDescription: { text: spec.section } })
      const region = line === null ? {} : { region: { startLine: line, startColumn: column } }
      const physicalLocation = { artifactLocation: { uri: uriOf(one.file) }, ...region }
      return {
        ruleId: code,
        level: severity,
        message: { text: messageOf(one, finding) },
        locations: [{ physicalLocation, logicalLocations: [{ fullyQualifiedName: path }] }],
      }
    }),
  )
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'assay preflight', rules: [...rules.values()].map(withAbsoluteHelp) } }, results }],
  }
}

/** Rules of the preflight itself name a path of a service, which is not a URI. */
function withAbsoluteHelp(rule: object): object {
  const { helpUri, ...rest } = rule as { helpUri: string }
  return helpUri.startsWith('/') ? rest : rule
}

function uriOf(file: string): string {
  return file === '-' ? 'stdin' : file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
}

/** Annotations of GitHub Actions: one workflow command a finding. */
export function githubLines(checked: readonly CheckedPart[]): string[] {
  return checked.flatMap((one) =>
    placesOf(one).map(({ finding, line, column }) => {
      const place = line === null ? '' : `,line=${line},col=${column}`
      return `::${finding.severity} file=${escapeProperty(one.file)}${place},title=${escapeProperty(finding.code)}::${escapeData(messageOf(one, finding))}`
    }),
  )
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
