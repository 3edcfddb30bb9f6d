import { BARRIER, HTML_INSIDE_FOREIGN, PASSED_BY_ITEMS, SPECIAL } from './elements.ts'
import type { DocumentNode } from './nodes.ts'

/** One open element. */
export interface OpenElement {
  readonly name: string
  /** What it has opened in the document, outermost first. */
  readonly nodes: readonly DocumentNode[]
  /** Of a superscript or subscript, where its sign stands among the steps. */
  readonly script?: number
  /** Its content is left out. */
  readonly hides: boolean
}

/** A formatting element that ended while others inside it were open. */
interface Slot extends OpenElement {
  ended: boolean
}

/**
 * The stack of open elements. It knows where each name is open, so that no tag makes it search: work is constant for each element, however
 * deep they nest. Positions count from the outermost; -1 is nowhere.
 */
export class OpenElements {
  readonly #slots: Slot[] = []
  readonly #places = new Map<string, number[]>()
  readonly #specials: number[] = []
  readonly #stops: number[] = []
  readonly #barriers: number[] = []
  /** Roots of SVG and MathML, and where HTML begins again within. */
  readonly #foreign: { at: number; html: boolean }[] = []
  #hiding = 0

  /** Whether what comes now is left out. */
  get hidden(): boolean {
    return this.#hiding > 0
  }

  get size(): number {
    return this.#slots.length
  }

  get top(): string | undefined {
    return this.#slots.at(-1)?.name
  }

  get foreign(): boolean {
    return this.#foreign.at(-1)?.html === false
  }

  /** Where the picture or formula begins that is being read. */
  get foreignRoot(): number {
    return this.#foreign.at(-1)?.at ?? -1
  }

  get lastSpecial(): number {
    return this.#specials.at(-1) ?? -1
  }

  /** Beyond this an item does not end the item before it. */
  get lastStop(): number {
    return this.#stops.at(-1) ?? -1
  }

  get lastBarrier(): number {
    return this.#barriers.at(-1) ?? -1
  }

  /** The innermost of this name. */
  last(name: string): number {
    return this.#places.get(name)?.at(-1) ?? -1
  }

  /** The innermost of several names. */
  lastOf(names: readonly string[]): number {
    let found = -1
    for (const name of names) found = Math.max(found, this.last(name))
    return found
  }

  push(element: OpenElement): void {
    const at = this.#slots.length
    const { name } = element
    if (name === 'svg' || name === 'math') this.#foreign.push({ at, html: false })
    else if (this.foreign && HTML_INSIDE_FOREIGN.has(name)) this.#foreign.push({ at, html: true })
    this.#slots.push({ ...element, ended: false })
    const places = this.#places.get(name)
    if (places === undefined) this.#places.set(name, [at])
    else places.push(at)
    if (SPECIAL.has(name)) {
      this.#specials.push(at)
      if (!PASSED_BY_ITEMS.has(name)) this.#stops.push(at)
    }
    if (BARRIER.has(name)) this.#barriers.push(at)
    if (element.hides) this.#hiding++
  }

  /** Ends the innermost element; undefined when it had ended before. */
  pop(): OpenElement | undefined {
    const slot = this.#slots.pop()
    const at = this.#slots.length
    dropLast(this.#specials, at)
    dropLast(this.#stops, at)
    dropLast(this.#barriers, at)
    if (this.#foreign.at(-1)?.at === at) this.#foreign.pop()
    if (slot === undefined || slot.ended) return undefined
    this.#forget(slot)
    return slot
  }

  /** Ends the innermost element of a name where it stands, and leaves open what is inside. */
  end(name: string): OpenElement | undefined {
    const slot = this.#slots[this.last(name)]
    if (slot === undefined) return undefined
    slot.ended = true
    this.#forget(slot)
    return slot
  }

  #forget(slot: Slot): void {
    this.#places.get(slot.name)?.pop()
    if (slot.hides) this.#hiding--
  }
}

function dropLast(positions: number[], at: number): void {
  if (positions.at(-1) === at) positions.pop()
}
