import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { encodeAbiParameters, encodeErrorResult, parseAbi, type Hex } from 'viem'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { fraction } from '../../src/pure/market/fraction.ts'
import type { Priced } from '../../src/pure/market/fx-tables.ts'
import { feedsOf, poolOf, SEQUENCER_FEED, sqrtPriceX96At } from '../../src/pure/market/usd-prices.ts'
import type { Sources, Tool } from '../../src/service/catalogue/define.ts'
import savings from '../../src/tools/market/calculate-fx-savings.ts'
import oracle from '../../src/tools/market/fx-spot-price-oracle.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { cannedContract } from '../support/canned-contract.ts'

/** Feeds and pools at their own addresses on a chain of this machine that says to be Base. */

const WINDOW_S = 1_800
const OLD = encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: ['OLD'] })

let anvil: Anvil
let clean = ''
let now_s = 0

before(async () => {
  anvil = await startAnvil({ accounts: 0 })
  await placeFeed('SEQUENCER', { answer: 0n, started_s: 86_400 })
  await placeFeed('USDC', { answer: 99_990_000n })
  await placeFeed('EUR', { answer: 116_000_000n })
  await placeFeed('ETH', { answer: 3_000_00000000n })
  await placeFeed('EURC', { answer: 116_050_000n, name: 'EURC / USD' })
  await placePool('ETH', {})
  await placePool('EURC', { mean_tick: 1_486 })
})
beforeEach(async () => {
  if (clean !== '') await anvil.revert(clean)
  clean = await anvil.snapshot()
  // A head older than 30 s is not read.
  await anvil.mine()
})
after(() => anvil.stop())

const words = (types: string[], values: unknown[]): Hex =>
  encodeAbiParameters(
    types.map((type) => ({ type })),
    values,
  )

interface FeedState {
  answer: bigint
  age_s?: number
  started_s?: number
  name?: string
  decimals?: number
  /** Which of the symbol's feeds. */
  index?: number
}

async function placeFeed(symbol: Priced | 'SEQUENCER', state: FeedState): Promise<void> {
  const { answer, age_s = 60, started_s = age_s, name = `${symbol} / USD`, decimals = 8, index = 0 } = state
  const block = (await anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  now_s = Number(block.timestamp)
  const round = [1n, answer, BigInt(now_s - started_s), BigInt(now_s - age_s), 1n]
  const code = cannedContract({
    '0xfeaf968c': { returns: words(['uint80', 'int256', 'uint256', 'uint256', 'uint80'], round) },
    '0x313ce567': { returns: words(['uint8'], [decimals]) },
    '0x7284e416': { returns: words(['string'], [name]) },
  })
  const address = symbol === 'SEQUENCER' ? SEQUENCER_FEED : (feedsOf(symbol)[index]?.address ?? '')
  await anvil.setCode(address, code)
}

interface PoolState {
  mean_tick?: number
  liquidity?: bigint
  mean_liquidity?: bigint
  token0?: string
  old?: boolean
}

/** A tick of -196256 is 3000.7 dollars for an ether: (1.0001 ^ -196256) * 10^12. */
async function placePool(symbol: 'ETH' | 'EURC', state: PoolState): Promise<void> {
  const pool = poolOf(symbol)
  assert.ok(pool !== null)
  const { mean_tick = -196_256, liquidity = 10n ** 19n, mean_liquidity = 10n ** 19n, token0 = pool.token0, old = false } = state
  const ticks = [7_000_000_000, 7_000_000_000 + mean_tick * WINDOW_S]
  const rates = [10n ** 30n, 10n ** 30n + (BigInt(WINDOW_S) << 128n) / mean_liquidity]
  const code = cannedContract({
    '0x883bdbfd': old ? { reverts: OLD } : { returns: words(['int56[]', 'uint160[]'], [ticks, rates]) },
    '0x1a686502': { returns: words(['uint128'], [liquidity]) },
    '0x0dfe1681': { returns: words(['address'], [token0]) },
    '0xd21220a7': { returns: words(['address'], [pool.token1]) },
  })
  await anvil.setCode(pool.address, code)
}

interface Read {
  result: Record<string, unknown>
  requests: number
}

/** Runs the tool over the chain, as a live deployment does. */
async function ask(tool: Tool, input: Record<string, unknown>, chain_id = 8_453): Promise<Read> {
  // The adapter reads below the newest block, which must know what was placed.
  await anvil.mine(2)
  let requests = 0
  const pool = new Pool([anvil.rpc_url], 8_453, systemClock)
  const chain = createChainFacts({ pool, chain_id, clock: systemClock, spend: (count) => void (requests += count) })
  const sources = { clock: systemClock, chain } as unknown as Sources
  const result = await tool.execute(tool.input.parse(input), sources)
  assert.ok(tool.output.safeParse(result).success)
  return { result, requests }
}

async function refusal(tool: Tool, input: Record<string, unknown>): Promise<string> {
  const failed: unknown = await ask(tool, input).then(
    ({ result }) => assert.fail(JSON.stringify(result)),
    (error: unknown) => error,
  )
  assert.ok(failed instanceof Error && 'reason' in failed && 'code' in failed)
  assert.equal(failed.code, 'SOURCE_DOWN')
  assert.match(failed.message, /Nothing was charged/)
  return String(failed.reason)
}

const rateOf = async (base: string, quote: string) => (await ask(oracle, { base, quote })).result

test('a currency in dollars: the feed, exact both ways, at one block', async () => {
  const { result, requests } = await ask(oracle, { base: 'EUR', quote: 'USD' })
  assert.deepEqual([result['rate'], result['inverse'], result['method']], ['1.16', '0.862068965517241379', 'chainlink_cross'])
  assert.deepEqual([result['numerator'], result['denominator']], ['29', '25'])
  assert.deepEqual([result['source'], result['sandbox'], result['chain_id']], ['base_oracles', false, 8_453])
  const block = result['block'] as { hash: string; number: string }
  const found = (await anvil.rpc('eth_getBlockByNumber', [`0x${BigInt(block.number).toString(16)}`, false])) as { hash: string }
  assert.equal(block.hash, found.hash)
  // Newest, the one below it, and all reads in one.
  assert.ok(requests <= 3, String(requests))
  const back = await rateOf('USD', 'EUR')
  assert.deepEqual([back['numerator'], back['denominator'], back['rate']], ['25', '29', result['inverse']])
})

test('ether in USDC: the average of the pool alone, to the last bit', async () => {
  const result = await rateOf('WETH', 'USDC')
  assert.equal(result['method'], 'twap')
  const root = sqrtPriceX96At(-196_256)
  const exact = fraction(root * root * 10n ** 12n, 1n << 192n)
  assert.deepEqual([result['numerator'], result['denominator']], [String(exact.numerator), String(exact.denominator)])
  // Doubles are good for eleven digits here.
  const roughly = 1.0001 ** -196_256 * 1e12
  assert.ok(Math.abs(Number(result['rate']) / roughly - 1) < 1e-10)
  const [ether] = result['legs'] as Record<string, unknown>[]
  assert.deepEqual([ether?.['via'], ether?.['venue'], ether?.['window_s'], ether?.['mean_tick']], ['twap', 'uniswap_v3', 1_800, -196_256])
  const deviation = Math.abs((roughly * 0.9999) / 3_000 - 1)
  assert.ok(Math.abs(Number(ether?.['deviation']) - deviation) < 1e-8)
})

test('ether in euro joins the average with feeds; euro coin has its own pool', async () => {
  const ether = await rateOf('ETH', 'EUR')
  assert.equal(ether['method'], 'twap_and_chainlink')
  assert.ok(Math.abs(Number(ether['rate']) / ((1.0001 ** -196_256 * 1e12 * 0.9999) / 1.16) - 1) < 1e-10)
  const coin = await rateOf('EURC', 'USDC')
  assert.equal(coin['method'], 'twap')
  assert.ok(Math.abs(Number(coin['rate']) / 1.0001 ** 1_486 - 1) < 1e-10)
})

test('nothing is read of a rate that is one', async () => {
  const { result, requests } = await ask(oracle, { base: 'ETH', quote: 'WETH' })
  assert.deepEqual([result['rate'], result['method'], result['block'], requests], ['1', 'identity', null, 0])
})

test('a pool that must not be relied on: 503 and why', async () => {
  const cases: [PoolState, string][] = [
    [{ old: true }, 'twap_window_unavailable'],
    [{ liquidity: 10n ** 14n }, 'pool_too_shallow'],
    [{ mean_liquidity: 10n ** 14n }, 'pool_too_shallow'],
    [{ token0: '0x000000000000000000000000000000000000dead' }, 'pool_mismatch'],
    // Two hundred ticks are two percent.
    [{ mean_tick: -196_256 + 210 }, 'sources_disagree'],
    [{ mean_tick: -196_256 - 210 }, 'sources_disagree'],
  ]
  for (const [state, reason] of cases) {
    await placePool('ETH', state)
    assert.equal(await refusal(oracle, { base: 'ETH', quote: 'USD' }), reason)
  }
  await placePool('ETH', { mean_tick: -196_256 + 190 })
  assert.equal((await rateOf('ETH', 'USD'))['method'], 'twap_and_chainlink')
})

test('a feed or a sequencer that must not be relied on: 503 and why', async () => {
  const cases: [Priced | 'SEQUENCER', FeedState, string][] = [
    ['ETH', { answer: 3_000_00000000n, age_s: 1_400 }, 'feed_stale'],
    ['ETH', { answer: 0n }, 'round_invalid'],
    ['ETH', { answer: -3_000_00000000n }, 'round_invalid'],
    ['ETH', { answer: 3_000_00000000n, name: 'BTC / USD' }, 'feed_mismatch'],
    ['ETH', { answer: 3_000_00000000n, decimals: 18 }, 'feed_mismatch'],
    ['ETH', { answer: 3_000_00000000n, age_s: -3_600 }, 'round_invalid'],
    ['USDC', { answer: 0n }, 'round_invalid'],
    ['SEQUENCER', { answer: 1n, started_s: 60 }, 'sequencer_down'],
    ['SEQUENCER', { answer: 0n, started_s: 600 }, 'sequencer_recovering'],
  ]
  for (const [symbol, state, reason] of cases) {
    const undo = await anvil.snapshot()
    await placeFeed(symbol, state)
    assert.equal(await refusal(oracle, { base: 'ETH', quote: 'USD' }), reason)
    await anvil.revert(undo)
  }
  assert.equal(await refusal(oracle, { base: 'GBP', quote: 'USD' }), 'feed_unreadable')
})

test('an earlier feed stands in for the listed one while it is updated', async () => {
  await placeFeed('ETH', { answer: 2_990_00000000n, index: 1 })
  assert.deepEqual(legFeed(await rateOf('ETH', 'USD')), feedsOf('ETH')[0]?.address)
  await placeFeed('ETH', { answer: 3_000_00000000n, age_s: 7_200 })
  assert.deepEqual(legFeed(await rateOf('ETH', 'USD')), feedsOf('ETH')[1]?.address)
})

function legFeed(result: Record<string, unknown>): unknown {
  return (result['legs'] as Record<string, unknown>[])[0]?.['feed']
}

test('savings: one currency must have its rate, of all those that have one are given', async () => {
  const { result } = await ask(savings, { amount_usdc: '1160', currency: 'EUR', bank_fee_pct: '2.5' })
  const [euro] = result['comparisons'] as Record<string, unknown>[]
  assert.deepEqual([euro?.['direct'], euro?.['bank']], ['1000.00', { arrives: '975.00', short_by: '25.00' }])
  assert.deepEqual([result['source'], euro?.['feed']], ['chainlink', feedsOf('EUR')[0]?.address])
  const all = (await ask(savings, { amount: 1 })).result
  assert.deepEqual((all['comparisons'] as unknown[]).length, 1)
  assert.equal((all['unavailable'] as unknown[]).length, 13)
  assert.equal(await refusal(savings, { amount: 1, currency: 'GBP' }), 'feed_unreadable')
  await placeFeed('SEQUENCER', { answer: 1n })
  assert.equal(await refusal(savings, { amount: 1 }), 'sequencer_down')
})

test('another chain than Base has none of these oracles', async () => {
  await assert.rejects(ask(oracle, { base: 'EUR', quote: 'USD' }, 84_532), { reason: 'no_oracles' })
  await assert.rejects(ask(savings, { amount: 1 }, 84_532), { reason: 'no_oracles' })
})
