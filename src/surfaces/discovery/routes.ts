import type { Context, Hono } from 'hono'
import { openApiDocument } from '../openapi.ts'
import { llmsText } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { type Env, wantsPage } from '../http/reply.ts'
import { once } from '../../pure/once.ts'
import { JSON_TYPE, sendDocument, storedDocument, storedJson, type StoredDocument } from '../http/document.ts'
import {
  runExamples,
  type Examples,
  PROBLEM_CODES,
  problemEntry,
  x402Errors,
  x402Manifest,
  x402Schema,
  mcpManifest,
  serverJson,
  didDocument,
  receiptSpec,
  homeIndex,
  homePage,
  llmsFullText,
} from './documents.ts'
import { HTML_TYPE, PAGE_HEADERS, problemPage, problemsPage } from './problem-pages.ts'
import { pricedPage, storedPage } from '../pages/priced.ts'
import type { PricesNow } from '../../service/payments/price-book.ts'
import { pricesNow } from '../health.ts'

const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Discovery documents. Each is derived from the registry on first use. */
export function discoveryRoutes(app: Hono<Env>, deps: AppDeps): void {
  const examples = once(() => runExamples(deps.call.catalogue.tools, deps.call.sources))
  for (const [path, build] of Object.entries(documents(deps, examples))) {
    const document = once(build)
    app.get(path, async (context) => sendDocument(context, await document()))
  }
  const manifest = livePriced(deps, (prices) => x402Manifest(deps, prices))
  for (const path of ['/.well-known/x402.json', '/.well-known/x402'])
    app.get(path, async (context) => sendDocument(context, await manifest()))
  const index = once(() => storedDocument(JSON_TYPE, JSON.stringify(homeIndex(deps)), VARY))
  const home = pricedPage(deps, (prices) => homePage(deps, prices), VARY)
  app.get('/', async (context) => {
    if (!wantsPage(context)) return sendDocument(context, index())
    const query = context.req.query('q') ?? ''
    return sendDocument(context, query === '' ? await home() : storedPage(await homePage(deps, await pricesNow(deps), query), VARY))
  })
  const list = negotiated(
    () => x402Errors(deps),
    () => problemsPage(deps, PROBLEM_CODES),
  )
  app.get('/problems', (context) => sendDocument(context, list(context)))
  const pages = new Map<string, Negotiated>(
    PROBLEM_CODES.map((code) => [
      code,
      negotiated(
        () => problemEntry(code, deps.origins.api_url),
        () => problemPage(deps, code),
      ),
    ]),
  )
  app.get('/problems/:code', (context) => {
    const page = pages.get(context.req.param('code'))
    return page === undefined ? context.notFound() : sendDocument(context, page(context))
  })
}

/** Document with prices: rebuilt when they change, and not cached by clients. */
function livePriced(deps: AppDeps, build: (prices: PricesNow | null) => unknown): () => Promise<StoredDocument> {
  let made: { prices: PricesNow | null; document: StoredDocument } | null = null
  return async () => {
    const prices = await pricesNow(deps)
    if (made === null || made.prices !== prices) {
      made = { prices, document: storedDocument(JSON_TYPE, JSON.stringify(build(prices)), { 'cache-control': 'no-cache' }) }
    }
    return made.document
  }
}

/** Documents without prices, by path. */
function documents(deps: AppDeps, examples: () => Promise<Examples>): Record<string, () => StoredDocument | Promise<StoredDocument>> {
  const { tools } = deps.call.catalogue
  const openApi = async () => openApiDocument({ deployment: deps, tools, schemas: deps.schemas, examples: await examples() })
  return {
    '/openapi.json': async () => storedJson(await openApi()),
    '/llms.txt': () => storedDocument(TEXT_TYPE, llmsText(deps, tools)),
    '/llms-full.txt': async () => storedDocument(TEXT_TYPE, llmsFullText(deps, await examples())),
    '/robots.txt': () => storedDocument(TEXT_TYPE, 'User-agent: *\nAllow: /\n'),
    '/.well-known/mcp.json': () => storedJson(mcpManifest(deps)),
    '/.well-known/server.json': () => storedJson(serverJson(deps)),
    '/.well-known/x402-errors.json': () => storedJson(x402Errors(deps)),
    '/.well-known/x402-schema.json': () => storedDocument('application/schema+json; charset=utf-8', JSON.stringify(x402Schema(deps))),
    '/.well-known/did.json': () => storedDocument('application/did+json; charset=utf-8', JSON.stringify(didDocument(deps))),
    '/.well-known/xdr-1.json': () => storedJson(receiptSpec(deps)),
  }
}

type Negotiated = (context: Context) => StoredDocument

const VARY = { vary: 'Accept' }

/** One resource in two forms: HTML if the client prefers it, otherwise JSON. */
function negotiated(value: () => unknown, page: () => string): Negotiated {
  const json = once(() => storedDocument(JSON_TYPE, JSON.stringify(value()), VARY))
  const html = once(() => storedDocument(HTML_TYPE, page(), { ...PAGE_HEADERS, ...VARY }))
  return (context) => (wantsPage(context) ? html() : json())
}
