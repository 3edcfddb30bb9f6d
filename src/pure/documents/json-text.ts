import { readPointer } from './json-schema/json.ts'
import { isEscaped } from './strict-json-scan.ts'

/** Half-open range of UTF-16 units. */
export interface JsonTextRange {
  /** Start of the range to highlight: name and value of a member, a scalar, or the opening bracket of an array or object. */
  start: number
  end: number
  /** False if there is no value at the pointer; the range is then that of the nearest enclosing array or object. */
  exact: boolean
}

interface WantedPointers {
  readonly steps: Map<string, WantedPointers>
  readonly pointers: string[]
}

/**
 * Locates JSON pointers (RFC 6901) in a JSON text in one pass; time grows with the text and the pointers, the stack with the depth of the
 * text. The text must have passed strict reading; for other text the ranges are meaningless, but nothing is thrown. The last of duplicate
 * keys counts. An invalid pointer means the whole document.
 */
export function findJsonRanges(text: string, pointers: Iterable<string>): Map<string, JsonTextRange> {
  const root: WantedPointers = { steps: new Map(), pointers: [] }
  for (const pointer of pointers) {
    let wanted = root
    for (const step of pointer.startsWith('/') ? readPointer(pointer) : []) {
      const next = wanted.steps.get(step) ?? { steps: new Map(), pointers: [] }
      wanted.steps.set(step, next)
      wanted = next
    }
    wanted.pointers.push(pointer)
  }
  const found = new Map<string, JsonTextRange>()
  new RangeFinder(text, found).value(root, null)
  return found
}

const SPACE = ' \t\n\r'
const ENDS = ' \t\n\r,]}'
/** Strict reading allows no deeper text. */
const MOST_DEPTH = 1_000

class RangeFinder {
  private readonly text: string
  private readonly found: Map<string, JsonTextRange>
  private position = 0
  private depth = 0

  constructor(text: string, found: Map<string, JsonTextRange>) {
    this.text = text
    this.found = found
  }

  /** Reads the next value. `named` is the start of the member name it belongs to. */
  value(wanted: WantedPointers | null, named: number | null): void {
    this.skip()
    const start = this.position
    const mark = this.text.charAt(start)
    if ((mark === '{' || mark === '[') && this.depth < MOST_DEPTH) this.container(mark, wanted, named)
    else {
      if (mark === '"') this.string()
      else this.scalar()
      if (wanted !== null) this.setRanges(wanted, { start: named ?? start, end: this.position, exact: true })
    }
  }

  private container(mark: '{' | '[', wanted: WantedPointers | null, named: number | null): void {
    const start = named ?? this.position
    const close = mark === '{' ? '}' : ']'
    this.position++
    this.depth++
    if (wanted !== null) this.setRanges(wanted, { start, end: this.position, exact: true })
    for (let index = 0; ; index++) {
      this.skip()
      if (this.text.charAt(this.position) === ',') this.position++
      this.skip()
      if (this.position >= this.text.length || this.text.charAt(this.position) === close) break
      const before = this.position
      if (mark === '[') this.value(wanted?.steps.get(String(index)) ?? null, null)
      else this.member(wanted)
      // Only text that is not JSON does not advance.
      if (this.position === before) this.position++
    }
    this.position++
    this.depth--
  }

  private member(wanted: WantedPointers | null): void {
    const start = this.position
    this.string()
    const inner =
      wanted === null || wanted.steps.size === 0 ? null : (wanted.steps.get(decodeName(this.text.slice(start, this.position))) ?? null)
    this.skip()
    if (this.text.charAt(this.position) === ':') this.position++
    this.value(inner, start)
  }

  /** Sets the range for pointers to this value, and provisionally for pointers below it until their own value is met. */
  private setRanges({ steps, pointers }: WantedPointers, place: JsonTextRange): void {
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
    this.position = stringEnd(this.text, this.position)
  }

  private skip(): void {
    this.position = skipWhiteSpace(this.text, this.position)
  }
}

function decodeName(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return ''
  }
}

/**
 * Indents a JSON text by two spaces per level. Only white space changes: numbers keep their literals and keys their order. The text must
 * have passed strict reading; otherwise tokens are still kept. Linear time.
 */
export function indentJson(text: string): string {
  const pieces: string[] = []
  let depth = 0
  let position = 0
  const line = () => `\n${'  '.repeat(Math.max(0, depth))}`
  while (position < text.length) {
    const end = tokenEnd(text, position)
    const token = text.slice(position, end)
    position = end
    if (token.trim() === '') continue
    if (token === '{' || token === '[') {
      const next = skipWhiteSpace(text, end)
      if (text.charAt(next) === (token === '{' ? '}' : ']')) {
        pieces.push(token, text.charAt(next))
        position = next + 1
        continue
      }
      depth++
      pieces.push(token, line())
    } else if (token === '}' || token === ']') {
      depth--
      pieces.push(line(), token)
    } else if (token === ',') pieces.push(token, line())
    else pieces.push(token === ':' ? ': ' : token)
  }
  return pieces.join('')
}

const MARKS = '{}[],:'
const TOKEN_ENDS = `${SPACE}${MARKS}"`

function tokenEnd(text: string, start: number): number {
  const mark = text.charAt(start)
  if (MARKS.includes(mark)) return start + 1
  if (SPACE.includes(mark)) return skipWhiteSpace(text, start)
  if (mark === '"') return stringEnd(text, start)
  let end = start + 1
  while (end < text.length && !TOKEN_ENDS.includes(text.charAt(end))) end++
  return end
}

function skipWhiteSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && SPACE.includes(text.charAt(at))) at++
  return at
}

/** End of the string whose quotation mark is at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}
