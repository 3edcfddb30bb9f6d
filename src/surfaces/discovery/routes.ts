import type { Context, Hono } from 'hono'
import { once } from '../../pure/once.ts'
import { llmsText, modeMark } from '../../service/catalogue/text.ts'
import {
  CHANNEL_PROBLEMS,
  CREDIT_PROBLEMS,
  INVOICE_PROBLEMS,
  PAYMENT_PROBLEMS,
  SETTLEMENT_PROBLEMS,
  WEBHOOK_PROBLEMS,
} from '../../service/payment-problems.ts'
import type { PricesNow } from '../../service/payments/price-book.ts'
import { LOG_PROBLEMS, PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { pricesNow } from '../health.ts'
import { JSON_TYPE, sendDocument, storedDocument, storedJson, type StoredDocument } from '../http/document.ts'
import { wantsPage, type Env } from '../http/reply.ts'
import { openApiDocument } from '../openapi.ts'
import { html } from '../pages/html.ts'
import { HTML_TYPE, layout, PAGE_HEADERS } from '../pages/layout.ts'
import { pricedPage, storedPage } from '../pages/priced.ts'
import {
  didDocument,
  homeIndex,
  homePage,
  llmsFullText,
  mcpManifest,
  PROBLEM_CODES,
  problemEntry,
  receiptSpec,
  runExamples,
  serverJson,
  x402Errors,
  x402Manifest,
  x402Schema,
  type Examples,
} from './documents.ts'

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
  const document = once(() => storedDocument(JSON_TYPE, JSON.stringify(value()), VARY))
  const shown = once(() => storedDocument(HTML_TYPE, page(), { ...PAGE_HEADERS, ...VARY }))
  return (context) => (wantsPage(context) ? shown() : document())
}

/** `/problems`: every error code, by HTTP status. */
function problemsPage(deps: AppDeps, codes: readonly ProblemCode[]): string {
  const statuses = Map.groupBy(codes, (code) => PROBLEMS[code].status)
  const main = html`<div class="lead">
      <h1>Problems</h1>
      <p>
        Every error is an RFC 9457 document with one of these stable codes. See
        <a href="/docs/errors">how to handle errors</a>.
      </p>
    </div>
    ${[...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(
        ([status, list]) => html`<section aria-labelledby="status-${status}">
          <h2 id="status-${status}">HTTP ${status}</h2>
          <dl class="links">
            ${list.map(
              (code) => html`<div>
                <dt><a href="/problems/${code}"><code>${code}</code></a></dt>
                <dd>${PROBLEMS[code].title}</dd>
              </div>`,
            )}
          </dl>
        </section>`,
      )}`
  return layout({ title: 'Problems · assay', mark: modeMark(deps), main })
}

const CAUSES = { caller: 'The request', service: 'This service', source: 'A data source that the tool reads' } as const

/** Guides that say what to do, with the problems that they are about. */
const GUIDES = [
  {
    about: { ...PAYMENT_PROBLEMS, ...SETTLEMENT_PROBLEMS, ...CHANNEL_PROBLEMS, ...CREDIT_PROBLEMS },
    path: '/docs/payment',
    title: 'How to pay for a call',
  },
  { about: INVOICE_PROBLEMS, path: '/docs/invoices', title: 'How invoices work' },
  { about: WEBHOOK_PROBLEMS, path: '/docs/webhooks', title: 'How webhooks work' },
  { about: LOG_PROBLEMS, path: '/docs/receipts', title: 'How receipts work' },
  { about: {}, path: '/docs/errors', title: 'How to handle errors' },
] as const

/** `/problems/{code}`: what it means, whose fault it is, what to do. */
function problemPage(deps: AppDeps, code: ProblemCode): string {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  const guide = GUIDES.find(({ about }) => Object.hasOwn(about, code)) ?? GUIDES[4]
  const main = html`<div class="lead">
      <p class="crumb"><a href="/problems">Problems</a> · HTTP ${status}</p>
      <h1>${title}</h1>
      <p>${description}</p>
      <p><a href=${guide.path}>${guide.title}</a></p>
    </div>
    <dl class="terms">
      <div><dt>Code</dt><dd><code>${code}</code></dd></div>
      <div><dt>Cause</dt><dd>${CAUSES[fault]}</dd></div>
      <div><dt>Phase</dt><dd>${phase}</dd></div>
      <div><dt>Retry</dt><dd>${retryable ? 'The same request may succeed later' : 'No: the same request will fail again'}</dd></div>
    </dl>`
  return layout({ title: `${code}: ${title}`, mark: modeMark(deps), main })
}
