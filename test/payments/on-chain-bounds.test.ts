/** Verification is work that nobody has paid for yet: what bounds it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ChainRead } from '../../src/ports/chain.ts'
import { createOnChainCheck, type OnChainCheck } from '../../src/service/payments/on-chain.ts'
import type { OnChainLimits } from '../../src/service/payments/reserved-balances.ts'
import { startBench, type Bench, type Draft } from '../support/on-chain.ts'

const HELD_MINOR = 1_000n

let bench: Bench
let shift_ms = 0

before(async () => {
  bench = await startBench()
  await bench.anvil.mint(account(0).address, HELD_MINOR)
})
after(() => bench.anvil.stop())

function account(index: number) {
  const found = bench.anvil.accounts[index]
  assert.ok(found !== undefined)
  return found
}

interface Asked {
  check: OnChainCheck
  /** Code of the refusal, or `ok`. */
  ask(draft?: Partial<Draft>, client?: string): Promise<string>
}

function asking(limits: Partial<OnChainLimits> = {}): Asked {
  const check = createOnChainCheck(bench.parts({ limits, shift_ms: () => shift_ms }))
  return {
    check,
    async ask(draft = {}, client = 'client') {
      const { authorization, recovered } = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10n, ...draft })
      const found = await check(authorization, recovered, client)
      return found.ok ? 'ok' : found.code
    },
  }
}

// attack: floods of payments that fail verification
// in: money and signatures
// asset: chain endpoints
// attacker: payer
// defence: thirty failures a minute for each client, one budget of requests for all
test('a client that fails thirty times within a minute is not listened to until the minute is over', async () => {
  const { ask, check } = asking({ round_trips_burst: 1_000 })
  const forged = { by: account(2), from: account(0).address }
  for (let failure = 0; failure < 30; failure += 1) assert.equal(await ask(forged), 'BAD_SIGNATURE')
  assert.equal(await ask(), 'RATE_LIMITED')
  assert.equal(await ask({}, 'another client'), 'ok')
  const { authorization, recovered } = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10n })
  const refusal = await check(authorization, recovered, 'client')
  assert.ok(!refusal.ok && refusal.retryable && (refusal.retry_after_s ?? 0) > 0 && (refusal.retry_after_s ?? 0) <= 60)
  shift_ms += 60_000
  assert.equal(await ask(), 'ok')
})

test('good payments of one client are not limited', async () => {
  const { ask } = asking()
  for (let payment = 0; payment < 40; payment += 1) assert.equal(await ask(), 'ok')
})

test('a balance that was too low is believed for ten seconds, for more than it alone, and for the payer alone', async () => {
  const { ask } = asking()
  const more = { value_minor: HELD_MINOR + 1n }
  assert.equal(await ask(more), 'INSUFFICIENT_FUNDS')
  const looked = bench.reads()
  assert.equal(await ask(more), 'INSUFFICIENT_FUNDS')
  assert.equal(bench.reads(), looked)
  assert.equal(await ask({ ...more, by: account(2), from: account(0).address }), 'BAD_SIGNATURE')
  assert.equal(await ask({ value_minor: HELD_MINOR }), 'ok')
  await bench.anvil.mint(account(0).address, 1n)
  assert.equal(await ask(more), 'INSUFFICIENT_FUNDS')
  shift_ms += 10_000
  assert.equal(await ask(more), 'ok')
})

// attack: floods of payments that fail verification
test('all clients together have one budget of round trips, which grows back', async () => {
  const { ask } = asking({ round_trips_burst: 3, round_trips_per_second: 0.05 })
  const now = shift_ms
  const at_once = await Promise.all(Array.from({ length: 6 }, (_, client) => ask({}, `client ${client}`)))
  assert.deepEqual(at_once.toSorted(), [...Array(3).fill('VERIFICATION_BUSY'), ...Array(3).fill('ok')])
  shift_ms = now + 60_000
  assert.equal(await ask(), 'ok')
})

test('the same payment, sent fifty times at once, is looked at once', async () => {
  const { check } = asking()
  const { authorization, recovered } = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10n })
  const found = await Promise.all(Array.from({ length: 50 }, (_, client) => check({ ...authorization }, recovered, `client ${client}`)))
  assert.ok(found.every(({ ok }) => ok))
  assert.equal(bench.reads(), 1)
})

test('each client that sends a bad payment is charged for it, though it is looked at once', async () => {
  const { check } = asking({ failures_per_minute: 1 })
  const { authorization, recovered } = await bench.sign({
    by: account(2),
    from: account(0).address,
    to: account(1).address,
    value_minor: 10n,
  })
  const ask = async (client: string) => {
    const found = await check(authorization, recovered, client)
    return found.ok ? 'ok' : found.code
  }
  assert.deepEqual(await Promise.all([ask('a'), ask('b')]), ['BAD_SIGNATURE', 'BAD_SIGNATURE'])
  assert.equal(bench.reads(), 1)
  assert.deepEqual([await ask('a'), await ask('b'), await ask('c')], ['RATE_LIMITED', 'RATE_LIMITED', 'BAD_SIGNATURE'])
})

test('a chain that cannot be read refuses by our fault, and the client is not charged', async () => {
  const parts = bench.parts({ limits: { failures_per_minute: 1 } })
  const fault = Object.assign(new Error('down'), { code: 'CHAIN_UNAVAILABLE' })
  const { authorization, recovered } = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10n })
  let answers = false
  const chain = { answers: () => Promise.resolve(answers), read: () => Promise.reject(fault) }
  const check = createOnChainCheck({ ...parts, chain })
  for (const up of [false, true, true]) {
    answers = up
    const found = await check(authorization, recovered, 'client')
    assert.deepEqual(!found.ok && [found.code, found.retryable], ['UPSTREAM_RPC_UNAVAILABLE', true])
  }
})

test('the token is looked for once; later looks ask for it no more', async () => {
  const parts = bench.parts()
  const asked: number[] = []
  const chain = {
    answers: parts.chain.answers,
    read(reads: readonly ChainRead[], at?: bigint) {
      asked.push(reads.filter((read) => read.kind === 'code').length)
      return parts.chain.read(reads, at)
    },
  }
  const check = createOnChainCheck({ ...parts, chain })
  for (let payment = 0; payment < 2; payment += 1) {
    const { authorization, recovered } = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10n })
    assert.equal((await check(authorization, recovered, 'client')).ok, true)
  }
  assert.deepEqual(asked, [2, 1])
})
