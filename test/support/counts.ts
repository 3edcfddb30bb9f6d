/** Whether this run is the full suite (`npm run test:full`); `npm test` runs the same properties with fewer cases. */
const FULL = process.env['TEST_FULL'] === '1'

/** One seed for all properties, so that a failure can be repeated as it stands. */
export const SEED = 20_261_121

/** The number of cases for a property: few in `npm test`, many in the full suite. */
export function runs(reduced: number, full: number): number {
  return FULL ? full : reduced
}
