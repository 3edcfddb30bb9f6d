/** The checkout page in each state of an invoice: content, headers, accessibility. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PDFDocument } from 'pdf-lib'
import type { Browser } from 'playwright-core'
import { localized } from '../../src/surfaces/pages/messages.ts'
import { invoicePdf } from '../../src/service/invoices/pdf.ts'
import { barriers, overhang } from '../support/accessible.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { issue, issueSigned, looked, mine, newMerchant, send, sendAsStranger, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const BANKED = '0x00000000000000000000000000000000a11ce0bb'
const IBAN = 'DE33100205000001194700'
const ENGLISH = localized('en', undefined)
const SPECIMEN = 'inv_000000000000'

let world: World
let browser: Browser
before(async () => {
  const settings = { ASSAY_BANK_IBAN: IBAN, ASSAY_BANK_NAME: 'Example Operator', ASSAY_BANK_MERCHANTS: BANKED }
  ;[world, browser] = await Promise.all([startWorld({ free_daily: 1000, settings }), startBrowser()])
})
after(async () => {
  await browser.close()
  await world.stop()
})

const payUrl = ({ invoice_id }: Pick<InvoiceShown, 'invoice_id'>) => `${world.url}/pay/${invoice_id}`
const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers, redirect: 'manual' })

async function make(body: Record<string, unknown>): Promise<InvoiceShown> {
  return (await send(`${world.url}/api/invoice/create`, body)).body as InvoiceShown
}

/** An invoice that two payers each paid in full. */
async function paidTwice(): Promise<InvoiceShown> {
  const invoice = await issue(world, '10')
  const signed = [await world.payer(10_000_000n), await world.payer(10_000_000n)].map((payer) => signFor(world.chain, payer, invoice))
  for (const one of await Promise.all(signed)) await sendAsStranger(world.chain, one)
  await mine(world.chain)
  return looked(world, invoice)
}

async function expired(amount: string): Promise<InvoiceShown> {
  const invoice = await issue(world, amount)
  world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(invoice.invoice_id))
  return looked(world, invoice)
}

test('pay_url is a page for browsers and an x402 resource for programs; neither is cached, indexed or sent as referrer', async () => {
  const invoice = await issue(world, '10')
  const pay_url = String(invoice['pay_url'])
  const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  for (const [url, headers] of [
    [pay_url, html],
    [payUrl(invoice), html],
    [payUrl(invoice), {}],
  ] as const) {
    const page = await get(url, headers)
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8'], url)
    assert.equal(page.headers.get('cache-control'), 'private, no-store')
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    assert.match(page.headers.get('x-robots-tag') ?? '', /noindex/)
    assert.match(page.headers.get('vary') ?? '', /\bAccept\b/)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*connect-src 'self'/)
  }
  for (const [url, headers] of [
    [pay_url, {}],
    [pay_url, { accept: 'application/json' }],
    [payUrl(invoice), { accept: 'application/json' }],
  ] as const) {
    const terms = await get(url, headers)
    assert.deepEqual([terms.status, ((await terms.json()) as { code: string }).code], [402, 'INVOICE_PAYMENT_REQUIRED'], url)
    assert.notEqual(terms.headers.get('payment-required'), null)
    assert.match(terms.headers.get('vary') ?? '', /\bAccept\b/)
  }
  const unknown = await get(`${world.url}/pay/inv_zzzzzzzzzzzz`)
  assert.equal(unknown.status, 404)
  assert.doesNotMatch(await unknown.text(), /inv_zzzz/)
})

test('without JavaScript the page shows amount, merchant, payment code and the PDF link', async () => {
  const invoice = await make({ amountUsdc: '1234567.000001'.slice(1), merchant: BANKED, memo: 'two\nlines' })
  const { page, complaints, close } = await visit(browser, payUrl(invoice), { javaScriptEnabled: false })
  assert.equal((await page.textContent('h1'))?.trim().replace(/\s+/g, ' '), '234567.000001 USDC')
  assert.equal((await page.textContent('#address'))?.toLowerCase(), BANKED)
  assert.match((await page.textContent('.payee')) ?? '', /not signed by the merchant\s+The merchant has not signed/)
  assert.equal(await page.textContent('.memo'), 'two\nlines')
  assert.equal(await page.textContent('#bank-iban'), IBAN)
  assert.match((await page.textContent('.pay')) ?? '', /Protocol fee\s*0\.00 USDC/)
  assert.deepEqual([await page.isVisible('#code-token'), await page.isVisible('.qr.bank')], [true, true])
  assert.notEqual((await page.textContent('#to'))?.toLowerCase(), BANKED)
  const answer = await get(new URL((await page.getAttribute('.paper a', 'href')) ?? '', world.url).href)
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/pdf'])
  assert.deepEqual(complaints, [])
  await close()
})

test('the PDF has the sandbox notice, and uses a second page if the code does not fit on the first', async () => {
  const pdf = async (body: Record<string, unknown>) => {
    const { invoice_id } = await make({ amountUsdc: '5', merchant: BANKED, ...body })
    return PDFDocument.load(await (await get(`${world.url}/api/invoice/${invoice_id}/pdf`)).arrayBuffer())
  }
  const [plain, long] = [await pdf({}), await pdf({ memo: 'W'.repeat(500), clientName: 'W'.repeat(120) })]
  assert.deepEqual([plain.getPageCount(), long.getPageCount()], [1, 2])
  const { record } = (await world.running.app.deps.invoices.service.read(SPECIMEN)) ?? assert.fail()
  const sizes = [await invoicePdf(record, null, ENGLISH), await invoicePdf(record, 'SANDBOX: no real money.', ENGLISH)].map(
    ({ length }) => length,
  )
  assert.ok((sizes[1] ?? 0) > (sizes[0] ?? 0))
})

// attack: memo, name or path as markup
test('memo and client name are escaped, and no inline script or style contains them', async () => {
  const bait = '"><img src=x onerror=alert(1)><script>alert(1)</script>&amp;'
  const invoice = await make({ amountUsdc: '5', merchant: newMerchant().address, memo: bait, clientName: `'${bait}` })
  const text = await (await get(payUrl(invoice))).text()
  assert.ok(text.includes('&lt;img src=x onerror=alert(1)>') && text.includes('&amp;amp;'))
  assert.doesNotMatch(text, /<img src=x|<script>|<style|\sstyle=|javascript:|(?:src|href)="(?:https?:)?\/\//i)
  const { page, complaints, close } = await visit(browser, payUrl(invoice))
  assert.equal(await page.textContent('.memo'), bait)
  assert.deepEqual(complaints, [])
  await close()
})

test('each end of an invoice is explained: what happened, what the payer can do, whom to ask', async () => {
  const twice = await paidTwice()
  const cases: [Pick<InvoiceShown, 'invoice_id'>, string, RegExp][] = [
    [twice, 'Paid', /Overpaid.*received 10\.00 USDC more.*Paid twice.*Whom to ask: the merchant/s],
    [await expired('10'), 'Expired', /Ask the merchant for a new one\. A transfer sent now still reaches the merchant/],
    [{ invoice_id: SPECIMEN }, 'Void', /Do not pay it/],
  ]
  for (const [invoice, word, words] of cases) {
    const { page, complaints, close } = await visit(browser, payUrl(invoice))
    assert.equal(await page.textContent('#word'), word)
    assert.match((await page.textContent('.bill')) ?? '', words)
    assert.equal(await page.isVisible('#ways'), false, word)
    assert.deepEqual(complaints, [], word)
    await close()
  }
  const { page, close } = await visit(browser, payUrl(twice))
  assert.equal(await page.locator('.arrived li').count(), 2)
  await close()
})

test('paid in part: amount due and payment code update without a reload', async () => {
  const [payer, invoice] = [await world.payer(10_000_000n), await issueSigned(world, '10')]
  const { page, complaints, close } = await visit(browser, payUrl(invoice))
  assert.match((await page.getAttribute('#code-token', 'alt')) ?? '', /^Payment code: 10\.00 USDC/)
  await sendAsStranger(world.chain, await signFor(world.chain, payer, invoice, { value: 4_000_000n }))
  await mine(world.chain)
  await looked(world, invoice)
  await page.waitForSelector('#word:text-is("Paid in part")')
  assert.equal((await page.textContent('#ways-title'))?.trim(), 'Pay 6.00 USDC')
  assert.equal((await page.textContent('#due'))?.trim(), '6.00')
  assert.match((await page.getAttribute('#code-token', 'alt')) ?? '', /^Payment code: 6\.00 USDC/)
  assert.match((await page.textContent('#heard')) ?? '', /^Paid in part\. 4\.00 of 10\.00 USDC has arrived/)
  assert.deepEqual(complaints, [])
  await close()
})

test('every state fits a phone and has no serious axe violation, light and dark', async () => {
  const open = await make({ amountUsdc: '1000000', merchant: BANKED, clientName: 'Example Ltd', memo: 'x'.repeat(200) })
  const invoices = [open, await paidTwice(), await expired('0.000001')]
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 1280]) {
      const { page, complaints, close } = await visit(browser, payUrl(open), { colorScheme, viewport: { width, height: 900 } })
      for (const invoice of invoices) {
        await page.goto(payUrl(invoice))
        assert.deepEqual(await barriers(page), [], `${invoice.status} ${colorScheme} ${width}`)
        assert.ok((await overhang(page)) <= 0, `${invoice.status} is too wide for ${width}`)
      }
      assert.deepEqual(complaints, [])
      await close()
    }
  }
})

test('the page shows when the service is unreachable and continues when it is back', async () => {
  const { page, close } = await visit(browser, payUrl(await issue(world, '10')))
  await page.context().setOffline(true)
  await page.waitForSelector('#offline:visible')
  await page.context().setOffline(false)
  await page.waitForSelector('#offline', { state: 'hidden' })
  await close()
})

test('times have the local time next to UTC; a payer sees no navigation, no link to an explorer of a private chain, and targets of 24 px', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, close } = await visit(browser, payUrl(await issueSigned(world, '10')), { timezoneId: 'Asia/Kolkata', viewport })
  assert.match((await page.textContent('.rail')) ?? '', /UTC.* your time\)/)
  assert.equal(await page.locator('#site, #finder, #allowance, a[target=_blank]').count(), 0)
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('.pay :is(button, summary, input, dd > a)')]
      .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 24)
      .map((target) => target.outerHTML),
  )
  assert.deepEqual(small, [])
  await close()
})

test('page and PDF are in the language of ?lang= or Accept-Language', async () => {
  const invoice = await issue(world, '10')
  const cases: [string, Record<string, string>, string, RegExp][] = [
    ['', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' }, 'de', /Wartet auf Zahlung.*Zahlungsaufforderung herunterladen/s],
    ['?lang=es', { 'accept-language': 'de' }, 'es', /Pendiente de pago.*Descargar la solicitud de pago/s],
    ['', { 'accept-language': 'fr' }, 'en', /Waiting for payment.*Download the payment request/s],
  ]
  for (const [query, headers, language, words] of cases) {
    const page = await get(payUrl(invoice) + query, { ...headers, accept: 'text/html' })
    assert.deepEqual([page.headers.get('content-language'), /\bAccept-Language\b/.test(page.headers.get('vary') ?? '')], [language, true])
    const text = await page.text()
    assert.match(text, new RegExp(`<html lang="${language}">`))
    assert.match(text, words)
    const pdf = await get(`${world.url}/api/invoice/${invoice.invoice_id}/pdf${query}`, headers)
    assert.equal(pdf.headers.get('content-language'), language)
    const document = await PDFDocument.load(await pdf.arrayBuffer(), { updateMetadata: false })
    const title = { de: 'Zahlungsaufforderung', es: 'Solicitud de pago', en: 'Payment request' }[language]
    assert.equal(document.getTitle(), `${title} ${invoice.invoice_id}`)
  }
  const { page, complaints, close } = await visit(browser, `${payUrl(invoice)}?lang=de`, { viewport: { width: 390, height: 844 } })
  assert.equal(await page.textContent('#word'), 'Wartet auf Zahlung')
  assert.match((await page.textContent('#left')) ?? '', /^noch \d/)
  assert.deepEqual([await barriers(page), (await overhang(page)) <= 0, complaints], [[], true, []])
  await page.click('.languages a[lang=es]')
  await page.waitForSelector('html[lang=es] #word:text-is("Pendiente de pago")')
  await close()
})
