import type { Members } from '../../../pure/is-object.ts'
import type { ComponentType, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Headline, HeadlineRule } from '../../../pure/headline.ts'
import type { Receipt } from '../../../pure/receipts/receipt.ts'
import {
  arrangeFacts,
  viewAnswer,
  type AnswerView,
  type ArrangedFacts,
  type ItemView,
  type Reason,
} from '../../../service/catalogue/answer-view.ts'
import { markOf } from '../../../pure/headline.ts'
import { checkHeadline, headlineReader } from '../../../service/catalogue/headlines.ts'
import { html } from '../html.ts'
import { FactTables, KeyFacts, ListTable } from './facts.ts'
import { Identifier } from './identifier.ts'
import { Seal } from './seal.ts'
import { Tabs } from './tabs.ts'
import { ScopeLine, SmallVerdict, Verdict } from './verdict.ts'

/** Rules for displaying the answers of one tool. */
export interface AnswerReading {
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

export interface ShownAnswer {
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
