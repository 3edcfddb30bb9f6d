import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type BrowserServer, type LaunchOptions, type Page } from 'playwright-core'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))

// The arguments that the package proposes turn web security off.
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']

/** Where the browser of the whole run listens, when there is one (shared-parts.ts). */
export const SHARED_BROWSER = 'TEST_BROWSER'

/** A real headless Chromium: that of the whole run, or one of the caller's own. */
export async function startBrowser(): Promise<Browser> {
  const shared = process.env[SHARED_BROWSER]
  return shared === undefined ? chromium.launch(await launchOptions()) : chromium.connect(shared)
}

export async function launchBrowserServer(): Promise<BrowserServer> {
  // A signal ends the run at once; the browser ends with its pipe.
  return chromium.launchServer({ ...(await launchOptions()), handleSIGTERM: false })
}

/** On Linux x64 the browser that npm installed, elsewhere an installed Chrome. */
async function launchOptions(): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { args: ARGUMENTS, channel: 'chrome' }
  const folder = await unpacked()
  // A bare machine has neither its libraries nor a font.
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') }
  const env = { ...process.env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), ...fonts }
  return { args: ARGUMENTS, executablePath: join(folder, 'chromium'), env }
}

/**
 * The folder of the unpacked browser. The package unpacks into the temporary folder and takes whatever lies there for its own, even half
 * written; so it gets a folder of its own, which is moved into place once it is whole.
 */
async function unpacked(): Promise<string> {
  const { default: bundle, inflate } = await import('@sparticuz/chromium')
  const root = new URL('../', import.meta.resolve('@sparticuz/chromium'))
  const { version } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as { version: string }
  const kept = join(CACHE, `chromium-${version}`)
  if (existsSync(kept)) return kept
  await mkdir(CACHE, { recursive: true })
  const fresh = await mkdtemp(`${kept}-`)
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = fresh
  try {
    await bundle.executablePath()
    await inflate(fileURLToPath(new URL('bin/al2023.tar.br', root)))
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  // Whoever was first has put the same files there.
  await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }))
  return kept
}

export interface Visit {
  page: Page
  /** What no page may do: errors on the console or in scripts, and requests to other origins. */
  complaints: string[]
  close(): Promise<void>
}

/** A page in a context of its own, watched from the first request on. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() !== 'log' && complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => new URL(request.url()).origin !== new URL(url).origin && complaints.push(`asked ${request.url()}`))
  await page.goto(url)
  return { page, complaints, close: () => context.close() }
}
