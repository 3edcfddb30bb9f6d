import type { Attribution, Misfit } from './attribution.ts'
import { dayFits } from './dates.ts'
import { Ints, type KeyIndex } from './columns.ts'
import { cutId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import type { MatchedBy } from './verdicts.ts'

/** The instructions of one key by the accounts on which they may be booked. */
interface Shared {
  all: number[]
  /** First and last day of them; 0 where one of them has none. */
  first_day: number
  last_day: number
  by_account: Map<number, number[]>
  /** Those that any account fits. */
  open: number[]
  open_joined: boolean
  found: Map<number, number>
}

/**
 * Keys that several instructions share. What a key means depends on the account of the entry, as in `accountFits`; each instruction is
 * looked at once for each account that it names, however many entries there are.
 */
class SharedKeys {
  private readonly at: Attribution
  private readonly index: KeyIndex
  private readonly admits: (instruction: number) => boolean
  private readonly keys = new Map<number, Shared>()

  constructor(at: Attribution, index: KeyIndex, admits: (instruction: number) => boolean = () => true) {
    this.at = at
    this.index = index
    this.admits = admits
  }

  /** Joins the instructions that the key means to the entry; one of them, or why it means none. Days between those of the first and the last
   * are told apart when the group is judged. */
  of(key: number, entry: number): number | Misfit {
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

  private make(key: number): Shared {
    const { instructions } = this.at.ledger
    const shared: Shared = {
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
      else for (const account of new Set([debtor, creditor])) put(shared.by_account, account, row)
    }
    return shared
  }

  private join(shared: Shared, account: number): number {
    const own = shared.by_account.get(account) ?? []
    const open = shared.open_joined ? shared.open.slice(0, 1) : shared.open
    const rows = account === 0 ? shared.all : [...own, ...open]
    shared.open_joined = true
    const [first = -1] = rows
    for (const row of rows) {
      this.at.groups.join(first, row)
      this.at.hit[row] = 1
    }
    return first
  }
}

function put(lists: Map<number, number[]>, key: number, row: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [row])
  else list.push(row)
}

/** What shares one altered id: all instructions that could be meant, and the entries that look for one. */
interface Slot {
  instructions: number[]
  entries: number[]
  /** Payments under this id, returns left out: in statements, and in ACH files, which repeat what statements show. */
  forward: { booked: number; ach: number }
}

/**
 * Entries whose id was altered on its way: letters folded, spaces lost, cut to the width of a field. Such an id counts only when one
 * instruction and one payment have it; returns may come on top. Otherwise those of the instructions that no other entry stands for are
 * ambiguous. It may err by leaving a payment open, never by guessing.
 */
function attributeUnclear(at: Attribution): void {
  const { entries, instructions, pool } = at.ledger
  attributeSlots(at, {
    instruction: (row) => pool.folded(instructions.ids.end_to_end.get(row)),
    entry: (row) => foldedIds(at.ledger, row),
    by: () => 'folded_id',
  })
  const widths = new Set<number>()
  for (let row = 0; row < entries.size; row++) if (at.isOpen(row)) widths.add(entries.fixed_width.get(row))
  for (const width of [...widths].toSorted((one, other) => other - one)) {
    if (width === 0) continue
    const cut = (number: number) => pool.number(number === 0 ? null : cutId(pool.text(number) ?? '', width))
    attributeSlots(at, {
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

/** The end-to-end id, what addenda refer to, and an id that is too short to have been cut. */
function foldedIds({ entries, pool }: Ledger, row: number): number[] {
  const keys = [entries.ids.end_to_end.get(row)]
  if (entries.isAch(row)) {
    keys.push(...(entries.references.get(row) ?? []))
    const fixed = entries.fixed.get(row)
    if (fixed !== 0 && (pool.text(fixed)?.length ?? 0) < entries.fixed_width.get(row)) keys.push(fixed)
  }
  return keys.flatMap((key) => (key === 0 ? [] : [pool.folded(key)]))
}

interface Keys {
  instruction(row: number): number
  entry(row: number): number[]
  /** What to say of an entry that found its instruction. */
  by(instruction: number, entry: number): MatchedBy
}

function attributeSlots(at: Attribution, keys: Keys): void {
  const slots = openSlots(at, keys)
  if (slots.size === 0) return
  const { instructions, entries } = at.ledger
  for (let row = 0; row < instructions.size; row++) if (at.admits(row)) slots.get(keys.instruction(row))?.instructions.push(row)
  for (let row = 0; row < entries.size; row++) if (!at.isIgnored(row) && !isOutside(at, row)) place(at, slots, keys, row)
  for (const slot of slots.values()) if (slot.instructions.length > 0 && slot.entries.length > 0) decide(at, slot, keys)
}

/** Whether the very id was found, of a payment that was due on another day. */
function isOutside(at: Attribution, row: number): boolean {
  return at.unmatchedReason(row) === 'outside_window'
}

/** A slot for each id that an open entry has. */
function openSlots(at: Attribution, keys: Keys): Map<number, Slot> {
  const slots = new Map<number, Slot>()
  for (let row = 0; row < at.ledger.entries.size; row++) {
    if (!at.isOpen(row) || isOutside(at, row)) continue
    for (const key of keys.entry(row)) {
      if (key !== 0 && !slots.has(key)) slots.set(key, { instructions: [], entries: [], forward: { booked: 0, ach: 0 } })
    }
  }
  return slots
}

/** An entry belongs to the first of its ids that any instruction has. */
function place(at: Attribution, slots: ReadonlyMap<number, Slot>, keys: Keys, row: number): void {
  const { entries } = at.ledger
  for (const key of keys.entry(row)) {
    const slot = slots.get(key)
    if (slot === undefined || slot.instructions.length === 0) continue
    if (at.isOpen(row)) slot.entries.push(row)
    if (!entries.isReturn(row)) slot.forward[entries.isAch(row) ? 'ach' : 'booked']++
    return
  }
}

function decide(at: Attribution, { instructions, entries, forward }: Slot, keys: Keys): void {
  const [only, another] = instructions
  if (only !== undefined && another === undefined && forward.booked <= 1 && forward.ach <= 1) {
    for (const row of entries) {
      const misfit = at.misfit(only, row)
      if (misfit === null) at.assign(row, only, keys.by(only, row))
      else at.remark(row, misfit)
    }
    return
  }
  const free = instructions.filter((row) => at.hit[row] === 0)
  if (free.length > 0) at.contest('unclear_id', free, entries)
  else for (const row of entries) at.close(row, 'ambiguous')
}

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
 * 4. folded and cut ids (`attributeUnclear`), where nothing else could be meant;
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
