import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * What becomes of one HTTP request. `limited`: 429, not forwarded. `mute`: forwarded, never answered. `deaf`: neither. `broken`: forwarded,
 * and the connection is cut instead of an answer.
 */
export type Mischief = 'none' | 'limited' | 'mute' | 'deaf' | 'broken'

export interface RpcProxy {
  url: string
  stop(): Promise<void>
}

/** An HTTP proxy before a node; `decide` is told the methods of each request, and says what is done to it. */
export async function startRpcProxy(rpc_url: string, decide: (methods: string[]) => Mischief): Promise<RpcProxy> {
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const asked = JSON.parse(body) as { method: string } | { method: string }[]
    const mischief = decide((Array.isArray(asked) ? asked : [asked]).map(({ method }) => method))
    if (mischief === 'deaf') return
    if (mischief === 'limited') {
      response.writeHead(429, { 'retry-after': '1' }).end()
      return
    }
    const answer = await fetch(rpc_url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const found = await answer.text()
    if (mischief === 'mute') return
    if (mischief === 'broken') response.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(found)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
