/** Bytes that are gathered before they are written. */
const BLOCK_BYTES = 1_048_576
/** A UTF-16 unit takes at most three bytes of UTF-8; one more ends the line. */
const BYTES_A_CHAR = 3

/**
 * Writes lines to standard output in large blocks, never faster than they are taken. Each line is encoded once, straight into the block:
 * joining them as text first would copy them twice more.
 */
export class LineWriter {
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES)
  #used = 0

  /** Resolves at once, or, where the block is full, when it has been taken; null says the same without a promise. */
  write(line: string): Promise<void> | null {
    if (this.#used + line.length * BYTES_A_CHAR < BLOCK_BYTES) {
      this.#put(line)
      return null
    }
    return this.#writeNext(line)
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
