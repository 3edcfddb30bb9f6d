import { isEscaped } from './strict-json-scan.ts'

/**
 * Where the values of a JSON text stand, by JSON pointer (RFC 6901). One pass over the text for all pointers together: time grows with the
 * text and the pointers, the stack with the depth of the text.
 */

/** Half-open ranges of UTF-16 units. */
export interface JsonPlace {
  /** What to mark: the name and the value of a member, a scalar, or the opening bracket of an array or object. */
  start: number
  end: number
  /** False when nothing stands at the pointer; then the nearest array or object around it is meant. */
  exact: boolean
}

/** One step of a wanted pointer. */
interface Wanted {
  readonly steps: Map<string, Wanted>
  readonly pointers: string[]
}

/**
 * The place of each pointer. The text must be JSON that strict reading has passed: where it is not, places are meaningless, and nothing
 * is thrown. Of an object that names a key twice the last one counts. A pointer that is no pointer means the whole document.
 */
export function jsonPlaces(text: string, pointers: Iterable<string>): Map<string, JsonPlace> {
  const root: Wanted = { steps: new Map(), pointers: [] }
  for (const pointer of pointers) {
    let wanted = root
    for (const step of stepsOf(pointer)) {
      const next = wanted.steps.get(step) ?? { steps: new Map(), pointers: [] }
      wanted.steps.set(step, next)
      wanted = next
    }
    wanted.pointers.push(pointer)
  }
  const found = new Map<string, JsonPlace>()
  new Walk(text, found).value(root, null)
  return found
}

function stepsOf(pointer: string): string[] {
  if (!pointer.startsWith('/')) return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const SPACE = ' \t\n\r'
const ENDS = ' \t\n\r,]}'
/** Strict reading allows no deeper text. */
const MOST_DEPTH = 1_000

class Walk {
  private readonly text: string
  private readonly found: Map<string, JsonPlace>
  private position = 0
  private depth = 0

  constructor(text: string, found: Map<string, JsonPlace>) {
    this.text = text
    this.found = found
  }

  /** Reads the value here. `named` is where the name of the member begins that it belongs to. */
  value(wanted: Wanted | null, named: number | null): void {
    this.skip()
    const start = this.position
    const mark = this.text.charAt(start)
    if ((mark === '{' || mark === '[') && this.depth < MOST_DEPTH) this.container(mark, wanted, named)
    else {
      if (mark === '"') this.string()
      else this.scalar()
      if (wanted !== null) this.settle(wanted, { start: named ?? start, end: this.position, exact: true })
    }
  }

  private container(mark: '{' | '[', wanted: Wanted | null, named: number | null): void {
    const start = named ?? this.position
    const close = mark === '{' ? '}' : ']'
    this.position++
    this.depth++
    if (wanted !== null) this.settle(wanted, { start, end: this.position, exact: true })
    for (let index = 0; ; index++) {
      this.skip()
      if (this.text.charAt(this.position) === ',') this.position++
      this.skip()
      if (this.position >= this.text.length || this.text.charAt(this.position) === close) break
      const before = this.position
      if (mark === '[') this.value(wanted?.steps.get(String(index)) ?? null, null)
      else this.member(wanted)
      // Only a text that is no JSON stands still.
      if (this.position === before) this.position++
    }
    this.position++
    this.depth--
  }

  private member(wanted: Wanted | null): void {
    const start = this.position
    this.string()
    const inner =
      wanted === null || wanted.steps.size === 0 ? null : (wanted.steps.get(nameOf(this.text.slice(start, this.position))) ?? null)
    this.skip()
    if (this.text.charAt(this.position) === ':') this.position++
    this.value(inner, start)
  }

  /** What is wanted here stands here; what is wanted below it too, until it is met itself. */
  private settle({ steps, pointers }: Wanted, place: JsonPlace): void {
    for (const pointer of pointers) this.found.set(pointer, place)
    const around = { ...place, exact: false }
    const below = [...steps.values()]
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      for (const pointer of next.pointers) this.found.set(pointer, around)
      below.push(...next.steps.values())
    }
  }

  private scalar(): void {
    while (this.position < this.text.length && !ENDS.includes(this.text.charAt(this.position))) this.position++
  }

  private string(): void {
    let end = this.position
    do end = this.text.indexOf('"', end + 1)
    while (end !== -1 && isEscaped(this.text, end))
    this.position = end === -1 ? this.text.length : end + 1
  }

  private skip(): void {
    while (this.position < this.text.length && SPACE.includes(this.text.charAt(this.position))) this.position++
  }
}

function nameOf(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return ''
  }
}
