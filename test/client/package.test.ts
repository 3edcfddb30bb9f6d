/** The published package: built, packed, unpacked beside its dependencies alone, and used by Node, the compiler and a browser. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, normalize } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildPackage } from '../../scripts/support/package-folder.ts'
import { TEST_VECTOR } from '../../src/pure/receipts/receipt.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser } from '../support/browser.ts'

/** The service answers from this very process, so nothing may stop it. */
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What a user of the package writes; it prints one line. Valid and invalid IBAN: ISO 13616 and one digit changed. */
const USE = `
import { checkIban, isIban } from 'assay/checks'
import { createClient, AssayError } from 'assay/client'
import { verifyReceipt } from 'assay/receipts'

export async function use(url, vector) {
  const client = createClient({ url })
  const answer = await client.call('iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' })
  const next = await client.call('isbn-check', { isbn: '978-0-306-40615-7' })
  const failed = await client.callUntyped('no-such-tool', {}).catch((error) => error)
  return [
    checkIban('GB82 WEST 1234 5698 7654 32').valid,
    isIban('GB83 WEST 1234 5698 7654 32'),
    verifyReceipt(vector.receipt).digest === vector.digest,
    answer.result.valid && answer.verification.ok,
    next.chain.prev_receipt_hash === answer.receipt_hash,
    failed instanceof AssayError && failed.code,
  ]
}
`
const EXPECTED = [true, false, true, true, true, 'TOOL_NOT_FOUND']

let folder: string
let app: TestApp

before(async () => {
  app = await startTestApp()
  folder = await mkdtemp(join(tmpdir(), 'assay-package-'))
  await buildPackage(join(folder, 'built'))
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(folder, 'built'), encoding: 'utf8' })
  await mkdir(join(folder, 'node_modules/assay'), { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.trim()), '--strip-components=1', '-C', join(folder, 'node_modules/assay')])
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/assay/package.json'), 'utf8')) as { dependencies: object }
  for (const name of Object.keys(manifest.dependencies)) {
    await cp(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
  await writeFile(join(folder, 'use.mjs'), USE)
})
after(async () => {
  await app.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Every Node of this machine, once. The one that runs this test is always among them. */
function nodes(): string[] {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'node'))
  return [...new Set([process.execPath, ...places.filter((place) => existsSync(place))].map((place) => realpathSync(place)))]
}

test('the three entries work in Node, with nothing of the service beside them', async () => {
  const main = `import { use } from './use.mjs'\nconsole.log(JSON.stringify(await use(process.argv[2], JSON.parse(process.argv[3]))))`
  await writeFile(join(folder, 'main.mjs'), main)
  for (const node of nodes()) {
    const { stdout } = await run(node, ['main.mjs', app.url, JSON.stringify(TEST_VECTOR)], { cwd: folder })
    assert.deepEqual(JSON.parse(stdout), EXPECTED, node)
  }
})

test('its types stand alone, and know each tool', async () => {
  const good = `import { createClient, type Signer } from 'assay'
import { checkIban, type Check } from 'assay/checks'
import { verifyReceipt } from 'assay/receipts'
declare const signer: Signer
const client = createClient({ url: 'https://assay.example', signer, spend_cap: { per_call_usdc: '0.05', session_usdc: '1' } })
export const check: Check<unknown> = checkIban('')
export const valid: boolean = verifyReceipt({}).valid
export const iban: Promise<boolean> = client.call('iban-check', { iban: '' }).then(({ result }) => result.valid)
`
  const bad = `import { createClient } from 'assay'
export const wrong = createClient({ url: '' }).call('iban-check', { number: '' })
`
  await writeFile(join(folder, 'good.mts'), good)
  await writeFile(join(folder, 'bad.mts'), bad)
  const tsc = (file: string, ...more: string[]) => {
    const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '', ...more, file]
    return run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...strict], { cwd: folder })
  }
  await tsc('good.mts', '--module', 'nodenext')
  await tsc('good.mts', '--module', 'esnext', '--moduleResolution', 'bundler')
  await assert.rejects(tsc('bad.mts', '--module', 'nodenext'), ({ stdout }: { stdout: string }) => /'number' does not exist/.test(stdout))
})

/** The folder over HTTP, as a static host would serve it. */
async function serveFolder(): Promise<Server> {
  const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', mjs: 'text/javascript' }
  const map = {
    'assay/': '/node_modules/assay/src/client/',
    'assay/client': '/node_modules/assay/src/client/index.js',
    'assay/checks': '/node_modules/assay/src/client/checks.js',
    'assay/receipts': '/node_modules/assay/src/pure/receipts/index.js',
    '@noble/curves/': '/node_modules/@noble/curves/',
    '@noble/hashes/': '/node_modules/@noble/hashes/',
    'iso-3166/': '/node_modules/iso-3166/',
    'libphonenumber-js/max': '/node_modules/libphonenumber-js/max/index.js',
  }
  const page = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports: map })}</script>`
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname))
    if (path === '/') return void response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    readFile(join(folder, path)).then(
      (bytes) => response.writeHead(200, { 'content-type': types[path.split('.').at(-1) ?? ''] ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

test('the same in a browser, from another origin, without a bundler', async () => {
  const server = await serveFolder()
  const browser = await startBrowser()
  try {
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`http://127.0.0.1:${address.port}/`)
    const script = `import('/use.mjs').then(({ use }) => use(${JSON.stringify(app.url)}, ${JSON.stringify(TEST_VECTOR)}))`
    assert.deepEqual(await page.evaluate(script), EXPECTED)
    assert.deepEqual(complaints, [])
  } finally {
    await browser.close()
    server.close()
    server.closeAllConnections()
  }
})

test('the package holds no more than it says, and asks for no more than it imports', async () => {
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/assay/package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const own = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  assert.deepEqual(Object.keys(manifest.dependencies), ['@noble/curves', '@noble/hashes', 'iso-3166', 'libphonenumber-js'])
  for (const [name, version] of Object.entries(manifest.dependencies)) assert.equal(version, own.dependencies[name])
  assert.ok(dirname(folder) !== ROOT && !existsSync(join(folder, 'node_modules/assay/src/service')))
})
