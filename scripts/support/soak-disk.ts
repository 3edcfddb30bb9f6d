import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Measures small durable writes in the folder of the store: every write of the service takes at least as long. */
export interface DiskWatch {
  /** The longest since the last question, in milliseconds. */
  longest_ms(): number
  stop(): Promise<void>
}

const EVERY_MS = 50
const BLOCK_BYTES = 16_384
/** The file is rewritten from the start after this many blocks. */
const BLOCKS = 256

export async function watchDisk(folder: string): Promise<DiskWatch> {
  const file = await open(join(folder, 'soak-disk.bin'), 'w')
  const block = Buffer.alloc(BLOCK_BYTES, 1)
  const ending = new AbortController()
  let longest_ms = 0
  const watching = (async () => {
    for (let number = 0; !ending.signal.aborted; number++) {
      await file.write(block, 0, block.length, (number % BLOCKS) * BLOCK_BYTES)
      const begun_ms = performance.now()
      await file.datasync()
      longest_ms = Math.max(longest_ms, performance.now() - begun_ms)
      await pause(EVERY_MS)
    }
  })()
  return {
    longest_ms: () => {
      const found = longest_ms
      longest_ms = 0
      return found
    },
    stop: async () => {
      ending.abort()
      await watching
      await file.close()
    },
  }
}
