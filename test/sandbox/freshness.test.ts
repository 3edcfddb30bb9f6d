import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshener } from '../../src/adapters/chain/sandbox-process.ts'
import { startAnvil } from '../support/anvil.ts'

/** A node whose head is dated as told, in seconds, and whose new blocks are dated by the clock. */
function fixture(head_s: number, now_ms: number) {
  const asked: string[] = []
  const state = { head_s, now_ms }
  const request = (method: string) => {
    asked.push(method)
    if (method === 'evm_mine') state.head_s = Math.floor(state.now_ms / 1_000)
    return Promise.resolve(method === 'evm_mine' ? '0x0' : { timestamp: `0x${state.head_s.toString(16)}` })
  }
  const taken = () => asked.splice(0)
  return { state, taken, ensureFresh: freshener(request, { now_ms: () => state.now_ms }) }
}

const LOOK = 'eth_getBlockByNumber'

test('a head of up to five seconds is fresh, and is not asked about again before it is older', async () => {
  const { state, taken, ensureFresh } = fixture(1_000, 1_000_000)
  await ensureFresh()
  assert.deepEqual(taken(), [LOOK])
  state.now_ms = 1_005_000
  await ensureFresh()
  assert.deepEqual(taken(), [])
  state.now_ms = 1_005_001
  await ensureFresh()
  assert.deepEqual(taken(), [LOOK, 'evm_mine'])
  state.now_ms = 1_010_000
  await ensureFresh()
  assert.deepEqual(taken(), [])
  // A payment was mined meanwhile: looking is enough.
  state.head_s = 1_009
  state.now_ms = 1_012_000
  await ensureFresh()
  assert.deepEqual(taken(), [LOOK])
})

test('callers of one moment share one look and one block', async () => {
  const { taken, ensureFresh } = fixture(1_000, 9_000_000)
  await Promise.all(Array.from({ length: 50 }, ensureFresh))
  assert.deepEqual(taken(), [LOOK, 'evm_mine'])
})

test('a head from the future spares the question for five seconds only', async () => {
  const { state, taken, ensureFresh } = fixture(9_000, 1_000_000)
  await ensureFresh()
  assert.deepEqual(taken(), [LOOK])
  state.now_ms = 1_005_001
  await ensureFresh()
  assert.deepEqual(taken(), [LOOK])
})

test('a look that fails is told to all who waited, and the next caller looks again', async () => {
  let fail = true
  const request = () => (fail ? Promise.reject(new Error('gone')) : Promise.resolve({ timestamp: '0x3e8' }))
  const ensureFresh = freshener(request, { now_ms: () => 1_000_000 })
  const both = await Promise.allSettled([ensureFresh(), ensureFresh()])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fail = false
  await ensureFresh()
})

test('on a real chain an old head is followed by one new block', async () => {
  const anvil = await startAnvil({ accounts: 0 })
  try {
    const number = async () => Number(await anvil.rpc('eth_blockNumber'))
    const before = await number()
    // Ten seconds ahead of the machine, so that the head, just mined or not, is old.
    const ensureFresh = freshener(anvil.rpc, { now_ms: () => Date.now() + 10_000 })
    await ensureFresh()
    assert.equal(await number(), before + 1)
    await ensureFresh()
    assert.equal(await number(), before + 1)
  } finally {
    await anvil.stop()
  }
})
