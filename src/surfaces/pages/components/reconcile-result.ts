import type { EntryShare } from '../../../pure/documents/reconcile/outcome.ts'
import type { Verdict as PaymentVerdict } from '../../../pure/documents/reconcile/verdicts.ts'
import type { BadgeVerdict, Headline } from '../../../pure/headline.ts'
import type {
  AmountTally,
  CurrencySums,
  FileRemark,
  FileRemarks,
  ReconcileSummary,
  RowFilter,
  RunResult,
} from '../client/reconcile/messages.ts'
import { html } from '../html.ts'
import { SmallVerdict, Verdict } from './verdict.ts'

/** Verdicts that need attention come first. */
export const VERDICT_ORDER = ['DUPLICATE_PAYMENT', 'AMOUNT_MISMATCH', 'UNPAID', 'SETTLED'] as const

export const FILTER_LABELS: Readonly<Record<RowFilter, string>> = {
  all: 'All payments',
  SETTLED: 'Settled',
  UNPAID: 'Unpaid',
  AMOUNT_MISMATCH: 'Different amount',
  DUPLICATE_PAYMENT: 'Paid more than once',
  unmatched: 'Unmatched entries',
  ignored: 'Ignored entries',
}

const ATTENTION = { DUPLICATE_PAYMENT: 'paid more than once', AMOUNT_MISMATCH: 'paid with a different amount', UNPAID: 'unpaid' } as const

const VERDICT_MARKS: Readonly<Record<PaymentVerdict, BadgeVerdict>> = {
  SETTLED: 'valid',
  UNPAID: 'invalid',
  AMOUNT_MISMATCH: 'unverifiable',
  DUPLICATE_PAYMENT: 'invalid',
}

/** Verdict on a payment as shape, words and colour; the shape of a duplicate payment is two rings. */
export function PaymentVerdictMark({ verdict }: { verdict: PaymentVerdict }) {
  if (verdict !== 'DUPLICATE_PAYMENT') return html`<${SmallVerdict} mark=${VERDICT_MARKS[verdict]} word=${FILTER_LABELS[verdict]} />`
  const ring = (cx: string) => html`<circle cx=${cx} r="7.4" fill="none" stroke="currentColor" stroke-width="2.2" />`
  return html`<span class="verdict small invalid"
    ><svg class="shape" viewBox="-12 -12 24 24" aria-hidden="true">${ring('-3.6')}${ring('3.6')}</svg>${FILTER_LABELS[verdict]}</span
  >`
}

/** The result: decision, totals, remarks on the files. */
export function ReconcileResult({ result, names }: { result: RunResult; names: readonly string[] }) {
  return html`
    <${Verdict} headline=${resultHeadline(result)} />
    ${result.kind === 'done' && html`<${SummaryFacts} summary=${result.summary} />`}
    <${Remarks} found=${result.kind === 'done' ? result.summary : result} names=${names} />
  `
}

export function resultHeadline(result: RunResult): Headline {
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

/**
 * Amount whose decimal point is below those above it: missing decimal places are filled up invisibly. Thousands are separated by a margin, so
 * that a copy has the plain number.
 */
export function Money({ text, digits }: { text: string; digits: number }) {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? []
  const groups = whole.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? [text]
  const fill = digits === 0 ? '' : (fraction === '' ? '.' : '').padEnd(digits + 1 - fraction.length, '0')
  return html`<span class="money"
    >${sign}${groups.map((group, index) => (index === 0 ? group : html`<span class="thousand">${group}</span>`))}${fraction}${
      fill !== '' && html`<span class="fill" aria-hidden="true">${fill}</span>`
    }</span
  >`
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

export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}

export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}
