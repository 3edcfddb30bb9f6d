import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { itemCatalogue } from '../../src/service/catalogue/items.ts'
import type { Sources, Tool } from '../../src/service/catalogue/define.ts'

/** 21 November 2026, noon UTC: what a clock shows in every test that runs tools by themselves. */
const FIXED_NOW_MS = Date.UTC(2026, 10, 21, 12)

/** What tools may reach for: a clock that stands still, and the real item checks of these tools. */
export function fixedSources(tools: readonly Tool[]): Sources {
  return { clock: { now_ms: () => FIXED_NOW_MS }, catalogue: itemCatalogue(() => tools), crypto: nobleCrypto }
}
