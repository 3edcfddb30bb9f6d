import assert from 'node:assert/strict'
import { connect } from 'node:net'

/** Bytes on a socket, as no client would send them, and what came back. */

interface RawAnswer {
  status: number
  /** Names in lower case, every line of the head as it came. */
  headers: [name: string, value: string][]
  /** Head and body, one character a byte. */
  text: string
}

/** Sends a request that says `Connection: close` and reads to the end; fails when no answer came. */
export async function sendRaw(url: string, bytes: string): Promise<RawAnswer> {
  const text = await exchange(url, bytes)
  const [head = ''] = text.split('\r\n\r\n', 1)
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  assert.ok(status >= 200, `no answer: ${JSON.stringify(text.slice(0, 200))}`)
  const headers = lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)])
  return { status, headers, text }
}

/** Everything that came until the connection closed. */
export function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => chunks.push(chunk))
    // A reset is the service's right, once it has answered.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })
}

/** How many answers stand in what came. */
export function answersIn(text: string): number {
  return text.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0
}

export function headerOf({ headers }: RawAnswer, name: string): string | undefined {
  return headers.find(([known]) => known === name)?.[1]
}

export function get(target: string, headers = '', host = 'localhost'): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`
}
