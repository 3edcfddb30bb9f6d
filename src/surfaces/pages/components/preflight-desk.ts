import type { TargetedEvent, TargetedSubmitEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import SAMPLES from '../../../../data/samples/preflight.json' with { type: 'json' }
import { indentJson } from '../../../pure/documents/json-text.ts'
import { readStrictJson } from '../../../pure/documents/strict-json.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../../pure/protocols/protocol.ts'
import { html } from '../html.ts'
import { DocumentEditor } from './document-editor.ts'
import { CheckedRules, ShownFindings, useDocument, type Choices, type RulePart } from './preflight-report.ts'

export interface PreflightDeskProps {
  parts: readonly RulePart[]
  /** Limits of the service for a request and its document. */
  limits: Parameters<typeof useDocument>[0] & { payee_chars: number }
  statement: string
  /** Choices that the reader made before the script was loaded. */
  chosen?: Partial<Choices>
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
  const bytes = desk.text === '' ? 0 : new TextEncoder().encode(desk.text).length
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
      <span class="hint" id="about-document"
        >JSON, or a header, <code>curl -i</code> output, a HAR, events or a token, decoded here. At most ${body_bytes / KIB} KiB. Redact secrets first: put [REDACTED] in their place.</span
      >
      ${desk.part !== null && html`<span class="hint" id="read-part">Decoded: ${desk.part}.</span>`}
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

/** Sample of a protocol: a document that keeps its rules, and what is changed to break some. Members are named by JSON pointer. */
interface Sample {
  correct: unknown
  /** New values; null takes the member away. */
  faults: Readonly<Record<string, unknown>>
  /** Times that follow the clock, in seconds from now: of the document, and of its faulty form. */
  times?: Readonly<Record<string, number>>
  fault_times?: Readonly<Record<string, number>>
  /** Payee that the caller expects; the faulty sample pays a different one. */
  expected_payee?: string
}

interface SampleText {
  text: string
  expected_payee: string
}

/** The sample of a protocol as people write it, two spaces a level, at this Unix time. */
export function sampleText(protocol: ProtocolId, kind: 'correct' | 'faulty', now_s: number): SampleText {
  const { correct, faults, times, fault_times, expected_payee = '' }: Sample = SAMPLES[protocol]
  const document: unknown = structuredClone(correct)
  const change = (pointer: string, value: (former: unknown) => unknown) => put(document, pointer.split('/').slice(1), value)
  for (const [pointer, after_s] of Object.entries({ ...times, ...(kind === 'faulty' ? fault_times : {}) }))
    change(pointer, (former) => (typeof former === 'number' ? now_s + after_s : timeText(now_s + after_s)))
  if (kind === 'faulty') for (const [pointer, value] of Object.entries(faults)) change(pointer, () => value ?? undefined)
  return { text: JSON.stringify(document, null, 2), expected_payee: kind === 'faulty' ? expected_payee : '' }
}

function put(holder: unknown, [step = '', ...rest]: readonly string[], value: (former: unknown) => unknown): void {
  const members = holder as Record<string, unknown>
  if (rest.length > 0) put(members[step], rest, value)
  else members[step] = value(members[step])
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}
