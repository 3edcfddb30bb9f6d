const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d

/** Names of members that are kept; tools that let callers name members must not fill the memory. */
const NAMES_MAX = 1_000
/** Beyond this length the engine's own writer is faster with a text. */
const SHORT_CHARS = 96
const WORD_BYTES = 8
/** Longest name that is copied by words. */
const NAME_BYTES = 512
/**
 * Kept free behind each value that is begun: more than a name and a short text. A write beyond the block would do no harm, but the engine
 * would from then on treat each write as one that may be.
 */
const MARGIN_BYTES = 1_024

/** A member's name as it stands in a text, comma before and colon after, eight bytes a word. */
interface Name {
  words: Float64Array
  bytes: number
}

/** A value that only JSON.stringify knows how to take, such as a date, a function or a hole; or one that the block has no room for. */
class Unfit extends Error {}

const UNFIT = new Unfit()

/**
 * Writes JSON straight into a block of bytes: exactly the UTF-8 of what JSON.stringify says of the value, without making that text first.
 * Names are encoded once and copied eight bytes at a time; so are objects that are known never to change: those named at the start, and
 * those that are frozen with all that is in them.
 */
export class JsonBytes {
  readonly #block: Buffer
  /** The last place at which a value may begin. */
  readonly #last: number
  readonly #view: DataView
  readonly #names = new Map<string, Name>()
  readonly #constants = new WeakMap<object, Uint8Array>()

  constructor(block: Buffer, constants: readonly object[]) {
    this.#block = block
    this.#last = block.length - MARGIN_BYTES
    this.#view = new DataView(block.buffer, block.byteOffset, block.byteLength)
    for (const constant of constants) this.#constants.set(constant, Buffer.from(JSON.stringify(constant)))
  }

  /**
   * The place behind the value, or null when it does not fit into the block or is no plain data: then JSON.stringify decides, be it by
   * throwing. What stands behind `start` may have been written over either way.
   */
  write(value: unknown, start: number): number | null {
    try {
      const end = this.#value(value, start)
      return end <= this.#block.length ? end : null
    } catch {
      return null
    }
  }

  #value(value: unknown, at: number): number {
    if (at > this.#last) throw UNFIT
    if (typeof value === 'string') return this.#text(value, at)
    if (typeof value === 'object' && value !== null) return Array.isArray(value) ? this.#items(value, at) : this.#members(value, at)
    if (typeof value === 'number') return this.#number(value, at)
    if (typeof value === 'boolean' || value === null) return this.#ascii(String(value), at)
    throw UNFIT
  }

  #members(object: object, start: number): number {
    const known = this.#constants.get(object)
    if (known !== undefined) return this.#copy(known, start)
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null) throw UNFIT
    if (isConstant(object)) return this.#remember(object, start)
    const record = object as Record<string, unknown>
    let at = start
    for (const name in record) {
      const value = record[name]
      if (value !== undefined) at = this.#value(value, this.#name(name, at))
    }
    // The first name brought a comma, where the object opens.
    if (at === start) at++
    this.#block[start] = OPEN
    this.#block[at] = CLOSE
    return at + 1
  }

  #items(items: readonly unknown[], start: number): number {
    const block = this.#block
    let at = start
    block[at++] = OPEN_LIST
    for (let index = 0; index < items.length; index++) {
      if (index > 0) block[at++] = COMMA
      at = this.#value(items[index], at)
    }
    block[at++] = CLOSE_LIST
    return at
  }

  #name(name: string, at: number): number {
    const { words, bytes } = this.#names.get(name) ?? this.#learn(name)
    // Bytes of UTF-8 never make a NaN, which an engine may store as another one.
    for (let index = 0; index < words.length; index++) this.#view.setFloat64(at + index * WORD_BYTES, words[index] ?? 0, true)
    return at + bytes
  }

  #learn(name: string): Name {
    const text = Buffer.from(`,${JSON.stringify(name)}:`)
    if (text.length > NAME_BYTES) throw UNFIT
    const padded = new Uint8Array(Math.ceil(text.length / WORD_BYTES) * WORD_BYTES)
    padded.set(text)
    const view = new DataView(padded.buffer)
    const words = Float64Array.from({ length: padded.length / WORD_BYTES }, (_, index) => view.getFloat64(index * WORD_BYTES, true))
    const learned = { words, bytes: text.length }
    if (this.#names.size < NAMES_MAX) this.#names.set(name, learned)
    return learned
  }

  #text(text: string, start: number): number {
    const { length } = text
    if (length > SHORT_CHARS) return this.#copy(Buffer.from(JSON.stringify(text)), start)
    const block = this.#block
    let at = start
    block[at++] = QUOTE
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) return this.#copy(Buffer.from(JSON.stringify(text)), start)
      block[at++] = code
    }
    block[at++] = QUOTE
    return at
  }

  #number(value: number, at: number): number {
    if (!Number.isInteger(value) || value < 0 || value > 99) return this.#ascii(JSON.stringify(value), at)
    if (value < 10) {
      this.#block[at] = ZERO + value
      return at + 1
    }
    const tens = Math.floor(value / 10)
    this.#block[at] = ZERO + tens
    this.#block[at + 1] = ZERO + value - tens * 10
    return at + 2
  }

  #ascii(text: string, at: number): number {
    for (let index = 0; index < text.length; index++) this.#block[at + index] = text.charCodeAt(index)
    return at + text.length
  }

  #remember(constant: object, at: number): number {
    const bytes = Buffer.from(JSON.stringify(constant))
    this.#constants.set(constant, bytes)
    return this.#copy(bytes, at)
  }

  /** Throws a RangeError where they do not fit. */
  #copy(bytes: Uint8Array, at: number): number {
    this.#block.set(bytes, at)
    return at + bytes.length
  }
}

/** Whether neither the value nor anything in it can ever change or answer differently. */
function isConstant(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (!Object.isFrozen(value)) return false
  return Object.values(Object.getOwnPropertyDescriptors(value)).every((property) => 'value' in property && isConstant(property.value))
}

/** Bytes that are gathered before they are written. */
const BLOCK_BYTES = 1_048_576
/** A UTF-16 unit takes at most three bytes of UTF-8; one more ends the line. */
const BYTES_A_CHAR = 3

const BEFORE_RESULT = Buffer.from('{"result":')
const AFTER_RESULT = Buffer.from('}\n')

/**
 * Writes lines to standard output in large blocks, never faster than they are taken. Each line is encoded once, straight into the block:
 * joining them as text first would copy them twice more.
 */
export class LineWriter {
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES)
  readonly #json: JsonBytes
  #used = 0

  /** `constants` are objects of results that never change. */
  constructor(constants: readonly object[] = []) {
    this.#json = new JsonBytes(this.#block, constants)
  }

  /** Resolves at once, or, where the block is full, when it has been taken; null says the same without a promise. */
  write(line: string): Promise<void> | null {
    if (this.#used + line.length * BYTES_A_CHAR < BLOCK_BYTES) {
      this.#put(line)
      return null
    }
    return this.#writeNext(line)
  }

  /** The line `{"result":…}`, written as `write` would, with what JSON.stringify says of the result. */
  writeResult(result: Record<string, unknown>): Promise<void> | null {
    const end = this.#json.write(result, this.#used + BEFORE_RESULT.length)
    if (end === null || end + AFTER_RESULT.length > BLOCK_BYTES) return this.write(JSON.stringify({ result }))
    this.#block.set(BEFORE_RESULT, this.#used)
    this.#block.set(AFTER_RESULT, end)
    this.#used = end + AFTER_RESULT.length
    return null
  }

  async flush(): Promise<void> {
    if (this.#used === 0) return
    const used = this.#used
    this.#used = 0
    await writeOut(this.#block.subarray(0, used))
  }

  async #writeNext(line: string): Promise<void> {
    await this.flush()
    if (line.length * BYTES_A_CHAR < BLOCK_BYTES) this.#put(line)
    else await writeOut(Buffer.from(`${line}\n`))
  }

  #put(line: string): void {
    this.#used += this.#block.write(line, this.#used)
    this.#block[this.#used++] = 0x0a
  }
}

/** Resolves when the bytes have left, so that they may be overwritten. A closed pipe ends the process elsewhere. */
function writeOut(bytes: Uint8Array): Promise<void> {
  return new Promise((done) => {
    process.stdout.write(bytes, () => done())
  })
}
