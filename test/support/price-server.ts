import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type PriceManner = (request: IncomingMessage, response: ServerResponse) => void

export interface PriceServer {
  url: string
  /** Addresses that were asked for, in order. */
  asked: string[]
  /** What it does about any question; 404 unless told. */
  manner: PriceManner
  stop(): Promise<void>
}

/** A real price interface on this machine, with whatever manners the test gives it. */
export async function startPriceServer(): Promise<PriceServer> {
  const server = createServer((request, response) => {
    found.asked.push(request.url ?? '')
    found.manner(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const found: PriceServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    manner: (_request, response) => void response.writeHead(404).end(),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return found
}

/** Answers with this text. */
export function answers(text: string, status = 200): PriceManner {
  return (_request, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}
