import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { TrustedProxies } from '../service/clients.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { Connections } from './http/connections.ts'
import type { Handlers } from './http/node-server.ts'
import { jsonReply, problemReply, type Reply } from './http/reply.ts'

interface OperatorApp extends Pick<Handlers, 'fault' | 'requestId'> {
  readonly deps: AppDeps
}

const NO_PROXIES: TrustedProxies = { trusts: () => false }

/**
 * Server of the operator port: `/health` and `/metrics`, with gas balances and budgets, which the public port does not show. It has connections
 * of its own, so that probes are answered while the public port is full. A server for this machine alone (`local`) answers only requests whose
 * Host names the machine, since a web page can make its own name point here (DNS rebinding).
 */
export function createOperatorServer(app: OperatorApp, local: boolean): Server {
  const options = { maxHeaderSize: limits.header_bytes, connectionsCheckingInterval: limits.timeout_check_ms }
  const connections = new Connections({ total: limits.operator_connections, network: limits.operator_connections }, NO_PROXIES)
  const server = createServer(options, (request, response) => {
    const request_id = app.requestId(null)
    const send = ({ status, headers, body }: Reply) => {
      response.writeHead(status, { ...headers, 'x-request-id': request_id, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }
    connections.serve(
      request.socket,
      response,
      () =>
        void replyTo(request, app.deps, request_id, local)
          .catch((error: unknown) => app.fault(error, request_id))
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
  if (url !== '/metrics') return refuse('NOT_FOUND', 'The operator port has /health and /metrics.')
  return {
    status: 200,
    headers: { 'content-type': PROMETHEUS_TYPE, 'cache-control': 'no-store' },
    body: await deps.telemetry.text('operator'),
  }
}

/** The public health with what each gas wallet holds and may spend today, and the free calls of the day that read sources. */
async function healthReply(deps: AppDeps): Promise<Reply> {
  // Loaded when it is first asked for, which keeps the pages out of the start.
  const { healthNow } = await import('./health.ts')
  const [{ ok, body }, used] = await Promise.all([healthNow(deps), deps.operator.source_reads_used().catch(() => null)])
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
