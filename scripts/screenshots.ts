import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { readSettings } from '../src/service/read-settings.ts'
import { start } from '../src/assembly/start.ts'
import { startBrowser } from '../test/support/browser.ts'
import { checkoutPath } from '../test/support/site.ts'

/**
 * `node scripts/screenshots.ts`: screenshots of every page for the documentation, on a phone and a wide screen, light and dark, from a
 * temporary sandbox. This is the only list of pages.
 */
interface Shot {
  name: string
  path: string
  /** Element that is clicked, and one that then appears. */
  click?: string
  until?: string
  spoil?: readonly [field: string, from: string, to: string]
}

const ASKED = { click: '#ask button[type=submit]', until: '.answer .proof .act' }

const PAGES: readonly Shot[] = [
  { name: 'home', path: '/' },
  { name: 'search', path: '/?q=iban' },
  { name: 'tool', path: '/tools/iban-check', ...ASKED },
  { name: 'decision', path: '/tools/pre-disbursement-guard', ...ASKED, spoil: ['declared_country', 'GB', 'IR'] },
  { name: 'document', path: '/tools/iso20022-validate', ...ASKED, spoil: ['raw_payload', '<NbOfTxs>1<', '<NbOfTxs>2<'] },
  { name: 'verify', path: '/verify' },
  { name: 'verified', path: '/verify', click: '#sample', until: '.answer .verdict.valid' },
  { name: 'preflight', path: '/preflight' },
  { name: 'reconcile', path: '/reconcile' },
  { name: 'reconciled', path: '/reconcile', click: '#sample-correct', until: '#grid tbody th' },
  { name: 'merchant', path: '/merchant' },
  { name: 'credits', path: '/credits' },
  { name: 'docs', path: '/docs' },
  { name: 'status', path: '/status' },
  { name: 'reference', path: '/docs/reference' },
  { name: 'problems', path: '/problems' },
  { name: 'problem', path: '/problems/PAYMENT_REQUIRED' },
]
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 620 },
]
const SCHEMES = ['light', 'dark'] as const
const MOST_BYTES = 170_000

const folder = fileURLToPath(new URL('../docs/screenshots/', import.meta.url))
const data_dir = await mkdtemp(join(tmpdir(), 'assay-screenshots-'))
const read = readSettings({
  ASSAY_PORT: '0',
  ASSAY_DATA_DIR: data_dir,
  ASSAY_LOG_LEVEL: 'silent',
  ASSAY_FREE_DAILY: '1000',
  ASSAY_ADMIN_PORT: '0',
})
if (!read.ok) throw new Error(read.message)
const running = await start(read.settings)
const browser = await startBrowser()
await mkdir(folder, { recursive: true })
try {
  const checkout = await checkoutPath(running.url)
  const made: Shot[] = [
    { name: 'checkout', path: checkout },
    { name: 'checkout-de', path: `${checkout}?lang=de` },
    { name: 'operator', path: `${running.operator_url ?? ''}/operator` },
  ]
  for (const page of [...PAGES, ...made]) {
    for (const viewport of SIZES) for (const colorScheme of SCHEMES) await shoot(browser, page, viewport, colorScheme)
  }
} finally {
  await browser.close()
  await running.stop()
  await rm(data_dir, { recursive: true, force: true })
}

async function shoot(
  shown: Browser,
  { name, path, click, until, spoil }: Shot,
  viewport: (typeof SIZES)[number],
  colorScheme: (typeof SCHEMES)[number],
): Promise<void> {
  const context = await shown.newContext({ viewport, colorScheme, deviceScaleFactor: 1 })
  const page = await context.newPage()
  // The checkout keeps a connection open.
  await page.goto(new URL(path, running.url).href, { waitUntil: path.startsWith('/pay/') ? 'load' : 'networkidle' })
  if (spoil !== undefined) {
    const [field, from, to] = spoil
    await page.fill(`[name=${field}]`, (await page.inputValue(`[name=${field}]`)).replace(from, to))
  }
  if (click !== undefined) await page.click(click)
  if (until !== undefined) await page.waitForSelector(until)
  const file = join(folder, `${name}-${viewport.width}-${colorScheme}.png`)
  await page.screenshot({ path: file, animations: 'disabled' })
  await context.close()
  const { size } = await stat(file)
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes; at most ${MOST_BYTES} are kept`)
}
