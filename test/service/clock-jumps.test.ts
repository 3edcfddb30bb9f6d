/** What is remembered while the wall clock is an hour ahead does not outlast the jump: deadlines and breakers count steady time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Breaker } from '../../src/pure/breaker.ts'
import { EndpointFault } from '../../src/adapters/chain/errors.ts'
import { Lane } from '../../src/adapters/chain/pool.ts'
import { httpFacilitator } from '../../src/adapters/facilitator/http.ts'
import type { ChainSender } from '../../src/ports/chain.ts'
import type { Clock, SteadyClock } from '../../src/ports/clock.ts'
import type { GasWallet } from '../../src/ports/gas-wallet.ts'
import type { PaymentStore } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { hasClaimExpired } from '../../src/pure/payments/states.ts'
import { WRITER_RULES } from '../../src/service/payments/writer-rules.ts'
import { createFailureCount, createLowBalances, ON_CHAIN_LIMITS } from '../../src/service/payments/reserved-balances.ts'
import { createGasBudget } from '../../src/service/payments/wallet-writer.ts'

const BREAKER = { failures: 3, window_ms: 10_000, open_ms: 5_000, open_max_ms: 60_000 }
const HOUR_MS = 3_600_000
/** Longer than anything tested here is remembered for. */
const MINUTES_MS = 90_000

interface Remembering {
  /** Brings it to refuse. */
  fail(): Promise<void> | void
  refuses(): Promise<boolean> | boolean
}

type Jumping = Clock & SteadyClock

const COMPONENTS: Record<string, (clock: Jumping) => Remembering> = {
  'circuit breaker': (clock) => {
    const breaker = new Breaker(BREAKER, clock)
    return {
      fail: () => {
        for (let count = 0; count < 3; count++) breaker.failed(breaker.take() ?? assert.fail('out of service too early'))
      },
      refuses: () => breaker.take() === null,
    }
  },
  'pause that a chain endpoint asked for': (clock) => {
    const lane = new Lane(clock)
    return {
      fail: () => lane.failed({ probe: false }, new EndpointFault('limited', 'too many requests', 5_000)),
      refuses: () => lane.pause_ms() > 0,
    }
  },
  'failed verifications of a client': (clock) => {
    const failures = createFailureCount(clock, ON_CHAIN_LIMITS)
    return {
      fail: () => {
        for (let count = 0; count < ON_CHAIN_LIMITS.failures_per_minute; count++) failures.add('client')
      },
      refuses: () => failures.wait_s('client') > 0,
    }
  },
  'balance that was too low': (clock) => {
    const balances = createLowBalances(clock, ON_CHAIN_LIMITS)
    return { fail: () => balances.remember('payer', 0n, false), refuses: () => balances.find('payer') !== null }
  },
  'facilitator that did not answer': (clock) => {
    // Nothing listens on port 1; whether it is asked again shows in the networks that it is believed to have.
    const facilitator = httpFacilitator({ url: 'http://127.0.0.1:1', clock })
    let asked = 0
    const counting = globalThis.fetch
    const watched: typeof fetch = (...given) => {
      asked++
      return counting(...given)
    }
    const ask = async () => {
      globalThis.fetch = watched
      await facilitator.supports('eip155:8453').finally(() => (globalThis.fetch = counting))
      return asked
    }
    return { fail: async () => void (await ask()), refuses: async () => asked === (await ask()) }
  },
  'gas wallet whose chain could not be read': (clock) => {
    let reads = 0
    const sender = {
      fees: () => Promise.reject(new Error(`down ${++reads}`)),
      data_fee_wei: () => Promise.resolve(0n),
      balance_wei: () => Promise.resolve(0n),
    } as unknown as ChainSender
    const payments = { spend_gas: () => Promise.resolve(0n) } as unknown as PaymentStore
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const wallet = { address: '0x00' } as GasWallet
    const store = { payments } as unknown as Pick<Store, 'lease' | 'payments'>
    const budget = createGasBudget({ wallet, sender, store, clock, log, rules: WRITER_RULES })
    return {
      fail: async () => assert.equal((await budget.check()).ok, false),
      refuses: async () => {
        const before = reads
        await budget.check()
        return reads === before
      },
    }
  },
}

for (const [name, make] of Object.entries(COMPONENTS)) {
  test(`${name}: remembered while the clock is an hour ahead, forgotten in its own time`, async () => {
    const time = { steady_ms: 1_000_000, ahead_ms: 0 }
    const clock: Jumping = { now_ms: () => 1_795_262_400_000 + time.steady_ms + time.ahead_ms, steady_ms: () => time.steady_ms }
    const component = make(clock)
    time.ahead_ms = HOUR_MS
    await component.fail()
    assert.equal(await component.refuses(), true)
    time.ahead_ms = 0
    time.steady_ms += MINUTES_MS
    assert.equal(await component.refuses(), false)
  })
}

test('a claim that was made while the clock was an hour ahead may be made again when it is set back', () => {
  const claim_ms = 60_000
  const now_ms = 1_795_262_400_000
  assert.equal(hasClaimExpired(now_ms + claim_ms, now_ms, claim_ms), false)
  assert.equal(hasClaimExpired(now_ms - 1, now_ms, claim_ms), true)
  assert.equal(hasClaimExpired(now_ms + HOUR_MS + claim_ms, now_ms, claim_ms), true)
})
