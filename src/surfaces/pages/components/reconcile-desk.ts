import type { TargetedEvent, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EntryShare } from '../../../pure/documents/reconcile/outcome.ts'
import type { Headline } from '../../../pure/headline.ts'
import {
  FILE_SIDES,
  sideOf,
  type AmountTally,
  type CurrencySums,
  type FileRemark,
  type FileRemarks,
  type FileSide,
  type ReadProgress,
  type ReconcileSummary,
  type RunResult,
} from '../client/reconcile/messages.ts'
import { WorkerClient } from '../client/reconcile/worker-client.ts'
import { html } from '../html.ts'
import type { PaymentWays } from './pay-panel.ts'
import { countText, Money, PaymentVerdictMark, VERDICT_ORDER } from './reconcile-parts.ts'
import { ReconcileRows } from './reconcile-rows.ts'
import { ReconcileSigning } from './reconcile-signing.ts'
import { SmallVerdict, Verdict } from './verdict.ts'

interface ReconcileDeskProps {
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

const ATTENTION = { DUPLICATE_PAYMENT: 'paid more than once', AMOUNT_MISMATCH: 'paid with a different amount', UNPAID: 'unpaid' } as const

/** The result: decision, totals, remarks on the files. */
function ReconcileResult({ result, names }: { result: RunResult; names: readonly string[] }) {
  return html`
    <${Verdict} headline=${resultHeadline(result)} />
    ${result.kind === 'done' && html`<${SummaryFacts} summary=${result.summary} />`}
    <${Remarks} found=${result.kind === 'done' ? result.summary : result} names=${names} />
  `
}

function resultHeadline(result: RunResult): Headline {
  if (result.kind === 'unreadable')
    return {
      tone: 'bad',
      word: 'Not reconciled',
      sentence: 'A file could not be read completely, so no verdict is given: some payments or entries would be missing.',
      code: '',
    }
  const { counts } = result.summary
  const settled = counts.all > 0 && counts.SETTLED === counts.all
  const word = settled ? 'All settled' : `${counts.SETTLED.toLocaleString('en')} of ${counts.all.toLocaleString('en')} settled`
  return { tone: settled ? 'good' : 'caution', word: counts.all === 0 ? 'No payments' : word, sentence: attentionText(counts), code: '' }
}

function attentionText(counts: ReconcileSummary['counts']): string {
  const parts = VERDICT_ORDER.flatMap((verdict) =>
    verdict === 'SETTLED' || counts[verdict] === 0 ? [] : [`${counts[verdict].toLocaleString('en')} ${ATTENTION[verdict]}`],
  )
  const entries =
    counts.unmatched === 0 ? 'Every entry matches a payment.' : `${countText(counts.unmatched, 'entry', 'entries')} without a payment.`
  return parts.length === 0 ? entries : `${parts.join(', ')}. ${entries}`
}

function SummaryFacts({ summary: { kinds, currencies, totals, conserved, ambiguous, repeated_ids } }: { summary: ReconcileSummary }) {
  const digits = totals.reduce((most, one) => Math.max(most, one.digits), 0)
  const notes = [
    conserved
      ? 'Every entry is counted once: matched, unmatched and ignored entries add up to all entries of each currency.'
      : 'The totals do not add up: this result is wrong. Please report it.',
    ambiguous > 0 &&
      `${countText(ambiguous, 'group')} of payments and entries cannot be assigned one to one; these payments count as unpaid.`,
    repeated_ids > 0 && `${countText(repeated_ids, 'id')} used by more than one payment.`,
  ].filter((note) => note !== false)
  return html`
    <p class="scope-line">
      Read as ${kinds[0]} and ${kinds[1] === 'nacha' ? 'ACH file' : kinds[1]}. Computed in this browser; not signed.
      Decimal places by ISO 4217, table of ${currencies.date}${currencies.of_service ? '' : ' of the release: the service did not send its current one'}.
    </p>
    <div class="totals">
      <${TotalsTable} name="Payments" totals=${totals} digits=${digits} linesOf=${paymentLines} />
      <${TotalsTable} name="Statement entries" totals=${totals} digits=${digits} linesOf=${entryLines} />
    </div>
    ${notes.map((note) => html`<p class="hint">${note}</p>`)}
  `
}

interface TotalsLine {
  label: unknown
  tally: AmountTally
  part: boolean
}

interface TotalsProps {
  name: string
  totals: readonly CurrencySums[]
  digits: number
  linesOf: (sums: CurrencySums) => TotalsLine[]
}

function TotalsTable({ name, totals, digits, linesOf }: TotalsProps) {
  const line = ({ label, tally, part }: TotalsLine) => html`<tr>
    <th scope="row" class=${part ? 'part' : undefined}>${label}</th>
    <td class="n">${tally.count.toLocaleString('en')}</td>
    <td class="n"><${Money} text=${tally.amount} digits=${digits} /></td>
  </tr>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}>
    <table>
      <caption>${name}</caption>
      <thead><tr><td></td><th scope="col" class="n">Count</th><th scope="col" class="n">Amount</th></tr></thead>
      ${totals.map(
        (sums) => html`<tbody>
          <tr class="currency"><th scope="rowgroup" colspan="3">${sums.currency}</th></tr>
          ${linesOf(sums).map(line)}
        </tbody>`,
      )}
    </table>
  </div>`
}

function paymentLines({ instructions, verdicts }: CurrencySums): TotalsLine[] {
  return [
    { label: 'Instructed', tally: instructions, part: false },
    ...VERDICT_ORDER.filter((verdict) => verdicts[verdict].count > 0).map((verdict) => ({
      label: html`<${PaymentVerdictMark} verdict=${verdict} />`,
      tally: verdicts[verdict],
      part: true,
    })),
  ]
}

const SHARES = ['matched', 'unmatched', 'ignored'] as const satisfies readonly EntryShare[]

function entryLines({ debits, credits }: CurrencySums): TotalsLine[] {
  const sides = [['Debits', debits] as const, ['Credits', credits] as const].filter(([, shares]) => shares.all.count > 0)
  if (sides.length === 0) return [{ label: 'None', tally: debits.all, part: false }]
  return sides.flatMap(([label, shares]) => [
    { label, tally: shares.all, part: false },
    ...SHARES.filter((share) => shares[share].count > 0).map((share) => ({ label: share, tally: shares[share], part: true })),
  ])
}

const SEVERITY_MARKS = { error: 'invalid', warning: 'unverifiable', info: 'done' } as const

/** Findings in the files with the lines that they are about; equal findings on the same line are shown once. */
function Remarks({ found: { remarks, remark_count }, names }: { found: FileRemarks; names: readonly string[] }) {
  if (remarks.length === 0) return null
  const distinct = new Map(remarks.map((one) => [JSON.stringify([one.file, one.line, one.code]), one]))
  const more = remark_count - remarks.length
  return html`
    <h2 class="small">Findings in the files</h2>
    <ol class="bare found">${[...distinct.values()].map((remark) => html`<${Remark} remark=${remark} name=${names[remark.file] ?? ''} />`)}</ol>
    ${more > 0 && html`<p class="hint">and ${more.toLocaleString('en')} more</p>`}
  `
}

function Remark({ remark: { line, severity, code, message, excerpt }, name }: { remark: FileRemark; name: string }) {
  return html`<li class=${severity}>
    <p class="rule">
      <${SmallVerdict} mark=${SEVERITY_MARKS[severity]} word=${severity} />
      <code>${code}</code>
      <span class="where">${line === null ? name : `${name}, line ${line.toLocaleString('en')}`}</span>
    </p>
    <p>${message}</p>
    ${
      line !== null &&
      excerpt.length > 0 &&
      html`<p class="excerpt">${excerpt.map((text, index) => html`<span class="number">${line + index}</span><span>${text}</span>`)}</p>`
    }
  </li>`
}

function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}
