import type { PricesNow } from '../../service/payments/price-book.ts'
import type { AppDeps } from '../deps.ts'
import { storedDocument, type StoredDocument } from '../http/document.ts'
import { pricesNow } from '../health.ts'
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts'

/** Headers of pages. Their asset links contain the asset version, so browsers must revalidate a cached page on each visit. */
const LIVE_HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }

/** A page as it leaves. */
export function storedPage(text: string, more: Record<string, string> = {}): StoredDocument {
  return storedDocument(HTML_TYPE, text, { ...LIVE_HEADERS, ...more })
}

/** Cached document that shows prices; it is rebuilt when the prices change. */
export function pricedDocument(
  deps: AppDeps,
  build: (prices: PricesNow | null) => StoredDocument | Promise<StoredDocument>,
): () => Promise<StoredDocument> {
  let made: { prices: PricesNow | null; document: StoredDocument } | null = null
  return async () => {
    const prices = await pricesNow(deps)
    if (made === null || made.prices !== prices) made = { prices, document: await build(prices) }
    return made.document
  }
}
