/** Merchants that are searched together: one with a flood of transfers, or whose search the node refuses, delays only itself. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { faults, startRpcProxy, type RpcProxy } from '../support/faults-rpc.ts'
import { issue, issueSigned, looked, newMerchant, transferPlainly, type InvoiceShown } from '../support/invoicing.ts'
import { startLiveWorld, type World } from '../support/paying-world.ts'
import { until } from '../support/settlement.ts'

const TEN = 10_000_000n

let anvil: Anvil
let proxy: RpcProxy
let world: World
before(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.rpc_url)
  world = await startLiveWorld({ anvil, rpc_url: proxy.url })
})
after(async () => {
  await world.stop()
  await proxy.stop()
  await anvil.stop()
})

const paymentsOf = async ({ invoice_id }: InvoiceShown) => (await world.store.invoices.payments(invoice_id)).length
const depositOf = (invoice: InvoiceShown) => (invoice['deposit'] as { address: Hex }).address
const watchOf = ({ merchant }: InvoiceShown) => world.store.invoices.watch_of(merchant.toLowerCase())

/** Makes all merchants due, so that the next round looks at them together. */
function allDue(): void {
  world.sql((database) => database.exec('update merchant_watch set due_ms = 0, rank_ms = 0, wait_ms = 0'))
}

test('deposits of other merchants are seen while one merchant gets more transfers than a look reads', async () => {
  const [crowded, ...others] = [await issueSigned(world, '10'), await issue(world, '10'), await issue(world, '10')]
  const payer = await world.payer(100n * TEN)
  for (let count = 0; count < 2 * INVOICE_RULES.look_receipts + 50; count++) await transferPlainly(world.chain, payer, crowded.merchant, 1n)
  for (const invoice of others) await transferPlainly(world.chain, payer, depositOf(invoice), TEN)
  await anvil.mine(2)
  allDue()
  for (const invoice of others) await until('the deposit is seen', async () => (await paymentsOf(invoice)) === 1)
  // The other one is read bit by bit, up to the head.
  await transferPlainly(world.chain, payer, crowded.merchant, TEN)
  await anvil.mine(2)
  let record = crowded
  for (let looks = 0; looks < 5; looks++) record = await looked(world, crowded)
  assert.deepEqual([record.status, record.payments.length], ['SETTLED', 1])
})

test('a node that refuses the search of one merchant does not stop those of others; the one is put off and found later', async () => {
  const [refused, ...others] = [await issue(world, '10'), await issue(world, '10'), await issue(world, '10'), await issue(world, '10')]
  const payer = await world.payer(10n * TEN)
  const word = refused.merchant.slice(2).toLowerCase()
  proxy.misbehave(async (exchange) => {
    const names = exchange.calls.some(({ method, params }) => method === 'eth_getLogs' && JSON.stringify(params).includes(word))
    return names ? faults.error(exchange) : faults.none(exchange)
  })
  for (const invoice of [refused, ...others]) await transferPlainly(world.chain, payer, depositOf(invoice), TEN)
  await anvil.mine(2)
  allDue()
  for (const invoice of others) await until('the deposit is seen', async () => (await paymentsOf(invoice)) === 1)
  await until('the refused one is put off', async () => ((await watchOf(refused))?.wait_ms ?? 0) >= INVOICE_RULES.stale_ms)
  assert.equal(await paymentsOf(refused), 0)
  proxy.misbehave(undefined)
  await looked(world, refused)
  assert.equal(await paymentsOf(refused), 1)
})

test('the pause of a merchant that is not paid doubles; a new invoice, a reader or a payment ends it', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '10', merchant.address)
  await until('two looks found nothing', async () => ((await watchOf(invoice))?.wait_ms ?? 0) >= 2 * INVOICE_RULES.watch_every_ms)
  const put = (wait_ms: number) =>
    world.sql((database) => {
      const due_ms = Date.now() + 500_000
      const text = 'update merchant_watch set due_ms = ?, rank_ms = ?, wait_ms = ? where merchant = ?'
      database.prepare(text).run(due_ms, due_ms + wait_ms, wait_ms, merchant.address.toLowerCase())
    })
  put(400_000)
  await issue(world, '10', merchant.address)
  assert.equal((await watchOf(invoice))?.wait_ms, 0)
  put(400_000)
  const read = await fetch(`${world.url}/api/invoice/${invoice.invoice_id}`)
  assert.equal(read.status, 200)
  assert.equal((await watchOf(invoice))?.wait_ms, 0)
  await transferPlainly(world.chain, await world.payer(TEN), depositOf(invoice), TEN)
  await anvil.mine(2)
  put(400_000)
  assert.equal((await looked(world, invoice)).status, 'SETTLED')
  const paid = await watchOf(invoice)
  assert.deepEqual([paid?.wait_ms, paid?.proven], [INVOICE_RULES.watch_every_ms, true])
})
