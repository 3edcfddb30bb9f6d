/** The service, killed at each step of a paid call, over a chain that goes on: nobody is charged twice, and no answer that was paid for is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { FAULT_POINTS } from '../../src/service/payments/settlement.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { runs } from '../support/counts.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer } from '../support/faults-buyer.ts'
import { assertLedgerIsChain, chainAhead, heartbeat, liveDeployment, witnessOf, type Live } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import { until } from '../support/until.ts'

type PaidPoint = (typeof FAULT_POINTS)[number]

/** What the chain shows when the process has died there. */
const SETTLED_AT_DEATH: Record<PaidPoint, number> = {
  after_claim: 0,
  after_prepare: 0,
  before_send: 0,
  after_send: 1,
  before_settled_row: 1,
}
/** Nothing was sent, so nobody may settle it unasked: the claim is held for a minute, then let go. */
const HELD: readonly PaidPoint[] = ['after_claim', 'after_prepare']
const FULL = runs(0, 1) === 1
/** The service that follows lives in a time when that minute is over. */
const AHEAD_MS = 61_000
const BOUND_MS = 90_000

let anvil: Anvil
let stopHeart: () => Promise<void>

before(async () => {
  anvil = await startAnvil()
  await chainAhead(anvil, AHEAD_MS)
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await anvil.stop()
})

/** A deployment whose service has died at the point while it served one payment. */
async function died(die_at: PaidPoint): Promise<{ live: Live; buyer: Buyer }> {
  const live = await liveDeployment(anvil)
  const service = await startFaulty(live.settings, { die_at })
  const buyer = await buyers.newBuyer(anvil, service.url)
  // Seven services start at once: one may be told to come again, which costs nothing.
  await until('the service to die of the payment', async () => {
    const reply = await buyers.send(service.url, buyer)
    if (reply !== null) assert.deepEqual([reply.status, reply.body['charged']], [503, false], JSON.stringify(reply.body))
    return reply === null
  })
  assert.equal((await service.ended).signal, 'SIGKILL')
  assert.equal(await buyers.settlements(anvil, live, buyer), SETTLED_AT_DEATH[die_at])
  return { live, buyer }
}

const options = { concurrency: 7, timeout: 180_000 }

describe('killed at a step, then started again', options, () => {
  for (const point of FAULT_POINTS) {
    // attack: charged without an answer, or twice
    // in: money and signatures
    // asset: payers' money
    // attacker: a crash
    // defence: conditional state changes; answers are stored before the transfer is sent
    test(`${point}: the same payment sent again is answered, and charged once`, async (t) => {
      const { live, buyer } = await died(point)
      t.after(live.remove)
      const service = await startFaulty(live.settings, { ahead_ms: HELD.includes(point) ? AHEAD_MS : 0 })
      const reply = await buyers.insist(service.url, buyer, BOUND_MS)
      await buyers.assertPaidOnce(anvil, live, service.url, buyer, reply)
      const again = await buyers.insist(service.url, buyer)
      assert.deepEqual(again.body, reply.body)
      await assertLedgerIsChain(anvil, live)
      await service.stop()
    })
  }

  for (const point of FULL ? FAULT_POINTS : (['after_prepare', 'after_send'] as const)) {
    test(`${point}: a payer who is never heard of again is ${HELD.includes(point) ? 'let go uncharged' : 'charged once'}`, async (t) => {
      const { live, buyer } = await died(point)
      t.after(live.remove)
      const service = await startFaulty(live.settings, { ahead_ms: AHEAD_MS })
      const [end, charged] = HELD.includes(point) ? ['released', false] : ['settled', true]
      const ended = async () => (await buyers.statusOf(service.url, buyer))['state'] === end
      await until(`a payment that nobody asks for is ${end}`, ended, BOUND_MS)
      assert.equal((await buyers.statusOf(service.url, buyer))['charged'], charged)
      assert.equal(await buyers.settlements(anvil, live, buyer), charged ? 1 : 0)
      if (!charged) await buyers.assertUntouched(anvil, live, buyer)
      // Nor does a late resend pay twice: a claim that was let go may be taken up again, an answer that was paid for is kept.
      await buyers.assertPaidOnce(anvil, live, service.url, buyer, await buyers.insist(service.url, buyer))
      await service.stop()
    })
  }
})

describe('killed while ten pay', { concurrency: 5, timeout: 400_000 }, () => {
  for (const die_at of FULL ? FAULT_POINTS : (['after_prepare'] as const)) {
    test(`${die_at}: each is charged once and has an answer, and the ledger equals the chain`, async (t) => {
      const live = await liveDeployment(anvil)
      t.after(live.remove)
      const dying = await startFaulty(live.settings, { die_at, die_nth: HELD.includes(die_at) ? 5 : 1 })
      const ten: Buyer[] = []
      for (let count = 0; count < 10; count++) ten.push(await buyers.newBuyer(anvil, dying.url))
      await Promise.all(ten.map((buyer) => buyers.send(dying.url, buyer)))
      assert.equal((await dying.ended).signal, 'SIGKILL')
      const service = await startFaulty(live.settings, { ahead_ms: AHEAD_MS })
      const replies = await Promise.all(ten.map((buyer) => buyers.insist(service.url, buyer, BOUND_MS)))
      for (const [index, buyer] of ten.entries()) {
        const reply = replies[index]
        assert.ok(reply !== undefined)
        await buyers.assertPaidOnce(anvil, live, service.url, buyer, reply)
      }
      assert.equal(
        await witnessOf(anvil).received(live.pay_to),
        ten.reduce((total, { price_minor }) => total + price_minor, 0n),
      )
      await assertLedgerIsChain(anvil, live)
      await service.stop()
    })
  }
})
