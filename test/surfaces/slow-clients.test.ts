import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

/** Those who send slowly, or open connections and say nothing. The server's times are set short; the bounds themselves are read from it. */

let app: TestApp
const open: Socket[] = []
before(async () => {
  app = await startTestApp()
})
after(async () => {
  for (const socket of open) socket.destroy()
  await app.stop()
})

function talk(text: string): { socket: Socket; ended: Promise<string> } {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname, () => socket.write(text))
  open.push(socket)
  let told = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (told += chunk))
  const ended = new Promise<string>((resolve) => socket.on('error', () => undefined).on('close', () => resolve(told)))
  return { socket, ended }
}

test('the server has the bounds that the table of limits names', () => {
  const { server } = app.running
  assert.deepEqual(
    [server.headersTimeout, server.requestTimeout, server.keepAliveTimeout, server.maxHeadersCount],
    [limits.header_timeout_ms, limits.request_timeout_ms, limits.keep_alive_ms, limits.header_count + 1],
  )
})

// attack: slow headers, slow bodies
// in: requests
// asset: the process
// attacker: client
// defence: timeouts answered 408; a body must arrive at 1 KB/s, a large one at a rate in proportion to its size (2 MB in 10 s)
test('headers and bodies that never end are answered 408, and hold no place beside the calls of others', async () => {
  const { server } = app.running
  const [headers_ms, request_ms] = [server.headersTimeout, server.requestTimeout]
  const head = 'POST /v1/tools/iban-check/call HTTP/1.1\r\nHost: x\r\n'
  const body = talk(`${head}Content-Length: 50\r\n\r\n{"input"`)
  const held = async () => Number(/^assay_request_bodies_bytes (\d+)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1])
  await until('the body is under way', async () => (await held()) === 50)
  // It holds no slot.
  assert.equal(app.running.app.deps.inFlight(), 0)
  // Who waits for a body waits in no turn: others are served.
  assert.equal((await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' })).status, 200)
  server.headersTimeout = 1
  server.requestTimeout = 1
  const start = talk(`${head}X-A`)
  for (const { ended } of [body, start]) assert.match(await ended, /^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s)
  await until('its memory is free again', async () => (await held()) === 0)
  server.headersTimeout = headers_ms
  server.requestTimeout = request_ms
})
