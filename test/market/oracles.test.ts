import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, parseAbi, type Hex } from 'viem'
import {
  type Feed,
  type CallAnswer,
  closedSeconds,
  isFxClosed,
  readFeed,
  readRound,
  sequencerFault,
  averageOf,
  floorDivide,
  observeCall,
  virtualReserve,
} from '../../src/pure/market/usd-prices.ts'
import { runs, SEED } from '../support/counts.ts'

const NOON_S = Date.UTC(2026, 10, 18, 12) / 1_000
const FEED: Feed = { address: '0x00', description: 'EUR / USD', decimals: 8, heartbeat_s: 3_600, market_hours: true }

function round(answer: bigint, updated_at_s: number, more: { id?: bigint; answered?: bigint; started_at_s?: number } = {}): Hex {
  const { id = 100n, answered = id, started_at_s = updated_at_s } = more
  const types = [{ type: 'uint80' }, { type: 'int256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'uint80' }] as const
  return encodeAbiParameters(types, [id, answer, BigInt(started_at_s), BigInt(updated_at_s), answered])
}

const good = (data: string): CallAnswer => ({ ok: true, data })
const decimals = (count: number) => good(encodeAbiParameters([{ type: 'uint8' }], [count]))
const named = (name: string) => good(encodeAbiParameters([{ type: 'string' }], [name]))

test('a feed that is good: the price, exact, and its age', () => {
  const reading = readFeed(FEED, [good(round(116_543_210n, NOON_S - 120)), decimals(8), named('EUR / USD')], NOON_S)
  assert.deepEqual(reading, {
    ok: true,
    price: { numerator: 11_654_321n, denominator: 10_000_000n },
    updated_at_s: NOON_S - 120,
    age_s: 120,
    market_closed: false,
  })
})

test('a feed that is not: why', () => {
  const answer = round(116_000_000n, NOON_S - 60)
  const cases: [string, CallAnswer, CallAnswer, CallAnswer][] = [
    ['feed_unreadable', { ok: false }, decimals(8), named('EUR / USD')],
    ['feed_unreadable', good(answer), { ok: false }, named('EUR / USD')],
    ['feed_unreadable', good(answer), decimals(8), { ok: false }],
    ['feed_unreadable', good('0x'), decimals(8), named('EUR / USD')],
    ['feed_unreadable', good(answer.slice(0, -64)), decimals(8), named('EUR / USD')],
    ['feed_unreadable', good(`0x${'f'.repeat(64)}${answer.slice(66)}`), decimals(8), named('EUR / USD')],
    ['feed_unreadable', good(answer), decimals(8), good('0x')],
    ['feed_mismatch', good(answer), decimals(18), named('EUR / USD')],
    ['feed_mismatch', good(answer), decimals(8), named('GBP / USD')],
    ['round_invalid', good(round(0n, NOON_S - 60)), decimals(8), named('EUR / USD')],
    ['round_invalid', good(round(-116_000_000n, NOON_S - 60)), decimals(8), named('EUR / USD')],
    ['round_invalid', good(round(116_000_000n, 0)), decimals(8), named('EUR / USD')],
    ['round_invalid', good(round(116_000_000n, NOON_S + 1)), decimals(8), named('EUR / USD')],
    ['round_invalid', good(round(116_000_000n, NOON_S - 60, { id: 7n, answered: 6n })), decimals(8), named('EUR / USD')],
    ['feed_stale', good(round(116_000_000n, NOON_S - 3_961)), decimals(8), named('EUR / USD')],
  ]
  for (const [reason, ...answers] of cases) assert.deepEqual(readFeed(FEED, answers, NOON_S), { ok: false, reason })
  const eldest = readFeed(FEED, [good(round(1n, NOON_S - 3_960)), decimals(8), named('eur/usd')], NOON_S)
  assert.equal(eldest.ok, true)
})

test('over the weekend a currency rests, a coin does not', () => {
  const friday_s = Date.UTC(2026, 10, 20, 20, 50) / 1_000
  const sunday_s = Date.UTC(2026, 10, 22, 22, 50) / 1_000
  const answers = [good(round(116_000_000n, friday_s)), decimals(8), named('EUR / USD')] as const
  const rested = readFeed(FEED, answers, sunday_s)
  assert.ok(rested.ok && rested.market_closed && rested.age_s === sunday_s - friday_s)
  assert.deepEqual(readFeed({ ...FEED, market_hours: false }, answers, sunday_s), { ok: false, reason: 'feed_stale' })
  assert.deepEqual(readFeed(FEED, answers, sunday_s + 2 * 3_600), { ok: false, reason: 'feed_stale' })
})

test('hours of foreign exchange: closed from Friday evening to Sunday night', () => {
  const at = (day: number, hour: number, minute: number) => Date.UTC(2026, 10, day, hour, minute) / 1_000
  const open = [at(18, 12, 0), at(20, 20, 59), at(22, 23, 0), at(23, 0, 0)]
  const closed = [at(20, 21, 0), at(21, 12, 0), at(22, 22, 59)]
  assert.deepEqual(open.map(isFxClosed), [false, false, false, false])
  assert.deepEqual(closed.map(isFxClosed), [true, true, true])
  const quarter_s = 900
  const property = fc.property(fc.nat(2_000_000), fc.integer({ min: 0, max: 2_000 }), (start, length) => {
    let counted = 0
    for (let step = 0; step < length; step++) if (isFxClosed((start + step) * quarter_s)) counted += quarter_s
    return closedSeconds(start * quarter_s, (start + length) * quarter_s) === counted
  })
  fc.assert(property, { numRuns: runs(50, 500), seed: SEED })
})

test('the sequencer must be up, and have been for more than an hour', () => {
  const since = (answer: bigint, seconds: number) => good(round(answer, NOON_S, { started_at_s: NOON_S - seconds }))
  assert.equal(sequencerFault(since(0n, 3_601), NOON_S), null)
  assert.equal(sequencerFault(since(0n, 3_600), NOON_S), 'sequencer_recovering')
  assert.equal(sequencerFault(since(1n, 90_000), NOON_S), 'sequencer_down')
  assert.equal(sequencerFault(since(2n, 90_000), NOON_S), 'sequencer_unreadable')
  assert.equal(sequencerFault(since(0n, NOON_S), NOON_S), 'sequencer_unreadable')
  assert.equal(sequencerFault({ ok: false }, NOON_S), 'sequencer_unreadable')
  assert.equal(sequencerFault(good('0x'), NOON_S), 'sequencer_unreadable')
})

test('any round is read as it was written', () => {
  const wide = fc.bigInt({ min: 0n, max: 2n ** 80n - 1n })
  const signed = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })
  const property = fc.property(wide, signed, wide, (id, answer, answered) => {
    assert.deepEqual(readRound(round(answer, 5, { id, answered, started_at_s: 4 })), {
      round_id: id,
      answer,
      started_at_s: 4n,
      updated_at_s: 5n,
      answered_in_round: answered,
    })
  })
  fc.assert(property, { numRuns: runs(50, 1_000), seed: SEED })
})

const observed = (ticks: [bigint, bigint], rates: [bigint, bigint]): Hex =>
  encodeAbiParameters([{ type: 'int56[]' }, { type: 'uint160[]' }], [ticks, rates])

test('a mean tick is rounded towards minus infinity', () => {
  // The facts of Uniswap's OracleLibrary: -7 over 2 is -4.
  const cases: [bigint, bigint, bigint][] = [
    [-7n, 2n, -4n],
    [7n, 2n, 3n],
    [-8n, 2n, -4n],
    [0n, 9n, 0n],
    [-1n, 1_800n, -1n],
    [7n, -2n, -4n],
    [-7n, -2n, 3n],
  ]
  for (const [value, by, expected] of cases) assert.equal(floorDivide(value, by), expected)
  const down = averageOf(observed([1_000n, 1_000n - 1_801n], [0n, 1n << 96n]), 1_800)
  assert.equal(down?.mean_tick, -2)
})

test('what observe returns: tick, price and liquidity', () => {
  const abi = parseAbi(['function observe(uint32[]) view returns (int56[], uint160[])'])
  assert.equal(observeCall(1_800), encodeFunctionData({ abi, functionName: 'observe', args: [[1_800, 0]] }))
  // A liquidity of 2^64 for half an hour: each second adds 2^128 / 2^64.
  const flat = averageOf(observed([-5_000n, -5_000n], [9n, 9n + 1_800n * 2n ** 64n]), 1_800)
  assert.deepEqual(flat, { mean_tick: 0, price: { numerator: 1n, denominator: 1n }, mean_liquidity: 2n ** 64n })
  assert.equal(virtualReserve(2n ** 64n, 0), 2n ** 64n)
  const wrapped = averageOf(observed([0n, 1_800n * 100n], [2n ** 160n - 2n ** 64n, 1_799n * 2n ** 64n]), 1_800)
  assert.equal(wrapped?.mean_liquidity, 2n ** 64n)
  // 1.0001^100 to ten places, by Python's decimal.
  assert.ok(wrapped !== null)
  assert.equal((wrapped.price.numerator * 10n ** 10n) / wrapped.price.denominator, 10_100_496_620n)
})

test('what observe does not return is no average', () => {
  const whole = observed([0n, 0n], [0n, 1n])
  const words: string[] = whole.slice(2).match(/.{64}/g) ?? []
  const changed = (index: number, word: string) => `0x${words.with(index, word.padStart(64, '0')).join('')}`
  const broken = [
    '0x',
    '0x00',
    whole.slice(0, -64),
    `${whole}${'0'.repeat(64)}`,
    changed(0, '60'),
    changed(1, '80'),
    changed(2, '3'),
    changed(5, '1'),
  ]
  const beyond: string[] = [changed(3, '80000000000000'), changed(7, 'f'.repeat(41)), observed([0n, 1_800n * 887_273n], [0n, 1n])]
  for (const data of [...broken, ...beyond]) assert.equal(averageOf(data, 1_800), null, data)
})
