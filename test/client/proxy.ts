import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { stranger } from '../support/paying-calls.ts'

type Members = Record<string, unknown>

/** What happens to one request on its way. */
export type Act =
  /** The service answers; the connection breaks before a byte of it comes through. */
  | { kind: 'lose_answer' }
  /** The connection breaks before the service hears of it. */
  | { kind: 'lose_request' }
  /** The service answers; this comes through instead. */
  | { kind: 'instead'; status: number; headers?: Record<string, string>; body: string }
  /** The answer comes through changed. */
  | { kind: 'change'; change: (body: Members) => void }
  /** The terms of the 402 come through changed. */
  | { kind: 'terms'; change: (required: Members) => void }

export interface Proxy {
  url: string
  /** What happens to the next calls, in their order; later ones pass. Other requests always pass. */
  plan(...acts: Act[]): void
  /** The payments of all calls that came, null for those without one. */
  readonly calls: (string | null)[]
  /** Paths of all other requests. */
  readonly others: string[]
  stop(): Promise<void>
}

/** A hop in front of the service that treats calls as a bad network would. Every proxy is a client of its own. */
export async function startProxy(target: string): Promise<Proxy> {
  const client = stranger()
  const acts: Act[] = []
  const calls: Proxy['calls'] = []
  const others: string[] = []
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    const is_call = path.endsWith('/call')
    const payment = request.headers['payment-signature']
    const act = is_call ? acts.shift() : undefined
    if (is_call) calls.push(typeof payment === 'string' ? payment : null)
    else others.push(path)
    const body = await text(request)
    if (act?.kind === 'lose_request') return void response.destroy()
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name]
    const answer = await fetch(`${target}${path}`, {
      method: request.method ?? 'GET',
      headers: { ...headers, 'x-forwarded-for': client },
      ...(body === '' ? {} : { body }),
    })
    const passed = await passOn(answer, act)
    if (passed === null) return void response.destroy()
    response.writeHead(passed.status, passed.headers).end(passed.body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  return {
    url: `http://127.0.0.1:${address.port}`,
    plan: (...next) => void acts.push(...next),
    calls,
    others,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

interface Passed {
  status: number
  headers: Record<string, string>
  body: string
}

async function passOn(answer: Response, act: Act | undefined): Promise<Passed | null> {
  const body = await answer.text()
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !/^(content-encoding|content-length|connection|keep-alive|transfer-encoding|date)$/.test(name)),
  )
  const whole = { status: answer.status, headers, body }
  switch (act?.kind) {
    case undefined:
      return whole
    case 'lose_answer':
    case 'lose_request':
      return null
    case 'instead':
      return { status: act.status, headers: act.headers ?? {}, body: act.body }
    case 'change': {
      const members = JSON.parse(body) as Members
      act.change(members)
      return { ...whole, body: JSON.stringify(members) }
    }
    case 'terms': {
      const required = JSON.parse(Buffer.from(headers['payment-required'] ?? '', 'base64').toString()) as Members
      act.change(required)
      return { ...whole, headers: { ...headers, 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') } }
    }
  }
}
