/**
 * A stranger creates invoices for the address of a shop with the number of an order of it, and pays them. The subscription of the shop must not
 * report them: over HTTP and a chain, on both stores.
 */
// attack: an unsigned invoice for the shop with the number of an order of it, paid with a cent
// in: money and signatures
// asset: orders of a shop
// attacker: client
// defence: webhooks of an account report invoices that it signed; each event says who signed and the amount asked

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Hex } from 'viem'
import {
  invoiceUrl,
  looked,
  mine,
  newMerchant,
  payByX402,
  send,
  signAsMerchant,
  transferPlainly,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/settlement.ts'

const ORDER = '4711'
const PRICE = '49.00'

for (const open of STORE_DRIVERS) {
  describe(`events of invoices that a stranger made: ${open.name}`, () => {
    let driver: StoreDriver
    let world: World
    let data_dir = ''
    const receivers: Receiver[] = []
    before(async () => {
      driver = await open()
      data_dir = await mkdtemp(join(tmpdir(), 'assay-owners-'))
      const keys = ['secret', 'receipt.key', 'log.key']
      for (const name of keys) await writeFile(join(data_dir, name), randomBytes(32).toString('hex'), { mode: 0o600 })
      const [secret = '', receipt = '', log = ''] = keys.map((name) => join(data_dir, name))
      const files = { ASSAY_SECRET_FILE: secret, ASSAY_RECEIPT_KEY_FILE: receipt, ASSAY_LOG_KEY_FILE: log }
      const { target } = await driver.fresh()
      world = await startWorld({ data_dir, settings: { ASSAY_STORE: target, ...files } })
    })
    after(async () => {
      await world.stop()
      for (const receiver of receivers) await receiver.stop()
      await driver.stop()
      await rm(data_dir, { recursive: true, force: true })
    })

    async function subscribed(request: Record<string, unknown>, merchant: ReturnType<typeof newMerchant> | null = null): Promise<Receiver> {
      const receiver = await startReceiver()
      receivers.push(receiver)
      const url = `${world.url}/v1/webhooks`
      const given = { ...request, url: receiver.url }
      const asked = await send(url, given)
      if (merchant === null) return withSecret(receiver, asked.body)
      const { typed_data, submit } = asked.body['sign'] as {
        typed_data: Parameters<typeof merchant.signTypedData>[0]
        submit: { body: object }
      }
      const signature = await merchant.signTypedData(typed_data)
      return withSecret(receiver, (await send(url, { ...given, ...submit.body, signature })).body)
    }

    function withSecret(receiver: Receiver, body: Record<string, unknown>): Receiver {
      assert.match(String(body['secret']), /^whsec_/, JSON.stringify(body))
      receiver.secret = String(body['secret'])
      return receiver
    }

    async function created(merchant: Hex, amountUsdc: string): Promise<InvoiceShown & { webhook_token: string }> {
      const made = await send(`${world.url}/api/invoice/create`, { amountUsdc, merchant, order_number: ORDER })
      assert.equal(made.status, 201, made.text)
      return made.body as InvoiceShown & { webhook_token: string }
    }

    const reported = ({ accepted }: Receiver) => accepted.map(({ type, data }) => `${type} ${String(data['invoice_id'])}`).toSorted()
    const depositOf = (invoice: InvoiceShown) => (invoice['deposit'] as { address: Hex }).address

    test('the account learns of the invoice that it signed, with the amount asked; the creator of the others of each', async () => {
      const shop = newMerchant()
      const of_shop = await subscribed({ account: shop.address }, shop)
      const [cheap, part, by_x402] = [
        await created(shop.address, '0.01'),
        await created(shop.address, PRICE),
        await created(shop.address, '1.00'),
      ]
      const of_stranger = await Promise.all(
        [cheap, part, by_x402].map(({ invoice_id, webhook_token }) => subscribed({ invoice_id, invoice_token: webhook_token })),
      )
      const payer = await world.payer(100_000_000n)
      for (const invoice of [cheap, part]) await transferPlainly(world.chain, payer, depositOf(invoice), 10_000n)
      const { answer } = await payByX402(world, payer, by_x402)
      assert.equal(answer.status, 200, answer.text)

      const own = await created(shop.address, PRICE)
      const signature = await signAsMerchant(world.chain, shop, own, 'Issue')
      assert.equal((await send(`${invoiceUrl(world, own)}/sign`, { signature })).status, 200)
      await transferPlainly(world.chain, payer, depositOf(own), 49_000_000n)
      await mine(world.chain)
      for (const invoice of [cheap, part, by_x402, own]) await looked(world, invoice)

      await until('the events of the stranger', () => of_stranger.every(({ accepted }) => accepted.length === 2))
      assert.deepEqual(of_stranger.map(reported), [
        [`invoice.paid ${cheap.invoice_id}`, `payment.settled ${cheap.invoice_id}`],
        [`invoice.underpaid ${part.invoice_id}`, `payment.settled ${part.invoice_id}`],
        [`invoice.paid ${by_x402.invoice_id}`, `payment.settled ${by_x402.invoice_id}`],
      ])
      for (const { data } of of_stranger.flatMap(({ accepted }) => accepted))
        assert.deepEqual([data['merchant_signed'], data['created_by'], data['order_number']], [false, 'unsigned', ORDER])

      await until('the events of the shop', () => of_shop.accepted.length === 3)
      assert.deepEqual(
        reported(of_shop),
        ['invoice.created', 'invoice.paid', 'payment.settled'].map((type) => `${type} ${own.invoice_id}`),
      )
      for (const { data } of of_shop.accepted) {
        const { merchant_signed, created_by, amount_minor, amount_usdc } = data
        assert.deepEqual([merchant_signed, created_by, amount_minor, amount_usdc], [true, 'merchant', '49000000', '49'])
      }
    })

    test('a merchant that signs an invoice after it was paid learns of the payment then', async () => {
      const shop = newMerchant()
      const of_shop = await subscribed({ account: shop.address }, shop)
      const invoice = await created(shop.address, PRICE)
      const payer = await world.payer(49_000_000n)
      const transaction = await transferPlainly(world.chain, payer, depositOf(invoice), 49_000_000n)
      await mine(world.chain)
      assert.equal((await looked(world, invoice)).status, 'SETTLED')
      const signature = await signAsMerchant(world.chain, shop, invoice, 'Issue')
      const signed = await send(`${invoiceUrl(world, invoice)}/sign`, { signature })
      assert.equal(signed.status, 200, signed.text)
      await until('the events', () => of_shop.accepted.length === 3)
      assert.deepEqual(
        of_shop.accepted.map(({ type, data }) => [type, data['status'], (data['payment'] as { transaction: string } | null)?.transaction]),
        [
          ['invoice.created', 'SETTLED', undefined],
          ['payment.settled', 'SETTLED', transaction],
          ['invoice.paid', 'SETTLED', transaction],
        ],
      )
    })
  })
}
