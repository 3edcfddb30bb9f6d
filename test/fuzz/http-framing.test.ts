import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runs, SEED } from '../support/counts.ts'
import { startService, type Service } from '../support/service.ts'
import { damaged } from './hostile-json.ts'
import { judgeProblem } from './judge.ts'
import { seeded } from './random.ts'
import { createSender, exchangeRaw, type Answer } from './transport.ts'

/** What no HTTP client would send, byte by byte on sockets. */

const CALL = '/v1/tools/iban-check/call'
const BODY = '{"input":{"iban":"GB82 WEST 1234 5698 7654 32"}}'
/** No coding of content is undone: the second byte of gzip (RFC 1952 §2.3.1) never begins a character of UTF-8. */
const GZIPPED = gzipSync(BODY).toString('latin1')
const SIZED = `Content-Length: ${BODY.length}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

let folder: string
let service: Service

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-framing-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_FREE_DAILY: '1000000000' })
})
after(async () => {
  service.process.kill('SIGKILL')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

/** Looks at calls that are under way: one whose body never ends is under way for good. */
const LOOKS = 20

/** Two answers on another connection: by then what was written before has been read. Then, if it is a call, until it is answered. */
async function settled(): Promise<void> {
  for (let round = 0; round < 2; round++) await (await fetch(`${service.url}/health`)).arrayBuffer()
  for (let look = 0; look < LOOKS && (await inFlight()) > 0; look++);
}

async function inFlight(): Promise<number> {
  const status = (await (await fetch(`${service.url}/status`)).json()) as { in_flight: number }
  return status.in_flight
}

function post(target: string, headers: string, body: string, version = '1.1'): string {
  return `POST ${target} HTTP/${version}\r\nHost: x\r\n${headers}Connection: close\r\n\r\n${body}`
}

function get(target: string, headers: string, version = '1.1'): string {
  return `GET ${target} HTTP/${version}\r\n${headers}Connection: close\r\n\r\n`
}

/** What both transports must answer alike, without the target. */
const CALLS: readonly [name: string, request: (target: string) => string, answer: string][] = [
  ['a good call', (target) => post(target, SIZED, BODY), '200'],
  ['an empty Host', (target) => post(target, SIZED, BODY).replace('Host: x', 'Host:'), '200'],
  ['HTTP/1.0', (target) => post(target, SIZED, BODY, '1.0').replace('Host: x\r\n', ''), '200'],
  [
    'chunks of one byte',
    (target) =>
      post(
        target,
        CHUNKED,
        `${Array.from(BODY)
          .map((unit) => `1\r\n${unit}\r\n`)
          .join('')}0\r\n\r\n`,
      ),
    '200',
  ],
  [
    'chunk extensions and trailers',
    (target) => post(target, CHUNKED, `${BODY.length.toString(16)};a=b\r\n${BODY}\r\n0\r\nX: y\r\n\r\n`),
    '200',
  ],
  ['an expectation that nobody knows', (target) => post(target, `Expect: marvels\r\n${SIZED}`, BODY), '200'],
  ['Expect: 100-continue', (target) => post(target, `Expect: 100-continue\r\n${SIZED}`, BODY), '200'],
  // RFC 9112, 3.2: a server MUST answer 400.
  ['no Host', (target) => post(target, SIZED, BODY).replace('Host: x\r\n', ''), 'REQUEST_MALFORMED'],
  ['two Hosts', (target) => post(target, `Host: x\r\n${SIZED}`, BODY), 'REQUEST_MALFORMED'],
  ['an upgrade', (target) => post(target, `Upgrade: h2c\r\n${SIZED}`, BODY), '200'],
  [
    'a compressed body',
    (target) => post(target, `Content-Encoding: gzip\r\nContent-Length: ${GZIPPED.length}\r\n`, GZIPPED),
    'CONTENT_ENCODING_REFUSED',
  ],
  ['a body that says it is plain', (target) => post(target, `Content-Encoding: Identity\r\n${SIZED}`, BODY), '200'],
  ['no body at all', (target) => post(target, '', ''), 'PARSE_ERROR'],
  ['a coding that was not undone', (target) => post(target, 'Transfer-Encoding: gzip, chunked\r\n', '2\r\n{"\r\n0\r\n\r\n'), 'PARSE_ERROR'],
  ['a length beyond 2^53', (target) => post(target, 'Content-Length: 9007199254740993\r\n', BODY), 'PAYLOAD_TOO_LARGE'],
  ['a length beyond 2^64', (target) => post(target, 'Content-Length: 99999999999999999999999\r\n', BODY), 'REQUEST_MALFORMED'],
  ['a negative length', (target) => post(target, 'Content-Length: -1\r\n', BODY), 'REQUEST_MALFORMED'],
  ['a length in hexadecimal', (target) => post(target, 'Content-Length: 0x10\r\n', BODY), 'REQUEST_MALFORMED'],
  ['two lengths', (target) => post(target, `${SIZED}Content-Length: 3\r\n`, BODY), 'REQUEST_MALFORMED'],
  ['a length and chunks', (target) => post(target, SIZED + CHUNKED, '0\r\n\r\n'), 'REQUEST_MALFORMED'],
  ['a body that is too short', (target) => post(target, 'Content-Length: 500\r\n', BODY), 'REQUEST_MALFORMED'],
  ['no chunk size', (target) => post(target, CHUNKED, 'zz\r\n{}\r\n0\r\n\r\n'), 'REQUEST_MALFORMED'],
  ['a chunk longer than its size', (target) => post(target, CHUNKED, '2\r\n{}X\r\n0\r\n\r\n'), 'REQUEST_MALFORMED'],
  ['a chunk size beyond 2^64', (target) => post(target, CHUNKED, '1FFFFFFFFFFFFFFFF\r\n{}'), 'REQUEST_MALFORMED'],
  ['chunks that never end', (target) => post(target, CHUNKED, '2\r\n{}\r\n'), 'REQUEST_MALFORMED'],
  ['a header with NUL', (target) => post(target, `X-A: \u0000\r\n${SIZED}`, BODY), 'REQUEST_MALFORMED'],
  ['a folded header', (target) => post(target, `X-A: 1\r\n 2\r\n${SIZED}`, BODY), 'REQUEST_MALFORMED'],
  ['a space before the colon', (target) => post(target, `X-A : 1\r\n${SIZED}`, BODY), 'REQUEST_MALFORMED'],
  ['bare line feeds', (target) => post(target, SIZED, BODY).replaceAll('\r', ''), 'REQUEST_MALFORMED'],
  ['headers without end', (target) => post(target, `X-A: ${'a'.repeat(20_000)}\r\n`, BODY), 'HEADERS_TOO_LARGE'],
]

/** Addresses and versions. */
const TARGETS: readonly [name: string, request: string, answer: string][] = [
  ['HTTP/1.0 without Host', get('/health', '', '1.0'), '200'],
  ['an absolute address', get('http://elsewhere.example/health', 'Host: x\r\n'), '200'],
  ['a Host that is none', get('/health', 'Host: a b/c\r\n'), 'REQUEST_MALFORMED'],
  ['a Host with a user', get('/health', 'Host: user@elsewhere:99999\r\n'), 'REQUEST_MALFORMED'],
  ['a Host with half a bracket', get('/health', 'Host: [::1\r\n'), 'REQUEST_MALFORMED'],
  ['the address *', get('*', 'Host: x\r\n').replace('GET', 'OPTIONS'), 'REQUEST_MALFORMED'],
  ['an absolute address that is none', get('http://[/health', 'Host: x\r\n'), 'REQUEST_MALFORMED'],
  ['another scheme', get('ftp://x/health', 'Host: x\r\n'), 'REQUEST_MALFORMED'],
  ['a backslash', get('/a\\b', 'Host: x\r\n'), 'REQUEST_MALFORMED'],
  ['letters beyond ASCII', get('/v1/tools/\u00e9', 'Host: x\r\n'), 'REQUEST_MALFORMED'],
  ['a version to come', get('/health', 'Host: x\r\n', '9.9'), 'REQUEST_MALFORMED'],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'REQUEST_MALFORMED'],
  ['a handshake of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', 'REQUEST_MALFORMED'],
]

/** The status of a good answer, the code of a problem; an answer whose end is missing counts as none. */
function wordOf(answer: Answer): string {
  return answer.status < 400 ? String(answer.status) : judgeProblem(answer, [])
}

async function firstWord(request: string): Promise<string | undefined> {
  const [first] = await exchangeRaw(service.url, Buffer.from(request, 'latin1'), settled)
  return first === undefined ? undefined : wordOf(first)
}

// attack: request smuggling (CL, TE, both)
test('broken and odd framing is answered by its rule, alike on both transports', async () => {
  for (const [name, request, word] of CALLS) {
    assert.equal(await firstWord(request(CALL)), word, name)
    assert.equal(await firstWord(request(`${CALL}?over=hono`)), word, `${name}, by the other way`)
  }
})

test('addresses that are none are refused with a problem too', async () => {
  for (const [name, request, word] of TARGETS) assert.equal(await firstWord(request), word, name)
})

test('requests sent before their answers are answered in their order', async () => {
  const kept = (target: string, body: string) => `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  // They are served one after the other: between two of them none is in flight, so only the end of the last answer ends the wait.
  const requests = [kept(`${CALL}?x`, '{'), kept(CALL, BODY), kept('/nowhere', BODY), post(CALL, 'Content-Length: 2\r\n', '[]')]
  const answers = await exchangeRaw(service.url, Buffer.from(requests.join('')))
  assert.deepEqual(answers.map(wordOf), ['PARSE_ERROR', '200', 'NOT_FOUND', 'INPUT_SCHEMA_INVALID'])
})

test('requests damaged anywhere draw nothing but good answers and documented problems', async () => {
  const good = [
    ...CALLS.slice(0, 7).map(([, request]) => request(CALL)),
    post(`${CALL}?x`, CHUNKED, `2\r\n{}\r\n0\r\n\r\n`),
    get('/v1/tools', 'Host: x\r\n'),
  ]
  let next = 0
  let answered = 0
  const count = runs(160, 8_000)
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const random = seeded(SEED, index)
      const bytes = damaged(random, Buffer.from(random.pick(good), 'latin1'))
      const answers = await exchangeRaw(service.url, bytes, settled)
      for (const answer of answers)
        assert.doesNotThrow(() => wordOf(answer), `request ${index}: ${JSON.stringify(bytes.toString('latin1'))}`)
      answered += Math.min(answers.length, 1)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  assert.ok(answered > count / 2, `only ${answered} of ${count} were answered`)
})

test('a refused body leaves the connection fit for the next call, and its answer is never lost in a reset', async () => {
  const { send, close } = createSender(service.url, 1)
  const refused = Buffer.alloc(1_100_000, `{"input":"`)
  for (let round = 0; round < runs(3, 30); round++) {
    for (const [path, status] of [
      [CALL, 413],
      [`${CALL}?over=hono`, 413],
      ['/v1/receipt/verify', 413],
      ['/v1/tools/nothing/call', 404],
    ] as const) {
      for (const chunked of [false, true]) {
        const shown = `${path} ${chunked ? 'in chunks' : 'with its length'}`
        assert.equal((await send({ method: 'POST', path, headers: {}, body: refused, chunked })).status, status, shown)
        assert.equal(
          (await send({ method: 'POST', path: CALL, headers: {}, body: Buffer.from(BODY), chunked })).status,
          200,
          `after ${shown}`,
        )
      }
    }
  }
  close()
})

test('callers who hang up in the middle of a body are no fault of the service', async () => {
  const { hostname, port } = new URL(service.url)
  const headers = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n'
  for (const target of [CALL, `${CALL}?over=hono`, '/v1/receipt/verify', '/mcp']) {
    for (const framing of ['Content-Length: 5000\r\n', 'Content-Length: 70000\r\n', CHUNKED]) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(`POST ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}${framing}\r\n${framing === CHUNKED ? '2\r\n{"\r\n' : '{"'}`)
      await settled()
      socket.resetAndDestroy()
      await settled()
    }
  }
})

test('afterwards a good call is answered, no fault was logged, and the service stops cleanly', async () => {
  assert.equal(await firstWord(post(CALL, SIZED, BODY)), '200')
  service.process.kill('SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
  assert.equal(service.log(), '')
})
