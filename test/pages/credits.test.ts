/** Buying by card in a real browser: out to the processor and back, the code shown once to the browser that began, and what is left of it. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, visit } from '../support/browser.ts'
import { assertSound } from '../support/page-checks.ts'
import { callWith, event, notify, session, startCreditApp, startFakeStripe, type CreditApp, type FakeStripe } from '../support/credits.ts'

let browser: Browser
let stripe: FakeStripe
let app: CreditApp
let bare: CreditApp

before(async () => {
  stripe = await startFakeStripe()
  ;[browser, app, bare] = await Promise.all([
    startBrowser(),
    startCreditApp('none', { stripe_at: stripe.at }),
    startCreditApp('none', {}, { ASSAY_STRIPE_SECRET_KEY_FILE: '', ASSAY_STRIPE_WEBHOOK_SECRET_FILE: '' }),
  ])
})
after(async () => {
  await Promise.all([browser.close(), app.stop(), bare.stop(), stripe.stop()])
})

/** Stands for the pages of the processor: sends whoever comes straight on. */
function cashier(to: () => string): Promise<{ server: Server; url: string }> {
  const server = createServer((_, response) => response.writeHead(303, { location: to() }).end())
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay` })),
  )
}

test('bought, handed over once, copied by nobody else, spent and looked at', async () => {
  const back = () => (stripe.asked.at(-1)?.form.get('success_url') ?? '').replace('{CHECKOUT_SESSION_ID}', 'cs_test_page')
  const { server, url } = await cashier(back)
  stripe.send(url)
  const { page, complaints, close } = await visit(browser, `${app.url}/credits`)
  await page.getByLabel('20.00 USD').check()
  await page.getByRole('button', { name: 'Pay by card' }).click()
  await page.waitForURL(/\/credits\/done\?session_id=cs_test_page$/)
  await page.getByText('has not been confirmed yet').waitFor()
  const claim_hash = stripe.asked.at(-1)?.form.get('client_reference_id') ?? ''
  await notify(app.url, event('checkout.session.completed', session('page', 2_000, claim_hash)))
  await page.locator('#bought').filter({ hasText: 'ac_' }).waitFor()
  const code = (await page.locator('#bought').textContent()) ?? ''
  assert.equal(await page.locator('#worth').textContent(), '20.000000 USD of calls.')

  const stranger = await visit(browser, back())
  await stranger.page.getByText('has no open purchase').waitFor()
  assert.equal(await stranger.page.locator('#handed').isVisible(), false)
  await stranger.close()

  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('Erased from this service').waitFor()
  await page.reload()
  await page.getByText('has no open purchase').waitFor()

  const paid = await callWith(app.url, code, 'page')
  const { amount_minor } = paid.body['settlement'] as { amount_minor: string }
  await page.goto(`${app.url}/credits`)
  await page.getByLabel('Credit code').fill(code.toUpperCase())
  await page.getByRole('button', { name: 'Show the balance' }).click()
  await page.locator('#shown table').waitFor()
  const left = (20_000_000n - BigInt(amount_minor)).toString()
  assert.equal(await page.locator('#asking').textContent(), `${left.slice(0, -6)}.${left.slice(-6)} USD left.`)
  assert.match((await page.locator('#shown table').textContent()) ?? '', /debit iban-check\s*0\.0\d{5} USD/)
  await page.getByLabel('Credit code').fill(`${code}x`)
  await page.getByRole('button', { name: 'Show the balance' }).click()
  await page.getByText('not a credit code').waitFor()
  // The way out to the processor is the only request that left this origin.
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.startsWith(`asked ${url}`)),
    [],
  )
  await close()
  await new Promise((resolve) => server.close(resolve))
})

test('without Stripe the page says that card payments are off, and what a credit is', async () => {
  const { page, complaints, close } = await visit(browser, `${bare.url}/credits`)
  assert.match((await page.locator('#cards-off').textContent()) ?? '', /Card payments are off/)
  assert.equal(await page.locator('#buy').count(), 0)
  assert.match((await page.locator('main').textContent()) ?? '', /Unused credit is refunded only to the card/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the page has no barriers, and its sample is copied', async () => {
  await assertSound(browser, `${app.url}/credits`, (page) => page.waitForSelector('#buy'))
  const { page, complaints, close } = await visit(browser, `${app.url}/credits`, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.click('[data-copies=sample]')
  await page.waitForSelector('[data-copies=sample]:not(:text-is("Copy"))')
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.textContent('#sample'))
  assert.equal((await page.textContent('#sample'))?.split(' \\\n').length, 3, 'the command continues over three lines')
  assert.deepEqual(complaints, [])
  await close()
})
