/**
 * Work of one validation, counted before it is done. The unit is the tick, about ten nanoseconds of a present-day processor; ten ticks are one
 * step, the unit of bounds and answers. Every loop over a schema or over data spends ticks in proportion to its length.
 */
export class Budget {
  exhausted = false
  #ticks = 0
  readonly #limit: number

  constructor(steps: number) {
    this.#limit = steps * STEP_TICKS
  }

  get steps(): number {
    return Math.ceil(this.#ticks / STEP_TICKS)
  }

  /** Returns false once the bound is passed; the work must then not be done. */
  spend(ticks: number): boolean {
    this.#ticks += ticks
    if (this.#ticks > this.#limit) this.exhausted = true
    return !this.exhausted
  }
}

const STEP_TICKS = 10

/** Work of the parts, in ticks. */
export const TICKS = {
  /** One schema applied to one place, and each of its keywords. */
  schema: 10,
  keyword: 10,
  /** One turn of a loop that does nearly nothing. */
  turn: 2,
  /** One name of an object, listed, looked up or added to a set. */
  name: 8,
  /** Characters that one tick reads. */
  chars: 2,
  /** A part of a text for comparison, beside its characters. */
  key_part: 10,
  /** One schema of a document taken in, and each of its keywords. */
  load_schema: 60,
  load_keyword: 30,
  /** One element of a keyword's list. */
  load_element: 8,
  /** One character of a URI that is resolved, and of the one that it is resolved against. */
  uri_char: 5,
  /** A path written out. */
  path: 800,
} as const
