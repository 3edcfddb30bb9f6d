import { attribute, contestSeveral } from './attribute.ts'
import { Attribution, type AmbiguousGroup, type AttributionOptions } from './attribution.ts'
import { attributeBatches } from './batches.ts'
import { Bytes, Ints, Money } from './columns.ts'
import { contestInside, attributeInside } from './inside.ts'
import { allRunAgainst, tellApart } from './judge-group.ts'
import { judgePayment, undecided, unpaid } from './judge-payment.ts'
import type { Ledger } from './ledger.ts'
import { INSTRUCTION_SOURCES } from './records.ts'
import { BASES, KINDS, MATCHED_BY, VERDICTS, type Ignored, type Judgement, type Kind, type Unmatched } from './verdicts.ts'

export interface ReconcileOptions extends AttributionOptions {
  /** A forward ACH entry is no settlement: what rests on it alone is UNPAID. */
  require_settlement_evidence: boolean
}

/** What became of an entry. */
export type EntryFate = { kind: 'matched' } | { kind: 'unmatched'; reason: Unmatched } | { kind: 'ignored'; reason: Ignored }

/**
 * The verdict on every instruction and the fate of every entry. Rows are those of the ledger; what is said does not depend on their order.
 */
export class Outcome {
  readonly ledger: Ledger
  /** One for each source of instructions, or one without any. */
  private readonly all: readonly Attribution[]
  private readonly verdict = new Bytes()
  private readonly basis = new Bytes()
  private readonly kind = new Bytes()
  private readonly matched_by = new Bytes()
  /** One more than the place in EVIDENCE. */
  private readonly evidence = new Bytes()
  private readonly warnings = new Ints()
  /** Set where no net amount can be said. */
  private readonly unknown = new Bytes()
  private readonly net = new Money()
  private readonly charges = new Money()
  private readonly payments = new Ints()
  private readonly reason = new Ints()
  /** One more than the first entry of an instruction, and of an entry the next, by source. */
  private readonly heads = new Ints()
  private readonly nexts = INSTRUCTION_SOURCES.map(() => new Ints())

  constructor(ledger: Ledger, all: readonly Attribution[]) {
    this.ledger = ledger
    this.all = all
  }

  get ambiguous(): readonly AmbiguousGroup[] {
    return this.all.flatMap(({ ambiguous }) => ambiguous)
  }

  judgement(instruction: number): Judgement {
    const evidence = this.evidence.get(instruction)
    return {
      verdict: VERDICTS[this.verdict.get(instruction)] ?? 'UNPAID',
      basis: BASES[this.basis.get(instruction)] ?? 'none',
      kind: KINDS[this.kind.get(instruction)] ?? 'none',
      matched_by: MATCHED_BY[this.matched_by.get(instruction)] ?? 'none',
      net_minor: this.unknown.get(instruction) === 1 ? null : this.net.get(instruction),
      charges_minor: this.charges.get(instruction),
      payments: this.payments.get(instruction),
      evidence: evidence === 0 ? null : evidence - 1,
      reason: this.ledger.pool.text(this.reason.get(instruction)),
      warnings: this.warnings.get(instruction),
    }
  }

  /** The entries that stand for the instruction itself, by place; those of a whole batch are not among them. */
  entriesOf(instruction: number): number[] {
    const found: number[] = []
    const nexts = this.nextsOf(instruction)
    for (let next = this.heads.get(instruction); next !== 0; next = nexts.get(next - 1)) found.push(next - 1)
    return found.length < 2 ? found : found.sort((one, other) => this.ledger.entries.byPlace(one, other))
  }

  /** Matched where instructions of any source account for it; else the first reason that says more than that there is none. */
  fate(entry: number): EntryFate {
    const ignored = this.all[0]?.ignoredReason(entry) ?? null
    if (ignored !== null) return { kind: 'ignored', reason: ignored }
    if (this.all.some((at) => at.isMatched(entry))) return { kind: 'matched' }
    const reasons = this.all.map((at) => at.unmatchedReason(entry))
    return { kind: 'unmatched', reason: reasons.find((reason) => reason !== 'no_instruction') ?? 'no_instruction' }
  }

  private nextsOf(instruction: number): Ints {
    return this.nexts[this.ledger.instructions.source.get(instruction)] ?? new Ints()
  }

  store(instruction: number, found: Judgement, entries: readonly number[]): void {
    this.verdict.set(instruction, VERDICTS.indexOf(found.verdict))
    this.basis.set(instruction, BASES.indexOf(found.basis))
    this.kind.set(instruction, KINDS.indexOf(found.kind))
    this.matched_by.set(instruction, MATCHED_BY.indexOf(found.matched_by))
    this.evidence.set(instruction, found.evidence === null ? 0 : found.evidence + 1)
    this.warnings.set(instruction, found.warnings)
    this.unknown.set(instruction, found.net_minor === null ? 1 : 0)
    this.net.set(instruction, clamped(found.net_minor ?? 0n))
    this.charges.set(instruction, clamped(found.charges_minor))
    this.payments.set(instruction, found.payments)
    this.reason.set(instruction, this.ledger.pool.number(found.reason))
    const nexts = this.nextsOf(instruction)
    for (const row of entries) {
      nexts.set(row, this.heads.get(instruction))
      this.heads.set(instruction, row + 1)
    }
  }
}

/** Sums of amounts of 63 bits may need more; no currency has so much money. */
function clamped(amount_minor: bigint): bigint {
  return BigInt.asIntN(64, amount_minor) === amount_minor ? amount_minor : amount_minor > 0n ? 2n ** 63n - 1n : -(2n ** 63n)
}

/**
 * Judges every instruction of the ledger, those of each source against all entries. Takes time in proportion to both sides, apart from
 * sorting what shares an id.
 */
export function reconcile(ledger: Ledger, options: ReconcileOptions): Outcome {
  const given = INSTRUCTION_SOURCES.filter((source) => ledger.instructions.sources.has(source))
  const sources = given.length === 0 ? INSTRUCTION_SOURCES.slice(0, 1) : given
  const all = sources.map((source) => new Attribution(ledger, options, source))
  const outcome = new Outcome(ledger, all)
  for (const at of all) judgeSource(at, outcome, options)
  return outcome
}

function judgeSource(at: Attribution, outcome: Outcome, options: ReconcileOptions): void {
  const { ledger } = at
  attribute(at)
  attributeInside(at)
  attributeBatches(at)
  contestInside(at)
  contestSeveral(at)
  const members = new Chains(ledger.instructions.size, (row) => (at.admits(row) ? at.groups.root(row) : -1))
  const rows = new Chains(
    ledger.instructions.size,
    (row) => (at.target(row) === -1 ? -1 : at.groups.root(at.target(row))),
    ledger.entries.size,
  )
  for (let row = 0; row < ledger.instructions.size; row++) {
    if (members.isEmpty(row)) continue
    judgeGroup(at, outcome, members.list(row), rows.list(row), options)
  }
}

/** Rows by the group they belong to. */
class Chains {
  private readonly heads: Int32Array
  private readonly nexts: Int32Array

  constructor(groups: number, groupOf: (row: number) => number, rows = groups) {
    this.heads = new Int32Array(groups).fill(-1)
    this.nexts = new Int32Array(rows)
    for (let row = rows - 1; row >= 0; row--) {
      const group = groupOf(row)
      if (group === -1) continue
      this.nexts[row] = this.heads[group] ?? -1
      this.heads[group] = row
    }
  }

  isEmpty(group: number): boolean {
    return this.heads[group] === -1
  }

  list(group: number): number[] {
    const found: number[] = []
    for (let row = this.heads[group] ?? -1; row !== -1; row = this.nexts[row] ?? -1) found.push(row)
    return found
  }
}

function judgeGroup(
  at: Attribution,
  outcome: Outcome,
  instructions: readonly number[],
  entries: readonly number[],
  options: ReconcileOptions,
): void {
  const [first = -1, another] = instructions
  if (another === undefined) return judgeOne(at, outcome, first, entries, options)
  if (allRunAgainst(at, instructions, entries)) return release(at, outcome, instructions, entries)
  const apart = tellApart(at, instructions, entries)
  if (apart === null) return contest(at, outcome, 'shared_id', instructions, entries)
  for (const [row, own] of apart) judgeOne(at, outcome, row, own, options)
}

function judgeOne(at: Attribution, outcome: Outcome, row: number, entries: readonly number[], options: ReconcileOptions): void {
  const contested = at.ambiguous_kind.get(row)
  if (contested !== 0) return outcome.store(row, undecided(KINDS[contested - 1] ?? 'none'), [])
  if (entries.length === 0 && at.covered_by.get(row) === 0) return outcome.store(row, unpaid(missingKind(at, row)), [])
  const ending = judgePayment(at, row, entries, options.require_settlement_evidence)
  switch (ending.kind) {
    case 'judged':
      return outcome.store(row, ending.judgement, entries)
    case 'released':
      return release(at, outcome, [row], entries)
    case 'contested':
      return contest(at, outcome, ending.why, [row], entries)
  }
}

function missingKind(at: Attribution, row: number): Kind {
  if (at.pending[row] === 1) return 'pending'
  return at.elsewhere.get(at.ledger.instructions.ids.end_to_end.get(row)) ?? 'not_found'
}

function contest(at: Attribution, outcome: Outcome, kind: Kind, instructions: readonly number[], entries: readonly number[]): void {
  at.contest(kind, instructions, entries)
  for (const row of instructions) outcome.store(row, undecided(kind), [])
}

function release(at: Attribution, outcome: Outcome, instructions: readonly number[], entries: readonly number[]): void {
  for (const row of entries) at.close(row, 'wrong_direction')
  for (const row of instructions) outcome.store(row, unpaid('wrong_direction'), [])
}
