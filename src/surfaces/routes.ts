import { Hono, type Context } from 'hono'
import { markOf, type BadgeVerdict, type HeadlineTone } from '../pure/headline.ts'
import { once } from '../pure/once.ts'
import { SEAL_UNITS, sealPaths } from '../pure/receipts/seal.ts'
import type { InstrumentedCalls } from '../service/calls/instrumented-call.ts'
import { badgesOf, CHECK_HEADLINES } from '../service/catalogue/headlines.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { problem, type Problem } from '../service/problems.ts'
import { a2aRoutes } from './a2a/routes.ts'
import type { AppDeps } from './deps.ts'
import { discoveryRoutes } from './discovery/routes.ts'
import { ENDPOINT_GROUPS } from './endpoint-groups.ts'
import { bodyOfRequest, unwrapInput } from './http/body.ts'
import type { Handlers } from './http/node-server.ts'
import { corsPreflight, problemReply, response, wantsPage, type Env, type Reply } from './http/reply.ts'
import { requestIdHeaders, type RequestIds } from './http/request-ids.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { HTML_TYPE, PAGE_HEADERS } from './pages/layout.ts'
import { missingPage, pageRoutes } from './pages/routes.ts'
import { createPreflightService } from './preflight/serve.ts'
import { restCall, unwrapReceipt, type CallExchange, type RestCalls, type UnwrapInput } from './rest.ts'

/** Dependencies that all routes share with the call route, which bypasses hono. */
export interface SharedWithCallRoute extends Pick<Handlers, 'headers' | 'callerAddress' | 'fault'> {
  calls: Pick<InstrumentedCalls, 'on' | 'turn'>
  rest: RestCalls
}

/** Returns the routes of all surfaces. */
export function createRoutes(deps: AppDeps, { calls, rest, headers, callerAddress, fault }: SharedWithCallRoute): Hono<Env> {
  const http = new Hono<Env>()
  commonRoutes(http, deps, headers, fault)
  const caller = (context: Context<Env>) => callerAddress(context.env.peer, context.req.header('x-forwarded-for') ?? null)
  const serve = async (context: Context<Env>, tool: string, unwrap: UnwrapInput) =>
    response(await restCall(rest, exchangeOf(context, tool, caller(context)), unwrap))
  http.post('/v1/tools/:tool/call', (context) => serve(context, context.req.param('tool'), unwrapInput))
  http.post('/v1/receipt/verify', (context) => serve(context, 'receipt-verify', unwrapReceipt))
  const desk = createPreflightService(deps, (address) => calls.turn('reads', address))
  for (const room of ENDPOINT_GROUPS) room.mount(http, { deps, words: rest.words, preflight: desk, caller })
  badgeRoutes(http, deps.call.catalogue)
  pageRoutes(http, deps)
  discoveryRoutes(http, deps)
  mcpRoutes(http, deps, { serve: calls.on('mcp'), turn: calls.turn }, caller, desk)
  a2aRoutes(http, deps, { serve: calls.on('a2a'), render: rest.render, turn: calls.turn }, caller)
  return http
}

/** Headers, CORS and 404/405 answers for every route. */
function commonRoutes(
  http: Hono<Env>,
  deps: AppDeps,
  everywhere: Readonly<Record<string, string>>,
  fault: (error: unknown, ids: RequestIds) => Reply,
): void {
  http.use(async (context, next) => {
    await next()
    const { headers } = context.res
    // Assets are many and small, and no program reads their headers.
    const isAsset = context.req.path.startsWith('/assets/')
    for (const [name, value] of Object.entries(everywhere)) {
      if (!headers.has(name) && !(isAsset && /^access-control-|^x-assay-/.test(name))) headers.set(name, value)
    }
    if (!isAsset) for (const [name, value] of Object.entries(requestIdHeaders(context.env))) headers.set(name, value)
  })
  http.options('*', () => response(corsPreflight('GET, POST, OPTIONS')))
  const page = once(() => missingPage(deps))
  http.notFound((context) => {
    const refuse = (found: Problem, more: Record<string, string>) =>
      response(problemReply(found, context.env.request_id, deps.origins, more))
    const allowed = ['GET', 'POST'].filter((method) => servesMethod(http, method, context.req.path))
    // Each route that accepts GET accepts HEAD.
    const method = context.req.method === 'HEAD' ? 'GET' : context.req.method
    if (allowed.length > 0 && !allowed.includes(method)) {
      const isTool = method === 'POST' && servesMethod(http, 'POST', `${context.req.path}/call`)
      const hint = isTool ? ' To call the tool, POST to /v1/tools/{tool}/call.' : ''
      const found = problem('METHOD_NOT_ALLOWED', `This address accepts ${allowed.join(' and ')} only.${hint}`)
      const heads = allowed.includes('GET') ? ['HEAD'] : []
      return refuse(found, { allow: [...allowed, ...heads, 'OPTIONS'].join(', ') })
    }
    const found = problem('NOT_FOUND', 'Nothing is at this address. See / or /v1/tools for what exists.')
    if (method !== 'GET') return refuse(found, {})
    return wantsPage(context) ? context.body(page(), 404, MISSING_HEADERS) : refuse(found, VARY)
  })
  http.onError((error, context) => response(fault(error, context.env)))
}

const VARY = { vary: 'Accept' }
const MISSING_HEADERS = { ...PAGE_HEADERS, ...VARY, 'content-type': HTML_TYPE, 'cache-control': 'no-store' }

/** Returns true if a route other than the common middleware serves this method. */
function servesMethod(http: Hono<Env>, method: string, path: string): boolean {
  return http.router.match(method, path)[0].length > 1
}

function exchangeOf(context: Context<Env>, tool: string, address: string): CallExchange {
  const header = (name: string) => context.req.header(name) ?? null
  const detail = context.req.query('detail')
  return { tool, address, header, detail, request_id: context.env.request_id, body: bodyOfRequest(context) }
}

const HEIGHT = 28
const CHARACTER = 7

/** Shape and colour of each verdict; the word is always shown too, so colour alone never carries the meaning. */
const MARKS: Record<BadgeVerdict, { colour: string; shape: string }> = {
  valid: {
    colour: '#17693E',
    shape: '<circle r="6" fill="currentColor"/><path d="M-3 0l2 2.5 4-5" fill="none" stroke="#fff" stroke-width="1.5"/>',
  },
  unverifiable: {
    colour: '#7A5A00',
    shape: '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M0-6a6 6 0 0 1 0 12z" fill="currentColor"/>',
  },
  invalid: {
    colour: '#A3261B',
    shape:
      '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M-4 4L4-4" stroke="currentColor" stroke-width="1.6"/>',
  },
  done: { colour: '#5A5F66', shape: '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/>' },
}

/** SVG badge of a verdict with the seal of its receipt. All texts come from fixed lists and a checked id, so nothing needs escaping. */
export function badgeSvg(tool: string, { word: words, tone }: { word: string; tone: HeadlineTone }, digest: string): string {
  const { colour, shape } = MARKS[markOf(tone)]
  const left = 34 + (tool.length + 6) * CHARACTER
  const width = left + 30 + words.length * CHARACTER
  const seal = sealPaths(digest).map(({ d, stroke_width }) => `<path stroke-width="${stroke_width * 3}" d="${d}"/>`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="assay ${tool}: ${words}">`,
    `<title>assay ${tool}: ${words} (a picture proves nothing: open the receipt)</title>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${HEIGHT - 1}" rx="2" fill="#FAF8F3" stroke="#DDD8CC"/>`,
    `<g transform="translate(4 3) scale(${22 / SEAL_UNITS})" fill="none" stroke="#7A5415">${seal.join('')}</g>`,
    `<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="11.5">`,
    `<text x="32" y="18" fill="#1B1D21">assay ${tool}</text>`,
    `<g color="${colour}" transform="translate(${left + 8} 14)">${shape}</g>`,
    `<text x="${left + 20}" y="18" fill="${colour}">${words}</text></g></svg>`,
  ].join('')
}

const PATH = /^([a-z0-9-]{1,64})$/
const DIGEST = /^(0x[0-9a-f]{64})\.svg$/

type BadgeWords = ReadonlyMap<string, { word: string; tone: HeadlineTone }>

/** Headlines that badges of every tool may show; badge addresses of release 0.5.0 have only these. */
const COMMON: BadgeWords = new Map([...badgesOf(CHECK_HEADLINES), ['done', { word: 'see receipt', tone: 'neutral' }]])

/**
 * `GET /badge/{tool}/{verdict}/{digest}.svg`: drawn from the address; nothing is stored. The verdict must be a common headline or one of
 * that tool; others are answered with 404.
 */
function badgeRoutes(app: Hono<Env>, { tools }: Pick<Catalogue, 'tools'>): void {
  const own = new Map(tools.map(({ id, headlines }) => [id, badgesOf(headlines)]))
  app.get('/badge/:tool/:verdict/:file', (context) => {
    const tool = PATH.exec(context.req.param('tool'))?.[1]
    const code = context.req.param('verdict')
    const badge = own.get(tool ?? '')?.get(code) ?? COMMON.get(code)
    const digest = DIGEST.exec(context.req.param('file'))?.[1]
    if (tool === undefined || badge === undefined || digest === undefined) return context.notFound()
    return context.body(badgeSvg(tool, badge, digest), 200, {
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    })
  })
}
