import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { readSettings } from '../src/service/config.ts'
import { start } from '../src/assembly/start.ts'
import { startBrowser } from '../test/support/browser.ts'

/**
 * `node scripts/screenshots.ts`: screenshots of every page for the documentation, on a phone and a wide screen, light and dark, from a
 * temporary sandbox. This is the only list of pages.
 */
const PAGES: readonly { name: string; path: string; ask?: boolean; spoil?: readonly [field: string, from: string, to: string] }[] = [
  { name: 'home', path: '/' },
  { name: 'search', path: '/?q=iban' },
  { name: 'tool', path: '/tools/iban-check', ask: true },
  { name: 'document', path: '/tools/iso20022-validate', ask: true, spoil: ['raw_payload', '<NbOfTxs>1<', '<NbOfTxs>2<'] },
  { name: 'verify', path: '/verify' },
  { name: 'preflight', path: '/preflight' },
  { name: 'reconcile', path: '/reconcile' },
  { name: 'docs', path: '/docs' },
  { name: 'status', path: '/status' },
  { name: 'problems', path: '/problems' },
]
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 620 },
]
const SCHEMES = ['light', 'dark'] as const
const MOST_BYTES = 150_000

const folder = fileURLToPath(new URL('../docs/screenshots/', import.meta.url))
const data_dir = await mkdtemp(join(tmpdir(), 'assay-screenshots-'))
const read = readSettings({ ASSAY_PORT: '0', ASSAY_DATA_DIR: data_dir, ASSAY_LOG_LEVEL: 'silent', ASSAY_FREE_DAILY: '1000' })
if (!read.ok) throw new Error(read.message)
const running = await start(read.settings)
const browser = await startBrowser()
await mkdir(folder, { recursive: true })
try {
  for (const page of PAGES) {
    for (const viewport of SIZES) for (const colorScheme of SCHEMES) await shoot(browser, page, viewport, colorScheme)
  }
} finally {
  await browser.close()
  await running.stop()
  await rm(data_dir, { recursive: true, force: true })
}

async function shoot(
  shown: Browser,
  { name, path, ask = false, spoil }: (typeof PAGES)[number],
  viewport: (typeof SIZES)[number],
  colorScheme: (typeof SCHEMES)[number],
): Promise<void> {
  const context = await shown.newContext({ viewport, colorScheme, deviceScaleFactor: 1 })
  const page = await context.newPage()
  await page.goto(running.url + path, { waitUntil: 'networkidle' })
  if (spoil !== undefined) {
    const [field, from, to] = spoil
    await page.fill(`[name=${field}]`, (await page.inputValue(`[name=${field}]`)).replace(from, to))
  }
  if (ask) {
    await page.click('#ask button[type=submit]')
    await page.waitForSelector('.answer .proof .act')
  }
  const file = join(folder, `${name}-${viewport.width}-${colorScheme}.png`)
  await page.screenshot({ path: file, animations: 'disabled' })
  await context.close()
  const { size } = await stat(file)
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes; at most ${MOST_BYTES} are kept`)
}
