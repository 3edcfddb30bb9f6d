import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Prices } from '../../ports/prices.ts'
import { once } from '../../pure/once.ts'

/** Public interfaces in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. Either is loaded at its first use. */
export function choosePrices(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): Prices {
  const chosen = once(async () => (mode === 'live' ? (await import('./public-apis.ts')).publicPrices({ clock }) : samplePrices(clock)))
  return {
    source: mode === 'live' ? 'public_api' : 'fixed_sample',
    spot: async (asset_id) => (await chosen()).spot(asset_id),
    ready: async () => (await chosen()).ready(),
  }
}

/** Made up; what is not here costs one dollar. */
const PRICES_USD: Readonly<Record<string, string>> = {
  'avalanche-2': '20',
  binancecoin: '800',
  bitcoin: '80000',
  'bitcoin-cash': '500',
  chainlink: '16',
  dogecoin: '0.125',
  ethereum: '2500',
  'euro-coin': '1.25',
  litecoin: '80',
  pepe: '0.000004',
  ripple: '2',
  'shiba-inu': '0.000008',
  solana: '125',
}

/** Prices of a sandbox: fixed samples that do not describe real prices. */
export function samplePrices(clock: Clock): Prices {
  return {
    source: 'fixed_sample',
    spot(asset_id) {
      const price_usd = PRICES_USD[asset_id] ?? '1'
      const as_of_ms = clock.now_ms()
      return Promise.resolve({
        kind: 'priced',
        price_usd,
        as_of_ms,
        quotes: [{ name: 'fixed_sample', price_usd, as_of_ms }],
        cached: false,
      })
    },
    ready: () => Promise.resolve(true),
  }
}
