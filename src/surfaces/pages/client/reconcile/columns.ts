import { el } from '../dom.ts'
import type { Column } from './grid.ts'
import type { RowShown } from './host.ts'
import type { CurrencyShown, EntryShown, VerdictShown } from './messages.ts'
import { money } from './money.ts'
import { verdictMark } from './verdict-mark.ts'

/** Columns of payments and of entries. */

const NONE = '–'

export function paymentColumns({ digits, amount_chars }: Widths): Column[] {
  const of = (cell: (row: VerdictShown) => Node | string) => (row: RowShown) => ('verdict' in row ? cell(row) : '')
  const amount = (text: string | null) => (text === null ? NONE : money(text, digits))
  const zero = el('span', { class: 'none' }, money('0', digits))
  return [
    { title: 'id', sort: 'id', width: 16, cell: of(({ id }) => id ?? NONE) },
    { title: 'verdict', sort: 'verdict', width: 22, cell: of(({ verdict }) => verdictMark(verdict)) },
    { title: 'instructed', sort: 'amount', width: amount_chars, number: true, cell: of((row) => amount(row.amount)) },
    { title: 'paid', sort: null, width: amount_chars, number: true, cell: of((row) => amount(row.net)) },
    {
      title: 'difference',
      sort: 'difference',
      width: amount_chars,
      number: true,
      cell: of(({ difference }) => (isNothing(difference) ? zero.cloneNode(true) : amount(difference))),
    },
    { title: '', sort: null, width: 5, cell: of(({ currency }) => currency) },
    { title: 'why', sort: 'reason', width: 19, cell: of(({ why }) => why) },
    { title: 'place', sort: 'place', width: 7, number: true, cell: of(({ place }) => place) },
    { title: 'entries', sort: null, width: 11, cell: of(({ entries }) => entries) },
  ]
}

export function entryColumns({ digits, amount_chars }: Widths): Column[] {
  const of = (cell: (row: EntryShown) => Node | string) => (row: RowShown) => ('direction' in row ? cell(row) : '')
  return [
    { title: 'entry', sort: 'place', width: 9, cell: of(({ entry }) => entry) },
    { title: 'id', sort: 'id', width: 18, cell: of(({ id }) => id ?? NONE) },
    { title: 'reference', sort: null, width: 24, cell: of(({ reference }) => reference ?? NONE) },
    { title: 'direction', sort: null, width: 10, cell: of(({ direction }) => direction) },
    { title: 'amount', sort: 'amount', width: amount_chars, number: true, cell: of(({ amount }) => money(amount, digits)) },
    { title: '', sort: null, width: 5, cell: of(({ currency }) => currency) },
    { title: 'why', sort: 'reason', width: 20, cell: of(({ reason }) => reason) },
  ]
}

/** Digits behind the point of the finest currency, and the room that the largest sum takes: no amount is larger. */
export interface Widths {
  digits: number
  amount_chars: number
}

const LEAST_CHARS = 13

export function widthsOf(totals: readonly CurrencyShown[]): Widths {
  const digits = totals.reduce((most, one) => Math.max(most, one.digits), 0)
  const sums = totals.flatMap(({ instructions, debits, credits }) => [instructions, debits.all, credits.all].map(({ amount }) => amount))
  const whole = sums.reduce((most, sum) => Math.max(most, sum.replace(/\..*/, '').length), 0)
  // A sign, a point, and the space between thousands.
  return { digits, amount_chars: Math.max(LEAST_CHARS, 2 + whole + Math.ceil(whole / 6) + digits) }
}

function isNothing(difference: string | null): boolean {
  return difference !== null && /^0(?:\.0+)?$/.test(difference)
}
