import { Hono, type Context } from 'hono'
import type { ObservedCalls } from '../service/calls/observed.ts'
import { once } from '../pure/once.ts'
import { problem, type Problem } from '../service/problems.ts'
import { a2aRoutes } from './a2a/routes.ts'
import { badgeRoutes } from './badge.ts'
import { catalogueRoutes } from './catalogue.ts'
import { creditRoutes } from './credits/routes.ts'
import type { AppDeps } from './deps.ts'
import { discoveryRoutes } from './discovery/routes.ts'
import { healthRoutes } from './health.ts'
import type { Env } from './http/env.ts'
import { bodyOfRequest } from './http/fetch-body.ts'
import { unwrapInput } from './http/json-body.ts'
import type { Handlers } from './http/node-server.ts'
import { wantsPage } from './http/wants-page.ts'
import { corsPreflight, problemReply, response, type Reply } from './http/reply.ts'
import { insuranceRoutes } from './insurance/routes.ts'
import { invoiceRoutes } from './invoices/routes.ts'
import { logRoutes } from './log/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { HTML_TYPE, PAGE_HEADERS } from './pages/layout.ts'
import { missingPage } from './pages/missing-page.ts'
import { pageRoutes } from './pages/routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { preflightRoutes } from './preflight/routes.ts'
import { createPreflightDesk } from './preflight/serve.ts'
import { restCall, unwrapReceipt, type CallExchange, type RestCalls, type Unwrap } from './rest.ts'

/** What all routes share with the call route, which is served without them. */
export interface Shared extends Pick<Handlers, 'headers' | 'callerAddress' | 'fault'> {
  calls: Pick<ObservedCalls, 'on' | 'turn'>
  rest: RestCalls
}

/** Every surface over one set of dependencies. */
export function createRoutes(deps: AppDeps, { calls, rest, headers, callerAddress, fault }: Shared): Hono<Env> {
  const http = new Hono<Env>()
  commonRoutes(http, deps, headers, fault)
  const caller = (context: Context<Env>) => callerAddress(context.env.peer, context.req.header('x-forwarded-for') ?? null)
  const serve = async (context: Context<Env>, tool: string, unwrap: Unwrap) =>
    response(await restCall(rest, exchangeOf(context, tool, caller(context)), unwrap))
  http.post('/v1/tools/:tool/call', (context) => serve(context, context.req.param('tool'), unwrapInput))
  http.post('/v1/receipt/verify', (context) => serve(context, 'receipt-verify', unwrapReceipt))
  catalogueRoutes(http, deps, caller)
  healthRoutes(http, deps)
  badgeRoutes(http, deps.call.catalogue)
  paymentRoutes(http, deps, rest.words)
  invoiceRoutes(http, deps, rest.words, caller)
  creditRoutes(http, deps, caller)
  pageRoutes(http, deps)
  discoveryRoutes(http, deps)
  const desk = createPreflightDesk(deps, (address) => calls.turn('reads', address))
  preflightRoutes(http, deps, desk, caller)
  insuranceRoutes(http, deps, caller)
  logRoutes(http, deps, caller)
  mcpRoutes(http, deps, { serve: calls.on('mcp'), turn: calls.turn }, caller, desk)
  a2aRoutes(http, deps, { serve: calls.on('a2a'), turn: calls.turn }, caller)
  return http
}

/** What holds for every route: headers, CORS, and problems where nothing matches. */
function commonRoutes(
  http: Hono<Env>,
  deps: AppDeps,
  everywhere: Readonly<Record<string, string>>,
  fault: (error: unknown, request_id: string) => Reply,
): void {
  http.use(async (context, next) => {
    await next()
    const { headers } = context.res
    for (const [name, value] of Object.entries(everywhere)) if (!headers.has(name)) headers.set(name, value)
    headers.set('x-request-id', context.env.request_id)
  })
  http.options('*', () => response(corsPreflight('GET, POST, OPTIONS')))
  const page = once(() => missingPage(deps))
  http.notFound((context) => {
    const refuse = (found: Problem, more: Record<string, string>) =>
      response(problemReply(found, context.env.request_id, deps.origins, more))
    const allowed = ['GET', 'POST'].filter((method) => takes(http, method, context.req.path))
    // Whatever takes GET takes HEAD.
    const method = context.req.method === 'HEAD' ? 'GET' : context.req.method
    if (allowed.length > 0 && !allowed.includes(method)) {
      const found = problem('METHOD_NOT_ALLOWED', `This address takes ${allowed.join(' and ')}.`)
      const heads = allowed.includes('GET') ? ['HEAD'] : []
      return refuse(found, { allow: [...allowed, ...heads, 'OPTIONS'].join(', ') })
    }
    const found = problem('NOT_FOUND', 'Start at / or at /v1/tools.')
    if (method !== 'GET') return refuse(found, {})
    return wantsPage(context) ? context.body(page(), 404, MISSING_HEADERS) : refuse(found, VARY)
  })
  http.onError((error, context) => response(fault(error, context.env.request_id)))
}

const VARY = { vary: 'Accept' }
const MISSING_HEADERS = { ...PAGE_HEADERS, ...VARY, 'content-type': HTML_TYPE, 'cache-control': 'no-store' }

/** Whether a route beside the one that holds everywhere serves this method. */
function takes(http: Hono<Env>, method: string, path: string): boolean {
  return http.router.match(method, path)[0].length > 1
}

function exchangeOf(context: Context<Env>, tool: string, address: string): CallExchange {
  const header = (name: string) => context.req.header(name) ?? null
  return { tool, address, header, request_id: context.env.request_id, body: bodyOfRequest(context) }
}
