import type { Attribution } from './attribution.ts'
import { Ints } from './columns.ts'
import type { KeyIndex } from './groups.ts'
import { SharedKeys } from './shared-keys.ts'
import { attributeUnclear } from './unclear.ts'
import type { Ledger } from './ledger.ts'
import type { MatchedBy } from './verdicts.ts'

/** An id by its name, as instructions and as entries have it. */
type Level = [by: MatchedBy, asked: Ints, told: Ints]

/**
 * Finds for each entry the instruction it is about, the strongest id first. Amounts play no part here: an entry of the wrong amount is
 * still an entry about that payment.
 *
 * 1. the end-to-end id, and what ACH addenda refer to, exactly; several payments in one ACH entry are contested (`contestSeveral`);
 * 2. the UETR, which is one of a kind in the world;
 * 3. instruction id, transaction id, clearing reference: only where one side has no end-to-end id, since these are reused; shared by
 *    several instructions, they speak only for those that nothing stronger speaks for;
 * 4. folded and cut ids (`unclear.ts`), where nothing else could be meant;
 * 5. for an ACH return, the number of the entry that it returns.
 */
export function attribute(at: Attribution): void {
  const by_end_to_end = at.indexOf(at.ledger.instructions.ids.end_to_end)
  exactly(at, by_end_to_end)
  const { entries, instructions } = at.ledger
  const levels: Level[] = [
    ['uetr', instructions.ids.uetr, entries.ids.uetr],
    ['instruction_id', instructions.ids.instruction, entries.ids.instruction],
    ['transaction_id', instructions.ids.transaction, entries.ids.transaction],
    ['clearing_reference', instructions.ids.clearing, entries.ids.clearing],
  ]
  for (const [by, keys, wanted] of levels) attributeFallback(at, by, keys, wanted)
  attributeUnclear(at)
  attributeReturns(at)
  markPending(at, [['end_to_end_id', instructions.ids.end_to_end, entries.ids.end_to_end], ...levels])
}

/** The first step alone: what it leaves open needs more than its end-to-end id. */
export function attributeExact(at: Attribution): void {
  exactly(at, at.indexOf(at.ledger.instructions.ids.end_to_end))
}

function exactly(at: Attribution, index: KeyIndex): void {
  const { entries } = at.ledger
  const meant = new SharedKeys(at, index)
  for (let row = 0; row < entries.size; row++) {
    if (!at.isOpen(row)) continue
    if (attributeKey(at, index, meant, row, entries.ids.end_to_end.get(row), 'end_to_end_id')) continue
    if (!entries.isAch(row)) continue
    const told = (entries.references.get(row) ?? []).filter((key) => index.first(key) !== -1)
    if (told.length > 1) {
      at.close(row, 'ambiguous')
      at.several.set(row, told)
      continue
    }
    const found = told.some((key) => attributeKey(at, index, meant, row, key, 'reference'))
    if (!found && !isCut(at.ledger, row)) attributeKey(at, index, meant, row, entries.fixed.get(row), 'reference')
  }
}

/**
 * One ACH entry may name several payments, and what it has for each is in no field of its own: those that nothing else speaks for cannot be
 * told paid from unpaid.
 */
export function contestSeveral(at: Attribution): void {
  if (at.several.size === 0) return
  const index = at.indexOf(at.ledger.instructions.ids.end_to_end)
  // Looked at before any is contested, so that it does not depend on the order of rows.
  const all = Array.from(at.several, ([entry, keys]) => {
    const free: number[] = []
    for (const key of keys) {
      for (let row = index.first(key); row !== -1; row = index.next(row)) {
        if (at.hit[row] === 0 && at.covered_by.get(row) === 0) free.push(row)
      }
    }
    return { entry, free }
  })
  for (const { entry, free } of all) if (free.length > 0) at.contest('batch_total', free, [entry])
}

/** Whether the id of fixed width fills its field, so that more of it may have been cut off. */
function isCut({ entries, pool }: Ledger, row: number): boolean {
  const fixed = entries.fixed.get(row)
  return fixed !== 0 && (pool.text(fixed)?.length ?? 0) >= entries.fixed_width.get(row)
}

function attributeKey(at: Attribution, index: KeyIndex, meant: SharedKeys, entry: number, key: number, by: MatchedBy): boolean {
  const first = key === 0 ? -1 : index.first(key)
  if (first === -1) return false
  const single = index.next(first) === -1
  const found = single ? (at.misfit(first, entry) ?? first) : meant.of(key, entry)
  if (typeof found !== 'number') {
    at.remark(entry, found)
    at.elsewhere.set(key, found)
    return false
  }
  at.assign(entry, found, by)
  return true
}

function attributeFallback(at: Attribution, by: MatchedBy, keys: Ints, wanted: Ints): void {
  const { entries, instructions } = at.ledger
  let index: KeyIndex | null = null
  const spoken_for = at.hit.slice()
  let meant: SharedKeys | null = null
  for (let row = 0; row < entries.size; row++) {
    const key = wanted.get(row)
    if (key === 0 || !at.isOpen(row)) continue
    index ??= at.indexOf(keys)
    meant ??= new SharedKeys(at, index, (one) => spoken_for[one] === 0)
    const first = index.first(key)
    if (first === -1) continue
    const identified = by !== 'uetr' && entries.ids.end_to_end.get(row) !== 0
    if (index.next(first) === -1) {
      const contradicts = identified && instructions.ids.end_to_end.get(first) !== 0
      if (!contradicts && at.misfit(first, row) === null) at.assign(row, first, by)
    } else if (!identified) {
      const found = meant.of(key, row)
      if (typeof found !== 'number') at.remark(row, found === 'outside_window' ? found : 'ambiguous')
      else at.assign(row, found, by)
    }
  }
}

/** An ACH return names the number of the entry that it returns. */
function attributeReturns(at: Attribution): void {
  const { entries } = at.ledger
  const wanted = new Map<number, number>()
  const names = (row: number) => (at.isOpen(row) && entries.isAch(row) && entries.isReturn(row) ? entries.original_trace.get(row) : 0)
  for (let row = 0; row < entries.size; row++) if (names(row) !== 0) wanted.set(names(row), -1)
  if (wanted.size === 0) return
  for (let row = 0; row < entries.size; row++) {
    const trace = entries.trace.get(row)
    if (at.isIgnored(row) || !entries.isAch(row) || entries.isReturn(row) || !wanted.has(trace)) continue
    wanted.set(trace, wanted.get(trace) === -1 ? row : -2)
  }
  for (let row = 0; row < entries.size; row++) {
    const original = wanted.get(names(row)) ?? -1
    const target = original < 0 ? -1 : at.target(original)
    if (target !== -1) at.assign(row, target, 'trace')
  }
}

/** Entries that are not booked settle nothing, but they tell what became of an instruction: by any id, as it is or folded. */
function markPending(at: Attribution, levels: readonly Level[]): void {
  const { entries, instructions } = at.ledger
  const rows: number[] = []
  for (let row = 0; row < entries.size; row++) {
    const reason = at.ignoredReason(row)
    if (reason === 'pending' || reason === 'information') rows.push(row)
  }
  if (rows.length === 0) return
  for (const [by, asked, told] of levels) markNamed(at, rows, { by, index: at.indexOf(asked), key: (row) => told.get(row) })
  const folded = new Ints()
  for (let row = 0; row < instructions.size; row++) folded.set(row, at.ledger.pool.folded(instructions.ids.end_to_end.get(row)))
  const key = (row: number) => at.ledger.pool.folded(entries.ids.end_to_end.get(row))
  markNamed(at, rows, { by: 'folded_id', index: at.indexOf(folded), key })
}

interface PendingKeys {
  by: MatchedBy
  index: KeyIndex
  key(row: number): number
}

const STRONG: ReadonlySet<MatchedBy> = new Set<MatchedBy>(['end_to_end_id', 'uetr', 'folded_id'])

/** Weaker ids speak only where one side has no end-to-end id, as for booked entries. */
function markNamed(at: Attribution, rows: readonly number[], { by, index, key: keyOf }: PendingKeys): void {
  const { entries, instructions } = at.ledger
  const seen = new Set<string>()
  for (const row of rows) {
    const key = keyOf(row)
    const identified = !STRONG.has(by) && entries.ids.end_to_end.get(row) !== 0
    const name = `${key} ${entries.account.get(row)} ${entries.day.get(row)} ${identified}`
    if (key === 0 || seen.has(name)) continue
    seen.add(name)
    for (let one = index.first(key); one !== -1; one = index.next(one)) {
      const contradicts = identified && instructions.ids.end_to_end.get(one) !== 0
      if (!contradicts && at.misfit(one, row) === null) at.pending[one] = 1
    }
  }
}
