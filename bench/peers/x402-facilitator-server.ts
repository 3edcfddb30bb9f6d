/** The facilitator of the peers behind node:http, as HTTPFacilitatorClient asks one. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { facilitator } from './x402-facilitator.ts'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    void answer(request.url ?? '', Buffer.concat(chunks).toString()).then((found) => {
      const body = JSON.stringify(found)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  })
})

function answer(path: string, text: string): Promise<unknown> {
  if (path === '/supported') return facilitator.getSupported()
  const { paymentPayload, paymentRequirements } = JSON.parse(text)
  return path === '/verify' ? facilitator.verify(paymentPayload, paymentRequirements) : facilitator.settle(paymentPayload)
}

server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`facilitator listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
