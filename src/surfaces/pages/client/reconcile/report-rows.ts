import type { CurrencyTotals, EntryShare, ReconcileOutcome } from '../../../../pure/documents/reconcile/outcome.ts'
import { entryOrder, entryRow, formatAmount, instructionOrder, verdictRow } from '../../../../pure/documents/reconcile/report-rows.ts'
import { formatMinorUnits, parseDay, printableText } from '../../../../pure/documents/reconcile/values.ts'
import { IGNORED_REASONS, UNMATCHED_REASONS, VERDICT_KINDS, VERDICTS, type Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'
import type {
  AmountTally,
  CurrencySums,
  EntryCells,
  PaymentCells,
  ReportCells,
  RowDetail,
  RowFilter,
  RowOrder,
  RowQuery,
} from './messages.ts'

type Comparison = (one: number, other: number) => number

const DAY_MS = 86_400_000

/** Rows of an outcome, filtered, searched and sorted; kept as row numbers, with cells made only for rows that are shown. */
export class ReportRows {
  private readonly outcome: ReconcileOutcome
  private readonly instructions: Int32Array
  private readonly entries: Readonly<Record<'unmatched' | 'ignored', Int32Array>>
  private found: Int32Array
  private filter: RowFilter = 'all'

  constructor(outcome: ReconcileOutcome) {
    this.outcome = outcome
    this.instructions = instructionOrder(outcome)
    const order = entryOrder(outcome)
    const ofKind = (kind: 'unmatched' | 'ignored') => order.filter((row) => outcome.entryOutcome(row).kind === kind)
    this.entries = { unmatched: ofKind('unmatched'), ignored: ofKind('ignored') }
    this.found = this.instructions
  }

  counts(): Record<RowFilter, number> {
    const { unmatched, ignored } = this.entries
    const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
    for (const row of this.instructions) verdicts[this.outcome.verdictOf(row).verdict]++
    return { all: this.instructions.length, ...verdicts, unmatched: unmatched.length, ignored: ignored.length }
  }

  /** Selects rows and returns their number. */
  find({ filter, text, currency, from, to, order, descending }: RowQuery): number {
    this.filter = filter
    const { pool } = this.outcome.ledger
    const [first, last] = [parseDay(from) ?? 0, parseDay(to) ?? Infinity]
    const dated = first > 0 || last < Infinity
    const wanted = text.trim().toLowerCase()
    const found = this.rowsOf(filter).filter((row) => {
      const day = this.table().day.get(row)
      return (
        (!dated || (day > 0 && day >= first && day <= last)) &&
        (currency === '' || pool.text(this.table().currency.get(row)) === currency) &&
        (wanted === '' || Object.values(this.cells(row)).join(' ').toLowerCase().includes(wanted))
      )
    })
    // Payments are already sorted by id.
    const comparison = this.comparison(order)
    if (comparison !== null) found.sort(comparison)
    this.found = descending ? found.toReversed() : found
    return found.length
  }

  /** All rows of a filter in their order, also those that are not shown. */
  *each(filter: 'all' | 'unmatched' | 'ignored'): Generator<ReportCells> {
    const cellsOf = filter === 'all' ? paymentCells : entryCells
    for (const row of this.rowsOf(filter)) yield cellsOf(this.outcome, row)
  }

  list(from: number, to: number): ReportCells[] {
    return [...this.found.subarray(from, to)].map((row) => this.cells(row))
  }

  detail(at: number): RowDetail {
    const row = this.found[at] ?? 0
    return this.listsEntries() ? entryDetail(this.outcome, row) : paymentDetail(this.outcome, row)
  }

  private listsEntries(): boolean {
    return this.filter === 'unmatched' || this.filter === 'ignored'
  }

  private table() {
    const { ledger } = this.outcome
    return this.listsEntries() ? ledger.entries : ledger.instructions
  }

  private cells(row: number): ReportCells {
    return this.listsEntries() ? entryCells(this.outcome, row) : paymentCells(this.outcome, row)
  }

  private rowsOf(filter: RowFilter): Int32Array {
    if (filter === 'all') return this.instructions
    if (filter === 'unmatched' || filter === 'ignored') return this.entries[filter]
    return this.instructions.filter((row) => this.outcome.verdictOf(row).verdict === filter)
  }

  private comparison(order: RowOrder): Comparison | null {
    const { pool } = this.outcome.ledger
    const table = this.table()
    const byCurrency: Comparison = (one, other) => pool.compare(table.currency.get(one), table.currency.get(other))
    switch (order) {
      case 'id':
        if (!this.listsEntries()) return null
        return (one, other) => pool.compare(table.ids.end_to_end.get(one), table.ids.end_to_end.get(other))
      case 'verdict':
        return this.byRank((row) => -VERDICTS.indexOf(this.outcome.verdictOf(row).verdict))
      case 'amount':
        return (one, other) => byCurrency(one, other) || compareAmounts(table.amount.get(one), table.amount.get(other))
      case 'difference': {
        const differences = this.differences()
        return (one, other) => byCurrency(one, other) || compareAmounts(differences[one] ?? 0n, differences[other] ?? 0n)
      }
      case 'date':
        return (one, other) => table.day.get(one) - table.day.get(other) || table.byPlace(one, other)
      case 'place':
        return (one, other) => table.byPlace(one, other)
      case 'reason':
        return this.byRank((row) => REASONS.indexOf(this.reason(row)))
    }
  }

  /** Computes each rank once, not once a comparison. */
  private byRank(rankOf: (row: number) => number): Comparison {
    const ranks = new Int32Array(this.table().size)
    for (const row of this.rowsOf(this.filter)) ranks[row] = rankOf(row)
    return (one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0)
  }

  private differences(): BigInt64Array {
    const { instructions } = this.outcome.ledger
    const differences = new BigInt64Array(instructions.size)
    for (const row of this.rowsOf(this.filter)) {
      const { net_minor } = this.outcome.verdictOf(row)
      differences[row] = net_minor === null ? 0n : net_minor - instructions.amount.get(row)
    }
    return differences
  }

  private reason(row: number): string {
    return this.listsEntries() ? entryReason(this.outcome, row) : this.outcome.verdictOf(row).kind
  }
}

const REASONS: readonly string[] = [...new Set([...VERDICT_KINDS, ...UNMATCHED_REASONS, ...IGNORED_REASONS])].toSorted()

function compareAmounts(one: bigint, other: bigint): number {
  return one < other ? -1 : one === other ? 0 : 1
}

function entryReason(outcome: ReconcileOutcome, row: number): string {
  const found = outcome.entryOutcome(row)
  return found.kind === 'matched' ? '' : found.reason
}

function paymentCells(outcome: ReconcileOutcome, row: number): PaymentCells {
  const { instructions } = outcome.ledger
  const found = verdictRow(outcome, row)
  const { currency, amount_minor, net_minor, delta_minor, verdict } = found
  const first = verdict === 'DUPLICATE_PAYMENT' ? `paid ${found.payments} times` : (found.kind ?? found.basis)
  return {
    id: found.end_to_end_id,
    verdict,
    why: reasonText([first, found.reason, ...found.warnings]),
    currency,
    amount: formatAmount(amount_minor, currency),
    net: net_minor === null ? null : formatAmount(net_minor, currency),
    difference: delta_minor === null ? null : formatAmount(delta_minor, currency),
    date: isoDate(instructions.day.get(row)),
    account: accountText(outcome, instructions.creditor.get(row)),
    place: String(found.position),
  }
}

function entryCells(outcome: ReconcileOutcome, row: number): EntryCells {
  const { entries } = outcome.ledger
  const found = entryRow(outcome, row, entryReason(outcome, row))
  return {
    // There is one statement, so its number is left out.
    entry: found.entry.replace(/^\d+:/, ''),
    id: found.end_to_end_id,
    reference: found.reference,
    direction: found.direction === 'DBIT' ? 'debit' : 'credit',
    currency: found.currency,
    amount: formatAmount(found.amount_minor, found.currency),
    date: isoDate(entries.day.get(row)),
    account: accountText(outcome, entries.counterparty.get(row)),
    reason: reasonText([found.reason]),
  }
}

/** Entries that are shown with a payment. */
const ENTRIES_SHOWN = 50

function paymentDetail(outcome: ReconcileOutcome, row: number): RowDetail {
  const { instructions } = outcome.ledger
  const { id, why, amount, net, difference, currency, date, account, place } = paymentCells(outcome, row)
  const found = verdictRow(outcome, row)
  const entries = outcome.entriesOf(row)
  const money = (text: string | null) => (text === null ? null : `${text} ${currency}`)
  return {
    title: id ?? `Payment ${place}`,
    facts: knownFacts([
      ['Reason', why],
      ['Instructed', money(amount)],
      ['Paid', money(net)],
      ['Difference', money(difference)],
      ['Charges', found.charges_minor === '0' ? null : money(formatAmount(found.charges_minor, currency))],
      ['Due', date],
      ['Debtor account', accountText(outcome, instructions.debtor.get(row))],
      ['Creditor account', account],
      ['Matched by', found.matched_by === null ? null : reasonText([found.matched_by])],
      ['Evidence', found.evidence],
      ['Final', found.final ? 'yes' : 'no'],
      ['Position in the file', place],
      ['Matched entries', String(entries.length)],
    ]),
    entries: entries.slice(0, ENTRIES_SHOWN).map((entry) => entryCells(outcome, entry)),
  }
}

function entryDetail(outcome: ReconcileOutcome, row: number): RowDetail {
  const { entry, id, reference, direction, amount, currency, date, account, reason } = entryCells(outcome, row)
  return {
    title: `Entry ${entry}`,
    facts: knownFacts([
      ['Reason', reason],
      ['Amount', `${amount} ${currency}`],
      ['Direction', direction],
      ['Booked', date],
      ['Account', accountText(outcome, outcome.ledger.entries.account.get(row))],
      ['Counterparty account', account],
      ['End-to-end id', id],
      ['Reference', reference],
    ]),
    entries: [],
  }
}

function knownFacts(facts: readonly [label: string, value: string | null][]): [label: string, value: string][] {
  return facts.flatMap(([label, value]) => (value === null || value === '' ? [] : [[label, value]]))
}

function isoDate(day: number): string | null {
  return day === 0 ? null : new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Numbers of accounts that are not IBANs are negative. */
function accountText({ ledger: { pool } }: ReconcileOutcome, number: number): string | null {
  return number === 0 ? null : printableText(pool.text(Math.abs(number)))
}

/** Codes whose words alone do not explain them. */
const REASON_TEXTS: Readonly<Record<string, string>> = {
  exact: 'id and amount match',
  folded: 'id matches without case and spaces',
  truncated: 'id matches as far as the bank kept it',
  not_found: 'no entry found',
  no_instruction: 'no payment found',
  under: 'paid too little',
  over: 'paid too much',
}

function reasonText(codes: readonly (string | null)[]): string {
  return codes
    .filter((code) => code !== null)
    .map((code) => REASON_TEXTS[code] ?? (/^[A-Z0-9]{4}$/.test(code) ? code : code.replaceAll('_', ' ').toLowerCase()))
    .join(', ')
}

export function currencySums({ currency, minor_units, instructions, verdicts, debits, credits }: CurrencyTotals): CurrencySums {
  const tally = ({ count, sum }: { count: number; sum: bigint }): AmountTally => ({ count, amount: formatMinorUnits(sum, minor_units) })
  const tallies = <Key extends Verdict | EntryShare>(sums: Record<Key, { count: number; sum: bigint }>) =>
    Object.fromEntries(Object.entries<{ count: number; sum: bigint }>(sums).map(([key, sum]) => [key, tally(sum)])) as Record<
      Key,
      AmountTally
    >
  return {
    currency,
    digits: minor_units,
    instructions: tally(instructions),
    verdicts: tallies(verdicts),
    debits: tallies(debits),
    credits: tallies(credits),
  }
}
