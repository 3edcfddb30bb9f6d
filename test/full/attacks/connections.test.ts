/**
 * One party opens connections until the process holds as many as it may, and keeps them without a request or with half of one. Another address
 * connects then, calls and is answered; so is the operator port, throughout.
 */
// attack: thousands of connections that are idle or stall
// in: requests
// asset: connections of others
// attacker: client
// defence: a bound by network; the longest idle of the largest network makes room

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { limits } from '../../../src/service/limits.ts'
import { startService, type Service } from '../../support/service.ts'
import { until } from '../../support/until.ts'

// All of 127.0.0.0/8 is this machine on Linux alone.
const skip = process.platform !== 'linux' && 'needs several loopback networks'
const CALL = '{"input":{"iban":"GB82WEST12345698765432"}}'
const CALL_HEAD = `POST /v1/tools/iban-check/call HTTP/1.1\r\nHost: x\r\nContent-Length: ${CALL.length}\r\n`
const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'

let service: Service
let folder: string
let operator_url: string
const sockets: Socket[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-connections-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_FREE_DAILY: '1000000' })
  operator_url = service.operator_url
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await until('the service has closed them', async () => (await metric('assay_connections')) === 0)
})
after(async () => {
  service.process.kill('SIGTERM')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

/** A metric as the operator port shows it, which must answer whatever the public port has to bear. */
async function metric(name: string): Promise<number> {
  const response = await fetch(`${operator_url}/metrics`)
  const value = new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(await response.text())?.[1]
  return value === undefined ? assert.fail(`no metric ${name}`) : Number(value)
}

/** A connection from an address of this machine, once it is open and has sent its text; the other side may close it. */
async function open(from: string, text = ''): Promise<Socket> {
  const { hostname, port } = new URL(service.url)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from })
  sockets.push(socket)
  socket.on('error', () => undefined)
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  if (text !== '') socket.write(text)
  return socket
}

/** As many connections as a peer can have, one hundred at a time, from addresses of these networks in turn. */
async function flood(networks: readonly string[], count: number, text: string): Promise<void> {
  for (let opened = 0; opened < count; opened += 100) {
    const some = Array.from({ length: 100 }, (_, index) =>
      open(`${networks[(opened + index) % networks.length]}.${1 + (index % 250)}`, text),
    )
    for (const socket of await Promise.all(some)) socket.resume()
  }
}

/** The status and the body of the first answer on this connection. */
async function answerOn(socket: Socket): Promise<{ status: number; body: string }> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const whole = () => text.includes('\r\n\r\n') && text.endsWith('}')
  await until('an answer or the end', () => whole() || socket.destroyed || socket.readableEnded)
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), body: text.split('\r\n\r\n')[1] ?? '' }
}

/** A stranger with an address of a network of its own is served, on one connection for each request. */
async function assertServed(from: string): Promise<void> {
  const health = await answerOn(await open(from, HEALTH))
  assert.deepEqual([health.status, health.body.startsWith('{"ok":true')], [200, true])
  const call = await answerOn(await open(from, `${CALL_HEAD}\r\n${CALL}`))
  assert.deepEqual([call.status, call.body.includes('"valid":true')], [200, true])
  assert.equal((await fetch(`${operator_url}/health`)).status, 200)
}

/** Enough /24 networks to fill the process, each up to its bound. */
const NETWORKS = Array.from({ length: limits.connections / limits.network_connections + 1 }, (_, index) => `127.3.${index}`)

for (const [what, text] of [
  ['nothing', ''],
  ['half a header', 'GET /health HTTP/1.1\r\nHost: x\r\nX-A'],
  ['one request, then nothing', HEALTH],
] as const)
  test(`one address that keeps as many connections as the process may have, sending ${what}, keeps nobody else out`, { skip }, async () => {
    await flood(['127.1.0'], limits.connections, text)
    await until('one network holds what it may', async () => (await metric('assay_connections')) === limits.network_connections)
    await assertServed('127.2.0.1')
  })

for (const [what, text] of [
  ['half a header', 'GET /health HTTP/1.1\r\nHost: x\r\nX-A'],
  ['half a body', 'POST /v1/protocols/check HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"a'],
] as const)
  test(`several networks that fill the process, sending ${what}, keep nobody else out`, { skip }, async () => {
    await flood(NETWORKS, limits.connections + 100, text)
    // Unfinished bodies are cut off after two seconds, so the flood continues, and some connections are always being replaced.
    await until('the process is full', async () => {
      const is_full = (await metric('assay_connections')) >= 0.95 * limits.connections
      if (!is_full) await flood(NETWORKS, 200, text)
      return is_full
    })
    await assertServed('127.2.0.1')
  })

test(
  'connections of the same network that are in the middle of a request are answered, however many others it opens',
  { skip },
  async () => {
    const busy = await Promise.all(Array.from({ length: 40 }, (_, index) => open(`127.4.0.${index + 1}`, `${CALL_HEAD}\r\n`)))
    await until('their headers have arrived', async () => (await metric('assay_request_bodies_bytes')) === busy.length * CALL.length)
    await flood(['127.4.0'], 2 * limits.network_connections, '')
    await until('the network holds what it may', async () => (await metric('assay_connections')) === limits.network_connections)
    assert.ok((await metric('assay_connections_closed_total{reason="idle"}')) >= limits.network_connections)
    for (const socket of busy) socket.write(CALL)
    for (const answer of await Promise.all(busy.map(answerOn))) assert.equal(answer.status, 200)
  },
)
