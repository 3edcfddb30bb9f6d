import type { AmbiguousGroup, Attribution } from './attribution-state.ts'
import { ByteColumn, IntColumn, MoneyColumn } from './columns.ts'
import type { Ledger } from './ledger.ts'
import { currencyDigits, printableText } from './values.ts'
import { INSTRUCTION_SOURCES } from './records.ts'
import {
  VERDICT_BASES,
  VERDICT_KINDS,
  MATCHED_BY,
  VERDICTS,
  type IgnoredReason,
  UNPAID_VERDICT,
  type InstructionVerdict,
  type UnmatchedReason,
  type Verdict,
  type VerdictKind,
} from './verdicts.ts'

/** Result for an entry. */
type EntryOutcome = { kind: 'matched' } | { kind: 'unmatched'; reason: UnmatchedReason } | { kind: 'ignored'; reason: IgnoredReason }

/** Verdict on every instruction and result for every entry. Rows are those of the ledger; results do not depend on their order. */
export class ReconcileOutcome {
  readonly ledger: Ledger
  /** One attribution per source of instructions, or one without instructions. */
  private readonly all: readonly Attribution[]
  private readonly verdict = new ByteColumn()
  private readonly basis = new ByteColumn()
  private readonly kind = new ByteColumn()
  private readonly matched_by = new ByteColumn()
  /** EVIDENCE_GRADES index plus one. */
  private readonly evidence = new ByteColumn()
  private readonly warnings = new IntColumn()
  /** 1 if the net amount cannot be determined. */
  private readonly unknown = new ByteColumn()
  private readonly net = new MoneyColumn()
  private readonly charges = new MoneyColumn()
  private readonly payments = new IntColumn()
  private readonly reason = new IntColumn()
  /** Linked lists of entries: first entry of an instruction plus one, and next entry by source. */
  private readonly heads = new IntColumn()
  private readonly nexts = INSTRUCTION_SOURCES.map(() => new IntColumn())

  constructor(ledger: Ledger, all: readonly Attribution[]) {
    this.ledger = ledger
    this.all = all
  }

  get ambiguous(): readonly AmbiguousGroup[] {
    return this.all.flatMap(({ ambiguous }) => ambiguous)
  }

  verdictOf(instruction: number): InstructionVerdict {
    const evidence = this.evidence.get(instruction)
    return {
      verdict: VERDICTS[this.verdict.get(instruction)] ?? 'UNPAID',
      basis: VERDICT_BASES[this.basis.get(instruction)] ?? 'none',
      kind: VERDICT_KINDS[this.kind.get(instruction)] ?? 'none',
      matched_by: MATCHED_BY[this.matched_by.get(instruction)] ?? 'none',
      net_minor: this.unknown.get(instruction) === 1 ? null : this.net.get(instruction),
      charges_minor: this.charges.get(instruction),
      payments: this.payments.get(instruction),
      evidence: evidence === 0 ? null : evidence - 1,
      reason: this.ledger.pool.text(this.reason.get(instruction)),
      warnings: this.warnings.get(instruction),
    }
  }

  /** Entries that match the instruction itself, in file order; batch bookings are not included. */
  entriesOf(instruction: number): number[] {
    const found: number[] = []
    const nexts = this.nextsOf(instruction)
    for (let next = this.heads.get(instruction); next !== 0; next = nexts.get(next - 1)) found.push(next - 1)
    return found.length < 2 ? found : found.sort((one, other) => this.ledger.entries.byPlace(one, other))
  }

  /** Matched if instructions of any source account for it; otherwise the first reason other than `no_instruction`. */
  entryOutcome(entry: number): EntryOutcome {
    const ignored = this.all[0]?.ignoredReason(entry) ?? null
    if (ignored !== null) return { kind: 'ignored', reason: ignored }
    if (this.all.some((at) => at.isMatched(entry))) return { kind: 'matched' }
    const reasons = this.all.map((at) => at.unmatchedReason(entry))
    return { kind: 'unmatched', reason: reasons.find((reason) => reason !== 'no_instruction') ?? 'no_instruction' }
  }

  private nextsOf(instruction: number): IntColumn {
    return this.nexts[this.ledger.instructions.source.get(instruction)] ?? new IntColumn()
  }

  /** Stores that nothing pays the instruction. */
  storeUnpaid(instruction: number, kind: VerdictKind): void {
    this.store(instruction, { ...UNPAID_VERDICT, kind }, [])
  }

  /** Stores that nothing distinguishes its entries from those of other instructions. */
  storeAmbiguous(instruction: number, kind: VerdictKind): void {
    this.store(instruction, { ...UNPAID_VERDICT, basis: 'ambiguous', kind, net_minor: null }, [])
  }

  store(instruction: number, found: InstructionVerdict, entries: readonly number[]): void {
    this.verdict.set(instruction, VERDICTS.indexOf(found.verdict))
    this.basis.set(instruction, VERDICT_BASES.indexOf(found.basis))
    this.kind.set(instruction, VERDICT_KINDS.indexOf(found.kind))
    this.matched_by.set(instruction, MATCHED_BY.indexOf(found.matched_by))
    this.evidence.set(instruction, found.evidence === null ? 0 : found.evidence + 1)
    this.warnings.set(instruction, found.warnings)
    this.unknown.set(instruction, found.net_minor === null ? 1 : 0)
    this.net.set(instruction, clampToInt64(found.net_minor ?? 0n))
    this.charges.set(instruction, clampToInt64(found.charges_minor))
    this.payments.set(instruction, found.payments)
    this.reason.set(instruction, this.ledger.pool.number(found.reason))
    const nexts = this.nextsOf(instruction)
    for (const row of entries) {
      nexts.set(row, this.heads.get(instruction))
      this.heads.set(instruction, row + 1)
    }
  }
}

/** Sums of 63-bit amounts may overflow; no currency has so much money. */
function clampToInt64(amount_minor: bigint): bigint {
  return BigInt.asIntN(64, amount_minor) === amount_minor ? amount_minor : amount_minor > 0n ? 2n ** 63n - 1n : -(2n ** 63n)
}

/** Count and sum of rows in one currency. */
interface CurrencyTally {
  count: number
  sum: bigint
}

export type EntryShare = 'all' | 'matched' | 'unmatched' | 'ignored'

/** Sums of one currency: every instruction by verdict, every entry by result, debits and credits separately. */
export interface CurrencyTotals {
  currency: string
  minor_units: number
  instructions: CurrencyTally
  verdicts: Record<Verdict, CurrencyTally>
  debits: Record<EntryShare, CurrencyTally>
  credits: Record<EntryShare, CurrencyTally>
}

const SHARES = ['all', 'matched', 'unmatched', 'ignored'] as const

/** Adds up outcomes; several partitions can be added to one collector. */
export class TotalsCollector {
  private readonly currencies = new Map<string, CurrencyTotals>()

  add(outcome: ReconcileOutcome): void {
    const { instructions, entries, pool } = outcome.ledger
    const known = new Map<number, CurrencyTotals>()
    const of = (currency: number): CurrencyTotals => {
      let found = known.get(currency)
      if (found === undefined) known.set(currency, (found = this.of(pool.text(currency) ?? '')))
      return found
    }
    for (let row = 0; row < instructions.size; row++) {
      const { instructions: all, verdicts } = of(instructions.currency.get(row))
      addToTally(all, instructions.amount.get(row))
      addToTally(verdicts[outcome.verdictOf(row).verdict], instructions.amount.get(row))
    }
    for (let row = 0; row < entries.size; row++) {
      const totals = of(entries.currency.get(row))
      const side = entries.isCredit(row) ? totals.credits : totals.debits
      addToTally(side.all, entries.amount.get(row))
      addToTally(side[outcome.entryOutcome(row).kind], entries.amount.get(row))
    }
  }

  /** Totals in the order of currency codes. */
  totals(): CurrencyTotals[] {
    return [...this.currencies.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
  }

  private of(currency: string): CurrencyTotals {
    let found = this.currencies.get(currency)
    if (found === undefined) this.currencies.set(currency, (found = emptyTotals(currency)))
    return found
  }
}

/** True if the shares add up to all entries, and the verdicts to all instructions, in every currency and direction. */
export function isConserved(totals: readonly CurrencyTotals[]): boolean {
  return totals.every(({ instructions, verdicts, debits, credits }) => {
    const sums = [debits, credits].every(({ all, matched, unmatched, ignored }) => sumsTo(all, [matched, unmatched, ignored]))
    return sums && sumsTo(instructions, Object.values(verdicts))
  })
}

function sumsTo(all: CurrencyTally, parts: readonly CurrencyTally[]): boolean {
  const added = parts.reduce((sum, part) => ({ count: sum.count + part.count, sum: sum.sum + part.sum }), { count: 0, sum: 0n })
  return added.count === all.count && added.sum === all.sum
}

function addToTally(tally: CurrencyTally, amount_minor: bigint): void {
  tally.count++
  tally.sum += amount_minor
}

function emptyTotals(currency: string): CurrencyTotals {
  const empty = (): CurrencyTally => ({ count: 0, sum: 0n })
  const shares = () => Object.fromEntries(SHARES.map((share) => [share, empty()])) as Record<EntryShare, CurrencyTally>
  return {
    currency,
    minor_units: currencyDigits(currency),
    instructions: empty(),
    verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, empty()])) as Record<Verdict, CurrencyTally>,
    debits: shares(),
    credits: shares(),
  }
}

/** Totals as JSON, with sums as text in minor units. */
export function totalsJson({ currency, minor_units, instructions, verdicts, debits, credits }: CurrencyTotals): Record<string, unknown> {
  const written = ({ count: rows, sum }: CurrencyTally) => ({ count: rows, amount_minor: sum.toString() })
  const all = (tallies: Record<string, CurrencyTally>) =>
    Object.fromEntries(Object.entries(tallies).map(([name, tally]) => [name, written(tally)]))
  return {
    currency: printableText(currency),
    minor_units,
    instructions: written(instructions),
    verdicts: all(verdicts),
    debits: all(debits),
    credits: all(credits),
  }
}
