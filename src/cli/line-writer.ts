const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d

/** Maximum number of cached member names, because some tools let callers choose names. */
const NAMES_MAX = 1_000
/** Longer texts are faster with JSON.stringify. */
const SHORT_CHARS = 96
const WORD_BYTES = 8
/** Longest name that is copied by words. */
const NAME_BYTES = 512
/**
 * Free space after the start of each value: more than a name and a short text. Writes beyond the block would be harmless but would make V8
 * treat every write as possibly out of bounds.
 */
const MARGIN_BYTES = 1_024

/** An encoded member name with comma and colon, eight bytes per word. */
interface EncodedName {
  words: Float64Array
  bytes: number
}

/** A value that only JSON.stringify handles, such as a date, function or hole, or one that does not fit in the block. */
class UnsupportedValue extends Error {}

const UNSUPPORTED_VALUE = new UnsupportedValue()

/**
 * Writes JSON directly into a block of bytes: exactly the UTF-8 of JSON.stringify, without building the text. Names are encoded once and
 * copied eight bytes at a time. Constant objects are encoded once too: those given at the start and deeply frozen ones.
 */
export class JsonBytes {
  readonly #block: Buffer
  /** Last offset at which a value may start. */
  readonly #last: number
  readonly #view: DataView
  readonly #names = new Map<string, EncodedName>()
  readonly #constants = new WeakMap<object, Uint8Array>()

  constructor(block: Buffer, constants: readonly object[]) {
    this.#block = block
    this.#last = block.length - MARGIN_BYTES
    this.#view = new DataView(block.buffer, block.byteOffset, block.byteLength)
    for (const constant of constants) this.#constants.set(constant, Buffer.from(JSON.stringify(constant)))
  }

  /**
   * Returns the offset after the value, or null if it does not fit or is not plain data; then JSON.stringify decides, possibly by throwing.
   * Bytes after `start` may have been overwritten either way.
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
    if (at > this.#last) throw UNSUPPORTED_VALUE
    if (typeof value === 'string') return this.#text(value, at)
    if (typeof value === 'object' && value !== null) return Array.isArray(value) ? this.#items(value, at) : this.#members(value, at)
    if (typeof value === 'number') return this.#number(value, at)
    if (typeof value === 'boolean' || value === null) return this.#ascii(String(value), at)
    throw UNSUPPORTED_VALUE
  }

  #members(object: object, start: number): number {
    const known = this.#constants.get(object)
    if (known !== undefined) return this.#copy(known, start)
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null) throw UNSUPPORTED_VALUE
    if (isDeeplyFrozen(object)) return this.#remember(object, start)
    const record = object as Record<string, unknown>
    let at = start
    for (const name in record) {
      const value = record[name]
      if (value !== undefined) at = this.#value(value, this.#name(name, at))
    }
    // The first name wrote a comma, which the opening brace replaces.
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
    // UTF-8 bytes never form a NaN, whose bits an engine may change.
    for (let index = 0; index < words.length; index++) this.#view.setFloat64(at + index * WORD_BYTES, words[index] ?? 0, true)
    return at + bytes
  }

  #learn(name: string): EncodedName {
    const text = Buffer.from(`,${JSON.stringify(name)}:`)
    if (text.length > NAME_BYTES) throw UNSUPPORTED_VALUE
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

  /** Throws a RangeError if the bytes do not fit. */
  #copy(bytes: Uint8Array, at: number): number {
    this.#block.set(bytes, at)
    return at + bytes.length
  }
}

/** Deeply frozen data properties only: it can never change. */
function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (!Object.isFrozen(value)) return false
  return Object.values(Object.getOwnPropertyDescriptors(value)).every((property) => 'value' in property && isDeeplyFrozen(property.value))
}

/** Size of the output buffer. */
const BLOCK_BYTES = 1_048_576
/** Maximum UTF-8 bytes per UTF-16 unit; one more byte ends the line. */
const BYTES_A_CHAR = 3

const BEFORE_RESULT = Buffer.from('{"result":')
const AFTER_RESULT = Buffer.from('}\n')

/**
 * Writes lines to standard output in large blocks with backpressure. Each line is encoded once, directly into the block; joining lines as
 * text would copy them twice more.
 */
export class LineWriter {
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES)
  readonly #json: JsonBytes
  #used = 0

  /** `constants` are objects in results that never change. */
  constructor(constants: readonly object[] = []) {
    this.#json = new JsonBytes(this.#block, constants)
  }

  /** Returns null if buffered; if the block is full, a promise that resolves when it has been written. */
  write(line: string): Promise<void> | null {
    if (this.#used + line.length * BYTES_A_CHAR < BLOCK_BYTES) {
      this.#put(line)
      return null
    }
    return this.#writeNext(line)
  }

  /** Writes the line `{"result":…}` like `write`, with the JSON of the result. */
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
    await writeToStdout(this.#block.subarray(0, used))
  }

  async #writeNext(line: string): Promise<void> {
    await this.flush()
    if (line.length * BYTES_A_CHAR < BLOCK_BYTES) this.#put(line)
    else await writeToStdout(Buffer.from(`${line}\n`))
  }

  #put(line: string): void {
    this.#used += this.#block.write(line, this.#used)
    this.#block[this.#used++] = 0x0a
  }
}

/** Resolves when the bytes have been written and may be overwritten. A closed pipe ends the process elsewhere. */
function writeToStdout(bytes: Uint8Array): Promise<void> {
  return new Promise((done) => {
    process.stdout.write(bytes, () => done())
  })
}
