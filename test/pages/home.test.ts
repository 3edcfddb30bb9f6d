import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { searchEntries } from '../../src/surfaces/pages/components/tool-search.ts'
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

const shownIds = (page: Page) => page.locator('[id^=family-] li code').allTextContents()
const allIds = () => app.running.app.deps.call.catalogue.tools.map(({ id }) => id)

const entry = (id: string, title: string, text: string, keywords = '') => ({ id, name: `${title} ${id}`, text, keywords })
const ENTRIES = [
  entry('iban-check', 'Check an IBAN', 'MOD 97-10 check digits of an account'),
  entry('vat-mod97-check', 'Check a VAT number', 'Prüfung of tax numbers'),
  entry('ofac-sdn-check', 'Screen an address', 'No match and elevated are dated', 'sanctions'),
]
const found = (query: string) => searchEntries(query, ENTRIES).map(({ id }) => id)

test('a search finds beginnings of words in any order, best first, and forgives typing errors', () => {
  assert.deepEqual(found(''), ['iban-check', 'vat-mod97-check', 'ofac-sdn-check'])
  assert.deepEqual(found('vat'), ['vat-mod97-check'])
  assert.deepEqual(found('  CHECK   iban '), ['iban-check'])
  assert.deepEqual(found('account mod'), ['iban-check'])
  assert.deepEqual(found('mod'), ['iban-check', 'vat-mod97-check'].toReversed())
  assert.deepEqual(found('prufung'), ['vat-mod97-check'])
  assert.deepEqual(found('sanctions'), ['ofac-sdn-check'])
  assert.deepEqual(found('sanctoins'), ['ofac-sdn-check'])
  assert.deepEqual(found('ibna'), ['iban-check'])
  // Before the word is complete.
  assert.deepEqual(found('sanctoi'), ['ofac-sdn-check'])
  assert.deepEqual(found('vta'), [])
  assert.deepEqual(found('iban sanctions'), [])
  assert.deepEqual(
    found('.*'),
    ENTRIES.map(({ id }) => id),
  )
})

const resultIds = (page: Page) => page.locator('.results li code').allTextContents()

test('a slash leads to the search, which finds as one types and says how many', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  await page.keyboard.press('/')
  await page.keyboard.type('sanctions')
  await page.waitForSelector('.results li')
  await page.waitForFunction(() => location.search === '?q=sanctions')
  assert.equal((await resultIds(page))[0], 'ofac-sdn-check')
  assert.match((await page.textContent('h1#found')) ?? '', /^\d+ results for “sanctions”$/)
  assert.equal(await page.locator('#found').getAttribute('role'), 'status')
  assert.equal(await page.locator('#front').isVisible(), false)
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('href')), '/tools/ofac-sdn-check')
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await page.waitForSelector('#front:visible')
  assert.equal((await shownIds(page)).length, allIds().length)
  await page.keyboard.type('no such tool at all')
  await page.waitForSelector('h1:has-text("Nothing found")')
  assert.deepEqual(complaints, [])
  await close()
})

test('the search of any page, and one without scripts, lead to the same tools', async () => {
  const elsewhere = await visit(browser, `${app.url}/verify`)
  await elsewhere.page.keyboard.press('/')
  await elsewhere.page.keyboard.type('ISIN')
  await elsewhere.page.keyboard.press('Enter')
  await elsewhere.page.waitForURL('**/?q=ISIN')
  const live = await resultIds(elsewhere.page)
  assert.equal(live[0], 'isin-check')
  assert.deepEqual(elsewhere.complaints, [])
  await elsewhere.close()
  const bare = await visit(browser, `${app.url}/?q=ISIN`, { javaScriptEnabled: false })
  assert.deepEqual(await resultIds(bare.page), live)
  assert.equal(await bare.page.inputValue('#search'), 'ISIN')
  await bare.page.goto(`${app.url}/?q=iban-chek`)
  assert.equal((await resultIds(bare.page))[0], 'iban-check')
  await bare.page.goto(`${app.url}/?q=vat`)
  assert.ok(!(await resultIds(bare.page)).includes('ofac-sdn-check'))
  await bare.page.goto(`${app.url}/?q=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`)
  assert.equal(await bare.page.locator('img').count(), 0)
  await bare.close()
})

test('a search stays the same when the browser takes it over', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/?q=iban`)
  const by_server = await resultIds(page)
  await page.focus('#search')
  await page.keyboard.press('End')
  await page.keyboard.type(' check')
  await page.waitForFunction(() => location.search === '?q=iban%20check')
  await page.keyboard.press('Backspace')
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Backspace')
  await page.waitForFunction(() => location.search === '?q=iban')
  assert.deepEqual(await resultIds(page), by_server)
  assert.deepEqual(complaints, [])
  await close()
})

test('over tools and guides, server and browser find the same for a word, a typing error and half a word', async () => {
  const cases: [query: string, first: string, never: string | null][] = [
    ['sanctions', '/tools/ofac-sdn-check', null],
    ['sanctoins', '/tools/ofac-sdn-check', null],
    ['sanctoi', '/tools/ofac-sdn-check', null],
    ['vat', '/tools/vat-mod97-check', '/tools/ofac-sdn-check'],
    ['ibna', '/tools/iban-check', null],
    ['webhok', '/docs/webhooks', null],
    ['payment channel', '/docs/payment', null],
    ['cursor', '/docs/mcp', null],
  ]
  const links = (page: Page) => page.locator('.results li a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  const bare = await visit(browser, `${app.url}/`, { javaScriptEnabled: false })
  for (const [query, first, never] of cases) {
    await bare.page.goto(`${app.url}/?q=${encodeURIComponent(query)}`)
    const by_server = await links(bare.page)
    assert.equal(by_server[0], first, query)
    assert.ok(never === null || !by_server.includes(never), query)
    await page.fill('#search', query)
    await page.waitForSelector(`#found:has-text("“${query}”")`)
    assert.deepEqual(await links(page), by_server, query)
  }
  assert.deepEqual(complaints, [])
  await bare.close()
  await close()
})

test('prices are those of the moment, and each family is one key away', async () => {
  const health = (await (await fetch(`${app.url}/health`)).json()) as { tools: { name: string; price: { amount_usdc: string } }[] }
  const { page, complaints, close } = await visit(browser, `${app.url}/`)
  const rows = await page
    .locator('[id^=family-] li')
    .evaluateAll((items) =>
      items.map((item) => [item.querySelector('code')?.textContent, item.querySelector('.cost')?.textContent?.replace(/\s+/g, ' ')]),
    )
  const shown = new Map(rows as [string, string][])
  assert.equal(shown.size, health.tools.length)
  for (const { name, price } of health.tools) {
    const words = price.amount_usdc === '0' ? 'free' : `${price.amount_usdc} USDC`
    assert.ok(shown.get(name)?.includes(words), `${name}: ${shown.get(name)}, not ${words}`)
  }
  // Folded; a key opens a family, and so does a link from the page of a tool.
  assert.equal(await page.locator('.family li a:visible').count(), 0)
  await page.focus('.family summary')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.family li a:visible')
  await page.goto(`${app.url}/tools/lei-check`)
  await page.click('.crumb a:last-child')
  await page.waitForSelector('.family a[href="/tools/lei-check"]:visible')
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
