/**
 * Exact amounts, sums and sets of texts, for documents of any length: amounts are whole numbers of 10^-5, the smallest step of ISO 20022.
 */

/** Maximum decimals of an amount, and of a control sum. */
export const AMOUNT_SCALE = 5
const SUM_SCALE = 17
const TOTAL_DIGITS = 18
/** Whole numbers of so many digits, times 10^5, are exact in a double. */
const NARROW_DIGITS = 10
const POWERS = [1, 10, 100, 1_000, 10_000, 100_000] as const

type DecimalFault = 'lexical' | 'negative' | 'digits' | null

/**
 * Reads xs:decimal texts without allocating: sign, leading zeros, `.5`, `5.` and surrounding white space are allowed, an exponent is not.
 * The fields contain the value of the last text.
 */
export class AmountText {
  /** In 10^-5, below 2^53; valid when `wide` is null. */
  units = 0
  /** In 10^-5, when a double would not be exact. */
  wide: bigint | null = null
  /** Number of decimals without trailing zeros, and as written. */
  fraction = 0
  written_fraction = 0

  /** Null for a valid amount: not negative, at most 18 digits, at most 5 decimals. */
  read(text: string): DecimalFault {
    let index = 0
    let end = text.length
    while (index < end && isSpace(text.charCodeAt(index))) index++
    while (end > index && isSpace(text.charCodeAt(end - 1))) end--
    const sign = index < end ? text.charCodeAt(index) : 0
    if (sign === PLUS || sign === MINUS) index++
    const start = index
    let value = 0
    let whole = 0
    for (; index < end; index++) {
      const digit = text.charCodeAt(index) - ZERO
      if (digit < 0 || digit > 9) break
      if (digit !== 0 || whole > 0) whole++
      value = value * 10 + digit
    }
    const point = index
    if (point < end && text.charCodeAt(point) !== POINT) return 'lexical'
    let significant = 0
    for (index = point + 1; index < end; index++) {
      const digit = text.charCodeAt(index) - ZERO
      if (digit < 0 || digit > 9) return 'lexical'
      if (digit !== 0) significant = index - point
      if (index - point <= AMOUNT_SCALE) value = value * 10 + digit
    }
    const written = Math.max(0, end - point - 1)
    if (point - start + written === 0) return 'lexical'
    this.fraction = significant
    this.written_fraction = written
    if (significant > AMOUNT_SCALE || whole + significant > TOTAL_DIGITS) return 'digits'
    const narrow = whole <= NARROW_DIGITS
    this.units = narrow ? value * (POWERS[AMOUNT_SCALE - Math.min(written, AMOUNT_SCALE)] ?? 1) : 0
    this.wide = narrow ? null : scaled(text.trim(), AMOUNT_SCALE)
    return sign === MINUS && !this.isZero() ? 'negative' : null
  }

  isZero(): boolean {
    return this.wide === null && this.units === 0
  }

  total(): bigint {
    return this.wide ?? BigInt(this.units)
  }
}

const ZERO = 0x30
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d
}

/** An exact sum of any number of amounts: a double while it is exact, then a bigint. */
export class ExactSum {
  private low = 0
  private high = 0n

  add({ units, wide }: AmountText): void {
    if (wide !== null) this.high += wide
    else this.low += units
    if (this.low > FULL) this.carry()
  }

  addSum({ low, high }: ExactSum): void {
    this.high += high
    this.low += low
    if (this.low > FULL) this.carry()
  }

  private carry(): void {
    this.high += BigInt(this.low)
    this.low = 0
  }

  total(): bigint {
    return this.high + BigInt(this.low)
  }

  clear(): void {
    this.low = 0
    this.high = 0n
  }
}

/** Twice this is below 2^53, so that one more narrow amount, or another such sum, remains exact. */
const FULL = 3_000_000_000_000_000

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** A decimal text times 10^scale; null for any other text, and for more decimals than `scale`. */
export function scaled(text: string, scale: number): bigint | null {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole + fraction === '' || text.length > 64) return null
  const decimals = fraction.slice(0, scale).padEnd(scale, '0')
  if (/[1-9]/.test(fraction.slice(scale))) return null
  const value = BigInt(whole + decimals)
  return sign === '-' ? -value : value
}

/** Compares a control sum with a sum in 10^-5, by value: 10.0 equals 10.00. */
export function equalsSum(text: string, sum: bigint): boolean {
  return scaled(text.trim(), SUM_SCALE) === sum * 10n ** BigInt(SUM_SCALE - AMOUNT_SCALE)
}

/** Returns whether a text is a decimal with at most so many digits in total and decimals. Zeros at both ends do not count. */
export function isDecimalText(text: string, total: number, max_fraction: number): boolean {
  const [, , whole = '', fraction = ''] = DECIMAL.exec(text.trim()) ?? []
  if (whole + fraction === '') return false
  const { length } = withoutEndZeros(fraction)
  return length <= max_fraction && whole.replace(/^0+/, '').length + length <= total
}

/** Returns whether a control sum is well-formed: at most 18 digits, 17 of them decimals. */
export function isSumText(text: string): boolean {
  return isDecimalText(text, TOTAL_DIGITS, SUM_SCALE)
}

/** A loop, because a regular expression would take quadratic time on a long hostile text. */
function withoutEndZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** A number of 10^-5 as decimal text with at least `least` decimals and no further trailing zeros. */
export function decimalText(units: bigint, least = 0): string {
  const negative = units < 0n
  const digits = (negative ? -units : units).toString().padStart(AMOUNT_SCALE + 1, '0')
  const fraction = digits.slice(-AMOUNT_SCALE).replace(/0+$/, '').padEnd(least, '0')
  const whole = digits.slice(0, -AMOUNT_SCALE)
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

const LONGEST_PROBE = 64
/** Small at first: a message has about ten sets, and most messages have few payments. */
const FIRST_SLOTS = 64
const FIRST_BYTES = 2_048
/** FNV-1a. */
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
/** Bytes before each key, with its length. */
const HEAD = 4

/** `folded`: the set had only a key that differs in case and spaces. */
type Added = 'new' | 'same' | 'folded'

/** The folded character of each below 128; 0 for white space, which is dropped. */
const FOLDED = new Uint8Array(128)
for (let code = 1; code < 0x80; code++) FOLDED[code] = code >= 0x61 && code <= 0x7a ? code - 0x20 : code
for (const space of '\t\n\r ') FOLDED[space.charCodeAt(0)] = 0

/**
 * An exact set of many short keys in little memory: their characters are in one array, so that no part of the document stays in memory. A
 * key is a sequence of texts and numbers, pushed one after the other. Time and memory are linear. Keys that were made to collide go into
 * the engine's own sets, whose hashes cannot be guessed. A folding set also finds keys that differ only in case (of ASCII letters) and
 * spaces.
 */
export class TextSet {
  private readonly folding: boolean
  private bytes = new Uint8Array(FIRST_BYTES)
  private used = 0
  private end = HEAD
  private hash = OFFSET_BASIS
  /** Pairs of the key's start plus one (0 for a free slot) and its hash. */
  private slots = new Int32Array(FIRST_SLOTS * 2)
  private size = 0
  private readonly overflow = new Set<string>()
  private readonly folded_overflow = new Set<string>()

  constructor(folding = false) {
    this.folding = folding
  }

  /** Appends a text and a separator to the current key, so that ("ab", "c") differs from ("a", "bc"). */
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
    for (let byte = 0; byte < 8; byte++) {
      const digit = rest % 256
      this.bytes[this.end++] = digit
      this.hash = Math.imul(this.hash ^ digit, PRIME)
      rest = (rest - digit) / 256
    }
    return this
  }

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
    return this.addToOverflow(this.key(used), folded)
  }

  private insert(slot: number, hash: number, end: number, folded: boolean): Added {
    const { used } = this
    const before = this.overflow.size === 0 ? 'new' : this.overflowState(this.key(used), used)
    if (before === 'same') return before
    this.slots[slot * 2] = used + 1
    this.slots[slot * 2 + 1] = hash
    this.used = end
    this.end = end + HEAD
    if (this.end > this.bytes.length) this.widen(HEAD)
    if (++this.size * 4 > this.slots.length) this.grow()
    return folded ? 'folded' : before
  }

  private overflowState(key: string, start: number): Added {
    if (this.overflow.has(key)) return 'same'
    return this.folding && this.folded_overflow.has(this.fold(start)) ? 'folded' : 'new'
  }

  private addToOverflow(key: string, folded: boolean): Added {
    const before = this.overflowState(key, this.used)
    this.overflow.add(key)
    if (this.folding) this.folded_overflow.add(this.fold(this.used))
    return before === 'new' && folded ? 'folded' : before
  }

  /** Compares two keys with their lengths. */
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
    // Four times as large: most of the cost of growing is to insert all keys again.
    this.slots = new Int32Array(slots.length * 4)
    for (let from = 0; from < slots.length; from += 2) {
      const start = slots[from] ?? 0
      if (start !== 0) this.reinsert(start, slots[from + 1] ?? 0)
    }
  }

  private reinsert(start: number, hash: number): void {
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

/** Mixes the hash, because FNV is weak in its low bits. */
function mix(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (once ^ (once >>> 16)) >>> 0
}
