import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { HostileRequest } from './hostile-requests.ts'

export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

type Sent = Omit<HostileRequest, 'kind' | 'marks' | 'input'>

/** A kept connection was closed just as the request left. */
class ClosedMeanwhile extends Error {}

/**
 * Sends requests over connections that are kept. One may be closed just as the next request leaves (RFC 9112, 9.5), as it is behind a large body
 * that was refused and whose rest takes longer than the service waits: such a request is sent again, once.
 */
export function createSender(url: string, connections: number) {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const once = ({ method, path, headers, body, chunked }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }
      const sent = request({ agent, hostname, port, method, path, headers: { ...framing, ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        )
      })
      sent.on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ECONNRESET' && sent.reusedSocket ? new ClosedMeanwhile(error.message, { cause: error }) : error),
      )
      sent.end(body)
    })
  const send = (wanted: Sent) =>
    once(wanted).catch((error: unknown) => {
      if (error instanceof ClosedMeanwhile) return once(wanted)
      throw error
    })
  return { send, close: () => agent.destroy() }
}

/**
 * Writes bytes on a socket of its own and returns all complete answers that arrived until it closed. `settled` resolves when the service
 * has had its time; only then does the client end its side, since node:http drops a request whose sender has ended. Without `settled` the
 * server closes the connection, as a request with `Connection: close` asks it to.
 */
export function exchangeRaw(url: string, bytes: Buffer, settled?: () => Promise<unknown>): Promise<Answer[]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let ended = Promise.resolve<unknown>(null)
    const socket = connect({ port: Number(port), host: hostname }, () => {
      socket.write(bytes)
      if (settled !== undefined) ended = settled().finally(() => socket.end())
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    // A reset is the service's right: what was broken beyond an answer gets none.
    socket.on('error', () => undefined)
    socket.on('close', () => void ended.then(() => resolve(answersIn(Buffer.concat(chunks).toString('latin1'))), reject))
  })
}

function answersIn(stream: string): Answer[] {
  const found: Answer[] = []
  let rest = stream
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (head?.[1] === undefined) return found
    const headers = Object.fromEntries((head[2] ?? '').split('\r\n').map((line) => splitHeader(line)))
    const length = Number(headers['content-length'] ?? 0)
    const text = rest.slice(head[0].length, head[0].length + length)
    if (head[1] !== '100') found.push({ status: Number(head[1]), headers, text: Buffer.from(text, 'latin1').toString() })
    rest = rest.slice(head[0].length + length)
  }
}

function splitHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
