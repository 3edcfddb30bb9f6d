/** Many networks at the same time use up the rate of reads that all share: an honest client waits for its turn, and nobody is given the limit of others. */
// attack: registrations of 300 networks at the same time, so that others are refused
// in: money and signatures
// asset: unpaid reads
// attacker: client
// defence: requests wait, and networks take turns; a share for accounts that were paid or proven; the refusal says whose limit it is

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { createFairTurns } from '../../src/service/admission/fair-turns.ts'
import { limits } from '../../src/service/limits.ts'
import { createOutsideReads } from '../../src/service/payments/allowance.ts'
import { createFailureCount, ON_CHAIN_LIMITS } from '../../src/service/payments/reserved-balances.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { clockAt } from '../support/clock-at.ts'
import { insurer } from '../support/insurer.ts'
import { send } from '../support/invoicing.ts'
import { startProofServer, type ProofServer } from '../support/proof-server.ts'
import { until } from '../support/until.ts'

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
const register = (body: unknown, client: string) => send(`${app.url}/api/insurance/register`, body, from(client))

test('300 registrations of 300 networks at the same time refuse no honest underwriter, new or proven', async () => {
  const [proven, fresh] = [insurer(generatePrivateKey()), insurer(generatePrivateKey())]
  for (const [host, one] of [
    ['proven-rueck.com', proven],
    ['fresh-rueck.com', fresh],
  ] as const)
    files.serve(host, { underwriters: [one.address] })
  const card = (host: string, issued_at: number) => ({ name: 'Rueck', terms_uri: `https://${host}/terms`, issued_at })
  const first = await register(await proven.registration(app.url, now_s(), card('proven-rueck.com', now_s() - 100)), '198.51.100.1')
  assert.deepEqual([first.status, first.body['proven']], [201, true])
  const floods = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => ({
      body: await insurer(generatePrivateKey()).registration(app.url, now_s(), {
        name: 'Flood',
        terms_uri: `https://flood-${index}.com/terms`,
      }),
      client: `10.${index % 3}.${index}.1`.replace(/\.(\d+)\.1$/, (_all, third: string) => `.${Number(third) % 256}.1`),
    })),
  )
  const honest = [
    { body: await fresh.registration(app.url, now_s(), card('fresh-rueck.com', now_s() - 50)), client: '203.0.113.9' },
    { body: await proven.registration(app.url, now_s(), card('proven-rueck.com', now_s() - 50)), client: '198.51.100.1' },
  ]
  const flooding = floods.map(({ body, client }) => register(body, client))
  const answers = await Promise.all(honest.map(({ body, client }) => register(body, client)))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body['proven']]),
    [
      [201, true],
      [201, true],
    ],
  )
  const statuses = (await Promise.all(flooding)).map(({ status }) => status)
  assert.ok(statuses.every((status) => [201, 429, 503].includes(status)))
})

test('provider networks take turns, and networks within them', async () => {
  let units = 0
  const take = () => units > 0 && units-- > 0
  const turns = createFairTurns({ take, every_ms: 1, wait_ms: 60_000, network: 3, provider: 40, all: 60 })
  const served: string[] = []
  const wait = (address: string) =>
    turns.wait(address).then((taken) => {
      if (taken) served.push(address)
      return taken
    })
  const attackers = Array.from({ length: 40 }, (_, index) => wait(`10.0.${index % 20}.1`))
  const [honest, neighbour] = [wait('192.0.2.1'), wait('198.51.100.1')]
  assert.equal(await turns.wait('10.0.99.1'), false, 'the provider network has enough that wait')
  assert.equal(turns.is_idle(), false)
  units = 3
  await until('three turns', () => served.length === 3)
  assert.deepEqual(await Promise.all([honest, neighbour]), [true, true])
  units = 39
  assert.ok((await Promise.all(attackers)).every(Boolean))
  assert.equal(turns.is_idle(), true)
})

test('a refusal says whose limit is reached', async () => {
  const clock = { ...systemClock, ...clockAt(() => 0) }
  let spent: 'network' | 'provider' | 'all' | null = null
  const sources = { take: () => Promise.resolve({ spent, give_back: () => Promise.resolve() }), resets_in_s: () => 60 }
  const reads = createOutsideReads({ clock, sources, failures: createFailureCount(clock, ON_CHAIN_LIMITS) })
  const refusal = async (address: string) => {
    const taken = await reads.take(address, 'INSURANCE_RATE_LIMITED')
    return taken.ok ? '' : (taken.problem.detail ?? '')
  }
  for (const [budget, words] of [
    ['network', /^Your network/],
    ['provider', /^Your provider's network/],
    ['all', /service's, not yours/],
  ] as const) {
    spent = budget
    assert.match(await refusal('192.0.2.1'), words)
  }
  spent = null
  for (let read = 0; read < limits.unpaid_reads_per_minute_network - 3; read++) assert.equal(await refusal('192.0.2.1'), '')
  assert.match(await refusal('192.0.2.200'), /^Requests without a payment from your network/)
})
