/** What an endpoint shows of the chain over time: heads, blocks, freshness; and what it must not show of its URL. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Heads } from '../../src/adapters/chain/pool.ts'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import type { ChainRead } from '../../src/ports/chain.ts'
import { hashOf, startFakeNode, type FakeNode } from '../support/node.ts'
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
const asked = (node: FakeNode, method: string) => node.requests.flat().filter((call) => call.method === method).length

describe('heads', () => {
  const at = (node: FakeNode, number: bigint, branch?: string) => {
    node.head = { number, hash: hashOf(number, branch), timestamp_s: 1_000 }
  }

  test('a head that goes down is old state: another endpoint is asked, or nobody answers', async () => {
    const alone = open(first)
    const both = open(first, second)
    await Promise.all([alone.head(), both.head()])
    at(first, 99n)
    await assert.rejects(alone.head(), unavailable(/endpoint 1: its head lags behind/))
    await assert.rejects(alone.read(READS), unavailable(/endpoint 1: its head lags behind/))
    assert.equal((await both.head()).number, 100n)
    // Nothing higher for half a minute: then this is the chain.
    now_ms += 30_001
    assert.equal((await alone.head()).number, 99n)
  })

  test('answers that overtake one another on the way are no lag; the highest stays the highest', () => {
    const heads = new Heads(clock)
    const head = (number: bigint) => ({ number, hash: hashOf(number), parent_hash: hashOf(number - 1n), timestamp_s: 1_000 })
    assert.equal(heads.accept(head(100n), heads.highest()), true)
    const asked_then = heads.highest()
    assert.equal(heads.accept(head(102n), asked_then), true)
    assert.equal(heads.accept(head(101n), asked_then), true)
    assert.equal(heads.highest()?.number, 102n)
    assert.equal(heads.accept(head(101n), heads.highest()), false)
  })

  test('a head that contradicts what was seen at its height is a reorganisation', async () => {
    const chain = open(first)
    at(first, 99n)
    await chain.head()
    at(first, 100n)
    await chain.head()
    at(first, 99n, 'bb')
    assert.equal((await chain.head()).hash, hashOf(99n, 'bb'))
  })

  test('an endpoint far behind another one is passed over', async () => {
    const chain = open(first, second)
    first.behave((_, response) => response.writeHead(502).end())
    await chain.head()
    first.behave(undefined)
    at(first, 94n)
    assert.equal((await chain.head()).number, 100n)
    at(first, 95n)
    assert.equal((await chain.head()).number, 95n)
  })

  test('a head dated after the clock makes no other endpoint lag', async () => {
    const chain = open(first, second)
    const serves = async (ahead_s: number) => {
      second.head = { number: 500_100n, hash: hashOf(500_100n), timestamp_s: Math.floor(now_ms / 1_000) + ahead_s }
      first.behave((_, response) => response.writeHead(502).end())
      await chain.head()
      first.behave(undefined)
      return (await chain.head()).number
    }
    assert.equal(await serves(31), 100n)
    assert.equal(await serves(30), 500_100n)
  })

  test('a read is at one block by its number, and in one request while that block is the newest', async () => {
    const chain = open(first)
    await chain.read(READS)
    first.requests.length = 0
    assert.deepEqual(await chain.read(READS), GOOD)
    assert.equal(first.requests.length, 1)
    at(first, 101n)
    await chain.read(READS)
    const blocks = first.requests.at(-1)?.map(({ params }) => params.at(-1))
    assert.deepEqual([first.requests.length, blocks], [3, ['0x65', '0x65']])
  })

  test('a head older than thirty seconds is no answer, unless blocks are made on demand', async () => {
    const ask = (age_ms: number, beforeRead?: () => Promise<void>) => {
      now_ms = 1_000_000 + age_ms
      return createChain({ urls: [first.url], chain_id: 8453, clock, ...(beforeRead && { beforeRead }) }).answers()
    }
    assert.deepEqual([await ask(30_000), await ask(30_001), await ask(30_001, () => Promise.resolve())], [true, false, true])
    first.behave((_, response) => response.writeHead(502).end())
    assert.equal(await ask(0), false)
  })

  test('whether it answers is remembered for two seconds', async () => {
    now_ms = 1_000_000
    const chain = open(first)
    assert.deepEqual(await Promise.all([chain.answers(), chain.answers()]), [true, true])
    now_ms += 1_999
    await chain.answers()
    assert.equal(asked(first, 'eth_getBlockByNumber'), 1)
    now_ms += 1
    await chain.answers()
    assert.equal(asked(first, 'eth_getBlockByNumber'), 2)
  })
})

test('credentials of a URL reach the node and no message', async () => {
  const url = first.url.replace('//', '//user:s3cret@') + 'key-s3cret'
  let authorization: string | undefined
  first.behave((_, response, request) => {
    authorization = request.headers.authorization
    return response.writeHead(500).end('s3cret')
  })
  const chain = createChain({ urls: [url, 'http://127.0.0.1:1/key-s3cret'], chain_id: 8453, clock })
  const fault = await chain.head().catch((error: unknown) => error)
  assert.equal(authorization, `Basic ${Buffer.from('user:s3cret').toString('base64')}`)
  assert.ok(fault instanceof Error && !inspect(fault, { depth: 9, showHidden: true }).includes('s3cret'))
  assert.ok(!inspect(chain, { depth: 9 }).includes('s3cret'))
  assert.throws(
    () => createChain({ urls: ['ws://user:s3cret@node'], chain_id: 8453, clock }),
    (error: Error) => !error.message.includes('s3cret') && error.message.includes('1'),
  )
})
