/** Deposit addresses over HTTP and a chain: who sends USDC to one has paid that invoice, and the merchant receives it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getAddress, type Hex } from 'viem'
import { DEPOSIT_FACTORY } from '../../src/pure/contracts/deployment.ts'
import {
  invoiceUrl,
  issue,
  issueSigned,
  looked,
  mine,
  newMerchant,
  send,
  signAsMerchant,
  transferPlainly,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { fundedPayer, held } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { startAnvil } from '../support/anvil.ts'
import { liveDeployment, startLive } from '../support/faults-live.ts'
import { until } from '../support/settlement.ts'

const TEN = 10_000_000n

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface ShownDeposit {
  address: Hex
  forwarded_by_service_from_minor: string | null
  sweep: { to: Hex; data: Hex }
  forwards: { tx_hash: string; amount_minor: string }[]
}

function depositOf(invoice: InvoiceShown): ShownDeposit {
  return invoice['deposit'] as ShownDeposit
}

async function final(invoice: InvoiceShown): Promise<InvoiceShown> {
  await mine(world.chain)
  return looked(world, invoice)
}

const balance = (address: string) => held(world.chain.rpc_url, world.chain.token, address)

/** The record once its deposits were forwarded that many times and the forwards are final. */
async function forwarded(invoice: InvoiceShown, times = 1): Promise<InvoiceShown> {
  let record = invoice
  await until('the deposits are forwarded', async () => depositOf((record = await final(invoice))).forwards.length >= times)
  return record
}

test('an unsigned invoice is paid by a plain transfer to its deposit address, and the merchant receives it', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { address, sweep, forwarded_by_service_from_minor } = depositOf(invoice)
  assert.deepEqual([sweep.to, forwarded_by_service_from_minor], [DEPOSIT_FACTORY.address, '1000000'])
  assert.equal(
    invoice['eip681_uri'],
    `ethereum:${getAddress(world.chain.token)}@84532/transfer?address=${getAddress(address)}&uint256=10000000`,
  )
  assert.ok(!invoice['eip681_uri'].toLowerCase().includes(invoice.merchant.slice(2)))
  const hash = await transferPlainly(world.chain, payer, address, TEN)
  const record = await final(invoice)
  assert.deepEqual([record.status, record.exceptions, record.tx_hash, record['eip681_uri']], ['SETTLED', [], hash, null])
  assert.deepEqual(
    record.payments.map(({ matched_by, method, tx_hash }) => [matched_by, method, tx_hash]),
    [['deposit', 'transfer', hash]],
  )
  const swept = await forwarded(invoice)
  assert.deepEqual([await balance(invoice.merchant), await balance(address)], [TEN, 0n])
  assert.deepEqual([swept.status, swept.payments.length, swept.amount_paid_minor], ['SETTLED', 1, '10000000'])
  assert.deepEqual(
    depositOf(swept).forwards.map(({ amount_minor }) => amount_minor),
    ['10000000'],
  )
})

test('less, the rest, more and a payment after expiry are recorded and forwarded', async () => {
  const [payer, invoice] = [await world.payer(5n * TEN), await issue(world, '10')]
  const { address } = depositOf(invoice)
  await transferPlainly(world.chain, payer, address, 4_000_000n)
  const part = await final(invoice)
  assert.deepEqual([part.status, part.amount_due_minor], ['PARTIALLY_PAID', '6000000'])
  assert.match(String(part['eip681_uri']), /uint256=6000000$/)
  await forwarded(invoice)
  await transferPlainly(world.chain, payer, address, 6_000_000n)
  assert.deepEqual([(await final(invoice)).status, (await looked(world, invoice)).exceptions], ['SETTLED', []])
  await transferPlainly(world.chain, payer, address, TEN)
  const twice = await final(invoice)
  assert.deepEqual([twice.status, twice.exceptions, twice.overpaid_minor], ['SETTLED', ['overpaid', 'duplicate_payment'], '10000000'])
  await until('everything is forwarded', async () => (await final(invoice), (await balance(invoice.merchant)) === 2n * TEN))
  assert.equal(await balance(address), 0n)

  const late = await issue(world, '10')
  world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(late.invoice_id))
  await transferPlainly(world.chain, payer, depositOf(late).address, TEN)
  const record = await final(late)
  assert.deepEqual([record.status, record.exceptions], ['SETTLED', ['paid_late']])
})

test('what a deposit address forwards pays no other invoice of the merchant, although its amount fits', async () => {
  const merchant = newMerchant()
  const [payer, fitting] = [await world.payer(TEN), await issueSigned(world, '10', merchant)]
  const invoice = await issue(world, '10', merchant.address)
  await transferPlainly(world.chain, payer, depositOf(invoice).address, TEN)
  await forwarded(invoice)
  const other = await looked(world, fitting)
  assert.deepEqual([other.status, other.payments, other.exceptions], ['ISSUED', [], []])
})

test('two invoices of one amount of one merchant are each paid by their own address', async () => {
  const merchant = newMerchant().address
  const pair = [await issue(world, '10', merchant), await issue(world, '10', merchant)] as const
  const payer = await world.payer(2n * TEN)
  for (const invoice of pair) await transferPlainly(world.chain, payer, depositOf(invoice).address, TEN)
  await mine(world.chain)
  for (const invoice of pair) {
    const record = await looked(world, invoice)
    assert.deepEqual([record.status, record.exceptions, record.payments.length], ['SETTLED', [], 1])
  }
  await until('both are forwarded', async () => (await balance(merchant)) === 2n * TEN)
})

test('less than 1 USDC stays until anyone sends the sweep of the record', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '0.5')]
  const { address, sweep } = depositOf(invoice)
  await transferPlainly(world.chain, payer, address, 500_000n)
  const record = await final(invoice)
  assert.deepEqual([record.status, await balance(address), await balance(invoice.merchant)], ['SETTLED', 500_000n, 0n])
  const { rpc } = world.chain
  await rpc('anvil_impersonateAccount', [payer.address])
  await rpc('eth_sendTransaction', [{ from: payer.address, to: sweep.to, data: sweep.data, gas: '0x493e0' }])
  await forwarded(invoice)
  assert.deepEqual([await balance(address), await balance(invoice.merchant)], [0n, 500_000n])
})

test('many small transfers do not fill the store, and hide no payment', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '1')]
  const { address } = depositOf(invoice)
  for (let count = 0; count < 110; count += 1) await transferPlainly(world.chain, payer, address, 1n)
  for (let looks = 0; looks < 3; looks += 1) await final(invoice)
  assert.equal((await looked(world, invoice)).payments.length, 100)
  await transferPlainly(world.chain, payer, address, 1_000_000n)
  const record = await final(invoice)
  assert.deepEqual([record.status, record.payments.length], ['SETTLED', 101])
})

test('a deposit that a reorganisation removes is withdrawn', async () => {
  // Above 1,000 USDC only a final block settles.
  const amount = 200n * TEN
  const [payer, invoice] = [await world.payer(amount), await issue(world, '2000')]
  const snapshot = await world.chain.rpc('evm_snapshot', [])
  await transferPlainly(world.chain, payer, depositOf(invoice).address, amount)
  const seen = await looked(world, invoice)
  assert.deepEqual([seen.status, seen.payments.length], ['PROCESSING', 1])
  await world.chain.rpc('evm_revert', [snapshot])
  const record = await final(invoice)
  assert.deepEqual([record.status, record.payments, record.exceptions], ['ISSUED', [], ['reorged']])
})

test('where the chain has no factory, an unsigned invoice offers no plain transfer anywhere, and a signed one the merchant', async (t) => {
  const anvil = await startAnvil()
  await anvil.setCode(DEPOSIT_FACTORY.address, '0x')
  const live = await liveDeployment(anvil, {})
  const running = await startLive(live)
  t.after(async () => {
    await running.stop()
    await live.remove()
    await anvil.stop()
  })
  const { rpc_url, chain_id, token, rpc } = anvil
  const there = { url: running.url, running, chain: { rpc_url, chain_id, token, rpc, pay_to: live.pay_to } } as unknown as World
  const merchant = newMerchant()
  const invoice = await issue(there, '3', merchant.address)
  assert.deepEqual([invoice['deposit'], invoice['eip681_uri']], [null, null])
  assert.match(String(invoice['eip681_reason']), /not signed it, so none is offered: pay through pay_url/)
  assert.match(String(invoice['merchant_notice']), /none is offered: pay through pay_url/)
  const code = await fetch(`${invoiceUrl(there, invoice)}/qr.svg`)
  assert.equal(code.status, 404)
  assert.match(await code.text(), /not signed it, so none is offered/)
  const page = await (await fetch(`${there.url}/pay/${invoice.invoice_id}`, { headers: { accept: 'text/html' } })).text()
  assert.ok(!page.includes('id="code-token"') && !page.includes('id="to"') && page.includes('class="warned">Do not send a plain transfer'))
  const signature = await signAsMerchant(there.chain, merchant, invoice, 'Issue')
  const { body } = await send(`${invoiceUrl(there, invoice)}/sign`, { signature })
  assert.ok(String(body['eip681_uri']).toLowerCase().includes(`address=${merchant.address.toLowerCase()}&`))
})

// attack: many small deposits or payments of own money that use up the forwards of the day
test(
  'deposits of one actor beyond its share wait and say so, while a larger one of another sender is forwarded',
  { timeout: 120_000 },
  async (t) => {
    const anvil = await startAnvil()
    // Half of it pays for 20 to 40 sweeps of 57,000 gas at 1 to 2 gwei, of which the small ones of one network may use two to four.
    const live = await liveDeployment(anvil, { ASSAY_GAS_DAILY_WEI: String(57_000n * 2_000_000_000n * 40n) })
    const running = await startLive(live)
    t.after(async () => {
      await running.stop()
      await live.remove()
      await anvil.stop()
    })
    const { rpc_url, chain_id, token, rpc } = anvil
    const there = { url: running.url, running, chain: { rpc_url, chain_id, token, rpc, pay_to: live.pay_to } } as unknown as World
    const [attacker, customer] = [await fundedPayer(rpc_url, token, 100_000_000n), await fundedPayer(rpc_url, token, 50_000_000n)]
    for (const { address } of [attacker, customer]) await anvil.setBalance(address, 10n ** 18n)
    const own: InvoiceShown[] = []
    for (let count = 0; count < 12; count += 1) {
      const invoice = await issue(there, '1')
      await transferPlainly(there.chain, attacker, depositOf(invoice).address, 1_000_000n)
      own.push(invoice)
    }
    const recordsOf = async () => {
      await anvil.mine(3)
      return Promise.all(own.map((invoice) => looked(there, invoice)))
    }
    const waits = (record: InvoiceShown) => (record['deposit'] as { forwarded_after: string | null }).forwarded_after !== null
    let records: InvoiceShown[] = []
    await until('the share is used up', async () => (records = await recordsOf()).filter(waits).length >= 8)
    const waiting = records.find(waits) ?? assert.fail()
    const { notice, forwarded_after } = waiting['deposit'] as { notice: string; forwarded_after: string }
    assert.match(
      notice,
      /forwards without a fee of today are used up for its creator, its sender, its merchant or all: this service forwards it after/,
    )
    // The day's gas makes the share smaller than usual, so that it may grow again within the day.
    const wait_ms = Date.parse(forwarded_after) - Date.now()
    assert.ok(wait_ms > 0 && wait_ms <= 3_600_000, forwarded_after)
    const page = await fetch(`${there.url}/pay/${waiting.invoice_id}`, { headers: { accept: 'text/html' } })
    assert.ok((await page.text()).includes(`this service forwards it after ${forwarded_after}`))
    const honest = await issue(there, '50')
    await transferPlainly(there.chain, customer, depositOf(honest).address, 50_000_000n)
    await until(
      'the honest deposit is forwarded',
      async () => (await recordsOf(), (await held(rpc_url, token, honest.merchant)) === 50_000_000n),
    )
    assert.ok(depositOf(await looked(there, waiting)).forwards.length === 0)
  },
)
