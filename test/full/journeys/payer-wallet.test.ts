/**
 * Journey 4: a payer opens the link of an invoice and pays it with a wallet of the browser: one signature, no transaction and no gas of the payer. The
 * service is killed while the wallet is open.
 */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startBrowser } from '../../support/browser.ts'
import { putWallet } from '../../support/test-wallet.ts'
import { journey, type Json } from './stranger.ts'

let browser: Browser
before(async () => {
  browser = await startBrowser()
})
after(() => browser.close())

journey('a payer with a browser wallet pays gaslessly', {}, async (given) => {
  const payer = privateKeyToAccount(await given.payer())
  const merchant = privateKeyToAccount(generatePrivateKey()).address
  const made = await given.post('/api/invoice/create', { amountUsdc: '8.40', merchant, memo: 'Order 4711' })
  assert.equal(made.status, 201, made.text)
  const id = String(made.body['invoice_id'])
  const context = await browser.newContext({ locale: 'en' })
  const page = await context.newPage()
  const wallet = await putWallet(page, { account: payer, chain_id: Number(made.body['chain_id']), beforeSigning: () => given.crash() })
  await page.goto(`${given.url()}/pay/${id}`)
  await page.getByRole('button', { name: 'Pay with Test Wallet' }).click()
  await page.locator('#word', { hasText: /^Paid$/ }).waitFor({ timeout: 90_000 })
  assert.deepEqual(wallet.asked, ['eth_requestAccounts', 'eth_chainId', 'eth_signTypedData_v4'])
  const record = (await given.get(`/api/invoice/${id}`)).body
  const payments = (record['payments'] as Json[]).map(({ payer: from, amount_minor, method }) => [from, amount_minor, method])
  assert.deepEqual([record['status'], payments], ['SETTLED', [[payer.address.toLowerCase(), '8400000', 'eip3009']]])
  assert.match((await page.locator('.arrived').textContent()) ?? '', new RegExp(String(record['tx_hash'])))
  await context.close()
})
