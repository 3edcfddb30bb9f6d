/** Whether this run is the full suite (`npm run test:full`); `npm test` runs the same properties with fewer cases. */
const FULL = process.env['TEST_FULL'] === '1'

/** One seed for all properties, so that a failure can be repeated as it stands. */
export const SEED = 20_261_121

/** The number of cases for a property: few in `npm test`, many in the full suite. */
export function runs(reduced: number, full: number): number {
  return FULL ? full : reduced
}

/** The number of repetitions of a test that kills a process: TEST_REPEATS for a long run of one file, else 1. */
export function repeats(): number {
  const set = Number(process.env['TEST_REPEATS'] ?? '')
  return Number.isInteger(set) && set > 0 ? set : 1
}
