/** Response headers by which browsers protect their users: on pages, on the interface for programs, and over https alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonHeaders } from '../../src/surfaces/http/reply.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

const HSTS = 'strict-transport-security'
const YEAR_S = 365 * 24 * 3_600

async function served(settings: Record<string, string>, work: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await startTestApp({ settings })
  try {
    await work(app)
  } finally {
    await app.stop()
  }
}

const page = (app: TestApp, path: string) => fetch(app.url + path, { headers: { accept: 'text/html' } })

async function invoicePage(app: TestApp): Promise<string> {
  const body = JSON.stringify({ amountUsdc: '2.00', merchant: `0x${'1'.repeat(40)}` })
  const made = (await (await fetch(`${app.url}/api/invoice/create`, { method: 'POST', body })).json()) as { invoice_id: string }
  return `/pay/${made.invoice_id}`
}

const PAGES = [
  '/',
  '/tools/iban-check',
  '/tools/no-such-tool',
  '/verify',
  '/docs',
  '/docs/nowhere',
  '/preflight',
  '/reconcile',
  '/merchant',
  '/status',
  '/x/y',
]

// attack: windows that keep a handle on a page, framing
// in: browsers and names
// asset: a reader of pages
// attacker: web page
// defence: `Cross-Origin-Opener-Policy: same-origin`, `frame-ancestors 'none'`
test('every page keeps windows of other origins out, and asks for no device', () =>
  served({}, async (app) => {
    for (const path of [...PAGES, await invoicePage(app), '/pay/inv_unknown']) {
      const { headers } = await page(app, path)
      assert.match(headers.get('content-type') ?? '', /^text\/html/, path)
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path)
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.* frame-ancestors 'none'/, path)
      assert.match(headers.get('permissions-policy') ?? '', /camera=\(\).*geolocation=\(\).*microphone=\(\).*payment=\(\).*usb=\(\)/, path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
      // Over plain http, where a browser must not be told to come back over https alone (RFC 6797, 7.2).
      assert.equal(headers.get(HSTS), null, path)
    }
  }))

test('answers for programs stay open to other origins', () =>
  served({}, async (app) => {
    const { headers } = await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' })
    for (const found of [headers, (await fetch(`${app.url}/v1/tools`)).headers]) {
      assert.equal(found.get('access-control-allow-origin'), '*')
      assert.equal(found.get('cross-origin-resource-policy'), 'cross-origin')
      assert.equal(found.get('cross-origin-opener-policy'), null)
      assert.equal(found.get(HSTS), null)
    }
  }))

// attack: downgrade to plain http
// in: browsers and names
// asset: a reader of pages
// attacker: network
// defence: HSTS where every public origin is https, and only there
test('every answer has HSTS where every public origin is https', () => {
  const names = ['ASSAY_BASE_URL', 'ASSAY_API_URL', 'ASSAY_SITE_URL', 'ASSAY_MCP_URL']
  const settings = Object.fromEntries(names.map((name) => [name, 'https://assay.example']))
  return served(settings, async (app) => {
    const call = await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' })
    const others = await Promise.all(['/', '/health', '/v1/tools', '/nowhere'].map((path) => page(app, path)))
    for (const { headers } of [call, ...others]) assert.equal(headers.get(HSTS), `max-age=${YEAR_S}`)
  })
})

// attack: downgrade to plain http
test('no HSTS where one public origin is plain http or localhost', () => {
  const secure = 'https://assay.example'
  const all = (url: string) => ({ base_url: url, api_url: url, site_url: url, mcp_url: url })
  assert.equal(commonHeaders(null, all(secure))[HSTS], `max-age=${YEAR_S}`)
  for (const name of ['base_url', 'api_url', 'site_url', 'mcp_url'] as const) {
    for (const origin of ['http://assay.example', 'https://localhost', 'https://localhost:8402', 'https://assay.localhost', '']) {
      assert.equal(commonHeaders(null, { ...all(secure), [name]: origin })[HSTS], undefined, `${name} ${origin}`)
    }
  }
  assert.equal(commonHeaders(null, all('https://localhost.example'))[HSTS], `max-age=${YEAR_S}`)
})
