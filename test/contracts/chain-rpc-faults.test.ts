/** Endpoints that misbehave: each ends in another endpoint's answer or in CHAIN_UNAVAILABLE, in bounded time, never in a guess. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import type { ChainRead } from '../../src/ports/chain.ts'
import { answersTo, hashOf, startFakeNode, type Behaviour, type FakeNode, type NodeCall } from '../support/node.ts'
import { clockAt } from '../support/clock-at.ts'

const READS: ChainRead[] = [
  { kind: 'call', to: `0x${'11'.repeat(20)}`, data: '0x' },
  { kind: 'balance', address: `0x${'22'.repeat(20)}` },
]
const GOOD = [
  { ok: true, data: '0x01' },
  { ok: true, data: '0x7' },
]

let first: FakeNode
let second: FakeNode
let now_ms = 1_000_000
const clock = clockAt(() => now_ms)

before(async () => {
  ;[first, second] = await Promise.all([startFakeNode(), startFakeNode()])
})
after(() => Promise.all([first.stop(), second.stop()]))
beforeEach(() => {
  for (const node of [first, second]) {
    node.behave(undefined)
    node.requests.length = 0
    node.head = { number: 100n, hash: hashOf(100n), timestamp_s: 1_000 }
  }
})

const open = (...nodes: FakeNode[]) => createChain({ urls: nodes.map(({ url }) => url), chain_id: 8453, clock })
const unavailable = (words: RegExp) => ({ code: 'CHAIN_UNAVAILABLE', message: words })
/** Lets the question for the chain id through, so that the fault meets the reads. */
const reading =
  (behaviour: Behaviour): Behaviour =>
  (calls, response, request) =>
    calls[0]?.method === 'eth_chainId' ? null : behaviour(calls, response, request)
const json = (response: ServerResponse, value: unknown) => response.end(JSON.stringify(value))

async function* endless() {
  const chunk = Buffer.alloc(65_536, ' ')
  for (;;) yield chunk
}

/** What is wrong, and the words with which it is told when nobody else can be asked. */
const FAULTS: Record<string, [Behaviour, RegExp]> = {
  'never answers': [() => undefined, /endpoint 1: no answer within 2000 ms/],
  'answers in HTML': [(_, response) => response.end('<html>busy</html>'), /endpoint 1: an answer that is not JSON/],
  'answers 500': [(_, response) => response.writeHead(500).end('oops'), /endpoint 1: HTTP status 500/],
  'answers 403 in JSON': [(_, response) => json(response.writeHead(403), { message: 'forbidden' }), /endpoint 1: an answer that is not/],
  redirects: [(_, response) => response.writeHead(307, { location: second.url }).end(), /endpoint 1: connection failed/],
  'drops the connection in the middle of an answer': [
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('[{"jsonrpc"', () => response.destroy())
    },
    /endpoint 1: connection failed/,
  ],
  'sends without end': [
    (_, response) => void pipeline(endless, response).catch(() => undefined),
    /endpoint 1: an answer of more than 8388608 bytes/,
  ],
  'serves another chain': [
    (calls, response) => (calls[0]?.method === 'eth_chainId' ? json(response, { jsonrpc: '2.0', id: calls[0].id, result: '0x1' }) : null),
    /endpoint 1: it serves another chain/,
  ],
  'leaves out one answer of a batch': [
    reading((calls, response) => json(response, answersTo(first, calls).slice(1))),
    /not what was asked/,
  ],
  'answers one call twice': [
    reading((calls, response) => json(response, answersTo(first, [...calls.slice(0, -1), ...calls.slice(0, 1)]))),
    /not what was asked/,
  ],
  'answers with ids as text': [
    reading((calls, response) =>
      json(
        response,
        answersTo(first, calls).map((one) => ({ ...one, id: String(one.id) })),
      ),
    ),
    /not what was asked/,
  ],
  'returns what is no hex': [
    reading((calls, response) =>
      json(
        response,
        answersTo(first, calls).map((one) => ({ jsonrpc: '2.0', id: one.id, result: 'yes' })),
      ),
    ),
    /not what was asked/,
  ],
  'takes no batches': [
    reading((_, response) => json(response, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches here' } })),
    /endpoint 1: it refused with error -32600/,
  ],
  'does not have the block': [
    reading((calls, response) =>
      json(
        response,
        answersTo(first, calls).map((one, index) =>
          calls[index]?.method === 'eth_call' ? { jsonrpc: '2.0', id: one.id, error: { code: -32000, message: 'header not found' } } : one,
        ),
      ),
    ),
    /endpoint 1: it refused with error -32000/,
  ],
}

for (const [name, [behaviour, words]] of Object.entries(FAULTS)) {
  describe(`an endpoint that ${name}`, () => {
    test('is told by its number alone', async () => {
      first.behave(behaviour)
      await assert.rejects(open(first).read(READS), unavailable(words))
    })
    test('is passed over for the next one', async () => {
      first.behave(behaviour)
      assert.deepEqual(await open(first, second).read(READS), GOOD)
    })
  })
}

test('an endpoint of another chain is asked for nothing but its chain', async () => {
  first.behave(FAULTS['serves another chain']?.[0])
  await open(first, second)
    .send('0x02')
    .catch(() => undefined)
  assert.deepEqual(
    first.requests.flat().map(({ method }) => method),
    ['eth_chainId'],
  )
})

test('answers in another order are put in the right one', async () => {
  first.behave(reading((calls, response) => json(response, answersTo(first, calls).toReversed())))
  assert.deepEqual(await open(first).read(READS), GOOD)
})

// RFC 9110, 10.2.3: Retry-After comes with 503 too.
for (const status of [429, 503]) {
  test(`a node that asks for a pause by ${status} gets it once, and the question succeeds after it`, async () => {
    let refusals = 0
    first.behave(reading((_, response) => (refusals++ === 0 ? response.writeHead(status, { 'retry-after': '1' }).end() : null)))
    const started_ms = performance.now()
    assert.deepEqual(await open(first).read(READS), GOOD)
    assert.ok(performance.now() - started_ms >= 990)
  })
}

test('a pause is spent with another endpoint, and the first is left alone until it is over', async () => {
  const chain = open(first, second)
  first.behave(reading((_, response) => response.writeHead(429, { 'retry-after': '30' }).end()))
  assert.deepEqual(await chain.read(READS), GOOD)
  const before_pause = first.requests.length
  first.behave(undefined)
  assert.deepEqual(await chain.read(READS), GOOD)
  assert.equal(first.requests.length, before_pause)
  now_ms += 30_000
  await chain.read(READS)
  assert.ok(first.requests.length > before_pause)
})

test('a pause that is longer than anybody waits is not waited for', async () => {
  first.behave((_, response) => response.writeHead(429, { 'retry-after': '3600' }).end())
  await assert.rejects(open(first).read(READS), unavailable(/endpoint 1: too many requests/))
  assert.equal(first.requests.length, 1)
})

test('endpoints that all hang get six seconds together, not two each', async () => {
  for (const node of [first, second]) node.behave(() => undefined)
  await assert.rejects(open(first, second, first, second).read(READS), unavailable(/endpoint 1: .*endpoint 2: /))
  assert.equal(first.requests.length + second.requests.length, 3)
})

test('three failures take an endpoint out of service; one probe brings it back, a failed one doubles the time', async () => {
  const chain = open(first)
  const fail = () => assert.rejects(chain.read(READS), { code: 'CHAIN_UNAVAILABLE' })
  first.behave((_, response) => response.writeHead(502).end())
  for (let failure = 0; failure < 3; failure += 1) await fail()
  const quiet = async (ms: number) => {
    const requests = first.requests.length
    now_ms += ms - 1
    await assert.rejects(chain.read(READS), unavailable(/endpoint 1: out of service/))
    assert.equal(first.requests.length, requests)
    now_ms += 1
  }
  await quiet(5_000)
  await fail()
  await quiet(10_000)
  await fail()
  await quiet(20_000)
  // Half open: of many questions at once a single one goes out.
  first.behave(undefined)
  const requests = first.requests.length
  const at_once = await Promise.allSettled(Array.from({ length: 10 }, () => chain.header(100n)))
  assert.equal(at_once.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.deepEqual(
    first.requests
      .slice(requests)
      .flat()
      .map((call: NodeCall) => call.method),
    ['eth_chainId', 'eth_getBlockByNumber'],
  )
  assert.deepEqual(await chain.read(READS), GOOD)
})

test('one answer that many waited for is one failure', async () => {
  const chain = open(first)
  first.behave((_, response) => response.writeHead(502).end())
  const at_once = await Promise.allSettled(Array.from({ length: 10 }, () => chain.header(100n)))
  assert.ok(at_once.every(({ status }) => status === 'rejected'))
  assert.equal(first.requests.length, 1)
  first.behave(undefined)
  assert.deepEqual(await chain.read(READS), GOOD)
})

test('failures that are far apart take nothing out of service', async () => {
  const chain = open(first)
  for (let failure = 0; failure < 6; failure += 1) {
    first.behave((_, response) => response.writeHead(502).end())
    await assert.rejects(chain.read(READS), unavailable(/HTTP status 502/))
    now_ms += 5_001
  }
})
