import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { clientHasher } from '../../src/service/clients.ts'
import { restCall } from '../support/app.ts'
import { runs } from '../support/counts.ts'
import { refusedService, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const IBAN = { iban: 'GB82WEST12345698765432' }
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-life-'))
})
after(() => rm(folder, { recursive: true, force: true }))

test('kill -9 under load loses no answered call: the reopened file counts every one', async () => {
  for (let round = 0; round < runs(2, 20); round++) {
    const data_dir = join(folder, `killed-${round}`)
    const service = await startService({ ASSAY_DATA_DIR: data_dir, ASSAY_TRUSTED_PROXIES: '127.0.0.1', ASSAY_FREE_DAILY: '100000' })
    const answered = new Map<string, number>()
    let total = 0
    const kill_at = 200 + 97 * round
    const loop = async (worker: number) => {
      for (let i = 0; ; i++) {
        const address = `198.51.100.${(worker * 7 + i) % 20}`
        const { status } = await restCall(service.url, 'iban-check', IBAN, { 'x-forwarded-for': address })
        assert.equal(status, 200)
        answered.set(address, (answered.get(address) ?? 0) + 1)
        total += 1
        if (total === kill_at) service.process.kill('SIGKILL')
      }
    }
    // Each worker ends when the connection breaks.
    const ends = await Promise.allSettled(Array.from({ length: 32 }, (_, worker) => loop(worker)))
    assert.ok(ends.every(({ status }) => status === 'rejected'))
    assert.equal((await service.ended).signal, 'SIGKILL')
    assert.ok(total >= kill_at)
    await assertCounted(data_dir, answered)
  }
})

/** The store, opened anew, knows at least the calls that were answered. */
async function assertCounted(data_dir: string, answered: Map<string, number>): Promise<void> {
  const clientHash = clientHasher(Buffer.from(readFileSync(join(data_dir, 'secret.key'), 'utf8').trim(), 'hex'))
  const store = await openStore(join(data_dir, 'assay.sqlite'))
  const day = Math.floor(systemClock.now_ms() / 86_400_000)
  for (const [address, count] of answered) {
    const today = await store.used({ day, bucket: 'general', client: clientHash(day, address), limit: 100_000 })
    const yesterday = await store.used({ day: day - 1, bucket: 'general', client: clientHash(day - 1, address), limit: 100_000 })
    assert.ok(today + yesterday >= count, `${address}: ${count} answered, ${today + yesterday} counted`)
  }
  await store.close()
}

test('a stop lets the call in flight finish, takes no new one and exits cleanly', async () => {
  const service = await startService({ ASSAY_DATA_DIR: join(folder, 'stopped') })
  const { hostname, port } = new URL(service.url)
  const body = JSON.stringify({ input: IBAN })
  const headers = { 'content-length': String(Buffer.byteLength(body)) }
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const open = request({ hostname, port, method: 'POST', path: '/v1/tools/iban-check/call', headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    open.on('error', reject)
    open.write(
      body.slice(0, 10),
      () => void stopInFlight(service.url, () => service.process.kill('SIGTERM')).then(() => open.end(body.slice(10)), reject),
    )
  })
  const { status, text } = await answer
  assert.equal(status, 200)
  assert.ok(text.includes('"valid":true'))
  assert.deepEqual(await service.ended, { code: 0, signal: null })
})

test('a stop says so to who goes on asking on a connection that was busy, and ends it', async () => {
  const service = await startService({ ASSAY_DATA_DIR: join(folder, 'kept') })
  const { hostname, port } = new URL(service.url)
  const body = JSON.stringify({ input: IBAN })
  const head = `POST /v1/tools/iban-check/call HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  const socket = connect(Number(port), hostname)
  let text = ''
  const answered = (count: number) => until(`answer ${count}`, () => text.split('"proof_summary_markdown"').length > count)
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise((resolve) => socket.on('end', resolve))
  socket.write(head + body.slice(0, 10))
  await stopInFlight(service.url, () => service.process.kill('SIGTERM'))
  socket.write(body.slice(10))
  await answered(1)
  socket.write(head + body)
  await answered(2)
  await ended
  const second = text.slice(text.lastIndexOf('HTTP/1.1 '))
  assert.match(second, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(second, /\r\nConnection: close\r\n/i)
  assert.deepEqual(await service.ended, { code: 0, signal: null })
})

/** Asks for the stop once the body of a call is under way, and returns when no new connection is taken any more. */
async function stopInFlight(url: string, stop: () => void): Promise<void> {
  const underWay = async () => /^assay_request_bodies_bytes [1-9]/m.test(await (await fetch(`${url}/metrics`)).text())
  await until('the body is under way', underWay)
  stop()
  const refuses = () =>
    fetch(`${url}/health`).then(
      (response) => !response.ok,
      () => true,
    )
  await until('new connections are refused', refuses)
}

test('a store serves only the deployment that it belongs to', async () => {
  const data_dir = join(folder, 'identity')
  const service = await startService({ ASSAY_DATA_DIR: data_dir })
  service.process.kill('SIGTERM')
  await service.ended
  const other = await refusedService({ ASSAY_DATA_DIR: data_dir, ASSAY_CHAIN_ID: '8453' })
  assert.equal(other.code, 78)
  assert.match(other.notes, /^assay: .*84532.*8453|^assay: .*8453.*84532/)
})

test('a start that cannot work ends with one sentence that names the cause', async () => {
  const unknown = await refusedService({ ASSAY_PROT: '1' })
  assert.deepEqual(unknown, { code: 78, notes: 'assay: ASSAY_PROT is not a setting of this service; did you mean ASSAY_PORT.\n' })
  const running = await startService({ ASSAY_DATA_DIR: join(folder, 'port') })
  const taken = await refusedService({ ASSAY_DATA_DIR: join(folder, 'port'), ASSAY_PORT: new URL(running.url).port })
  assert.equal(taken.code, 78)
  assert.match(taken.notes, /^assay: Port \d+ on 127\.0\.0\.1 is taken/)
  running.process.kill('SIGTERM')
  await running.ended
  const key = join(folder, 'broken.key')
  await writeFile(key, 'not a key', { mode: 0o600 })
  const broken = await refusedService({ ASSAY_DATA_DIR: join(folder, 'key'), ASSAY_RECEIPT_KEY_FILE: key })
  assert.equal(broken.code, 78)
  assert.ok(broken.notes.includes(key) && !broken.notes.includes('not a key'))
})
