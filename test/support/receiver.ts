import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

interface Received {
  id: string
  type: string
  data: Record<string, unknown>
}

export interface Receiver {
  url: string
  /** Signing secret, set after the subscription; every request is verified with the official library. */
  secret: string
  /** Challenges whose signature was right. */
  challenges: Received[]
  /** Events that were answered with 204. */
  accepted: Received[]
  /** Number of requests, challenges included, also of those that were not accepted. */
  requests(): number
  stop(): Promise<void>
}

/** How a receiver answers a request: 204, another status, or not at all. `attempt` counts from 1 for each event. */
export type Behaviour = (event: Received, attempt: number) => number | 'reset' | 'hang'

/** Answer to a challenge: status and body. */
type ChallengeAnswer = (text: string, attempt: number) => { status?: number; location?: string; body: string }

/**
 * A receiver of webhooks on this machine, which returns the text of a challenge unless told otherwise. A request with a wrong signature is answered
 * with 401.
 */
export async function startReceiver(
  behave: Behaviour = () => 204,
  answerChallenge: ChallengeAnswer = (text) => ({ body: text }),
): Promise<Receiver> {
  const attempts = new Map<string, number>()
  let requests = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests += 1
      answer(Buffer.concat(chunks).toString('utf8'), request.headers, response)
    })
  })
  const receiver: Receiver = {
    url: '',
    secret: '',
    challenges: [],
    accepted: [],
    requests: () => requests,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
  function answer(body: string, headers: IncomingHttpHeaders, response: ServerResponse): void {
    const event = verified(receiver.secret, body, headers)
    if (event === null) return void response.writeHead(401).end()
    if (event.type === 'webhook.challenge') {
      receiver.challenges.push(event)
      const { status = 200, location, body: text } = answerChallenge(String(event.data['challenge']), receiver.challenges.length)
      return void response.writeHead(status, location === undefined ? {} : { location }).end(text)
    }
    const attempt = (attempts.get(event.id) ?? 0) + 1
    attempts.set(event.id, attempt)
    const how = behave(event, attempt)
    if (how === 'reset') return void response.socket?.resetAndDestroy()
    if (how === 'hang') return
    if (how >= 200 && how < 300) receiver.accepted.push(event)
    response.writeHead(how).end()
  }
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return receiver
}

function verified(secret: string, body: string, headers: IncomingHttpHeaders): Received | null {
  const text = (name: string) => String(headers[name] ?? '')
  const given = { id: text('webhook-id'), timestamp: text('webhook-timestamp'), signature: text('webhook-signature') }
  try {
    const event = new Webhook(secret).verify(body, {
      'webhook-id': given.id,
      'webhook-timestamp': given.timestamp,
      'webhook-signature': given.signature,
    }) as { type: string; data: Record<string, unknown> }
    return { id: given.id, type: event.type, data: event.data }
  } catch {
    return null
  }
}
