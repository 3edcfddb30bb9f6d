/** Exact sets of many short texts in little memory: the characters lie in one array, so that no piece of the document is kept alive. */

const LONGEST_PROBE = 64
const FIRST_SLOTS = 4_096
/** FNV-1a. */
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
/** Bytes before each key that hold its length. */
const HEAD = 4

/** `folded`: it was not there itself, but one that differs in case and spaces only. */
export type Added = 'new' | 'same' | 'folded'

/** The character that stands for each below 128 when texts are folded; 0 for white space, which falls away. */
const FOLDED = new Uint8Array(128)
for (let code = 1; code < 0x80; code++) FOLDED[code] = code >= 0x61 && code <= 0x7a ? code - 0x20 : code
for (const space of '\t\n\r ') FOLDED[space.charCodeAt(0)] = 0

/**
 * A set of keys, each a run of texts and numbers that are pushed one after the other. Time and memory grow with what is pushed. Keys that
 * somebody made to collide go into the engine's own sets, whose hashes are not guessable. A folding set also finds keys that differ in
 * case (of ASCII letters) and white space only.
 */
export class TextSet {
  private readonly folding: boolean
  private bytes = new Uint8Array(65_536)
  private used = 0
  private end = HEAD
  private hash = OFFSET_BASIS
  /** Pairs: one more than the key's start, 0 when empty; and its hash. */
  private slots = new Int32Array(FIRST_SLOTS * 2)
  private size = 0
  private readonly overflow = new Set<string>()
  private readonly folded_overflow = new Set<string>()

  constructor(folding = false) {
    this.folding = folding
  }

  /** Appends to the key at hand. A separator follows, so that ("ab", "c") is not ("a", "bc"). */
  push(text: string): this {
    const { length } = text
    if (this.end + length * 3 + 1 > this.bytes.length) this.widen(length * 3 + 1)
    const { bytes, folding } = this
    let { hash, end } = this
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0 && code < 0x80) {
        bytes[end++] = code
        const folded = folding ? (FOLDED[code] ?? 0) : code
        if (folded !== 0) hash = Math.imul(hash ^ folded, PRIME)
      } else {
        bytes[end++] = 0x80
        bytes[end++] = code >> 8
        bytes[end++] = code & 0xff
        hash = Math.imul(hash ^ code, PRIME)
      }
    }
    bytes[end++] = 0
    this.hash = Math.imul(hash, PRIME)
    this.end = end
    return this
  }

  /** Appends a whole number below 2^53. */
  pushNumber(value: number): this {
    if (this.end + 8 > this.bytes.length) this.widen(8)
    let rest = value
    for (let place = 0; place < 8; place++) {
      const digit = rest % 256
      this.bytes[this.end++] = digit
      this.hash = Math.imul(this.hash ^ digit, PRIME)
      rest = (rest - digit) / 256
    }
    return this
  }

  /** Ends the key at hand; it is in the set from now on. */
  add(): Added {
    const { hash, end, used, slots, bytes } = this
    const length = end - used - HEAD
    bytes[used] = length & 0xff
    bytes[used + 1] = (length >> 8) & 0xff
    bytes[used + 2] = (length >> 16) & 0xff
    bytes[used + 3] = (length >> 24) & 0xff
    this.hash = OFFSET_BASIS
    this.end = used + HEAD
    const mask = slots.length / 2 - 1
    let slot = mix(hash) & mask
    let folded = false
    for (let probe = 0; probe < LONGEST_PROBE; probe++, slot = (slot + 1) & mask) {
      const start = slots[slot * 2] ?? 0
      if (start === 0) return this.insert(slot, hash, end, folded)
      if (slots[slot * 2 + 1] !== hash) continue
      if (this.equals(start - 1, used, length)) return 'same'
      folded ||= this.folding && this.fold(start - 1) === this.fold(used)
    }
    return this.overflows(this.key(used), folded)
  }

  private insert(slot: number, hash: number, end: number, folded: boolean): Added {
    const { used } = this
    const before = this.overflow.size === 0 ? 'new' : this.overflown(this.key(used), used)
    if (before === 'same') return before
    this.slots[slot * 2] = used + 1
    this.slots[slot * 2 + 1] = hash
    this.used = end
    this.end = end + HEAD
    if (this.end > this.bytes.length) this.widen(HEAD)
    if (++this.size * 4 > this.slots.length) this.grow()
    return folded ? 'folded' : before
  }

  private overflown(key: string, start: number): Added {
    if (this.overflow.has(key)) return 'same'
    return this.folding && this.folded_overflow.has(this.fold(start)) ? 'folded' : 'new'
  }

  private overflows(key: string, folded: boolean): Added {
    const before = this.overflown(key, this.used)
    this.overflow.add(key)
    if (this.folding) this.folded_overflow.add(this.fold(this.used))
    return before === 'new' && folded ? 'folded' : before
  }

  /** Of two keys, lengths before texts. */
  private equals(start: number, other: number, length: number): boolean {
    const { bytes } = this
    for (let index = 0; index < length + HEAD; index++) if (bytes[start + index] !== bytes[other + index]) return false
    return true
  }

  private key(start: number): string {
    const { bytes } = this
    const length = (bytes[start] ?? 0) | ((bytes[start + 1] ?? 0) << 8) | ((bytes[start + 2] ?? 0) << 16) | ((bytes[start + 3] ?? 0) << 24)
    const [from, to] = [start + HEAD, start + HEAD + length]
    let key = ''
    for (let at = from; at < to; at += 8_192) key += String.fromCharCode(...bytes.subarray(at, Math.min(to, at + 8_192)))
    return key
  }

  private fold(start: number): string {
    return this.key(start)
      .replace(/[\t\n\r ]/g, '')
      .toUpperCase()
  }

  private widen(more: number): void {
    const wider = new Uint8Array(Math.max(this.bytes.length * 2, this.end + more))
    wider.set(this.bytes.subarray(0, this.end))
    this.bytes = wider
  }

  private grow(): void {
    const { slots } = this
    // Four times as large: most of the work of a growing set is to place everything anew.
    this.slots = new Int32Array(slots.length * 4)
    for (let from = 0; from < slots.length; from += 2) {
      const start = slots[from] ?? 0
      if (start !== 0) this.place(start, slots[from + 1] ?? 0)
    }
  }

  private place(start: number, hash: number): void {
    const { slots } = this
    const mask = slots.length / 2 - 1
    let slot = mix(hash) & mask
    for (let probe = 0; probe < LONGEST_PROBE; probe++, slot = (slot + 1) & mask) {
      if (slots[slot * 2] !== 0) continue
      slots[slot * 2] = start
      slots[slot * 2 + 1] = hash
      return
    }
    this.overflow.add(this.key(start - 1))
    if (this.folding) this.folded_overflow.add(this.fold(start - 1))
  }
}

/** FNV is weak in its low bits. */
function mix(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (once ^ (once >>> 16)) >>> 0
}
