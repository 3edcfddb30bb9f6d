/**
 * Clients that take capacity without paying for it: the share of another network's calls that the service still answers. Attackers are
 * other processes. Latencies are measured by `npm run bench -- hostile`, not here: a test that depends on the speed of the machine fails by chance.
 */
// attack: thousands of connections with garbage or unfunded payments and unfinished bodies
// in: requests
// asset: capacity for calls
// attacker: client
// defence: a slot is taken when the body has arrived; a payment counts once its signature recovers; 8 unverified ones of a client
// attack: large bodies on every endpoint, finished or not
// in: requests
// asset: memory
// attacker: client
// defence: a budget of bytes and slots for bodies, by client, by network and in all, eight slots for payers alone; the network that
//   holds the most, or the slowest body, gives way
// attack: cheap requests that cost much
// in: requests
// asset: response time of others
// attacker: client
// defence: queues start the client with the least measured work, in slices of time

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { limits } from '../../../src/service/limits.ts'
import { startTestApp } from '../../support/app.ts'
import {
  answersOf,
  createVictim,
  FREE_CALL,
  heldMb,
  lasting,
  paidTerms,
  TARGET_SETTINGS,
  type Attack,
  type Claim,
  type Measured,
  type Target,
  type Victim,
  type VictimRates,
} from '../../support/hostile.ts'
import {
  BODY_READERS,
  cheapReads,
  heldBodies,
  heldCalls,
  newUnderwriter,
  repeated,
  unsignedInvoice,
} from '../../support/hostile-attacks.ts'
import { startService, type Service } from '../../support/service.ts'

const SECONDS = 4
const WARM_UP_S = 2
/** Of what is answered without an attack. */
const SHARE_MIN = 0.95
/** The budget of bodies, and as much again for connections and calls that are under way. */
const heldMaxMb = (connections: number) => (2 * limits.bodies_bytes + connections * limits.unpaid_body_bytes) / 1_048_576
const SENT_BYTES_MAX = 1.5 * 2 ** 30

let folder: string
let service: Service
let target: Target
let idle: Record<keyof VictimRates, Measured>

const RATES = { free: 40, paid: 3 }

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-hostile-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_TRUSTED_PROXIES: '127.0.0.1', ...TARGET_SETTINGS })
  target = { port: Number(new URL(service.url).port), pid: service.process.pid ?? 0, data_dir: folder }
  await (await payer(WARM_UP_S)).measure(RATES, WARM_UP_S)
  idle = await (await payer(SECONDS)).measure(RATES, SECONDS)
  assert.ok(Math.min(idle.free.share, idle.paid.share) > 0.5, `without an attack: ${JSON.stringify(idle)}`)
})
after(async () => {
  service.process.kill('SIGTERM')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

function payer(seconds: number): Promise<Victim> {
  return createVictim(target, RATES.paid * seconds)
}

/** What the victim gets while the attack runs; the attack is over when this resolves. */
async function during(start: () => Promise<Attack>): Promise<Record<keyof VictimRates, Measured>> {
  const victim = await payer(SECONDS)
  const attack = await start()
  const found = await victim.measure(RATES, SECONDS)
  await attack.stop()
  await lasting(1)
  return found
}

function assertServed(found: Record<keyof VictimRates, Measured>, what: string): void {
  for (const kind of ['free', 'paid'] as const) {
    const { share, statuses } = found[kind]
    assert.ok(share >= SHARE_MIN * idle[kind].share, `${what}: ${kind} calls answered ${share * 100} %: ${JSON.stringify(statuses)}`)
  }
}

for (const [claim, words] of [
  ['garbage', 'text for a payment'],
  ['nobody', 'a signature from which no account can be recovered'],
  ['unfunded', 'a payment of an account without funds'],
] as const satisfies readonly (readonly [Claim, string])[]) {
  test(`2,048 calls of 16 networks with ${words}, whose bodies never end, keep no other client out`, async () => {
    const terms = await paidTerms(target.port)
    assertServed(await during(() => heldCalls(target.port, { networks: 16, each: 128 }, { claim, terms })), claim)
  })
}

test('1,024 calls of two networks with text for a payment keep no other client out', async () => {
  assertServed(await during(() => heldCalls(target.port, { networks: 2, each: 512 }, { claim: 'garbage' })), 'two networks')
})

test('bodies of calls that arrive at a byte a second keep no other client out', async () => {
  const crowd = { networks: 16, each: 128 }
  assertServed(await during(() => heldCalls(target.port, crowd, { claim: 'garbage', drip_ms: 1_000 })), 'a byte a second')
})

/** What a service of this process holds of unfinished bodies, and what the victim gets meanwhile. */
async function held(networks: number, each: number, readers: (keyof typeof BODY_READERS)[]): Promise<{ grown_mb: number; free: Measured }> {
  const app = await startTestApp({ free_daily: 1_000_000 })
  try {
    const port = Number(new URL(app.url).port)
    const victim = await createVictim({ port, pid: process.pid, data_dir: app.data_dir }, 0)
    await victim.measure({ free: RATES.free }, 1)
    const before_mb = heldMb()
    const attack = await heldBodies(port, { networks, each }, readers, SENT_BYTES_MAX)
    const { free } = await victim.measure({ free: RATES.free }, SECONDS)
    const grown_mb = heldMb() - before_mb
    await attack.stop()
    return { grown_mb, free }
  } finally {
    await app.stop()
  }
}

for (const reader of ['mcp', 'rest', 'a2a'] as const) {
  test(`300 unfinished bodies of 5 MB at ${BODY_READERS[reader].path} are not kept in memory`, async () => {
    const { grown_mb, free } = await held(3, 100, [reader])

    assert.ok(grown_mb <= heldMaxMb(300), `held ${grown_mb} MB`)
    assert.ok(free.share >= SHARE_MIN, `free calls answered ${free.share * 100} %: ${JSON.stringify(free.statuses)}`)
  })
}

test('4,000 unfinished bodies of 250 networks, at every address that reads one, are not kept in memory', async () => {
  const { grown_mb, free } = await held(250, 16, ['rest', 'mcp', 'a2a', 'check', 'invoice'])

  assert.ok(grown_mb <= heldMaxMb(4_000), `held ${grown_mb} MB`)
  assert.ok(free.share >= SHARE_MIN, `free calls answered ${free.share * 100} %: ${JSON.stringify(free.statuses)}`)
})

test('64 connections that read log, invoice, directory, documents and payments leave calls of others answered', async () => {
  const { port } = target
  await answersOf(port, 1_000, 16, () => ({ ...FREE_CALL, headers: { 'content-type': 'application/json' } }))
  await answersOf(port, 300, 16, (number) => newUnderwriter(number, service.url))
  const [made] = await answersOf(port, 1, 1, () => unsignedInvoice(`0x${'4'.repeat(40)}`, 1))
  const { invoice_id } = JSON.parse(made?.text ?? '{}') as { invoice_id: string }
  await lasting(3)
  for (const [what, request] of Object.entries(cheapReads(invoice_id))) {
    // Documents are built once for each process, when they are first asked for (test/full/attacks/loop-block.test.ts).
    await answersOf(port, 1, 1, () => request)
    const victim = await createVictim(target, 0)
    const attack = await repeated(port, [request])
    const { free } = await victim.measure({ free: RATES.free }, 2)
    const { answers } = await attack.stop()
    assert.ok(Object.keys(answers).length > 0, `${what} was never answered`)
    assert.ok(
      free.share >= SHARE_MIN * idle.free.share,
      `${what}: free calls answered ${free.share * 100} %: ${JSON.stringify(free.statuses)}`,
    )
  }
})
