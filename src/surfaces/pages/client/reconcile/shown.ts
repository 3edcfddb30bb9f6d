import { decimalText } from '../../../../pure/documents/reconcile/minor-units.ts'
import type { Outcome } from '../../../../pure/documents/reconcile/reconcile.ts'
import { amountText, entryRow, verdictRow } from '../../../../pure/documents/reconcile/rows.ts'
import { TotalsBook, isConserved, type CurrencyTotals, type EntryShare } from '../../../../pure/documents/reconcile/totals.ts'
import { VERDICTS, type Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'
import type { CurrencyShown, EntryShown, Tally, VerdictShown } from './messages.ts'

/** Rows and sums as the page shows them, made only when they are asked for. */

const SHOWN_ENTRIES = 20

export function verdictShown(outcome: Outcome, row: number): VerdictShown {
  const found = verdictRow(outcome, row)
  const { currency, amount_minor, net_minor, delta_minor, entries } = found
  const first = found.verdict === 'DUPLICATE_PAYMENT' ? `paid ${found.payments} times` : (found.kind ?? found.basis)
  return {
    id: found.end_to_end_id,
    verdict: found.verdict,
    why: words([first, found.reason, ...found.warnings]),
    currency,
    amount: amountText(amount_minor, currency),
    net: net_minor === null ? null : amountText(net_minor, currency),
    difference: delta_minor === null ? null : amountText(delta_minor, currency),
    place: String(found.position),
    entries: entries.slice(0, SHOWN_ENTRIES).map(placeText).join(' ') + (entries.length > SHOWN_ENTRIES ? ' …' : ''),
  }
}

export function entryShown(outcome: Outcome, row: number): EntryShown {
  const fate = outcome.fate(row)
  const found = entryRow(outcome, row, fate.kind === 'matched' ? '' : fate.reason)
  return {
    entry: placeText(found.entry),
    id: found.end_to_end_id,
    reference: found.reference,
    direction: found.direction === 'DBIT' ? 'debit' : 'credit',
    currency: found.currency,
    amount: amountText(found.amount_minor, found.currency),
    reason: words([found.reason]),
  }
}

/** There is one statement, so its number says nothing. */
function placeText(entry: string): string {
  return entry.replace(/^\d+:/, '')
}

function words(parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => (/^[A-Z0-9]{4}$/.test(part) ? part : part.replaceAll('_', ' ').toLowerCase()))
    .join(', ')
}

export function totalsShown(outcome: Outcome): { totals: CurrencyShown[]; conserved: boolean } {
  const book = new TotalsBook()
  book.add(outcome)
  const totals = book.totals()
  return { totals: totals.map(currencyShown), conserved: isConserved(totals) }
}

function currencyShown({ currency, minor_units, instructions, verdicts, debits, credits }: CurrencyTotals): CurrencyShown {
  const tally = ({ count, sum }: { count: number; sum: bigint }): Tally => ({ count, amount: decimalText(sum, minor_units) })
  const shares = (side: CurrencyTotals['debits']): Record<EntryShare, Tally> => ({
    all: tally(side.all),
    matched: tally(side.matched),
    unmatched: tally(side.unmatched),
    ignored: tally(side.ignored),
  })
  return {
    currency,
    digits: minor_units,
    instructions: tally(instructions),
    verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, tally(verdicts[verdict])])) as Record<Verdict, Tally>,
    debits: shares(debits),
    credits: shares(credits),
  }
}
