import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { searchWords, isFound } from '../../src/surfaces/pages/client/search-words.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { assertSound } from '../support/page-checks.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

const shownIds = (page: Page) => page.locator('.family li:visible code').allTextContents()
const allIds = () => app.running.app.deps.call.catalogue.tools.map(({ id }) => id)

test('every word must be found, whatever its case, its accents and its hyphens', () => {
  const found = (text: string, query: string) => isFound(text, searchWords(query))
  assert.ok(found('Check an IBAN iban-check', 'IBAN check'))
  assert.ok(found('Check an IBAN iban-check', '  check   iban '))
  assert.ok(found('Prüfung einer Nummer', 'prufung'))
  assert.ok(found('anything', ''))
  assert.ok(!found('Check an IBAN iban-check', 'iban lei'))
  assert.ok(!found('Check an IBAN', '.*'))
})

test('a slash leads to the search, which finds as one types and says how many', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  await page.keyboard.press('/')
  await page.keyboard.type('mod 97')
  // The tools whose descriptions or ids hold both words.
  const expected = app.running.app.deps.call.catalogue.tools
    .filter(({ id, title, description }) => ['mod', '97'].every((word) => `${id} ${title} ${description}`.toLowerCase().includes(word)))
    .map(({ id }) => id)
  assert.deepEqual((await shownIds(page)).toSorted(), expected.toSorted())
  assert.match((await page.textContent('#found')) ?? '', new RegExp(`^${expected.length} of ${allIds().length} tools ha`))
  assert.equal(await page.locator('#found').getAttribute('role'), 'status')
  assert.equal(await page.locator('#front').isVisible(), false)
  assert.match(page.url(), /\/\?q=mod%2097$/)
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('href')), `/tools/${(await shownIds(page))[0] ?? ''}`)
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  assert.deepEqual(await shownIds(page), allIds().length === 0 ? [] : await page.locator('.family li code').allTextContents())
  assert.equal(await page.locator('#front').isVisible(), true)
  await page.keyboard.type('no such tool at all')
  assert.match((await page.textContent('#found')) ?? '', /^No tool/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the search of any page, and one without scripts, lead to the same tools', async () => {
  const elsewhere = await visit(browser, `${app.url}/verify`)
  await elsewhere.page.keyboard.press('/')
  await elsewhere.page.keyboard.type('ISIN')
  await elsewhere.page.keyboard.press('Enter')
  await elsewhere.page.waitForURL('**/?q=ISIN')
  const live = await shownIds(elsewhere.page)
  assert.ok(live.includes('isin-check'))
  assert.deepEqual(elsewhere.complaints, [])
  await elsewhere.close()
  const bare = await visit(browser, `${app.url}/?q=ISIN`, { javaScriptEnabled: false })
  assert.deepEqual(await shownIds(bare.page), live)
  assert.equal(await bare.page.inputValue('#search'), 'ISIN')
  await bare.page.goto(`${app.url}/?q=iban-chek`)
  assert.equal(await bare.page.locator('#tools a[href="/tools/iban-check"]:visible').first().textContent(), 'iban-check')
  await bare.page.goto(`${app.url}/?q=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`)
  assert.equal(await bare.page.locator('img').count(), 0)
  await bare.close()
})

test('prices are those of the moment, and each family is one key away', async () => {
  const health = (await (await fetch(`${app.url}/health`)).json()) as { tools: { name: string; price: { amount_usdc: string } }[] }
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  const rows = await page
    .locator('.family li')
    .evaluateAll((items) =>
      items.map((item) => [item.querySelector('code')?.textContent, item.querySelector('.cost')?.textContent?.replace(/\s+/g, ' ')]),
    )
  const shown = new Map(rows as [string, string][])
  assert.equal(shown.size, health.tools.length)
  for (const { name, price } of health.tools) {
    const words = price.amount_usdc === '0' ? 'free' : `${price.amount_usdc} USDC`
    assert.ok(shown.get(name)?.includes(words), `${name}: ${shown.get(name)}, not ${words}`)
  }
  const links = await page.locator('.rail a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  for (const link of links) assert.equal(await page.locator(link).count(), 1, link)
  assert.deepEqual(complaints, [])
  await close()
})

test('the allowance is shown before any call, and costs none', async () => {
  const own = await startTestApp({ free_daily: 3 })
  for (const path of ['/', '/verify', '/tools/lei-check']) {
    const { page, complaints, close } = await visit(browser, own.url + path)
    await page.waitForFunction(() => document.getElementById('allowance')?.textContent === '3 of 3 free calls left today')
    assert.deepEqual(complaints, [])
    await close()
  }
  await own.stop()
})

test('a tool with free calls of its own says so where it counts them', async () => {
  const own = await startTestApp({ free_daily: 3, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'luhn-check=5' } })
  const { page, complaints, close } = await visit(browser, `${own.url}/tools/luhn-check`)
  const shown = (words: string) => page.waitForFunction((text) => document.getElementById('allowance')?.textContent === text, words)
  await shown('3 of 3 free calls left today')
  await page.click('#ask button[type=submit]')
  await shown('4 of 5 free calls of this tool left today')
  await page.goto(`${own.url}/tools/lei-check`)
  await shown('3 of 3 free calls left today')
  await page.click('#ask button[type=submit]')
  await shown('2 of 3 free calls left today')
  assert.deepEqual(complaints, [])
  await close()
  await own.stop()
})

test('home has no barriers in either scheme, narrow or wide', async () => {
  await assertSound(browser, `${app.url}/`, (page) => page.waitForSelector('.answer .verdict'))
})

test("where the reader's own colours rule, verdicts keep their shapes", async () => {
  const { page, close } = await visit(browser, `${app.url}/`, { forcedColors: 'active' })
  await page.waitForSelector('.answer .verdict')
  const [shape, ground] = await page.evaluate(() => {
    const mark = document.querySelector('.answer .shape')
    const pane = document.querySelector('.answer')
    return [mark && getComputedStyle(mark).color, pane && getComputedStyle(pane).backgroundColor]
  })
  assert.ok(shape !== null && shape !== ground, `${String(shape)} on ${String(ground)}`)
  await close()
})
