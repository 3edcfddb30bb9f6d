import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Bodies, BodyAccount } from '../../service/admission/bodies.ts'
import { limits } from '../../service/limits.ts'
import { problem, problemBody, PROBLEMS, type Problem, type ProblemCode } from '../../service/problems.ts'
import type { CallExchange } from '../rest.ts'
import type { BodySource } from './body.ts'
import type { Connections } from './connections.ts'
import type { Env, Reply } from './reply.ts'
import { requestIdHeaders, requestIds, type RequestIds } from './request-ids.ts'

/** Dependencies of the listener. */
export interface Handlers {
  /** Serves everything except calls. */
  fetch(request: Request, env: Env['Bindings']): Response | Promise<Response>
  /** Serves the call route, the hot path, without Request and Response objects. */
  call(exchange: CallExchange): Promise<Reply>
  /** Reserves memory for the body of a new request, or returns a problem. */
  openBody(address: string, body: Omit<Parameters<Bodies['open']>[0], 'client' | 'network'>): ReturnType<Bodies['open']>
  /** Address of the client behind a peer. */
  callerAddress(peer: string, forwarded: string | null): string
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>
  readonly connections: Connections
  /** Reports a fault and returns the response to it. */
  fault(error: unknown, ids: RequestIds): Reply
}

const SERVER_OPTIONS = {
  maxHeaderSize: limits.header_bytes,
  // Refused below with a problem body.
  requireHostHeader: false,
  connectionsCheckingInterval: limits.timeout_check_ms,
}

const CALL_PATH = /^\/v1\/tools\/([\w-]{1,64})\/call$/

/** HTTP server on node:http: calls are served from its events, all other requests go through `fetch`. */
export function createHttpServer(handlers: Handlers): Server {
  const accounts = new WeakMap<IncomingMessage, BodyAccount>()
  const others = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: IncomingMessage }
      const ids = requestIds((name) => one(incoming.headers[name]))
      return handlers.fetch(request, { peer: incoming.socket.remoteAddress ?? '', ...ids, body_account: accounts.get(incoming) })
    },
    // HTTP/1.0 has no Host header.
    { overrideGlobalObjects: false, hostname: 'localhost', errorHandler: (error) => refuseRequest(handlers, error) },
  )
  const route = (request: IncomingMessage, response: ServerResponse) => {
    if (request.rawHeaders.length > 2 * limits.header_count) return refuseUnread(handlers, request, response, 'HEADERS_TOO_LARGE')
    if (!namesHost(request)) return refuseUnread(handlers, request, response, 'REQUEST_MALFORMED')
    if (hasBody(request)) {
      const opened = openBody(handlers, request, response)
      if (!opened.ok) return refuseBody(handlers, response, opened.problem)
      accounts.set(request, opened.account)
    }
    const match = request.method === 'POST' ? CALL_PATH.exec(request.url ?? '') : null
    if (match?.[1] === undefined) void others(request, response)
    else void serveCall(handlers, match[1], request, response, accounts.get(request))
  }
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    handlers.connections.serve(request.socket, response, () => route(request, response))
  const server = createServer(SERVER_OPTIONS, serve)
  // RFC 9110 §10.1.1 allows ignoring expectations other than 100-continue; node:http would answer 417 without a problem body.
  server.on('checkExpectation', serve)
  server.headersTimeout = limits.header_timeout_ms
  server.requestTimeout = limits.request_timeout_ms
  server.keepAliveTimeout = limits.keep_alive_ms
  server.timeout = limits.idle_ms
  // One more than the limit: node:http drops further headers, and the request is then refused.
  server.maxHeadersCount = limits.header_count + 1
  handlers.connections.watch(server)
  server.on('clientError', refuseSocket)
  return server
}

/**
 * RFC 9112 §3.2: HTTP/1.1 requires exactly one Host, HTTP/1.0 allows at most one. If there are two, a proxy in front may have used the
 * other.
 */
function namesHost({ rawHeaders, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersionMajor === 1 && httpVersionMinor === 0)
}

/** Refuses a request with too many headers, some of which node:http has dropped, or without a valid Host. */
function refuseUnread(handlers: Handlers, request: IncomingMessage, response: ServerResponse, code: ProblemCode): void {
  const { status, type, body } = socketProblem(code)
  if (!request.complete) linger(request)
  response.writeHead(status, { ...handlers.headers, 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Reserves memory for the body until the response is sent. A connection whose body was cut off is closed after the refusal. */
function openBody(handlers: Handlers, request: IncomingMessage, response: ServerResponse): ReturnType<Bodies['open']> {
  const { socket, headers } = request
  const declared = headers['content-length']
  const opened = handlers.openBody(callerOf(handlers, request), {
    declared_bytes: declared === undefined ? null : Number(declared),
    received_bytes: () => socket.bytesRead,
  })
  if (!opened.ok) return opened
  const { account } = opened
  response.once('close', () => account.close())
  const closeBehind = () => {
    response.shouldKeepAlive = false
    return response.once('finish', () => socket.destroySoon())
  }
  void account.cut.then(closeBehind)
  return opened
}

/** Refuses a request if there is no memory for its body, and closes the connection, because the body is not read. */
function refuseBody(handlers: Handlers, response: ServerResponse, found: Problem): void {
  const { status, type, body } = socketProblem(found.code, found.detail)
  const own = {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'retry-after': String(found.retry_after_s ?? limits.overload_retry_s),
  }
  response.shouldKeepAlive = false
  response.writeHead(status, { ...handlers.headers, ...own })
  response.end(body)
}

function callerOf(handlers: Handlers, { socket, headers }: IncomingMessage): string {
  return handlers.callerAddress(socket.remoteAddress ?? '', one(headers['x-forwarded-for']))
}

async function serveCall(
  handlers: Handlers,
  tool: string,
  request: IncomingMessage,
  response: ServerResponse,
  account: BodyAccount | undefined,
): Promise<void> {
  const header = (name: string) => one(request.headers[name])
  const ids = requestIds(header)
  const address = callerOf(handlers, request)
  const exchange = { tool, request_id: ids.request_id, address, header, body: bodyOf(request, account) }
  const reply = await handlers.call(exchange).catch((error: unknown) => (request.destroyed ? null : handlers.fault(error, ids)))
  if (reply === null || response.destroyed) return
  const { status, headers, body } = reply
  const content_length = Buffer.byteLength(body)
  if (!request.complete) linger(request)
  response.writeHead(status, { ...handlers.headers, ...headers, ...requestIdHeaders(ids), 'content-length': content_length })
  // Text with one byte per character is written without UTF-8 encoding.
  response.end(body, content_length === body.length ? 'latin1' : 'utf8')
}

/** Reads the rest of a refused body: closing a connection with unread bytes resets it, and the answer would be lost (RFC 9112 §9.6). */
function linger(request: IncomingMessage): void {
  let left_bytes: number = limits.linger_bytes
  request.on('data', (chunk: Buffer) => {
    left_bytes -= chunk.length
    if (left_bytes < 0) request.destroy()
  })
  request.resume()
}

function one(value: string | string[] | undefined): string | null {
  if (value === undefined) return null
  return typeof value === 'string' ? value : value.join(', ')
}

function bodyOf(request: IncomingMessage, account: BodyAccount | undefined): BodySource {
  const declared = request.headers['content-length']
  return {
    declared_bytes: declared === undefined ? null : Number(declared),
    coding: request.headers['content-encoding'] ?? null,
    account,
    whole: () => collect(request),
    chunks: () => request.iterator({ destroyOnReturn: false }),
  }
}

/** Collects a small body from plain events, at half the cost of iterating over the stream. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // It has closed already and would emit no further event.
    if (request.destroyed) return reject(new Error('the client went away before its body was read'))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', reject)
    // Every request emits close; an error object for each would cost more than the body.
    request.on('close', () => void (request.complete || reject(new Error('the client went away before its body was there'))))
  })
}

/**
 * Answers requests that cannot become a `Request`, for example with an invalid Host or `*` as address. Other errors are faults of the
 * service.
 */
function refuseRequest(handlers: Handlers, error: unknown): Response {
  const { status, type, body } = socketProblem('REQUEST_MALFORMED')
  if (error instanceof RequestError) return new Response(body, { status, headers: { ...handlers.headers, 'content-type': type } })
  const reply = handlers.fault(
    error,
    requestIds(() => null),
  )
  return new Response(reply.body, { status: reply.status, headers: { ...handlers.headers, ...reply.headers } })
}

const SOCKET_PROBLEMS: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/** Answers bytes that are not an HTTP request, then closes the connection. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, title, type, body } = socketProblem(SOCKET_PROBLEMS[error.code ?? ''] ?? 'REQUEST_MALFORMED')
  const head = `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${type}\r\n`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
}

const HEADER_WORDS = `The request line and headers may have at most ${limits.header_bytes} bytes together, in at most ${limits.header_count} header lines.`

/** Problem response for requests that do not reach the application, with the text of the problem table. */
function socketProblem(code: ProblemCode, said?: string) {
  const { status, title, description } = PROBLEMS[code]
  const detail = said ?? (code === 'HEADERS_TOO_LARGE' ? HEADER_WORDS : description)
  const body = JSON.stringify(problemBody(problem(code, detail), crypto.randomUUID(), ''))
  return { status, title, type: 'application/problem+json; charset=utf-8', body }
}
