import type { Attribution } from './attribution.ts'
import { cutId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import type { MatchedBy } from './verdicts.ts'

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
export function attributeUnclear(at: Attribution): void {
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
