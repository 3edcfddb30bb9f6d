import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Base Sepolia, as the settings of the `start` suite name it. */
const CHAIN_ID = '0x14a34'

interface Asked {
  id: number
  method: string
}

/** An RPC endpoint that knows its chain and the height of it, and of nothing else: enough for a service to start. */
export function startRpcStub(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked | Asked[]
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      const stop = () =>
        new Promise<void>((stopped) => {
          server.close(() => stopped())
          server.closeAllConnections()
        })
      resolve({ url: `http://127.0.0.1:${port}`, stop })
    })
  })
}

function answer({ id, method }: Asked) {
  const jsonrpc = '2.0'
  if (method === 'eth_chainId') return { jsonrpc, id, result: CHAIN_ID }
  if (method === 'eth_blockNumber') return { jsonrpc, id, result: '0x10' }
  return { jsonrpc, id, error: { code: -32_601, message: 'method not found' } }
}
