import type { Context, Hono } from 'hono'
import { once } from '../../pure/once.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import {
  CHANNEL_PROBLEMS,
  CREDIT_PROBLEMS,
  INVOICE_PROBLEMS,
  PAYMENT_PROBLEMS,
  SETTLEMENT_PROBLEMS,
  WEBHOOK_PROBLEMS,
} from '../../service/payment-problems.ts'
import { LOG_PROBLEMS, PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { pricesNow } from '../health.ts'
import { JSON_TYPE, sendDocument, storedDocument, storedJson, type StoredDocument } from '../http/document.ts'
import { wantsPage, type Env } from '../http/reply.ts'
import { openApiDocument } from '../openapi.ts'
import { homePage } from '../pages/home.ts'
import { html } from '../pages/html.ts'
import { HTML_TYPE, layout, PAGE_HEADERS } from '../pages/layout.ts'
import { pricedDocument, storedPage } from '../pages/priced.ts'
import { discoveryDocuments, runExamples } from './documents.ts'

/** Discovery documents, the front page and the problems. */
export function discoveryRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { tools } = deps.call.catalogue
  const examples = once(() => runExamples(tools, deps.call.sources))
  const { '/': index, ...others } = discoveryDocuments(deps, examples)
  const openApi = async () => openApiDocument({ deployment: deps, tools, schemas: deps.schemas, examples: await examples() })
  const documents = {
    ...others,
    '/openapi.json': once(async () => storedJson(await openApi())),
    '/.well-known/x402-errors.json': once(() => storedJson(x402Errors(deps))),
  }
  for (const [path, document] of Object.entries(documents)) app.get(path, async (context) => sendDocument(context, await document()))
  const home = pricedDocument(deps, async (prices) => storedPage(await homePage(deps, prices), VARY))
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

type Negotiated = (context: Context) => StoredDocument

const VARY = { vary: 'Accept' }

/** One resource in two forms: HTML if the client prefers it, otherwise JSON. */
function negotiated(value: () => unknown, page: () => string): Negotiated {
  const document = once(() => storedDocument(JSON_TYPE, JSON.stringify(value()), VARY))
  const shown = once(() => storedDocument(HTML_TYPE, page(), { ...PAGE_HEADERS, ...VARY }))
  return (context) => (wantsPage(context) ? shown() : document())
}

const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]

function problemEntry(code: ProblemCode, api_url: string) {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  return { code, http_status: status, title, description, retryable, phase, fault, type: `${api_url}/problems/${code}` }
}

/** `/.well-known/x402-errors.json`: all problems of the service. */
function x402Errors(deps: AppDeps) {
  const { api_url } = deps.origins
  return {
    description:
      'Bodies are RFC 9457 problems (application/problem+json); distinguish them by code. `fault` is the party that can correct it: caller, service or source.',
    errors: PROBLEM_CODES.map((code) => problemEntry(code, api_url)),
  }
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
