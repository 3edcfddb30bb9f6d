import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { after, before, test } from 'node:test'
import { assetPath, assets } from '../../src/surfaces/pages/assets.ts'
import { homePage } from '../../src/surfaces/pages/home.ts'
import { toolPage } from '../../src/surfaces/pages/routes.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' })

const toolIds = () => app.running.app.deps.call.catalogue.tools.map(({ id }) => id)

/** Markup with anything in it that a browser would run or style in place, or fetch from elsewhere. */
const INLINE = /<script(?![^>]*\ssrc="\/)[^>]*>|<style|\sstyle=|\son\w+=|javascript:|(?:src|href)="(?:https?:)?\/\//i

function assertPage(page: string, response: Response, path: string): void {
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8', path)
  assert.match(page, /^<!doctype html>\n<html lang="en">/, path)
  assert.match(page, /<p class="mark" role="note"><span>SANDBOX: /, path)
  assert.doesNotMatch(page, INLINE, path)
  const policy = new Map((response.headers.get('content-security-policy') ?? '').split('; ').map((rule) => [rule.split(' ')[0], rule]))
  assert.equal(policy.get('default-src'), "default-src 'none'", path)
  for (const name of ['script-src', 'style-src', 'img-src', 'connect-src']) assert.equal(policy.get(name), `${name} 'self'`, path)
  assert.equal(policy.get('form-action'), "form-action 'self'", path)
  for (const name of ['base-uri', 'frame-ancestors']) assert.equal(policy.get(name), `${name} 'none'`, path)
}

test('every page is HTML with nothing inline and nothing from elsewhere', async () => {
  for (const path of ['/', '/verify', '/problems', '/problems/PAYMENT_REQUIRED', ...toolIds().map((id) => `/tools/${id}`)]) {
    const response = await get(path)
    assert.equal(response.status, 200, path)
    assertPage(await response.text(), response, path)
  }
})

test('every tool page asks for every field of its input', async () => {
  const { catalogue } = app.running.app.deps.call
  for (const tool of catalogue.tools) {
    const page = await (await get(`/tools/${tool.id}`)).text()
    for (const name of Object.keys(tool.input.shape))
      assert.match(page, new RegExp(`<(?:input|textarea|select)\\s[^>]*id="field-${name}"\\s+name="${name}"`), tool.id)
    assert.ok(page.includes(`/v1/tools/${tool.id}/call`), tool.id)
  }
})

test('an address that has its own page elsewhere leads there', async () => {
  const alias = await get('/tools/iban_check')
  assert.deepEqual([alias.status, alias.headers.get('location')], [308, '/tools/iban-check'])
  const list = await get('/tools')
  assert.deepEqual([list.status, list.headers.get('location')], [308, '/#tools'])
})

test('a page is asked for again by its tag', async () => {
  for (const path of ['/verify', '/tools/iban-check']) {
    const etag = (await get(path)).headers.get('etag') ?? ''
    assert.equal((await get(path, { 'if-none-match': etag })).status, 304, path)
  }
})

test('an unknown tool has a page that does not repeat its name', async () => {
  for (const name of [
    'ibn-check',
    '%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    '%22onload%3D%22x',
    '__proto__',
    'constructor',
    '..%2f..%2fpackage.json',
  ]) {
    const response = await get(`/tools/${name}`)
    assert.equal(response.status, 404, name)
    const page = await response.text()
    assertPage(page, response, name)
    assert.ok(!page.includes(decodeURIComponent(name)), name)
  }
  assert.match(await (await get('/tools/ibn-check')).text(), /Did you mean <a href="\/tools\/iban-check">/)
})

test('an address that nothing has is a page too', async () => {
  const response = await get('/nowhere')
  assert.equal(response.status, 404)
  assertPage(await response.text(), response, '/nowhere')
})

test('words of a tool are text on its page and on the first page', async () => {
  const { deps } = app.running.app
  const bait = '"><img src=x onerror=alert(1)><script>alert(1)</script>&amp;'
  const tool = deps.call.catalogue.find('iban-check')
  assert.ok(tool !== undefined)
  const hostile = { ...tool, title: bait, description: bait, example: { iban: bait }, scope: { checked: [bait], not_checked: [bait] } }
  const catalogue = { ...deps.call.catalogue, tools: [hostile], find: () => hostile }
  for (const page of [await toolPage(deps, hostile, null), await homePage({ ...deps, call: { ...deps.call, catalogue } }, null)]) {
    assert.ok(/&lt;img src=x onerror=alert\(1\)(?:&gt;|>)/.test(page) && page.includes('&amp;amp;'))
    assert.doesNotMatch(page, /<img|<script>/)
  }
})

/** Addresses of the files that a page loads. */
async function assetsOf(path: string): Promise<string[]> {
  return [...(await (await get(path)).text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, address]) => String(address))
}

test('what pages load is kept for good, and every import of a module is served', async () => {
  const addresses = new Set([...(await assetsOf('/tools/iban-check')), ...(await assetsOf('/merchant'))])
  assert.ok(addresses.size > 20)
  for (const address of addresses) {
    const response = await get(address)
    assert.equal(response.status, 200, address)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable', address)
    const text = await response.text()
    if (!/\.[jt]s$/.test(address)) continue
    assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8', address)
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export) [^'"();]+ from '([^']+)'/gm)) {
      assert.match(specifier, /^\.\.?\//, `${address} imports ${specifier}`)
      assert.ok(addresses.has(posix.join(posix.dirname(address), specifier)), `${address} imports ${specifier}`)
    }
  }
})

test('only those files are served, and under another version they are not kept', async () => {
  const style = (await assetsOf('/')).find((address) => address.endsWith('style.css')) ?? ''
  const version = style.split('/')[2] ?? ''
  const closed = ['package.json', 'main.ts', 'pure/checks/iban.ts', 'surfaces/pages/assets.ts', 'pure/receipts', 'vendor/hono/package.json']
  const climbing = [
    '../package.json',
    '..%2f..%2fpackage.json',
    '%2e%2e/main.ts',
    'pure/receipts/..%2f..%2fmain.ts',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    '__proto__',
  ]
  for (const path of [...closed, ...climbing]) assert.equal((await get(`/assets/${version}/${path}`)).status, 404, path)
  const old = await get(style.replace(version, '000000000000'))
  assert.deepEqual([old.status, old.headers.get('cache-control')], [200, 'no-store'])
})

test('the receipts room is served as it lies, types blanked out and packages named by path', async () => {
  const served = [...assets().files.keys()].filter((path) => path.startsWith('pure/receipts/')).map(assetPath)
  assert.ok(served.length >= 8)
  for (const address of served) {
    const file = address.split('/').slice(3).join('/')
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
    const text = (await (await get(address)).text()).replaceAll('../../vendor/@noble/', '@noble/')
    assert.equal(text.length, source.length, file)
    // Node leaves a semicolon where a blanked line could be taken for a part of the one before.
    for (let index = 0; index < text.length; index++)
      assert.ok(text[index] === source[index] || /[\s;]/.test(text[index] ?? ''), `${file} at ${index}`)
  }
})
