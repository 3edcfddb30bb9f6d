/** The clock of one of two machines jumps by an hour while they serve: nothing is charged wrongly, nothing hangs, and leases keep the time of the store. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { restCall } from '../support/app.ts'
import { assertLedgerProved } from '../support/fault-audit.ts'
import { AHEAD_MS, BEHIND_MS, shiftableClock, type ShiftableClock } from '../support/fault-clock.ts'
import { watchLeases } from '../support/fault-leases.ts'
import { FREE_DAILY, FREE_TOOL, startPair, type Pair } from '../support/fault-pair.ts'
import * as buyers from '../support/faults-buyer.ts'
import { liveDeployment } from '../support/faults-live.ts'
import { startFaulty } from '../support/faults-process.ts'
import { termsOf } from '../support/paying.ts'
import { query } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const LEI = { lei: '506700GE1G29325QX363' }
const WAIT_MS = 40_000
const TAKEOVER_MS = 10_000
const SINGLE = ['settlement:', 'reconcile', 'invoices', 'receipts-log'] as const

let folder: string
let clock: ShiftableClock
let pair: Pair
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-clock-'))
  clock = shiftableClock(join(folder, 'ahead-ms'))
  // Only the first service has such a clock; it has the leases, too.
  pair = await startPair({ settings: [clock.settings, {}] })
})
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true })
})

let settled = 0

/** One payment, signed by the terms of one service and sent to another until it is answered. */
async function paid(signed_at: string, url: string): Promise<void> {
  const buyer = await buyers.newBuyer(pair.anvil, signed_at)
  await buyers.assertPaidOnce(pair.anvil, pair.live, url, buyer, await buyers.insist(url, buyer, WAIT_MS))
  settled++
}

for (const [name, shift_ms] of [
  ['forward', AHEAD_MS],
  ['back', BEHIND_MS],
] as const) {
  test(`an hour ${name}: each service answers or refuses by name, and takes nothing for a refusal`, { timeout: 120_000 }, async (t) => {
    const [jumped, steady] = pair.services
    await paid(jumped.url, jumped.url)
    await clock.shift(jumped.process, shift_ms)
    await paid(steady.url, steady.url)
    const buyer = await buyers.newBuyer(pair.anvil, jumped.url)
    const reply = await buyers.send(jumped.url, buyer)
    assert.ok(reply !== null)
    t.diagnostic(`a payment at the service whose clock jumped ${name}: ${reply.status} ${String(reply.body['code'])}`)
    // A quarter of an hour of validity is over by the one clock; by the other it begins too far away, or the chain seems to lie in the future.
    if (reply.status !== 200) {
      assert.ok([402, 503].includes(reply.status) && reply.body['charged'] === false, JSON.stringify(reply.body))
      assert.equal(typeof reply.body['code'], 'string')
      await buyers.assertUntouched(pair.anvil, pair.live, buyer)
    }
    // The same payment is good where the time is right, and good once.
    await buyers.assertPaidOnce(pair.anvil, pair.live, steady.url, buyer, await buyers.insist(steady.url, buyer, WAIT_MS))
    settled++
    await samePrice()
    await freeCalls()
    await clock.shift(jumped.process, 0)
    await paid(jumped.url, jumped.url)
    for (const { process } of pair.services) assert.equal(process.exitCode, null)
  })
}

/** Epochs are counted by the time of the store, so that both ask the same; a price that moved in between is asked for again. */
async function samePrice(): Promise<void> {
  const price = async (url: string) => (await termsOf(url, buyers.TOOL, buyers.INPUT)).accepts[0].amount
  await until('both ask the same price', async () => {
    const [one, other] = await Promise.all(pair.urls().map((url) => price(url)))
    return one === other
  })
}

let clients = 0

/** Whatever day a service believes it is, nobody has more than three free calls of one day. */
async function freeCalls(): Promise<void> {
  const client = { 'x-forwarded-for': `198.18.1.${clients++}` }
  const statuses: number[] = []
  for (let count = 0; count < 2 * FREE_DAILY + 2; count++) {
    const url = pair.urls()[count % 2] ?? ''
    statuses.push((await restCall(url, FREE_TOOL, LEI, client)).status)
  }
  const granted = statuses.filter((status) => status === 200).length
  const days = new Set((await query(pair.store, 'select distinct day from allowance')).map(({ day }) => day)).size
  assert.ok(granted >= FREE_DAILY && granted <= FREE_DAILY * days, String(statuses))
  assert.ok(statuses.every((status) => status === 200 || status === 402))
  assert.deepEqual(await query(pair.store, `select client from allowance where bucket = 'general' and used > ${FREE_DAILY}`), [])
}

test(
  'killed while its clock is an hour ahead: the other takes every lease over, no later than from anybody else',
  { timeout: 120_000 },
  async (t) => {
    const leases = await watchLeases(pair.store)
    t.after(() => leases.stop())
    const [jumped, steady] = pair.services
    await clock.shift(jumped.process, AHEAD_MS)
    await until('leases are held', () => SINGLE.every((name) => leases.renewed(name)), WAIT_MS)
    const furthest = await query(
      pair.store,
      `select max(until_ms) - floor(extract(epoch from clock_timestamp()) * 1000) as left_ms from lease where ${SINGLE.map((name) => `name like '${name}%'`).join(' or ')}`,
    )
    assert.ok(Number(furthest[0]?.['left_ms']) <= TAKEOVER_MS, 'no lease ends later by an hour')
    await pair.kill(0)
    const death_ms = await leases.now_ms()
    await paid(steady.url, steady.url)
    await until('all leases are with the other', () => SINGLE.every((name) => leases.writtenAfter(name, death_ms)), WAIT_MS)
    for (const { lease, gap_ms } of leases.takeovers) t.diagnostic(`${lease} was taken over ${gap_ms} ms after the last write`)
  },
)

test('the ledger is what the chain says', async () => {
  await assertLedgerProved(pair.anvil, pair.live, await openStore(pair.store), settled)
})

test(
  'a service of one machine whose clock was an hour ahead takes payments when it is set back, not an hour later',
  { timeout: 120_000 },
  async (t) => {
    const live = await liveDeployment(pair.anvil)
    t.after(live.remove)
    const own = shiftableClock(join(folder, 'alone-ahead-ms'))
    const alone = await startFaulty({ ...live.settings, ...own.settings })
    t.after(() => alone.stop())
    const paying = async () => {
      const buyer = await buyers.newBuyer(pair.anvil, alone.url)
      await buyers.assertPaidOnce(pair.anvil, live, alone.url, buyer, await buyers.insist(alone.url, buyer, WAIT_MS))
    }
    await paying()
    await own.shift(alone.process, AHEAD_MS)
    // What it remembers of the chain now must not outlast the jump.
    const refused = await buyers.send(alone.url, await buyers.newBuyer(pair.anvil, pair.services[1].url))
    assert.notEqual(refused?.status, 200)
    await own.shift(alone.process, 0)
    await paying()
  },
)
