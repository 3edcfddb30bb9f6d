import type { ComponentType, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { markOf, type Headline, type HeadlineRule } from '../../../pure/headline.ts'
import type { Members } from '../../../pure/is-object.ts'
import type { Receipt } from '../../../pure/receipts/receipt.ts'
import {
  arrangeFacts,
  viewAnswer,
  type AnswerView,
  type ArrangedFacts,
  type ItemView,
  type Part,
  type Range,
  type Reason,
  type ShownFinding,
} from '../../../service/catalogue/answer-view.ts'
import { checkHeadline, headlineReader } from '../../../service/catalogue/headlines.ts'
import { html } from '../html.ts'
import { FactTables, KeyFacts, ListTable } from './facts.ts'
import { Seal } from './receipt-proof.ts'
import { Tabs } from './tabs.ts'
import { SmallVerdict, Verdict } from './verdict.ts'

/** Rules for displaying the answers of one tool. */
interface AnswerReading {
  /** Headlines of the tool; null for those of a single check. */
  headlines: readonly HeadlineRule[] | null
  /** Members of the result in the order of the tool's output schema. */
  order: readonly string[]
}

/** Inputs with their findings at their place, and the members of the result that these show. */
export interface DocumentViews {
  views: VNode[]
  shown: readonly string[]
}

interface ShownAnswer {
  result: Members
  /** Null for the example. */
  receipt: Receipt | null
  /** `embeddable_badge` of the answer. */
  badge?: unknown
  /** The whole answer as JSON text; null for the example. */
  text: string | null
  documents: DocumentViews | null
}

interface AnswerProps {
  answer: ShownAnswer
  reading: AnswerReading
  /** Loaded with the first answer; null when it could not be loaded, undefined before. */
  proof?: ComponentType<{ receipt: Receipt; badge?: unknown }> | null | undefined
  /** Key facts are folded too. */
  compact?: boolean | undefined
}

/** An answer, most important first: decision, reasons, key facts, then everything else folded. The JSON is on a second tab. */
export function Answer({ answer, reading, proof, compact }: AnswerProps) {
  const [tab, setTab] = useState<'read' | 'json'>('read')
  const { result, text } = answer
  return html`
    <${Tabs}
      name="answer"
      label="Form of the answer"
      tabs=${[
        ['read', text === null ? 'Example' : 'Answer'],
        ['json', 'JSON'],
      ]}
      selected=${tab}
      select=${setTab}
    />
    <div role="tabpanel" id="answer-panel" aria-labelledby=${`answer-${tab}`}>
      ${
        tab === 'read'
          ? html`<${ReadableAnswer} answer=${answer} reading=${reading} proof=${proof} compact=${compact} />`
          : html`<${JsonText} text=${text ?? JSON.stringify({ result }, null, 2)} />`
      }
    </div>
  `
}

function ReadableAnswer({ answer: { result, receipt, badge, documents }, reading, proof: Proof, compact = false }: AnswerProps) {
  const view = viewAnswer(result, (one: Members) => (one === result ? headlineOf(one, reading) : checkHeadline(one)))
  const shown = documents?.shown ?? []
  const facts = Object.fromEntries(Object.entries(view.facts).filter(([name]) => !shown.includes(name)))
  const { reasons, advice, checks, key_facts, details } = arrangeFacts({ ...view, facts }, reading.order, checkHeadline)
  return html`
    <${Verdict} headline=${view.headline} />
    ${view.value !== null && html`<${Identifier} value=${view.value} parts=${view.parts} findings=${view.findings} />`}
    ${documents?.views}
    ${documents === null && html`<${Findings} view=${view} />`}
    <${Reasons} reasons=${reasons} advice=${advice} />
    <${Items} name="Each item" items=${view.items} />
    <${Items} name="Checks" items=${checks} />
    ${!compact && html`<${KeyFacts} facts=${key_facts} />`}
    ${view.scope !== null && html`<${ScopeLine} scope=${view.scope} />`}
    ${receipt === null ? html`<${NoProof} />` : proofOf(Proof, receipt, badge)}
    ${
      (Object.keys(details).length > 0 || (compact && key_facts.length > 0)) &&
      html`<details class="rest">
        <summary>Details</summary>
        ${compact && html`<${KeyFacts} facts=${key_facts} />`}
        <${FactTables} facts=${details} />
      </details>`
    }
  `
}

/** The decision of a result by the table of its tool. */
export function headlineOf(result: unknown, { headlines }: AnswerReading): Headline {
  return headlines === null ? checkHeadline(result) : headlineReader(headlines)(result)
}

function proofOf(Proof: AnswerProps['proof'], receipt: Receipt, badge: unknown): VNode | null {
  if (Proof === undefined) return null
  if (Proof !== null) return html`<${Proof} receipt=${receipt} badge=${badge} />`
  return html`<p class="hint">The verifier could not be loaded, so the receipt was not verified here. It is in the JSON.</p>`
}

function ScopeLine({ scope }: { scope: NonNullable<AnswerView['scope']> }) {
  return html`<p class="scope-line">
    Checked: ${scope.checked.join('; ')}.<br />
    Not checked: ${scope.not_checked.join('; ')}.
  </p>`
}

function NoProof() {
  return html`<section class="proof" aria-label="Receipt">
    <${Seal} digest=${null} />
    <p class="hint">This is the example. Run it to get an answer with a signed receipt.</p>
  </section>`
}

/** Findings where there is no identifier to show them under, warnings, and the repair that would pass. */
function Findings({ view: { value, findings, warnings, suggestion } }: { view: AnswerView }) {
  const lines = [...(value === null ? findings : []), ...warnings]
  if (lines.length === 0 && suggestion === null) return null
  return html`<ul class="remarks">
    ${lines.map(({ field, message }) => html`<li>${field === null ? message : `${field}: ${message}`}</li>`)}
    ${
      suggestion !== null &&
      html`<li>One edit would pass: <code>${suggestion}</code>. Confirm it with the payee; never correct a payment on your own.</li>`
    }
  </ul>`
}

function Reasons({ reasons, advice }: { reasons: ArrangedFacts['reasons']; advice: readonly string[] }) {
  return html`
    ${
      reasons.length > 0 &&
      html`<section class="reasons">
        <h3>Reasons</h3>
        <ul>${reasons.map((reason: Reason) => html`<li>${reason.message} <span class="hint">${reasonNote(reason)}</span></li>`)}</ul>
      </section>`
    }
    ${
      advice.length > 0 &&
      html`<section class="reasons">
        <h3>What to do</h3>
        <ul>${advice.map((line) => html`<li>${line}</li>`)}</ul>
      </section>`
    }
  `
}

function reasonNote({ label, points }: Reason): string {
  const counted = points === null ? null : `${points} ${points === '1' ? 'point' : 'points'}`
  return [label, counted].filter((part) => part !== null).join(' · ')
}

/** Items of a batch or of a pack, one line each. */
function Items({ name, items }: { name: string; items: readonly ItemView[] }) {
  if (items.length === 0) return null
  const withTool = items.some(({ tool }) => tool !== '')
  const rows = items.map(({ index, tool, headline, value, sentence }) => {
    const word = headline?.word ?? 'not checked'
    const verdict = html`<${SmallVerdict} mark=${headline === null ? 'done' : markOf(headline.tone)} word=${word} />`
    const first = withTool ? [index, tool] : [index]
    return { cells: [...first, verdict, value, sentence], texts: [...first, word, value, sentence] }
  })
  const columns = [...(withTool ? ['Item', 'Tool'] : ['Value of']), 'Verdict', 'Value', 'Reason']
  return html`<${ListTable} id="csv-rows" name=${name} columns=${columns} rows=${rows} />`
}

function JsonText({ text }: { text: string }) {
  return html`<figure class="sample">
    <figcaption>The answer as it was sent<button type="button" class="copy" data-copies="raw">Copy</button></figcaption>
    <pre id="raw" tabindex="0">${text}</pre>
  </figure>`
}

interface IdentifierProps {
  value: string
  parts: readonly Part[]
  findings: readonly ShownFinding[]
}

/**
 * A checked identifier, set large and split into its labelled parts. A finding underlines exactly the characters that it is about, and its
 * sentence hangs below them; the rightmost finding comes first, so that no line crosses a sentence.
 */
function Identifier({ value, parts, findings }: IdentifierProps) {
  const figure = useRef<HTMLElement>(null)
  useEffect(() => {
    const element = figure.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => placeFindings(element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [value, findings])
  const ranges = findings.map(({ range }) => range).filter((range) => range !== null)
  const size = value.length <= 14 ? 'large' : value.length <= 24 ? 'middle' : 'small'
  const ordered = findings.toSorted((a, b) => (b.range?.start ?? -1) - (a.range?.start ?? -1))
  return html`<figure class="identifier" aria-label="The value as it was checked" ref=${figure}>
    <div class=${`parts ${size}`}>
      ${withGaps(value, parts).map(
        ({ label, start, end }) =>
          html`<span class="part">
            <span class="characters">${runs(value, { start, end }, ranges)}</span>
            <span class="label">${label.replaceAll('_', ' ')}</span>
          </span>`,
      )}
    </div>
    ${
      ordered.length > 0 &&
      html`<ol class="bare findings">
        ${ordered.map(
          ({ range, message, expected }) =>
            html`<li data-from=${range?.start}>${message}${expected === null ? '' : ` Expected: ${expected}.`}</li>`,
        )}
      </ol>`
    }
  </figure>`
}

/** The parts, and unlabelled ones for the characters between them. */
function withGaps(value: string, parts: readonly Part[]): Part[] {
  const all: Part[] = []
  let from = 0
  for (const part of parts) {
    if (part.start > from) all.push({ label: '', start: from, end: part.start })
    all.push(part)
    from = part.end
  }
  if (from < value.length) all.push({ label: '', start: from, end: value.length })
  return all
}

/** The characters of one part, those of findings marked. */
function runs(value: string, { start, end }: Range, faults: readonly Range[]) {
  const isFault = (index: number) => faults.some((fault) => index >= fault.start && index < fault.end)
  const found = []
  for (let from = start; from < end;) {
    let to = from + 1
    while (to < end && isFault(to) === isFault(from) && !faults.some((fault) => fault.start === to)) to++
    const text = value.slice(from, to)
    found.push(isFault(from) ? html`<mark data-at=${from}>${text}</mark>` : text)
    from = to
  }
  return found
}

/** Least room for a sentence, in pixels: where there is less to the right of its underline, it starts further left, under its line. */
const SENTENCE_PX = 220

/** Moves each sentence under the start of its underline, with a line up to the part that contains it. */
function placeFindings(figure: HTMLElement): void {
  const left = figure.getBoundingClientRect().left
  for (const line of figure.querySelectorAll<HTMLElement>('li[data-from]')) {
    const mark = figure.querySelector(`mark[data-at="${line.dataset['from'] ?? ''}"]`)
    const part = mark?.closest('.part')
    if (!mark || !part) continue
    const at = mark.getBoundingClientRect().left - left
    const x = Math.max(0, Math.min(at, figure.clientWidth - SENTENCE_PX))
    line.classList.toggle('under', x < at)
    line.style.setProperty('--x', `${Math.round(x)}px`)
    line.style.setProperty('--line', `${Math.round(at - x)}px`)
    const list = part.parentElement?.getBoundingClientRect().bottom ?? 0
    // A line from an upper row would cross other parts, and a second one under its line the first sentence: there the underline has to do.
    const free = part.getBoundingClientRect().bottom >= list - 2 && (x === at || line.previousElementSibling === null)
    const rise = free ? line.getBoundingClientRect().top - part.getBoundingClientRect().bottom : 0
    line.style.setProperty('--rise', `${Math.round(rise)}px`)
  }
}
