/** The service behind a node that hangs, limits, lies and dies: a paid call ends right by itself, and nobody is asked to pay twice. */
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Running } from '../../src/assembly/start.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer, Reply } from '../support/faults-buyer.ts'
import { assertLedgerIsChain, heartbeat, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { faults, oldBalances, stale, startRpcProxy, type Fault, type RpcProxy } from '../support/faults-rpc.ts'
import { termsOf } from '../support/paying.ts'
import { until } from '../support/until.ts'

const SEND = 'eth_sendRawTransaction'

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
  proxy: RpcProxy
  running: Running
  url: string
  buyer: Buyer
}

/** A service of its own over the chain, through a node that behaves until told otherwise, and somebody who has signed. */
async function scene(t: TestContext): Promise<Scene> {
  const proxy = await startRpcProxy(anvil.rpc_url)
  const live = await liveDeployment(anvil, { ASSAY_RPC_URLS: proxy.url })
  const running = await startLive(live, { rules: { reconcile_every_ms: 1_000, reconcile: { recheck_ms: 2_000 } } })
  t.after(async () => {
    proxy.misbehave(undefined)
    await running.stop()
    await proxy.stop()
    await live.remove()
  })
  return { live, proxy, running, url: running.url, buyer: await buyers.newBuyer(anvil, running.url) }
}

async function settledOnce(at: Scene, reply: Reply): Promise<void> {
  await buyers.assertPaidOnce(anvil, at.live, at.url, at.buyer, reply)
  await assertLedgerIsChain(anvil, at.live)
  const again = await buyers.insist(at.url, at.buyer)
  assert.deepEqual(again.body, reply.body)
  assert.equal(await buyers.settlements(anvil, at.live, at.buyer), 1)
}

/** The node has failed already when the payment comes: 503, uncharged, while the terms can still be had; later the same payment is taken. */
async function downBefore(at: Scene, recover: () => void | Promise<void>): Promise<void> {
  // What was learnt while all was well is forgotten after seconds.
  const reply = await buyers.send(at.url, at.buyer)
  assert.ok(reply !== null)
  assert.deepEqual([reply.status, reply.body['charged'], reply.body['retryable']], [503, false, true], JSON.stringify(reply.body))
  assert.ok(Number(reply.headers.get('retry-after')) > 0)
  assert.equal((await termsOf(at.url, buyers.TOOL, buyers.INPUT)).accepts.length, 1)
  await buyers.assertUntouched(anvil, at.live, at.buyer)
  assert.equal((await buyers.statusOf(at.url, at.buyer))['charged'], false)
  await recover()
  await settledOnce(at, await buyers.insist(at.url, at.buyer))
}

const options = { concurrency: 10, timeout: 120_000 }

describe('the node has failed when the payment comes', options, () => {
  const failures = { hangs: faults.hang, 'limits all': faults.limited, 'answers with errors': faults.error } satisfies Record<string, Fault>
  for (const [name, fault] of Object.entries(failures)) {
    test(`it ${name}`, async (t) => {
      const at = await scene(t)
      at.proxy.misbehave(fault)
      await downBefore(at, () => at.proxy.misbehave(undefined))
    })
  }

  test('it is down, and comes back', async (t) => {
    const at = await scene(t)
    await at.proxy.power('off')
    await downBefore(at, () => at.proxy.power('on'))
  })
})

/** The fault begins with the broadcast: after the payment was verified, claimed and stored, it may have been sent. */
function fromBroadcastOn(then: Fault, during: Fault = faults.none): Fault {
  let broadcast = false
  return async (exchange) => {
    if (broadcast) return then(exchange)
    if (!exchange.methods.has(SEND)) return faults.none(exchange)
    broadcast = true
    return during(exchange)
  }
}

describe('the node fails while a payment is on its way', options, () => {
  const once = {
    'takes the transaction and breaks off': fromBroadcastOn(faults.none, faults.dropAfterSend),
    'takes the transaction and hangs': fromBroadcastOn(faults.none, faults.hangAfterSend),
    'takes the transaction and says error': fromBroadcastOn(faults.none, faults.errorAfterSend),
    'says that it took the transaction, and did not': fromBroadcastOn(faults.none, faults.swallowSend),
    'limits the broadcast': fromBroadcastOn(faults.none, faults.limited),
  } satisfies Record<string, Fault>
  for (const [name, fault] of Object.entries(once)) {
    test(`it ${name}: the first answer is the answer`, async (t) => {
      const at = await scene(t)
      at.proxy.misbehave(fault)
      const reply = await buyers.firstAnswer(at.url, at.buyer, () => at.proxy.asked.includes(SEND))
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      assert.ok(at.proxy.asked.includes(SEND))
      await settledOnce(at, reply)
    })
  }

  const lasting = {
    'takes the transaction, then hangs': fromBroadcastOn(faults.hang, faults.hangAfterSend),
    'takes the transaction, then has no receipts and no logs': fromBroadcastOn(faults.blind),
    'takes the transaction, then answers with errors': fromBroadcastOn(faults.error),
  } satisfies Record<string, Fault>
  for (const [name, fault] of Object.entries(lasting)) {
    test(`it ${name} for longer than a call waits: 202, then the answer`, async (t) => {
      const at = await scene(t)
      at.proxy.misbehave(fault)
      await pendingThenPaid(at, () => at.proxy.misbehave(undefined))
    })
  }

  test('it goes down with the broadcast: 202, then the answer', async (t) => {
    const at = await scene(t)
    at.proxy.misbehave(
      fromBroadcastOn(faults.hang, async ({ calls, ask, response }) => {
        await ask(calls)
        response.destroy()
        await at.proxy.power('off')
      }),
    )
    await pendingThenPaid(at, () => {
      at.proxy.misbehave(undefined)
      return at.proxy.power('on')
    })
  })

  test('its state stays that of before the payment: 202, then the answer', async (t) => {
    const at = await scene(t)
    at.proxy.misbehave(fromBroadcastOn(stale(String(await anvil.rpc('eth_blockNumber')))))
    await pendingThenPaid(at, () => at.proxy.misbehave(undefined))
  })
})

/** The call is not answered in time, but never with a demand for payment; the service finds out by itself, and the answer lies where it said. */
async function pendingThenPaid(at: Scene, recover: () => void | Promise<void>): Promise<void> {
  const reply = await buyers.firstAnswer(at.url, at.buyer, () => at.proxy.asked.includes(SEND))
  assert.deepEqual(
    [reply.status, reply.body['code'], reply.body['charged']],
    [202, 'PAYMENT_PENDING', 'unknown'],
    JSON.stringify(reply.body),
  )
  const location = reply.headers.get('location') ?? ''
  assert.match(location, /\/v1\/answers\/[0-9a-f]{64}$/)
  const fetched = async () => fetch(new URL(location, at.url))
  const early = await fetched()
  assert.deepEqual([early.status, ((await early.json()) as Record<string, unknown>)['code']], [202, 'PAYMENT_PENDING'])
  await recover()
  await until(
    'the payment is settled without a resend',
    async () => (await buyers.statusOf(at.url, at.buyer))['state'] === 'settled',
    40_000,
  )
  const late = await fetched()
  assert.equal(late.status, 200)
  const body: unknown = await late.json()
  const resent = await buyers.insist(at.url, at.buyer)
  assert.deepEqual(resent.body, body)
  await settledOnce(at, resent)
}

test('a node whose state lags: what was spent is not spent again, and the payer is not charged for it', { timeout: 120_000 }, async (t) => {
  const at = await scene(t)
  const poor = await buyers.holder(anvil, at.buyer.price_minor)
  const one = await buyers.newBuyer(anvil, at.url, poor)
  const funded = String(await anvil.rpc('eth_blockNumber'))
  assert.equal((await buyers.insist(at.url, one)).status, 200)
  // The node still shows the balance of before; the second authorization passes the simulation, and fails on the chain.
  at.proxy.misbehave(oldBalances(funded))
  const two = await buyers.newBuyer(anvil, at.url, poor)
  const reply = await buyers.send(at.url, two)
  assert.ok(reply !== null)
  assert.deepEqual(
    [reply.status, reply.body['code'], reply.body['charged']],
    [402, 'SETTLEMENT_FAILED', 'unknown'],
    JSON.stringify(reply.body),
  )
  at.proxy.misbehave(undefined)
  assert.equal(await buyers.settlements(anvil, at.live, two), 0)
  assert.equal(await buyers.settlements(anvil, at.live, one), 1)
  assert.equal((await buyers.statusOf(at.url, two))['state'], 'pending')
  await assertLedgerIsChain(anvil, at.live)
})
