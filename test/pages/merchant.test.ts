/** The page for merchants in a real browser, with a test wallet (viem) and a local chain: create, sign, share, see paid, void, list, export. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem'
import { barriers, overhang } from '../support/accessible.ts'
import { startBrowser } from '../support/browser.ts'
import { statementOf } from '../support/invoice-statements.ts'
import { looked, mine, newMerchant, send, sendAsStranger, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { assertSound } from '../support/page-checks.ts'
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

interface Desk {
  page: Page
  wallet: TestWallet | null
  complaints: string[]
  close(): Promise<void>
}

/** Opens the page, with a wallet if one is given. */
async function open(options: Omit<WalletOptions, 'chain_id'> | null, context_options: BrowserContextOptions = {}): Promise<Desk> {
  const context = await browser.newContext(context_options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => new URL(request.url()).origin !== world.url && complaints.push(`asked ${request.url()}`))
  // Chromium itself notes answers that ask for a signature (403); nothing else may be logged.
  page.on('console', (message) => !message.text().startsWith('Failed to load resource') && complaints.push(message.text()))
  const wallet = options === null ? null : await putWallet(page, { chain_id: 1, ...options })
  await page.goto(`${world.url}/merchant`)
  return { page, wallet, complaints, close: () => context.close() }
}

async function connected(account: PrivateKeyAccount, options: Partial<WalletOptions> = {}, context: BrowserContextOptions = {}) {
  const desk = await open({ account, ...options }, context)
  await desk.page.getByRole('button', { name: 'Connect Test Wallet' }).click()
  await desk.page.getByText(account.address, { exact: true }).waitFor()
  return desk
}

async function create(page: Page, amount: string, memo = ''): Promise<string> {
  await page.getByLabel('Amount in USDC').fill(amount)
  await page.getByLabel('What it is for').fill(memo)
  await page.getByRole('button', { name: 'Create and sign' }).click()
  const shown = page.locator('#created', { hasText: `${amount} USDC` })
  await shown.waitFor()
  return new URL((await shown.locator('#pay-link').textContent()) ?? '').pathname.replace('/pay/', '')
}

const record = async (invoice_id: string) => (await send(`${world.url}/api/invoice/${invoice_id}`)).body as InvoiceShown
const row = (page: Page, hasText: string) => page.locator('#invoices tbody tr', { hasText })

test('created and signed by keyboard, shared, seen paid; another one voided; listed elsewhere and exported', async () => {
  const merchant = newMerchant()
  const { page, wallet, complaints, close } = await open({ account: merchant }, { permissions: ['clipboard-read', 'clipboard-write'] })
  const connect = page.getByRole('button', { name: 'Connect Test Wallet' })
  await connect.waitFor()
  await connect.focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.id === 'invoice-amountUsdc')
  // Down, five times: three days.
  for (const typed of ['10.00', null, 'Example Ltd', '4711']) {
    if (typed === null) for (let presses = 0; presses < 5; presses++) await page.keyboard.press('ArrowDown')
    else await page.keyboard.type(typed)
    await page.keyboard.press('Tab')
  }
  await page.keyboard.type('=Order 4711')
  await page.keyboard.press('Tab')
  await page.keyboard.type('https://shop.example/thanks')
  // Over the folded bank details to the button.
  for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  await page.locator('#created').filter({ hasText: 'Example Ltd · 4711 · =Order 4711' }).waitFor()
  await page.waitForFunction(() => document.querySelector('#created .problem') === null)
  const link = (await page.textContent('#pay-link')) ?? ''
  const paid_id = link.split('/').at(-1) ?? ''
  const created = await record(paid_id)
  assert.deepEqual(
    [
      created.merchant_verified,
      created['order_number'],
      created['return_url'],
      Number(created['expires_s']) - Number(created['created_s']),
    ],
    [true, '4711', 'https://shop.example/thanks', 3 * 86_400],
  )
  const { domain, primaryType } = wallet?.typed() ?? { domain: null, primaryType: '' }
  assert.deepEqual([primaryType, domain?.chainId], ['InvoiceIssue', world.chain.chain_id])
  await page.getByRole('button', { name: 'Copy the link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link)

  await sendAsStranger(world.chain, await signFor(world.chain, await world.payer(10_000_000n), await record(paid_id)))
  await mine(world.chain)
  await looked(world, await record(paid_id))
  await page.locator('#created-state', { hasText: 'Paid' }).waitFor()

  const void_id = await create(page, '11.50', 'Order 4712')
  await page.getByRole('button', { name: 'Show my invoices' }).click()
  await row(page, 'Order 4711').filter({ hasText: 'Paid' }).waitFor()
  assert.equal(await row(page, 'Order 4711').getByRole('button').count(), 0, 'a paid invoice cannot be voided')
  await row(page, 'Order 4712').getByRole('button', { name: /^Void/ }).click()
  await row(page, 'Order 4712').filter({ hasText: 'Void' }).getByRole('button').waitFor({ state: 'detached' })
  assert.equal((await record(void_id)).status, 'VOID')

  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as CSV' }).click()
  const lines = (await text(await (await saving).createReadStream())).split('\r\n')
  const [head = '', ...rows] = lines.slice(0, -1).map((line) => line.split(','))
  const column = (cells: string[], name: string) => cells[head.indexOf(name)]
  assert.deepEqual(
    rows.map((cells) => ['invoice_id', 'status', 'amount_usdc', 'paid_usdc', 'order_number', 'memo'].map((name) => column(cells, name))),
    [
      [void_id, 'VOID', '11.50', '0.00', '', 'Order 4712'],
      [paid_id, 'SETTLED', '10.00', '10.00', '4711', "'=Order 4711"],
    ],
  )
  assert.deepEqual(complaints, [])
  await close()

  const elsewhere = await connected(merchant)
  await elsewhere.page.getByRole('button', { name: 'Show my invoices' }).click()
  await row(elsewhere.page, 'Order 4711').waitFor()
  assert.equal(await elsewhere.page.locator('#invoices tbody tr').count(), 2)
  await elsewhere.page.reload()
  await elsewhere.page.getByRole('button', { name: 'Connect Test Wallet' }).click()
  // The token of this tab opens the list without another signature.
  await row(elsewhere.page, 'Order 4711').waitFor()
  await elsewhere.close()
})

test('an invoice with bank details is signed with them, and a statement of the bank closes it', async () => {
  const merchant = newMerchant()
  const { page, wallet, complaints, close } = await connected(merchant)
  await page.getByText('Bank details, for customers who pay by bank').click()
  await page.getByLabel('Amount in USDC').fill('49.00')
  await page.getByLabel('IBAN').fill('DE88 3704 0044 0532 0130 00')
  await page.getByLabel('Account holder').fill('Example GmbH')
  await page.getByLabel('Amount at the bank').fill('45.00')
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page.getByText('must be an IBAN with valid check digits').waitFor()
  await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00')
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page.waitForFunction(() => document.querySelector('#created') !== null && document.querySelector('#created .problem') === null)
  assert.equal(wallet?.typed()?.primaryType, 'InvoiceIssueWithBank')
  const made = await record(((await page.textContent('#pay-link')) ?? '').split('/').at(-1) ?? '')
  const { reference } = made['bank_coordinates'] as { reference: string }
  const statement = (amount: string) =>
    Buffer.from(statementOf([{ amount, reference, currency: 'EUR', name: 'N1' }], { iban: 'DE89370400440532013000' }))
  const confirm = async (amount: string) => {
    await page.setInputFiles('#statement-file', { name: 'camt053.xml', mimeType: 'text/xml', buffer: statement(amount) })
    await page.getByRole('button', { name: 'Sign and confirm' }).click()
  }
  await confirm('44.00')
  await page.locator('#confirmed', { hasText: 'Less than the amount of the invoice was booked' }).waitFor()
  await page.locator('#confirming', { hasText: '0 invoices are paid by this statement.' }).waitFor()
  await confirm('45.00')
  await page.locator('#confirming', { hasText: '1 invoice is paid by this statement.' }).waitFor()
  await page.locator('#created-state', { hasText: 'Paid' }).waitFor()
  assert.equal((await record(made.invoice_id))['paid_by'], 'bank')
  assert.deepEqual(await barriers(page), [])
  assert.deepEqual(complaints, [])
  await close()
})

test('bad input is told beside its field, which has the focus; nothing is created', async () => {
  const { page, complaints, close } = await connected(newMerchant())
  const cases: [string, RegExp][] = [
    ['', /Enter the amount/],
    ['1.250,50', /Use digits and one decimal point.*found “1\.250,50”/],
    ['0', /must be above zero/],
    ['2000000', /above what one invoice may ask for/],
  ]
  for (const [amount, message] of cases) {
    await page.getByLabel('Amount in USDC').fill(amount)
    await page.getByRole('button', { name: 'Create and sign' }).click()
    await page.locator('#invoice-amountUsdc-note.fault').filter({ hasText: message }).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-describedby')), 'invoice-amountUsdc-note')
  }
  await page.getByLabel('Amount in USDC').fill('5')
  await page.getByLabel('Page of your shop').fill('http://shop.example')
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page
    .locator('#invoice-return_url-note.fault')
    .filter({ hasText: /must be an https address/ })
    .waitFor()
  await page.getByLabel('Page of your shop').fill('')
  await page.getByLabel('Customer').fill('a\u202eb')
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page
    .locator('#invoice-clientName-note.fault')
    .filter({ hasText: /invisible/ })
    .waitFor()
  assert.equal(await page.locator('#created').count(), 0)
  assert.deepEqual(await barriers(page), [])
  assert.deepEqual(complaints, [])
  await close()
})

test('a declined signature leaves an unsigned invoice, which can be signed later; a lost answer creates no second one', async () => {
  const merchant = newMerchant()
  const refuses = { method: 'eth_signTypedData_v4', code: 4001 }
  const { page, complaints, close } = await connected(merchant, { refuses })
  let lost = 0
  await page.route('**/api/invoice/create', async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await page.getByLabel('Amount in USDC').fill('7')
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page.getByText('The service could not be reached').waitFor()
  await page.getByRole('button', { name: 'Create and sign' }).click()
  await page.locator('#created .problem', { hasText: 'You declined in Test Wallet' }).waitFor()
  const rows = world.sql((database) =>
    database.prepare('select invoice_id from invoice where merchant = ?').all(merchant.address.toLowerCase()),
  )
  assert.equal(rows.length, 1)
  const { invoice_id } = rows[0] as { invoice_id: string }
  assert.equal((await record(invoice_id)).merchant_verified, false)
  refuses.method = 'none'
  await page.getByRole('button', { name: 'Sign it now' }).click()
  await page.locator('#created .problem').waitFor({ state: 'detached' })
  assert.equal((await record(invoice_id)).merchant_verified, true)
  assert.deepEqual(complaints, [])
  await close()
})

test('without a wallet an address can be typed: the invoice is unsigned, and the list stays closed', async () => {
  const { page, complaints, close } = await open(null)
  await page.getByText('No wallet was found in this browser.').waitFor()
  await page.getByLabel('Address').fill('0x12')
  await page.getByRole('button', { name: 'Use this address' }).click()
  await page.getByText('42 characters in all; this one has 4').waitFor()
  const { address } = newMerchant()
  await page.getByLabel('Address').fill(address)
  await page.getByRole('button', { name: 'Use this address' }).click()
  await page.getByLabel('Amount in USDC').fill('3.5')
  await page.getByRole('button', { name: 'Create without a signature' }).click()
  await page.locator('#created', { hasText: '3.50 USDC' }).waitFor()
  const id = ((await page.textContent('#pay-link')) ?? '').split('/').at(-1) ?? ''
  assert.equal((await record(id)).merchant, address.toLowerCase())
  assert.equal(await page.getByRole('button', { name: 'Show my invoices' }).isDisabled(), true)
  assert.deepEqual(complaints, [])
  await close()
})

test('the page has no barriers, empty and in use, on a phone and on a wide screen, and takes little', async () => {
  await assertSound(browser, `${world.url}/merchant`, (page) => page.getByText('No wallet was found').waitFor())
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1280, 'light'],
  ] as const) {
    const { page, complaints, close } = await connected(newMerchant(), {}, { viewport: { width, height: 900 }, colorScheme })
    await create(page, '4.25', 'A purpose that is long enough to need more than one line of a narrow table')
    await page.getByRole('button', { name: 'Show my invoices' }).click()
    await row(page, 'A purpose').waitFor()
    assert.deepEqual(await barriers(page), [], `${width} px`)
    assert.ok((await overhang(page)) <= 0, `${width} px is too wide`)
    assert.deepEqual(complaints, [])
    await close()
  }
  const page = await (await browser.newContext()).newPage()
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await page.goto(`${world.url}/merchant`, { waitUntil: 'networkidle' })
  assert.ok(bytes > 10_000 && bytes < 60_000, `the page takes ${bytes} bytes`)
  await page.context().close()
})

test('without a script the page says how to do it by HTTP', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${world.url}/merchant`)
  assert.match((await page.locator('noscript').textContent()) ?? '', /This page needs JavaScript\. Without it, use the API/)
  for (const path of ['/docs/reference/create-invoice', '/docs/invoices']) {
    assert.ok((await page.locator(`noscript a[href="${path}"]`).count()) > 0)
    assert.equal((await fetch(world.url + path, { headers: { accept: 'text/html' } })).status, 200)
  }
  await context.close()
})
