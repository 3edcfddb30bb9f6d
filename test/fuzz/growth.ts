import assert from 'node:assert/strict'

/** Measures how work grows with the size of its input. Ratios of least times: no figure depends on the machine or on what else it does. */

/** Linear work makes it 16, squared work 256; in between lie caches, collections of garbage and what else the machine does. */
const STEP = 16
const GROWTH_MAX = 128

/** What a call may cost at any size before its growth is looked at: below, the measure and a change of method are most of the figure. */
const FLOOR_MS = 0.1

/**
 * Samples of the small sizes, which the large ones are held against. What exceeds its bound is looked at again, since another program may
 * have had the processor.
 */
const SAMPLES = 2
const SAMPLES_MAX = 48

type Run = () => unknown

/**
 * Work on inputs of n, 4n, 16n and 64n characters, of n, 4n and 16n where `steps` is 3. `prepare` makes the input, which costs nothing
 * here; what it returns is measured.
 */
export async function assertGrowth(name: string, n: number, prepare: (size: number) => Run, steps = 4): Promise<void> {
  const costs_ms: number[] = []
  for (const [at, size] of [n, 4 * n, 16 * n, 64 * n].slice(0, steps).entries()) {
    const enough_ms = GROWTH_MAX * Math.max(costs_ms[at - 2] ?? Infinity, FLOOR_MS)
    const run = prepare(size)
    // By the third size the code is compiled.
    if (at < 2) await run()
    costs_ms.push(await leastTime(run, Math.max(1, 16 >> (2 * at)), at < 2 ? SAMPLES : 1, enough_ms))
    const shown = costs_ms.map((cost_ms) => cost_ms.toFixed(3)).join(', ')
    assert.ok((costs_ms[at] ?? 0) < enough_ms, `${name}: ${STEP} times the input cost over ${GROWTH_MAX} times the work (${shown} ms)`)
  }
}

/** The least time of one run: of so many samples, of more as long as it is not below `enough_ms`. */
async function leastTime(run: Run, repeats: number, samples: number, enough_ms: number): Promise<number> {
  let least_ms = Infinity
  for (let sample = 0; sample < samples || (least_ms >= enough_ms && sample < SAMPLES_MAX); sample++) {
    const started_ms = performance.now()
    for (let round = 0; round < repeats; round++) {
      const result = run()
      if (result instanceof Promise) await result
    }
    least_ms = Math.min(least_ms, (performance.now() - started_ms) / repeats)
  }
  return least_ms
}

/** Holds one piece of work against another that is known to be cheap. */
export async function assertNotDearer(name: string, run: Run, reference: Run, times: number): Promise<void> {
  await reference()
  const known_ms = await leastTime(reference, 1, SAMPLES, Infinity)
  const enough_ms = times * Math.max(known_ms, FLOOR_MS)
  const cost_ms = await leastTime(run, 1, SAMPLES, enough_ms)
  assert.ok(cost_ms < enough_ms, `${name}: ${cost_ms.toFixed(3)} ms beside ${known_ms.toFixed(3)} ms`)
}
