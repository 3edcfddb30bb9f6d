import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeReceipt } from '../../src/pure/receipts/compact.ts'
import type { Browser } from 'playwright-core'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { barriers, overhang } from '../support/accessible.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { asMembers } from '../support/documents.ts'
import { readVectors } from '../support/vectors.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }

/** An answer, and the address behind its badge. */
async function answerAndLink(headers: Record<string, string> = {}) {
  const { body } = await restCall(app.url, 'iban-check', IBAN, headers)
  const [, digest = '', link = ''] = /\/(0x[0-9a-f]{64})\.svg\)\]\(([^)]+)\)$/.exec(String(body['embeddable_badge'])) ?? []
  return { body, digest, link }
}

test('a newcomer tries the first tool with the keyboard alone', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name') ?? document.activeElement?.className)
  await page.keyboard.press('Tab')
  assert.equal(await focused(), 'skip')
  for (let presses = 0; presses < 20 && (await focused()) !== 'iban'; presses++) await page.keyboard.press('Tab')
  assert.equal(await focused(), 'iban')
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('GB28WEST12345698765432')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.answer .verdict.invalid')
  assert.equal(await page.textContent('.verdict .word'), 'invalid')
  // ISO 7064 MOD 97-10 over the rest gives 82, as in the example of the IBAN registry.
  assert.deepEqual(await page.locator('.identifier mark').allTextContents(), ['28'])
  assert.deepEqual(await page.locator('.part:has(mark) .label').allTextContents(), ['check'])
  assert.match((await page.textContent('.findings')) ?? '', /Expected: 82\./)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(IBAN.iban)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.answer .verdict.valid')
  assert.deepEqual(await page.locator('.part .characters').allTextContents(), ['GB', '82', 'WEST', '123456', '98765432'])
  await page.waitForFunction(() => document.getElementById('asking')?.textContent?.startsWith('valid. '))
  assert.match((await page.textContent('#allowance')) ?? '', /^998 of 1000 free calls left today$/)
  assert.equal(await page.locator('.seal:not(.broken):not(.empty)').count(), 1)
  assert.deepEqual(complaints, [])
  await close()
})

test('the link of a badge leads to the verdict, and one altered character breaks the seal', async () => {
  const { digest, link } = await answerAndLink()
  const { page, complaints, close } = await visit(browser, link)
  await page.waitForSelector('.answer .verdict.valid')
  assert.equal(await page.textContent('.verdict .word'), 'Verified')
  assert.match((await page.textContent('.proof')) ?? '', new RegExp(digest))
  assert.equal(await page.locator('.seal:not(.broken)').count(), 1)
  const read = decodeReceipt(link.split('#r=')[1] ?? '')
  assert.ok(read.ok && link.length < 450, link)
  // The link of an earlier release: the same receipt as JSON.
  const text = JSON.stringify(read.receipt)
  const alterations = ['"ts":\\d*?(\\d)[,}]', '"output_hash":"0x(\\w)', '"amount":"(0)', '"signer":"0x(\\w)', '"tool":"(i)'].map(
    (pattern) => {
      const found = new RegExp(pattern, 'd').exec(text)
      const at = found?.indices?.[1]?.[0] ?? -1
      return text.slice(0, at) + (text[at] === '1' ? '2' : '1') + text.slice(at + 1)
    },
  )
  for (const altered of alterations) {
    await page.goto(`${app.url}/verify#r=${Buffer.from(altered).toString('base64url')}`)
    await page.waitForSelector('.answer .verdict.invalid')
    assert.match((await page.textContent('.verdict .word')) ?? '', /^(Altered or forged|Not a valid receipt)$/)
    assert.equal(await page.locator('.seal.broken').count(), 1)
    await page.goto(link)
    await page.waitForSelector('.answer .verdict.valid')
  }
  assert.deepEqual(complaints, [])
  await close()
})

test('a whole answer is held against its receipt and its link', async () => {
  const { body } = await answerAndLink({ 'x-prev-receipt-hash': `0x${'44'.repeat(32)}` })
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const verify = async (value: unknown, word: string) => {
    await page.fill('#given', typeof value === 'string' ? value : JSON.stringify(value))
    await page.click('button[type=submit]')
    await page.waitForSelector(`.verdict .word:text-is("${word}")`)
  }
  await verify(body, 'Verified')
  assert.match((await page.textContent('.proof')) ?? '', /the receipt was issued for this result.*linked this receipt to the earlier one/)
  await verify({ ...body, result: { ...asMembers(body['result']), valid: false } }, 'Result was changed')
  await verify({ ...body, chain: { ...asMembers(body['chain']), prev_receipt_hash: `0x${'45'.repeat(32)}` } }, 'Broken link')
  await verify('{"receipt":', 'Not a receipt')
  await verify({ ...asMembers(body['receipt']), tool: '<img src=x onerror=alert(1)>' }, 'Altered or forged')
  assert.equal(await page.locator('.answer img').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

test('the decision leads on the page of a tool, and /verify shows it beside the receipt that covers it', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/tools/pre-disbursement-guard`)
  await page.fill('[name=declared_country]', 'IR')
  await page.fill('[name=recipient_iban]', 'GB83 WEST 1234 5698 7654 32')
  await page.fill('[name=lei]', '5493001KJTIIGC8Y1R13')
  await page.click('#ask button[type=submit]')
  await page.waitForSelector('.answer .verdict.invalid .word:text-is("BLOCK")')
  assert.match((await page.textContent('.answer .verdict .reason')) ?? '', /^Do not pay/)
  assert.doesNotMatch((await page.textContent('.answer')) ?? '', /answered/)
  await page.click('#answer-json')
  await page.waitForSelector('#raw')
  const answer = (await page.textContent('#raw')) ?? ''
  await page.goto(`${app.url}/verify`)
  await page.fill('#given', answer)
  await page.click('button[type=submit]')
  await page.waitForSelector('.verdict .word:text-is("Verified")')
  assert.match((await page.textContent('.answer .decided')) ?? '', /decision: BLOCK Do not pay/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the receipts room judges in a browser as it does in Node', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const address = await page.locator('.lead a[href$="/pure/receipts/verify.ts"]').getAttribute('href')
  const receipts = (readVectors({ family: 'proof', id: 'receipt-verify' })?.cases ?? []).map(({ in: input }) => input['receipt'])
  assert.ok(receipts.length > 20)
  const there = await page.evaluate(
    async ([path, given]) => {
      const room = (await import(path)) as { verifyReceipt(receipt: unknown): unknown }
      return given.map((receipt) => room.verifyReceipt(receipt))
    },
    [String(address), receipts] as const,
  )
  assert.deepEqual(
    there,
    receipts.map((receipt) => verifyReceipt(receipt)),
  )
  assert.deepEqual(complaints, [])
  await close()
})

test('every page fits a dark phone, shows its example and complains of nothing', async () => {
  const { tools } = app.running.app.deps.call.catalogue
  // What a tool would find outside, or leave behind, is not shown before it is asked.
  const examples = new Map(tools.map(({ id, annotations: own }) => [`/tools/${id}`, own.open_world || !own.read_only ? 0 : 1]))
  const { page, complaints, close } = await visit(browser, `${app.url}/`, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(17, 19, 21)')
  for (const path of ['/', '/verify', '/problems', ...examples.keys()]) {
    await page.goto(app.url + path)
    if (path.startsWith('/tools'))
      assert.equal(await page.locator('.answer [role=tab]:has-text("Example")').count(), examples.get(path), path)
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    assert.ok(beyond <= 0, `${path} is ${beyond} pixels too wide`)
  }
  assert.deepEqual(complaints, [])
  await close()
})

test('at an address that nothing has the page is as sound as others', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/problems/NOPE`, { viewport: { width: 320, height: 900 } })
  assert.equal(await page.textContent('h1'), 'Page not found')
  assert.deepEqual(await barriers(page), [])
  assert.ok((await overhang(page)) <= 0)
  // Chromium notes the status by itself.
  assert.deepEqual(
    complaints.filter((line) => !line.includes('status of 404')),
    [],
  )
  await page.fill('#search', 'iban')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/\?q=iban/)
  await close()
})

test('text that was sent comes back as text', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/tools/context-distill`)
  const bait = `<img src=x onerror="document.title='caught'"> & <b>bold</b>.`
  await page.fill('[name=text]', bait)
  await page.click('button[type=submit]')
  await page.waitForSelector('.answer .proof .act')
  assert.ok((await page.locator('.answer dd, .facts td').allTextContents()).includes(bait))
  assert.equal(await page.locator('.answer img, .answer td b').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

test('a refused call, an empty allowance and a lost line each have their own view', async () => {
  const poor = await startTestApp({ free_daily: 1 })
  const { page, complaints, close } = await visit(browser, `${poor.url}/tools/iban-check`)
  const send = async (value: string, shown: string) => {
    await page.fill('[name=iban]', value)
    await page.click('button[type=submit]')
    await page.waitForSelector(shown)
  }
  await send('x'.repeat(300), '.answer .problem')
  assert.equal(await page.getAttribute('[name=iban]', 'aria-invalid'), 'true')
  assert.match((await page.textContent('#fault-iban')) ?? '', /at most 256 characters/)
  await send(IBAN.iban, '.answer .verdict.valid')
  assert.equal(await page.getAttribute('[name=iban]', 'aria-invalid'), null)
  await send(IBAN.iban, '.answer h2:has-text("free call")')
  assert.match((await page.textContent('.answer')) ?? '', /Today’s free call is used.*This call costs 0\.005 USDC.*reset at 00:00 UTC/)
  // Chromium itself notes refused requests on the console; nothing else may stand there.
  assert.deepEqual(
    complaints.filter((line) => !/Failed to load resource: the server responded with a status of 40[02]/.test(line)),
    [],
  )
  await page.context().setOffline(true)
  await send(IBAN.iban, '.answer .problem:has-text("could not be reached")')
  await close()
  await poor.stop()
})

test('fields that are left empty are not sent; yes, no and numbers are chosen and typed as such', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/tools/rental-listing-risk`)
  await page.selectOption('[name=urgency_pressure]', 'true')
  await page.selectOption('[name=payment_irreversible]', '')
  await page.fill('[name=price_below_market_pct]', '')
  const sent = page.waitForRequest((request) => request.url().endsWith('/call'))
  await page.click('button[type=submit]')
  const input = (JSON.parse((await sent).postData() ?? '{}') as { input: Record<string, unknown> }).input
  assert.equal(input['urgency_pressure'], true)
  assert.equal('payment_irreversible' in input || 'price_below_market_pct' in input, false)
  await page.waitForSelector('.answer .proof .act')
  assert.deepEqual(complaints, [])
  await close()
})
