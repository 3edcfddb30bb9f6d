/**
 * Reads JSON with every number as it is written: `100.10` stays so, and so does a number beyond 2^53. Keys that stand twice are kept twice and
 * told. RFC 8259; time and memory in proportion to the text, the stack bounded by `DEPTH`.
 */
import { isEscaped } from '../strict-json-scan.ts'

export type JsonNode =
  | { kind: 'object'; line: number; members: readonly (readonly [name: string, value: JsonNode])[] }
  | { kind: 'array'; line: number; items: readonly JsonNode[] }
  | { kind: 'text'; line: number; text: string }
  | { kind: 'number'; line: number; text: string }
  | { kind: 'word'; line: number; text: 'true' | 'false' | 'null' }

export type JsonTree =
  | { ok: true; value: JsonNode; duplicates: readonly { name: string; line: number }[] }
  | { ok: false; code: 'JSON_NOT_WELLFORMED' | 'JSON_LIMIT'; line: number }

const DEPTH = 64
const VALUES = 1_000_000
const DUPLICATES = 200

class Stop extends Error {
  readonly limit: boolean
  constructor(limit: boolean) {
    super('stop')
    this.limit = limit
  }
}

export function readJsonTree(text: string): JsonTree {
  const scan = new Scan(text)
  try {
    return { ok: true, value: scan.document(), duplicates: scan.duplicates }
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop
    return { ok: false, code: stop.limit ? 'JSON_LIMIT' : 'JSON_NOT_WELLFORMED', line: scan.line }
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y

class Scan {
  readonly duplicates: { name: string; line: number }[] = []
  line = 1
  private readonly text: string
  private at = 0
  private values = 0

  constructor(text: string) {
    this.text = text
  }

  document(): JsonNode {
    const value = this.value(0)
    this.space()
    if (this.at < this.text.length) throw new Stop(false)
    return value
  }

  private value(depth: number): JsonNode {
    this.space()
    if (++this.values > VALUES || depth > DEPTH) throw new Stop(true)
    const { line } = this
    switch (this.text.charAt(this.at)) {
      case '{':
        return { kind: 'object', line, members: this.members(depth + 1) }
      case '[':
        return { kind: 'array', line, items: this.items(depth + 1) }
      case '"':
        return { kind: 'text', line, text: this.string() }
      default:
        return this.scalar(line)
    }
  }

  private scalar(line: number): JsonNode {
    const number = this.match(NUMBER)
    if (number !== null) return { kind: 'number', line, text: number }
    const word = this.match(WORD)
    if (word !== 'true' && word !== 'false' && word !== 'null') throw new Stop(false)
    return { kind: 'word', line, text: word }
  }

  private members(depth: number): (readonly [string, JsonNode])[] {
    const members: (readonly [string, JsonNode])[] = []
    const names = new Set<string>()
    this.at++
    if (this.takes('}')) return members
    do {
      this.space()
      const { line } = this
      const name = this.string()
      if (names.has(name) && this.duplicates.length < DUPLICATES) this.duplicates.push({ name, line })
      names.add(name)
      this.expect(':')
      members.push([name, this.value(depth)])
    } while (this.takes(','))
    this.expect('}')
    return members
  }

  private items(depth: number): JsonNode[] {
    const items: JsonNode[] = []
    this.at++
    if (this.takes(']')) return items
    do {
      items.push(this.value(depth))
    } while (this.takes(','))
    this.expect(']')
    return items
  }

  private string(): string {
    const { text, at } = this
    let end = text.charAt(at) === '"' ? text.indexOf('"', at + 1) : -1
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    if (end === -1) throw new Stop(false)
    this.at = end + 1
    try {
      return String(JSON.parse(text.slice(at, end + 1)))
    } catch {
      this.at = at
      throw new Stop(false)
    }
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found === undefined) return null
    this.at += found.length
    return found
  }

  private takes(mark: string): boolean {
    this.space()
    if (this.text.charAt(this.at) !== mark) return false
    this.at++
    return true
  }

  private expect(mark: string): void {
    if (!this.takes(mark)) throw new Stop(false)
  }

  private space(): void {
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code === 0x0a) this.line++
      else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return
    }
  }
}
