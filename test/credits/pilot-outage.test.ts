/** A pilot that is bought while the chain does not answer: 503, no budget is used, and the same payment buys it afterwards. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { post } from '../support/credits.ts'
import { startRpcProxy, type RpcProxy } from '../support/faults-rpc.ts'
import { heartbeat } from '../support/faults-live.ts'
import { invoiceUrl, looked, send, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { startLiveWorld, type World } from '../support/paying-world.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let proxy: RpcProxy
let world: World
let stopHeart: () => Promise<void>
before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
  proxy = await startRpcProxy(anvil.rpc_url)
  world = await startLiveWorld({ anvil, rpc_url: proxy.url, free_daily: 5, settings: { ASSAY_PILOT_CREDIT: 'on' } })
})
after(async () => {
  await world.stop()
  await proxy.stop()
  await stopHeart()
  await anvil.stop()
})

/** Units that were used of every budget. */
function budgets(): Record<string, number> {
  const text = 'select bucket, sum(used) as used from allowance group by bucket having sum(used) > 0'
  return world.sql((database) =>
    Object.fromEntries(
      database
        .prepare(text)
        .all()
        .map(({ bucket, used }) => [String(bucket), Number(used)]),
    ),
  )
}

test('an outage while a pilot is paid or redeemed is 503 and uses no budget', async () => {
  const made = await post(`${world.url}/v1/tools/create-ap2-pilot/call`, { input: {} })
  assert.equal(made.status, 200, made.text)
  const { record } = made.body['result'] as { record: InvoiceShown }
  const payer = await world.payer(49_000_000n)
  const { body } = await signFor(world.chain, payer, record)
  const used = budgets()
  await proxy.power('off')
  const down = await send(`${invoiceUrl(world, record)}/pay`, body)
  assert.deepEqual([down.status, down.body['charged']], [503, false], down.text)
  assert.deepEqual(budgets(), used)

  await proxy.power('on')
  let paid = down
  await until(
    'the same payment is taken',
    async () => {
      paid = await send(`${invoiceUrl(world, record)}/pay`, body)
      return paid.status !== 503
    },
    60_000,
  )
  assert.ok([200, 202].includes(paid.status), paid.text)
  await until('the pilot is paid', async () => (await looked(world, record)).status === 'SETTLED', 60_000)

  // Only the chain can say whether the payer is a contract wallet that accepts this signature.
  const text = (made.body['result'] as { redemption_text: string }).redemption_text
  const other = await privateKeyToAccount(generatePrivateKey()).signMessage({ message: text })
  const before_release = budgets()
  await proxy.power('off')
  const unread = await send(`${invoiceUrl(world, record)}/credit`, { signature: other })
  assert.equal(unread.status, 503, unread.text)
  assert.deepEqual(budgets(), before_release)
  // The payer's own key needs no chain.
  const released = await send(`${invoiceUrl(world, record)}/credit`, { signature: await payer.signMessage({ message: text }) })
  assert.deepEqual([released.status, released.body['calls']], [200, 50_000], released.text)
  await proxy.power('on')
})
