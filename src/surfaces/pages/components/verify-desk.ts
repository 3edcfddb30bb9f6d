import type { TargetedEvent, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { decodeUtf8 } from '../../../pure/documents/strict-json.ts'
import { readKeyList, type KeyList } from '../../../pure/receipts/keys.ts'
import { showAllowance } from '../client/allowance.ts'
import { bringIntoView } from '../client/view.ts'
import { assessAll, assessDocument, type AssessedDocument, type KeyLists } from '../client/verify/assess.ts'
import { readDocuments, type GivenDocument } from '../client/verify/documents.ts'
import { dropArea } from '../client/files.ts'
import { html } from '../html.ts'
import { AssessedDocumentView, type ToolHeadlines } from './assessed-document.ts'
import { layOutReceipts, ReceiptLinks, type ReceiptGraph } from './receipt-chain.ts'
import { sendUntilSettled } from './send-call.ts'
import { Verdict } from './verdict.ts'

/** Limits of the page; the command line has none. */
const BYTES_MAX = 8 * 1_048_576
const DOCUMENTS_MAX = 500
/** Documents between two pauses in which the page can be drawn. */
const DOCUMENTS_PER_PAUSE = 20

interface VerifyDeskProps {
  headlines: ToolHeadlines
  /** Call that makes the sample receipt; null without that tool. */
  sample: { tool: string; title: string; input: string } | null
}

type Report =
  | { kind: 'empty' }
  /** No document could be verified. */
  | { kind: 'refused'; message: string }
  | { kind: 'assessed'; assessed: readonly AssessedDocument[]; graph: ReceiptGraph }

/** Form, verdict and, for several documents, how they are linked. Documents are verified in the browser and not sent. */
export function VerifyDesk({ headlines, sample }: VerifyDeskProps) {
  const desk = useVerification()
  const { report, selected } = desk
  const assessed = report.kind === 'assessed' ? report.assessed : []
  const one = assessed[selected]
  return html`
    <div class="halves">
      <${VerifyForm} desk=${desk} sample=${sample} />
      <section class="answer" id="answer" aria-label="Verdict"><${ReportSummary} report=${report} headlines=${headlines} /></section>
      <${ReceiptScope} />
    </div>
    ${
      report.kind === 'assessed' &&
      one !== undefined &&
      assessed.length > 1 &&
      html`<${ReceiptLinks} graph=${report.graph} assessed=${assessed} selected=${selected} select=${desk.select}>
        <div class="answer" id="one">
          <p class="example">${documentName(one, selected)}</p>
          <${AssessedDocumentView} assessed=${one} headlines=${headlines} />
        </div>
      <//>`
    }
  `
}

function documentName({ document: { source } }: AssessedDocument, entry: number): string {
  const number = `Number ${entry + 1}`
  return ['', number.toLowerCase()].includes(source) ? number : `${number}: ${source}`
}

type Verification = ReturnType<typeof useVerification>

/** State of the page: the report, the selected document and the key lists. */
function useVerification() {
  const [report, setReport] = useState<Report>({ kind: 'empty' })
  const [selected, setSelected] = useState(0)
  const [status, setStatus] = useState('')
  const [keys_note, setKeysNote] = useState(
    'The verifier and the key list of this service are loaded when you use the form; from then on the page works offline.',
  )
  const loading_keys = useRef<Promise<IssuerKeys> | null>(null)
  const serviceKeys = () => (loading_keys.current ??= loadServiceKeys())
  const pasted_keys = useRef<IssuerKeys>({ keys: [], document: null })
  const latest = useRef(0)
  const show = (next: Report) => {
    setReport(next)
    setStatus(spokenReport(next))
  }
  const verify = async (documents: readonly GivenDocument[]) => {
    const turn = ++latest.current
    const refusal = refuseCount(documents.length)
    if (refusal !== null) return show({ kind: 'refused', message: refusal })
    const [service, pasted] = [await serviceKeys(), pasted_keys.current]
    const logs = { service: service.document, pasted: pasted.document }
    const lists: KeyLists = { service: service.keys, pasted: pasted.keys ?? [], logs }
    const assessed: AssessedDocument[] = []
    for (const document of documents) {
      assessed.push(await assessDocument(document, lists))
      if (assessed.length % DOCUMENTS_PER_PAUSE === 0 && assessed.length < documents.length) {
        setStatus(`${assessed.length} of ${documents.length} verified …`)
        await pause()
      }
      if (turn !== latest.current) return
    }
    show({ kind: 'assessed', assessed, graph: layOutReceipts(assessed) })
    setSelected(Math.max(0, worstOf(assessed)))
  }
  const select = (entry: number) => {
    setSelected(entry)
    const { word, sentence } =
      report.kind === 'assessed' ? (report.assessed[entry] ?? { word: '', sentence: '' }) : { word: '', sentence: '' }
    setStatus(`${word}. ${sentence}`)
    bringElementIntoView('one')
  }
  useEffect(() => {
    void serviceKeys().then(({ keys }) => setKeysNote(describeKeys(keys)))
    const verifyAddress = () => {
      if (!location.hash.startsWith('#r=')) return
      const documents = readDocuments(location.hash, '')
      const [first] = documents
      if (first?.kind === 'receipt') fillText(JSON.stringify(first.input.receipt, null, 2))
      void verify(documents)
    }
    verifyAddress()
    addEventListener('hashchange', verifyAddress)
    return () => removeEventListener('hashchange', verifyAddress)
  }, [])
  useEffect(() => {
    if (report.kind !== 'empty') bringElementIntoView('answer')
  }, [report])
  return {
    report,
    selected,
    status,
    keys_note,
    pasted_keys,
    verify,
    select,
    refuse: (message: string) => show({ kind: 'refused', message }),
  }
}

function refuseCount(documents: number): string | null {
  if (documents === 0) return 'The list is empty. Give at least one receipt.'
  if (documents <= DOCUMENTS_MAX) return null
  return `There are ${documents} documents; this page verifies up to ${DOCUMENTS_MAX}. In a shell, "assay verify" takes any number.`
}

function spokenReport(report: Report): string {
  if (report.kind !== 'assessed') return report.kind === 'refused' ? report.message : ''
  const { word, sentence } = summaryOf(report.assessed, report.graph)
  return `${word}. ${sentence}`
}

/** Decision on one document, or on all of them and their links. */
function summaryOf(assessed: readonly AssessedDocument[], graph: ReceiptGraph): Pick<AssessedDocument, 'tone' | 'word' | 'sentence'> {
  const [only, second] = assessed
  if (only !== undefined && second === undefined) return only
  const missing = graph.rows.filter(({ entry }) => entry === null).length
  const missing_note =
    missing === 0 ? [] : [missing === 1 ? 'One earlier receipt was not given.' : `${missing} earlier receipts were not given.`]
  const all = assessAll(assessed)
  return { ...all, sentence: [all.sentence, describeLinks(graph.edges), ...missing_note].join(' ') }
}

function describeLinks(edges: ReceiptGraph['edges']): string {
  if (edges.length === 0) return 'None of them links to an earlier one.'
  const broken = edges.filter(({ state }) => state === 'broken').length
  if (broken > 0) return `${broken} of ${edges.length} links ${broken === 1 ? 'is' : 'are'} broken.`
  return edges.length === 1 ? 'The link is valid.' : `All ${edges.length} links are valid.`
}

/** Index of the first invalid document, else of the first that is not verified; -1 if all are verified. */
function worstOf(assessed: readonly AssessedDocument[]): number {
  const invalid = assessed.findIndex(({ tone }) => tone === 'bad')
  return invalid === -1 ? assessed.findIndex(({ tone }) => tone !== 'good') : invalid
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

function bringElementIntoView(id: string): void {
  const element = document.getElementById(id)
  if (element !== null) bringIntoView(element)
}

function textArea(): HTMLTextAreaElement | null {
  return document.querySelector('#given')
}

function fillText(text: string): void {
  const field = textArea()
  if (field !== null) field.value = text
}

/** Key list of an issuer, null if it could not be read, and the document that it was read from, which names the keys of its logs. */
interface IssuerKeys {
  keys: KeyList | null
  document: unknown
}

const NO_KEYS: IssuerKeys = { keys: null, document: null }

function issuerKeys(document: unknown): IssuerKeys {
  return { keys: readKeyList(document), document }
}

async function loadServiceKeys(): Promise<IssuerKeys> {
  try {
    const response = await fetch('/.well-known/xdr-1.json')
    return issuerKeys(await response.json())
  } catch {
    return NO_KEYS
  }
}

function describeKeys(keys: KeyList | null): string {
  if (keys === null) return 'The key list of this service could not be loaded: signatures are verified, but signers stay unknown.'
  return `Loaded ${keys.length === 1 ? 'one published key' : `${keys.length} published keys`} of this service. The page now works offline.`
}

function VerifyForm({ desk, sample }: { desk: Verification; sample: VerifyDeskProps['sample'] }) {
  const { verify, refuse } = desk
  const verifyFiles = async (files: readonly File[]) => {
    if (files.length === 0) return
    if (files.reduce((sum, { size }) => sum + size, 0) > BYTES_MAX)
      return refuse(`The files are larger than ${BYTES_MAX / 1_048_576} MB in total. In a shell, "assay verify" takes files of any size.`)
    const documents = await Promise.all(files.map(readFile))
    fillText('')
    await verify(documents.flat())
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void verify(readDocuments(textArea()?.value ?? '', ''))
  }
  return html`<form class="ask" id="verify" onSubmit=${submit}>
    <div class="field drop" id="drop" ...${dropArea((files) => void verifyFiles(files))}>
      <label for="given">Receipts <span class="kind">JSON</span></label>
      <textarea id="given" rows="8" aria-describedby="about-given" autocomplete="off" autocapitalize="off" spellcheck=${false}></textarea>
      <p class="hint" id="about-given">
        A receipt, a whole answer, an audit bundle, the link of a badge or a POL-1 certificate. For several, give an array or one per line. With a whole
        answer, its result and link are checked too.
      </p>
      <p class="files">
        <label for="files">or files</label>
        <input
          type="file"
          id="files"
          multiple
          accept=".json,.jsonl,.ndjson,.txt,application/json"
          onChange=${({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
            const files = [...(currentTarget.files ?? [])]
            currentTarget.value = ''
            void verifyFiles(files)
          }}
        />
      </p>
    </div>
    <p class="send">
      <button type="submit">Verify</button>
      ${sample !== null && html`<${SampleButton} desk=${desk} sample=${sample} />`}
      <span class="hint heard" id="asking" role="status">${desk.status}</span>
    </p>
    <p class="hint" id="key-list">${desk.keys_note}</p>
    <${PastedKeys} desk=${desk} />
    <noscript>
      <p class="hint">
        This page needs JavaScript. In a shell: <code>assay verify receipt.json --keys xdr-1.json</code>, or call
        <code>POST /v1/receipt/verify</code>.
      </p>
    </noscript>
  </form>`
}

async function readFile(file: File): Promise<GivenDocument[]> {
  const text = decodeUtf8(new Uint8Array(await file.arrayBuffer()))
  return text === null ? [{ kind: 'unreadable', source: file.name, reason: 'The file is not UTF-8 text.' }] : readDocuments(text, file.name)
}

/** Calls a tool with its example, so that there is an answer with a receipt to verify. */
function SampleButton({ desk, sample }: { desk: Verification; sample: NonNullable<VerifyDeskProps['sample']> }) {
  const [busy, setBusy] = useState(false)
  const load = async () => {
    setBusy(true)
    const reply = await sendUntilSettled(sample.tool, sample.input, {})
    setBusy(false)
    switch (reply.kind) {
      case 'answer':
        showAllowance(reply.body['allowance'])
        fillText(JSON.stringify(reply.body, null, 2))
        return desk.verify(readDocuments(reply.text, ''))
      case 'payment':
        return desk.refuse('There is no sample now: today’s free calls are used. They reset at 00:00 UTC.')
      case 'problem':
        return desk.refuse(`There is no sample now: ${String(reply.problem['title'])}.`)
      case 'nothing':
        return desk.refuse(reply.message)
    }
  }
  return html`<button
    type="button"
    class="plain"
    id="sample"
    disabled=${busy}
    title=${`Runs ${sample.title} with its example: one free call`}
    onClick=${() => void load()}
  >
    Try a sample receipt
  </button>`
}

/** Key list of another issuer, for receipts that this service did not sign. */
function PastedKeys({ desk }: { desk: Verification }) {
  const [note, setNote] = useState<{ fault: boolean; text: string } | null>(null)
  const read = ({ currentTarget }: TargetedEvent<HTMLTextAreaElement>) => {
    const text = currentTarget.value.trim()
    const pasted = text === '' ? { keys: [], document: null } : parseKeyList(text)
    const { keys } = pasted
    desk.pasted_keys.current = pasted
    if (keys === null) setNote({ fault: true, text: 'This is not a key list. Expected: the JSON of the issuer’s /.well-known/xdr-1.json.' })
    else
      setNote(
        text === ''
          ? null
          : { fault: false, text: `${keys.length === 1 ? 'One key' : `${keys.length} keys`} in use from the next verification on.` },
      )
  }
  return html`<details>
    <summary>Key list of another issuer</summary>
    <div class="field">
      <label for="keys">Key list <span class="kind">JSON</span></label>
      <textarea
        id="keys"
        rows="4"
        aria-describedby="about-keys keys-note"
        aria-invalid=${note?.fault === true ? 'true' : undefined}
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        onInput=${read}
      ></textarea>
      <p class=${note?.fault === true ? 'fault' : 'hint'} id="keys-note" role="status">${note?.text}</p>
      <p class="hint" id="about-keys">
        The issuer publishes it at <code>/.well-known/xdr-1.json</code>. Get it from the issuer, not from the sender of the receipt.
      </p>
    </div>
  </details>`
}

function parseKeyList(text: string): IssuerKeys {
  try {
    return issuerKeys(JSON.parse(text))
  } catch {
    return NO_KEYS
  }
}

function ReportSummary({ report, headlines }: { report: Report; headlines: ToolHeadlines }) {
  switch (report.kind) {
    case 'empty':
      return html`<p class="empty">The verdict appears here: each check with its result, the seal, the signed text and the key that signed it.</p>
        <p class="empty">No receipt yet? Every answer of a tool has one. Try the sample, or <a href="/tools/iban-check">run a tool</a>.</p>`
    case 'refused':
      return html`<${Verdict} headline=${{ tone: 'bad', word: 'Not verified', sentence: report.message }} />`
    case 'assessed': {
      const [first] = report.assessed
      const single = report.assessed.length === 1
      return html`
        ${
          single
            ? html`<${AssessedDocumentView} assessed=${first} headlines=${headlines} />`
            : html`<${Verdict} headline=${summaryOf(report.assessed, report.graph)} /><p>Each document is listed below with its own verdict.</p>`
        }
        <p class="print"><button type="button" class="plain" onClick=${() => print()}>Print this report</button></p>
      `
    }
  }
}

function ReceiptScope() {
  return html`<div class="scope">
    <h2>What a verified receipt proves</h2>
    <ul>
      <li>The named key signed exactly these fields: tool, version, hashes of input and result, payer, amount, time.</li>
      <li>This service publishes that key, and it was valid at the time in the receipt.</li>
      <li>With a whole answer: the receipt was issued for this result, and the same key signed the link to the earlier receipt.</li>
    </ul>
    <h2>What it does not prove</h2>
    <ul>
      <li>That the result is right, or that the checked account or company exists.</li>
      <li>That money moved: the signer states payer, amount and tier. The blockchain proves payments.</li>
      <li>When it was signed: the signer states the time.</li>
      <li>That there are no other receipts: links show what was linked, not what was left out.</li>
    </ul>
  </div>`
}
