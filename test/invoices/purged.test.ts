/** Unpaid invoices that were deleted 30 days after they expired: how they are answered, and what becomes of USDC that comes later. */
// attack: a deposit after the invoice was deleted
// in: money and signatures
// asset: USDC sent too late
// attacker: payer
// defence: the address can only pay the merchant; the 410 names the transaction

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import { invoiceUrl, issue, looked, mine, newMerchant, send, signFor, transferPlainly, type InvoiceShown } from '../support/invoicing.ts'
import { held } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const TEN = 10_000_000n

let world: World
before(async () => {
  world = await startWorld({ free_daily: 10 })
})
after(() => world.stop())

const depositOf = (invoice: InvoiceShown) => invoice['deposit'] as { address: Hex }
const balance = (address: string) => held(world.chain.rpc_url, world.chain.token, address)

/** Moves the expiry and the end of the watch into the past, and deletes what may be deleted. */
async function purge({ invoice_id }: InvoiceShown): Promise<void> {
  world.sql((database) => database.prepare('update invoice set expires_s = 1, watch_until_s = 2 where invoice_id = ?').run(invoice_id))
  // A deletion waits for a look at the transfers after the watch.
  await looked(world, { invoice_id })
  await world.store.invoices.purge_unpaid(Date.now(), 0, 1_000)
}

test('a deleted invoice is gone in plain words on every surface, and never called unpaid', async () => {
  const invoice = await issue(world, '10')
  await purge(invoice)
  const url = invoiceUrl(world, invoice)
  const { address } = depositOf(invoice)
  const answers = [
    await send(url),
    await send(`${url}/pdf`),
    await send(`${url}/qr.svg`),
    await send(`${url}/events`),
    await send(`${url}/pay`),
    await send(`${url}/sign`, {}),
    await send(`${url}/void`, {}),
    await send(`${url}/transactions`, { tx_hash: `0x${'1'.repeat(64)}` }),
    await send(`${world.url}/v1/tools/get-b2b-invoice/call`, { input: { invoice_id: invoice.invoice_id } }),
  ]
  for (const { status, body, text } of answers) {
    assert.deepEqual([status, body['code'], body['expired_at']], [410, 'INVOICE_GONE', '1970-01-01T00:00:01Z'], text)
    assert.equal(body['charged'], false)
    assert.match(String(body['detail']), /expired at .* was deleted\. Do not pay it/)
    assert.ok(String(body['detail']).includes(address))
    assert.equal((body['deposit'] as { address: string }).address, address)
    assert.doesNotMatch(text, /unpaid|ISSUED/)
  }
  const page = await fetch(`${world.url}/pay/${invoice.invoice_id}`, { headers: { accept: 'text/html', 'accept-language': 'de' } })
  assert.deepEqual([page.status, page.headers.get('content-language')], [410, 'de'])
  assert.match(await page.text(), /Rechnung abgelaufen.*nicht verloren/s)
  // A payment may have been sent before.
  const { body } = await signFor(world.chain, await world.payer(TEN), invoice)
  const paying = await send(`${url}/pay`, body)
  assert.deepEqual([paying.status, paying.body['code'], paying.body['charged']], [410, 'INVOICE_GONE', 'unknown'])
  const unknown = await send(`${world.url}/api/invoice/inv_${'0'.repeat(20)}`)
  assert.deepEqual([unknown.status, unknown.body['code']], [404, 'INVOICE_NOT_FOUND'])
})

test('USDC that comes to the deposit address of a deleted invoice reaches the merchant by the transaction of the answer, which anyone sends', async () => {
  const merchant = newMerchant().address
  const invoice = await issue(world, '10', merchant)
  await purge(invoice)
  const payer = await world.payer(TEN)
  await transferPlainly(world.chain, payer, depositOf(invoice).address, TEN)
  const { body } = await send(invoiceUrl(world, invoice))
  const { sweep } = body['deposit'] as { sweep: { to: Hex; data: Hex } }
  const { rpc } = world.chain
  await rpc('anvil_impersonateAccount', [payer.address])
  await rpc('eth_sendTransaction', [{ from: payer.address, to: sweep.to, data: sweep.data, gas: '0x493e0' }])
  await mine(world.chain)
  assert.deepEqual([await balance(merchant), await balance(depositOf(invoice).address)], [TEN, 0n])
})

test('a payment in the last second of the watch keeps the invoice, which is paid late', async () => {
  const invoice = await issue(world, '10')
  world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(invoice.invoice_id))
  await transferPlainly(world.chain, await world.payer(TEN), depositOf(invoice).address, TEN)
  await mine(world.chain)
  assert.equal((await looked(world, invoice)).status, 'SETTLED')
  await purge(invoice)
  const { status, body } = await send(invoiceUrl(world, invoice))
  assert.deepEqual([status, body['status'], body['exceptions']], [200, 'SETTLED', ['paid_late']])
})
