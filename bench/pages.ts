import type { Browser } from 'playwright-core'
import { startBrowser } from '../test/support/browser.ts'
import { checkoutPath } from '../test/support/site.ts'
import { atMost, figures, loadText, median, type SuiteReport } from './report.ts'
import { startAssay, withFolder } from './server-process.ts'

/** Factor by which the processor of the visitor is slower than this one. */
const THROTTLING = 4
const VISITS = 9
/** A task longer than this blocks input for the rest of its time (W3C Long Tasks, 2025). */
const LONG_TASK_MS = 50
/** Tasks are counted until this long after the page has loaded. */
const OBSERVED_MS = 1_500
const LCP_MS_MAX = 1_000
const BLOCKING_MS_MAX = 50

interface Visit {
  lcp_ms: number
  blocking_ms: number
  bytes: number
}

/** Largest Contentful Paint and blocking time of the first page, a tool and a checkout, on a slow phone with a cold cache. */
export function pages(): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const assay = await startAssay(folder, {}, 'any')
    const browser = await startBrowser()
    const load_before = loadText()
    try {
      const origin = `http://127.0.0.1:${assay.port}`
      const paths = { Home: '/', Tool: '/tools/iban-check', Checkout: await checkoutPath(origin) }
      const visits = Object.fromEntries(Object.keys(paths).map((name) => [name, [] as Visit[]]))
      // One visit of each page is not counted: the service makes its files then.
      for (let round = 0; round <= VISITS; round++) {
        for (const [name, path] of Object.entries(paths)) {
          const seen = await visit(browser, origin + path)
          if (round > 0) visits[name]?.push(seen)
        }
      }
      return report(visits, load_before)
    } finally {
      await browser.close()
      await assay.stop()
    }
  })
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await page.addInitScript(() => {
    const seen = { lcp_ms: 0, tasks: [] as { start: number; length: number }[] }
    Object.assign(globalThis, { seen })
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) seen.lcp_ms = startTime
    }).observe({ type: 'largest-contentful-paint', buffered: true })
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) seen.tasks.push({ start: startTime, length: duration })
    }).observe({ type: 'longtask', buffered: true })
  })
  await page.goto(url, { waitUntil: 'load' })
  await page.waitForTimeout(OBSERVED_MS)
  const { lcp_ms, blocking_ms } = await page.evaluate((long_ms) => {
    const { seen } = globalThis as unknown as { seen: { lcp_ms: number; tasks: { start: number; length: number }[] } }
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
    const counted = seen.tasks.filter(({ start, length }) => start + length > first)
    return { lcp_ms: seen.lcp_ms, blocking_ms: counted.reduce((sum, { length }) => sum + length - long_ms, 0) }
  }, LONG_TASK_MS)
  await context.close()
  return { lcp_ms, blocking_ms, bytes }
}

function report(visits: Readonly<Record<string, readonly Visit[]>>, load_before: string): SuiteReport {
  const middle = (seen: readonly Visit[], name: keyof Visit) => median(seen.map((one) => one[name]))
  const worst = (seen: readonly Visit[], name: keyof Visit) => Math.max(...seen.map((one) => one[name]))
  return {
    title: 'Pages on a slow phone',
    method: [
      `Chromium, 390 by 844, processor slowed down ${THROTTLING} times, cold cache, no network delay; ${VISITS} visits of each page by turns, median and worst. Blocking time is what tasks after the first paint take beyond ${LONG_TASK_MS} ms, until ${OBSERVED_MS} ms after the load event.`,
    ],
    header: ['page', 'LCP ms', 'worst', 'blocking ms', 'worst', 'bytes'],
    rows: Object.entries(visits).map(([name, seen]) => [
      name,
      ...[
        middle(seen, 'lcp_ms'),
        worst(seen, 'lcp_ms'),
        middle(seen, 'blocking_ms'),
        worst(seen, 'blocking_ms'),
        middle(seen, 'bytes'),
      ].map(figures),
    ]),
    gates: Object.entries(visits).flatMap(([name, seen]) => [
      atMost(`${name}: LCP`, middle(seen, 'lcp_ms'), LCP_MS_MAX, ' ms'),
      atMost(`${name}: blocking time`, middle(seen, 'blocking_ms'), BLOCKING_MS_MAX, ' ms'),
    ]),
    notes: [`Load average before ${load_before}, after ${loadText()}: other work on the machine lengthens every figure.`],
  }
}
