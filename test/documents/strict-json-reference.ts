/**
 * A slow reader of strict JSON to compare with: one function for each rule of RFC 8259, one character at a time, escapes decoded by hand,
 * no engine parser anywhere. Each function takes a position and returns the value with the position after it.
 */

export interface ReferenceBounds {
  depth: number
  nodes: number
  keep_text: boolean
}

export type ReferenceResult = { ok: true; value: unknown } | { ok: false; code: string; position: number }

type Read<Value> = [value: Value, next: number]

class Refusal extends Error {
  code: string
  position: number
  constructor(code: string, position: number) {
    super(code)
    this.code = code
    this.position = position
  }
}

export function referenceRead(text: string, bounds: ReferenceBounds): ReferenceResult {
  const units = text.split('')
  let nodes = 0

  const broken = (at: number): never => {
    throw new Refusal('not_json', at)
  }
  const blank = (from: number): number => {
    let at = from
    while ([' ', '\t', '\n', '\r'].includes(units[at] ?? 'end')) at += 1
    return at
  }
  const expect = (at: number, unit: string): number => (units[at] === unit ? at + 1 : broken(at))
  const isDigit = (at: number): boolean => /^[0-9]$/.test(units[at] ?? '')

  function readValue(before: number, depth: number): Read<unknown> {
    const at = blank(before)
    const unit = units[at] ?? ''
    if (unit === '' || !'{["-0123456789tfn'.includes(unit)) return broken(at)
    nodes += 1
    if (nodes > bounds.nodes) throw new Refusal('too_many_nodes', at)
    if ((unit === '{' || unit === '[') && depth + 1 > bounds.depth) throw new Refusal('too_deep', at)
    if (unit === '{') return readObject(at, depth + 1)
    if (unit === '[') return readArray(at, depth + 1)
    if (unit === '"') return readString(at)
    if (unit === 't') return readWord(at, 'true', true)
    if (unit === 'f') return readWord(at, 'false', false)
    if (unit === 'n') return readWord(at, 'null', null)
    return readNumber(at)
  }

  function readWord(from: number, word: string, value: unknown): Read<unknown> {
    let at = from
    for (const letter of word) at = expect(at, letter)
    return [value, at]
  }

  function readDigits(from: number): number {
    if (!isDigit(from)) broken(from)
    let at = from
    while (isDigit(at)) at += 1
    return at
  }

  function readNumber(from: number): Read<unknown> {
    let at = units[from] === '-' ? from + 1 : from
    at = units[at] === '0' ? at + 1 : readDigits(at)
    if (units[at] === '.') at = readDigits(at + 1)
    if (units[at] === 'e' || units[at] === 'E') {
      at += 1
      if (units[at] === '+' || units[at] === '-') at += 1
      at = readDigits(at)
    }
    const literal = units.slice(from, at).join('')
    const value = Number(literal)
    if (value >= -(2 ** 53 - 1) && value <= 2 ** 53 - 1) return [value, at]
    if (bounds.keep_text) return [literal, at]
    throw new Refusal('unsafe_number', from)
  }

  const SHORT: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

  function readString(from: number): Read<string> {
    let at = expect(from, '"')
    const out: string[] = []
    while (units[at] !== '"') {
      const unit = units[at]
      if (unit === undefined || unit.charCodeAt(0) < 0x20) return broken(at)
      if (unit !== '\\') {
        out.push(unit)
        at += 1
        continue
      }
      const escape = units[at + 1]
      if (escape === 'u') {
        for (let digit = 2; digit < 6; digit++) if (!/^[0-9a-fA-F]$/.test(units[at + digit] ?? '')) broken(at + digit)
        out.push(String.fromCharCode(parseInt(units.slice(at + 2, at + 6).join(''), 16)))
        at += 6
      } else {
        out.push((escape === undefined ? undefined : SHORT[escape]) ?? broken(at + 1))
        at += 2
      }
    }
    const value = out.join('')
    if (isLonely(out)) throw new Refusal('lone_surrogate', from)
    return [value, at + 1]
  }

  function readArray(from: number, depth: number): Read<unknown> {
    const items: unknown[] = []
    let at = blank(from + 1)
    if (units[at] === ']') return [items, at + 1]
    for (;;) {
      const [item, next] = readValue(at, depth)
      items.push(item)
      at = blank(next)
      if (units[at] === ',') at += 1
      else return [items, expect(at, ']')]
    }
  }

  function readObject(from: number, depth: number): Read<unknown> {
    const members: [string, unknown][] = []
    let at = blank(from + 1)
    if (units[at] === '}') return [{}, at + 1]
    for (;;) {
      const start = blank(at)
      const [name, after] = readString(start)
      if (name === '__proto__') throw new Refusal('forbidden_key', start)
      if (members.some(([other]) => other === name)) throw new Refusal('duplicate_key', start)
      const [value, next] = readValue(expect(blank(after), ':'), depth)
      members.push([name, value])
      at = blank(next)
      if (units[at] === ',') at += 1
      else return [Object.fromEntries(members), expect(at, '}')]
    }
  }

  try {
    const [value, next] = readValue(0, 0)
    const end = blank(next)
    if (end !== units.length) broken(end)
    return { ok: true, value }
  } catch (refusal) {
    if (refusal instanceof Refusal) return { ok: false, code: refusal.code, position: refusal.position }
    throw refusal
  }
}

/** Whether some unit is half of a pair without its other half. */
function isLonely(units: readonly string[]): boolean {
  const codes = units.map((unit) => unit.charCodeAt(0))
  const high = (code: number | undefined): boolean => code !== undefined && code >= 0xd800 && code <= 0xdbff
  const low = (code: number | undefined): boolean => code !== undefined && code >= 0xdc00 && code <= 0xdfff
  return codes.some((code, index) => (high(code) && !low(codes[index + 1])) || (low(code) && !high(codes[index - 1])))
}
