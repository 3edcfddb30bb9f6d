/**
 * Journey 2: a merchant creates and signs an invoice at `/merchant` with a wallet of the browser, while the service is killed as the wallet signs;
 * shares the link; sees it paid after another kill; voids a second invoice; and lists and exports both from another browser.
 */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startBrowser } from '../../support/browser.ts'
import { putWallet } from '../../support/test-wallet.ts'
import { follow, journey, type Journey } from './stranger.ts'

let browser: Browser
before(async () => {
  browser = await startBrowser()
})
after(() => browser.close())

const merchant = privateKeyToAccount(generatePrivateKey())

async function open(given: Journey, beforeSigning: () => Promise<unknown>): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await putWallet(page, { account: merchant, chain_id: 1, beforeSigning })
  await page.goto(`${given.url()}/merchant`)
  await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
  await page.getByText(merchant.address, { exact: true }).waitFor()
  return page
}

/** Creates an invoice by the form; returns the link to share once it is signed. */
async function create(page: Page, amount: string, customer: string): Promise<string> {
  await page.getByLabel('Amount in USDC').fill(amount)
  await page.getByLabel('Customer').fill(customer)
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page.locator('#created', { hasText: `${amount} USDC` }).waitFor()
  const problem = page.locator('#created .problem')
  await problem.waitFor({ state: 'detached', timeout: 60_000 }).catch(async (fault: unknown) => {
    throw new Error(`the invoice was not signed: ${await problem.innerText()}`, { cause: fault })
  })
  return (await page.locator('#pay-link').textContent()) ?? ''
}

const row = (page: Page, customer: string) => page.locator('#invoices tbody tr', { hasText: customer })

journey('a merchant gets paid by page', {}, async (given) => {
  let crashes = 1
  const page = await open(given, async () => {
    if (crashes-- > 0) await given.crash()
  })
  const link = await create(page, '12.50', 'Example Ltd')
  const path = `/api/invoice/${link.split('/').at(-1) ?? ''}`
  const signed = (await given.get(path)).body
  assert.deepEqual([signed['merchant_verified'], signed['status'], crashes], [true, 'ISSUED', 0])

  // The customer opens the link; the service carries the signed payment to the chain.
  assert.match(await (await fetch(link, { headers: { accept: 'text/html' } })).text(), /12\.50/)
  const paid = await follow((await given.get(`${path}/pay`)).body, await given.payer())
  assert.equal(paid.status, 200, paid.text)
  await given.crash()
  await page.locator('#created-state', { hasText: 'Paid' }).waitFor({ timeout: 90_000 })

  await create(page, '3.00', 'Wrong Ltd')
  await page.context().close()
  const other = await open(given, () => Promise.resolve())
  await other.getByRole('button', { name: 'Show my invoices' }).click()
  await row(other, 'Example Ltd').filter({ hasText: 'Paid' }).waitFor()
  await row(other, 'Wrong Ltd').getByRole('button', { name: /^Void/ }).click()
  await row(other, 'Wrong Ltd').getByRole('button').waitFor({ state: 'detached' })
  const saving = other.waitForEvent('download')
  await other.getByRole('button', { name: 'Save as CSV' }).click()
  const [head = '', ...lines] = (await text(await (await saving).createReadStream())).trim().split('\r\n')
  const columns = head.split(',')
  const cell = (line: string, name: string) => line.split(',')[columns.indexOf(name)]
  assert.deepEqual(
    lines.map((line) => ['status', 'amount_usdc', 'client_name', 'transaction'].map((name) => cell(line, name))),
    [
      ['VOID', '3.00', 'Wrong Ltd', ''],
      ['SETTLED', '12.50', 'Example Ltd', String((await given.get(path)).body['tx_hash'])],
    ],
  )
  await other.context().close()
})
