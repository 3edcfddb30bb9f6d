/** Attacks on the way in, byte by byte against the real service: addresses that lie, floods, smuggling, splitting, files that are none of theirs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answersIn, exchange, get, headerOf, sendRaw } from './wire.ts'

const CALL = '/v1/tools/iban-check/call'
const BODY = '{"input":{"iban":"GB82WEST12345698765432"}}'

let open: TestApp
let proxied: TestApp
before(async () => {
  open = await startTestApp({ free_daily: 1_000_000 })
  proxied = await startTestApp({ free_daily: 2, settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,fd00::/8' } })
})
after(async () => {
  await open.stop()
  await proxied.stop()
})

function post(target: string, headers: string, body: string): string {
  return `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n${body}`
}

/** What the service takes a caller with these headers for: each is somebody else when it has all its calls left. */
async function leftFor(app: TestApp, forwarded: string): Promise<number> {
  const { text } = await sendRaw(app.url, get('/v1/allowance', forwarded))
  const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { remaining: number }
  return body.remaining
}

async function callAs(app: TestApp, forwarded: string): Promise<number> {
  return (await sendRaw(app.url, post(CALL, `${forwarded}Content-Length: ${BODY.length}\r\n`, BODY))).status
}

// attack: a forged X-Forwarded-For, Forwarded, X-Real-IP
// in: requests
// asset: free calls of others
// attacker: client
// defence: only configured proxies are believed, read from the right; one client for every spelling of an address; a live start refuses
//   wide networks of proxies
test('a header of somebody who is no proxy makes nobody else of him', async () => {
  const spoofs = [
    'X-Forwarded-For: 8.8.8.8',
    'X-Real-IP: 8.8.8.8',
    'Forwarded: for=8.8.8.8',
    'CF-Connecting-IP: 8.8.8.8',
    'True-Client-IP: 8.8.8.8',
  ]
  const before_calls = await leftFor(open, '')
  for (const [index, spoof] of spoofs.entries()) {
    assert.equal(await callAs(open, `${spoof}\r\n`), 200)
    assert.equal(await leftFor(open, ''), before_calls - index - 1, spoof)
  }
})

// attack: a forged X-Forwarded-For, Forwarded, X-Real-IP
test('behind a proxy the caller is the last address that is no proxy, in every spelling, and nothing to its left counts', async () => {
  const caller = '203.0.113.7'
  for (let used = 0; used < 2; used++) assert.equal(await callAs(proxied, `X-Forwarded-For: ${caller}\r\n`), 200)
  const same = [
    `X-Forwarded-For: ${caller}`,
    `X-Forwarded-For: 8.8.8.8, ${caller}`,
    `X-Forwarded-For: 8.8.8.8\r\nX-Forwarded-For: ${caller}`,
    `X-Forwarded-For: ${'8.8.8.8,'.repeat(500)}${caller}`,
    `X-Forwarded-For: ::ffff:${caller}`,
    `X-Forwarded-For: ::FFFF:203.0.113.7`,
    `X-Forwarded-For: [::ffff:${caller}]:4711`,
    // With the port of the client: Azure Application Gateway, and Application Load Balancers that preserve it.
    `X-Forwarded-For: ${caller}:51234`,
    `X-Forwarded-For: 8.8.8.8:80, ${caller}:0, 10.1.2.3:443`,
    `X-Forwarded-For: ${caller}, 10.1.2.3`,
    `X-Forwarded-For: ${caller}, ::ffff:10.1.2.3, fd00::5`,
    `X-Forwarded-For: 8.8.8.8, ${caller}, 127.0.0.1`,
    `x-forwarded-for:\t8.8.8.8 ,\t ${caller} \t`,
  ]
  for (const header of same) {
    assert.equal(await leftFor(proxied, `${header}\r\n`), 0, header)
    assert.equal(await callAs(proxied, `${header}\r\n`), 402, header)
  }
  // The hexadecimal spelling of a mapped address is the same address.
  assert.equal(await leftFor(proxied, 'X-Forwarded-For: ::ffff:cb00:7107\r\n'), 0)
  // One network of IPv6 is one caller, however its addresses are written.
  for (const address of ['2001:db8:5:6::1', '2001:0DB8:0005:0006:ffff::2']) await callAs(proxied, `X-Forwarded-For: ${address}\r\n`)
  for (const address of [
    '2001:db8:5:6::3',
    '2001:db8:5:6:0:0:192.0.2.1',
    '2001:db8:5:6:1::%eth0',
    '[2001:db8:5:6::9]:65535',
    '[2001:db8:5:6::9%1]',
  ]) {
    assert.equal(await leftFor(proxied, `X-Forwarded-For: ${address}\r\n`), 0, address)
  }
})

test('callers behind a proxy that names their ports have an allowance each', async () => {
  const callers = ['198.51.100.21', '198.51.100.22', '198.51.100.23']
  for (const caller of callers) {
    for (const port of [40_001, 40_002]) assert.equal(await callAs(proxied, `X-Forwarded-For: ${caller}:${port}\r\n`), 200, caller)
    assert.equal(await callAs(proxied, `X-Forwarded-For: ${caller}:40003\r\n`), 402, caller)
  }
})

test('a proxy in front makes no other header than X-Forwarded-For believed', async () => {
  const statuses: number[] = []
  for (const [index, name] of ['CF-Connecting-IP', 'True-Client-IP', 'X-Real-IP', 'X-Client-IP'].entries())
    statuses.push(await callAs(proxied, `X-Forwarded-For: 198.51.100.31:1\r\n${name}: 8.8.8.${index}\r\n`))
  assert.deepEqual(statuses, [200, 200, 402, 402])
})

test('what is no address moves nobody: the proxy itself is counted then', async () => {
  const addresses = ['unknown', '8.8.8.8.8', '0x08080808', '134744072', '010.8.8.8', '8.8.8.8/32', '<script>', '8.8.8.8;9.9.9.9', '']
  const ports = [
    '8.8.8.8:99999',
    '8.8.8.8:',
    '8.8.8.8:65536',
    '8.8.8.8:80:80',
    '8.8.8.8:+80',
    '[8.8.8.8]:80',
    '[2001:db8::8]:',
    '[2001:db8::8',
  ]
  const junk = [...addresses, ...ports, 'for=8.8.8.8']
  await callAs(proxied, `X-Forwarded-For: ${junk[0]}\r\n`)
  const left = await leftFor(proxied, '')
  for (const text of junk) assert.equal(await leftFor(proxied, `X-Forwarded-For: 8.8.4.4, ${text}\r\n`), left, text)
})

test('a request without a Host, or with two, is refused: what stands in front may have read another', async () => {
  // RFC 9112, 3.2; HTTP/1.0 need not name one.
  for (const target of [`POST ${CALL}`, 'GET /v1/allowance']) {
    const sent = (version: string, hosts: string) =>
      sendRaw(open.url, `${target} HTTP/${version}\r\n${hosts}Content-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`)
    for (const hosts of ['', 'Host: a\r\nHost: a\r\n', 'Host: a\r\nhOSt: b\r\n']) {
      const { status, text } = await sent('1.1', hosts)
      assert.deepEqual([status, /"code":"REQUEST_MALFORMED"/.test(text)], [400, true], `${target} ${hosts}`)
    }
    assert.equal((await sent('1.0', 'Host: a\r\nHost: b\r\n')).status, 400)
    for (const [version, hosts] of [
      ['1.1', 'Host: a\r\n'],
      ['1.0', ''],
      ['1.0', 'Host: a\r\n'],
    ] as const)
      assert.equal((await sent(version, hosts)).status, 200, `${target} ${version} ${hosts}`)
  }
})

// attack: floods of headers, trailers, chunk extensions
// in: requests
// asset: the process
// attacker: client
// defence: 16 KiB and 100 headers; beyond that the connection is closed
test('header, trailer and chunk floods are cut off, and the service goes on', async () => {
  const many = Array.from({ length: 200 }, (_, index) => `X-${index}: y\r\n`).join('')
  const trailers = Array.from({ length: 200 }, (_, index) => `X-${index}: ${'a'.repeat(1_000)}\r\n`).join('')
  const chunk = BODY.length.toString(16)
  for (const target of [CALL, `${CALL}?x`, '/mcp', '/api/invoice/create']) {
    for (const flood of [
      post(target, `X-A: ${'a'.repeat(2 * limits.header_bytes)}\r\n`, ''),
      post(target, `${many}Content-Length: ${BODY.length}\r\n`, BODY),
      `GET ${target}?${'a'.repeat(2 * limits.header_bytes)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const status = await sendRaw(open.url, flood).then((answer) => answer.status)
      assert.ok([413, 431].includes(status), `${target}: ${status}`)
    }
    // These break within the body, so that an answer may have begun before.
    for (const body of [
      `${chunk}\r\n${BODY}\r\n0\r\n${trailers}\r\n`,
      `${chunk};${'a'.repeat(2 * limits.header_bytes)}\r\n${BODY}\r\n0\r\n\r\n`,
    ]) {
      assert.ok(answersIn(await exchange(open.url, post(target, 'Transfer-Encoding: chunked\r\n', body))) <= 1, target)
    }
  }
  assert.equal((await sendRaw(open.url, post(CALL, `Content-Length: ${BODY.length}\r\n`, BODY))).status, 200)
})

/** Each hides a second request where two readers disagree on the end of the first. */
const SMUGGLED = 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Smuggled: yes\r\n\r\n'
const FRAMINGS: readonly string[] = [
  `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`,
  `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`,
  'Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n',
  'Transfer-Encoding: identity, chunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding : chunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding:\u000bchunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding:\n chunked\r\nContent-Length: 4\r\n',
  ' Transfer-Encoding: chunked\r\nContent-Length: 4\r\n',
  'X: y\rTransfer-Encoding: chunked\r\nContent-Length: 4\r\n',
  'Content-Length: 4\r\nContent-Length: 0\r\n',
  'Content-Length: 4, 4\r\n',
  'Content-Length: +4\r\n',
  'Content-Length: 4 \u0000\r\n',
]

// attack: request smuggling (CL, TE, both)
// in: requests
// asset: other callers' requests
// attacker: client behind a shared proxy
// defence: ambiguous framing is answered 400 and the connection closed
test('requests that two readers would end at different places are refused, and the connection with them', async () => {
  for (const target of [CALL, `${CALL}?x`, '/mcp', '/a2a']) {
    for (const framing of FRAMINGS) {
      const text = await exchange(open.url, `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n0\r\n\r\n${SMUGGLED}`)
      assert.equal(answersIn(text), 1, `${target} ${JSON.stringify(framing)}`)
      assert.match(text, /^HTTP\/1\.1 400 /, `${target} ${JSON.stringify(framing)}`)
    }
  }
})

// attack: response splitting by line ends in paths and headers
// in: requests
// asset: other callers' answers
// attacker: client
// defence: of a request only its `X-Client-Request-Id`, if plain and short, is copied into a response header; `X-Request-Id` is made
//   here
test('no line of a request becomes a line of an answer', async () => {
  const bad = '%0d%0aX-Split:%20yes%0d%0a%0d%0a<html>'
  const targets = [
    `/v1/answers/${bad}`,
    `/pay/${bad}`,
    `/api/invoice/${bad}`,
    `/v1/tools/${bad}`,
    `/badge/${bad}/valid/x.svg`,
    `/docs/${bad}`,
    `/problems/${bad}`,
  ]
  for (const target of [...targets, `/mcp?family=${bad}`, `/status?since=${bad}`]) {
    const answer = await sendRaw(
      open.url,
      get(target, `X-Request-Id: ${bad}\r\nX-Client-Request-Id: ${bad}\r\nX-Prev-Receipt-Hash: ${bad}\r\nA2A-Extensions: ${bad}\r\n`),
    )
    assert.equal(headerOf(answer, 'x-split'), undefined, target)
    assert.ok(!answer.headers.some(([, value]) => value.includes('Split')), target)
    assert.match(headerOf(answer, 'x-request-id') ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(headerOf(answer, 'x-client-request-id'), undefined)
  }
})

// attack: Host, X-Forwarded-Host, X-Original-URL that change a document
// in: requests
// asset: shared caches
// attacker: client
// defence: public origins come from settings
test('a Host of the caller’s choice stands in no document, no redirect and no cache key', async () => {
  const made = await fetch(`${open.url}/api/invoice/create`, {
    method: 'POST',
    body: JSON.stringify({ amountUsdc: '1', merchant: `0x${'1'.repeat(40)}` }),
  })
  const { invoice_id } = (await made.json()) as { invoice_id: string }
  const pages =
    '/ /openapi.json /llms.txt /llms-full.txt /v1/tools /v1/tools/iban-check /health /status /robots.txt /docs /verify /credits /problems'
  const known = '/.well-known/agent-card.json /.well-known/agent.json /.well-known/xdr-1.json /nowhere //evil.example/..'
  const tricks =
    'X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: evil\r\nForwarded: host=evil.example\r\nX-Host: evil.example\r\nX-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\n'
  for (const target of [
    ...`${pages} ${known}`.split(' '),
    `/pay/${invoice_id}`,
    `/api/invoice/${invoice_id}`,
    `/api/invoice/${invoice_id}/pay`,
  ]) {
    const answer = await sendRaw(open.url, get(target, tricks, 'evil.example'))
    const own = target.includes('evil') ? answer.text.replaceAll(target, '') : answer.text
    assert.ok(!/evil/.test(own), `${target}: ${/.{60}evil.{20}/.exec(own)?.[0]}`)
    assert.ok(answer.status < 500, target)
  }
  const absolute = await sendRaw(open.url, get('http://evil.example/openapi.json'))
  assert.ok(!absolute.text.includes('evil'))
})

// attack: path traversal
// in: requests
// asset: files of the machine
// attacker: client
// defence: closed lists; no request path becomes a file name
test('no path leads out of the lists of assets, tiles, pages and problems', async () => {
  const up = ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '..\\', '..%5c', '....//', '%252e%252e%252f', '..;/', '\u0000../', '%00../', '//']
  for (const base of ['/assets/', '/assets/x/', '/log/tile/', '/log/tile/0/', '/docs/', '/problems/', '/.well-known/', '/v1/tools/', '/']) {
    for (const step of up) {
      for (const file of ['package.json', 'etc/passwd', 'src/assembly/start.ts']) {
        const { status, text } = await sendRaw(open.url, get(`${base}${step.repeat(6)}${file}`))
        assert.ok([400, 404, 405].includes(status), `${base}${step}${file}: ${status}`)
        assert.ok(!/devDependencies|root:x:0|export async function start/.test(text))
      }
    }
  }
})

// attack: answers that are never read
// in: requests
// asset: the process
// attacker: client
// defence: a connection without progress in either direction is closed
test('who reads nothing of what he asked for is not waited for', async () => {
  // The bound itself is minutes; the server takes it from this property for each new connection.
  const { server } = open.running
  assert.equal(server.timeout, limits.idle_ms)
  assert.ok(server.headersTimeout > 0 && server.requestTimeout > 0)
  server.timeout = 200
  const { hostname, port } = new URL(open.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  const [theirs] = (await once(server, 'connection')) as [NodeJS.EventEmitter]
  const closed = once(theirs, 'close')
  for (let count = 0; count < limits.pipelined_requests; count++) socket.write(get('/openapi.json').replace('Connection: close\r\n', ''))
  await closed
  server.timeout = limits.idle_ms
  socket.destroy()
})
