import type { VNode } from 'preact'
import { findJsonRanges } from '../../../pure/documents/json-text.ts'
import type { HeadlineTone } from '../../../pure/headline.ts'
import { isObject, objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import type { FindingSeverity } from '../../../pure/protocols/protocol.ts'
import { html } from '../html.ts'
import { Lines, type Mark } from './document-editor.ts'
import { NoAnswer, ProblemView } from './problem.ts'
import { MarkShape, Verdict } from './verdict.ts'

/** A finding as the service writes it, read without trust. */
interface Finding {
  code: string
  severity: FindingSeverity
  path: string
  message: string
  hint: string
  expected: string | null
  spec: { url: string; section: string } | null
}

interface Report {
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
function readReport(answer: Members): Report | null {
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
interface FindingPosition {
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
function ReportView({ report, parts, positionOf }: ReportViewProps) {
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

function countWords({ status, findings }: Report): string {
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
function PlaceButton({ line, column, exact, show }: FindingPosition) {
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

/** Answer of the service to a document; `unreachable` if none came. */
export type CheckReply = { kind: 'answered'; ok: boolean; answer: Members } | { kind: 'unreachable' }

/** Content of the findings pane. */
export type Shown =
  | { kind: 'empty' }
  | { kind: 'refused'; word: string; sentence: string }
  | { kind: 'unreadable'; message: string; position: Omit<FindingPosition, 'show'>; mark: Mark }
  | { kind: 'unreachable' }
  | { kind: 'problem'; problem: Readonly<Record<string, unknown>> }
  | { kind: 'report'; report: Report; positions: ReadonlyMap<Finding, Omit<FindingPosition, 'show'> & { mark: Mark }> }

/** View of an answer: the pane, the status line and the marks, for the text that was checked. */
export function readResult(sent: CheckReply, text: string): { shown: Shown; status: string; marks: readonly Mark[] } {
  if (sent.kind === 'unreachable') return { shown: { kind: 'unreachable' }, status: 'The service could not be reached.', marks: [] }
  const { answer } = sent
  const report = sent.ok ? readReport(answer) : null
  if (report === null) {
    const paths = objectsIn(answer['errors']).flatMap(({ pointer }) => /^\/document(.*)$/s.exec(String(pointer))?.[1] ?? [])
    const marks = [...findJsonRanges(text, paths).values()].map(({ start, end }): Mark => ({ start, end, severity: 'error' }))
    const { title } = answer
    const status = typeof title === 'string' ? title : 'The document was refused.'
    return { shown: { kind: 'problem', problem: answer }, status, marks }
  }
  const lines = new Lines(text)
  const ranges = findJsonRanges(
    text,
    report.findings.map(({ path }) => path),
  )
  const positions = new Map(
    report.findings.flatMap((finding) => {
      const range = ranges.get(finding.path)
      if (range === undefined) return []
      const mark: Mark = { start: range.start, end: range.end, severity: finding.severity }
      return [[finding, { ...lines.place(range.start), exact: range.exact, mark }] as const]
    }),
  )
  const status = `${report.status.replaceAll('_', ' ')}: ${countWords(report)}`
  return {
    shown: { kind: 'report', report: inOrder(report, ranges), positions },
    status,
    marks: [...positions.values()].map(({ mark }) => mark),
  }
}

/** Errors before warnings, each in the order of the document. */
function inOrder(report: Report, ranges: ReadonlyMap<string, { start: number }>): Report {
  const at = ({ path }: Finding) => ranges.get(path)?.start ?? 0
  const rank = ({ severity }: Finding) => (severity === 'error' ? 0 : 1)
  return { ...report, findings: report.findings.toSorted((one, other) => rank(one) - rank(other) || at(one) - at(other)) }
}

export function ShownFindings({ shown, parts, show }: { shown: Shown; parts: readonly RulePart[]; show: (mark: Mark) => void }): VNode {
  switch (shown.kind) {
    case 'empty':
      return html`
        <p class="empty">Findings appear here while you type, each with its line, its rule and what to do.</p>
        <p class="empty">No document at hand? Take an example: a correct one, or a faulty one.</p>
      `
    case 'refused':
      return html`<${Verdict} headline=${headline(shown.word, shown.sentence)} />`
    case 'unreadable':
      return html`
        <${Verdict} headline=${headline('not readable', shown.message)} />
        <p class="rule"><${PlaceButton} ...${shown.position} show=${() => show(shown.mark)} /></p>
        <p class="hint">Nothing was sent. It is checked as soon as it reads as strict JSON.</p>
      `
    case 'unreachable':
      return html`<${NoAnswer} message="It may be stopped, or this device is offline." />`
    case 'problem':
      return html`<${ProblemView} problem=${shown.problem} />`
    case 'report': {
      const positionOf = (finding: Finding): FindingPosition | null => {
        const found = shown.positions.get(finding)
        return found === undefined ? null : { ...found, show: () => show(found.mark) }
      }
      return html`<${ReportView} report=${shown.report} parts=${parts} positionOf=${positionOf} />`
    }
  }
}

function headline(word: string, sentence: string): { tone: HeadlineTone; word: string; sentence: string; code: string } {
  return { tone: 'bad', word, sentence, code: '' }
}
