/** Pays invoices on the checkout page in a real browser, with a test wallet (viem) and a local chain. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startBrowser } from '../support/browser.ts'
import {
  issue,
  issueSigned,
  invoiceUrl,
  looked,
  mine,
  newMerchant,
  send,
  signAsMerchant,
  transferPlainly,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { held } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { putWallet, type TestWallet, type WalletOptions } from '../support/test-wallet.ts'
import { until } from '../support/until.ts'

let world: World
let browser: Browser
before(async () => {
  ;[world, browser] = await Promise.all([startWorld({ free_daily: 1000 }), startBrowser()])
})
after(async () => {
  await browser.close()
  await world.stop()
})

const TEN = 10_000_000n

interface Till {
  page: Page
  wallet: TestWallet | null
  complaints: string[]
  /** Number of page loads: 1 unless the page reloaded. */
  loads(): number
  close(): Promise<void>
}

/** Opens the checkout, with a wallet if one is given. */
async function open(
  invoice: Pick<InvoiceShown, 'invoice_id'>,
  options: (Omit<WalletOptions, 'chain_id'> & { chain_id?: number }) | null,
): Promise<Till> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const complaints: string[] = []
  let loads = 0
  page.on('load', () => loads++)
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => new URL(request.url()).origin !== world.url && complaints.push(`asked ${request.url()}`))
  // Chromium itself notes refused and lost requests on the console; nothing else may be logged.
  page.on('console', (message) => !message.text().startsWith('Failed to load resource') && complaints.push(message.text()))
  const wallet = options === null ? null : await putWallet(page, { chain_id: world.chain.chain_id, ...options })
  await page.goto(`${world.url}/pay/${invoice.invoice_id}`)
  return { page, wallet, complaints, loads: () => loads, close: () => context.close() }
}

/** Presses Tab until the focused element has the text. */
async function tabTo(page: Page, words: RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if (words.test((await page.evaluate(() => document.activeElement?.textContent)) ?? '')) return
  }
  assert.fail(`${String(words)} cannot be reached`)
}

async function payByKeyboard(page: Page, words = /^\w+Pay with Test Wallet$/): Promise<void> {
  await tabTo(page, words)
  await page.keyboard.press('Enter')
}

/** Mines blocks and makes the service read the chain immediately. */
async function confirm(invoice: InvoiceShown): Promise<void> {
  await mine(world.chain)
  await looked(world, invoice)
}

const word = (page: Page, text: string) => page.waitForSelector(`#word:text-is("${text}")`)
const trouble = (page: Page, text: string) => page.waitForSelector(`#trouble h3:text-is("${text}")`)

test('paid with the keyboard alone: one signature for exactly this invoice, and the page reaches Paid by itself', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { page, wallet, complaints, loads, close } = await open(invoice, { account: payer, chain_id: 1 })
  assert.equal((await page.textContent('h1'))?.trim().replace(/\s+/g, ' '), '10.00 USDC')
  await payByKeyboard(page)
  await page.waitForSelector('.way .reached:has-text("seen in block")')
  await confirm(invoice)
  await word(page, 'Paid')
  assert.equal(await page.locator('.way .reached').count(), 5)
  assert.equal(await page.isVisible('#ways'), false)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'word')
  assert.match((await page.textContent('#heard')) ?? '', /^Paid\. /)
  assert.deepEqual(wallet?.asked, [
    'eth_requestAccounts',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'eth_chainId',
    'eth_signTypedData_v4',
  ])
  const { message, domain, primaryType } = wallet.typed()
  assert.equal(primaryType, 'TransferWithAuthorization')
  assert.deepEqual([domain.verifyingContract, domain.chainId], [world.chain.token.toLowerCase(), world.chain.chain_id])
  assert.deepEqual(
    [message['from'], message['to'], message['value'], message['nonce']],
    [payer.address, invoice.merchant, '10000000', invoice.payment_nonce],
  )
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), TEN)
  assert.match((await page.textContent('.arrived')) ?? '', new RegExp(payer.address.toLowerCase()))
  assert.deepEqual([loads(), complaints], [1, []])
  await close()
})

test('a request that the wallet rejects is explained, moves no money and can be retried', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const cases: [WalletOptions['refuses'], number, string][] = [
    [{ method: 'eth_requestAccounts', code: 4001 }, 84_532, 'You declined in the wallet'],
    [{ method: 'eth_signTypedData_v4', code: 4001 }, 84_532, 'You declined in the wallet'],
    [{ method: 'eth_requestAccounts', code: -32_002 }, 84_532, 'The wallet already has an open request'],
    [{ method: 'wallet_switchEthereumChain', code: 4902 }, 1, 'The wallet is on another network'],
    [{ method: 'eth_signTypedData_v4', code: 4200 }, 84_532, 'This wallet cannot sign this payment'],
    [{ method: 'eth_chainId', code: 7 }, 84_532, 'The wallet answered with an error'],
  ]
  for (const [refuses, chain_id, title] of cases) {
    const { page, wallet, complaints, close } = await open(invoice, { account: payer, chain_id, ...(refuses ? { refuses } : {}) })
    await payByKeyboard(page)
    await trouble(page, title)
    assert.match((await page.textContent('#trouble')) ?? '', /Nothing was signed and nothing moved\.|still open in the wallet\./)
    const earlier = wallet?.asked.length ?? 0
    await page.keyboard.press('Enter')
    // The focus stays on the wallet.
    await until('the wallet to be asked again', () => earlier > 0 && (wallet?.asked.length ?? 0) > earlier)
    await page.waitForFunction(() => document.querySelectorAll('#trouble .problem').length === 1)
    assert.deepEqual(complaints, [], title)
    await close()
  }
  assert.equal((await looked(world, invoice)).status, 'ISSUED')
})

test('a different account, too little USDC, the merchant’s own account: each is explained, and the invoice stays open', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '10', merchant.address)
  const cases: [Omit<WalletOptions, 'chain_id'>, string][] = [
    [{ account: await world.payer(TEN), signer: await world.payer(TEN) }, 'A different account signed'],
    [{ account: await world.payer(TEN - 1n) }, 'This account has too little USDC'],
    [{ account: merchant }, 'This account is the merchant'],
  ]
  for (const [options, title] of cases) {
    const { page, complaints, close } = await open(invoice, options)
    await payByKeyboard(page)
    await trouble(page, title)
    assert.equal(await page.isVisible('#ways'), true)
    assert.match((await page.textContent('.way .here')) ?? '', /^signed.*your signature/)
    assert.deepEqual(complaints, [], title)
    await close()
  }
})

test('a second payer is too late: their money does not move, and the page says that another payment came first', async () => {
  const [first, second, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  const one = await open(invoice, { account: first })
  const beforeSigning = async () => {
    await payByKeyboard(one.page)
    await one.page.waitForSelector('.way .reached:has-text("seen in block")')
  }
  const two = await open(invoice, { account: second, beforeSigning })
  await payByKeyboard(two.page)
  await trouble(two.page, 'Another payment came first')
  await confirm(invoice)
  await Promise.all([word(one.page, 'Paid'), word(two.page, 'Paid')])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, second.address), TEN)
  assert.deepEqual([one.complaints, two.complaints], [[], []])
  await Promise.all([one.close(), two.close()])
})

test('the invoice expires while the wallet is open: the signature is not used', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const beforeSigning = () =>
    Promise.resolve(
      world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(invoice.invoice_id)),
    )
  const { page, complaints, close } = await open(invoice, { account: payer, beforeSigning })
  await payByKeyboard(page)
  await trouble(page, 'The invoice expired before you signed')
  await word(page, 'Expired')
  assert.equal(await page.isVisible('#ways'), false)
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), TEN)
  assert.deepEqual(complaints, [])
  await close()
})

test('connection lost after signing, page reloaded: the same payment is sent again without a second signature', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { page, wallet, complaints, close } = await open(invoice, { account: payer })
  const bodies: string[] = []
  await page.route('**/pay', (route) => {
    bodies.push(route.request().postData() ?? '')
    // The first does not arrive; the second does, but its answer is lost.
    if (bodies.length === 1) return route.abort('internetdisconnected')
    return bodies.length === 2 ? route.fetch().then(() => route.abort('connectionreset')) : route.continue()
  })
  await payByKeyboard(page)
  await page.waitForSelector('#saying:has-text("The connection was lost after you signed")')
  await page.reload()
  await page.waitForSelector('.way .reached:has-text("seen in block")')
  await confirm(invoice)
  await word(page, 'Paid')
  assert.ok(bodies.length >= 2)
  assert.equal(new Set(bodies).size, 1)
  assert.equal(wallet?.asked.filter((method) => method === 'eth_signTypedData_v4').length, 1)
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), TEN)
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  assert.deepEqual(complaints, [])
  await close()
})

test('without a wallet: the page says so, and accepts the hash of a transfer made elsewhere', async () => {
  const merchant = newMerchant()
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '7', merchant.address)]
  await send(`${invoiceUrl(world, invoice)}/sign`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Issue') })
  const { page, complaints, close } = await open(invoice, null)
  assert.match((await page.textContent('#no-wallet:visible')) ?? '', /No wallet found in this browser\. Pay in one of the other ways/)
  await tabTo(page, /^I have already paid from another wallet$/)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type('0x12')
  await page.keyboard.press('Enter')
  assert.equal(
    await page.textContent('#tx-fault'),
    'This is not a transaction hash: it has 4 characters. Expected 0x and 64 hexadecimal digits.',
  )
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(`0x${'ab'.repeat(32)}`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#tx-fault:has-text("This transaction is not in a block yet")')
  const hash = await transferPlainly(world.chain, payer, merchant.address, 7_000_000n)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(hash)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`.arrived code:text-is("${hash}")`)
  await confirm(invoice)
  await word(page, 'Paid')
  assert.deepEqual(complaints, [])
  await close()
})

test('an unsigned invoice below the minimum is paid to its deposit address, says why, and asks the wallet for nothing', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '0.5')]
  const { page, wallet, complaints, close } = await open(invoice, { account: payer })
  assert.equal((await page.textContent('#ways-title'))?.trim(), 'Pay 0.50 USDC')
  assert.match(
    (await page.textContent('#ways')) ?? '',
    /wallets pay 1\.00 USDC or more; this invoice asks for less\. Pay by a plain transfer\..*The merchant forwards this deposit/s,
  )
  assert.equal(await page.textContent('#to'), (invoice['deposit'] as { address: string }).address)
  assert.deepEqual([wallet?.asked, complaints], [[], []])
  await close()
})

test('a signed invoice below the minimum is paid by a plain transfer, with code, address and amount', async () => {
  const { page, complaints, close } = await open(await issueSigned(world, '0.5'), null)
  assert.equal((await page.textContent('#ways-title'))?.trim(), 'Pay 0.50 USDC')
  assert.deepEqual([await page.isVisible('#code-token'), await page.isVisible('#due')], [true, true])
  assert.deepEqual(complaints, [])
  await close()
})

test('a wallet in the browser is the one primary way: the others are folded, and a fault is in view on a phone', async () => {
  const { page, complaints, close } = await open(await issueSigned(world, '10'), {
    account: await world.payer(TEN),
    refuses: { method: 'eth_requestAccounts', code: 4001 },
  })
  await page.setViewportSize({ width: 390, height: 664 })
  await page.waitForSelector('#others:not([open])')
  await page.getByRole('button', { name: 'Pay with Test Wallet' }).click()
  await trouble(page, 'You declined in the wallet')
  const { top, bottom } = await page.locator('#trouble').evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect)
  assert.ok(top >= 0 && bottom <= 664, `${top} to ${bottom}`)
  assert.equal(await page.getByRole('alert').filter({ hasText: 'You declined' }).count(), 1)
  assert.deepEqual(complaints, [])
  await close()
})

test('after the payment the page links back to the shop, names its host and goes nowhere by itself', async () => {
  const merchant = newMerchant()
  const return_url = 'https://shop.example/thanks?order=4711'
  const made = await send(`${world.url}/api/invoice/create`, {
    amountUsdc: '10',
    merchant: merchant.address,
    order_number: '4711',
    return_url,
  })
  const invoice = made.body as InvoiceShown
  const { page, complaints, close } = await open(invoice, { account: await world.payer(TEN) })
  assert.match((await page.textContent('.purpose')) ?? '', /Order number\s*4711/)
  assert.equal(await page.locator('.back').count(), 0)
  await payByKeyboard(page)
  await page.waitForSelector('.way .reached:has-text("seen in block")')
  await confirm(invoice)
  await word(page, 'Paid')
  const link = page.getByRole('link', { name: 'Back to the shop (shop.example)' })
  assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('rel')], [return_url, 'noopener noreferrer nofollow'])
  assert.equal(new URL(page.url()).origin, world.url)
  assert.match((await page.textContent('.paper')) ?? '', /Download the payment confirmation \(PDF\)/)
  assert.deepEqual(complaints, [])
  await close()
})

test('an empty wallet gets test USDC on the checkout of a sandbox, and pays with it', async () => {
  const payer = privateKeyToAccount(generatePrivateKey())
  const invoice = await issue(world, '10')
  const { page, complaints, close } = await open(invoice, { account: payer })
  await page.click('.test-money button')
  await page.waitForSelector(`.test-money [role=status]:has-text("${payer.address} has 100 test USDC.")`)
  await payByKeyboard(page)
  await page.waitForSelector('.way .reached:has-text("seen in block")')
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), 90_000_000n)
  assert.deepEqual(complaints, [])
  await close()
})
