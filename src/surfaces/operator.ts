import { createServer, type IncomingMessage, type Server } from 'node:http'
import { modeMark } from '../service/catalogue/text.ts'
import type { TrustedProxies } from '../service/clients.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { Connections } from './http/connections.ts'
import type { Handlers } from './http/node-server.ts'
import { jsonReply, problemReply, type Reply } from './http/reply.ts'
import { requestIdHeaders, requestIds } from './http/request-ids.ts'

interface OperatorApp extends Pick<Handlers, 'fault'> {
  readonly deps: AppDeps
}

const NO_PROXIES: TrustedProxies = { trusts: () => false }

/**
 * Server of the operator port: the operator page, `/health` and `/metrics`, with gas balances and budgets, which the public port does not show. It has its
 * own connections, so it answers probes while the public port is full. With `local` it answers only requests whose Host is this machine,
 * because a web page can point its own name here (DNS rebinding).
 */
export function createOperatorServer(app: OperatorApp, local: boolean): Server {
  const options = { maxHeaderSize: limits.header_bytes, connectionsCheckingInterval: limits.timeout_check_ms }
  const connections = new Connections({ total: limits.operator_connections, network: limits.operator_connections }, NO_PROXIES)
  const server = createServer(options, (request, response) => {
    const ids = requestIds(() => null)
    const send = ({ status, headers, body }: Reply) => {
      response.writeHead(status, { ...headers, ...requestIdHeaders(ids), 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }
    connections.serve(
      request.socket,
      response,
      () =>
        void replyTo(request, app.deps, ids.request_id, local)
          .catch((error: unknown) => app.fault(error, ids))
          .then(send),
    )
  })
  connections.watch(server)
  server.headersTimeout = limits.header_timeout_ms
  server.requestTimeout = limits.request_timeout_ms
  server.keepAliveTimeout = limits.keep_alive_ms
  server.timeout = limits.idle_ms
  return server
}

const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i
const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

async function replyTo({ method, url, headers }: IncomingMessage, deps: AppDeps, request_id: string, local: boolean): Promise<Reply> {
  const refuse = (code: 'REQUEST_MALFORMED' | 'METHOD_NOT_ALLOWED' | 'NOT_FOUND', detail: string) =>
    problemReply(problem(code, detail), request_id, deps.origins)
  if (local && !LOCAL_HOST.test(headers.host ?? ''))
    return refuse('REQUEST_MALFORMED', 'The operator port of this deployment is asked by an address of this machine, such as 127.0.0.1.')
  if (method !== 'GET' && method !== 'HEAD') return refuse('METHOD_NOT_ALLOWED', 'The operator port takes GET and HEAD.')
  if (url === '/health') return healthReply(deps)
  if (url !== '/metrics') {
    return (await pageReply(url ?? '', deps)) ?? refuse('NOT_FOUND', 'The operator port has /operator, /health and /metrics.')
  }
  return {
    status: 200,
    headers: { 'content-type': PROMETHEUS_TYPE, 'cache-control': 'no-store' },
    body: await deps.telemetry.text('operator'),
  }
}

/** The page, its tables as CSV, and the style sheets that it loads; null for any other path. */
async function pageReply(url: string, deps: AppDeps): Promise<Reply | null> {
  const path = url.split('?')[0] ?? ''
  // Loaded on first use, so that the start does not load the pages.
  const { operatorPage, REPORT_TABLES, tableCsv } = await import('./pages/operator-page.ts')
  if (path === '/' || path === '/operator')
    return pageOf('text/html; charset=utf-8', operatorPage(await deps.operator.report(), modeMark(deps)))
  const file = path.startsWith('/operator/') ? path.slice('/operator/'.length) : ''
  const tableOf = Object.hasOwn(REPORT_TABLES, file) ? REPORT_TABLES[file] : undefined
  if (tableOf !== undefined) return pageOf('text/csv; charset=utf-8', tableCsv(tableOf(await deps.operator.report())))
  const [, version_path = ''] = /^\/assets\/[0-9a-f]+\/(.+\.(?:css|svg))$/.exec(path) ?? []
  const asset = await (await import('./pages/assets.ts')).assets().files.get(version_path)?.()
  if (asset === undefined) return null
  const { body } = await asset.encoded.for('identity')
  return pageOf(asset.type, typeof body === 'string' ? body : Buffer.from(body).toString())
}

/** No script runs on the operator page, and nothing is loaded from elsewhere. */
const PAGE_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function pageOf(type: string, body: string): Reply {
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': 'no-store',
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    body,
  }
}

/** Public health plus the balance and daily budget of each gas wallet, and today's sponsored sweeps and free calls that read sources. */
async function healthReply(deps: AppDeps): Promise<Reply> {
  // Loaded on first use, so that the start does not load the pages.
  const { healthNow } = await import('./health.ts')
  const sponsored = (await deps.operator.sponsoring?.look().catch(() => null)) ?? null
  const [{ ok, body }, used] = await Promise.all([healthNow(deps, { sponsored }), deps.operator.source_reads_used().catch(() => null)])
  const gas_wallets = deps.operator.gas().map(
    (seen) =>
      seen && {
        balance_wei: seen.balance_wei.toString(),
        least_balance_wei: seen.comfort_wei.toString(),
        budget_left_wei: seen.left_today_wei.toString(),
      },
  )
  const budgets = { source_reads_daily: { limit: deps.operator.source_reads_daily, used } }
  return jsonReply(ok ? 200 : 503, JSON.stringify({ ...body, gas_wallets, budgets }))
}
