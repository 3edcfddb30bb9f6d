import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Ajv } from 'ajv'
import { limits } from '../../src/service/limits.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import { reverseDomain } from '../../src/surfaces/discovery/documents.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asList, at, readJson } from '../support/documents.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const DOCUMENTS: Record<string, string> = {
  '/': 'application/json',
  '/openapi.json': 'application/json',
  '/llms.txt': 'text/plain',
  '/llms-full.txt': 'text/plain',
  '/.well-known/agent-card.json': 'application/json',
  '/.well-known/agent.json': 'application/json',
  '/robots.txt': 'text/plain',
  '/problems': 'application/json',
  '/problems/PARSE_ERROR': 'application/json',
  '/.well-known/mcp.json': 'application/json',
  '/.well-known/server.json': 'application/json',
  '/.well-known/x402.json': 'application/json',
  '/.well-known/x402-errors.json': 'application/json',
  '/.well-known/x402-schema.json': 'application/schema+json',
  '/.well-known/xdr-1.json': 'application/json',
  '/.well-known/did.json': 'application/did+json',
}

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => fetch(`${app.url}${path}`, { method, headers })

test('every document is open, cacheable and checked by its tag', async () => {
  for (const [path, type] of Object.entries(DOCUMENTS)) {
    const response = await get(path)
    const body = await response.text()
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), `${type}; charset=utf-8`, path)
    // Prices move, and this document shows them.
    const kept = path === '/.well-known/x402.json' ? 'no-cache' : 'public, max-age=60'
    assert.equal(response.headers.get('cache-control'), kept, path)
    assert.equal(response.headers.get('access-control-allow-origin'), '*', path)
    const etag = response.headers.get('etag') ?? ''
    assert.match(etag, /^W\/"[0-9a-f]+"$/, path)
    assert.equal(await (await get(path)).text(), body, `${path} changes between two looks`)
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const unchanged = await get(path, { 'if-none-match': known })
      assert.equal(unchanged.status, 304, `${path} with ${known}`)
      assert.equal(unchanged.headers.get('etag'), etag, path)
      assert.equal(await unchanged.text(), '', path)
    }
    assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200, path)
  }
})

test('HEAD gives the headers of GET without its body', async () => {
  for (const [path, type] of Object.entries(DOCUMENTS)) {
    const response = await get(path, {}, 'HEAD')
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), `${type}; charset=utf-8`, path)
    assert.equal(response.headers.get('etag'), (await get(path)).headers.get('etag'), path)
    assert.equal(await response.text(), '', path)
  }
})

test('the agent cards name an endpoint that answers', async () => {
  for (const path of ['/.well-known/agent.json', '/.well-known/agent-card.json']) {
    const url = at(await readJson(`${app.url}${path}`), 'url')
    const asked = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'unknown' } }
    const answer = await fetch(String(url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    assert.equal(at(await answer.json(), 'error', 'code'), -32001, path)
  }
})

/** By RFC 9110 §12.5.1 the more specific range gives the weight; where both weigh the same, JSON is usual and what is named closer is wanted. */
const JSON_WANTED = [
  '*/*',
  'application/json',
  'application/json, text/html;q=0.9',
  'text/html;q=0.9, application/json',
  'text/html;q=0',
  'image/png',
  'text/html;q=0.1, */*;q=0.5',
  '*/*, TEXT/html;q=0.5',
  'text/*, text/html;q=0.2, */*;q=0.3',
  'text/html, application/json',
  'application/json, text/plain, */*',
  'text/html;q=0, */*',
]
const PAGE_WANTED = [
  BROWSER,
  'text/html',
  'TEXT/HTML',
  'text/*',
  'application/json;q=0.5, text/html',
  'application/json;q=0.1, */*;q=0.5',
  'text/html, application/xhtml+xml, */*',
  '*/*;q=0.5, text/*;q=0.6',
]

test('/ is JSON for programs and a page for browsers', async () => {
  for (const accept of JSON_WANTED) {
    const response = await get('/', { accept })
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8', accept)
    assert.equal(response.headers.get('vary'), 'Accept, Accept-Encoding')
  }
  for (const accept of PAGE_WANTED) {
    const response = await get('/', { accept })
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8', accept)
    assert.equal(response.headers.get('vary'), 'Accept, Accept-Encoding')
  }
})

test('every link of / leads somewhere', async () => {
  const index = await readJson(`${app.url}/`)
  assert.deepEqual([index['name'], index['mode']], ['assay', 'sandbox'])
  const urls = asList(index['links']).map(({ url }) => String(url))
  for (const url of urls.filter((one) => !one.endsWith('/mcp'))) assert.equal((await fetch(url)).status, 200, url)
  assert.ok(urls.includes(`${app.url}/mcp`))
  const page = await (await get('/', { accept: BROWSER })).text()
  const hrefs = [...page.matchAll(/href="([^"]+)"/g)].map(([, href]) => String(href))
  assert.ok(hrefs.length > urls.length)
  for (const href of hrefs) assert.equal((await get(href)).status, 200, href)
})

test('pages of documents say SANDBOX, run nothing inline and load nothing but what this origin serves', async () => {
  for (const path of ['/problems', '/problems/PAYMENT_REQUIRED']) {
    const response = await get(path, { accept: BROWSER })
    const page = await response.text()
    assert.match(page, /^<!doctype html>\n<html lang="en">/, path)
    assert.match(page, /<p class="mark" role="note"><span>SANDBOX: /, path)
    assert.doesNotMatch(page, /<script(?! type="module" src="\/assets\/)|<style|<img|\bstyle="|\bon\w+=|javascript:|https?:\/\//, path)
    assert.ok(
      (response.headers.get('content-security-policy') ?? '').startsWith("default-src 'none'; script-src 'self'; style-src 'self';"),
      path,
    )
  }
})

test('each problem has a page where its bodies point, for programs and for people', async () => {
  const refused = await restCall(app.url, 'no-such-tool', {})
  const entry = await readJson(String(refused.body['type']))
  assert.deepEqual([entry['code'], entry['http_status']], ['TOOL_NOT_FOUND', refused.status])
  for (const [code, kind] of Object.entries(PROBLEMS)) {
    const found = await readJson(`${app.url}/problems/${code}`)
    assert.deepEqual([found['code'], found['http_status'], found['title']], [code, kind.status, kind.title])
    assert.equal(found['type'], `${app.url}/problems/${code}`)
    const page = await (await get(`/problems/${code}`, { accept: BROWSER })).text()
    assert.ok(page.includes(`<code>${code}</code>`) && page.includes(`HTTP ${kind.status}<`), code)
  }
})

test('an address that nothing has is a page for browsers and a problem for programs, and its name does not come back', async () => {
  const names = ['nope', 'toString', '__proto__', '%3Cscript%3E', 'parse_error']
  for (const path of [
    ...names.map((name) => `/problems/${name}`),
    ...names.map((name) => `/${name}`),
    '/v1/nope',
    '/badge/nope/nope/nope.svg',
  ]) {
    const page = await get(path, { accept: BROWSER })
    const text = await page.text()
    assert.deepEqual([page.status, page.headers.get('vary')], [404, 'Accept'], path)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path)
    assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/, path)
    assert.match(text, /<h1>Page not found<\/h1>/, path)
    for (const name of names) assert.ok(!text.includes(name) && !text.includes(decodeURIComponent(name)), name)
    for (const accept of ['*/*', 'application/json']) {
      const refused = await get(path, { accept })
      assert.deepEqual([refused.status, refused.headers.get('vary')], [404, 'Accept'], path)
      assert.equal(at(await refused.json(), 'code'), 'NOT_FOUND', path)
    }
    for (const accept of [BROWSER, '*/*']) {
      const head = await get(path, { accept }, 'HEAD')
      assert.deepEqual(
        [head.status, head.headers.get('content-type')],
        [404, (await get(path, { accept })).headers.get('content-type')],
        path,
      )
    }
  }
  // Nobody reads the answer to a form or to a method that is not there.
  assert.equal((await get('/nope', { accept: BROWSER }, 'POST')).headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.equal((await get('/api/invoice/create', { accept: BROWSER })).status, 405)
})

test('llms.txt has the form of llmstxt.org, names every tool and has at most 3,000 bytes', async () => {
  const text = await (await get('/llms.txt')).text()
  const [title, summary] = text.split('\n\n')
  assert.equal(title, '# assay')
  assert.match(summary ?? '', /^> SANDBOX: .+/)
  const [details = '', ...sections] = text.split(/^## /m)
  assert.equal(details.match(/^#/gm)?.length, 1, 'no heading between the title and the lists')
  const lines = sections.flatMap((section) => section.trim().split('\n').slice(2))
  for (const line of lines) assert.match(line, /^- \[[^\]]+\]\(http:[^)\s]+\): \S.*$/)
  const linked = lines.map((line) => /\]\(([^)]+)\)/.exec(line)?.[1] ?? '')
  for (const url of linked) assert.equal((await fetch(url)).status, 200, url)
  const tools = asList(at(await readJson(`${app.url}/v1/tools`), 'tools'))
  const named = (lines[0] ?? '').split(/[:;,] /).filter((word) => tools.some(({ id }) => id === word))
  assert.deepEqual(named.toSorted(), tools.map(({ id }) => String(id)).toSorted())
  assert.ok(Buffer.byteLength(text) <= 3_000, `${Buffer.byteLength(text)} bytes`)
  assert.ok(details.includes(`${app.url}/mcp`))
  assert.match(details, /does not prove that money moved/)
})

test('the call in llms.txt runs as it stands', async () => {
  const text = await (await get('/llms.txt')).text()
  const [, url = '', body = ''] = /^curl -s (\S+) -d '(.+)'$/m.exec(text) ?? []
  // curl -d says that it sends a form.
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  assert.equal(response.status, 200)
  assert.equal(at(await response.json(), 'result', 'valid'), true)
})

/**
 * Rules of server.schema.json of 2025-12-11 for the members that the entry has, written down from the repository modelcontextprotocol/static,
 * commit 12022abc (read 2026-11-26). Stricter: it has no other members, and a version of three numbers, as the registry's guide asks.
 */
const REGISTRY_ENTRY = {
  type: 'object',
  additionalProperties: false,
  required: ['$schema', 'name', 'description', 'version', 'remotes'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$', maxLength: 255 },
    websiteUrl: { type: 'string', format: 'uri' },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'url'],
        properties: { type: { const: 'streamable-http' }, url: { type: 'string', format: 'uri' } },
      },
    },
  },
}

test('server.json keeps to the format of the MCP registry', async (context) => {
  const entry = await readJson(`${app.url}/.well-known/server.json`)
  const schemas: object[] = [REGISTRY_ENTRY]
  const official = process.env['MCP_SERVER_SCHEMA']
  if (official === undefined) context.diagnostic('MCP_SERVER_SCHEMA names no file: the official schema was not run.')
  else schemas.push(JSON.parse(readFileSync(official, 'utf8')) as object)
  for (const schema of schemas) {
    const formats = { uri: (text: string) => URL.canParse(text), 'uri-template': true } as const
    const fits = new Ajv({ strict: false, formats }).compile(schema)
    assert.ok(fits(entry), JSON.stringify(fits.errors))
    const faults: Record<string, unknown>[] = [
      { name: 'assay' },
      { name: 'example.assay/two/three' },
      { description: 'x'.repeat(101) },
      { title: '' },
      { version: 1 },
      { websiteUrl: 'no address' },
      { remotes: [{ type: 'streamable-http' }] },
      { remotes: [{ type: 'http', url: `${app.url}/mcp` }] },
    ]
    for (const fault of faults) assert.equal(fits({ ...entry, ...fault }), false, JSON.stringify(fault))
  }
  const remotes = ['/mcp/small', '/mcp'].map((path) => ({ type: 'streamable-http', url: `${app.url}${path}` }))
  assert.deepEqual(entry['remotes'], remotes)
})

test('only a domain gives a namespace in the MCP registry', () => {
  assert.equal(reverseDomain('https://mcp.assay.example'), 'example.assay.mcp')
  assert.equal(reverseDomain('https://xn--bcher-kva.example:8443'), 'example.xn--bcher-kva')
  for (const origin of ['http://127.0.0.1:8402', 'http://[::1]:8402', 'http://localhost:8402', 'http://0x7f.1']) {
    assert.equal(reverseDomain(origin), 'localhost', origin)
  }
})

test('llms-full.txt tells every tool whole, within its bound', async () => {
  const text = await (await get('/llms-full.txt')).text()
  assert.ok(Buffer.byteLength(text) < limits.llms_full_bytes, `${Buffer.byteLength(text)} bytes`)
  const sections = text.split(/^### /m).slice(1)
  const tools = asList(at(await readJson(`${app.url}/v1/tools`), 'tools'))
  assert.deepEqual(
    sections.map((section) => section.split(':')[0]),
    tools.map((tool) => tool['id']),
  )
  for (const section of sections) {
    for (const part of [
      '- Call: POST http',
      '- Price: ',
      '- Checked: ',
      '- Not checked: ',
      'Input:',
      'Result:',
      '- `tool` (',
      'Example input',
    ])
      assert.ok(section.includes(part), `${section.split('\n')[0] ?? ''} lacks ${part}`)
  }
  const [, input = ''] = /### iban-check[\s\S]*?Example input:\n\n```json\n(.*)\n/.exec(text) ?? []
  assert.equal((await restCall(app.url, 'iban-check', JSON.parse(input))).status, 200)
})
