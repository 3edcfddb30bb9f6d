/** Two real services over one real PostgreSQL: what they grant together, what a killed one leaves, and what an outage does to them. */
import assert from 'node:assert/strict'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readKeyList } from '../../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { clientHasher } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { restCall } from '../support/app.ts'
import { runs } from '../support/counts.ts'
import { mcpRequest, postMcp } from '../support/mcp.ts'
import { query, startPostgres, type PostgresServer } from '../support/postgres.ts'
import { startService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'

const IBAN = { iban: 'GB82WEST12345698765432' }
const FREE_DAILY = 3

let folder: string
let postgres: PostgresServer
let store: string
let services: [Service, Service]

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-two-'))
  // A first start makes the keys and the secret that instances share.
  await stopped(await startService({ ASSAY_DATA_DIR: folder }))
  postgres = await startPostgres()
  store = await postgres.createDatabase('two')
  services = [await instance(0), await instance(1)]
})
after(async () => {
  await Promise.all(services.map(stopped))
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Each has a data folder of its own; they share the keys, the secret and the store. */
function instance(number: number): Promise<Service> {
  return startService({
    ASSAY_DATA_DIR: join(folder, `instance-${number}`),
    ASSAY_STORE: store,
    ASSAY_RECEIPT_KEY_FILE: join(folder, 'receipt-keys.json'),
    ASSAY_SECRET_FILE: join(folder, 'secret.key'),
    ASSAY_FREE_DAILY: String(FREE_DAILY),
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_CLIENT_CALLS: '200',
    ASSAY_LOG_LEVEL: 'silent',
  })
}

async function stopped(service: Service): Promise<void> {
  service.process.kill('SIGTERM')
  await service.ended
}

function callAs(address: string, service: Service) {
  return restCall(service.url, 'iban-check', IBAN, { 'x-forwarded-for': address })
}

/** Which of the two a call of this number goes to. */
function turn(index: number): Service {
  return services[index % 2 === 0 ? 0 : 1]
}

test('a hundred and twenty calls of one client at once, over both: exactly three are answered', async () => {
  for (let round = 0; round < runs(3, 30); round++) {
    const calls = Array.from({ length: 120 }, (_, index) => callAs(`198.51.100.${round}`, turn(index)))
    const answers = await Promise.all(calls)
    assert.equal(answers.filter(({ status }) => status === 200).length, FREE_DAILY)
    assert.ok(answers.every(({ status, body }) => status === 200 || body['code'] === 'PAYMENT_REQUIRED'))
    const left = answers.filter(({ status }) => status === 200).map(({ body }) => (body['allowance'] as { remaining: number }).remaining)
    assert.deepEqual(new Set(left), new Set([0, 1, 2]))
  }
})

test('receipts of both are signed by the one key that each of them publishes', async () => {
  const published = await Promise.all(
    services.map(async ({ url }) => readKeyList(await (await fetch(`${url}/.well-known/xdr-1.json`)).json())),
  )
  assert.deepEqual(published[0], published[1])
  for (const [index, service] of services.entries()) {
    const { body } = await callAs('203.0.113.1', service)
    const verdict = verifyReceipt(body['receipt'], published[1 - index] ?? [])
    assert.deepEqual([verdict.valid, verdict.signer_published, verdict.signer_valid_at_ts], [true, true, true])
  }
})

/** Calls of many clients over both services; those whose connection breaks are forgotten, the others counted when they were answered. */
async function load(clients: readonly string[], calls: number, answered: Map<string, number>, onAnswer: () => void): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < calls; index = next++) {
      const address = clients[index % clients.length] ?? ''
      // The same client comes by one service and then by the other.
      const status = await callAs(address, turn(index + Math.floor(index / clients.length))).then(
        (answer) => answer.status,
        () => null,
      )
      assert.ok(status === 200 || status === 402 || status === null, String(status))
      if (status !== 200) continue
      answered.set(address, (answered.get(address) ?? 0) + 1)
      onAnswer()
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

test('one of them killed under load and started again: no answered call is lost, no fourth one granted', async () => {
  for (let round = 0; round < runs(1, 8); round++) {
    const clients = Array.from({ length: 150 }, (_, index) => `192.0.2.${index}`).map((address) =>
      address.replace('192', String(10 + round)),
    )
    const answered = new Map<string, number>()
    let total = 0
    await load(clients, 2 * clients.length, answered, () => {
      total += 1
      if (total === 40 + 31 * round) services[1].process.kill('SIGKILL')
    })
    assert.equal((await services[1].ended).signal, 'SIGKILL')
    services[1] = await instance(1)
    await load(clients, 4 * clients.length, answered, () => undefined)
    const counted = await countsOf(clients)
    for (const address of clients) {
      const seen = answered.get(address) ?? 0
      assert.ok(seen <= FREE_DAILY, `${address} was answered ${seen} times`)
      // A call cut off by the kill may have been counted; one that was answered has been.
      assert.equal(counted.get(address), FREE_DAILY, `${address}: ${seen} answered`)
    }
  }
})

/** What the database holds for each of these clients today. */
async function countsOf(addresses: readonly string[]): Promise<Map<string, number>> {
  const clientHash = clientHasher(Buffer.from((await readFile(join(folder, 'secret.key'), 'utf8')).trim(), 'hex'))
  const rows = await query(store, 'select day, client, used from allowance')
  const used = new Map(rows.map(({ day, client, used: count }) => [`${String(day)} ${String(client)}`, Number(count)]))
  const day = Math.max(...rows.map((row) => Number(row['day'])))
  return new Map(addresses.map((address) => [address, used.get(`${day} ${clientHash(day, address)}`) ?? 0]))
}

test('PostgreSQL goes: calls are refused with a problem, nothing dies; it returns: both go on where they were', async () => {
  const address = '203.0.113.7'
  assert.equal((await callAs(address, services[0])).status, 200)
  await postgres.power('stop')
  for (const service of services) {
    await assertDown(service, address)
    assert.equal((await restCall(service.url, 'receipt-verify', { receipt: {} })).status, 200)
  }
  await postgres.power('start')
  for (const [index, service] of services.entries()) {
    await until('the service reaches its store again', async () => (await fetch(`${service.url}/health`)).status === 200)
    const { status, body } = await callAs(address, service)
    assert.equal(status, 200)
    assert.equal((body['allowance'] as { remaining: number }).remaining, FREE_DAILY - 2 - index)
    assert.equal(service.process.exitCode, null)
  }
  assert.equal((await callAs(address, services[0])).status, 402)
})

/** What a client meets while the store is away: the same problem on every way, and when to try again. */
async function assertDown(service: Service, address: string): Promise<void> {
  const health = await fetch(`${service.url}/health`)
  assert.equal(health.status, 503)
  const shown = (await health.json()) as { store: { kind: string; ok: boolean } }
  assert.deepEqual([shown.store.kind, shown.store.ok], ['postgres', false])
  const large = { text: 'word '.repeat(limits.unpaid_body_bytes / 4) }
  const refusals = [await callAs(address, service), await restCall(service.url, 'context-distill', large)]
  for (const { status, headers, body } of refusals) {
    assert.deepEqual([status, body['code'], body['charged'], body['retryable']], [503, 'STORE_UNAVAILABLE', false, true])
    assert.equal(headers.get('retry-after'), String(limits.store_retry_s))
  }
  const { message, headers } = mcpRequest('2025-11-25', 'tools/call', { name: 'context-distill', arguments: large })
  const answer = await postMcp(service.url, JSON.stringify(message), headers)
  assert.equal(answer.status, 503)
  assert.equal((answer.body['error'] as { data: { code: string } }).data.code, 'STORE_UNAVAILABLE')
}
