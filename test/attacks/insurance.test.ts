/** Attacks on the insurance directory, and on the chain through signatures that nobody pays for. */
// attack: signatures of contract wallets, transactions and pilot releases of unpaid requests
// in: money and signatures
// asset: the chain endpoint
// attacker: client
// defence: daily budgets by network and for all, a rate by network, failures count as those of payments
// attack: a thousand entries from one network, names of others at no premium
// in: money and signatures
// asset: the insurance directory
// attacker: client
// defence: entries are quoted only when a file of their domain names the key; unproven ones are bounded by network and displaced
// attack: terms that steer the proof file to private addresses, or a stream of requests to a domain
// in: money and signatures
// asset: other hosts
// attacker: client
// defence: the guard of registries without redirects; each file at most once in ten seconds

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { httpsProofs } from '../../src/adapters/public-https/choose.ts'
import { cachedDirectory } from '../../src/service/records/insurance.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { startAnvil } from '../support/anvil.ts'
import { asList } from '../support/documents.ts'
import { startRpcProxy } from '../support/faults-rpc.ts'
import { insuranceInMemory } from '../support/insurance-memory.ts'
import { insurer, type Card } from '../support/insurer.ts'
import { issue, send } from '../support/invoicing.ts'
import { startLiveWorld } from '../support/paying-world.ts'
import { fixedUnderwriters, NOON_S } from '../support/underwriters.ts'
import { startProofServer, type ProofServer } from '../support/proof-server.ts'
import { clockAt } from '../support/clock-at.ts'

let app: TestApp
let files: ProofServer
before(async () => {
  files = await startProofServer()
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' }, start: { underwriter_proofs: files.proofs } })
})
after(async () => {
  await app.stop()
  await files.server.stop()
})

const now_s = () => Math.floor(Date.now() / 1_000)
const from = (client: string) => ({ 'x-forwarded-for': client })

async function registered(client: string, change: Partial<Card> = {}, one = insurer(generatePrivateKey())) {
  const sent = await one.registration(app.url, now_s(), change)
  return { one, sent, ...(await send(`${app.url}/api/insurance/register`, sent, from(client))) }
}

const resent = async (body: unknown, client: string) => send(`${app.url}/api/insurance/register`, body, from(client))
const terms = (host: string) => ({ terms_uri: `https://${host}/terms` })

async function quoted(): Promise<unknown[]> {
  const { body } = await restCall(app.url, 'quote-3rd-party-insurance', { amount: 20_000 })
  return asList((body['result'] as Record<string, unknown>)['quotes']).map((quote) => quote['name'])
}

test('an entry at no premium under the name of another is listed as unproven, never quoted and never bound, until its domain names it', async () => {
  const valid_until = now_s() + 300 * 86_400
  const free = { name: 'Lloyds of London', rate_bps: 0, min_premium_minor: '0', valid_until, ...terms('lloyds.test-domain.com') }
  const { one, sent, status, body: first } = await registered('10.40.0.1', free)
  assert.deepEqual([status, first['proven'], first['proven_at'], first['proven_domain']], [201, false, null, null])
  // Seven days, give or take the seconds of the test.
  assert.ok(Math.abs(Number(first['listed_until']) - now_s() - 7 * 86_400) <= 60)
  assert.deepEqual(await quoted(), [])
  const { body: bound } = await restCall(app.url, 'bind-insurance-policy', { underwriter_id: one.address, amount: 20_000 })
  const result = bound['result'] as Record<string, unknown>
  assert.deepEqual([result['reason_code'], result['certificate']], ['not_proven', null])
  const { body: list } = await restCall(app.url, 'list-approved-insurers', {})
  assert.deepEqual(
    asList((list['result'] as Record<string, unknown>)['insurers']).map(({ name, proven }) => [name, proven]),
    [['Lloyds of London', false]],
  )
  // Another host of the same server names it: that proves nothing about this one.
  files.serve('other.test-domain.com', { underwriters: [one.address] })
  const again = await resent(sent, '10.40.0.1')
  assert.deepEqual([again.status, again.body['proven']], [200, false])
})

test('a proven underwriter is quoted with the domain that proved it, and a replay without the file takes nothing away', async () => {
  const one = insurer(generatePrivateKey())
  files.serve('rueck-one.com', { underwriters: [`0x${'1'.repeat(40)}`, one.address] })
  const card = { name: 'Rueck One', ...terms('rueck-one.com') }
  const { sent, status, body: first } = await registered('10.41.0.1', card, one)
  assert.deepEqual([status, first['proven'], first['proven_domain'], first['proof_source']], [201, true, 'rueck-one.com', 'https'])
  assert.ok(Math.abs(Date.parse(String(first['proven_at'])) / 1_000 - now_s()) <= 60)
  assert.deepEqual(await quoted(), ['Rueck One'])
  files.server.manner.delete('rueck-one.com')
  const replayed = await resent(sent, '10.99.0.1')
  assert.deepEqual([replayed.status, replayed.body['proven']], [200, true])
  assert.deepEqual(await quoted(), ['Rueck One'])
})

test('files that prove nothing: of another form, elsewhere by a redirect, too long, on a platform that gives names to anyone', async () => {
  const one = insurer(generatePrivateKey())
  files.serve('good.test-files.com', { underwriters: [one.address] })
  files.server.manner.set('redirect.test-files.com', (_, response) => {
    response.writeHead(302, { location: `${files.server.url}good.test-files.com` }).end()
  })
  files.serve('form.test-files.com', { underwriters: { 0: one.address } })
  files.serve('text.test-files.com', one.address)
  files.serve('long.test-files.com', { underwriters: [one.address], padding: 'a'.repeat(16_384) })
  files.serve('many.test-files.com', { underwriters: [...Array.from({ length: 100 }, () => `0x${'2'.repeat(40)}`), one.address] })
  files.serve('someone.github.io', { underwriters: [one.address] })
  const hosts = ['redirect', 'form', 'text', 'long', 'many', 'absent'].map((name) => `${name}.test-files.com`)
  let issued_at = now_s() - 100
  for (const uri of [...hosts, 'someone.github.io', 'good.test-files.com:8443', '203.0.113.7'].map((host) => `https://${host}/terms`)) {
    const { status, body } = await registered('10.42.0.1', { terms_uri: uri, issued_at: issued_at++ }, one)
    assert.deepEqual([status, body['proven']], [201, false], uri)
    assert.ok(typeof (body['proof'] as Record<string, unknown>)['reason'] === 'string', uri)
  }
  const good = await registered('10.42.0.1', { ...terms('good.test-files.com'), issued_at }, one)
  assert.deepEqual([good.status, good.body['proven']], [201, true])
})

test('terms do not steer the reader to hosts of this machine', async () => {
  const connections = files.server.connections()
  const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const proofs = httpsProofs({ clock: systemClock, resolve })
  for (const host of ['rebound.test-domain.com', '127.0.0.1', '169.254.169.254', '[::1]', `127.0.0.1:${files.server.port}`]) {
    const { kind } = await proofs.check(host, `0x${'1'.repeat(40)}`, '10.42.0.2')
    assert.equal(kind, 'unreachable', host)
  }
  assert.equal(files.server.connections(), connections)
})

test('one network keeps five unproven entries, one domain proves five', async () => {
  const statuses: unknown[] = []
  for (let entry = 0; entry < 7; entry++) {
    // Clients of one /48, each with a /64 of its own.
    const { status, body } = await registered(`2001:db8:5:${entry}::1`, terms(`n${entry}.test-network.com`))
    statuses.push(status === 201 ? 201 : body['code'])
  }
  assert.deepEqual(statuses, [201, 201, 201, 201, 201, 'INSURANCE_RATE_LIMITED', 'INSURANCE_RATE_LIMITED'])
  const proven: unknown[] = []
  for (let entry = 0; entry < 6; entry++) {
    const one = insurer(generatePrivateKey())
    files.serve(`h${entry}.wildcard-domain.com`, { underwriters: [one.address] })
    const { status, body } = await registered('10.43.0.1', terms(`h${entry}.wildcard-domain.com`), one)
    proven.push(status === 201 ? body['proven'] : body['code'])
  }
  assert.deepEqual(proven, [true, true, true, true, true, 'INSURANCE_RATE_LIMITED'])
})

test('the directory is read by bounded pages, each entry once', async () => {
  const page = async (query: string) => {
    const response = await fetch(`${app.url}/api/insurance/register${query}`)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const whole = await page('')
  const all = asList(whole.body['underwriters']).map(({ underwriter_id }) => underwriter_id)
  assert.deepEqual([whole.body['count'], whole.body['next_cursor']], [all.length, null])
  assert.ok(all.length > 6)
  const found: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await page(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    const some = asList(body['underwriters'])
    assert.ok(some.length <= 2)
    assert.equal(body['directory_hash'], whole.body['directory_hash'])
    found.push(...some.map(({ underwriter_id }) => underwriter_id))
    cursor = body['next_cursor'] as string | null
  }
  assert.deepEqual(found, all)
  for (const query of ['?limit=0', '?limit=101', '?limit=1e2', '?cursor=x', '?cursor=p_'])
    assert.deepEqual([(await page(query)).status, (await page(query)).body['code']], [400, 'INSURANCE_REQUEST_INVALID'], query)
})

test('a flood of reads of the directory reads the store once in five seconds, and at once after a write', async () => {
  const store = insuranceInMemory(fixedUnderwriters())
  let reads = 0
  let now_ms = NOON_S * 1_000
  const counted = { ...store, underwriters: (at_s: number) => (reads++, store.underwriters(at_s)) }
  const directory = cachedDirectory(
    counted,
    clockAt(() => now_ms),
  )
  const flood = async () =>
    (await Promise.all(Array.from({ length: 1_000 }, () => directory.underwriters(NOON_S)))).map((rows) => rows.length)
  assert.deepEqual([new Set(await flood()), reads], [new Set([4]), 1])
  now_ms += 4_999
  await flood()
  assert.equal(reads, 1)
  const [first] = await directory.underwriters(NOON_S)
  assert.equal(await directory.remove(first?.address ?? '', NOON_S), true)
  assert.deepEqual([new Set(await flood()), reads], [new Set([3]), 2])
  now_ms += 5_000
  await flood()
  assert.equal(reads, 3)
})

/** Calls of isValidSignature(bytes32,bytes) among what the node was asked. */
const ASKS_WALLET = '0x1626ba7e'

test('signatures that nobody pays for read the chain within the budgets of their network and of all', async (t) => {
  const anvil = await startAnvil()
  const proxy = await startRpcProxy(anvil.rpc_url)
  let asked = 0
  proxy.misbehave(async ({ calls, ask, answer }) => {
    asked += calls.filter(({ params }) => JSON.stringify(params).includes(ASKS_WALLET)).length
    answer(await ask(calls))
  })
  const settings = { ASSAY_SOURCE_READS_DAILY_NETWORK: '4', ASSAY_SOURCE_READS_DAILY: '40' }
  const world = await startLiveWorld({ anvil, rpc_url: proxy.url, settings })
  t.after(async () => {
    await world.stop()
    await proxy.stop()
    await anvil.stop()
  })
  const invoice = await issue(world, '10')
  const forged = await insurer(generatePrivateKey()).registration(world.url, now_s(), { underwriter: `0x${'7'.repeat(40)}` })
  const attempts: ((client: string) => ReturnType<typeof send>)[] = [
    (client) => send(`${world.url}/api/insurance/register`, forged, from(client)),
    (client) => send(`${world.url}/api/invoice/${invoice.invoice_id}/sign`, { signature: `0x${'ab'.repeat(65)}` }, from(client)),
    (client) => send(`${world.url}/api/invoice/${invoice.invoice_id}/void`, { signature: `0x${'cd'.repeat(65)}` }, from(client)),
  ]
  // Form and dates are faults without any chain.
  for (let call = 0; call < 5; call++) {
    const expired = { ...forged, entry: { ...forged.entry, valid_until: now_s() - 1 } }
    assert.equal((await send(`${world.url}/api/insurance/register`, expired, from('10.50.0.1'))).status, 400)
  }
  assert.equal(asked, 0)
  const codes: unknown[] = []
  for (let call = 0; call < 12; call++) codes.push((await attempts[call % 3]?.(`10.50.0.${call + 1}`))?.body['code'])
  assert.equal(asked, 4)
  assert.deepEqual(codes.slice(0, 6), [
    'INSURANCE_REQUEST_INVALID',
    'INVOICE_SIGNATURE_INVALID',
    'INVOICE_SIGNATURE_INVALID',
    'INSURANCE_REQUEST_INVALID',
    'INVOICE_RATE_LIMITED',
    'INVOICE_RATE_LIMITED',
  ])
  // Sixty networks with three attempts each: 180 attempts, 40 reads a day for all.
  for (let network = 0; network < 60; network++) await Promise.all(attempts.map((attempt) => attempt(`10.51.${network}.1`)))
  assert.equal(asked, 40)
  const named = await send(
    `${world.url}/api/invoice/${invoice.invoice_id}/transactions`,
    { tx_hash: `0x${'1'.repeat(64)}` },
    from('10.60.0.1'),
  )
  assert.deepEqual([named.status, named.body['code']], [429, 'INVOICE_RATE_LIMITED'])
})

test('failed signatures count against the client over all endpoints, as failed payments do', async (t) => {
  const anvil = await startAnvil()
  const world = await startLiveWorld({ anvil })
  t.after(async () => {
    await world.stop()
    await anvil.stop()
  })
  const invoice = await issue(world, '10')
  const sign = (what: string, client: string) =>
    send(`${world.url}/api/invoice/${invoice.invoice_id}/${what}`, { signature: `0x${'ab'.repeat(65)}` }, from(client))
  for (let call = 0; call < 20; call++) assert.equal((await sign('sign', '10.70.0.1')).body['code'], 'INVOICE_SIGNATURE_INVALID')
  const forged = await insurer(generatePrivateKey()).registration(world.url, now_s(), { underwriter: `0x${'7'.repeat(40)}` })
  const register = () => send(`${world.url}/api/insurance/register`, forged, from('10.70.0.1'))
  for (let call = 0; call < 10; call++) assert.equal((await register()).body['code'], 'INSURANCE_REQUEST_INVALID')
  // Thirty failures; the bounds of each endpoint by itself would still let it in.
  const next = [await register(), await sign('sign', '10.70.0.1')]
  assert.deepEqual(
    next.map(({ status, body }) => [status, body['code']]),
    [
      [429, 'INSURANCE_RATE_LIMITED'],
      [429, 'INVOICE_RATE_LIMITED'],
    ],
  )
  assert.equal((await sign('sign', '10.70.1.1')).body['code'], 'INVOICE_SIGNATURE_INVALID')
})
