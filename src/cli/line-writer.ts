import { JsonBytes } from './json-bytes.ts'

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
