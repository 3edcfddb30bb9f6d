import type { TargetedEvent, TargetedSubmitEvent, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isObject } from '../../../pure/is-object.ts'
import { showAllowance } from '../client/allowance.ts'
import {
  FILE_SIDES,
  sideOf,
  type FileSide,
  type ReadProgress,
  type ReconcileSummary,
  type RunResult,
} from '../client/reconcile/messages.ts'
import { WorkerClient } from '../client/reconcile/worker-client.ts'
import { html } from '../html.ts'
import { storeReceipt } from './my-receipts.ts'
import type { PaymentWays } from './pay-panel.ts'
import { NoAnswer, ProblemView } from './problem.ts'
import { countText, ReconcileResult, resultHeadline, sizeText } from './reconcile-result.ts'
import { ReconcileRows } from './reconcile-rows.ts'
import { sendUntilSettled, type CallReply } from './send-call.ts'
import { Verdict } from './verdict.ts'

export interface ReconcileDeskProps {
  /** Address of the worker's script. */
  worker: string
  /** Largest file that the page takes. */
  file_bytes: number
  /** Largest body that the tool takes. */
  body_bytes: number
  ways: PaymentWays
}

type ChosenFiles = Partial<Record<FileSide, File>>

type DeskOutcome = RunResult | { kind: 'none' } | { kind: 'failed' } | { kind: 'too_large'; file: File }

const SIDES: Readonly<Record<FileSide, { title: string; formats: string; missing: string }>> = {
  instructions: { title: 'Payments', formats: 'pain.001 or pacs.008', missing: 'the payments file' },
  statement: { title: 'Bank statement', formats: 'camt.053 or an ACH file', missing: 'the bank statement' },
}

/** Form for two files, the result, its rows, and a signed answer on request. */
export function ReconcileDesk({ worker: address, file_bytes, body_bytes, ways }: ReconcileDeskProps) {
  const desk = useReconciliation(address, file_bytes)
  const { files, outcome, progress, status } = desk
  const names = FILE_SIDES.map((side) => files[side]?.name ?? '')
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    desk.run(files, desk.strict)
  }
  const toggleStrict = ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
    desk.setStrict(currentTarget.checked)
    if (outcome.kind === 'done') desk.run(files, currentTarget.checked)
  }
  return html`
    <form class=${desk.over ? 'ask files over' : 'ask files'} id="reconcile" onSubmit=${submit}>
      <div class="slots">
        ${FILE_SIDES.map((side) => html`<${FileSlot} side=${side} file=${files[side]} choose=${(file: File) => desk.choose(side, file)} />`)}
      </div>
      <p class="hint">
        Drop one or both files anywhere on this page, up to ${file_bytes / 1_048_576} MiB each. The command line reads files of any size:
        <code class="line" tabindex="0">assay reconcile --instructions payments.xml --statement statement.xml</code>
      </p>
      <p class="option">
        <label for="evidence">
          <input type="checkbox" id="evidence" onChange=${toggleStrict} /> Originated ACH entries do not count as settled
        </label>
      </p>
      <p class="send">
        <button type="submit">Reconcile</button>
        <button type="button" class="plain" id="sample-correct" onClick=${() => void desk.runSample('correct')}>Try sample files</button>
        <button type="button" class="plain" id="sample-faulty" onClick=${() => void desk.runSample('faulty')}>Sample with an error</button>
      </p>
      <div class="state">
        <${Progress} progress=${progress} stop=${desk.stop} />
        <p class=${status.visible ? 'hint' : 'hint heard'} id="asking" role="status">${status.text}</p>
      </div>
      <noscript>
        <p class="hint">This page needs JavaScript. In a shell: <code>assay reconcile --instructions … --statement …</code></p>
      </noscript>
    </form>
    <section class="answer" id="answer" aria-label="Result" tabindex="-1" aria-busy=${progress === null ? undefined : 'true'}>
      <${Outcome} outcome=${outcome} names=${names} file_bytes=${file_bytes} />
    </section>
    ${
      outcome.kind === 'done' &&
      progress === null &&
      html`
        <${ReconcileRows} summary=${outcome.summary} worker=${desk.worker} announce=${desk.announce} />
        <${ReconcileSigning} summary=${outcome.summary} files=${files} strict=${desk.strict} body_bytes=${body_bytes} ways=${ways} />
      `
    }
  `
}

function FileSlot({ side, file, choose }: { side: FileSide; file: File | undefined; choose: (file: File) => void }) {
  const { title, formats } = SIDES[side]
  const change = ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
    const [chosen] = currentTarget.files ?? []
    currentTarget.value = ''
    if (chosen !== undefined) choose(chosen)
  }
  return html`<div class="slot" id=${`slot-${side}`}>
    <h2>${title}</h2>
    <p class="hint">${formats}</p>
    <p class="given" id=${`given-${side}`}>
      ${file === undefined ? html`<span class="none">No file chosen</span>` : html`<b>${file.name}</b>${` ${sizeText(file.size)}`}`}
    </p>
    <label class="choose" for=${`file-${side}`}>Choose a file</label>
    <input
      type="file"
      id=${`file-${side}`}
      accept=".xml,.txt,.ach,application/xml,text/xml,text/plain"
      aria-describedby=${`given-${side}`}
      onChange=${change}
    />
  </div>`
}

/** Always takes its space, so that nothing moves when it appears. */
function Progress({ progress, stop }: { progress: ReadProgress | null; stop: () => void }) {
  const reading = progress?.step === 'reading' ? progress : null
  const value = progress?.step === 'matching' ? {} : { value: reading === null ? 0 : reading.bytes / Math.max(1, reading.total_bytes) }
  return html`<div class="progress" data-idle=${progress === null}>
    <progress max="1" ...${value} aria-label="Part of the files that is read"></progress>
    <span class="hint">${progress === null ? '' : progressText(progress)}</span>
    <button type="button" class="plain" id="cancel" onClick=${stop}>Stop</button>
  </div>`
}

function progressText(progress: ReadProgress): string {
  if (progress.step === 'matching') return 'Matching …'
  return `${sizeText(progress.bytes)} of ${sizeText(progress.total_bytes)}, ${countText(progress.records, 'record')}`
}

interface OutcomeProps {
  outcome: DeskOutcome
  names: readonly string[]
  file_bytes: number
}

function Outcome({ outcome, names, file_bytes }: OutcomeProps) {
  switch (outcome.kind) {
    case 'none':
      return html`<p class="empty">Your result appears here: a verdict on every payment and the totals of each currency.</p>`
    case 'failed':
      return failure(
        'Not finished',
        'A file was removed while it was read, the engine could not be loaded, or this browser ran out of memory.',
      )
    case 'too_large':
      return html`
        ${failure('File too large', `${outcome.file.name} has ${sizeText(outcome.file.size)}; the limit of this page is ${sizeText(file_bytes)}.`)}
        <p>
          The command line reads files of any size: <code>assay reconcile --instructions … --statement … --out report</code>
        </p>
      `
    case 'done':
    case 'unreadable':
      return html`<${ReconcileResult} result=${outcome} names=${names} />`
  }
}

function failure(word: string, sentence: string) {
  return html`<${Verdict} headline=${{ tone: 'bad', word, sentence, code: '' }} />`
}

/** The outcome in one sentence, for screen readers. */
function spokenOutcome(outcome: DeskOutcome): string {
  switch (outcome.kind) {
    case 'none':
      return ''
    case 'failed':
      return 'Not finished.'
    case 'too_large':
      return 'A file is too large for this page.'
    case 'done':
    case 'unreadable':
      return resultHeadline(outcome).word
  }
}

/** State of the page: files, the run in the worker, and its outcome. */
function useReconciliation(address: string, file_bytes: number) {
  const [files, setFiles] = useState<ChosenFiles>({})
  const [strict, setStrict] = useState(false)
  const [progress, setProgress] = useState<ReadProgress | null>(null)
  const [outcome, setOutcome] = useState<DeskOutcome>({ kind: 'none' })
  const [status, setStatus] = useState({ text: '', visible: false })
  const finish = (found: DeskOutcome) => {
    setProgress(null)
    setOutcome(found)
    setStatus({ text: spokenOutcome(found), visible: false })
  }
  const [worker] = useState(() => new WorkerClient(address, { progress: setProgress, failed: () => finish({ kind: 'failed' }) }))
  const run = (chosen: ChosenFiles, require_settlement_evidence: boolean) => {
    worker.stop()
    setProgress(null)
    const { instructions, statement } = chosen
    if (instructions === undefined || statement === undefined) {
      const missing = FILE_SIDES.filter((side) => chosen[side] === undefined).map((side) => SIDES[side].missing)
      return setStatus({ text: `Choose ${missing.join(' and ')} first.`, visible: true })
    }
    const large = [instructions, statement].find(({ size }) => size > file_bytes)
    if (large !== undefined) return finish({ kind: 'too_large', file: large })
    setProgress({ step: 'reading', bytes: 0, total_bytes: instructions.size + statement.size, records: 0 })
    setStatus({ text: 'Reading …', visible: false })
    void worker.run({ kind: 'run', files: { instructions, statement }, require_settlement_evidence }, finish)
  }
  const stop = () => {
    worker.stop()
    finish({ kind: 'none' })
    setStatus({ text: 'Stopped; there is no result.', visible: true })
  }
  const take = (more: ChosenFiles) => {
    const chosen = { ...files, ...more }
    setFiles(chosen)
    return chosen
  }
  const choose = (side: FileSide, file: File) => {
    const chosen = take({ [side]: file })
    if (FILE_SIDES.every((one) => chosen[one] !== undefined)) run(chosen, strict)
  }
  const drop = async (dropped: readonly File[], onto: FileSide | null) => {
    const [first, second] = dropped
    if (first !== undefined && second === undefined && onto !== null) return choose(onto, first)
    const sorted = await bySide(dropped.slice(0, 2))
    if (sorted === null) return setStatus({ text: 'The files cannot be distinguished; drop each one on its own field.', visible: true })
    run(take(sorted), strict)
  }
  const over = useFileDrop((dropped, onto) => void drop(dropped, onto))
  useEffect(() => {
    if (outcome.kind !== 'none') document.getElementById('answer')?.scrollIntoView({ block: 'nearest' })
  }, [outcome])
  const runSample = async (kind: 'correct' | 'faulty') => {
    const sample = await sampleFiles(kind).catch(() => null)
    if (sample !== null) return run(take(sample), strict)
    setStatus({ text: 'The sample files could not be loaded. Check your connection, then try again.', visible: true })
  }
  const announce = (text: string) => setStatus({ text, visible: false })
  return { files, strict, setStrict, progress, outcome, status, over, worker, run, stop, choose, runSample, announce }
}

/** Payments and a statement; the faulty statement has an amount that is not a decimal number. Rejects when they cannot be loaded. */
async function sampleFiles(kind: 'correct' | 'faulty'): Promise<Record<FileSide, File>> {
  const load = async (name: string) => {
    const response = await fetch(new URL(`../../../samples/${name}`, import.meta.url))
    if (!response.ok) throw new Error(`${name}: status ${response.status}`)
    return response.text()
  }
  const [payments, statement] = await Promise.all([load('sample-payments.xml'), load('sample-statement.xml')])
  const file = (name: string, text: string) => new File([text], name, { type: 'application/xml' })
  return {
    instructions: file('sample-payments.xml', payments),
    statement:
      kind === 'correct'
        ? file('sample-statement.xml', statement)
        : file('sample-statement-faulty.xml', statement.replace('>604.00<', '>604,00<')),
  }
}

/** Files by what their first bytes say; null if one is unclear or both are of the same side. */
async function bySide(files: readonly File[]): Promise<ChosenFiles | null> {
  const sorted: ChosenFiles = {}
  for (const file of files) {
    const side = await sideOf(file)
    if (side === null || sorted[side] !== undefined) return null
    sorted[side] = file
  }
  return sorted
}

/** Takes files dropped anywhere on the page, with the field that they were dropped on; true while files are above the page. */
function useFileDrop(take: (files: readonly File[], onto: FileSide | null) => void): boolean {
  const [over, setOver] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const listeners = new AbortController()
    const { signal } = listeners
    const dragover = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      setOver(true)
    }
    const drop = (event: DragEvent) => {
      setOver(false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length === 0) return
      event.preventDefault()
      const slot = event.target instanceof Element ? event.target.closest('.slot')?.id : undefined
      latest.current(files, FILE_SIDES.find((side) => slot === `slot-${side}`) ?? null)
    }
    document.addEventListener('dragover', dragover, { signal })
    document.addEventListener('dragleave', () => setOver(false), { signal })
    document.addEventListener('drop', drop, { signal })
    return () => listeners.abort()
  }, [])
  return over
}

/** Field of the tool's input for each kind of file. */
const FIELDS: Readonly<Record<string, string>> = {
  'pain.001': 'pain001_xml',
  'pacs.008': 'pacs008_xml',
  'camt.053': 'camt053_xml',
  nacha: 'nacha_ach',
}

interface SigningProps {
  summary: ReconcileSummary
  files: Partial<Record<FileSide, File>>
  strict: boolean
  /** Largest body that the tool takes. */
  body_bytes: number
  ways: PaymentWays
}

/** Sends both files to the tool and shows the receipt, and whether the signed counts are those of the page. */
function ReconcileSigning(props: SigningProps) {
  const [status, setStatus] = useState('')
  const [shown, setShown] = useState<VNode | null>(null)
  const sign = async (headers: Record<string, string> = {}) => {
    setShown(null)
    const input = await toolInput(props)
    const bytes = new TextEncoder().encode(`{"input":${input}}`).length
    if (bytes > props.body_bytes)
      return setStatus(
        `The files have ${countText(bytes, 'byte')} together; the limit of the tool is ${countText(props.body_bytes, 'byte')}. Use the command line.`,
      )
    setStatus('Running …')
    const reply = await sendUntilSettled('reconcile', input, headers)
    if (reply.kind === 'answer') {
      showAllowance(reply.body['allowance'])
      storeReceipt(reply.body['receipt'])
    }
    const view = await replyView(reply, props.ways, (payment) => void sign(payment))
    setStatus(statusText(reply, props.summary))
    setShown(view)
  }
  return html`<section id="sign" aria-labelledby="sign-title">
    <h2 id="sign-title">Signed receipt</h2>
    <p class="measure">
      To prove the result to others, let the service reconcile the same files and sign its answer. <b>Both files are sent to the service</b>;
      this counts as one call of <a href="/tools/reconcile"><code>reconcile</code></a>.
    </p>
    <p class="send">
      <button type="button" id="sign-now" onClick=${() => void sign()}>Send both files and sign</button>
      <span class="hint" id="signing" role="status">${status}</span>
    </p>
    <div id="signed">${shown}</div>
  </section>`
}

async function toolInput({ files, summary: { kinds }, strict }: SigningProps): Promise<string> {
  const [payments, statement] = await Promise.all([files.instructions?.text(), files.statement?.text()])
  return JSON.stringify({
    [FIELDS[kinds[0]] ?? '']: payments,
    [FIELDS[kinds[1]] ?? '']: statement,
    ...(strict ? { require_settlement_evidence: true } : {}),
  })
}

function statusText(reply: CallReply, { counts }: ReconcileSummary): string {
  switch (reply.kind) {
    case 'nothing':
      return reply.message
    case 'payment':
      return 'Today’s free calls are used.'
    case 'problem':
      return 'The call was refused.'
    case 'answer': {
      const signed = isObject(reply.body['result']) ? reply.body['result']['counts'] : null
      const equal = isObject(signed) && Object.entries(signed).every(([verdict, count]) => counts[verdict as keyof typeof counts] === count)
      return equal
        ? 'Signed. The signed answer has the same counts as this page.'
        : 'Signed, but the counts of the signed answer differ from this page.'
    }
  }
}

/** The views of a payment and of a receipt are loaded when they are needed. */
async function replyView(reply: CallReply, ways: PaymentWays, pay: (headers: Record<string, string>) => void): Promise<VNode> {
  switch (reply.kind) {
    case 'nothing':
      return html`<${NoAnswer} message=${reply.message} />`
    case 'payment': {
      const { PayPanel } = await import('./pay-panel.ts')
      return html`<${PayPanel} problem=${reply.problem} terms=${reply.terms} wait_s=${reply.wait_s} ways=${ways} pay=${pay} />`
    }
    case 'problem':
      return html`<${ProblemView} problem=${reply.problem} />`
    case 'answer': {
      const { ReceiptProof } = await import('./receipt-proof.ts')
      return html`
        <${ReceiptProof} receipt=${reply.body['receipt']} badge=${reply.body['embeddable_badge']} />
        <details class="raw">
          <summary>Complete answer as JSON</summary>
          <pre tabindex="0">${JSON.stringify(reply.body, null, 2)}</pre>
        </details>
      `
    }
  }
}
