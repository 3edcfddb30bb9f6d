import type { TargetedEvent, TargetedSubmitEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { indentJson } from '../../../pure/documents/json-text.ts'
import { readStrictJson } from '../../../pure/documents/strict-json.ts'
import { isObject } from '../../../pure/is-object.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../../pure/protocols/protocol.ts'
import { requestJson } from '../client/json-request.ts'
import { sampleText } from '../client/preflight/samples.ts'
import { html } from '../html.ts'
import { DocumentEditor, type Mark } from './document-editor.ts'
import { CheckedRules, readResult, ShownFindings, type CheckReply, type RulePart, type Shown } from './preflight-report.ts'

export interface PreflightDeskProps {
  parts: readonly RulePart[]
  /** Limits of the service for a request and its document. */
  limits: { body_bytes: number; depth: number; nodes: number; payee_chars: number }
  statement: string
  /** Choices that the reader made before the script was loaded. */
  chosen?: Partial<Choices>
}

/** Protocol, and what the reader states about the document; empty where nothing is stated. */
export interface Choices {
  protocol: ProtocolId
  document_type: string
  version: string
}

/** Common short names of the protocols. */
const SHORT: Readonly<Record<ProtocolId, string>> = {
  ucp: 'UCP',
  acp: 'ACP',
  mcp: 'MCP',
  ap2: 'AP2',
  x402: 'x402',
  'micro-ast': 'Micro-AST',
  a2a: 'A2A',
}

const NOTHING_CHOSEN: Choices = { protocol: 'ucp', document_type: '', version: '' }
const ENCODER = new TextEncoder()

/** Form of the preflight: the text is parsed here first, then checked by the service, and each finding is marked at its place. */
export function PreflightDesk({ parts, limits, statement, chosen = {} }: PreflightDeskProps) {
  const desk = usePreflight(limits, chosen)
  const { choices, shown, busy } = desk
  const part = parts.find(({ id }) => id === choices.protocol)
  const report = shown.kind === 'report' && !busy ? shown.report : null
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    desk.check(choices, true)
  }
  return html`<form class="desk" id="preflight" autocomplete="off" onSubmit=${submit}>
    <${ProtocolChoice} part=${part} desk=${desk} payee_chars=${limits.payee_chars} />
    <${DocumentPaper} desk=${desk} body_bytes=${limits.body_bytes} />
    <section class="answer" id="answer" aria-label="Findings" aria-busy=${busy ? 'true' : undefined} inert=${busy}>
      <${ShownFindings} shown=${shown} parts=${parts} show=${desk.show} />
    </section>
    <section class="scope" aria-label="Scope">
      <h2>Checked</h2>
      <div id="checked">
        ${report === null ? html`<p>${rulesAhead(parts, part)}</p>` : html`<${CheckedRules} checked=${report.checked} parts=${parts} />`}
      </div>
      <h2>Not checked</h2>
      <ul id="not-checked">${(report?.not_checked ?? part?.not_checked ?? []).map((line) => html`<li>${line}</li>`)}</ul>
      <p id="statement">${report?.statement ?? statement}</p>
    </section>
  </form>`
}

function rulesAhead(parts: readonly RulePart[], part: RulePart | undefined): string {
  const common = parts.find(({ id }) => id === 'common')
  return (
    `Nothing yet. ${part?.rules ?? 0} rules of this protocol and ${common?.rules ?? 0} for every protocol are available; ` +
    'those for the type and version of the document will be applied.'
  )
}

type Preflight = ReturnType<typeof usePreflight>

/** The document and its last result. The text lives in its field; `text` follows it. */
function useDocument(limits: PreflightDeskProps['limits']) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState<Shown>({ kind: 'empty' })
  const [marks, setMarks] = useState<readonly Mark[]>([])
  const [target, setTarget] = useState<{ mark: Mark } | null>(null)
  const [status, setStatus] = useState('')
  const [busy, setBusy] = useState(false)
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
    const typed = field.current?.value ?? ''
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
  return { text, shown, marks, target, status, busy, field, payee, check, set, show, refuseFile }
}

/** State of the page: the choices, and the document with its result. */
function usePreflight(limits: PreflightDeskProps['limits'], chosen: Partial<Choices>) {
  const [choices, setChoices] = useState(NOTHING_CHOSEN)
  const { set, refuseFile, ...document } = useDocument(limits)
  const { check, field, payee } = document
  useLayoutEffect(() => {
    const stated = { ...NOTHING_CHOSEN, ...chosen }
    setChoices(stated)
    if (field.current !== null && field.current.value !== '') check(stated, false)
  }, [])
  return {
    ...document,
    choices,
    choose(changed: Partial<Choices>) {
      const stated = changed.protocol === undefined ? { ...choices, ...changed } : { ...NOTHING_CHOSEN, ...changed }
      setChoices(stated)
      check(stated, changed.protocol !== undefined)
    },
    fill(kind: 'correct' | 'faulty') {
      const now_s = Math.floor((performance.timeOrigin + performance.now()) / 1_000)
      const sample = sampleText(choices.protocol, kind, now_s)
      if (payee.current !== null) payee.current.value = sample.expected_payee
      const stated = { ...NOTHING_CHOSEN, protocol: choices.protocol }
      setChoices(stated)
      set(sample.text, stated)
    },
    indent() {
      const typed = field.current?.value ?? ''
      if (!readStrictJson(typed, limits, { unsafe_numbers: 'keep_text' }).ok) return check(choices, true)
      set(indentJson(typed), choices)
      field.current?.focus()
    },
    async open(file: File) {
      if (file.size > limits.body_bytes) {
        refuseFile(`The file has ${file.size} bytes; the maximum is ${limits.body_bytes}.`)
        return
      }
      set(await file.text(), choices)
      field.current?.focus()
    },
  }
}

/** Body of a request. The document is inserted as typed, so that the service reads the same literals. */
function requestBody({ protocol, document_type, version }: Choices, expected_payee: string, text: string): string {
  const stated = Object.entries({ document_type, version, expected_payee }).map(([name, value]) =>
    value === '' ? '' : `,"${name}":${JSON.stringify(value)}`,
  )
  return `{"protocol":${JSON.stringify(protocol)}${stated.join('')},"document":${text}}`
}

/** Why a text is not sent; null if it is. */
function refuse(text: string, bytes: number, limits: PreflightDeskProps['limits']): { shown: Shown; status: string } | null {
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

function ProtocolChoice({ part, desk, payee_chars }: { part: RulePart | undefined; desk: Preflight; payee_chars: number }) {
  const { choices, choose } = desk
  const chosen = (name: 'document_type' | 'version') => (event: TargetedEvent<HTMLSelectElement>) =>
    choose({ [name]: event.currentTarget.value })
  return html`<div class="choices">
    <fieldset class="chips protocols">
      <legend>Protocol</legend>
      ${PROTOCOL_IDS.map(
        (id) => html`<label
          ><input
            type="radio"
            name="protocol"
            value=${id}
            checked=${id === choices.protocol}
            onChange=${() => choose({ protocol: id })}
          /> <span>${SHORT[id]}</span></label
        >`,
      )}
      <p class="hint" id="protocol-title">
        ${part === undefined ? '' : `${part.title}, rules up to version ${part.versions[0] ?? ''}`}
      </p>
    </fieldset>
    <div class="field">
      <label for="document-type">Document type <span class="kind">optional</span></label>
      <select
        id="document-type"
        name="document_type"
        aria-describedby="about-type"
        value=${choices.document_type}
        onChange=${chosen('document_type')}
      >
        <option value="">as its shape says</option>
        ${part?.types.map((type) => html`<option key=${type} value=${type}>${type.replaceAll('_', ' ')}</option>`)}
      </select>
      <p class="hint" id="about-type">State it where the shape of the document could mean another type.</p>
    </div>
    <div class="field">
      <label for="version">Version <span class="kind">optional</span></label>
      <select id="version" name="version" aria-describedby="about-version" value=${choices.version} onChange=${chosen('version')}>
        <option value="">as it declares</option>
        ${part?.versions.map((version) => html`<option key=${version} value=${version}>${version}</option>`)}
      </select>
      <p class="hint" id="about-version">Version of the protocol to check by.</p>
    </div>
    <div class="field">
      <label for="payee">Expected payee <span class="kind">optional</span></label>
      <input
        id="payee"
        ref=${desk.payee}
        name="expected_payee"
        maxlength=${payee_chars}
        aria-describedby="about-payee"
        autocapitalize="off"
        spellcheck="false"
        onInput=${() => desk.check(choices, false)}
      />
      <p class="hint" id="about-payee">Whom you mean to pay: an address, an id or a host. Another payee is a finding.</p>
    </div>
  </div>`
}

const KIB = 1_024

function DocumentPaper({ desk, body_bytes }: { desk: Preflight; body_bytes: number }) {
  const picker = useRef<HTMLInputElement>(null)
  const open = (file: File | undefined) => void (file !== undefined && desk.open(file))
  const picked = (event: TargetedEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0]
    event.currentTarget.value = ''
    open(file)
  }
  const quiet = (id: string, words: string, act: () => void) =>
    html`<button type="button" class="quiet" id=${id} onClick=${act}>${words}</button>`
  const bytes = desk.text === '' ? 0 : ENCODER.encode(desk.text).length
  return html`<section class="paper" aria-labelledby="document-title">
    <div class="bar">
      <h2 id="document-title"><label for="document">document</label> <span class="kind">JSON</span></h2>
      <div class="acts">
        ${quiet('sample-correct', 'Correct example', () => desk.fill('correct'))}
        ${quiet('sample-faulty', 'Faulty example', () => desk.fill('faulty'))}
        ${quiet('open', 'Open a file', () => picker.current?.click())}
        ${quiet('indent', 'Indent', desk.indent)}
        <input type="file" id="file" ref=${picker} accept=".json,application/json,text/plain" hidden onChange=${picked} />
      </div>
    </div>
    <${DocumentEditor}
      text=${desk.text}
      marks=${desk.marks}
      target=${desk.target}
      field=${desk.field}
      onInput=${() => desk.check(desk.choices, false)}
      onFile=${open}
    />
    <p class="sheet-foot">
      <span class="hint" id="about-document">At most ${body_bytes / KIB} KiB. Redact secrets first: put [REDACTED] in their place.</span>
      <span class="hint size" id="size">${`${bytes.toLocaleString('en')} bytes`}</span>
    </p>
    <p class="send"><button type="submit">Check now</button> <span class="hint" id="asking" role="status">${desk.status}</span></p>
    <noscript>
      <p class="hint">
        This page needs JavaScript. In a shell: <code>assay preflight</code>, or <code>POST /v1/protocols/check</code>.
      </p>
    </noscript>
  </section>`
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
