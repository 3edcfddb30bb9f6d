/**
 * The published package: built, packed, installed by npm in a fresh folder, and used as a command, by Node, by the compiler and in a browser. The
 * registry is one on this machine.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, normalize } from 'node:path'
import { after, before, test } from 'node:test'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { buildMcpb } from '../../scripts/support/mcpb.ts'
import { buildPackage } from '../../scripts/support/package-folder.ts'
import { TEST_VECTOR } from '../../src/pure/receipts/receipt.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser } from '../support/browser.ts'
import { asMembers } from '../support/documents.ts'
import { startRegistry } from '../support/local-registry.ts'

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

let home: string
/** A project with the whole package. */
let folder: string
let app: TestApp
let registry: Awaited<ReturnType<typeof startRegistry>>

before(async () => {
  app = await startTestApp()
  home = await mkdtemp(join(tmpdir(), 'assay-package-'))
  await buildPackage(join(home, 'built'))
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', home], { cwd: join(home, 'built'), encoding: 'utf8' })
  const manifest = await manifestIn(join(home, 'built'))
  registry = await startRegistry(join(home, packed.trim()), manifest)
  folder = await installed('whole')
  await writeFile(join(folder, 'use.mjs'), USE)
})
after(async () => {
  await app.stop()
  await registry.stop()
  await rm(home, { recursive: true, force: true })
})

interface PackedManifest {
  name: string
  version: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

async function manifestIn(place: string): Promise<PackedManifest> {
  return JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as PackedManifest
}

/** A machine on which only npm and this Node are known: its own cache, settings of nobody, and the registry of this test. */
function machine(): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    npm_config_registry: registry.url,
    npm_config_cache: join(home, 'cache'),
    npm_config_userconfig: join(home, 'npmrc'),
    npm_config_update_notifier: 'false',
    npm_config_fetch_timeout: '60000',
    ASSAY_DATA_DIR: join(home, 'data'),
  }
}

async function installed(name: string, ...options: string[]): Promise<string> {
  const place = join(home, name)
  await mkdir(place)
  await writeFile(join(place, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--no-audit', '--no-fund', ...options, 'assay'], { cwd: place, env: machine() })
  return place
}

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }

async function callWithNpx(place: string, ...options: string[]): Promise<Record<string, unknown>> {
  const env = { ...machine(), npm_config_omit: 'optional' }
  const { stdout } = await run('npx', [...options, 'assay', 'call', 'iban-check', JSON.stringify(IBAN)], { cwd: place, env })
  return JSON.parse(stdout) as Record<string, unknown>
}

test('npx runs the command in an empty folder, and in a project without the packages of the service', async () => {
  const empty = join(home, 'empty')
  await mkdir(empty)
  assert.equal(asMembers((await callWithNpx(empty, '--yes'))['result'])['valid'], true)
  const light = await installed('light', '--omit=optional')
  assert.equal(asMembers((await callWithNpx(light))['result'])['valid'], true)
  for (const command of [['tools'], ['keys', 'list'], ['invoice', 'reconcile', '--help']])
    await run('npx', ['assay', ...command], { cwd: light, env: machine() })
  await assert.rejects(run('npx', ['assay', 'serve'], { cwd: light, env: machine() }), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /needs the package .*--omit=optional/)
    return error.code === 78
  })
})

test('an MCP client starts it with npx, and calls a tool', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({ command: 'npx', args: ['assay', 'mcp', '--small'], cwd: folder, env: machine(), stderr: 'ignore' }),
  )
  try {
    const { structuredContent } = await client.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN } })
    assert.equal(asMembers(asMembers(structuredContent)['result'])['valid'], true)
  } finally {
    await client.close()
  }
})

test('the service starts from it, and its pages load their modules', async () => {
  const env = { ...machine(), ASSAY_PORT: '0', ASSAY_ADMIN_PORT: 'off' }
  const child = spawn(process.execPath, ['node_modules/assay/assay.js', 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const output: NodeJS.ReadableStream[] = [child.stdout, child.stderr]
    const found = output.map(async (stream) => {
      for await (const line of createInterface({ input: stream })) {
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
        if (url !== undefined) return url
      }
      return Promise.reject(new Error('it ended'))
    })
    const url = await Promise.any(found)
    child.stdout.resume()
    child.stderr.resume()
    const pages = ['/', '/verify', '/reconcile', '/tools/iban-check']
    const texts = await Promise.all(pages.map(async (path) => (await fetch(url + path, { headers: { accept: 'text/html' } })).text()))
    const paths = new Set(texts.flatMap((text) => [...text.matchAll(/\/assets\/[\w./@-]+/g)].map(([path]) => path)))
    assert.ok(paths.size > 30, String(paths.size))
    for (const path of paths) assert.equal((await fetch(url + path)).status, 200, path)
  } finally {
    child.kill()
    await once(child, 'close')
  }
})

/** Every Node of this machine, once. The one that runs this test is always among them. */
function nodes(): string[] {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'node'))
  return [...new Set([process.execPath, ...places.filter((place) => existsSync(place))].map((place) => realpathSync(place)))]
}

test('the three entries work in Node', async () => {
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
export const word: Promise<string> = client.call('iban-check', { iban: '' }, { detail: 'brief' }).then(({ headline }) => headline.word)
const short = createClient({ url: 'https://assay.example', detail: 'brief' })
export const whole: Promise<boolean> = short.call('iban-check', { iban: '' }).then((brief) => short.whole(brief)).then(({ result }) => result.valid)
export const standard: Promise<boolean> = short.call('iban-check', { iban: '' }, { detail: 'full' }).then(({ result }) => result.valid)
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
    'libphonenumber-js/core': '/node_modules/libphonenumber-js/core/index.js',
    'libphonenumber-js/max/metadata': '/node_modules/libphonenumber-js/metadata.max.json.js',
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

test('the package asks for the versions of this repository, and has no sources, tests or keys', async () => {
  const [manifest, own] = await Promise.all([manifestIn(join(folder, 'node_modules/assay')), manifestIn(ROOT)])
  const known = { ...own.dependencies, ...own.optionalDependencies }
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    assert.equal(version, known[name], name)
  const listed = execFileSync('tar', ['-tzf', join(home, `assay-${manifest.version}.tgz`)], { encoding: 'utf8' })
    .trim()
    .split('\n')
  // A README of data names its sources and licences.
  const known_kinds =
    /^package\/(?:(?:src|data)\/[\w./-]+\.(?:js|d\.ts|css|svg|xml|json|LICENSE)|docs\/guide\/[\w-]+\.md|data\/[\w-]+\/README\.md|package\.js(?:on)?|assay\.(?:js|1)|README\.md|LICENSE)$/
  assert.deepEqual(
    listed.filter((path) => !known_kinds.test(path)),
    [],
  )
})

test('the extension for Claude Desktop unpacks and starts as its manifest says, and keeps its keys in the home of the user', async () => {
  const archive = join(home, 'assay.mcpb')
  await buildMcpb('assay', join(home, 'bundle'), archive, machine())
  const place = join(home, 'extension')
  execFileSync('unzip', ['-q', archive, '-d', place])
  const manifest = asMembers(JSON.parse(await readFile(join(place, 'manifest.json'), 'utf8')))
  const { version } = await manifestIn(ROOT)
  assert.deepEqual([manifest['manifest_version'], manifest['name'], manifest['version']], ['0.3', 'assay', version])
  const { type, entry_point, mcp_config } = asMembers(manifest['server'])
  assert.ok(type === 'node' && existsSync(join(place, String(entry_point))))
  const { command, args, env } = mcp_config as { command: string; args: string[]; env: Record<string, string> }
  assert.equal(command, 'node')
  const put = (text: string) => text.replace('${__dirname}', place).replace('${HOME}', home)
  const client = new Client({ name: 'test', version: '1.0.0' })
  const settings = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, put(value)]))
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: args.map(put), env: settings, cwd: '/', stderr: 'ignore' }),
  )
  try {
    const names = (await client.listTools()).tools.map(({ name }) => name)
    for (const { name } of manifest['tools'] as { name: string }[]) assert.ok(names.includes(name), name)
    const answer = await client.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN } })
    assert.equal(asMembers(asMembers(answer.structuredContent)['result'])['valid'], true)
    assert.ok(existsSync(join(home, '.assay/receipt-keys.json')))
  } finally {
    await client.close()
  }
})

test('an older Node is named, with the version that is needed', async () => {
  const old = nodes().filter((node) => /^v(?:1\d|2[01])\./.test(execFileSync(node, ['--version'], { encoding: 'utf8' })))
  for (const node of old) {
    await assert.rejects(
      run(node, ['node_modules/assay/assay.js', 'tools'], { cwd: folder }),
      (error: { code: number; stderr: string }) => {
        assert.match(error.stderr, /Node\.js 22\.15 or later is needed/)
        return error.code === 78
      },
    )
  }
})
