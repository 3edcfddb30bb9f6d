import { isObject, objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import type { FindingSeverity } from '../../../pure/protocols/protocol.ts'
import { html } from '../html.ts'
import { MarkShape, Verdict } from './verdict.ts'

/** A finding as the service writes it, read without trust. */
export interface Finding {
  code: string
  severity: FindingSeverity
  path: string
  message: string
  hint: string
  expected: string | null
  spec: { url: string; section: string } | null
}

export interface Report {
  status: 'pass' | 'warn' | 'fail' | 'not_covered'
  protocol: string
  document_type: string
  version: string
  version_source: string
  /** Errors first. */
  findings: Finding[]
  checked: string[]
  not_checked: string[]
  truncated: boolean
  statement: string
}

/** The report in an answer; null when it is none. */
export function readReport(answer: Members): Report | null {
  const status = (['pass', 'warn', 'fail', 'not_covered'] as const).find((one) => one === answer['status'])
  if (status === undefined) return null
  return {
    status,
    protocol: textOf(answer['protocol']) ?? '',
    document_type: textOf(answer['document_type']) ?? '',
    version: textOf(answer['version']) ?? '',
    version_source: textOf(answer['version_source']) ?? '',
    findings: [...objectsIn(answer['errors']), ...objectsIn(answer['warnings'])].map(readFinding),
    checked: texts(answer['checked']),
    not_checked: texts(answer['not_checked']),
    truncated: answer['truncated'] === true,
    statement: textOf(answer['statement']) ?? '',
  }
}

function readFinding(finding: Members): Finding {
  const { spec } = finding
  return {
    code: textOf(finding['code']) ?? '',
    severity: finding['severity'] === 'warning' ? 'warning' : 'error',
    path: textOf(finding['path']) ?? '',
    message: textOf(finding['message']) ?? '',
    hint: textOf(finding['hint']) ?? '',
    expected: textOf(finding['expected']),
    spec: isObject(spec) ? { url: textOf(spec['url']) ?? '', section: textOf(spec['section']) ?? '' } : null,
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Rules of one protocol, or those for every protocol. */
export interface RulePart {
  id: string
  title: string
  /** Prefix of its rule codes. */
  prefix: string
  rules: number
  versions: readonly string[]
  /** Document types that may be stated. */
  types: readonly string[]
  not_checked: readonly string[]
}

/** Returns the address of the documentation of a rule. */
function ruleAddress(parts: readonly RulePart[], code: string): string {
  const part = parts.find(({ prefix }) => code.startsWith(`${prefix}-`))
  return part === undefined ? '/v1/protocols/rules' : `/v1/protocols/rules?protocol=${part.id}#${encodeURIComponent(code)}`
}

/** Position of a finding in the checked text. */
export interface FindingPosition {
  line: number
  column: number
  /** False when the member is absent and the place around it is meant. */
  exact: boolean
  show(): void
}

const TONES = { pass: 'good', warn: 'caution', fail: 'bad', not_covered: 'caution' } as const
const SOURCES: Readonly<Record<string, string>> = {
  stated: 'as you stated',
  declared: 'as the document says',
  inferred: 'as its shape says',
  assumed: 'assumed: the document names none',
}

interface ReportViewProps {
  report: Report
  parts: readonly RulePart[]
  positionOf(finding: Finding): FindingPosition | null
}

/** Status, the type and version that the document was read as, and each finding with its place, rule and remedy. */
export function ReportView({ report, parts, positionOf }: ReportViewProps) {
  const { protocol, document_type, version, version_source } = report
  const word = report.status.replaceAll('_', ' ')
  return html`
    <${Verdict} headline=${{ tone: TONES[report.status], word, sentence: countWords(report), code: '' }} />
    <p class="scope-line">
      ${`Read as ${protocol} ${document_type.replaceAll('_', ' ')}, version ${version} (${SOURCES[version_source] ?? version_source}).`}
    </p>
    ${
      report.findings.length > 0 &&
      html`<ol class="bare found">
        ${report.findings.map((finding) => html`<${FindingItem} finding=${finding} parts=${parts} position=${positionOf(finding)} />`)}
      </ol>`
    }
    ${report.truncated && html`<p class="hint">There are more findings than are shown; correct these first.</p>`}
  `
}

export function countWords({ status, findings }: Report): string {
  if (status === 'not_covered') return 'No rules cover this type of document in this version; it neither passes nor fails.'
  if (status === 'pass') return 'No rule that was applied found anything.'
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const counted = (count: number, noun: string) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`])
  return `${[...counted(errors, 'error'), ...counted(findings.length - errors, 'warning')].join(', ')}.`
}

function FindingItem({ finding, parts, position }: { finding: Finding; parts: readonly RulePart[]; position: FindingPosition | null }) {
  const { code, severity, message, hint, expected, spec, path } = finding
  return html`<li class=${severity}>
    <p class="rule">
      <${MarkShape} mark=${severity === 'error' ? 'invalid' : 'unverifiable'} />
      <span class="word">${severity}</span>
      <a href=${ruleAddress(parts, code)}><code>${code}</code></a>
      ${position !== null && html`<${PlaceButton} ...${position} />`}
    </p>
    <p class="message">${message}</p>
    ${expected !== null && html`<p class="hint">Expected: ${expected}.</p>`}
    ${hint !== '' && html`<p class="hint">${hint}</p>`}
    <p class="hint where">
      <code>${path === '' ? 'the whole document' : path}</code>
      ${spec !== null && /^https?:\/\//.test(spec.url) && html`<a href=${spec.url} rel="noreferrer">source: ${spec.section}</a>`}
    </p>
  </li>`
}

/** Button that moves the caret to a place. */
export function PlaceButton({ line, column, exact, show }: FindingPosition) {
  const words = exact ? `line ${line}, column ${column}` : `absent, near line ${line}`
  return html`<button type="button" class="place" onClick=${show}>${words}</button>`
}

/** Lists the rules that were applied, with their number as the summary. */
export function CheckedRules({ checked, parts }: { checked: readonly string[]; parts: readonly RulePart[] }) {
  return html`<details>
    <summary>${checked.length} rules were applied</summary>
    <p class="codes">${checked.flatMap((code) => [html`<a href=${ruleAddress(parts, code)}>${code}</a>`, ' '])}</p>
  </details>`
}
