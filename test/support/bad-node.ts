import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a bad node does with a request: `deaf` takes it and never answers; `mute` passes it on and never answers. */
export type Mischief = 'none' | 'limited' | 'deaf' | 'mute' | 'broken'

/** A real HTTP server before a real node. `mischief` is told the methods of each request. */
export async function startBadNode(
  rpc_url: string,
  mischief: (methods: string[]) => Mischief,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    void handle(request, response)
  })
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const asked = JSON.parse(body) as { method: string } | { method: string }[]
    const does = mischief([asked].flat().map(({ method }) => method))
    if (does === 'deaf') return
    if (does === 'limited') return void response.writeHead(429, { 'retry-after': '1' }).end('{}')
    if (does === 'broken') return void response.destroy()
    const answer = await fetch(rpc_url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await answer.text()
    if (does === 'none') response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
