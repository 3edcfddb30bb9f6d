import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import { samplePrices } from '../../src/adapters/prices/choose.ts'
import { sampleRegistrations } from '../../src/adapters/public-https/choose.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { bundledScreening } from '../../src/pure/checks/ofac.ts'
import { noNameScreening } from '../../src/service/catalogue/names.ts'
import { itemCatalogue } from '../../src/service/catalogue/decode.ts'
import { publishedSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { assuredInMemory } from './assured-memory.ts'
import { fixedInvoices } from './invoices-memory.ts'
import { disputesInMemory } from './dispute-memory.ts'
import { fixedRegistrar } from './fixed-registrar.ts'
import { insuranceInMemory } from './insurance-memory.ts'
import { fixedUnderwriters } from './underwriters.ts'
import { fixedChain, fixedTransfers } from './fixed-chain.ts'
import type { Sources, Tool } from '../../src/service/catalogue/define.ts'
import type { Prices } from '../../src/ports/prices.ts'
import { clockAt } from './clock-at.ts'

/** Price sources that have agreed on this price of EURC just now; without one, no source answers. */
export function euroPrices(price_usd: () => string | undefined): Prices {
  return {
    source: 'public_api',
    spot(asset_id) {
      const price = asset_id === 'euro-coin' ? price_usd() : undefined
      if (price === undefined) return Promise.resolve({ kind: 'down', reason: 'too_few_sources' })
      return Promise.resolve({ kind: 'priced', price_usd: price, as_of_ms: Date.now(), quotes: [], cached: false })
    },
    ready: () => Promise.resolve(true),
  }
}

/** 21 November 2026, noon UTC: what a clock shows in every test that runs tools by themselves. */
const FIXED_NOW_MS = Date.UTC(2026, 10, 21, 12)

/** What tools may reach for: a clock that stands still, the real item checks of these tools, and what a sandbox has. */
export function fixedSources(tools: readonly Tool[]): Sources {
  const clock = clockAt(() => FIXED_NOW_MS)
  return {
    clock,
    catalogue: itemCatalogue(() => tools),
    crypto: nobleCrypto,
    chain: fixedChain(),
    transfers: fixedTransfers(),
    prices: samplePrices(clock),
    registrations: sampleRegistrations(clock),
    screening: { on_stale_list: 'report', active: bundledScreening },
    names: noNameScreening,
    // A secret of 32 bytes, all 7.
    derive: createDerivation(new Uint8Array(32).fill(7)),
    assured: assuredInMemory(),
    invoices: fixedInvoices(clock),
    disputes: disputesInMemory(),
    insurance: insuranceInMemory(fixedUnderwriters()),
    schemas: publishedSchemas(() => tools),
    registrar: fixedRegistrar(),
  }
}
