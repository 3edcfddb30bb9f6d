/** Claims, bindings, answers and every move between the states, on both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ClaimRequest, Payment } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import type { PaymentState } from '../../src/pure/payments/states.ts'
import { openSealed, STORE_DRIVERS } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'
import {
  address,
  closing,
  EPOCH,
  found,
  keptInvoice,
  keyOf,
  move,
  NOW_MS,
  paymentIn,
  request,
  settledAt,
  WALLET,
  word,
} from '../support/store-payments.ts'

const STATES: readonly PaymentState[] = ['claimed', 'prepared', 'settling', 'settled', 'refused', 'unknown', 'lost', 'released']
/** Written down from the rules of payments, apart from the table in the code. */
const ALLOWED = new Set(
  `claimed→prepared claimed→released prepared→settling prepared→released settling→settled settling→refused settling→unknown
   unknown→settled unknown→refused unknown→lost settled→unknown released→claimed refused→settled`.split(/\s+/),
)
const WIDE_MAX = 9_223_372_036_854_775_807n

/** A payment as it stands right after its claim. */
function claimed({ balance_minor: _balance, now_ms, token_hash: _token, ...asked }: ClaimRequest): Payment {
  return {
    ...asked,
    state: 'claimed',
    fence: 1,
    created_ms: now_ms,
    updated_ms: now_ms,
    method: null,
    settler: null,
    account_nonce: null,
    transaction: null,
    block_number: null,
    block_hash: null,
    settled_ms: null,
    final: false,
    reason: null,
    deposit_call: null,
    cumulative_minor: null,
  }
}

for (const start of STORE_DRIVERS) {
  describe(`payments: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await start()
      fresh = await driver.fresh()
      store = await openSealed(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('a payment goes from claim to final, and every field is kept', async () => {
      const asked = request({ contract_payer: true, purpose: 'invoice', subject: 'inv-1', valid_after_s: 7n })
      const { payments } = store
      await keptInvoice(store, 5_000n, 'inv-1')
      assert.equal(await payments.find(asked), null)
      assert.equal(await payments.find_by_token(asked.token_hash), null)
      assert.deepEqual(await payments.claim(asked), { kind: 'claimed', fence: 1 })
      const first = claimed(asked)
      assert.deepEqual(await found(store, asked), first)
      assert.equal(await payments.answer(asked), null)

      assert.equal(await payments.prepare(asked, 1, { sealed: 'YW5zd2Vy', expires_ms: NOW_MS + 9 }, NOW_MS + 1), true)
      assert.deepEqual(await payments.answer(keyOf(asked)), { sealed: 'YW5zd2Vy', expires_ms: NOW_MS + 9 })
      assert.deepEqual(await found(store, asked), { ...first, state: 'prepared', updated_ms: NOW_MS + 1 })

      assert.equal(await payments.begin_settling(asked, 1, { method: 'facilitator', settler: 'https://f.test' }, NOW_MS + 2), true)
      const settling: Payment = { ...first, state: 'settling', updated_ms: NOW_MS + 2, method: 'facilitator', settler: 'https://f.test' }
      assert.deepEqual(await found(store, asked), settling)

      const transaction = word()
      const unsure = { ...keyOf(asked), to: 'unknown', reason: 'TIMEOUT', transaction } as const
      assert.deepEqual(await payments.apply_transitions([unsure], EPOCH, NOW_MS + 3), [true])
      assert.deepEqual(await found(store, asked), { ...settling, state: 'unknown', updated_ms: NOW_MS + 3, reason: 'TIMEOUT', transaction })

      const at = settledAt(42)
      assert.deepEqual(await payments.apply_transitions([{ ...keyOf(asked), to: 'settled', settled_at: at }], EPOCH, NOW_MS + 4), [true])
      const settled: Payment = { ...settling, ...at, state: 'settled', updated_ms: NOW_MS + 4, settled_ms: NOW_MS + 4 }
      assert.deepEqual(await found(store, asked), settled)
      await payments.finalize([asked], NOW_MS + 5)
      assert.deepEqual(await found(store, asked), { ...settled, updated_ms: NOW_MS + 5, final: true })
      assert.deepEqual(await payments.find_by_token(asked.token_hash), await found(store, asked))
      assert.deepEqual(await payments.answer(asked), { sealed: 'YW5zd2Vy', expires_ms: NOW_MS + 9 })
    })

    test('a block that is taken away takes its number, hash and time along, not the transaction', async () => {
      const asked = await paymentIn(store, 'settled')
      await store.payments.finalize([asked], NOW_MS)
      const gone = { ...keyOf(asked), to: 'unknown', reason: 'REORG', transaction: null } as const
      assert.deepEqual(await store.payments.apply_transitions([gone], EPOCH, NOW_MS + 1), [true])
      const payment = await found(store, asked)
      assert.deepEqual([payment.block_number, payment.block_hash, payment.settled_ms, payment.final], [null, null, null, false])
      assert.equal(payment.transaction, settledAt().transaction)
      assert.equal(await move(store, asked, 1, 'lost'), true)
      assert.equal((await found(store, asked)).reason, 'because lost')
    })

    for (const from of STATES) {
      test(`from ${from}: exactly the moves of the table happen, and the others change nothing`, async () => {
        for (const to of STATES) {
          const asked = await paymentIn(store, from)
          const stood = await found(store, asked)
          const moved = await move(store, asked, 1, to)
          assert.equal(moved, ALLOWED.has(`${from}→${to}`), `${from}→${to}`)
          const stands = await found(store, asked)
          if (moved) assert.equal(stands.state, to)
          else assert.deepEqual(stands, stood, `${from}→${to}`)
        }
      })
    }

    test('another request on the same authorization finds the row as it stands, in any state and for ever', async () => {
      for (const state of STATES) {
        const asked = await paymentIn(store, state)
        const payment = await found(store, asked)
        for (const other of [{ purpose: 'invoice' as const }, { subject: 'lei-check' }, { input_hash: word() }]) {
          const late = { ...asked, ...other, now_ms: NOW_MS + 10 ** 9, token_hash: word() }
          assert.deepEqual(await store.payments.claim(late), { kind: 'exists', payment })
        }
        if (state === 'released') continue
        assert.deepEqual(await store.payments.claim({ ...asked, token_hash: word() }), { kind: 'exists', payment })
      }
    })

    test('a released payment is claimed again by its request under the next number, with all that is new', async () => {
      const asked = await paymentIn(store, 'prepared')
      assert.notEqual(await store.payments.answer(asked), null)
      assert.equal(await store.payments.release(asked, 1, 'TOOL_FAILED', NOW_MS + 1), true)
      assert.equal((await found(store, asked)).reason, 'TOOL_FAILED')
      assert.equal(await store.payments.answer(asked), null, 'what was prepared was never paid for')
      const again: ClaimRequest = {
        ...asked,
        to: address(),
        value_minor: 6_000n,
        valid_after_s: 1n,
        valid_before_s: 2n,
        signature: '0x44',
        contract_payer: true,
        price_class: 'other',
        now_ms: NOW_MS + 5,
        claim_until_ms: NOW_MS + 50,
        token_hash: word(),
      }
      assert.deepEqual(await store.payments.claim(again), { kind: 'claimed', fence: 2 })
      assert.deepEqual(await found(store, asked), { ...claimed(again), fence: 2, created_ms: NOW_MS })
      assert.equal(await store.payments.find_by_token(asked.token_hash), null)
      assert.equal((await store.payments.find_by_token(again.token_hash))?.fence, 2)
    })

    for (const state of ['claimed', 'prepared'] as const) {
      test(`a ${state} payment whose time is over is claimed anew; the earlier claimer can do nothing more`, async () => {
        const asked = await paymentIn(store, state, { claim_until_ms: NOW_MS + 10 })
        const again = { ...asked, now_ms: NOW_MS + 10, claim_until_ms: NOW_MS + 99, token_hash: word() }
        assert.equal((await store.payments.claim(again)).kind, 'exists', 'not before its time is over')
        assert.deepEqual(await store.payments.claim({ ...again, now_ms: NOW_MS + 11 }), { kind: 'claimed', fence: 2 })
        assert.equal(await store.payments.answer(asked), null)
        const stands = await found(store, asked)
        for (const to of ['prepared', 'released', 'settling'] as const) assert.equal(await move(store, asked, 1, to), false, to)
        assert.deepEqual(await found(store, asked), stands)
        for (const to of ['prepared', 'settling'] as const) {
          assert.equal(await move(store, asked, 1, to), false)
          assert.equal(await move(store, asked, 3, to), false, 'nor one that is yet to come')
          assert.equal(await move(store, asked, 2, to), true)
        }
      })
    }

    test('abandoned claims are released together; what has begun to settle stays', async () => {
      const own = await openSealed((await driver.fresh()).target)
      const late = { claim_until_ms: NOW_MS + 5 }
      const over: ClaimRequest[] = []
      while (over.length < 1_003) {
        const some = Array.from({ length: 59 }, (_, call) => paymentIn(own, call % 9 === 0 ? 'prepared' : 'claimed', late))
        over.push(...(await Promise.all(some)))
      }
      const kept = await Promise.all([paymentIn(own, 'settling', late), paymentIn(own, 'unknown', late), paymentIn(own, 'claimed')])
      assert.equal(await own.payments.release_abandoned(NOW_MS + 5), 0)
      assert.equal(await own.payments.release_abandoned(NOW_MS + 6), 1_003)
      for (const asked of [over[0], over[1], over.at(-1)]) {
        assert.ok(asked !== undefined)
        const { state, reason, updated_ms } = await found(own, asked)
        assert.deepEqual([state, reason, updated_ms], ['released', 'abandoned', NOW_MS + 6])
        assert.equal(await own.payments.answer(asked), null)
      }
      const states = await Promise.all(kept.map(async (asked) => (await found(own, asked)).state))
      assert.deepEqual(states, ['settling', 'unknown', 'claimed'])
      await own.close()
    })

    test('amounts up to 2^63 − 1 are kept exactly, and sums of them are exact too', async () => {
      const payer = address()
      const most = { payer, value_minor: WIDE_MAX, valid_after_s: WIDE_MAX, valid_before_s: WIDE_MAX, balance_minor: 2n ** 256n - 1n }
      const [one, two] = [request(most), request(most)]
      for (const asked of [one, two]) assert.equal((await store.payments.claim(asked)).kind, 'claimed')
      assert.deepEqual(await found(store, one), claimed(one))
      const rest = { payer, value_minor: 1n, balance_minor: 2n * WIDE_MAX }
      assert.deepEqual(await store.payments.claim(request(rest)), { kind: 'over_reserved' })
      assert.equal((await store.payments.claim(request({ ...rest, balance_minor: 2n * WIDE_MAX + 1n }))).kind, 'claimed')
      const odd = request({ value_minor: 2n ** 53n + 1n, balance_minor: 2n ** 53n + 1n })
      assert.equal((await store.payments.claim(odd)).kind, 'claimed')
      assert.equal((await found(store, odd)).value_minor, 9_007_199_254_740_993n)
    })

    test('what one of the databases could not hold is refused by both, alone', async () => {
      const { payments } = store
      const changes: Partial<ClaimRequest>[] = [
        { payer: '0xABCDEF0000000000000000000000000000000000' },
        { payer: '' },
        { nonce: '0x1' },
        { nonce: `0x${'zz'.repeat(32)}` },
        { subject: 'nul\u0000' },
        { subject: 'x'.repeat(201) },
        { input_hash: '' },
        { signature: 'half a pair \ud800' },
        { signature: 'nul\u0000' },
        { price_class: '' },
        { token_hash: '' },
        { value_minor: WIDE_MAX + 1n },
        { value_minor: -1n },
        { valid_before_s: WIDE_MAX + 1n },
        { now_ms: 0.5 },
        { claim_until_ms: Number.NaN },
      ]
      const wrong = changes.map((change) => payments.claim(request(change)))
      const right = payments.claim(request())
      for (const answer of await Promise.allSettled(wrong)) {
        assert.equal(answer.status === 'rejected' && answer.reason.code, 'STORE_REFUSED')
      }
      assert.deepEqual(await right, { kind: 'claimed', fence: 1 })
      const asked = await paymentIn(store, 'prepared')
      const settling = await paymentIn(store, 'settling')
      const nul = 'nul\u0000'
      const others = [
        payments.find({ ...asked, nonce: nul }),
        payments.answer({ ...asked, payer: nul }),
        payments.find_by_token(nul),
        payments.prepare(asked, 1, { sealed: nul, expires_ms: 1 }, 1),
        payments.begin_settling(asked, 1, { method: 'self', settler: nul }, 1),
        payments.release(asked, 1, nul, 1),
        payments.release(asked, -1, 'reason', 1),
        payments.apply_transitions(
          [closing(settling, 'settled'), { ...keyOf(settling), to: 'refused', reason: nul, transaction: null }],
          1,
          1,
        ),
        payments.apply_transitions([{ ...keyOf(settling), to: 'settled', settled_at: { ...settledAt(), block_number: -1 } }], 1, 1),
        payments.waiting(nul, 1),
        payments.refused_since(nul, 1),
      ]
      for (const answer of await Promise.allSettled(others)) {
        assert.equal(answer.status === 'rejected' && answer.reason.code, 'STORE_REFUSED')
      }
      assert.deepEqual([(await found(store, asked)).state, (await found(store, settling)).state], ['prepared', 'settling'])
    })

    test('hostile text is text', async () => {
      const hostile = `'; drop table payment; -- \\ %_ $1 ?1 \u202e 🦈 "`
      const asked = request({ subject: hostile, input_hash: hostile, to: hostile, signature: hostile.repeat(300), price_class: hostile })
      assert.equal((await store.payments.claim(asked)).kind, 'claimed')
      assert.deepEqual(await found(store, asked), claimed(asked))
      const sealed = hostile.repeat(9_000)
      assert.equal(await store.payments.prepare(asked, 1, { sealed, expires_ms: NOW_MS }, NOW_MS), true)
      assert.equal((await store.payments.answer(asked))?.sealed, sealed)
      assert.equal(await store.payments.begin_settling(asked, 1, { method: 'self', settler: WALLET }, NOW_MS), true)
    })

    test('an answer token leads to one payment only', async () => {
      const asked = await paymentIn(store, 'claimed', { token_hash: word() })
      const { token_hash } = request()
      const [first, second] = await Promise.allSettled(
        [request({ token_hash }), request({ token_hash })].map((each) => store.payments.claim(each)),
      )
      assert.deepEqual(new Set([first?.status, second?.status]), new Set(['fulfilled', 'rejected']))
      assert.equal((await found(store, asked)).state, 'claimed')
    })
  })
}
