import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a facilitator is asked to settle, as far as tests look at it. */
export interface SettleBody {
  x402Version: number
  paymentPayload: {
    accepted: Record<string, unknown>
    resource: { url: string }
    payload: { signature: string; authorization: Record<string, string> }
  }
  paymentRequirements: Record<string, unknown>
}

export interface Reply {
  status?: number
  /** An object is sent as JSON, a text as it is. */
  body: unknown
  headers?: Record<string, string>
}

export interface FacilitatorServer {
  url: string
  /** What it was asked to settle, in order. */
  asked: SettleBody[]
  stop(): Promise<void>
}

/** A real HTTP server on a free port. `settle` decides each answer; null breaks the connection off. */
export async function startFacilitator(
  settle: (body: SettleBody) => Promise<Reply | null>,
  supported: Reply = supports('eip155:8453'),
): Promise<FacilitatorServer> {
  const asked: SettleBody[] = []
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/supported') return write(response, supported)
    const body = JSON.parse(await textOf(request)) as SettleBody
    asked.push(body)
    const reply = await settle(body)
    if (reply === null) response.destroy()
    else write(response, reply)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** GET /supported of a facilitator for one network. */
export function supports(network: string): Reply {
  return { body: { kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} } }
}

function write(response: ServerResponse, { status = 200, body, headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
