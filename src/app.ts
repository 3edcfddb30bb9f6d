import { Hono, type Context } from 'hono'
import type { Log } from './ports/log.ts'
import { callerAddress, type TrustedProxies } from './service/clients.ts'
import { observedCalls } from './service/calls/observed.ts'
import { modeWord } from './service/catalogue/text.ts'
import { limits } from './service/limits.ts'
import { problem } from './service/problems.ts'
import { badgeRoutes } from './surfaces/badge.ts'
import { catalogueRoutes } from './surfaces/catalogue.ts'
import type { AppDeps } from './surfaces/deps.ts'
import { discoveryRoutes } from './surfaces/discovery/routes.ts'
import { healthRoutes } from './surfaces/health.ts'
import type { Env } from './surfaces/http/env.ts'
import { bodyOfRequest } from './surfaces/http/fetch-body.ts'
import type { Handlers } from './surfaces/http/node-server.ts'
import { commonHeaders, corsPreflight, problemReply, response, type Reply } from './surfaces/http/reply.ts'
import { insuranceRoutes } from './surfaces/insurance.ts'
import { mcpRoutes } from './surfaces/mcp/routes.ts'
import { unwrapInput } from './surfaces/http/json-body.ts'
import { restWords } from './surfaces/payment.ts'
import { invoiceRoutes } from './surfaces/invoices/routes.ts'
import { paymentRoutes } from './surfaces/payment-routes.ts'
import { pageRoutes } from './surfaces/pages/routes.ts'
import { preflightRoutes } from './surfaces/preflight/routes.ts'
import { createPreflightDesk } from './surfaces/preflight/serve.ts'
import { restCall, unwrapReceipt, type CallExchange, type RestCalls, type Unwrap } from './surfaces/rest.ts'

export interface App extends Handlers {
  readonly deps: AppDeps
}

/** The application: every surface over one set of dependencies. It opens no port and reads no environment. */
export function createApp(given: Omit<AppDeps, 'inFlight'>, proxies: TrustedProxies, log: Log): App {
  const calls = observedCalls(given.call, given.telemetry, log)
  const deps: AppDeps = { ...given, inFlight: calls.inFlight }
  const fault = (error: unknown, request_id: string): Reply => {
    log.error({ request_id, error: error instanceof Error ? error.stack : String(error) }, 'a request failed')
    return problemReply(problem('INTERNAL_ERROR', 'The fault is ours and has been noted.'), request_id, deps.origins)
  }
  const http = new Hono<Env>()
  const headers = commonHeaders(modeWord(deps))
  commonRoutes(http, deps, headers, fault)
  const caller = (context: Context<Env>) => callerAddress(context.env.peer, context.req.header('x-forwarded-for') ?? null, proxies)
  const rest: RestCalls = { serve: calls.serve, origins: deps.origins, words: restWords(deps) }
  const serve = async (context: Context<Env>, tool: string, unwrap: Unwrap) =>
    response(await restCall(rest, exchangeOf(context, tool, caller(context)), unwrap))
  http.post('/v1/tools/:tool/call', (context) => serve(context, context.req.param('tool'), unwrapInput))
  http.post('/v1/receipt/verify', (context) => serve(context, 'receipt-verify', unwrapReceipt))
  catalogueRoutes(http, deps)
  healthRoutes(http, deps)
  badgeRoutes(http)
  paymentRoutes(http, deps, rest.words)
  invoiceRoutes(http, deps, rest.words, caller)
  pageRoutes(http, deps)
  discoveryRoutes(http, deps)
  const desk = createPreflightDesk(deps)
  preflightRoutes(http, deps, desk, caller)
  insuranceRoutes(http, deps, caller)
  mcpRoutes(http, deps, calls.serve, caller, desk)
  return {
    deps,
    headers,
    fetch: (request, env) => http.fetch(request, env),
    call: (exchange) => restCall(rest, exchange, unwrapInput),
    callerAddress: (peer, forwarded) => callerAddress(peer, forwarded, proxies),
    requestId: (text) => (text !== null && /^[\w-]+$/.test(text) && text.length <= limits.request_id_chars ? text : crypto.randomUUID()),
    fault,
  }
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
  http.notFound((context) => {
    const allowed = ['GET', 'POST'].filter((method) => takes(http, method, context.req.path))
    const wrong = allowed.length > 0 && !allowed.includes(context.req.method)
    const found = wrong
      ? problem('METHOD_NOT_ALLOWED', `This address takes ${allowed.join(' and ')}.`)
      : problem('NOT_FOUND', 'Start at / or at /v1/tools.')
    return response(problemReply(found, context.env.request_id, deps.origins, wrong ? { allow: [...allowed, 'OPTIONS'].join(', ') } : {}))
  })
  http.onError((error, context) => response(fault(error, context.env.request_id)))
}

/** Whether a route beside the one that holds everywhere serves this method. */
function takes(http: Hono<Env>, method: string, path: string): boolean {
  return http.router.match(method, path)[0].length > 1
}

function exchangeOf(context: Context<Env>, tool: string, address: string): CallExchange {
  const header = (name: string) => context.req.header(name) ?? null
  return { tool, address, header, request_id: context.env.request_id, body: bodyOfRequest(context.req.raw) }
}
