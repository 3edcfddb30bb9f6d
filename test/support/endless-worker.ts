import { parentPort } from 'node:worker_threads'
import type { HeavyAnswer, HeavyToolJob } from '../../src/adapters/heavy-work/pool.ts'

/** A worker of the pool that does what the input says: echo, wait for a gate, loop for ever, eat memory, die, or fail. */
parentPort?.on('message', ({ input }: HeavyToolJob & { input: Record<string, unknown> }) => {
  const answer = (found: HeavyAnswer) => parentPort?.postMessage(found, [])
  switch (input['does']) {
    case 'echo':
      return answer({ ok: true, result: input })
    case 'wait':
      Atomics.wait(new Int32Array(input['gate'] as SharedArrayBuffer), 0, 0)
      return answer({ ok: true, result: {} })
    case 'fail':
      return answer({ ok: false, message: 'on purpose' })
    case 'die':
      return process.exit(3)
    case 'eat': {
      const eaten: number[][] = []
      for (;;) eaten.push(Array.from({ length: 100_000 }, (_, index) => index * 1.5))
    }
    default:
      for (;;);
  }
})
