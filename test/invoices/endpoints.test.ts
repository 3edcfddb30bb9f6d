/** The addresses of invoices: making, reading, paying over HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PDFDocument } from 'pdf-lib'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { invoiceUrl, issue, newMerchant, pdfWords, send, signAsMerchant } from '../support/invoicing.ts'
import { call } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const BANKED = '0x00000000000000000000000000000000a11ce0bb'

let world: World
before(async () => {
  const bank = { ASSAY_BANK_IBAN: 'DE33100205000001194700', ASSAY_BANK_NAME: 'Example Operator', ASSAY_BANK_MERCHANTS: BANKED }
  world = await startWorld({ free_daily: 100, settings: bank })
})
after(() => world.stop())

const create = (body: unknown, headers: Record<string, string> = {}) => send(`${world.url}/api/invoice/create`, body, headers)
const plain = () => ({ amountUsdc: 12.5, merchant: newMerchant().address, clientName: 'Example Ltd', memo: 'PO 1' })

test('an invoice is made in either spelling, for nothing, and read by its id', async () => {
  const { merchant } = plain()
  const camel = await create({ amountUsdc: 12.5, merchant, clientName: 'Example Ltd', memo: 'PO 1' })
  const snake = await create({ amount_usdc: '12.50', merchant: merchant.toLowerCase(), client_name: 'Example Ltd', memo: 'PO 1' })
  assert.deepEqual([camel.status, snake.status], [201, 201], camel.text)
  const shown = ({ body }: typeof camel) => [
    body['amount_minor'],
    body['client_name'],
    body['memo'],
    body['merchant'],
    body['cart_hash'],
    body['status'],
  ]
  assert.deepEqual(shown(camel), shown(snake))
  assert.deepEqual(shown(camel).slice(0, 4), ['12500000', 'Example Ltd', 'PO 1', merchant.toLowerCase()])
  assert.notEqual(camel.body['invoice_id'], snake.body['invoice_id'])
  assert.match(String(camel.body['invoice_id']), /^inv_[0-9a-z]{26}$/)
  assert.equal(camel.headers.get('location'), camel.body['invoice_url'])
  const read = await send(String(camel.body['invoice_url']))
  const { webhook_token, ...record } = camel.body
  assert.match(String(webhook_token), /^wht_[0-9a-f]{64}$/)
  assert.deepEqual([read.status, read.body], [200, record])
})

test('equal duplicates pass, different ones and everything unfit are refused by name', async () => {
  const { merchant } = plain()
  assert.equal((await create({ amountUsdc: '5', amount_usdc: '5', merchant })).status, 201)
  assert.equal((await create({ amountUsdc: 5, amount_usdc: '5.00', merchant })).status, 201)
  const wrong: [unknown, string][] = [
    [{ amountUsdc: '5', amount_usdc: '6', merchant }, '/amount_usdc'],
    [{ merchant }, '/amountUsdc'],
    [{ amountUsdc: 5 }, '/merchant'],
    [{ amountUsdc: 5, merchant: '0x12' }, '/merchant'],
    [{ amountUsdc: 5, merchant: `0x${'0'.repeat(40)}` }, '/merchant'],
    [{ amountUsdc: 0, merchant }, '/amountUsdc'],
    [{ amountUsdc: '1.0000001', merchant }, '/amountUsdc'],
    [{ amountUsdc: -5, merchant }, '/amountUsdc'],
    [{ amountUsdc: '5', clientName: '1', client_name: '1.0', merchant }, '/client_name'],
    [{ amountUsdc: 5, merchant, referrer: merchant }, '/referrer'],
    // The first example of EIP-55 with one digit changed.
    [{ amountUsdc: 5, merchant: '0x5aAeb7053F3E94C9b9A09f33669435E7Ef1BeAed' }, '/merchant'],
    [{ amountUsdc: 5, merchant, referrer: '0x5aAeb7053F3E94C9b9A09f33669435E7Ef1BeAed' }, '/referrer'],
    [{ amountUsdc: 5, merchant, memo: 'x'.repeat(501) }, '/memo'],
    [{ amountUsdc: 5, merchant, memo: '\u202e' }, '/memo'],
    [{ amountUsdc: 5, merchant, other: 1 }, '/other'],
    [[], ''],
  ]
  for (const [body, pointer] of wrong) {
    const { status, body: found } = await create(body)
    const [first] = found['errors'] as { pointer: string }[]
    assert.deepEqual([status, found['code'], first?.pointer], [400, 'INPUT_SCHEMA_INVALID', pointer], JSON.stringify(body))
  }
})

test('the same key of the same client brings the same invoice; other content is a conflict, another client another invoice', async () => {
  const body = plain()
  const mine = { 'idempotency-key': 'order-4711', 'x-forwarded-for': '192.0.2.7' }
  const [first, again] = [await create(body, mine), await create(body, mine)]
  assert.deepEqual([first.status, again.status, again.body['invoice_id']], [201, 200, first.body['invoice_id']])
  const other = await create({ ...body, memo: 'PO 2' }, mine)
  assert.deepEqual([other.status, other.body['code']], [409, 'INVOICE_CONFLICT'])
  const theirs = await create(body, { ...mine, 'x-forwarded-for': '192.0.2.8' })
  assert.equal(theirs.status, 201)
  assert.equal((await create(body, { 'idempotency-key': 'with space' })).status, 400)
})

test('a reader that has the record is told so; an unknown id is 404', async () => {
  const invoice = await issue(world, '3')
  const first = await send(invoiceUrl(world, invoice))
  const etag = first.headers.get('etag') ?? ''
  const known = await fetch(invoiceUrl(world, invoice), { headers: { 'if-none-match': etag } })
  assert.deepEqual([known.status, await known.text()], [304, ''])
  assert.equal(first.headers.get('cache-control'), 'private, no-cache')
  for (const id of ['inv_zzzzzzzzzzzz', 'x', 'inv_../..', `inv_${'z'.repeat(200)}`]) {
    const missing = await send(`${world.url}/api/invoice/${encodeURIComponent(id)}`)
    assert.deepEqual([missing.status, missing.body['code']], [404, 'INVOICE_NOT_FOUND'])
  }
})

test('a client that makes too many is told when to come back; so is one with too many open', async () => {
  const client = { 'x-forwarded-for': '198.51.100.9' }
  const answers = await Promise.all(Array.from({ length: 31 }, () => create(plain(), client)))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 1)
  assert.equal(refused[0]?.body['code'], 'INVOICE_RATE_LIMITED')
  assert.notEqual(refused[0]?.headers.get('retry-after'), null)
})

test('the tools make and read invoices, and an unknown one costs nothing', async () => {
  const merchant = newMerchant().address
  const client = '203.0.113.5'
  const made = await call(world.url, {}, { tool: 'create-b2b-invoice', input: { amount_usdc: 8, merchant }, client })
  const result = made.body['result'] as { invoice_id: string; pay_url: string; valid: boolean }
  assert.deepEqual([made.status, result.valid], [200, true], made.text)
  const read = await call(world.url, {}, { tool: 'get_b2b_invoice', input: { invoice_id: result.invoice_id }, client })
  const found = read.body['result'] as Record<string, unknown>
  assert.deepEqual([read.status, found['status'], found['stale'], found['amount_usdc']], [200, 'ISSUED', false, '8'], read.text)
  const left = (read.body['allowance'] as { remaining: number }).remaining
  const unknown = await call(world.url, {}, { tool: 'get-b2b-invoice', input: { invoice_id: 'inv_zzzzzzzzzzzz' }, client })
  assert.deepEqual([unknown.status, unknown.body['code'], unknown.body['charged']], [404, 'INVOICE_NOT_FOUND', false])
  const pilot = await call(world.url, {}, { tool: 'create-ap2-pilot', input: {}, client })
  assert.deepEqual([pilot.status, pilot.body['code'], pilot.body['charged']], [503, 'NOT_CONFIGURED', false])
  const after_both = await call(world.url, {}, { tool: 'get-b2b-invoice', input: { invoice_id: 'inv_000000000000' }, client })
  assert.equal((after_both.body['allowance'] as { remaining: number }).remaining, left - 1)
  assert.equal((after_both.body['result'] as { stale: boolean }).stale, false)
})

test('the bank account is shown to those who pay its owner, and to nobody else', async () => {
  const [own, other] = [await issue(world, '3', BANKED), await issue(world, '3')]
  const bank = own['bank_coordinates'] as Record<string, string>
  assert.deepEqual([bank['iban'], bank['account_name'], bank['country']], ['DE33100205000001194700', 'Example Operator', 'DE'])
  assert.match(bank['epc_payload'] ?? '', /^BCD\n002\n1\nSCT\n\nExample Operator\nDE33100205000001194700\n\n\nRF[0-9]{2}[0-9A-Z]{21}$/)
  assert.equal(other['bank_coordinates'], null)
  const code = await fetch(`${invoiceUrl(world, own)}/qr.svg?kind=epc`)
  assert.deepEqual([code.status, code.headers.get('content-type')], [200, 'image/svg+xml; charset=utf-8'])
  assert.equal((await fetch(`${invoiceUrl(world, other)}/qr.svg?kind=epc`)).status, 404)
})

const HTML = { accept: 'text/html' }
const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })

test('each way shows the deposit address, signed or not, and none asks for a transfer to the merchant', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '3', merchant.address)
  const { address } = invoice['deposit'] as { address: string }
  const signature = await signAsMerchant(world.chain, merchant, invoice, 'Issue')
  const signed = await send(`${invoiceUrl(world, invoice)}/sign`, { signature })
  for (const body of [invoice, signed.body]) {
    // EIP-681: token, chain, function, recipient and amount in minor units.
    assert.match(String(body['eip681_uri']), /^ethereum:0x[0-9a-fA-F]{40}@84532\/transfer\?address=0x[0-9a-fA-F]{40}&uint256=3000000$/)
    assert.ok(String(body['eip681_uri']).includes(`address=${address}&`))
    assert.equal(body['eip681_reason'], null)
  }
  assert.equal((await get(`${invoiceUrl(world, invoice)}/qr.svg`)).status, 200)
  const page = await (await get(`${world.url}/pay/${invoice.invoice_id}`, HTML)).text()
  assert.ok(page.includes(`<code id="to">${address}</code>`) && page.includes(`3.00 USDC to ${address} on`))
  assert.ok(!page.includes('class="warned">Do not send a plain transfer'))
})

test('a text that the PDF does not print is named beforehand, and the document is refused with the page that shows it', async () => {
  const made = await send(`${world.url}/api/invoice/create`, { amountUsdc: '3', merchant: newMerchant().address, memo: '請求 1' })
  const characters = ['請 (U+8ACB)', '求 (U+6C42)']
  assert.deepEqual(made.body['pdf_unprintable'], [{ field: 'memo', characters }])
  const answer = await get(String(made.body['pdf_url']))
  const body = (await answer.json()) as Record<string, unknown>
  assert.deepEqual([answer.status, body['code'], body['charged']], [422, 'INVOICE_NOT_PRINTABLE', false])
  assert.deepEqual(body['errors'], [{ pointer: '/memo', code: 'unprintable', message: `The PDF does not print ${characters.join(', ')}.` }])
  const page = await (await get(new URL(String(body['page_url']), world.url).href, HTML)).text()
  assert.ok(page.includes('請求 1') && page.includes('No PDF: its font lacks') && !page.includes('/pdf"'))
})

test('the document is a PDF', async () => {
  const invoice = await issue(world, '3')
  const answer = await fetch(`${invoiceUrl(world, invoice)}/pdf`)
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/pdf'])
  const read = await PDFDocument.load(await answer.arrayBuffer())
  assert.equal(read.getPageCount(), 1)
})

// attack: the same PDF again and again
test('a document that the client has is not drawn again, and counts for nothing', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '3', merchant.address)
  const read = (headers: Record<string, string>) =>
    fetch(`${invoiceUrl(world, invoice)}/pdf`, { headers: { 'x-forwarded-for': '198.51.100.79', ...headers } })
  const etag = (await read({})).headers.get('etag') ?? ''
  // RFC 9110 §13.1.2: weak comparison, any of a list, or whatever there is.
  const known = [etag, etag.slice(2), `"other", ${etag}`, '*']
  for (let asked = 0; asked <= INVOICE_RULES.documents_per_minute; asked++) {
    const unchanged = await read({ 'if-none-match': known[asked % known.length] ?? '' })
    assert.deepEqual([unchanged.status, unchanged.headers.get('etag'), (await unchanged.arrayBuffer()).byteLength], [304, etag, 0])
  }
  assert.equal((await read({ 'if-none-match': '"other"' })).status, 200)
  await send(`${invoiceUrl(world, invoice)}/void`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Void') })
  const changed = await read({ 'if-none-match': etag })
  assert.equal(changed.status, 200)
  assert.notEqual(changed.headers.get('etag'), etag)
})

test('the checkout is the page or the terms by weight', async () => {
  const invoice = await issue(world, '3')
  const pay_url = String(invoice['pay_url'])
  const page_url = `${world.url}/pay/${invoice.invoice_id}`
  const cases: [accept: string, at_pay_url: string, at_page: string][] = [
    ['text/html;q=0.1, */*;q=0.5', 'problem', 'problem'],
    ['application/json;q=0.1, */*;q=0.5', 'page', 'page'],
    ['*/*', 'problem', 'page'],
    ['text/html, application/json', 'problem', 'page'],
    ['application/json, text/plain, */*', 'problem', 'problem'],
  ]
  for (const [accept, ...expected] of cases) {
    const seen = async (url: string) =>
      (await fetch(url, { headers: { accept } })).headers.get('content-type') === 'text/html; charset=utf-8' ? 'page' : 'problem'
    assert.deepEqual([await seen(pay_url), await seen(page_url)], expected, accept)
  }
})

test('what cannot be a payment is refused with the terms', async () => {
  const pay_url = `${invoiceUrl(world, await issue(world, '3'))}/pay`
  const cases: [unknown, Record<string, string>, number, string][] = [
    [{}, {}, 402, 'INVOICE_PAYMENT_REQUIRED'],
    [{ authorization: 1 }, {}, 402, 'MALFORMED_PAYMENT'],
    [{}, { 'x-payment': '!' }, 400, 'PAYMENT_UNDECODABLE'],
    [{}, { 'x-payment': 'e30=', 'payment-signature': 'e30=' }, 400, 'PAYMENT_CONFLICT'],
  ]
  for (const [body, headers, status, code] of cases) {
    const answer = await send(pay_url, body, headers)
    assert.deepEqual([answer.status, answer.body['code']], [status, code], answer.text)
    assert.equal(answer.headers.get('payment-required') !== null, status === 402)
  }
  const bodies: [string, unknown][] = [
    ['sign', { signature: 1 }],
    ['void', { signature: '0x' }],
    ['transactions', { tx_hash: 5 }],
  ]
  for (const [path, body] of bodies) assert.equal((await send(pay_url.replace(/pay$/, path), body)).status, 400)
})

test('less than is carried to the chain asks for no payment that would be refused', async () => {
  const invoice = await issue(world, '0.50')
  const pay_url = `${invoiceUrl(world, invoice)}/pay`
  assert.deepEqual([invoice['x402'], invoice.merchant_verified], [null, false])
  for (const body of [undefined, {}, { authorization: 1 }]) {
    const answer = await send(pay_url, body)
    assert.deepEqual([answer.status, answer.body['code'], answer.headers.get('payment-required')], [409, 'INVOICE_NOT_PAYABLE', null])
    assert.match(String(answer.body['detail']), /^Less than 1 USDC .*or send USDC to the deposit address/)
  }
  const page = await (await fetch(pay_url, { headers: HTML })).text()
  assert.match(page, /Browser wallets pay 1\.00 USDC or more; this invoice asks for less\. Pay by a plain transfer\./)
  assert.doesNotMatch(page, /Prefer a signature|signatures that this invoice can be named by are used up/)
})

test('a transaction that no block holds is said to be in none', async () => {
  const invoice = await issue(world, '3')
  const named = await send(`${invoiceUrl(world, invoice)}/transactions`, { tx_hash: `0x${'ab'.repeat(32)}` })
  assert.deepEqual([named.status, named.body['transaction_found'], named.body['status']], [200, false, 'ISSUED'], named.text)
})

test('the paper has the code for wallets and the deposit address', async () => {
  const invoice = await issue(world, '3')
  const words = await pdfWords(await (await fetch(`${invoiceUrl(world, invoice)}/pdf`)).arrayBuffer())
  assert.ok(words.includes('Token transfer for a wallet') && !words.includes('No code for wallets'))
  assert.ok(words.includes('Deposit address'))
})
