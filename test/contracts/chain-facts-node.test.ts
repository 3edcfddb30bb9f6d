/** Facts from a node that says what a real one seldom does; what is right follows from the rule of one block and from RFC 3339. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { createTransfers } from '../../src/adapters/chain/history.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { ChainWatch } from '../../src/adapters/chain/watch.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { ChainFacts, FactRead } from '../../src/ports/chain-facts.ts'
import { addressTopic, TRANSFER_TOPIC } from '../../src/pure/payments/token-calls.ts'
import blockInfo from '../../src/tools/chain/block-info.ts'
import { fixedSources } from '../support/sources.ts'
import { startSyntheticNode, type SyntheticNode } from '../support/synthetic-node.ts'

const CHAIN = 8453
const HEAD = 20_005_002
const ME = `0x${'11'.repeat(20)}`
const BLOCK = { parentHash: `0x${'5'.repeat(64)}`, timestamp: '0x5', transactions: [], gasUsed: '0x0', gasLimit: '0x1' }
const HASH = `0x${'cd'.repeat(32)}`

let node: SyntheticNode

before(async () => {
  node = await startSyntheticNode({ chain_id: CHAIN, head: HEAD, token: ME, account: ME, log_range: 10_000 })
})
after(() => node.stop())
afterEach(() => {
  node.says = () => null
})

const pool = () => new Pool([node.url], CHAIN, systemClock)
const facts = () => createChainFacts({ pool: pool(), chain_id: CHAIN, clock: systemClock })
const balances = (count: number) => Array.from({ length: count }, (): FactRead => ({ kind: 'balance', address: ME }))

/** The node says this of the block that is asked for so. */
function saysOf(at: string, result: Record<string, unknown>): void {
  node.says = ({ method, params }) => (method === 'eth_getBlockByNumber' && params[0] === at ? { result } : null)
}

const blockOf = async (block: string) => blockInfo.execute({ block }, { ...fixedSources([blockInfo]), chain: facts() })

for (const count of [1, 19, 20, 24, 39]) {
  test(`${count} reads: no request has more than twenty questions, and each ends with the block's`, async () => {
    node.asked.length = 0
    const said = await facts().atOneBlock((at) => at.read(balances(count)))
    assert.deepEqual(
      said,
      Array.from({ length: count }, () => ({ ok: true, data: '0x7' })),
    )
    const pieces = node.asked.map((calls) => calls.map(({ method }) => method)).filter((methods) => methods.includes('eth_getBalance'))
    assert.equal(pieces.length, Math.ceil(count / 19))
    for (const methods of pieces) {
      assert.ok(methods.length <= 20)
      assert.equal(methods.indexOf('eth_getBlockByNumber'), methods.length - 1)
    }
  })
}

test('a machine on another branch that serves a part of the reads is a reorganisation', async () => {
  const at = `0x${(HEAD - 1).toString(16)}`
  node.says = ({ method, params }, request) =>
    method === 'eth_getBlockByNumber' && params[0] === at && request.length > 1 && request.length < 20
      ? { result: { ...BLOCK, number: at, hash: HASH } }
      : null
  await assert.rejects(
    facts().atOneBlock((one) => one.read(balances(24))),
    { code: 'CHAIN_UNAVAILABLE', reason: 'reorg' },
  )
})

test('a pending block has no hash, whatever the node calls it, and a number where the node gives one', async () => {
  saysOf('pending', { ...BLOCK, number: '0x7', hash: HASH })
  const shown = { found: true, valid: true, requested: 'pending', final: false, hash: null, timestamp_s: 5 }
  assert.partialDeepStrictEqual(await blockOf('pending'), { ...shown, number: '7' })
  saysOf('pending', { ...BLOCK, number: null, hash: null })
  assert.partialDeepStrictEqual(await blockOf('pending'), { ...shown, number: null })
})

test('a block below a head that was seen is there, though a machine behind the URL does not have it yet', async () => {
  const chain = facts()
  assert.equal((await chain.block('latest'))?.number, BigInt(HEAD))
  const at = `0x${(HEAD - 1).toString(16)}`
  for (const none of [{ result: null }, { error: { code: -32000, message: 'header not found' } }]) {
    node.says = ({ method, params }) => (method === 'eth_getBlockByNumber' && params[0] === at ? none : null)
    await assert.rejects(chain.block(BigInt(HEAD - 1)), { code: 'CHAIN_UNAVAILABLE' }, JSON.stringify(none))
  }
  assert.equal(await chain.block(BigInt(HEAD + 1)), null)
})

test('a history that the node does not reach back to is none: silence about blocks that it never had is no emptiness', async () => {
  // A node that was started from a snapshot within the window: it has no block below, and finds no log there.
  const first = HEAD - 1_000
  node.says = ({ method, params }) => {
    if (method === 'eth_getBlockByNumber' && Number(params[0]) < first) return { result: null }
    if (method !== 'eth_getLogs') return null
    const { fromBlock } = params[0] as { fromBlock: string }
    return Number(fromBlock) < first ? { result: [] } : null
  }
  const store = { stretches: async () => [], keep_stretches: async () => undefined, purge_stretches: async () => 0 }
  const source = createTransfers({ pool: pool(), chain_id: CHAIN, clock: systemClock, store })
  await assert.rejects(source.history(ME, ME, 2_000), { code: 'CHAIN_UNAVAILABLE' })
})

test('a history whose parts are of two branches is none', async () => {
  const store = { stretches: async () => [], keep_stretches: async () => undefined, purge_stretches: async () => 0 }
  const read = () => createTransfers({ pool: pool(), chain_id: CHAIN, clock: systemClock, store }).history(ME, ME, 10_000)
  const hex = (number: number) => `0x${number.toString(16)}`
  const of = (number: number, hash: string, parentHash: string) => ({ ...BLOCK, number: hex(number), hash, parentHash })
  const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
  assert.equal((await read()).transfers.length, 200)
  // The second stretch begins with a block whose parent is not the last block of the first.
  saysOf(hex(20_000_000), of(20_000_000, word(20_000_000), HASH))
  await assert.rejects(read(), /do not follow one another/)
  // A log that names another block than the one that stands at its height: 20,000,000 holds one.
  saysOf(hex(20_000_000), of(20_000_000, HASH, word(19_999_999)))
  await assert.rejects(read(), /do not follow one another/)
  // Within a stretch that is read in parts.
  const parts = await startSyntheticNode({ chain_id: CHAIN, head: HEAD, token: ME, account: ME, log_range: 2_000 })
  try {
    const over = () => createTransfers({ pool: new Pool([parts.url], CHAIN, systemClock), chain_id: CHAIN, clock: systemClock, store })
    assert.equal((await over().history(ME, ME, 10_000)).transfers.length, 200)
    parts.says = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === hex(20_002_000) ? { result: of(20_002_000, word(20_002_000), HASH) } : null
    await assert.rejects(over().history(ME, ME, 10_000), /do not follow one another/)
  } finally {
    await parts.stop()
  }
})

test('two transfers in one place are no history: one of them would be lost', async () => {
  const store = { stretches: async () => [], keep_stretches: async () => undefined, purge_stretches: async () => 0 }
  const history = () => createTransfers({ pool: pool(), chain_id: CHAIN, clock: systemClock, store }).history(ME, ME, 1_000)
  const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
  const block = 20_004_500
  const logOf = (transaction: number, out: boolean) => ({
    address: ME,
    topics: [TRANSFER_TOPIC, ...(out ? [addressTopic(ME), word(0xb0b)] : [word(0xb0b), addressTopic(ME)])],
    data: word(5),
    blockNumber: `0x${block.toString(16)}`,
    blockHash: word(block),
    transactionHash: word(transaction),
    logIndex: '0x0',
  })
  const said = (...logs: object[]) => {
    node.says = ({ method, params }) => {
      if (method !== 'eth_getLogs') return null
      const { fromBlock, toBlock, topics } = params[0] as { fromBlock: string; toBlock: string; topics: (string | null)[] }
      const here = Number(fromBlock) <= block && block <= Number(toBlock) && topics[1] !== null
      return { result: here ? logs : [] }
    }
  }
  // The place of a log is counted over the block (execution API, 2025); a node that counts it over the transaction names one place twice.
  said(logOf(1, true), logOf(2, true))
  await assert.rejects(history(), { code: 'CHAIN_UNAVAILABLE' })
  said(logOf(1, true), logOf(1, true))
  assert.equal((await history()).transfers.length, 1)
})

test('a number that is more than nodes count to is no block', async () => {
  node.says = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === '0xffffffffffffffff'
      ? { error: { code: -32602, message: 'invalid argument 0: block number larger than int64' } }
      : null
  assert.partialDeepStrictEqual(await blockOf('0xffffffffffffffff'), { found: false, number: null })
  assert.partialDeepStrictEqual(await blockOf('0x7fffffffffffffff'), { found: false, number: null })
})

test('a block is dated no later than RFC 3339 can write', async () => {
  // 9999-12-31T23:59:59Z, by `date -u -d @253402300799`.
  const last = 253_402_300_799
  for (const [timestamp, holds] of [
    [last, true],
    [last + 1, false],
    [Number.MAX_SAFE_INTEGER, false],
  ] as const) {
    saysOf('0x5', { ...BLOCK, number: '0x5', hash: HASH, timestamp: `0x${timestamp.toString(16)}` })
    if (holds) assert.partialDeepStrictEqual(await blockOf('5'), { timestamp: '9999-12-31T23:59:59.000Z' })
    else await assert.rejects(blockOf('5'), { code: 'CHAIN_UNAVAILABLE' })
  }
})

test('a head dated ahead of the clock is none to read at; a sandbox makes many blocks at once, and dates them so', async () => {
  const timestamp = `0x${(Math.floor(Date.now() / 1_000) + 60).toString(16)}`
  const at = `0x${HEAD.toString(16)}`
  node.says = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && ['latest', at].includes(String(params[0]))
      ? { result: { ...BLOCK, number: at, hash: HASH, timestamp } }
      : null
  const read = (chain: ChainFacts) => chain.atOneBlock((one) => one.read(balances(1)))
  await assert.rejects(read(facts()), /dated ahead/)
  await assert.rejects(facts().block('latest'), /dated ahead/)
  const store = { stretches: async () => [], keep_stretches: async () => undefined, purge_stretches: async () => 0 }
  const options = { pool: pool(), chain_id: CHAIN, clock: systemClock }
  await assert.rejects(createTransfers({ ...options, store }).history(ME, ME, 10), /dated ahead/)
  const watch = new ChainWatch({ pool: pool(), clock: systemClock, token: ME, account: ME, sandbox: false })
  assert.equal(await watch.ready(1), false)
  const sandbox = createChainFacts({ ...options, beforeRead: async () => undefined })
  assert.equal((await read(sandbox)).length, 1)
  assert.equal((await sandbox.block('latest'))?.number, BigInt(HEAD))
})

test('a sandbox that makes no block is a chain that cannot be read, not a fault of ours', async () => {
  const beforeRead = () => Promise.reject(new TypeError('fetch failed'))
  const options = { pool: pool(), chain_id: CHAIN, clock: systemClock, beforeRead }
  const chain = createChainFacts(options)
  const store = { stretches: async () => [], keep_stretches: async () => undefined, purge_stretches: async () => 0 }
  const fault = { code: 'CHAIN_UNAVAILABLE', reason: 'unavailable' }
  await assert.rejects(chain.block('latest'), fault)
  await assert.rejects(
    chain.atOneBlock((at) => at.read(balances(1))),
    fault,
  )
  await assert.rejects(createTransfers({ ...options, store }).history(ME, ME, 10), fault)
})
