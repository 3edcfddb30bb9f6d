import { minorUnits } from './minor-units.ts'
import type { Outcome } from './reconcile.ts'
import { shownText } from './shown-text.ts'
import { VERDICTS, type Verdict } from './verdicts.ts'

/** Count and sum of some rows of one currency. */
interface Tally {
  count: number
  sum: bigint
}

export type EntryShare = 'all' | 'matched' | 'unmatched' | 'ignored'

/** The sums of one currency: every instruction once by its verdict, every entry once by its fate, debits and credits apart. */
export interface CurrencyTotals {
  currency: string
  minor_units: number
  instructions: Tally
  verdicts: Record<Verdict, Tally>
  debits: Record<EntryShare, Tally>
  credits: Record<EntryShare, Tally>
}

const SHARES = ['all', 'matched', 'unmatched', 'ignored'] as const

/** Adds up what was judged. Several outcomes can be added to one book: a partition each. */
export class TotalsBook {
  private readonly currencies = new Map<string, CurrencyTotals>()

  add(outcome: Outcome): void {
    const { instructions, entries, pool } = outcome.ledger
    const known = new Map<number, CurrencyTotals>()
    const of = (currency: number): CurrencyTotals => {
      let found = known.get(currency)
      if (found === undefined) known.set(currency, (found = this.of(pool.text(currency) ?? '')))
      return found
    }
    for (let row = 0; row < instructions.size; row++) {
      const { instructions: all, verdicts } = of(instructions.currency.get(row))
      count(all, instructions.amount.get(row))
      count(verdicts[outcome.judgement(row).verdict], instructions.amount.get(row))
    }
    for (let row = 0; row < entries.size; row++) {
      const totals = of(entries.currency.get(row))
      const side = entries.isCredit(row) ? totals.credits : totals.debits
      count(side.all, entries.amount.get(row))
      count(side[outcome.fate(row).kind], entries.amount.get(row))
    }
  }

  /** By currency, in the order of their codes. */
  totals(): CurrencyTotals[] {
    return [...this.currencies.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
  }

  private of(currency: string): CurrencyTotals {
    let found = this.currencies.get(currency)
    if (found === undefined) this.currencies.set(currency, (found = emptyTotals(currency)))
    return found
  }
}

/** Whether every entry is in exactly one share: the sums of the shares are the sum of all, in every currency and direction. */
export function isConserved(totals: readonly CurrencyTotals[]): boolean {
  return totals.every(({ instructions, verdicts, debits, credits }) => {
    const sums = [debits, credits].every(({ all, matched, unmatched, ignored }) => same(all, [matched, unmatched, ignored]))
    return sums && same(instructions, Object.values(verdicts))
  })
}

function same(all: Tally, parts: readonly Tally[]): boolean {
  const added = parts.reduce((sum, part) => ({ count: sum.count + part.count, sum: sum.sum + part.sum }), { count: 0, sum: 0n })
  return added.count === all.count && added.sum === all.sum
}

function count(tally: Tally, amount_minor: bigint): void {
  tally.count++
  tally.sum += amount_minor
}

function emptyTotals(currency: string): CurrencyTotals {
  const empty = (): Tally => ({ count: 0, sum: 0n })
  const shares = () => Object.fromEntries(SHARES.map((share) => [share, empty()])) as Record<EntryShare, Tally>
  return {
    currency,
    minor_units: minorUnits(currency),
    instructions: empty(),
    verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, empty()])) as Record<Verdict, Tally>,
    debits: shares(),
    credits: shares(),
  }
}

/** The totals as they are written: sums as text of minor units. */
export function totalsRow({ currency, minor_units, instructions, verdicts, debits, credits }: CurrencyTotals): Record<string, unknown> {
  const written = ({ count: rows, sum }: Tally) => ({ count: rows, amount_minor: sum.toString() })
  const all = (tallies: Record<string, Tally>) => Object.fromEntries(Object.entries(tallies).map(([name, tally]) => [name, written(tally)]))
  return {
    currency: shownText(currency),
    minor_units,
    instructions: written(instructions),
    verdicts: all(verdicts),
    debits: all(debits),
    credits: all(credits),
  }
}
