import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** Callers beside the test, each on a connection of its own, who ask again as soon as they have an answer. Tells how many of each status came. */
const { url, callers, same_client } = workerData as { url: string; callers: number; same_client: boolean }
const { hostname, port } = new URL(url)
const BODY = '{"input":{"iban":"GB82WEST12345698765432"}}'
const counts = new Map<string, number>()
let open = true

function caller(index: number): void {
  const address = same_client ? '198.51.100.1' : `10.0.${index >> 8}.${index & 255}`
  const request = `POST /v1/tools/iban-check/call HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
  const socket = connect(Number(port), hostname, () => socket.write(request))
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    const head_end = text.indexOf('\r\n\r\n')
    const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, Math.max(0, head_end)))?.[1]
    if (length === undefined || text.length < head_end + 4 + Number(length)) return
    const status = text.slice(9, 12)
    counts.set(status, (counts.get(status) ?? 0) + 1)
    text = ''
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
