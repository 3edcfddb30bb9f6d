/** Invoices are paid at their page, in a real browser, with a wallet whose keys viem holds, on a chain of the test's own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from '../support/browser.ts'
import {
  issue,
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
  /** Pages that were loaded: one, unless something reloaded it. */
  loads(): number
  close(): Promise<void>
}

/** The page of an invoice, with a wallet when one is given. */
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
  // Chromium itself notes refused and lost requests on the console; nothing else may stand there.
  page.on('console', (message) => !message.text().startsWith('Failed to load resource') && complaints.push(message.text()))
  const wallet = options === null ? null : await putWallet(page, { chain_id: world.chain.chain_id, ...options })
  await page.goto(`${world.url}/pay/${invoice.invoice_id}`)
  return { page, wallet, complaints, loads: () => loads, close: () => context.close() }
}

/** The keyboard alone, from where the focus stands. */
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

/** Blocks go by, and the service looks without waiting for its round. */
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

test('what a wallet refuses is said in plain words, moves nothing, and can be tried again', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const cases: [WalletOptions['refuses'], number, string][] = [
    [{ method: 'eth_requestAccounts', code: 4001 }, 84_532, 'You refused in the wallet'],
    [{ method: 'eth_signTypedData_v4', code: 4001 }, 84_532, 'You refused in the wallet'],
    [{ method: 'eth_requestAccounts', code: -32_002 }, 84_532, 'The wallet waits for you already'],
    [{ method: 'wallet_switchEthereumChain', code: 4902 }, 1, 'The wallet is on another chain'],
    [{ method: 'eth_signTypedData_v4', code: 4200 }, 84_532, 'This wallet cannot sign such a payment'],
    [{ method: 'eth_chainId', code: 7 }, 84_532, 'The wallet answered with an error'],
  ]
  for (const [refuses, chain_id, title] of cases) {
    const { page, wallet, complaints, close } = await open(invoice, { account: payer, chain_id, ...(refuses ? { refuses } : {}) })
    await payByKeyboard(page)
    await trouble(page, title)
    assert.match((await page.textContent('#trouble')) ?? '', /Nothing was signed and nothing moved\.|still open in it\./)
    const earlier = wallet?.asked.length ?? 0
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelectorAll('#trouble .problem').length === 1)
    assert.ok(earlier > 0 && (wallet?.asked.length ?? 0) > earlier, 'the focus stays on the wallet')
    assert.deepEqual(complaints, [], title)
    await close()
  }
  assert.equal((await looked(world, invoice)).status, 'ISSUED')
})

test('another account, too little money, the merchant itself: each is told, and the invoice stays open', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '10', merchant.address)
  const cases: [Omit<WalletOptions, 'chain_id'>, string][] = [
    [{ account: await world.payer(TEN), signer: await world.payer(TEN) }, 'Another account signed'],
    [{ account: await world.payer(TEN - 1n) }, 'This account holds too little USDC'],
    [{ account: merchant }, 'This account is the merchant'],
  ]
  for (const [options, title] of cases) {
    const { page, complaints, close } = await open(invoice, options)
    await payByKeyboard(page)
    await trouble(page, title)
    assert.equal(await page.isVisible('#ways'), true)
    assert.match((await page.textContent('.way .here')) ?? '', /^signed.*waits for you/)
    assert.deepEqual(complaints, [], title)
    await close()
  }
})

test('a second payer comes too late: nothing of theirs moves, and the page says who was first', async () => {
  const [first, second, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  const one = await open(invoice, { account: first })
  const beforeSigning = async () => {
    await payByKeyboard(one.page)
    await one.page.waitForSelector('.way .reached:has-text("seen in block")')
  }
  const two = await open(invoice, { account: second, beforeSigning })
  await payByKeyboard(two.page)
  await trouble(two.page, 'Somebody paid first')
  await confirm(invoice)
  await Promise.all([word(one.page, 'Paid'), word(two.page, 'Paid')])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, second.address), TEN)
  assert.deepEqual([one.complaints, two.complaints], [[], []])
  await Promise.all([one.close(), two.close()])
})

test('it expires while the wallet is open: the signature is not used', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const beforeSigning = () =>
    Promise.resolve(
      world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(invoice.invoice_id)),
    )
  const { page, complaints, close } = await open(invoice, { account: payer, beforeSigning })
  await payByKeyboard(page)
  await trouble(page, 'It expired before you signed')
  await word(page, 'Expired')
  assert.equal(await page.isVisible('#ways'), false)
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), TEN)
  assert.deepEqual(complaints, [])
  await close()
})

test('the line is lost after signing, and the page reloaded: the same payment is sent again, never a second signature', async () => {
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
  await page.waitForSelector('#saying:has-text("The line was lost after you signed")')
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

test('without a wallet: the page says so, and a transfer made elsewhere is named by its hash', async () => {
  const merchant = newMerchant()
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '7', merchant.address)]
  await send(`${invoiceUrl(world, invoice)}/sign`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Issue') })
  const { page, complaints, close } = await open(invoice, null)
  assert.match((await page.textContent('#no-wallet:visible')) ?? '', /No wallet announced itself/)
  await tabTo(page, /^I have sent it from elsewhere$/)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type('0x12')
  await page.keyboard.press('Enter')
  assert.equal(await page.textContent('#tx-fault'), 'A transaction hash is 0x and 64 hexadecimal digits.')
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(`0x${'ab'.repeat(32)}`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#tx-fault:has-text("No block holds this transaction yet")')
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

test('less than is carried: the page says so, and asks the wallet for nothing', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '0.5')]
  const { page, wallet, complaints, close } = await open(invoice, { account: payer })
  assert.match(
    (await page.textContent('.browser-wallet')) ?? '',
    /Less than 1\.00 USDC is not carried .* Ask the merchant to sign this invoice/s,
  )
  await payByKeyboard(page)
  await trouble(page, 'No signature is taken for this invoice now')
  assert.deepEqual([wallet?.asked, complaints], [[], []])
  await close()
})
