/** What nodes of several makes say, and what follows from it. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { encodeErrorResult, parseAbi } from 'viem'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { answersTo, hashOf, startFakeNode, type FakeNode } from '../support/node.ts'
import { clockAt } from '../support/clock-at.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const REVERT = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['Pausable: paused'] })

let node: FakeNode
let now_ms = 0

before(async () => {
  node = await startFakeNode()
})
after(() => node.stop())
beforeEach(() => {
  node.behave(undefined)
  node.requests.length = 0
})

const open = () => createChain({ urls: [node.url], chain_id: 8453, clock: clockAt(() => (now_ms += 60_000)) })

/** The node answers this method with this error. */
function failing(method: string, error: unknown): void {
  node.behave((calls, response) => {
    const answers = answersTo(node, calls).map((answer, index) =>
      calls[index]?.method === method ? { jsonrpc: '2.0', id: answer.id, error } : answer,
    )
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
  })
}

test('reverts of every client are values', async () => {
  const shapes: [string, unknown, string][] = [
    ['geth', { code: 3, message: 'execution reverted: Pausable: paused', data: REVERT }, REVERT],
    ['geth, without data', { code: -32000, message: 'execution reverted' }, '0x'],
    ['erigon', { code: 3, message: 'execution reverted', data: REVERT }, REVERT],
    ['nethermind', { code: -32015, message: 'VM execution error.', data: `Reverted ${REVERT}` }, REVERT],
    ['nethermind, without data', { code: -32015, message: 'VM execution error.', data: 'revert' }, '0x'],
    ['besu', { code: -32000, message: 'Execution reverted', data: REVERT.toUpperCase().replace('0X', '0x') }, REVERT],
    ['an object around the data', { code: -32603, message: 'Error: VM Exception: reverted', data: { message: 'x', data: REVERT } }, REVERT],
    ['two objects', { code: -32603, message: 'reverted with reason', data: { data: { data: REVERT } } }, REVERT],
    ['geth out of gas', { code: -32000, message: 'out of gas' }, '0x'],
    ['geth invalid opcode', { code: -32000, message: 'invalid opcode: INVALID' }, '0x'],
    ['geth invalid jump', { code: -32000, message: 'invalid jump destination' }, '0x'],
    ['geth return data', { code: -32000, message: 'return data out of bounds' }, '0x'],
    ['geth gas', { code: -32000, message: 'gas uint64 overflow' }, '0x'],
    ['geth initcode', { code: -32000, message: 'max initcode size exceeded: code size 49153 limit 49152' }, '0x'],
    ['geth depth', { code: -32000, message: 'max call depth exceeded' }, '0x'],
    ['geth code', { code: -32000, message: 'max code size exceeded' }, '0x'],
    ['geth ef', { code: -32000, message: 'invalid code: must not begin with 0xef' }, '0x'],
    ['a reason that speaks of limits', { code: 3, message: 'execution reverted: too many requests', data: REVERT }, REVERT],
    ['a reason that speaks of limits, without data', { code: -32000, message: 'execution reverted: rate limit' }, '0x'],
    ...['InvalidFEOpcode', 'OpcodeNotFound', 'InvalidJump', 'StackUnderflow', 'StackOverflow', 'OutOfOffset', 'OutOfGas(Basic)'].flatMap(
      (halt): [string, unknown, string][] => [
        [`anvil ${halt}`, { code: -32000, message: `EVM error ${halt}` }, '0x'],
        [`reth ${halt}`, { code: -32003, message: `EVM error: ${halt}` }, '0x'],
      ],
    ),
  ]
  for (const [client, error, revert] of shapes) {
    failing('eth_call', error)
    const [result] = await open().read([{ kind: 'call', to: ADDRESS, data: '0x' }])
    assert.ok(result?.ok === false && result.revert === revert, client)
    if (revert !== '0x') assert.equal(result.message, 'Pausable: paused')
  }
})

test('a revert that a node hands out as a result is a revert still, and no balance', async () => {
  // As geth up to 1.9.13: https://github.com/ethereum/go-ethereum/issues/19027.
  const panic = encodeErrorResult({ abi: parseAbi(['error Panic(uint256)']), args: [17n] })
  for (const [data, message] of [
    [REVERT, 'Pausable: paused'],
    [panic, 'panic 17'],
  ] as const) {
    node.behave((calls, response) => {
      const answers = answersTo(node, calls).map((answer, index) =>
        calls[index]?.method === 'eth_call' ? { jsonrpc: '2.0', id: answer.id, result: data } : answer,
      )
      response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
    })
    const call = { kind: 'call', to: ADDRESS, data: '0x70a08231' } as const
    assert.deepEqual(await open().read([call]), [{ ok: false, revert: data, message }])
    const pool = new Pool(
      [node.url],
      8453,
      clockAt(() => 1_000_000),
    )
    const facts = createChainFacts({ pool, chain_id: 8453, clock: clockAt(() => 1_000_000), beforeRead: async () => undefined })
    assert.deepEqual(await facts.atOneBlock((at) => at.read([call])), [{ ok: false, revert: data, message }])
  }
})

test('troubles of a node are no reverts', async () => {
  const troubles = [
    { code: -32000, message: 'header not found' },
    { code: -32000, message: 'missing trie node 1234 (path ) <nil>' },
    { code: -32000, message: 'execution aborted (timeout = 5s)' },
    { code: -32000, message: 'EVM error: database error: no such block' },
    { code: -32000, message: 'EVM error: custom: internal' },
    { code: -32603, message: 'Internal error' },
    { code: -32601, message: 'the method eth_call does not exist/is not available' },
    { code: -32602, message: 'BlockOutOfRangeError: block height is 0 but requested was 100' },
    { code: 'E', message: 'execution reverted' },
    'execution reverted',
  ]
  for (const error of troubles) {
    failing('eth_call', error)
    await assert.rejects(open().read([{ kind: 'call', to: ADDRESS, data: '0x' }]), { code: 'CHAIN_UNAVAILABLE' })
  }
  // Only a call can revert.
  failing('eth_getCode', { code: 3, message: 'execution reverted', data: '0x' })
  await assert.rejects(open().read([{ kind: 'code', address: ADDRESS }]), { code: 'CHAIN_UNAVAILABLE' })
})

test('what nodes say to a transaction', async () => {
  const said: [string, string, number?][] = [
    ['already known', 'known'],
    ['AlreadyKnown', 'known', -32010],
    ['Known transaction', 'known'],
    ['transaction already imported', 'known', -32003],
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['OldNonce', 'nonce_used', -32010],
    ['Nonce too low', 'nonce_used', -32001],
    ['replacement transaction underpriced', 'underpriced'],
    ['ReplacementNotAllowed', 'underpriced', -32010],
    ['insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1', 'refused'],
    ['InsufficientFunds, Balance is 0 less than sending value', 'refused', -32010],
    ['transaction underpriced: tip needed 1, tip permitted 0', 'refused'],
    ['max fee per gas less than block base fee', 'refused'],
    ['intrinsic gas too low', 'refused'],
    ['nonce too high', 'refused'],
    ['txpool is full', 'refused'],
    ['invalid sender', 'refused'],
    ['a reason that nobody has heard of', 'refused'],
  ]
  for (const [message, kind, code = -32000] of said) {
    failing('eth_sendRawTransaction', { code, message })
    const sent = await open().send('0x02')
    assert.equal(sent.kind, kind, message)
    if (sent.kind === 'refused') assert.ok(!sent.message.includes(message))
  }
})

test('a node in trouble leaves open what became of a transaction', async () => {
  for (const error of [
    { code: -32603, message: 'Internal error' },
    { code: -32000, message: 'request timed out' },
    { code: -32000, message: 'service unavailable' },
    { code: -32601, message: 'Method not found' },
  ]) {
    failing('eth_sendRawTransaction', error)
    await assert.rejects(open().send('0x02'), { code: 'CHAIN_UNAVAILABLE' }, error.message)
  }
})

test('limits in JSON-RPC are pauses, not answers', async () => {
  for (const error of [
    { code: -32005, message: 'daily request count exceeded, request rate limited' },
    { code: 429, message: 'Your app has exceeded its compute units per second capacity' },
    { code: -32007, message: '50/second request limit reached - reduce calls per second or upgrade your account' },
    { code: 15, message: 'Too many request, try again later' },
    { code: -32016, message: 'over rate limit' },
    { code: -32090, message: 'Too many requests, reason: call rate limit exhausted, retry in 10s' },
    { code: -32005, message: "You've exceeded the RPS limit available on the current plan" },
  ]) {
    failing('eth_call', error)
    await assert.rejects(open().read([{ kind: 'call', to: ADDRESS, data: '0x' }]), /too many requests/)
    // Asked for logs, a node that is asked too often has said nothing of their range.
    failing('eth_getLogs', error)
    const asked_before = node.requests.length
    await assert.rejects(open().logs({ address: ADDRESS, topics: [], from_block: 50n, to_block: 100n }), /too many requests/)
    assert.ok(node.requests.length - asked_before <= 3, error.message)
    // One error for the whole batch, under the id of one of its questions.
    node.behave((calls, response) => {
      const [first] = answersTo(node, calls)
      response.end(JSON.stringify(calls.length === 1 ? first : { jsonrpc: '2.0', id: first?.id, error }))
    })
    const two = [ADDRESS, ADDRESS].map((to) => ({ kind: 'call', to, data: '0x' }) as const)
    await assert.rejects(open().read(two, 100n), /too many requests/)
  }
})

test('a range of logs that is refused is halved until it is served, in order', async () => {
  node.behave((calls, response) => {
    const answers = calls.map(({ id, method, params }) => {
      if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x2105' }
      if (method === 'eth_getBlockByNumber') return { jsonrpc: '2.0', id, result: block(BigInt(String(params[0]))) }
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      const [from, to] = [BigInt(fromBlock), BigInt(toBlock)]
      if (to - from >= 100n) return { jsonrpc: '2.0', id, error: { code: -32005, message: 'block range is too large' } }
      return { jsonrpc: '2.0', id, result: [logAt(from), logAt(to)] }
    })
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
  })
  const found = await open().logs({ address: ADDRESS, topics: [], from_block: 1_000n, to_block: 1_399n })
  assert.deepEqual(
    found.map(({ block_number }) => block_number),
    [1_000n, 1_099n, 1_100n, 1_199n, 1_200n, 1_299n, 1_300n, 1_399n],
  )
  await assert.rejects(open().logs({ address: ADDRESS, topics: [], from_block: 0n, to_block: 1_000_000n }), /more than 32 requests/)
  // A node that was started from a snapshot has no block below it, and says nothing of what was there.
  node.behave((calls, response) => {
    const answers = calls.map(({ id, method, params }) => {
      if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x2105' }
      if (method === 'eth_getLogs') return { jsonrpc: '2.0', id, result: [] }
      return { jsonrpc: '2.0', id, result: BigInt(String(params[0])) < 1_050n ? null : block(BigInt(String(params[0]))) }
    })
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
  })
  assert.deepEqual(await open().logs({ address: ADDRESS, topics: [], from_block: 1_050n, to_block: 1_099n }), [])
  await assert.rejects(open().logs({ address: ADDRESS, topics: [], from_block: 1_000n, to_block: 1_099n }), /does not reach back/)
  // A node that returns what was not asked for.
  node.behave((calls, response) => {
    const answers = calls.map(({ id, method, params }) => {
      if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x2105' }
      return { jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [logAt(1n)] : block(BigInt(String(params[0]))) }
    })
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
  })
  await assert.rejects(open().logs({ address: `0x${'33'.repeat(20)}`, topics: [], from_block: 1n, to_block: 2n }), /not what was asked/)
})

function block(number: bigint) {
  return { number: `0x${number.toString(16)}`, hash: hashOf(number), parentHash: hashOf(number), timestamp: '0x1' }
}

function logAt(number: bigint) {
  const { hash: blockHash, number: blockNumber } = block(number)
  return { address: ADDRESS, topics: [], data: '0x', blockNumber, blockHash, transactionHash: hashOf(1n), logIndex: '0x0', removed: false }
}
