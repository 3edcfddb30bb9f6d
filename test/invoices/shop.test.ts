/** Order number and return URL of a shop, links to block explorers, and the PDF of a paid invoice. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keccak256, toBytes } from 'viem'
import { fixedInvoices, invoicesInMemory } from '../support/invoices-memory.ts'
import {
  invoiceUrl,
  looked,
  mine,
  newMerchant,
  pdfHeights,
  pdfWords,
  send,
  sendAsStranger,
  signAsMerchant,
  signFor,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { startAnvil } from '../support/anvil.ts'
import { startLiveWorld, startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const create = (body: unknown, headers: Record<string, string> = {}) => send(`${world.url}/api/invoice/create`, body, headers)
const SHOP = { order_number: 'A-4711/β', return_url: 'https://Shop.example/thanks?order=4711' }

test('order number and return URL are on the record and under the hash that the merchant signs; without them the hash is as before', async () => {
  const merchant = newMerchant()
  const plain = { amountUsdc: '12.50', merchant: merchant.address, memo: 'May' }
  const [bare, shop] = [await create(plain), await create({ ...plain, ...SHOP })]
  assert.deepEqual([bare.status, shop.status], [201, 201], shop.text)
  const return_url = 'https://shop.example/thanks?order=4711'
  assert.deepEqual([bare.body['order_number'], bare.body['return_url']], [null, null])
  assert.deepEqual([shop.body['order_number'], shop.body['return_url']], [SHOP.order_number, return_url])
  const token = world.chain.token.toLowerCase()
  // RFC 8785: members in the order of their names, no spaces.
  const head = `{"amount_minor":"12500000","chain_id":${world.chain.chain_id},"client_name":null,"memo":"May","merchant":"${merchant.address.toLowerCase()}"`
  assert.equal(bare.body['cart_hash'], keccak256(toBytes(`${head},"token":"${token}"}`)))
  const members = `"order_number":"${SHOP.order_number}","return_url":"${return_url}"`
  assert.equal(shop.body['cart_hash'], keccak256(toBytes(`${head},${members},"token":"${token}"}`)))
  const invoice = shop.body as InvoiceShown
  const signature = await signAsMerchant(world.chain, merchant, invoice, 'Issue')
  assert.equal((await send(`${invoiceUrl(world, invoice)}/sign`, { signature })).body['merchant_verified'], true)
})

test('another order number under the same Idempotency-Key is a conflict', async () => {
  const body = { amountUsdc: '1', merchant: newMerchant().address, order_number: '1' }
  const headers = { 'idempotency-key': 'shop-1', 'x-forwarded-for': '192.0.2.9' }
  const [first, again] = [await create(body, headers), await create(body, headers)]
  assert.deepEqual([first.status, again.status, again.body['invoice_id']], [201, 200, first.body['invoice_id']])
  assert.equal((await create({ ...body, order_number: '2' }, headers)).status, 409)
})

test('an invoice is due after the days that were asked for', async () => {
  const days = async (due_days?: number) => {
    const { body } = await create({ amountUsdc: '1', merchant: newMerchant().address, ...(due_days === undefined ? {} : { due_days }) })
    return (Number(body['expires_s']) - Number(body['created_s'])) / 86_400
  }
  assert.deepEqual([await days(), await days(1), await days(14), await days(90)], [14, 1, 14, 90])
  for (const due_days of [0, 91, 1.5, '3']) {
    const { status, body } = await create({ amountUsdc: '1', merchant: newMerchant().address, due_days })
    assert.deepEqual([status, (body['errors'] as { pointer: string }[])[0]?.pointer], [400, '/due_days'])
  }
})

test('addresses that are not a public page of a shop, and order numbers of several lines, are refused by name', async () => {
  const wrong: [string, string][] = [
    ['return_url', 'http://shop.example/'],
    ['return_url', 'https://shop.example:8443/'],
    ['return_url', 'https://user@shop.example/'],
    ['return_url', 'https://shop.example/#done'],
    ['return_url', 'https://localhost/'],
    ['return_url', 'https://127.0.0.1/'],
    ['return_url', 'https://2130706433/'],
    ['return_url', 'https://[::1]/'],
    ['return_url', 'https://shop.example /'],
    ['return_url', 'https://shop\u202e.example/'],
    ['return_url', 'javascript:alert(1)'],
    ['return_url', `https://shop.example/${'x'.repeat(500)}`],
    ['order_number', 'two\nlines'],
    ['order_number', 'a\u200bb'],
    ['order_number', 'x'.repeat(65)],
  ]
  for (const [name, value] of wrong) {
    const { status, body } = await create({ amountUsdc: '1', merchant: newMerchant().address, [name]: value })
    const [first] = body['errors'] as { pointer: string }[]
    assert.deepEqual([status, body['code'], first?.pointer], [400, 'INPUT_SCHEMA_INVALID', `/${name}`], value)
  }
})

test('an invoice of an earlier release has neither', async () => {
  const desk = fixedInvoices({ now_ms: () => Date.UTC(2026, 10, 21, 12) }, oldStore())
  const view = await desk.read('inv_vector00000000000000000000')
  assert.deepEqual([view?.record['order_number'], view?.record['return_url']], [null, null])
})

/** Terms as they were stored before there were order numbers. */
function oldStore() {
  const store = invoicesInMemory()
  return {
    ...store,
    async find(id: string) {
      const invoice = await store.find(id)
      if (invoice === null) return null
      const { order_number: _order, return_url: _url, ...terms } = JSON.parse(invoice.terms) as Record<string, unknown>
      return { ...invoice, terms: JSON.stringify(terms) }
    },
  }
}

async function paid(at: World, body: Record<string, unknown>): Promise<InvoiceShown> {
  const made = await send(`${at.url}/api/invoice/create`, { amountUsdc: '10', merchant: newMerchant().address, ...body })
  assert.equal(made.status, 201, made.text)
  const invoice = made.body as InvoiceShown
  await sendAsStranger(at.chain, await signFor(at.chain, await at.payer(10_000_000n), invoice))
  await mine(at.chain)
  return looked(at, invoice)
}

test('the PDF of a paid invoice says PAID, when, how much, by which transaction and by whom, in three languages', async () => {
  const before_payment = (await create({ amountUsdc: '10', merchant: newMerchant().address, ...SHOP })).body as InvoiceShown
  const asked = await pdfWords(await (await fetch(`${invoiceUrl(world, before_payment)}/pdf`)).arrayBuffer())
  assert.ok(asked.includes('Payment request') && asked.includes('Payable until') && !asked.includes('PAID'))
  const record = await paid(world, SHOP)
  const { tx_hash, settled_at, payments } = record
  for (const [language, words] of Object.entries({
    en: ['Payment confirmation', 'PAID', 'Paid on', 'Amount paid', 'Payer', 'Order number'],
    de: ['Zahlungsbestätigung', 'BEZAHLT', 'Bezahlt am', 'Gezahlter Betrag', 'Zahler', 'Bestellnummer'],
    es: ['Confirmación de pago', 'PAGADA', 'Pagada el', 'Importe pagado', 'Pagador', 'Número de pedido'],
  })) {
    const answer = await fetch(`${invoiceUrl(world, record)}/pdf?lang=${language}`)
    const lines = await pdfWords(await answer.arrayBuffer())
    // A hash is longer than a line.
    const text = lines.replaceAll('\n', '')
    for (const word of [
      ...words,
      '10.00 USDC',
      String(tx_hash),
      String(settled_at),
      String(payments[0]?.payer),
      'https://shop.example/thanks',
    ])
      assert.ok(text.includes(word), `${language}: ${word}`)
    assert.doesNotMatch(text, /Payable until|Zahlbar bis|Pagadera hasta|\/pay(?!m)/)
  }
})

test('the longest texts leave every line of the PDF above its foot', async () => {
  const long = { memo: 'W'.repeat(500), clientName: 'W'.repeat(120), order_number: 'W'.repeat(64) }
  const return_url = `https://shop.example/${'w'.repeat(479)}`
  const record = await paid(world, { ...long, return_url })
  const bytes = await (await fetch(`${invoiceUrl(world, record)}/pdf`)).arrayBuffer()
  const heights = await pdfHeights(bytes)
  assert.ok(heights.length > 60)
  // The foot is the lowest line, 48 points above the edge; a rule separates it at 64.
  assert.deepEqual(
    heights.filter((y) => y < 64 && y !== 48),
    [],
  )
  const text = (await pdfWords(bytes)).replaceAll('\n', '')
  for (const value of [return_url, String(record.tx_hash), long.order_number]) assert.ok(text.includes(value), value)
})

test('payments link to the block explorer of a public chain; a sandbox has none', async () => {
  const sandbox = await paid(world, {})
  assert.deepEqual(
    [sandbox['transaction_url'], sandbox.payments.map((one) => Reflect.get(one, 'transaction_url') as unknown)],
    [null, [null]],
  )
  const anvil = await startAnvil()
  const live = await startLiveWorld({ anvil })
  try {
    const record = await paid(live, {})
    const expected = `https://basescan.org/tx/${String(record.tx_hash)}`
    assert.equal(record['transaction_url'], expected)
    const page = await (await fetch(`${live.url}/pay/${record.invoice_id}`, { headers: { accept: 'text/html' } })).text()
    assert.ok(page.includes(`href="${expected}"`))
  } finally {
    await live.stop()
    await anvil.stop()
  }
})
