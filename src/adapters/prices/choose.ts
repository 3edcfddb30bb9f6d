import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Prices } from '../../ports/prices.ts'
import { once } from '../../pure/once.ts'

/** Public interfaces in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. Either is loaded at its first use. */
export function choosePrices(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): Prices {
  const chosen = once(async () =>
    mode === 'live' ? (await import('./public-apis.ts')).publicPrices({ clock }) : (await import('./samples.ts')).samplePrices(clock),
  )
  return {
    source: mode === 'live' ? 'public_api' : 'fixed_sample',
    spot: async (asset_id) => (await chosen()).spot(asset_id),
    ready: async () => (await chosen()).ready(),
  }
}
