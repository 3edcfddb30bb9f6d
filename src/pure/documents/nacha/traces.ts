/** Remembers trace numbers up to a bound, and says when it no longer does. */
export class Traces {
  readonly #seen = new Set<string>()
  readonly #max: number
  complete = true

  constructor(max: number) {
    this.#max = max
  }

  /** Whether the trace number was met before. Past the bound new ones are still compared with those that are remembered. */
  repeats(trace: string): boolean {
    // The letter keeps the engine from hashing digits without its secret seed: senders could choose numbers that collide.
    const key = `t${trace}`
    if (this.#seen.has(key)) return true
    if (this.#seen.size < this.#max) this.#seen.add(key)
    else this.complete = false
    return false
  }
}
