/** Facilitator and node fail at once: each payment comes to its end by itself, charged once or not at all, and no answer asks for a second one. */
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { runs } from '../support/counts.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer } from '../support/faults-buyer.ts'
import { startFacilitator, type TestFacilitator } from '../support/faults-facilitator.ts'
import { assertLedgerIsChain, heartbeat, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { faults, startRpcProxy, type Fault } from '../support/faults-rpc.ts'
import { flaky, late, lyingHead } from '../support/fault-rpc-lies.ts'
import { until } from '../support/until.ts'

/** A head that was seen binds for half a minute; the reconciler comes soon after. */
const ENDS_MS = 90_000
const FACILITATOR_MS = 2_000

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
  buyer: Buyer
  facilitator: TestFacilitator
  /** From here on the node is well. */
  mend(): void
}

/** From the moment that the facilitator is asked on, the node fails as well. */
async function scene(t: TestContext, manner: Parameters<TestFacilitator['behave']>[0], fault: Fault): Promise<Scene> {
  const facilitator = await startFacilitator(anvil)
  facilitator.behave(manner)
  const proxy = await startRpcProxy(anvil.rpc_url)
  const live = await liveDeployment(anvil, {
    ASSAY_RPC_URLS: proxy.url,
    ASSAY_FACILITATOR_URLS: facilitator.url,
    ASSAY_GAS_KEY_FILE: '',
  })
  const rules = { facilitator_ms: FACILITATOR_MS, reconcile_every_ms: 500, reconcile: { recheck_ms: 1_000 } }
  const running = await startLive(live, { rules })
  t.after(async () => {
    proxy.misbehave(undefined)
    await running.stop()
    await Promise.all([proxy.stop(), facilitator.stop()])
    await live.remove()
  })
  const buyer = await buyers.newBuyer(anvil, running.url)
  proxy.misbehave((exchange) => (facilitator.asked > 0 ? fault(exchange) : faults.none(exchange)))
  return { live, url: running.url, buyer, facilitator, mend: () => proxy.misbehave(undefined) }
}

const nodes = {
  'answers after a second and a half': () => late(1_500),
  'answers after every deadline': () => late(4_000),
  'fails every second time': () => flaky(),
  'shows a head that is long past': () => lyingHead(-40),
  'shows a head that nobody has': () => lyingHead(40),
} satisfies Record<string, () => Fault>

const settling = ['settles and hangs', 'settles and breaks off', 'settles and says no'] as const
const pairs = settling.flatMap((manner) => Object.entries(nodes).map(([node, faultOf]) => ({ manner, node, faultOf })))
/** The short run takes one of each facilitator, each with another node. */
const SHORT = [0, 7, 13]
const chosen = pairs.filter((_, index) => runs(0, 1) === 1 || SHORT.includes(index))

describe('the payment is settled, whatever both say', { concurrency: 5, timeout: 600_000 }, () => {
  for (const { manner, node, faultOf } of chosen) {
    test(`the facilitator ${manner}, the node ${node}`, async (t) => {
      const at = await scene(t, manner, faultOf())
      const reply = await buyers.send(at.url, at.buyer)
      assert.ok(reply !== null)
      const said = `${reply.status} ${JSON.stringify(reply.body)}`
      // A refusal that a lying chain bears out is believed for a while; what is charged then is still found, and never charged again.
      assert.ok([200, 202].includes(reply.status) || (reply.status === 402 && manner === 'settles and says no'), said)
      at.mend()
      const state = async () => (await buyers.statusOf(at.url, at.buyer))['state']
      await until('the payment is settled without a resend', async () => (await state()) === 'settled', ENDS_MS)
      await buyers.assertPaidOnce(anvil, at.live, at.url, at.buyer, await buyers.insist(at.url, at.buyer))
      assert.equal(at.facilitator.asked, 1)
      await assertLedgerIsChain(anvil, at.live)
      t.diagnostic(`first answer ${reply.status}`)
    })
  }
})

describe('the payment is refused, whatever the node says', { concurrency: 5, timeout: 600_000 }, () => {
  for (const [node, faultOf] of Object.entries(nodes).slice(0, runs(1, 5))) {
    test(`the facilitator refuses, the node ${node}`, async (t) => {
      const at = await scene(t, 'refuses', faultOf())
      const reply = await buyers.send(at.url, at.buyer)
      assert.ok(reply !== null && [202, 402].includes(reply.status), JSON.stringify(reply?.body))
      at.mend()
      // Nothing is charged; where the node could not bear the refusal out in time, only the end of the authorization does.
      const status = await buyers.statusOf(at.url, at.buyer)
      assert.notEqual(status['charged'], true)
      if (reply.status === 402) assert.deepEqual([reply.body['code'], reply.body['charged']], ['SETTLEMENT_FAILED', 'unknown'])
      await buyers.assertUntouched(anvil, at.live, at.buyer)
      t.diagnostic(`first answer ${reply.status}, then ${String(status['state'])}`)
    })
  }
})
