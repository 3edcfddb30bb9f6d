import { Attribution, type AttributionOptions } from './attribution-state.ts'
import { VERDICT_KINDS, type VerdictKind } from './verdicts.ts'
import { ReconcileOutcome } from './outcome.ts'
import { attributeEntries, contestMultiplePayments } from './attribute-entries.ts'
import { attributeBatches, attributeEnclosed, contestEnclosed } from './attribute-batches.ts'
import { allOppose, decidePayment, separateInstructions, ambiguousVerdict, unpaidVerdict } from './instruction-verdict.ts'
import type { Ledger } from './ledger.ts'
import { INSTRUCTION_SOURCES } from './records.ts'

export interface ReconcileOptions extends AttributionOptions {
  /** A forward ACH entry alone does not settle: verdicts that rest on it become UNPAID. */
  require_settlement_evidence: boolean
}

/**
 * Decides every instruction of the ledger, per source against all entries. Linear in both sides, apart from sorting rows that share an id.
 */
export function reconcileLedger(ledger: Ledger, options: ReconcileOptions): ReconcileOutcome {
  const given = INSTRUCTION_SOURCES.filter((source) => ledger.instructions.sources.has(source))
  const sources = given.length === 0 ? INSTRUCTION_SOURCES.slice(0, 1) : given
  const all = sources.map((source) => new Attribution(ledger, options, source))
  const outcome = new ReconcileOutcome(ledger, all)
  for (const at of all) decideSource(at, outcome, options)
  return outcome
}

function decideSource(at: Attribution, outcome: ReconcileOutcome, options: ReconcileOptions): void {
  const { ledger } = at
  attributeEntries(at)
  attributeEnclosed(at)
  attributeBatches(at)
  contestEnclosed(at)
  contestMultiplePayments(at)
  const members = new RowChains(ledger.instructions.size, (row) => (at.takesPart(row) ? at.groups.root(row) : -1))
  const rows = new RowChains(
    ledger.instructions.size,
    (row) => (at.target(row) === -1 ? -1 : at.groups.root(at.target(row))),
    ledger.entries.size,
  )
  for (let row = 0; row < ledger.instructions.size; row++) {
    if (members.isEmpty(row)) continue
    decideGroup(at, outcome, members.list(row), rows.list(row), options)
  }
}

/** Rows by group, as linked lists. */
class RowChains {
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

function decideGroup(
  at: Attribution,
  outcome: ReconcileOutcome,
  instructions: readonly number[],
  entries: readonly number[],
  options: ReconcileOptions,
): void {
  const [first = -1, another] = instructions
  if (another === undefined) return decideInstruction(at, outcome, first, entries, options)
  if (allOppose(at, instructions, entries)) return storeOpposed(at, outcome, instructions, entries)
  const apart = separateInstructions(at, instructions, entries)
  if (apart === null) return storeAmbiguous(at, outcome, 'shared_id', instructions, entries)
  for (const [row, own] of apart) decideInstruction(at, outcome, row, own, options)
}

function decideInstruction(
  at: Attribution,
  outcome: ReconcileOutcome,
  row: number,
  entries: readonly number[],
  options: ReconcileOptions,
): void {
  const contested = at.ambiguous_kind.get(row)
  if (contested !== 0) return outcome.store(row, ambiguousVerdict(VERDICT_KINDS[contested - 1] ?? 'none'), [])
  if (entries.length === 0 && at.covered_by.get(row) === 0) return outcome.store(row, unpaidVerdict(unpaidKind(at, row)), [])
  const ending = decidePayment(at, row, entries, options.require_settlement_evidence)
  switch (ending.kind) {
    case 'judged':
      return outcome.store(row, ending.judgement, entries)
    case 'released':
      return storeOpposed(at, outcome, [row], entries)
    case 'contested':
      return storeAmbiguous(at, outcome, ending.why, [row], entries)
  }
}

function unpaidKind(at: Attribution, row: number): VerdictKind {
  if (at.pending[row] === 1) return 'pending'
  return at.misfits_by_id.get(at.ledger.instructions.ids.end_to_end.get(row)) ?? 'not_found'
}

function storeAmbiguous(
  at: Attribution,
  outcome: ReconcileOutcome,
  kind: VerdictKind,
  instructions: readonly number[],
  entries: readonly number[],
): void {
  at.markAmbiguous(kind, instructions, entries)
  for (const row of instructions) outcome.store(row, ambiguousVerdict(kind), [])
}

function storeOpposed(at: Attribution, outcome: ReconcileOutcome, instructions: readonly number[], entries: readonly number[]): void {
  for (const row of entries) at.leaveUnmatched(row, 'wrong_direction')
  for (const row of instructions) outcome.store(row, unpaidVerdict('wrong_direction'), [])
}
