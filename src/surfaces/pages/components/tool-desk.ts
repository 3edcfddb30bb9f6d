import type { ComponentProps, ComponentType, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isObject, objectsIn, type Members } from '../../../pure/is-object.ts'
import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { showAllowance } from '../client/allowance.ts'
import { bringIntoView } from '../client/view.ts'
import { html } from '../html.ts'
import { Answer, headlineOf, type DocumentViews } from './answer.ts'
import { FieldRow, type FormField } from './form-fields.ts'
import { MyReceipts, storeReceipt } from './my-receipts.ts'
import { PayPanel, type PaymentWays } from './pay-panel.ts'
import { NoAnswer, ProblemView } from './problem.ts'
import type { Samples as CallSamples } from './samples.ts'
import { sendUntilSettled, type CallReply } from './send-call.ts'

type AnswerProps = ComponentProps<typeof Answer>

interface ToolDeskProps {
  /** Label of the button. */
  title: string
  target: ComponentProps<typeof CallSamples>['target']
  fields: readonly FormField[]
  /** The answer to the example; null where the tool reads sources or leaves a trace. */
  example: Members | null
  reading: AnswerProps['reading']
  ways: PaymentWays
  /** A desk on another page: fewer facts. */
  compact?: boolean
  /** The same call for programs, on the page of the tool. */
  samples?: typeof CallSamples
  /** Locates findings in the input, on pages of tools whose inputs are documents. */
  documents?: (result: Members, input: ReadonlyMap<string, string>) => DocumentViews | null
}

/** Form, answer and samples of one tool. */
export function ToolDesk(props: ToolDeskProps) {
  const { title, target, fields, ways, compact = false, samples: Samples } = props
  const example = inputText(exampleEntries(fields))
  const [input, setInput] = useState(example)
  const form = useRef<HTMLFormElement>(null)
  const desk = useCall(props, form)
  const readForm = () => {
    if (form.current === null) return
    const entries = formEntries(form.current)
    // Half-typed JSON does not change the samples.
    if (Object.keys(syntaxErrors(entries, fields)).length === 0) setInput(inputText(entries))
  }
  // The browser may have restored what was typed before a reload.
  useEffect(readForm, [])
  const restore = () => {
    form.current?.reset()
    setInput(example)
    desk.clear()
  }
  return html`<div class="halves">
    <form class="ask" id="ask" ref=${form} onInput=${readForm} onSubmit=${desk.submit} onFocusIn=${() => void verifier()}>
      ${fields.map((field) => html`<${FieldRow} field=${field} error=${desk.errors[field.name]} />`)}
      <p class="send">
        <button type="submit">${title}</button>
        <button type="button" class="plain" id="restore" disabled=${input === example} onClick=${restore}>Restore the example</button>
        ${ways.sandbox && html`<button type="button" class="plain" id="show-terms" onClick=${desk.showTerms}>Show me the 402</button>`}
        <span class=${`hint${desk.busy ? '' : ' heard'}`} id="asking" role="status">${desk.status}</span>
      </p>
      <noscript><p class="hint">This form needs JavaScript. The same call runs in a shell: see the samples.</p></noscript>
    </form>
    <section class=${compact ? 'answer' : 'answer whole'} id="answer" aria-label="Answer" aria-busy=${desk.busy ? 'true' : undefined}>
      <${Reply} ...${props} reply=${desk.reply} input=${desk.sent} pay=${desk.pay} />
    </section>
    ${Samples !== undefined && html`<div><${Samples} target=${target} input=${input} example=${example} /><${MyReceipts} /></div>`}
  </div>`
}

type Proof = ComponentType<{ receipt: Receipt; badge?: unknown }> | null

/** The verifier is the larger part of the scripts: it is loaded when the form gets the focus. */
let verifying: Promise<Proof> | null = null

function verifier(): Promise<Proof> {
  verifying ??= import('./receipt-proof.ts').then(
    ({ ReceiptProof }) => ReceiptProof,
    () => {
      verifying = null
      return null
    },
  )
  return verifying
}

interface ReplyState {
  /** Counts replies, so that each is rendered afresh. */
  turn: number
  reply: CallReply | null
  proof: Proof | undefined
}

/** A header that holds no payment: it is answered with the terms, and takes no free call. */
const NO_PAYMENT = { 'x-payment': 'e30=' }

/** State of the call: sends the form, keeps the latest reply and the errors of fields. */
function useCall({ fields, target, reading }: ToolDeskProps, form: { current: HTMLFormElement | null }) {
  const [state, setState] = useState<ReplyState>({ turn: 0, reply: null, proof: undefined })
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const [sent, setSent] = useState<readonly InputEntry[]>([])
  const latest = useRef(0)
  const send = async (entries: readonly InputEntry[], headers: Record<string, string> = {}) => {
    const turn = ++latest.current
    setBusy(true)
    const [reply, proof] = await Promise.all([sendUntilSettled(target.tool, inputText(entries), headers), verifier()])
    if (turn !== latest.current) return
    setBusy(false)
    setSent(entries)
    if (reply.kind === 'problem') setErrors(fieldErrors(reply.problem['errors']))
    if (reply.kind === 'answer') {
      showAllowance(reply.body['allowance'])
      storeReceipt(reply.body['receipt'])
    }
    setState({ turn, reply, proof })
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const entries = formEntries(event.currentTarget)
    const found = syntaxErrors(entries, fields)
    setErrors(found)
    const [first] = Object.keys(found)
    if (first === undefined) void send(entries)
    else form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus()
  }
  const clear = () => {
    setErrors({})
    setState({ turn: 0, reply: null, proof: undefined })
  }
  useEffect(() => {
    const pane = document.getElementById('answer')
    if (state.reply !== null && pane !== null) bringIntoView(pane)
  }, [state])
  const status = busy ? 'Running …' : state.reply === null ? '' : spokenReply(state.reply, reading)
  const pay = (headers: Record<string, string>) => void send(sent, headers)
  const showTerms = () => {
    if (form.current !== null) void send(formEntries(form.current), NO_PAYMENT)
  }
  return { reply: state, sent: new Map(sent.map(({ name, text }) => [name, text])), errors, busy, status, submit, clear, pay, showTerms }
}

/** The reply in one sentence, for screen readers. */
function spokenReply(reply: CallReply, reading: AnswerProps['reading']): string {
  switch (reply.kind) {
    case 'nothing':
      return reply.message
    case 'payment':
      return 'Today’s free calls are used.'
    case 'problem':
      return typeof reply.problem['title'] === 'string' ? reply.problem['title'] : 'The call was refused.'
    case 'answer': {
      const { word, sentence } = headlineOf(reply.body['result'], reading)
      return `${word}. ${sentence}`
    }
  }
}

interface ReplyProps extends ToolDeskProps {
  pay(headers: Record<string, string>): void
  reply: ReplyState
  input: ReadonlyMap<string, string>
}

function Reply({ reply: { turn, reply, proof }, pay, input, example, reading, ways, compact, documents }: ReplyProps) {
  if (reply === null) {
    if (example === null) return html`<p class="empty">Your result appears here: the decision, its reasons and a signed receipt.</p>`
    return html`<${Answer} key="example" answer=${{ result: example, receipt: null, text: null, documents: null }} reading=${reading} compact=${compact} />`
  }
  switch (reply.kind) {
    case 'nothing':
      return html`<${NoAnswer} message=${reply.message} />`
    case 'payment':
      return html`<${PayPanel} key=${turn} problem=${reply.problem} terms=${reply.terms} wait_s=${reply.wait_s} ways=${ways} pay=${pay} />`
    case 'problem':
      return html`<${ProblemView} problem=${reply.problem} />`
    case 'answer':
      return html`<${Answer} key=${turn} answer=${shownAnswer(reply.body, input, documents)} reading=${reading} proof=${proof} compact=${compact} />`
  }
}

function shownAnswer(body: Members, input: ReadonlyMap<string, string>, documents: ToolDeskProps['documents']): AnswerProps['answer'] {
  const result = isObject(body['result']) ? body['result'] : {}
  return {
    result,
    receipt: body['receipt'] as Receipt,
    badge: body['embeddable_badge'],
    text: JSON.stringify(body, null, 2),
    documents: documents?.(result, input) ?? null,
  }
}

/** One filled control of a form. */
interface InputEntry {
  name: string
  text: string
  /** The text is JSON, such as a number; other text becomes a string. */
  json: boolean
  optional: boolean
}

type FormControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The example that the server put into the form. */
function exampleEntries(fields: readonly FormField[]): InputEntry[] {
  return fields.map(({ name, kind, value, optional }) => ({ name, text: value, json: isJsonKind(kind), optional }))
}

function isJsonKind(kind: FormField['kind']): boolean {
  return kind === 'json' || kind === 'choice' || kind === 'number'
}

/** Returns the current entries of the form. */
function formEntries(form: HTMLFormElement): InputEntry[] {
  return [...form.querySelectorAll<FormControl>('[data-kind]')].map(({ name, value, dataset }) => ({
    name,
    text: value,
    json: dataset['kind'] === 'json',
    optional: dataset['optional'] !== undefined,
  }))
}

/** The input as JSON text. JSON is inserted as it was typed, so that the service reads the same literals. */
function inputText(entries: readonly InputEntry[]): string {
  const members = entries
    .filter(({ text, json, optional }) => text.trim() !== '' || (!json && !optional))
    .map(({ name, text, json }) => `${JSON.stringify(name)}:${json ? text.trim() : JSON.stringify(text)}`)
  return `{${members.join(',')}}`
}

/** Errors of entries that should be JSON and are not, by name. */
function syntaxErrors(entries: readonly InputEntry[], fields: readonly FormField[]): Record<string, string> {
  const broken = entries.filter(({ text, json }) => json && text.trim() !== '' && !isJson(text))
  return Object.fromEntries(
    broken.map(({ name, text }) => [
      name,
      fields.find((field) => field.name === name)?.kind === 'number'
        ? `"${text}" is not a number; use digits and a decimal point, such as 12.5.`
        : 'This is not valid JSON yet.',
    ]),
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Errors of a problem by the name of the field that they point into. */
function fieldErrors(errors: unknown): Record<string, string> {
  return Object.fromEntries(
    objectsIn(errors).flatMap(({ pointer, message }) => {
      const name = typeof pointer === 'string' ? /^\/input\/([^/]+)/.exec(pointer)?.[1] : undefined
      return name === undefined ? [] : [[name, String(message)]]
    }),
  )
}
