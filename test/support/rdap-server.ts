import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RdapManner = (request: IncomingMessage, response: ServerResponse) => void

export interface RdapServer {
  /** Base URL, with the final slash. */
  url: string
  port: number
  /** `address:port`, as the guard of the adapter names it. */
  place: string
  /** Paths that were asked for, in order. */
  asked: string[]
  /** Connections that were ever made. */
  connections(): number
  /** What it does about a domain; 404 unless told. */
  manner: Map<string, RdapManner>
  stop(): Promise<void>
}

/** A real registry on this machine, with whatever manners the test gives it. */
export async function startRdapServer(): Promise<RdapServer> {
  const manner = new Map<string, RdapManner>()
  const asked: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const domain = (request.url ?? '').split('/').at(-1) ?? ''
    const does = manner.get(domain)
    if (does === undefined) response.writeHead(404, { 'content-type': 'application/rdap+json' }).end('{"errorCode":404}')
    else does(request, response)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/rdap/`,
    port,
    place: `127.0.0.1:${port}`,
    asked,
    connections: () => connections,
    manner,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with this body. */
export function says(body: unknown, status = 200): RdapManner {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/rdap+json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Sends the question on. */
export function redirects(location: string, status = 302): RdapManner {
  return (_request, response) => void response.writeHead(status, { location }).end()
}

/** A domain object as registries send it (RFC 9083, section 5.3). */
export function domainObject(domain: string, registered: unknown): Record<string, unknown> {
  return {
    rdapConformance: ['rdap_level_0'],
    objectClassName: 'domain',
    handle: '2336799_DOMAIN_COM-VRSN',
    ldhName: domain.toUpperCase(),
    events: [
      { eventAction: 'registration', eventDate: registered },
      { eventAction: 'expiration', eventDate: '2030-08-13T04:00:00Z' },
      { eventAction: 'last changed', eventDate: '2026-08-14T07:01:44Z' },
    ],
  }
}
