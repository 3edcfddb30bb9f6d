import type { Attribution, AttributionMisfit } from './attribution-state.ts'
import { dayFits, cutId } from './values.ts'
import { IntColumn, type RowIndex } from './columns.ts'
import type { Ledger } from './ledger.ts'
import { type MatchedBy } from './verdicts.ts'

/** Instructions with one key, by the accounts on which they may be booked. */
interface SharedKey {
  all: number[]
  /** First and last day of the instructions; 0 if one has none. */
  first_day: number
  last_day: number
  by_account: Map<number, number[]>
  /** Instructions that fit any account. */
  open: number[]
  open_joined: boolean
  found: Map<number, number>
}

/**
 * Keys that several instructions share. Which of them a key means depends on the account of the entry, as in `accountFits`; each
 * instruction is visited once per account that it names, independent of the number of entries.
 */
class SharedKeys {
  private readonly at: Attribution
  private readonly index: RowIndex
  private readonly admits: (instruction: number) => boolean
  private readonly keys = new Map<number, SharedKey>()

  constructor(at: Attribution, index: RowIndex, admits: (instruction: number) => boolean = () => true) {
    this.at = at
    this.index = index
    this.admits = admits
  }

  /**
   * Joins the instructions that the key means for the entry and returns one of them, or the reason why there is none. Days between the
   * first and the last are separated when the group is decided.
   */
  instructionFor(key: number, entry: number): number | AttributionMisfit {
    const { entries } = this.at.ledger
    let shared = this.keys.get(key)
    if (shared === undefined) this.keys.set(key, (shared = this.make(key)))
    const { first_day, last_day } = shared
    // The window of the earliest reaches back, that of the latest forward.
    if (!dayFits(last_day, first_day, entries.day.get(entry), this.at.window)) return 'outside_window'
    const account = Math.max(0, entries.account.get(entry))
    let found = shared.found.get(account)
    if (found === undefined) shared.found.set(account, (found = this.join(shared, account)))
    return found === -1 ? 'other_account' : found
  }

  private make(key: number): SharedKey {
    const { instructions } = this.at.ledger
    const shared: SharedKey = {
      all: [],
      first_day: Infinity,
      last_day: 0,
      by_account: new Map(),
      open: [],
      open_joined: false,
      found: new Map(),
    }
    for (let row = this.index.first(key); row !== -1; row = this.index.next(row)) {
      if (!this.admits(row)) continue
      shared.all.push(row)
      const day = instructions.day.get(row)
      shared.first_day = Math.min(shared.first_day, day)
      shared.last_day = Math.max(shared.last_day, day)
      const [debtor, creditor] = [instructions.debtor.get(row), instructions.creditor.get(row)]
      if (debtor <= 0 || instructions.sourceOf(row) === 'pacs.008') shared.open.push(row)
      else for (const account of new Set([debtor, creditor])) addToList(shared.by_account, account, row)
    }
    return shared
  }

  private join(shared: SharedKey, account: number): number {
    const own = shared.by_account.get(account) ?? []
    const open = shared.open_joined ? shared.open.slice(0, 1) : shared.open
    const rows = account === 0 ? shared.all : [...own, ...open]
    shared.open_joined = true
    const [first = -1] = rows
    for (const row of rows) {
      this.at.groups.join(first, row)
      this.at.claimed[row] = 1
    }
    return first
  }
}

function addToList(lists: Map<number, number[]>, key: number, row: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [row])
  else list.push(row)
}

/** Instructions and entries that share one altered id. */
interface AlteredIdGroup {
  instructions: number[]
  entries: number[]
  /** Number of payments with this id, without returns: in statements, and in ACH files, which repeat statements. */
  forward: { booked: number; ach: number }
}

/**
 * Matches entries whose id was altered on the way: case folded, spaces lost, or cut to a field's width. Such an id counts only if one
 * instruction and one payment have it, plus any returns; otherwise the unclaimed instructions are ambiguous. It may leave a payment open
 * but never guesses.
 */
function attributeAllAlteredIds(at: Attribution): void {
  const { entries, instructions, pool } = at.ledger
  attributeAlteredIds(at, {
    instruction: (row) => pool.folded(instructions.ids.end_to_end.get(row)),
    entry: (row) => foldedIds(at.ledger, row),
    by: () => 'folded_id',
  })
  const widths = new Set<number>()
  for (let row = 0; row < entries.size; row++) if (at.isOpen(row)) widths.add(entries.fixed_width.get(row))
  for (const width of [...widths].toSorted((one, other) => other - one)) {
    if (width === 0) continue
    const cut = (number: number) => pool.number(number === 0 ? null : cutId(pool.text(number) ?? '', width))
    attributeAlteredIds(at, {
      instruction: (row) => cut(instructions.ids.end_to_end.get(row)),
      entry: (row) => (entries.isAch(row) && entries.fixed_width.get(row) === width ? [cut(entries.fixed.get(row))] : []),
      by(instruction, entry) {
        const id = instructions.ids.end_to_end.get(instruction)
        if (id === entries.fixed.get(entry)) return 'reference'
        return pool.folded(id) === pool.folded(entries.fixed.get(entry)) ? 'folded_id' : 'truncated_id'
      },
    })
  }
}

/** The end-to-end id, ids in addenda, and a fixed-width id too short to have been cut. */
function foldedIds({ entries, pool }: Ledger, row: number): number[] {
  const keys = [entries.ids.end_to_end.get(row)]
  if (entries.isAch(row)) {
    keys.push(...(entries.references.get(row) ?? []))
    const fixed = entries.fixed.get(row)
    if (fixed !== 0 && (pool.text(fixed)?.length ?? 0) < entries.fixed_width.get(row)) keys.push(fixed)
  }
  return keys.flatMap((key) => (key === 0 ? [] : [pool.folded(key)]))
}

interface AlteredIdKeys {
  instruction(row: number): number
  entry(row: number): number[]
  /** Match basis of an entry that found its instruction. */
  by(instruction: number, entry: number): MatchedBy
}

function attributeAlteredIds(at: Attribution, keys: AlteredIdKeys): void {
  const slots = openGroups(at, keys)
  if (slots.size === 0) return
  const { instructions, entries } = at.ledger
  for (let row = 0; row < instructions.size; row++) if (at.takesPart(row)) slots.get(keys.instruction(row))?.instructions.push(row)
  for (let row = 0; row < entries.size; row++) if (!at.isIgnored(row) && !isOutsideWindow(at, row)) addToGroup(at, slots, keys, row)
  for (const slot of slots.values()) if (slot.instructions.length > 0 && slot.entries.length > 0) attributeGroup(at, slot, keys)
}

/** The exact id was found on an instruction due outside the window. */
function isOutsideWindow(at: Attribution, row: number): boolean {
  return at.unmatchedReason(row) === 'outside_window'
}

/** Creates a group for each id of an open entry. */
function openGroups(at: Attribution, keys: AlteredIdKeys): Map<number, AlteredIdGroup> {
  const slots = new Map<number, AlteredIdGroup>()
  for (let row = 0; row < at.ledger.entries.size; row++) {
    if (!at.isOpen(row) || isOutsideWindow(at, row)) continue
    for (const key of keys.entry(row)) {
      if (key !== 0 && !slots.has(key)) slots.set(key, { instructions: [], entries: [], forward: { booked: 0, ach: 0 } })
    }
  }
  return slots
}

/** An entry belongs to the first of its ids that an instruction has. */
function addToGroup(at: Attribution, slots: ReadonlyMap<number, AlteredIdGroup>, keys: AlteredIdKeys, row: number): void {
  const { entries } = at.ledger
  for (const key of keys.entry(row)) {
    const slot = slots.get(key)
    if (slot === undefined || slot.instructions.length === 0) continue
    if (at.isOpen(row)) slot.entries.push(row)
    if (!entries.isReturn(row)) slot.forward[entries.isAch(row) ? 'ach' : 'booked']++
    return
  }
}

function attributeGroup(at: Attribution, { instructions, entries, forward }: AlteredIdGroup, keys: AlteredIdKeys): void {
  const [only, another] = instructions
  if (only !== undefined && another === undefined && forward.booked <= 1 && forward.ach <= 1) {
    for (const row of entries) {
      const misfit = at.misfit(only, row)
      if (misfit === null) at.assign(row, only, keys.by(only, row))
      else at.noteUnmatched(row, misfit)
    }
    return
  }
  const free = instructions.filter((row) => at.claimed[row] === 0)
  if (free.length > 0) at.markAmbiguous('unclear_id', free, entries)
  else for (const row of entries) at.leaveUnmatched(row, 'ambiguous')
}

/** An id with its columns for instructions and entries. */
type IdLevel = [by: MatchedBy, instruction_ids: IntColumn, entry_ids: IntColumn]

/**
 * Finds the instruction of each entry, strongest id first. Amounts are ignored: an entry with the wrong amount still belongs to the
 * payment.
 *
 * 1. End-to-end id and ids in ACH addenda, exact; several payments in one ACH entry are ambiguous (`contestMultiplePayments`).
 *
 * 2. UETR, globally unique.
 *
 * 3. Instruction id, transaction id, clearing reference: only if one side has no end-to-end id, because these are reused; if several
 * instructions share one, only those without a stronger match count.
 *
 * 4. Folded and cut ids (`attributeAllAlteredIds`), if unambiguous.
 *
 * 5. For an ACH return, the trace number of the entry it returns.
 */
export function attributeEntries(at: Attribution): void {
  const by_end_to_end = at.indexInstructions(at.ledger.instructions.ids.end_to_end)
  attributeExactIds(at, by_end_to_end)
  const { entries, instructions } = at.ledger
  const levels: IdLevel[] = [
    ['uetr', instructions.ids.uetr, entries.ids.uetr],
    ['instruction_id', instructions.ids.instruction, entries.ids.instruction],
    ['transaction_id', instructions.ids.transaction, entries.ids.transaction],
    ['clearing_reference', instructions.ids.clearing, entries.ids.clearing],
  ]
  for (const [by, keys, wanted] of levels) attributeFallback(at, by, keys, wanted)
  attributeAllAlteredIds(at)
  attributeReturns(at)
  markPending(at, [['end_to_end_id', instructions.ids.end_to_end, entries.ids.end_to_end], ...levels])
}

/** The first step alone: entries it leaves open need more than their end-to-end id. */
export function attributeByEndToEndId(at: Attribution): void {
  attributeExactIds(at, at.indexInstructions(at.ledger.instructions.ids.end_to_end))
}

function attributeExactIds(at: Attribution, index: RowIndex): void {
  const { entries } = at.ledger
  const shared_keys = new SharedKeys(at, index)
  for (let row = 0; row < entries.size; row++) {
    if (!at.isOpen(row)) continue
    if (attributeKey(at, index, shared_keys, row, entries.ids.end_to_end.get(row), 'end_to_end_id')) continue
    if (!entries.isAch(row)) continue
    const references = (entries.references.get(row) ?? []).filter((key) => index.first(key) !== -1)
    if (references.length > 1) {
      at.leaveUnmatched(row, 'ambiguous')
      at.ids_of_multiple.set(row, references)
      continue
    }
    const found = references.some((key) => attributeKey(at, index, shared_keys, row, key, 'reference'))
    if (!found && !mayBeTruncated(at.ledger, row)) attributeKey(at, index, shared_keys, row, entries.fixed.get(row), 'reference')
  }
}

/** One ACH entry may name several payments without an amount for each: instructions that nothing else matches are ambiguous. */
export function contestMultiplePayments(at: Attribution): void {
  if (at.ids_of_multiple.size === 0) return
  const index = at.indexInstructions(at.ledger.instructions.ids.end_to_end)
  // Collected before any is marked, so that the result does not depend on row order.
  const all = Array.from(at.ids_of_multiple, ([entry, keys]) => {
    const free: number[] = []
    for (const key of keys) {
      for (let row = index.first(key); row !== -1; row = index.next(row)) {
        if (at.claimed[row] === 0 && at.covered_by.get(row) === 0) free.push(row)
      }
    }
    return { entry, free }
  })
  for (const { entry, free } of all) if (free.length > 0) at.markAmbiguous('batch_total', free, [entry])
}

/** The fixed-width id fills its field, so it may have been cut. */
function mayBeTruncated({ entries, pool }: Ledger, row: number): boolean {
  const fixed = entries.fixed.get(row)
  return fixed !== 0 && (pool.text(fixed)?.length ?? 0) >= entries.fixed_width.get(row)
}

function attributeKey(at: Attribution, index: RowIndex, shared_keys: SharedKeys, entry: number, key: number, by: MatchedBy): boolean {
  const first = key === 0 ? -1 : index.first(key)
  if (first === -1) return false
  const single = index.next(first) === -1
  const found = single ? (at.misfit(first, entry) ?? first) : shared_keys.instructionFor(key, entry)
  if (typeof found !== 'number') {
    at.noteUnmatched(entry, found)
    at.misfits_by_id.set(key, found)
    return false
  }
  at.assign(entry, found, by)
  return true
}

function attributeFallback(at: Attribution, by: MatchedBy, keys: IntColumn, wanted: IntColumn): void {
  const { entries, instructions } = at.ledger
  let index: RowIndex | null = null
  const spoken_for = at.claimed.slice()
  let shared_keys: SharedKeys | null = null
  for (let row = 0; row < entries.size; row++) {
    const key = wanted.get(row)
    if (key === 0 || !at.isOpen(row)) continue
    index ??= at.indexInstructions(keys)
    shared_keys ??= new SharedKeys(at, index, (one) => spoken_for[one] === 0)
    const first = index.first(key)
    if (first === -1) continue
    const identified = by !== 'uetr' && entries.ids.end_to_end.get(row) !== 0
    if (index.next(first) === -1) {
      const contradicts = identified && instructions.ids.end_to_end.get(first) !== 0
      if (!contradicts && at.misfit(first, row) === null) at.assign(row, first, by)
    } else if (!identified) {
      const found = shared_keys.instructionFor(key, row)
      if (typeof found !== 'number') at.noteUnmatched(row, found === 'outside_window' ? found : 'ambiguous')
      else at.assign(row, found, by)
    }
  }
}

/** Matches ACH returns by the trace number of the entry they return. */
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

/** Entries that are not booked settle nothing, but show that an instruction is pending: by any id, exact or folded. */
function markPending(at: Attribution, levels: readonly IdLevel[]): void {
  const { entries, instructions } = at.ledger
  const rows: number[] = []
  for (let row = 0; row < entries.size; row++) {
    const reason = at.ignoredReason(row)
    if (reason === 'pending' || reason === 'information') rows.push(row)
  }
  if (rows.length === 0) return
  for (const [by, instruction_ids, entry_ids] of levels)
    markPendingByKey(at, rows, { by, index: at.indexInstructions(instruction_ids), key: (row) => entry_ids.get(row) })
  const folded = new IntColumn()
  for (let row = 0; row < instructions.size; row++) folded.set(row, at.ledger.pool.folded(instructions.ids.end_to_end.get(row)))
  const key = (row: number) => at.ledger.pool.folded(entries.ids.end_to_end.get(row))
  markPendingByKey(at, rows, { by: 'folded_id', index: at.indexInstructions(folded), key })
}

interface PendingKeys {
  by: MatchedBy
  index: RowIndex
  key(row: number): number
}

const STRONG_IDS: ReadonlySet<MatchedBy> = new Set<MatchedBy>(['end_to_end_id', 'uetr', 'folded_id'])

/** Weaker ids count only if one side has no end-to-end id, as for booked entries. */
function markPendingByKey(at: Attribution, rows: readonly number[], { by, index, key: keyOf }: PendingKeys): void {
  const { entries, instructions } = at.ledger
  const seen = new Set<string>()
  for (const row of rows) {
    const key = keyOf(row)
    const identified = !STRONG_IDS.has(by) && entries.ids.end_to_end.get(row) !== 0
    const name = `${key} ${entries.account.get(row)} ${entries.day.get(row)} ${identified}`
    if (key === 0 || seen.has(name)) continue
    seen.add(name)
    for (let one = index.first(key); one !== -1; one = index.next(one)) {
      const contradicts = identified && instructions.ids.end_to_end.get(one) !== 0
      if (!contradicts && at.misfit(one, row) === null) at.pending[one] = 1
    }
  }
}
