/** Times small synchronous work by the processor time of this thread, so that neighbours on the machine count for less. */
import { median } from './report.ts'

/** Work over all inputs; returns a number that depends on each of them, so that no engine may leave it out. */
export type Work = () => number

const TURN_US = 60_000
const TURNS = 15

/** Median microseconds of one run of each work. All of them take turns, so that a change of the machine's mood meets all of them. */
export function race<Name extends string>(works: Readonly<Record<Name, Work>>): Record<Name, number> {
  const names = Object.keys(works) as Name[]
  const runs = new Map(names.map((name) => [name, runsPerTurn(works[name])]))
  const found = new Map(names.map((name): [Name, number[]] => [name, []]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const name of names) {
      const count = runs.get(name) ?? 1
      found.get(name)?.push(time(works[name], count) / count)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(found.get(name) ?? [])])) as Record<Name, number>
}

/** Warms up, and finds how many runs fill a turn. */
function runsPerTurn(work: Work): number {
  let count = 1
  let spent_us = 0
  for (let spent_all_us = 0; spent_all_us < 5 * TURN_US; spent_all_us += spent_us) {
    if (spent_us < TURN_US / 2) count *= 2
    spent_us = time(work, count)
  }
  return Math.max(1, Math.round((count * TURN_US) / spent_us))
}

let sink = 0

function time(work: Work, runs: number): number {
  const before = process.threadCpuUsage()
  for (let run = 0; run < runs; run++) sink += work()
  const { user, system } = process.threadCpuUsage(before)
  if (!Number.isFinite(sink)) throw new Error('the work gave no number')
  return user + system
}
