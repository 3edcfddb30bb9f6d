import type { Clock } from '../../ports/clock.ts'
import type { Prices } from '../../ports/prices.ts'
import { publicPrices } from './public-apis.ts'
import { samplePrices } from './samples.ts'

/** Public interfaces in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. */
export function choosePrices(mode: 'sandbox' | 'live', clock: Clock): Prices {
  return mode === 'live' ? publicPrices({ clock }) : samplePrices(clock)
}
