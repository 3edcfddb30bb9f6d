import type { EntryShare } from '../../../../pure/documents/reconcile/totals.ts'
import { el } from '../dom.ts'
import type { CurrencyShown, Tally } from './messages.ts'
import { money } from './money.ts'
import { colourOf, verdictShape } from './verdict-mark.ts'
import { counted, VERDICT_ORDER, VIEW_WORDS } from './words.ts'

/** The sums of each currency: what was instructed by verdict, and beside it what the bank booked by what became of it. */
export function totalsView(totals: readonly CurrencyShown[]): HTMLElement {
  const digits = totals.reduce((most, one) => Math.max(most, one.digits), 0)
  return el(
    'div',
    { class: 'totals' },
    table('Payments', totals, digits, paymentRows),
    table('Entries of the bank', totals, digits, entryRows),
  )
}

interface Line {
  what: Node | string
  tally: Tally
  part: boolean
}

function table(caption: string, totals: readonly CurrencyShown[], digits: number, linesOf: (one: CurrencyShown) => Line[]): HTMLElement {
  const head = ['', 'count', 'amount'].map((words) => (words === '' ? el('td', {}) : el('th', { scope: 'col', class: 'n' }, words)))
  const bodies = totals.map((one) => {
    const title = el('tr', { class: 'currency' }, el('th', { scope: 'rowgroup', colspan: '3' }, one.currency))
    return el('tbody', {}, title, ...linesOf(one).map((line) => lineRow(line, digits)))
  })
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...head)), ...bodies),
  )
}

function lineRow({ what, tally: { count, amount }, part }: Line, digits: number): HTMLElement {
  return el(
    'tr',
    {},
    el('th', { scope: 'row', class: part ? 'part' : '' }, what),
    el('td', { class: 'n' }, counted(count)),
    el('td', { class: 'n' }, money(amount, digits)),
  )
}

function paymentRows({ instructions, verdicts }: CurrencyShown): Line[] {
  const met = VERDICT_ORDER.filter((verdict) => verdicts[verdict].count > 0)
  return [
    { what: 'instructed', tally: instructions, part: false },
    ...met.map((verdict): Line => ({
      what: el('span', { class: `mini ${colourOf(verdict)}` }, verdictShape(verdict), VIEW_WORDS[verdict]),
      tally: verdicts[verdict],
      part: true,
    })),
  ]
}

const SHARES = [
  ['matched', 'stand for a payment'],
  ['unmatched', 'stand for none'],
  ['ignored', 'do not count'],
] as const satisfies readonly (readonly [EntryShare, string])[]

function entryRows({ debits, credits }: CurrencyShown): Line[] {
  const sides = [['debits', debits] as const, ['credits', credits] as const].filter(([, shares]) => shares.all.count > 0)
  if (sides.length === 0) return [{ what: 'none', tally: debits.all, part: false }]
  return sides.flatMap(([name, shares]) => [
    { what: name, tally: shares.all, part: false },
    ...SHARES.filter(([share]) => shares[share].count > 0).map(([share, what]) => ({ what, tally: shares[share], part: true })),
  ])
}
