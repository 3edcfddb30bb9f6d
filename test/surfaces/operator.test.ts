/** The operator port: what it shows beyond the public one, to whom it answers, and how a start ends that cannot open it. */
// attack: reading what is left to drain it, or whether an attack has an effect; DNS rebinding to the operator port
// in: requests
// asset: balances, budgets, memory, event-loop delay
// attacker: client, web page
// defence: shown on the operator port alone, which names of this machine reach

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { limits } from '../../src/service/limits.ts'
import { exchange, get, sendRaw } from '../attacks/wire.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { INPUT, signed, TOOL, v2 } from '../support/paying-calls.ts'
import { refusedService, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

let app: TestApp
let operator_url: string
before(async () => {
  app = await startTestApp({ settings: { ASSAY_SOURCE_READS_DAILY: '77' } })
  operator_url = app.running.operator_url ?? assert.fail('no operator port')
})
after(() => app.stop())

const healthOf = async (url: string) => asMembers(await (await fetch(`${url}/health`)).json())
const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()

test('balances, budgets, memory and event-loop delay are shown on the operator port alone', async () => {
  const known = Object.keys(await healthOf(app.url))
  await until('the gas wallets were looked at', async () => !JSON.stringify((await healthOf(operator_url))['gas_wallets']).includes('null'))
  const health = await healthOf(operator_url)
  assert.deepEqual(Object.keys(health), [...known, 'gas_wallets', 'budgets'])
  const [wallet] = health['gas_wallets'] as Record<string, string>[]
  assert.deepEqual(Object.keys(wallet ?? {}), ['balance_wei', 'least_balance_wei', 'budget_left_wei'])
  for (const value of Object.values(wallet ?? {})) assert.match(value, /^\d+$/)
  assert.deepEqual(health['budgets'], { source_reads_daily: { limit: 77, used: 0 } })
  // In this order: gauges that are first seen between the two are on both.
  const whole = await metricsOf(operator_url)
  const shown = await metricsOf(app.url)
  const names = (text: string) => Array.from(text.matchAll(/^# TYPE (\w+) /gm), ([, name = '']) => name)
  const more = names(whole).filter((name) => !names(shown).includes(name))
  const of_process = more.filter((name) => /^(?:process|nodejs)_/.test(name))
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_eventloop_lag_p99_seconds'])
    assert.ok(of_process.includes(name), name)
  assert.doesNotMatch(shown, /nodejs_|^process_|event_loop/m)
  const own = more.filter((name) => !of_process.includes(name))
  assert.deepEqual(own.toSorted(), [
    'assay_event_loop_lag_ms',
    'assay_gas_balance_gwei',
    'assay_gas_budget_left_gwei',
    'assay_gas_comfort_gwei',
    'assay_source_reads_left',
    'assay_sponsored_left',
    'assay_webhook_deliveries',
  ])
  assert.match(whole, /^assay_source_reads_left 77$/m)
  for (const path of ['/health', '/status', '/status/history.json', '/metrics'])
    assert.doesNotMatch(await (await fetch(app.url + path)).text(), /assay_gas|gas_wallets|budget|wei\b/, path)
})

test('it answers its own paths alone, to GET and HEAD, and to names of this machine alone', async () => {
  const statuses = async (bytes: string) => (await sendRaw(operator_url, bytes)).status
  assert.equal(await statuses(get('/health')), 200)
  assert.equal(await statuses(get('/health', '', '[::1]:8403')), 200)
  // A web page whose own name was made to point here.
  for (const host of ['rebound.example', '127.0.0.1.rebound.example', 'localhost.example:8403'])
    assert.equal(await statuses(get('/health', '', host)), 400)
  assert.equal(await statuses(get('/v1/tools')), 404)
  assert.equal(await statuses('POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'), 405)
  assert.match(
    await exchange(operator_url, 'HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 200 [^]*\r\n\r\n$/,
  )
  const { headers } = await fetch(`${operator_url}/health`)
  assert.equal(headers.get('access-control-allow-origin'), null)
})

test('the operator page counts calls and payments, its tables are CSV, and the counts survive a restart', async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-operator-page-'))
  const options = { data_dir, settings: { ASSAY_FREE_DAILY: '2' } }
  const first = await startTestApp(options)
  const call = (headers: Record<string, string> = {}) => restCall(first.url, TOOL, INPUT, headers)
  assert.deepEqual([(await call()).status, (await call()).status, (await call()).status], [200, 200, 402])
  const payer = privateKeyToAccount(`0x${(await readFile(join(data_dir, 'sandbox/payer.key'), 'utf8')).trim().replace(/^0x/, '')}`)
  assert.equal((await call(v2(await signed(first.url, payer)))).status, 200)
  await first.stop()

  const second = await startTestApp(options)
  const page = second.running.operator_url ?? assert.fail('no operator port')
  const rowsOf = async (file: string) => (await (await fetch(`${page}/operator/${file}`)).text()).trimEnd().split('\r\n')
  const today = new Date().toISOString().slice(0, 10)
  const [head, newest] = await rowsOf('days.csv')
  assert.equal(head, 'day,income USDC,settled,calls,free,asked to pay,paid,refused,failed')
  // Two free answers, two answers with terms (the second was asked for by the payer), one paid.
  assert.match(newest ?? '', new RegExp(`^${today},0\\.005,1,5,2,2,1,0,0$`))
  assert.ok((await rowsOf('tools.csv')).includes(`${TOOL},5,0,0.005`))
  assert.ok((await rowsOf('payments.csv')).includes('settled,1,0.005,'))
  assert.ok((await rowsOf('datasets.csv')).some((row) => /^ofac-addresses,\d{4}-\d\d-\d\d,\d+,\d+,30$/.test(row)))
  assert.ok((await rowsOf('leases.csv')).some((row) => row.startsWith('reconcile,')))
  const connections = (await rowsOf('resources.csv')).find((row) => row.startsWith('connections,'))
  assert.match(connections ?? '', /^connections,"one network 1,024, all 4,096",process,,\d+$/)
  const response = await fetch(`${page}/operator`)
  const text = await response.text()
  assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  assert.match(text, /0\.005 USDC from 1 settled payments/)
  for (const [, path = ''] of text.matchAll(/href="(\/[^"]+)"/g)) assert.equal((await fetch(page + path)).status, 200, path)
  // Nothing of it is on the public port.
  assert.equal((await fetch(`${second.url}/operator`)).status, 404)
  assert.equal((await fetch(`${page}/operator/constructor`)).status, 404)
  await second.stop()
  await rm(data_dir, { recursive: true })
})

test('its own idle connections make room for probes', async () => {
  const { hostname, port } = new URL(operator_url)
  const sockets = Array.from({ length: 2 * limits.operator_connections }, () =>
    connect(Number(port), hostname).on('error', () => undefined),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  assert.equal((await sendRaw(operator_url, get('/health'))).status, 200)
  for (const socket of sockets) socket.destroy()
})

test('a port that is taken stops the start with a sentence that names the setting, and off opens none', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const folder = await mkdtemp(join(tmpdir(), 'assay-operator-'))
  const settings = { ...LIVE, ASSAY_DATA_DIR: folder }
  assert.deepEqual(await refusedService({ ...settings, ASSAY_ADMIN_PORT: String(port) }), {
    code: 78,
    notes: `assay: Port ${port} on 127.0.0.1 is taken; stop the other program or set ASSAY_ADMIN_PORT.\n`,
  })
  other.close()
  const without = await startService({ ...settings, ASSAY_ADMIN_PORT: 'off' })
  assert.doesNotMatch(without.notes(), /operator/)
  without.process.kill('SIGTERM')
  await without.ended
  await rm(folder, { recursive: true })
})

/** Live, so that no chain is started; nothing is asked of it. */
const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_CHAIN_ID: '84532',
  ASSAY_RPC_URLS: 'http://127.0.0.1:9',
  ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9',
  ASSAY_PAY_TO: '0x1000000000000000000000000000000000000001',
}
