/** Two services over one PostgreSQL carry and watch the same invoices; and one that settles through others carries none. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { startFacilitator } from '../support/faults-facilitator.ts'
import { liveDeployment, startLive, witnessOf, type Live } from '../support/faults-live.ts'
import { issue, looked, mine, newMerchant, send, sendAsStranger, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { fundedPayer, held } from '../support/paying.ts'
import type { World } from '../support/paying-world.ts'
import { openPostgres } from '../support/postgres.ts'
import type { Running } from '../../src/assembly/start.ts'

const TEN = 10_000_000n

let anvil: Anvil
let postgres: Awaited<ReturnType<typeof openPostgres>>
before(async () => {
  const [chain, database] = await Promise.all([startAnvil(), openPostgres()])
  anvil = chain
  postgres = database
})
after(async () => {
  await Promise.all([anvil.stop(), postgres.stop()])
})

/** What the helpers of invoices need of a world. */
function worldOf(running: Running, { pay_to }: Live): World {
  const { rpc_url, chain_id, token, rpc } = anvil
  return { url: running.url, running, chain: { rpc_url, chain_id, token, rpc, pay_to } } as unknown as World
}

test(
  'the same payment given to both at once is sent once, and each transfer is attributed once, whoever sees it first',
  { timeout: 60_000 },
  async (t) => {
    const live = await liveDeployment(anvil, { ASSAY_TRUSTED_PROXIES: '127.0.0.1' })
    // A first start makes the keys and the secret that instances share.
    await startLive(live).then((made) => made.stop())
    const data = live.settings['ASSAY_DATA_DIR'] ?? ''
    const keys = { ASSAY_RECEIPT_KEY_FILE: join(data, 'receipt-keys.json'), ASSAY_SECRET_FILE: join(data, 'secret.key') }
    const settings = { ...live.settings, ...keys, ASSAY_STORE: await postgres.createDatabase('invoices') }
    const services = [await startLive({ settings }), await startLive({ settings })]
    t.after(async () => {
      await Promise.all(services.map((service) => service.stop()))
      await live.remove()
    })
    const [one, two] = services.map((service) => worldOf(service, live))
    assert.ok(one !== undefined && two !== undefined)
    const both = [one, two] as const
    const merchant = newMerchant().address
    const cases = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const invoice = await issue(both[index % 2 === 0 ? 0 : 1], '10', merchant)
        return { invoice, payer: await fundedPayer(anvil.rpc_url, anvil.token, TEN) }
      }),
    )
    const answers = await Promise.all(
      cases.map(async ({ invoice, payer }, index) => {
        const signed = await signFor(one.chain, payer, invoice)
        // Half of them are carried by both services at once, half are sent by a stranger and only seen.
        if (index < 2) return Promise.all(both.map(({ url }) => send(`${url}/api/invoice/${invoice.invoice_id}/pay`, signed.body)))
        await sendAsStranger(one.chain, signed)
        return []
      }),
    )
    for (const pair of answers) for (const { status, text } of pair) assert.ok(status === 200 || status === 202, text)
    await mine(one.chain)
    // Both look at the merchant at the same time.
    await Promise.all(both.flatMap((world) => cases.map(({ invoice }) => looked(world, invoice))))
    const witness = witnessOf(anvil)
    for (const { invoice, payer } of cases) {
      const [transfers, used] = [await witness.transfers(payer.address, merchant), await witness.used(payer.address)]
      assert.deepEqual([transfers.length, used.length], [1, 1])
      for (const world of both) {
        const record = await looked(world, invoice)
        assert.deepEqual(
          [record.status, record.exceptions, record.payments.map(({ tx_hash }) => tx_hash)],
          ['SETTLED', [], [transfers[0]?.transaction]],
        )
      }
    }
    assert.equal(await held(anvil.rpc_url, anvil.token, merchant), 4n * TEN)
  },
)

test(
  'a deployment that settles through facilitators carries nothing, says so, and sees what others carry',
  { timeout: 60_000 },
  async (t) => {
    const facilitator = await startFacilitator(anvil)
    const live = await liveDeployment(anvil, { ASSAY_FACILITATOR_URLS: facilitator.url, ASSAY_GAS_KEY_FILE: '' })
    const service = await startLive(live)
    t.after(async () => {
      await service.stop()
      await facilitator.stop()
      await live.remove()
    })
    const world = worldOf(service, live)
    const invoice: InvoiceShown = await issue(world, '10')
    assert.deepEqual([invoice['x402'], /No payment is sent to the chain from here/.test(String(invoice['merchant_notice']))], [null, true])
    const asked = await send(`${world.url}/api/invoice/${invoice.invoice_id}/pay`)
    assert.deepEqual([asked.status, asked.body['code'], asked.headers.get('payment-required')], [409, 'INVOICE_NOT_PAYABLE', null])
    const page = await fetch(`${world.url}/pay/${invoice.invoice_id}`, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /This deployment does not submit payments from browser wallets/)
    const signed = await signFor(world.chain, await fundedPayer(anvil.rpc_url, anvil.token, TEN), invoice)
    const refused = await send(`${world.url}/api/invoice/${invoice.invoice_id}/pay`, signed.body)
    assert.deepEqual([refused.status, refused.body['code'], facilitator.asked], [503, 'NOT_CONFIGURED', 0], refused.text)
    assert.equal(await held(anvil.rpc_url, anvil.token, invoice.merchant), 0n)
    await sendAsStranger(world.chain, signed)
    await mine(world.chain)
    const record = await looked(world, invoice)
    assert.deepEqual([record.status, record.payments.map(({ matched_by }) => matched_by)], ['SETTLED', ['eip3009']])
  },
)
