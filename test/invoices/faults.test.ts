/** Invoices over a chain that takes blocks back, and a service that dies while it carries a payment. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runs } from '../support/counts.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { chainAhead, heartbeat, liveDeployment } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import { issue, looked, mine, newMerchant, send, sendAsStranger, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { fundedPayer, held } from '../support/paying.ts'
import { startLiveWorld } from '../support/paying-world.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
before(async () => {
  anvil = await startAnvil()
})
after(async () => {
  killLeft()
  await anvil.stop()
})

const TEN = 10_000_000n
/** Longer than a claim is held. */
const AHEAD_MS = 61_000

test('a payment that the chain takes back leaves the invoice as it was; it settles when it comes again', async (t) => {
  const world = await startLiveWorld({ anvil })
  t.after(world.stop)
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const signed = await signFor(world.chain, payer, invoice)
  const snapshot = await anvil.snapshot()
  await sendAsStranger(world.chain, signed)
  // In the second block from the head: deep enough for its size, and not final.
  assert.equal((await looked(world, invoice)).status, 'SETTLED')
  await anvil.revert(snapshot)
  await mine(world.chain, 5)
  const back = await looked(world, invoice)
  assert.deepEqual([back.status, back.exceptions, back.amount_paid_minor, back.tx_hash], ['ISSUED', ['reorged'], '0', null])
  await sendAsStranger(world.chain, signed)
  await mine(world.chain)
  const again = await looked(world, invoice)
  assert.deepEqual([again.status, again.exceptions, again.payments.length], ['SETTLED', ['reorged'], 1])
})

/** Between storing the transaction and sending it, before anybody knows what became of it, and before that is written down. */
const POINTS = ['before_send', 'after_send', 'before_settled_row'] as const

for (const die_at of POINTS.slice(0, runs(1, POINTS.length))) {
  test(`killed ${die_at}: the invoice is settled by the service that follows, and the payer pays once`, { timeout: 90_000 }, async (t) => {
    const stopHeart = heartbeat(anvil)
    const live = await liveDeployment(anvil)
    t.after(async () => {
      await stopHeart()
      await live.remove()
    })
    const { rpc_url, chain_id, token, rpc } = anvil
    const payer = await fundedPayer(rpc_url, token, TEN)
    const first = await startFaulty(live.settings, { die_at })
    const made = await send(`${first.url}/api/invoice/create`, { amountUsdc: 10, merchant: newMerchant().address })
    const invoice = made.body as InvoiceShown
    const chain = { rpc_url, chain_id, token, rpc, pay_to: live.pay_to }
    const { body } = await signFor(chain, payer, invoice)
    await assert.rejects(send(`${first.url}/api/invoice/${invoice.invoice_id}/pay`, body))
    assert.equal((await first.ended).signal, 'SIGKILL')
    const second = await startFaulty(live.settings)
    const url = `${second.url}/api/invoice/${invoice.invoice_id}`
    await until('the invoice is settled', async () => (await send(url)).body['status'] === 'SETTLED', 60_000)
    let again = await send(`${url}/pay`, body)
    await until('the same authorization is answered', async () => (again = await send(`${url}/pay`, body)).status === 200, 30_000)
    assert.equal(again.body['paid_minor'], '10000000')
    assert.equal(await held(rpc_url, token, invoice.merchant), TEN)
    const record = (await send(url)).body as InvoiceShown
    assert.deepEqual([record.payments.length, record.exceptions], [1, []])
    await second.stop()
  })
}

test(
  'killed after the claim: the payer is neither refused for its own claim nor charged twice once the claim has expired',
  { timeout: 90_000 },
  async (t) => {
    const own = await startAnvil()
    await chainAhead(own, AHEAD_MS)
    const stopHeart = heartbeat(own)
    const live = await liveDeployment(own)
    t.after(async () => {
      killLeft()
      await stopHeart()
      await Promise.all([own.stop(), live.remove()])
    })
    const { rpc_url, chain_id, token } = own
    const payer = await fundedPayer(rpc_url, token, TEN)
    const first = await startFaulty(live.settings, { die_at: 'after_claim' })
    const made = await send(`${first.url}/api/invoice/create`, { amountUsdc: 10, merchant: newMerchant().address })
    const invoice = made.body as InvoiceShown
    const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 900)
    const { body } = await signFor({ chain_id, token }, payer, invoice, { validBefore })
    await assert.rejects(send(`${first.url}/api/invoice/${invoice.invoice_id}/pay`, body))
    assert.equal((await first.ended).signal, 'SIGKILL')
    const second = await startFaulty(live.settings, { ahead_ms: AHEAD_MS })
    const url = `${second.url}/api/invoice/${invoice.invoice_id}`
    const paid = await send(`${url}/pay`, body)
    assert.equal(paid.status, 200, paid.text)
    assert.deepEqual((await send(`${url}/pay`, body)).body, paid.body)
    assert.equal(await held(rpc_url, token, invoice.merchant), TEN)
    await second.stop()
  },
)
