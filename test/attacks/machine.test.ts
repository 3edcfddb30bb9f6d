/** Attacks from a browser and on names: pages of strangers, texts that become markup, ids that could be guessed, lines of the log. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { JSON_HEADERS, mcpRequest } from '../support/mcp.ts'
import { startService, type Service } from '../support/service.ts'
import { get, sendRaw } from './wire.ts'

let folder: string
let service: Service
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-attacks-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_LOG_LEVEL: 'info', ASSAY_FREE_DAILY: '1000000' })
})
after(async () => {
  service.process.kill('SIGKILL')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

const COUNT = 15

async function invoiced(members: Record<string, string>): Promise<{ invoice_id?: string }> {
  const body = JSON.stringify({ merchant: `0x${'1'.repeat(40)}`, ...members })
  const response = await fetch(`${service.url}/api/invoice/create`, { method: 'POST', body })
  return (await response.json()) as { invoice_id?: string }
}

const { message: PING } = mcpRequest('2025-11-25', 'ping')

// attack: DNS rebinding to /mcp and /a2a
// in: browsers and names
// asset: a local deployment
// attacker: web page
// defence: Host and Origin must name this machine
test('a page whose name was made to point at this machine reaches neither endpoint of agents', async () => {
  const { port } = new URL(service.url)
  const body = JSON.stringify(PING)
  const type = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n'
  const status = async (path: string, host: string, more = '') =>
    (
      await sendRaw(
        service.url,
        `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${type}${more}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
    ).status
  for (const path of ['/mcp', '/a2a']) {
    for (const own of ['localhost', '127.0.0.1', `127.0.0.1:${port}`, '[::1]']) assert.equal(await status(path, own), 200, own)
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'localhost@evil.example',
      '0.0.0.0',
      '192.168.0.1',
    ]
    for (const host of foreign) assert.ok([400, 403].includes(await status(path, host)), `${path} ${host}`)
    const origins = [
      'http://evil.example',
      'null',
      'http://localhost.evil.example',
      'https://127.0.0.1.evil.example',
      'file://',
      'chrome-extension://x',
      'javascript:1',
    ]
    for (const origin of origins) assert.equal(await status(path, 'localhost', `Origin: ${origin}\r\n`), 403, `${path} ${origin}`)
    assert.equal(await status(path, 'localhost', `Origin: http://localhost:${port}\r\n`), 200)
    // The Host of the line counts for nothing beside that of the header.
    const absolute = await sendRaw(
      service.url,
      `POST http://localhost${path} HTTP/1.1\r\nHost: evil.example\r\n${type}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    assert.ok([400, 403].includes(absolute.status))
  }
})

const MARKUP = [
  `"><script>alert(1)</script>`,
  `'><img src=x onerror=alert(1)>`,
  `</script><script>alert(1)</script>`,
  'javascript:alert(1)',
  '<!--',
  ']]>',
  '${alert(1)}',
  '{{7*7}}',
]

/** These stand on pages of ours for reasons of their own. */
const NEUTRAL = new Set(['<!--', ']]>'])

// attack: memo, name or path as markup
// in: browsers and names
// asset: a reader of pages
// attacker: client
// defence: escaped texts, `default-src 'none'`, no inline scripts
test('texts of strangers are texts on every page, and no page may run what is not ours', async () => {
  for (const text of MARKUP) {
    const invoice = await invoiced({ amountUsdc: '1', memo: text, clientName: text })
    if (invoice.invoice_id === undefined) continue
    for (const path of [`/pay/${invoice.invoice_id}`, `/api/invoice/${invoice.invoice_id}/pay`]) {
      const page = await fetch(service.url + path, { headers: { accept: 'text/html' } })
      const html = await page.text()
      assert.ok(!/<script>alert|<img src=x/.test(html), `${path} ${text}`)
      if (/[<>"']/.test(text)) assert.ok(!html.includes(text) || NEUTRAL.has(text), `${path} ${text}`)
      const policy = page.headers.get('content-security-policy') ?? ''
      assert.ok(/default-src 'none'/.test(policy) && !/unsafe-inline'[^;]*(?:;|$)/.test(/script-src[^;]*/.exec(policy)?.[0] ?? ''), policy)
      assert.match(policy, /frame-ancestors 'none'/)
    }
  }
  for (const text of MARKUP) {
    const encoded = encodeURIComponent(text)
    for (const path of [
      `/verify?x=${encoded}`,
      `/docs/${encoded}`,
      `/tools/${encoded}`,
      `/pay/${encoded}`,
      `/credits/done?session_id=${encoded}`,
      `/mcp?family=${encoded}`,
      `/nowhere/${encoded}`,
    ]) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html' } })
      assert.ok(!(await response.text()).includes(text) || NEUTRAL.has(text), path)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    }
  }
})

// attack: the same PDF again and again
// in: browsers and names
// asset: processor time
// attacker: client
// defence: a rate limit for each client; a document that the client has is not drawn again
test('who has documents drawn again and again is told when to come back', async () => {
  const { invoice_id } = await invoiced({ amountUsdc: '2.00' })
  const drawn = async () => {
    const response = await fetch(`${service.url}/api/invoice/${invoice_id}/pdf`)
    await response.arrayBuffer()
    return response
  }
  let last = await drawn()
  // A minute may end in between.
  for (let count = 0; count < 2 * INVOICE_RULES.documents_per_minute && last.status === 200; count++) last = await drawn()
  assert.equal(last.status, 429)
  assert.ok(Number(last.headers.get('retry-after')) > 0)
})

// attack: requests with ambient credentials
// in: browsers and names
// asset: a user's session
// attacker: web page
// defence: no cookies, no CORS credentials
test('no answer asks for ambient credentials, so that a page of a stranger can use nobody’s', async () => {
  for (const path of ['/', '/v1/tools', '/v1/allowance', '/credits', '/health', '/nowhere']) {
    const response = await fetch(service.url + path, { headers: { origin: 'https://evil.example', cookie: 'session=1' } })
    assert.equal(response.headers.get('access-control-allow-credentials'), null, path)
    assert.equal(response.headers.get('set-cookie'), null, path)
  }
})

// attack: guessing ids
// in: browsers and names
// asset: other callers' invoices, tasks, answers
// attacker: client
// defence: ids are random; an unknown id is answered like one that never existed
test('ids of invoices, tasks and answers cannot be guessed, and an unknown one is told as one that never was', async () => {
  const ids = new Set<string>()
  for (let count = 0; count < COUNT; count++) {
    const { invoice_id } = (await invoiced({ amountUsdc: '1.00' })) as { invoice_id: string }
    ids.add(invoice_id)
  }
  assert.equal(ids.size, COUNT)
  // 26 characters of 32 signs are 130 bits; two that share a beginning of 40 would be no accident.
  for (const id of ids) assert.match(id, /^inv_[0-9a-z]{26}$/)
  assert.equal(new Set([...ids].map((id) => id.slice(4, 12))).size, COUNT)
  const [known = ''] = ids
  const last = known.endsWith('0') ? '1' : '0'
  const shapes = ['', '/pay', '/pdf', '/qr.svg', '/events']
  for (const id of [
    known.slice(0, -1) + last,
    known.toUpperCase(),
    `${known}0`,
    known.slice(0, -1),
    'inv_',
    '%00',
    '..',
    'inv_%25',
    "inv_' or 1=1--",
  ]) {
    for (const shape of shapes) {
      const response = await fetch(`${service.url}/api/invoice/${encodeURIComponent(id)}${shape}`)
      assert.equal(response.status, 404, `${id}${shape}`)
      await response.body?.cancel()
    }
  }
  const task = async (id: string) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }
    const response = await fetch(`${service.url}/a2a`, {
      method: 'POST',
      body: JSON.stringify(message),
      headers: { ...JSON_HEADERS, 'a2a-version': '1.0' },
    })
    return ((await response.json()) as { error?: { code: number; message: string } }).error
  }
  const never = await task(crypto.randomUUID())
  for (const id of ['0', "' or 1=1--", '00000000-0000-0000-0000-000000000000', '../x']) assert.deepEqual(await task(id), never, id)
  const answers = [`${service.url}/v1/answers/${'0'.repeat(64)}`, `${service.url}/v1/answers/x`]
  const told = await Promise.all(answers.map(async (url) => ((await (await fetch(url)).json()) as { detail: string }).detail))
  assert.equal(told[0], told[1])
})

// attack: forged lines, terminal codes
// in: browsers and names
// asset: the log
// attacker: client
// defence: JSON lines with nothing of a request but its plain, short `client_request_id`
test('nothing that is sent becomes a line of the log, nor colour in it, nor stands there at all', async () => {
  const forged = '{"level":50,"msg":"forged line"}'
  const line = encodeURIComponent(`\n${forged}\r\n\u001b[31mred\u2028`)
  for (const path of [`/${line}`, `/v1/tools/${line}`, `/v1/tools/${line}/call`, `/pay/${line}`, `/docs/${line}`]) {
    await sendRaw(
      service.url,
      get(path, `User-Agent: ${forged}\r\nReferer: ${forged}\r\nX-Request-Id: ${forged}\r\nX-Forwarded-For: ${forged}\r\n`),
    )
    const body = JSON.stringify({ input: { iban: `\n${forged}` } })
    await fetch(service.url + path, { method: 'POST', body })
  }
  const call = await fetch(`${service.url}/v1/tools/iban-check/call`, {
    method: 'POST',
    body: JSON.stringify({ input: { iban: `\n${forged}\u001b[31m` } }),
  })
  assert.equal(call.status, 200)
  service.process.kill('SIGTERM')
  await service.ended
  const lines = service.log().trimEnd().split('\n')
  assert.ok(lines.length > 0)
  for (const one of lines.filter((text) => text !== '')) assert.doesNotThrow(() => JSON.parse(one) as unknown, one)
  for (const mark of ['forged', '\u001b', '\u2028']) assert.ok(!(service.log() + service.notes()).includes(mark), mark)
})
