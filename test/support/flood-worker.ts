import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** What everybody in a crowd asks for; with a body it is a POST. */
export interface CrowdAsk {
  path: string
  body?: string
  /** One more line of the head. */
  header?: string
}

/** Callers beside the test, each on a connection of its own, who ask again as soon as they have an answer. Tells how many of each status came. */
const { url, callers, same_client, ask } = workerData as { url: string; callers: number; same_client: boolean; ask: CrowdAsk }
const { hostname, port } = new URL(url)
const counts = new Map<string, number>()
let open = true

const HEAD_BYTES = 4096

function caller(index: number): void {
  const address = same_client ? '198.51.100.1' : `10.0.${index >> 8}.${index & 255}`
  const { path, body, header } = ask
  const from = `HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Forwarded-For: ${address}\r\n${header === undefined ? '' : `${header}\r\n`}`
  const sent = `${from}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n`
  const request = body === undefined ? `GET ${path} ${from}\r\n` : `POST ${path} ${sent}Content-Length: ${body.length}\r\n\r\n${body}`
  const socket = connect(Number(port), hostname, () => socket.write(request))
  let left_bytes = 0
  let status = ''
  socket.on('data', (chunk: Buffer) => {
    if (left_bytes === 0) {
      // A head is sent in one piece, before its body.
      const text = chunk.toString('latin1', 0, HEAD_BYTES)
      status = text.slice(9, 12)
      left_bytes = text.indexOf('\r\n\r\n') + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1])
    }
    left_bytes -= chunk.length
    if (left_bytes > 0) return
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (open) socket.write(request)
    else socket.destroy()
  })
  socket.on('error', () => counts.set('broken', (counts.get('broken') ?? 0) + 1))
}

for (let index = 0; index < callers; index++) caller(index)
parentPort?.on('message', (word: 'count' | 'end') => {
  if (word === 'end') open = false
  parentPort?.postMessage(Object.fromEntries(counts), [])
})
