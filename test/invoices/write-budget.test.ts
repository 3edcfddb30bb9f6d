/** Budgets of invoice writes: of merchants that sign, of clients, and of networks of merchants that were never paid. */
// attack: wrong signatures in its name; random keys by the thousand from one network
// in: money and signatures
// asset: writes of a shop
// attacker: client
// defence: a budget of the merchant that only verified signatures draw on; merchants that were never paid share one with their network

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { createWriteBudget } from '../../src/service/invoices/write-budget.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { banked, EUR, IBAN, coordinates, signedBody } from '../support/bank-invoices.ts'
import { statementOf } from '../support/invoice-statements.ts'
import { fixedInvoices } from '../support/invoices-memory.ts'
import { issue, invoiceUrl, newMerchant, send, signAsMerchant, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const SHOP = { 'x-forwarded-for': '198.51.100.20' }

async function pay(invoice: InvoiceShown, headers: Record<string, string>) {
  const { body } = await signFor(world.chain, await world.payer(5_000_000n), invoice)
  return send(`${invoiceUrl(world, invoice)}/pay`, body, headers)
}

async function createAndSign(merchant: PrivateKeyAccount, headers: Record<string, string>): Promise<InvoiceShown> {
  const made = await send(`${world.url}/api/invoice/create`, { amountUsdc: '5', merchant: merchant.address }, headers)
  assert.equal(made.status, 201, made.text)
  const invoice = made.body as InvoiceShown
  const signature = await signAsMerchant(world.chain, merchant, invoice, 'Issue')
  const signed = await send(`${invoiceUrl(world, invoice)}/sign`, { signature }, headers)
  assert.equal(signed.status, 200, signed.text)
  return signed.body as InvoiceShown
}

test('one shop creates and signs 60 invoices in a minute from one address, and a payment from there is taken', async () => {
  const merchant = newMerchant()
  let last = await createAndSign(merchant, SHOP)
  for (let made = 1; made < 60; made++) last = await createAndSign(merchant, SHOP)
  const paid = await pay(last, SHOP)
  assert.equal(paid.status, 200, paid.text)
})

test('a payment is taken from a client that has used up its creations', async () => {
  const client = { 'x-forwarded-for': '198.51.100.21' }
  const invoice = await issue(world, '5')
  const content = { amountUsdc: '5', merchant: newMerchant().address }
  for (let made = 0; made < INVOICE_RULES.per_minute; made++) await send(`${world.url}/api/invoice/create`, content, client)
  const refused = await send(`${world.url}/api/invoice/create`, content, client)
  assert.deepEqual([refused.status, refused.body['code']], [429, 'INVOICE_RATE_LIMITED'])
  const paid = await pay(invoice, client)
  assert.equal(paid.status, 200, paid.text)
  // Signed acts do not need the budget of the client.
  const shop = newMerchant()
  const mine = await issue(world, '5', shop.address)
  const signature = await signAsMerchant(world.chain, shop, mine, 'Issue')
  assert.equal((await send(`${invoiceUrl(world, mine)}/sign`, { signature }, client)).status, 200)
})

test('wrong signatures draw on the client that sends them, and on no merchant', async () => {
  const [client, shop] = [{ 'x-forwarded-for': '198.51.100.22' }, newMerchant()]
  const invoice = await issue(world, '5', shop.address)
  const wrong = { signature: await signAsMerchant(world.chain, newMerchant(), invoice, 'Issue') }
  const statuses: number[] = []
  for (let sent = 0; sent <= INVOICE_RULES.per_minute; sent++)
    statuses.push((await send(`${invoiceUrl(world, invoice)}/sign`, wrong, client)).status)
  assert.deepEqual([statuses[0], statuses.at(-1)], [403, 429])
  const signature = await signAsMerchant(world.chain, shop, invoice, 'Issue')
  assert.equal((await send(`${invoiceUrl(world, invoice)}/sign`, { signature }, SHOP)).status, 200)
})

test('statements of a merchant that signs have its budget', async () => {
  const [client, merchant] = [{ 'x-forwarded-for': '198.51.100.23' }, newMerchant()]
  const { reference } = coordinates(await banked(world, merchant))
  for (let sent = 0; sent < 15; sent++) {
    const asked = {
      document: statementOf([EUR({ amount: '44.00', reference })], { iban: IBAN, id: `S${sent}` }),
      merchant: merchant.address,
    }
    const first = await send(`${world.url}/api/invoice/statement`, asked, client)
    assert.equal(first.status, 403, `${sent} ${first.text}`)
    const end = await send(`${world.url}/api/invoice/statement`, { ...asked, ...(await signedBody(first.body, merchant)) }, client)
    assert.equal(end.status, 200, `${sent} ${end.text}`)
  }
})

test('calls that create invoices, which are paid for, do not draw on the writes of their client', async () => {
  const [calls, merchant] = [fixedInvoices(systemClock).by?.('198.51.100.24'), address(0xa11ce001)]
  for (let called = 0; called <= INVOICE_RULES.per_minute; called++)
    assert.equal((await calls?.create({ amount: '5', merchant }))?.kind, 'made', `call ${called}`)
})

const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`

test('2,000 wallets that were never paid are bounded by their network, and a merchant that was paid is not', async () => {
  const paid = address(7)
  const budget = createWriteBudget({ was_paid: (merchant) => Promise.resolve(merchant === paid) }, { steady_ms: () => 1_000 })
  let taken = 0
  for (let wallet = 0; wallet < 2_000; wallet++) {
    const refused = await budget.proved(`203.0.113.${wallet % 256}`, address(1_000 + wallet), 'write')
    if (refused === null) taken++
    else assert.equal(refused.code, 'INVOICE_RATE_LIMITED')
  }
  assert.equal(taken, INVOICE_RULES.network_new_per_minute)
  assert.equal(await budget.proved('203.0.113.9', paid, 'write'), null)
  assert.equal(await budget.proved('198.51.100.9', address(5_000), 'write'), null)
})

test('the budget of a merchant is one for all its clients, is raised by its setting, and is full again in the next minute', async () => {
  let now_ms = 0
  const budget = createWriteBudget({ was_paid: () => Promise.resolve(true) }, { steady_ms: () => now_ms }, 600)
  const writes = async (count: number) => {
    const ends = await Promise.all(Array.from({ length: count }, (_, sent) => budget.proved(`203.0.${sent % 200}.1`, address(9), 'write')))
    return ends.filter((end) => end === null).length
  }
  assert.deepEqual([await writes(700), await writes(1)], [600, 0])
  assert.notEqual(await budget.proved('203.0.113.1', address(9), 'statement'), null)
  now_ms = 60_000
  assert.equal(await writes(10), 10)
})

test('requests without a signature from the address of a shop leave half of its budget to signed ones', async () => {
  const [client, shop, most] = ['198.51.100.30', address(11), 100]
  for (const way of ['unproved', 'wrong'] as const) {
    const budget = createWriteBudget({ was_paid: () => Promise.resolve(true) }, { steady_ms: () => 1_000 }, most)
    assert.equal(await budget.proved(client, shop, 'write'), null)
    for (let sent = 0; sent < 2 * most; sent++) budget[way](client, shop, 'write')
    for (let signed = 1; signed < most / 2; signed++)
      assert.equal(await budget.proved('203.0.113.1', shop, 'write'), null, `${way} ${signed}`)
  }
})
