import type { Verdict as PaymentVerdict } from '../../../pure/documents/reconcile/verdicts.ts'
import type { BadgeVerdict } from '../../../pure/headline.ts'
import type { RowFilter } from '../client/reconcile/messages.ts'
import { html } from '../html.ts'
import { SmallVerdict } from './verdict.ts'

/** Words, marks and amounts that the parts of a reconciliation share. */

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

export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
