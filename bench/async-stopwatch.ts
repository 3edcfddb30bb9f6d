/** Times work that may answer later, by the processor time of this thread and by the clock. */
import { median } from './report.ts'

/** Work over all inputs; gives a number that depends on each of them, so that no engine may leave it out. */
export type AsyncWork = () => number | Promise<number>

export interface Took {
  cpu_us: number
  wall_us: number
}

const TURN_US = 60_000

/** Median microseconds of one run of each work, which take turns, so that a change of the machine's mood meets all of them. */
export async function raceBoth(works: Readonly<Record<string, AsyncWork>>, turns: number): Promise<Map<string, Took>> {
  const runners: { name: string; work: AsyncWork; runs: number; found: Took[] }[] = []
  for (const [name, work] of Object.entries(works)) runners.push({ name, work, runs: await runsPerTurn(work), found: [] })
  for (let turn = 0; turn < turns; turn++) {
    for (const { work, runs, found } of runners) found.push(await time(work, runs))
  }
  const middle = (found: readonly Took[], runs: number, of: keyof Took) => median(found.map((took) => took[of])) / runs
  return new Map(
    runners.map(({ name, runs, found }) => [name, { cpu_us: middle(found, runs, 'cpu_us'), wall_us: middle(found, runs, 'wall_us') }]),
  )
}

/** Warms up, and finds how many runs fill a turn. */
async function runsPerTurn(work: AsyncWork): Promise<number> {
  let count = 1
  let spent_us = 0
  for (let spent_all_us = 0; spent_all_us < 5 * TURN_US; spent_all_us += spent_us) {
    if (spent_us < TURN_US / 2) count *= 2
    spent_us = (await time(work, count)).cpu_us
  }
  return Math.max(1, Math.round((count * TURN_US) / spent_us))
}

let sink = 0

async function time(work: AsyncWork, runs: number): Promise<Took> {
  const begin_ms = performance.now()
  const before = process.threadCpuUsage()
  for (let run = 0; run < runs; run++) {
    const found = work()
    // Only what answers later is waited for: a turn of the queue would cost more than a check.
    sink += typeof found === 'number' ? found : await found
  }
  const { user, system } = process.threadCpuUsage(before)
  if (!Number.isFinite(sink)) throw new Error('the work gave no number')
  return { cpu_us: user + system, wall_us: (performance.now() - begin_ms) * 1000 }
}
