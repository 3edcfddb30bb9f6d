import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into a service under test, it collects all garbage at SIGUSR2 and says so on standard error, so that the heap holds what is kept
 * and nothing else. Finalizers run between two collections, and what they let go is found by the next one.
 */
const ROUNDS = 8

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => void sweep(collect))
}

async function sweep(collect: () => void): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    collect()
    await nextTurn()
  }
  process.stderr.write('swept\n')
}
