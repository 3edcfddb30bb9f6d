import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { start, type Running } from '../../src/assembly/start.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { EURC, startAnvil } from '../support/anvil.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { holder } from '../support/faults-buyer.ts'
import { liveDeployment, startLive } from '../support/faults-live.ts'
import { fund, held } from '../support/paying.ts'
import { euroPrices } from '../support/sources.ts'
import { putWallet } from '../support/test-wallet.ts'
import { until } from '../support/until.ts'

let running: Running
let browser: Browser
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-pay-call-'))
  const read = readSettings({ ASSAY_PORT: '0', ASSAY_DATA_DIR: folder, ASSAY_LOG_LEVEL: 'silent', ASSAY_FREE_DAILY: '1' })
  assert.ok(read.ok)
  ;[running, browser] = await Promise.all([start(read.settings), startBrowser()])
})
after(async () => {
  await browser.close()
  await running.stop()
  await rm(folder, { recursive: true, force: true })
})

const REFUSED = /the server responded with a status of 40[023]/

test('a call is paid in place with the test wallet, and its receipt stays in the browser', async () => {
  const { page, complaints, close } = await visit(browser, `${running.url}/tools/lei-check`, { viewport: { width: 390, height: 844 } })
  await page.click('#ask button[type=submit]')
  await page.waitForSelector('.answer .proof .act')
  await page.click('#ask button[type=submit]')
  await page.waitForSelector('.answer h2:has-text("Today’s free call is used")')
  // On a phone the terms are scrolled into view.
  assert.ok(await page.locator('.answer h2').evaluate((heading) => heading.getBoundingClientRect().top < innerHeight))
  await page.click('#pay-test')
  await page.waitForSelector('.answer .proof .act')
  assert.match((await page.textContent('.answer .proof')) ?? '', /Paid\s*0\.005 USDC/)
  const kept = await page.evaluate(() => JSON.parse(localStorage.getItem('assay-receipts') ?? '[]') as { amount: string }[])
  assert.deepEqual(
    kept.map(({ amount }) => amount),
    ['5000', '0'],
  )
  const download = page.waitForEvent('download')
  await page.click('.my-receipts summary')
  await page.click('.my-receipts button:has-text("Export")')
  assert.equal((await download).suggestedFilename(), 'assay-receipts.jsonl')
  assert.deepEqual(
    complaints.filter((line) => !REFUSED.test(line)),
    [],
  )
  await close()
})

test('the terms are shown on request, and a wrong credit code is explained', async () => {
  const { page, complaints, close } = await visit(browser, `${running.url}/tools/iban-check`)
  await page.click('#show-terms')
  await page.waitForSelector('.answer h2:has-text("402 Payment Required")')
  await page.fill('#credit-code', 'x')
  await page.click('.credit-code button')
  await page.waitForSelector('.pay-message:has-text("Enter the credit code")')
  await page.fill('#credit-code', 'not-a-known-code')
  await page.click('.credit-code button')
  await page.waitForSelector('.answer code:has-text("CREDIT_")')
  assert.deepEqual(
    complaints.filter((line) => !REFUSED.test(line)),
    [],
  )
  await close()
})

test('only a sandbox signs payments, and only of small amounts', async () => {
  const post = (amount_minor: string) =>
    fetch(`${running.url}/v1/sandbox/payment`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount_minor }),
    })
  const signed = (await (await post('5000')).json()) as { authorization: { to: string; value: string } }
  const { deps } = running.app
  assert.deepEqual([signed.authorization.value, signed.authorization.to], ['5000', deps.sandbox?.pay_to.toLowerCase()])
  for (const amount of ['0', '-1', '1e3', '999999999']) assert.ok((await post(amount)).status >= 400, amount)
})

test('with several networks the payer chooses one, and the wallet is asked to switch to it', async (t) => {
  const [home, polygon] = await Promise.all([startAnvil(), startAnvil({ chain_id: 137 })])
  const live = await liveDeployment(home, { ASSAY_NETWORKS: JSON.stringify([{ chain_id: 137, rpc_urls: [polygon.rpc_url] }]) })
  await polygon.setBalance(live.gas_wallet, 10n ** 20n)
  const service = await startLive(live)
  t.after(async () => {
    await service.stop()
    await Promise.all([home.stop(), polygon.stop()])
    await live.remove()
  })
  await until('Polygon to be offered', async () => {
    const health = (await (await fetch(`${service.url}/health`)).json()) as { payments: { networks: { ready: boolean }[] } }
    return health.payments.networks.every(({ ready }) => ready)
  })
  const account = await holder(polygon)
  const context = await browser.newContext()
  const page = await context.newPage()
  const wallet = await putWallet(page, { account, chain_id: 8453 })
  await page.goto(`${service.url}/tools/lei-check`)
  await page.click('#ask button[type=submit]')
  await page.selectOption('#pay-network', { label: 'Polygon' })
  await page.click('.pay-ways button:has-text("Pay with Test Wallet")')
  await page.waitForSelector('.answer .proof .act')
  assert.deepEqual(wallet.asked, ['eth_requestAccounts', 'eth_chainId', 'wallet_switchEthereumChain', 'eth_signTypedData_v4'])
  const { domain } = wallet.typed()
  assert.deepEqual([domain.chainId, domain.verifyingContract], [137, polygon.token])
  assert.equal(await held(polygon.rpc_url, polygon.token, live.pay_to), 5_000n)
  await context.close()
})

test('where EURC is taken, the payer chooses the token, and sees and signs the amount in it', async (t) => {
  const anvil = await startAnvil()
  const live = await liveDeployment(anvil, { ASSAY_ASSETS: 'usdc,eurc' })
  const service = await startLive(live, { prices: euroPrices(() => '1.25'), rules: { euro_every_ms: 50 } })
  t.after(async () => {
    await service.stop()
    await anvil.stop()
    await live.remove()
  })
  const euro = EURC[8453] ?? assert.fail()
  await until('EURC to be offered', async () => {
    const { headers } = await fetch(`${service.url}/v1/tools/lei-check/call`, {
      method: 'POST',
      body: '{"input":{"lei":"5493001KJTIIGC8Y1R12"}}',
    })
    return Buffer.from(headers.get('payment-required') ?? '', 'base64')
      .toString()
      .includes(euro)
  })
  const account = await holder(anvil)
  await fund(anvil.rpc_url, euro, account.address, 1_000_000n)
  const context = await browser.newContext()
  const page = await context.newPage()
  const wallet = await putWallet(page, { account, chain_id: 8453 })
  await page.goto(`${service.url}/tools/lei-check`)
  await page.click('#ask button[type=submit]')
  await page.selectOption('#pay-network', { label: 'EURC on Base' })
  // 0.005 US dollars at 1.25 are 0.004 EURC.
  await page.waitForSelector('.answer b:has-text("0.004 EURC")')
  await page.click('.pay-ways button:has-text("Pay with Test Wallet")')
  await page.waitForSelector('.answer .proof .act')
  assert.match((await page.textContent('.answer .proof')) ?? '', /Paid\s*4000 minor units of \S+ for 0\.005 USD/)
  assert.equal(wallet.typed().domain.verifyingContract.toLowerCase(), euro.toLowerCase())
  assert.equal(await held(anvil.rpc_url, euro, live.pay_to), 4_000n)
  await context.close()
})

test('an empty wallet gets test USDC where a call is paid, and pays with it', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const context = await browser.newContext()
  const page = await context.newPage()
  const wallet = await putWallet(page, { account, chain_id: running.app.deps.chain_id })
  await page.goto(`${running.url}/tools/iban-check`)
  await page.click('#show-terms')
  await page.click('.test-money')
  await page.waitForSelector(`.pay-message:has-text("${account.address} has 100 test USDC.")`)
  await page.click('.test-money')
  await page.waitForSelector('.pay-message:has-text("it got test money today already")')
  await page.click('button:has-text("Pay with Test Wallet")')
  await page.waitForSelector('.answer .proof .act')
  assert.match((await page.textContent('.answer .proof')) ?? '', /Paid\s*0\.005 USDC/)
  assert.equal(wallet.asked.at(-1), 'eth_signTypedData_v4')
  await context.close()
})
