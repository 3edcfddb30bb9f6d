/** The values of a message while it is read, by slot. A group that begins empties its slots. */
export class Slots {
  private readonly texts: (string | null)[]
  private readonly currencies: (string | null)[]
  private readonly lines: Int32Array

  constructor(size: number) {
    this.texts = Array.from({ length: size }, () => null)
    this.currencies = Array.from({ length: size }, () => null)
    this.lines = new Int32Array(size)
  }

  get(slot: number): string | null {
    return this.texts[slot] ?? null
  }

  currency(slot: number): string | null {
    return this.currencies[slot] ?? null
  }

  /** The line on which the value ended. */
  line(slot: number): number {
    return this.lines[slot] ?? 0
  }

  /** False when there is a value already. */
  set(slot: number, text: string, currency: string | null, line: number): boolean {
    if (this.texts[slot] !== null) return false
    this.texts[slot] = text
    this.currencies[slot] = currency
    this.lines[slot] = line
    return true
  }

  /** Empties the slots from the first up to, and without, the last. */
  clear(first: number, last: number): void {
    this.texts.fill(null, first, last)
  }
}
