import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createHistory, type History, standingNow } from '../../src/service/telemetry/history.ts'
import { statusSources } from '../../src/surfaces/status.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { assertSound } from '../support/page-checks.ts'

let app: TestApp
let browser: Browser
let past: Awaited<ReturnType<typeof livedThrough>>
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
  past = await livedThrough(app)
})
after(async () => {
  await browser.close()
  await app.stop()
})

/** An hour of calls on a clock of its own, in the place of the history that has just begun; the chain was down for five minutes of it. */
async function livedThrough({ running }: TestApp) {
  const { deps } = running.app
  const clock = { now_s: 1_700_000_000, now_ms: () => clock.now_s * 1_000 }
  let chain = true
  const standing = async () => {
    const now = await standingNow(statusSources(deps))
    return { ...now, sources: { ...now.sources, chain }, head_age_s: chain ? 3 : 90 }
  }
  const history: History = createHistory({ telemetry: deps.telemetry, clock, standing })
  const pass = async (seconds: number) => {
    clock.now_s += seconds
    await history.record()
  }
  const count = (outcome: string, duration_ms: number) =>
    deps.telemetry.call({ tool: 'iban-check', outcome, tier: 'free', surface: 'rest', duration_ms })
  for (let step = 0; step < 360; step++) {
    for (const outcome of ['answered', 'answered', 'PAYMENT_REQUIRED']) count(outcome, 1 + (step % 60))
    chain = step < 100 || step >= 130
    if (!chain) count('UPSTREAM_RPC_UNAVAILABLE', 900)
    await pass(10)
  }
  Object.assign(deps, { history })
  return { pass, count }
}

const drawn = (page: Page) => page.waitForSelector('#chart-latency .trace.p50')

test('with the keyboard alone an hour is read as charts and as a table, then a day', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/status`)
  await drawn(page)
  assert.match((await page.getAttribute('#chart-latency svg', 'aria-label')) ?? '', /half of the calls within \d+ ms/)
  assert.deepEqual(await page.locator('#chart-calls .strip-head').allTextContents(), [
    'answered 12 a minute',
    'asked to pay 6 a minute',
    'refused 0 a minute',
    'failed 0 a minute',
  ])
  // A line and a hatched block: 30 stretches of ten seconds.
  assert.equal(await page.locator('#chart-sources .down').count(), 30)
  assert.match((await page.locator('#chart-sources .strip-head').nth(1).textContent()) ?? '', /answers; down for 5 min of this span/)
  assert.deepEqual(await page.locator('#chart-prices .strip-head span').allTextContents(), [
    '0.005 USDC',
    '0.005 USDC',
    '0.02 USDC',
    '0.01 USDC',
  ])
  const table = page.locator('#table-calls')
  await table.locator('summary').focus()
  await page.keyboard.press('Enter')
  await table.locator('tbody tr').first().waitFor()
  assert.equal(await table.locator('tbody tr').count(), 360)
  assert.deepEqual(await table.locator('tbody tr').first().locator('td').allTextContents(), [
    '23:13:10 UTC',
    '12 a minute',
    '6 a minute',
    '0 a minute',
    '0 a minute',
  ])
  await page.focus('input[name=span][value=hour]')
  await page.keyboard.press('ArrowRight')
  await page.waitForFunction(() => document.querySelectorAll('#table-calls tbody tr').length === 13)
  assert.deepEqual(complaints, [])
  await close()
})

test('what is new is added without a reload, and the page says how fresh it is', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/status`)
  await page.clock.install()
  await page.reload()
  await drawn(page)
  assert.match((await page.textContent('#live')) ?? '', /^live, \d\d:\d\d:\d\d UTC$/)
  for (let call = 0; call < 50; call++) past.count('answered', 2)
  await past.pass(10)
  await page.clock.runFor(10_000)
  await page.waitForSelector('#chart-calls .strip-head:has-text("answered 300 a minute")')
  assert.equal(await page.getAttribute('#live', 'data-state'), 'live')
  // Nobody records any more: after three answers without news the page says so.
  for (let poll = 0; poll < 3; poll++) {
    const answered = page.waitForResponse((response) => response.url().includes('/status/history.json'))
    await page.clock.runFor(10_000)
    await (await answered).finished()
  }
  await page.waitForSelector('#live[data-state=stalled]:has-text("has counted nothing since")')
  assert.match((await page.textContent('#live-heard')) ?? '', /has counted nothing since/)
  await past.pass(10)
  await page.clock.runFor(10_000)
  await page.waitForSelector('#live[data-state=live]')
  assert.deepEqual(complaints, [])
  await close()
})

test('a lost line is said, and what is drawn stays', async () => {
  const { page, close } = await visit(browser, `${app.url}/status`)
  await drawn(page)
  await page.context().setOffline(true)
  await page.waitForSelector('#live[data-state=stalled]:has-text("The charts end at")')
  assert.equal(await page.locator('#chart-latency .trace.p50').count(), 1)
  await page.context().setOffline(false)
  await page.waitForSelector('#live[data-state=live]')
  await close()
})

test('without a script the page says how things stand, and where the numbers are', async () => {
  const { page, close } = await visit(browser, `${app.url}/status`, { javaScriptEnabled: false })
  const text = (await page.textContent('main')) ?? ''
  assert.match(text, /Operational\s+Every monitored dependency responds\./)
  assert.match(text, /check 0\.005, chain 0\.005, contract 0\.02, document 0\.01 USDC/)
  assert.equal((await page.locator('noscript a, main a[href="/status/history.json"]').count()) > 0, true)
  await close()
})

test('the page is sound in both schemes and widths', async () => {
  await assertSound(browser, `${app.url}/status`, async (page) => {
    await drawn(page)
    await page.check('input[name=span][value=day]')
    await page.click('#table-latency summary')
    await page.waitForFunction(() => document.querySelectorAll('#table-latency tbody tr').length === 13)
  })
})
