/** Live mode with facilitators that settle, stall, lie and go away: only the chain says what was paid. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { after, before, describe, test, type TestContext } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import type { PaymentRules } from '../../src/assembly/payments.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { runs } from '../support/counts.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer } from '../support/faults-buyer.ts'
import { startFacilitator, type TestFacilitator } from '../support/faults-facilitator.ts'
import { assertLedgerIsChain, chainAhead, heartbeat, ledgerOf, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { termsOf } from '../support/paying.ts'
import { refusedService } from '../support/service.ts'
import { restCall } from '../support/app.ts'
import { until } from '../support/until.ts'

const FULL = runs(0, 1) === 1

let anvil: Anvil
let stopHeart: () => Promise<void>

before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
})
after(async () => {
  await stopHeart()
  await anvil.stop()
})

interface Scene {
  live: Live
  url: string
}

/** A service that settles through these, and holds no gas key. */
async function served(t: TestContext, facilitators: readonly TestFacilitator[], more: PaymentRules = {}, chain = anvil): Promise<Scene> {
  const urls = facilitators.map(({ url }) => url).join(',')
  const live = await liveDeployment(chain, { ASSAY_FACILITATOR_URLS: urls, ASSAY_GAS_KEY_FILE: '' })
  const running = await startLive(live, { rules: { reconcile_every_ms: 500, ...more } })
  t.after(async () => {
    await running.stop()
    await Promise.all(facilitators.map((facilitator) => facilitator.stop()))
    await live.remove()
  })
  return { live, url: running.url }
}

async function paidOnce({ live, url }: Scene, buyer: Buyer, chain = anvil): Promise<void> {
  const reply = await buyers.insist(url, buyer)
  assert.equal((reply.body['settlement'] as { method: string }).method, 'facilitator')
  await buyers.assertPaidOnce(chain, live, url, buyer, reply)
  await assertLedgerIsChain(chain, live)
}

/** The payment is not taken now, nothing is claimed, and the terms can still be had. */
async function unavailable({ live, url }: Scene, buyer: Buyer): Promise<void> {
  const reply = await buyers.send(url, buyer)
  assert.ok(reply !== null)
  assert.deepEqual([reply.status, reply.body['code'], reply.body['charged']], [503, 'SETTLEMENT_UNAVAILABLE', false])
  assert.ok(Number(reply.headers.get('retry-after')) > 0)
  assert.equal((await termsOf(url, buyers.TOOL, buyers.INPUT)).accepts.length, 1)
  assert.deepEqual(ledgerOf(live), [])
}

/** Payments in their turn through one wallet, so not at once. */
describe('one facilitator', { timeout: 180_000 }, () => {
  for (const manner of ['honest', 'settles and breaks off', 'settles and says no'] as const) {
    test(`it ${manner}: one answer, one settlement`, async (t) => {
      const facilitator = await startFacilitator(anvil)
      facilitator.behave(manner)
      const at = await served(t, [facilitator])
      const buyer = await buyers.newBuyer(anvil, at.url)
      await paidOnce(at, buyer)
      assert.deepEqual([buyer.met, facilitator.asked], [[200, 200].slice(0, buyer.met.length), 1])
    })
  }

  // The longest wait for a facilitator is half a minute, twice that of a call; the short run waits for two seconds.
  test('it settles and hangs: one answer, one settlement', async (t) => {
    const facilitator = await startFacilitator(anvil)
    facilitator.behave('settles and hangs')
    const at = await served(t, [facilitator], FULL ? {} : { facilitator_ms: 2_000 })
    const buyer = await buyers.newBuyer(anvil, at.url)
    await paidOnce(at, buyer)
    assert.equal(buyer.met[0], FULL ? 202 : 200)
    assert.equal(facilitator.asked, 1)
  })

  test('it refuses: nothing moves, and no other payment is asked for while it may execute this one', async (t) => {
    const facilitator = await startFacilitator(anvil)
    facilitator.behave('refuses')
    const at = await served(t, [facilitator])
    const buyer = await buyers.newBuyer(anvil, at.url)
    const reply = await buyers.send(at.url, buyer)
    assert.ok(reply !== null)
    assert.deepEqual([reply.status, reply.body['code'], reply.body['charged']], [402, 'SETTLEMENT_FAILED', 'unknown'])
    assert.equal(reply.body['valid_before'], Number(buyer.signed.message.validBefore))
    assert.equal(reply.headers.get('payment-required'), null)
    await buyers.assertUntouched(anvil, at.live, buyer)
    assert.equal((await buyers.statusOf(at.url, buyer))['state'], 'pending')
    await assertLedgerIsChain(anvil, at.live)
  })

  test('it is down at the start and comes back: 503 and terms, then the same payment is taken', async (t) => {
    const facilitator = await startFacilitator(anvil, 'off')
    const at = await served(t, [facilitator])
    const buyer = await buyers.newBuyer(anvil, at.url)
    await unavailable(at, buyer)
    await facilitator.power('on')
    await paidOnce(at, buyer)
  })
})

describe('it goes away after it said that it would settle', { timeout: 60_000 }, () => {
  test('503 and terms, nothing is charged, and the same payment is taken when it is back', async (t) => {
    const facilitator = await startFacilitator(anvil)
    const at = await served(t, [facilitator])
    await paidOnce(at, await buyers.newBuyer(anvil, at.url))
    await facilitator.power('off')
    const buyer = await buyers.newBuyer(anvil, at.url)
    for (const turn of ['first', 'again']) {
      const reply = await buyers.send(at.url, buyer)
      assert.ok(reply !== null)
      assert.deepEqual([turn, reply.status, reply.body['code'], reply.body['charged']], [turn, 503, 'SETTLEMENT_UNAVAILABLE', false])
      assert.ok(Number(reply.headers.get('retry-after')) > 0)
    }
    assert.equal((await buyers.statusOf(at.url, buyer))['state'], 'released')
    await buyers.assertUntouched(anvil, at.live, buyer)
    await facilitator.power('on')
    await paidOnce(at, buyer)
    assert.equal(facilitator.asked, 2)
  })
})

describe('it claims a settlement that never happened', { concurrency: true, timeout: 120_000 }, () => {
  for (const manner of ['lies', 'names another'] as const) {
    test(`it ${manner}: no answer leaves; pending, then released when the authorization has run out`, async (t) => {
      const chain = await startAnvil()
      const facilitator = await startFacilitator(chain)
      const at = await served(t, [facilitator], {}, chain)
      t.after(() => chain.stop())
      await paidOnce(at, await buyers.newBuyer(chain, at.url), chain)
      facilitator.behave(manner)
      const buyer = await buyers.newBuyer(chain, at.url)
      const reply = await buyers.send(at.url, buyer)
      assert.ok(reply !== null)
      assert.deepEqual([reply.status, reply.body['code'], reply.body['charged']], [202, 'PAYMENT_PENDING', 'unknown'])
      assert.equal((await buyers.statusOf(at.url, buyer))['state'], 'pending')
      const again = await buyers.send(at.url, buyer)
      assert.deepEqual([again?.status, again?.body['result']], [202, undefined])
      await chainAhead(chain, 901_000)
      // Final, as anvil has it: 64 blocks behind the head.
      await chain.mine(70)
      await until('the payment is let go', async () => (await buyers.statusOf(at.url, buyer))['state'] === 'released')
      assert.equal((await buyers.statusOf(at.url, buyer))['charged'], false)
      assert.equal(facilitator.asked, 2)
      await buyers.assertUntouched(chain, at.live, buyer)
      await assertLedgerIsChain(chain, at.live)
    })
  }
})

describe('two facilitators', { timeout: 60_000 }, () => {
  test('the first is down from the start: the second settles', async (t) => {
    const [first, second] = [await startFacilitator(anvil, 'off'), await startFacilitator(anvil)]
    const at = await served(t, [first, second])
    await paidOnce(at, await buyers.newBuyer(anvil, at.url))
    assert.deepEqual([first.asked, second.asked], [0, 1])
  })

  test('the first goes down after it said that it would: the second settles', async (t) => {
    const [first, second] = [await startFacilitator(anvil), await startFacilitator(anvil)]
    const at = await served(t, [first, second])
    await paidOnce(at, await buyers.newBuyer(anvil, at.url))
    await first.power('off')
    await paidOnce(at, await buyers.newBuyer(anvil, at.url))
    assert.deepEqual([first.asked, second.asked], [1, 1])
  })

  test('the first breaks off after it settled: the second is not asked', async (t) => {
    const [first, second] = [await startFacilitator(anvil), await startFacilitator(anvil)]
    first.behave('settles and breaks off')
    const at = await served(t, [first, second])
    await paidOnce(at, await buyers.newBuyer(anvil, at.url))
    assert.deepEqual([first.asked, second.asked], [1, 0])
  })
})

describe('a live start', { timeout: 60_000 }, () => {
  test('with the gas key of the recipient it stops, and names the setting', async (t) => {
    const live = await liveDeployment(anvil)
    t.after(live.remove)
    const path = live.settings['ASSAY_GAS_KEY_FILE'] ?? ''
    const recipient = privateKeyToAccount((await readFile(path, 'utf8')) as Hex).address
    const { code, notes } = await refusedService({ ...live.settings, ASSAY_PAY_TO: recipient })
    assert.notEqual(code, 0)
    assert.match(notes, /ASSAY_GAS_KEY_FILE.*ASSAY_PAY_TO/)
    await writeFile(path, 'not a key', { mode: 0o600 })
    assert.notEqual((await refusedService(live.settings)).code, 0)
  })

  test('with a node that cannot be reached it serves terms, says so in its health, and takes no payment', async (t) => {
    const live = await liveDeployment(anvil, { ASSAY_RPC_URLS: 'http://127.0.0.1:9/' })
    const running = await startLive(live)
    t.after(async () => {
      await running.stop()
      await live.remove()
    })
    const at = { live, url: running.url }
    await unavailable(at, await buyers.newBuyer(anvil, at.url))
    const health = (await (await fetch(`${at.url}/health`)).json()) as { payments?: { chain_ok?: boolean } }
    assert.equal(health.payments?.chain_ok, false, JSON.stringify(health))
    assert.equal((await restCall(at.url, 'receipt-verify', { receipt: {} })).status, 200)
  })
})
