/**
 * Largest bodies that a client may send, against one whole service: how long the event loop is kept from everybody else. Processor time of the
 * main thread is measured, which other programs of the machine do not change, and compared with that of reading one such body, so that no
 * number of milliseconds is asserted.
 */
// attack: long bodies that are slow to read, or read more than once
// in: documents and texts
// asset: the event loop
// attacker: author
// defence: one reading for all bounds; long bodies in threads; compression off the loop

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { readStrictJson } from '../../../src/pure/documents/strict-json.ts'
import { limits } from '../../../src/service/limits.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

let app: TestApp

/** Processor time of this thread. */
function busy_ms(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const list = (count: number, item: (index: number) => string) => Array.from({ length: count }, (_, index) => item(index)).join(',')

/** Every key has an escape, which the engine's parser is not trusted with. */
const escapedKeys = (count: number) => `{"schema":true,"data":{${list(count, (index) => `"\\u0061${index}":1`)}}}`
const MOST_KEYS = escapedKeys(190_000)
/** Half of what may be sent, so that the threads are done in time on a machine that does much else. */
const ESCAPED_KEYS = escapedKeys(95_000)

interface Sent {
  status: number
  text: string
  /** Longest time for which no other request could be served. */
  longest_turn_ms: number
}

function send(path: string, body: string, headers: Record<string, string>): Promise<Sent> {
  const bytes = Buffer.from(body)
  let longest_turn_ms = 0
  let before_ms = busy_ms()
  let ended = false
  const watch = () => {
    const now_ms = busy_ms()
    longest_turn_ms = Math.max(longest_turn_ms, now_ms - before_ms)
    before_ms = now_ms
    if (!ended) setImmediate(watch)
  }
  watch()
  return new Promise((resolve, reject) => {
    const more = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers }
    const sent = request(`${app.url}${path}`, { method: body === '' ? 'GET' : 'POST', headers: more }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        ended = true
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('latin1'), longest_turn_ms })
      })
    })
    sent.on('error', reject)
    sent.end(bytes)
  })
}

const SURFACES = {
  rest: (tool: string, input: string) => send(`/v1/tools/${tool}/call`, `{"input":${input}}`, {}),
  mcp: (tool: string, input: string) =>
    send('/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${input}}}`, {
      accept: 'application/json, text/event-stream',
    }),
  a2a: (tool: string, input: string) => {
    const part = `{"kind":"data","data":{"tool":"${tool}","input":${input}}}`
    const message = `{"kind":"message","role":"user","messageId":"m","parts":[${part}]}`
    return send('/a2a', `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message}}}`, {})
  },
} as const

const preflight = (document: string) => send('/v1/protocols/check', `{"protocol":"x402","document":${document}}`, {})

let unit_ms = 0

before(async () => {
  app = await startTestApp()
  // What each surface loads when it is first used is not what is measured.
  for (const surface of Object.values(SURFACES)) await surface('iban-check', '{"iban":"DE89370400440532013000"}')
  await preflight('{}')
  await preflight(`{"a":"${'x'.repeat(60_000)}"}`)
  const before_ms = busy_ms()
  assert.ok(readStrictJson(MOST_KEYS, { depth: limits.json_depth, nodes: limits.document_nodes }).ok)
  unit_ms = busy_ms() - before_ms
})
after(() => app.stop())

/** A third of the time of reading one body of 190,000 keys: a thread that read any of them itself would take all of it. */
function assertFree(name: string, { longest_turn_ms }: Sent): void {
  assert.ok(longest_turn_ms < unit_ms / 3, `${name}: a turn took ${longest_turn_ms} ms; reading the longest body takes ${unit_ms} ms`)
}

const DISTILLED = `{"text":"${'\u4e16'.repeat(limits.text_chars)}"}`
const BATCH = `{"items":[${list(16, () => `{"tool":"context-distill","value":"${'\u4e16'.repeat(limits.batch_value_chars)}"}`)}]}`

for (const [name, call] of Object.entries(SURFACES)) {
  test(`${name}: no body of the largest size keeps the event loop`, async () => {
    const good = await call('instant-json-schema-verifier', ESCAPED_KEYS)
    assert.match(good.text, /reason_code\\?":\\?"ok/)
    assertFree('95,000 escaped keys', good)
    // A key twice at the very end of 1.5 MB; a message is refused by the ordinary bounds, which are broken before.
    const twice = await call('instant-json-schema-verifier', ESCAPED_KEYS.replace('"\\u006194999"', '"\\u006194998"'))
    assert.match(twice.text, name === 'rest' ? /DUPLICATE_KEY/ : /JSON_TOO_MANY_NODES/)
    assertFree('a key twice', twice)
    const text = await call('context-distill', DISTILLED)
    assert.match(text.text, /word_count\\?":/)
    assertFree('500,000 characters', text)
    const batch = await call('batch-validate', BATCH)
    assert.match(batch.text, /valid_count\\?":/)
    assertFree('a batch of long texts', batch)
    const unknown = await call('iban-check', `{${list(19_000, (index) => `"\\n${index}":1`)}}`)
    assert.match(unknown.text, /INPUT_SCHEMA_INVALID/)
    assertFree('19,000 unknown fields', unknown)
  })
}

test('preflight: the largest document does not keep the event loop', async () => {
  const report = await preflight(`{${list(18_000, (index) => `"\\n${index}":1`)}}`)
  assert.equal(report.status, 200)
  assertFree('18,000 keys', report)
})

test('mcp: what stands around the input of a long message is bounded, since the event loop has to make it again', async () => {
  const meta = (count: number) => `"_meta":{${list(count, (index) => `"k${index}":"${'x'.repeat(70)}"`)}}`
  const call = (count: number) =>
    send('/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"iban-check","arguments":{"iban":"x"},${meta(count)}}}`, {
      accept: 'application/json, text/event-stream',
    })
  assert.match((await call(limits.envelope_nodes)).text, /JSON_TOO_MANY_NODES/)
  assert.match((await call(limits.envelope_nodes - 100)).text, /"result":/)
})

test('the first compression of the longest documents does not keep the event loop', async () => {
  for (const path of ['/openapi.json', '/llms-full.txt', '/v1/protocols/rules']) {
    // Made first, without being compressed.
    await send(path, '', {})
    for (const coding of ['br', 'gzip']) {
      const [first, second] = await Promise.all([1, 2].map(() => send(path, '', { 'accept-encoding': coding })))
      assert.ok(first !== undefined && second !== undefined && first.status === 200)
      assert.equal(first.text, second.text, 'all who ask meanwhile get the same bytes')
      assertFree(`${path} in ${coding}`, first)
    }
  }
})

test('a body read in a thread is refused at the very place, as one that is read on the event loop', async () => {
  for (const filler of [10, 2_000]) {
    const body = `{\n"input": {"iban":"x",\n"k":"k",\n"v":[${list(filler, () => `"${'y'.repeat(60)}"`)}],\n  "iban":"x"}}`
    assert.equal(body.length > limits.thread_body_bytes, filler === 2_000)
    const { status, text } = await send('/v1/tools/iban-check/call', body, {})
    const { code, errors } = JSON.parse(text) as { code: string; errors: { position: number; line: number; column: number }[] }
    const position = body.lastIndexOf('"iban"')
    assert.deepEqual([status, code], [400, 'DUPLICATE_KEY'])
    assert.deepEqual([errors[0]?.position, errors[0]?.line, errors[0]?.column], [position, 5, 3])
  }
})
