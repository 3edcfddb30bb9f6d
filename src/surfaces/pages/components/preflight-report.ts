import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { findJsonRanges, indentJson } from '../../../pure/documents/json-text.ts'
import { readStrictJson } from '../../../pure/documents/strict-json.ts'
import { readArtefact } from '../../../pure/protocols/artefacts/artefact.ts'
import type { HeadlineTone } from '../../../pure/headline.ts'
import { isObject, objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import type { FindingSeverity, ProtocolId } from '../../../pure/protocols/protocol.ts'
import { requestJson } from '../client/json-request.ts'
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
type CheckReply = { kind: 'answered'; ok: boolean; answer: Members } | { kind: 'unreachable' }

/** Content of the findings pane. */
type Shown =
  | { kind: 'empty' }
  | { kind: 'refused'; word: string; sentence: string }
  | { kind: 'unreadable'; message: string; position: Omit<FindingPosition, 'show'>; mark: Mark }
  | { kind: 'unreachable' }
  | { kind: 'problem'; problem: Readonly<Record<string, unknown>> }
  | { kind: 'report'; report: Report; positions: ReadonlyMap<Finding, Omit<FindingPosition, 'show'> & { mark: Mark }> }

/** View of an answer: the pane, the status line and the marks, for the text that was checked. */
function readResult(sent: CheckReply, text: string): { shown: Shown; status: string; marks: readonly Mark[] } {
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

/** Protocol, and what the reader states about the document; empty where nothing is stated. */
export interface Choices {
  protocol: ProtocolId
  document_type: string
  version: string
}

/** Limits of the service for a request and its document. */
interface RequestLimits {
  body_bytes: number
  depth: number
  nodes: number
}

/** The document and its last result. The text lives in its field; `text` follows it. */
export function useDocument(limits: RequestLimits) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState<Shown>({ kind: 'empty' })
  const [marks, setMarks] = useState<readonly Mark[]>([])
  const [target, setTarget] = useState<{ mark: Mark } | null>(null)
  const [status, setStatus] = useState('')
  const [busy, setBusy] = useState(false)
  const [part, setPart] = useState<string | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const payee = useRef<HTMLInputElement>(null)
  const checked_text = useRef('')
  const sender = useRef<Sender | null>(null)
  const showSent = (sent: Sent) => {
    if (sent.kind === 'checking') {
      checked_text.current = field.current?.value ?? ''
      return setStatus('Checking …')
    }
    if (sent.kind === 'waiting') return setStatus(`This minute’s documents are used up; the next is sent in ${sent.wait_s} s.`)
    setBusy(false)
    const result = readResult(sent, checked_text.current)
    setStatus(result.status)
    setShown(result.shown)
    setMarks(result.marks)
  }
  /** Shows why the text cannot be checked, or queues it to be sent. `now` skips the wait for more typing. */
  const check = (stated: Choices, now: boolean) => {
    const pasted = field.current?.value ?? ''
    const decoded = decodeText(pasted)
    const typed = decoded?.text ?? pasted
    if (decoded !== null && field.current !== null) field.current.value = typed
    if (decoded !== null || pasted === '') setPart(decoded?.part ?? null)
    setText(typed)
    setTarget(null)
    const body = requestBody(stated, payee.current?.value ?? '', typed)
    const refusal = refuse(typed, ENCODER.encode(body).length, limits)
    sender.current ??= new Sender(showSent)
    sender.current.offer(refusal === null ? body : null, now)
    setBusy(refusal === null)
    setMarks(refusal?.shown.kind === 'unreadable' ? [refusal.shown.mark] : [])
    if (refusal === null) return
    setShown(refusal.shown)
    setStatus(refusal.status)
  }
  const set = (next: string, stated: Choices) => {
    if (field.current === null) return
    field.current.value = next
    field.current.scrollTo(0, 0)
    field.current.setSelectionRange(0, 0)
    check(stated, true)
  }
  const show = (mark: Mark) => setTarget({ mark })
  const refuseFile = (sentence: string) => {
    setShown({ kind: 'refused', word: 'too large', sentence })
    setStatus('The file is too large.')
  }
  return { text, shown, marks, target, status, busy, part, field, payee, check, set, show, refuseFile }
}

/** The first document in a text that is not JSON, such as the output of `curl -i`; null if there is none, or the text is JSON itself. */
function decodeText(text: string): { text: string; part: string } | null {
  if (/^\s*[{[]/.test(text) && !text.trim().includes('\n{')) return null
  const [first, ...others] = readArtefact(text)
  if (first === undefined || first.part === null) return null
  const count = others.length === 0 ? '' : `, the first of ${others.length + 1} parts`
  return { text: indentJson(first.text), part: `${first.part}${count}` }
}

const ENCODER = new TextEncoder()

/** Body of a request. The document is inserted as typed, so that the service reads the same literals. */
function requestBody({ protocol, document_type, version }: Choices, expected_payee: string, text: string): string {
  const stated = Object.entries({ document_type, version, expected_payee }).map(([name, value]) =>
    value === '' ? '' : `,"${name}":${JSON.stringify(value)}`,
  )
  return `{"protocol":${JSON.stringify(protocol)}${stated.join('')},"document":${text}}`
}

/** Why a text is not sent; null if it is. */
function refuse(text: string, bytes: number, limits: RequestLimits): { shown: Shown; status: string } | null {
  if (text.trim() === '') return { shown: { kind: 'empty' }, status: '' }
  if (bytes > limits.body_bytes) {
    const sentence = `The request would have ${bytes} bytes; the maximum is ${limits.body_bytes}.`
    return { shown: { kind: 'refused', word: 'too large', sentence }, status: 'The document is too large.' }
  }
  const read = readStrictJson(text, limits, { unsafe_numbers: 'keep_text' })
  if (!read.ok) {
    const { position, line, column, message } = read
    const mark: Mark = { start: position, end: Math.min(position + 1, text.length), severity: 'error' }
    return {
      shown: { kind: 'unreadable', message, position: { line, column, exact: true }, mark },
      status: `Not readable at line ${line}, column ${column}.`,
    }
  }
  if (isObject(read.value)) return null
  const sentence = 'The document of every protocol here is a JSON object.'
  return { shown: { kind: 'refused', word: 'not an object', sentence }, status: 'Not an object.' }
}

/** State of a request: `waiting` after a 429, `checking` while it is in flight, then its result. */
type Sent = { kind: 'checking' } | { kind: 'waiting'; wait_s: number } | CheckReply

/** Quiet before a text is sent, and time between two of them: a client has sixty a minute. */
const QUIET_MS = 500
const BETWEEN_MS = 1_100
const FALLBACK_WAIT_S = 10

/**
 * Sends only the latest offered body: debounced, within the rate limit of the service, and with one request in flight at most. After a
 * 429 it waits for Retry-After, reports the remaining time, and then sends the body that is the latest by then.
 */
class Sender {
  private readonly told: (sent: Sent) => void
  private body: string | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private sending = false
  /** Counts what was offered, so that an answer to what is no longer there is dropped. */
  private turn = 0
  private free_at_ms = 0
  private quiet_at_ms = 0
  private held_until_ms = 0

  constructor(told: (sent: Sent) => void) {
    this.told = told
  }

  /** Offers the body of a request; null takes back what was offered. `now` skips the wait for more changes. */
  offer(body: string | null, now = false): void {
    this.turn++
    this.body = body
    this.quiet_at_ms = performance.now() + (now ? 0 : QUIET_MS)
    this.plan()
  }

  private plan(): void {
    clearTimeout(this.timer)
    if (this.body === null || this.sending) return
    const now_ms = performance.now()
    if (this.held_until_ms > now_ms) this.told({ kind: 'waiting', wait_s: Math.ceil((this.held_until_ms - now_ms) / 1_000) })
    const due_ms = Math.max(this.quiet_at_ms, this.free_at_ms, this.held_until_ms) - now_ms
    // While the service asks to wait, the remaining time is reported every second.
    const wait_ms = this.held_until_ms > now_ms ? Math.min(due_ms, 1_000) : due_ms
    this.timer = setTimeout(() => (performance.now() + 1 < this.held_until_ms ? this.plan() : void this.send()), Math.max(0, wait_ms))
  }

  private async send(): Promise<void> {
    const { body, turn } = this
    if (body === null) return
    this.body = null
    this.sending = true
    this.free_at_ms = performance.now() + BETWEEN_MS
    this.told({ kind: 'checking' })
    const sent = await post(body)
    this.sending = false
    if ('retry_after_s' in sent) {
      this.held_until_ms = performance.now() + sent.retry_after_s * 1_000
      if (turn === this.turn) this.body = body
    } else if (turn === this.turn) this.told(sent)
    this.plan()
  }
}

async function post(body: string): Promise<Sent | { retry_after_s: number }> {
  const reply = await requestJson('/v1/protocols/check', body)
  if (reply === null) return { kind: 'unreachable' }
  if (reply.status !== 429) return { kind: 'answered', ok: reply.ok, answer: reply.body ?? {} }
  return { retry_after_s: reply.retry_after_s || FALLBACK_WAIT_S }
}
