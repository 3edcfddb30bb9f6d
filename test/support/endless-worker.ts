import { parentPort } from 'node:worker_threads'
import type { HeavyAnswer, HeavyJob } from '../../src/adapters/heavy-work/pool.ts'

/** A worker of the pool that does what the input says: echo, loop for ever, eat memory, die, or fail. */
parentPort?.on('message', ({ input }: HeavyJob) => {
  const answer = (found: HeavyAnswer) => parentPort?.postMessage(found, [])
  switch (input['does']) {
    case 'echo':
      return answer({ ok: true, result: input })
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
