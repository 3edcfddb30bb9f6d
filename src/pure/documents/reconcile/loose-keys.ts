import { cutId, foldId, uetrKey, usableId } from './ids.ts'
import type { Entry, Inside, Instruction } from './records.ts'

/**
 * Keys by which an entry that found nothing by its end-to-end id may still be about an instruction. When a reconciliation is made in parts
 * by the folded end-to-end id, an instruction that shares such a key cannot be judged in its part: it is judged with all such entries, and
 * with it everything of its folded id.
 */
export class LooseKeys {
  private readonly keys = new Set<string>()
  private readonly widths = new Set<number>()

  /** The entry is loose. */
  add(entry: Entry): void {
    for (const [kind, id] of plainIds(entry)) this.put(kind, id)
    for (const id of [entry.end_to_end_id, ...entry.references]) this.put('folded', folded(id))
    for (const one of entry.inside ?? []) {
      this.put('folded', folded(one.end_to_end_id))
      for (const [kind, id] of plainIds(one)) this.put(kind, id)
    }
    if (usableId(entry.end_to_end_id) === null) {
      this.put('block', entry.payment_information_id)
      this.put('message', entry.message_id)
    }
    if (entry.fixed === null) return
    const { id, width } = entry.fixed
    this.widths.add(width)
    this.put('folded', folded(id))
    this.put(`cut ${width}`, usableId(id) === null ? null : cutId(id, width))
  }

  /** Whether any loose entry may be about the instruction. */
  concern(instruction: Instruction): boolean {
    const id = usableId(instruction.end_to_end_id)
    if (this.has('folded', folded(id)) || this.has('block', instruction.payment_information_id)) return true
    if (this.has('message', instruction.message_id)) return true
    if (plainIds(instruction).some(([kind, text]) => this.has(kind, text))) return true
    return id !== null && [...this.widths].some((width) => this.has(`cut ${width}`, cutId(id, width)))
  }

  private put(kind: string, text: string | null): void {
    const id = usableId(text)
    if (id !== null) this.keys.add(`${kind} ${id}`)
  }

  private has(kind: string, text: string | null): boolean {
    const id = usableId(text)
    return id !== null && this.keys.has(`${kind} ${id}`)
  }
}

function folded(text: string | null): string | null {
  const id = usableId(text)
  return id === null ? null : foldId(id)
}

function plainIds(from: Instruction | Entry | Inside): [string, string | null][] {
  return [
    ['uetr', uetrKey(from.uetr)],
    ['instruction', from.instruction_id],
    ['transaction', from.transaction_id],
    ['clearing', 'clearing_reference' in from ? from.clearing_reference : null],
  ]
}
