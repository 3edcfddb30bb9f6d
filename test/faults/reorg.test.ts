/** Blocks that are taken back after an answer left: the payment is settled again by the same transaction, or lost, and never charged twice. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Running } from '../../src/assembly/start.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer, Reply } from '../support/faults-buyer.ts'
import { assertLedgerIsChain, ledgerOf, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { until } from '../support/until.ts'

/** The service looks at rows half a minute old, every ten seconds; here it looks at once. */
const RULES = { reconcile_every_ms: 250, reconcile: { recheck_ms: 250 } }
/** Blocks after which anvil calls an earlier one final. */
const FINAL_BLOCKS = 70

interface Scene {
  anvil: Anvil
  live: Live
  running: Running
  url: string
  buyer: Buyer
  reply: Reply
}

/** A payment that was answered, on a chain that has forgotten it and mines nothing unasked. */
async function forgotten(t: TestContext, rules: typeof RULES = RULES): Promise<Scene> {
  const anvil = await startAnvil()
  const live = await liveDeployment(anvil)
  const running = await startLive(live, { rules })
  t.after(async () => {
    await running.stop()
    await anvil.stop()
    await live.remove()
  })
  const { url } = running
  const buyer = await buyers.newBuyer(anvil, url)
  const snapshot = await anvil.snapshot()
  const reply = await buyers.insist(url, buyer)
  await buyers.assertPaidOnce(anvil, live, url, buyer, reply)
  await anvil.revert(snapshot)
  await buyers.assertUntouched(anvil, live, buyer)
  await anvil.automine(false)
  // Another block stands where the settlement stood: that is how a reorganisation shows.
  await anvil.mine()
  return { anvil, live, running, url, buyer, reply }
}

async function stateBecomes({ url, buyer }: Scene, state: string): Promise<void> {
  await until(`the payment is ${state}`, async () => (await buyers.statusOf(url, buyer))['state'] === state, 30_000)
}

const options = { timeout: 90_000 }

test('the same transaction settles it again, and the answer stays the answer', options, async (t) => {
  const at = await forgotten(t)
  const { anvil, live, url, buyer, reply } = at
  await stateBecomes(at, 'pending')
  assert.deepEqual([ledgerOf(live)[0]?.state, ledgerOf(live)[0]?.reason], ['unknown', 'reorganised'])
  const meanwhile = await buyers.send(url, buyer)
  assert.ok(meanwhile !== null)
  assert.deepEqual([meanwhile.status, meanwhile.body['charged']], [202, 'unknown'])
  await anvil.automine(true)
  await stateBecomes(at, 'settled')
  const again = await buyers.insist(url, buyer)
  assert.deepEqual(again.body, reply.body)
  await buyers.assertPaidOnce(anvil, live, url, buyer, again)
  await assertLedgerIsChain(anvil, live)
})

test('it ran out meanwhile, for good: lost, and nothing was charged', options, async (t) => {
  const at = await forgotten(t)
  await outOfTime(at)
  await at.anvil.mine(FINAL_BLOCKS)
  await assertLost(at)
})

test('it ran out meanwhile, and the transaction is tried again in vain: lost, and nothing was charged', options, async (t) => {
  const at = await forgotten(t)
  await stateBecomes(at, 'pending')
  await outOfTime(at)
  await at.anvil.automine(true)
  await assertLost(at)
})

/** On the chain; the clock of the service stands where it stood. */
async function outOfTime({ anvil, buyer }: Scene): Promise<void> {
  await anvil.rpc('evm_setNextBlockTimestamp', [`0x${(buyer.signed.message.validBefore + 1n).toString(16)}`])
  await anvil.mine()
}

async function assertLost(at: Scene): Promise<void> {
  const { anvil, live, url, buyer } = at
  await stateBecomes(at, 'released')
  assert.equal((await buyers.statusOf(url, buyer))['charged'], false)
  assert.deepEqual(
    ledgerOf(live).map(({ state }) => state),
    ['lost'],
  )
  await buyers.assertUntouched(anvil, live, buyer)
  await assertLedgerIsChain(anvil, live)
}
