/** Many at once: calls in one turn, two connections, two processes, and a process that is killed in the middle of its work. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../src/adapters/store/open.ts'
import type { ClaimRequest, ClaimResult, PaymentKey } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { runs } from '../support/counts.ts'
import { STORE_DRIVERS, postgresDriver, sqliteDriver } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'
import { numbered } from '../support/store-payment-worker.ts'
import type { ClaimsReport, PaymentOrder } from '../support/store-payment-worker.ts'
import { address, closing, EPOCH, found, NOW_MS, paymentIn, request, word } from '../support/store-payments.ts'
import { startProcess } from '../support/store-process.ts'

const CYCLE = ['claimed', 'prepared', 'settling', 'settled']

function count(results: readonly ClaimResult[], kind: ClaimResult['kind']): number {
  return results.filter((result) => result.kind === kind).length
}

/** SQL that makes the database itself refuse the answer `poison`. */
const POISON: Record<StoreDriver['kind'], string[]> = {
  sqlite: [`create trigger poison before insert on payment_answer when new.sealed = 'poison' begin select raise(abort, 'poison'); end`],
  postgres: [
    `create function poison() returns trigger language plpgsql as
      $$ begin if new.sealed = 'poison' then raise exception 'poison'; end if; return new; end $$`,
    `create trigger poison before insert on payment_answer for each row execute function poison()`,
  ],
}

for (const start of STORE_DRIVERS) {
  describe(`payments at once: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store
    let other: Store

    before(async () => {
      driver = await start()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
      other = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await other.close()
      await driver.stop()
    })

    /** The same claim again and again, over both handles. */
    function crowd(asked: ClaimRequest, size = 50): Promise<ClaimResult[]> {
      const claims = Array.from({ length: size }, (_, call) =>
        (call % 2 === 0 ? store : other).payments.claim({ ...asked, token_hash: word() }),
      )
      return Promise.all(claims)
    }

    // attack: one payment for two calls
    test('of fifty claims of one authorization exactly one is granted, new, released or abandoned', async () => {
      const fence = (results: readonly ClaimResult[]): number[] =>
        results.flatMap((result) => (result.kind === 'claimed' ? [result.fence] : []))
      const asked = request({ value_minor: 10_000n })
      const first = await crowd(asked)
      assert.deepEqual([fence(first), count(first, 'exists')], [[1], 49])
      const late = { ...asked, now_ms: asked.claim_until_ms + 1, claim_until_ms: asked.claim_until_ms + 1_000 }
      const second = await crowd(late)
      assert.deepEqual([fence(second), count(second, 'exists')], [[2], 49])
      assert.equal(await store.payments.release(asked, 2, 'TOOL_FAILED', late.now_ms), true)
      const third = await crowd(late)
      assert.deepEqual([fence(third), count(third, 'exists')], [[3], 49])
    })

    test('one payer never has more in flight than the balance, whoever asks', async () => {
      const payer = address()
      const wanted = Array.from({ length: 60 }, () => request({ payer, value_minor: 3_000n, balance_minor: 10_000n }))
      const results = await Promise.all(wanted.map((asked, call) => (call % 2 === 0 ? store : other).payments.claim(asked)))
      assert.deepEqual([count(results, 'claimed'), count(results, 'over_reserved'), count(results, 'exists')], [3, 57, 0])
      const granted = wanted.filter((_, call) => results[call]?.kind === 'claimed')
      const [one, two] = granted
      const denied = wanted.find((_, call) => results[call]?.kind === 'over_reserved')
      assert.ok(one !== undefined && two !== undefined && denied !== undefined)
      assert.equal(await store.payments.find(denied), null, 'nothing is bound by a claim that was not granted')
      // Prepared and unknown payments stay in flight; a released and a refused one make room.
      await store.payments.prepare(one, 1, { sealed: 'a', expires_ms: NOW_MS }, NOW_MS)
      await store.payments.begin_settling(one, 1, { method: 'self', settler: 'w' }, NOW_MS)
      await store.payments.apply_transitions([closing(one, 'unknown')], EPOCH, NOW_MS)
      assert.equal((await other.payments.claim(denied)).kind, 'over_reserved')
      await store.payments.apply_transitions([closing(one, 'refused')], EPOCH, NOW_MS)
      assert.equal((await other.payments.claim(denied)).kind, 'claimed')
      await store.payments.release(two, 1, 'TOOL_FAILED', NOW_MS)
      const more = { ...two, token_hash: word() }
      assert.equal((await other.payments.claim({ ...more, value_minor: 4_001n })).kind, 'over_reserved', 'one claimed anew counts once')
      assert.equal((await other.payments.claim({ ...more, value_minor: 4_000n })).kind, 'claimed')
    })

    test('two who close the same payments in opposite orders never block each other, and each payment moves once', async () => {
      for (let round = 0; round < 3; round += 1) {
        const payer = address()
        const balance = { payer, balance_minor: 1_000_000n }
        const made = await Promise.all(
          Array.from({ length: 20 }, (_, call) => paymentIn(store, 'settling', { ...balance, price_class: `class-${call % 3}` })),
        )
        const closings = made.map((asked) => closing(asked, 'settled'))
        const [mine, theirs] = await Promise.all([
          store.payments.apply_transitions(closings, EPOCH + round, NOW_MS),
          other.payments.apply_transitions(closings.toReversed(), EPOCH + round, NOW_MS),
        ])
        assert.deepEqual(
          mine.map((moved, index) => moved !== theirs.at(-1 - index)),
          mine.map(() => true),
        )
      }
      assert.deepEqual(
        (await store.payments.sales(EPOCH)).map(({ payers }) => payers),
        Array.from({ length: 9 }, () => 1),
      )
    })

    test('a work that the database refuses halfway leaves nothing behind, and takes no neighbour with it', async () => {
      for (const sql of POISON[driver.kind]) await fresh.sql(sql)
      const made = await Promise.all(Array.from({ length: 12 }, () => paymentIn(store, 'claimed')))
      const prepared = made.map((asked, call) =>
        store.payments.prepare(asked, 1, { sealed: call % 4 === 1 ? 'poison' : 'good', expires_ms: NOW_MS }, NOW_MS),
      )
      for (const [call, answer] of (await Promise.allSettled(prepared)).entries()) {
        const asked = made[call] ?? request()
        if (call % 4 === 1) assert.equal(answer.status === 'rejected' && answer.reason.code, 'STORE_REFUSED')
        else assert.deepEqual(answer, { status: 'fulfilled', value: true })
        assert.equal((await found(store, asked)).state, call % 4 === 1 ? 'claimed' : 'prepared')
        assert.equal((await store.payments.answer(asked))?.sealed ?? null, call % 4 === 1 ? null : 'good')
      }
    })

    test('close finishes what waits, then nothing more is taken', async () => {
      const handle = await openStore(fresh.target)
      const waiting = Array.from({ length: 40 }, () => handle.payments.claim(request()))
      const closed = handle.close()
      assert.equal(count(await Promise.all(waiting), 'claimed'), 40)
      await closed
      for (const late of [handle.payments.claim(request()), handle.payments.find(request()), handle.now_ms()]) {
        await assert.rejects(late, { code: 'STORE_UNAVAILABLE' })
      }
    })

    test('two processes claim the same payments of the same payers: each once, and none beyond a balance', async () => {
      const own = await driver.fresh()
      const payments = runs(600, 6_000)
      const order: PaymentOrder = {
        target: own.target,
        kind: 'claims',
        payers: 20,
        payments,
        balance_minor: 52_000,
        in_flight: 32,
        die_after: 0,
      }
      const both = await Promise.all([startProcess('store-payment-worker.ts', order), startProcess('store-payment-worker.ts', order)])
      const reports = both.map(async ({ lines }): Promise<ClaimsReport> => JSON.parse(String((await once(lines, 'line'))[0])))
      for (const { child } of both) child.stdin.end('go\n')
      const [one, two] = await Promise.all(reports)
      assert.ok(one !== undefined && two !== undefined)
      assert.deepEqual([...one.faults, ...two.faults], [])
      const claimed = [...one.claimed, ...two.claimed]
      assert.equal(new Set(claimed).size, claimed.length, 'none twice')
      const granted = Array.from({ length: 20 }, (_, payer) => claimed.filter((number) => number % 20 === payer).length)
      assert.deepEqual(
        granted,
        Array.from({ length: 20 }, () => 10),
        'ten payments of 5,000 go into 52,000',
      )
      const rows = await own.sql('select payer, nonce from payment')
      assert.equal(rows.length, claimed.length)
      assert.equal(one.claimed.length + one.over_reserved.length + one.existing, payments)
    })

    test('a process killed under load has lost no state that it acknowledged', async () => {
      for (const die_after of [1, 2, 403, 1_001].slice(0, runs(3, 4))) {
        const own = await driver.fresh()
        const order: PaymentOrder = {
          target: own.target,
          kind: 'cycles',
          payers: 1_000,
          payments: 10 ** 6,
          balance_minor: 10 ** 9,
          in_flight: 16,
          die_after,
        }
        const acknowledged = await killed(order)
        const handle = await openStore(own.target)
        for (const [number, rank] of acknowledged) {
          const asked = numbered(number, order)
          const { state } = await found(handle, asked)
          assert.ok(CYCLE.indexOf(state) >= rank, `${number}: ${CYCLE[rank]} was acknowledged, ${state} is stored`)
          const answer = await handle.payments.answer(asked)
          assert.equal(answer?.sealed ?? null, state === 'claimed' ? null : `answer ${number}`)
        }
        const stored = (await own.sql('select payer, nonce from payment')).length
        assert.ok(stored >= acknowledged.size && stored <= acknowledged.size + order.in_flight)
        await assertTakenUp(handle, own, order)
        await handle.close()
        if (driver.kind === 'sqlite') assert.deepEqual((await own.sql('pragma integrity_check'))[0]?.['integrity_check'], 'ok')
      }
    })
  })
}

/** Resolves with the rank of the last acknowledged state, by number of the payment. */
async function killed(order: PaymentOrder): Promise<Map<number, number>> {
  const { child, lines } = await startProcess('store-payment-worker.ts', order)
  const acknowledged = new Map<number, number>()
  lines.on('line', (line) => {
    const [number, state] = line.split(' ')
    acknowledged.set(Number(number), CYCLE.indexOf(state ?? ''))
  })
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  child.stdin.end('go\n')
  const [[, signal]] = await ended
  assert.equal(signal, 'SIGKILL')
  return acknowledged
}

/** What the dead process had only claimed or prepared is released once its time is over, and claimed again. */
async function assertTakenUp(store: Store, { sql }: FreshStore, order: PaymentOrder): Promise<void> {
  const open = `select payer, nonce from payment where state in ('claimed', 'prepared')`
  const left = (await sql(open)).map((row): PaymentKey => ({ payer: String(row['payer']), nonce: String(row['nonce']) }))
  const now_ms = numbered(0, order).claim_until_ms + 1
  assert.equal(await store.payments.release_abandoned(now_ms), left.length)
  for (const { nonce } of left) {
    assert.deepEqual(await store.payments.claim({ ...numbered(Number(nonce), order), now_ms }), { kind: 'claimed', fence: 2 })
  }
  assert.deepEqual((await sql(open)).length, left.length)
}

describe('PostgreSQL, payments', () => {
  test('a claim whose connection is lost is rejected and binds nothing; the next one is granted', async (t) => {
    const driver = await postgresDriver()
    t.after(() => driver.stop())
    const { target, sql } = await driver.fresh()
    const store = await openStore(target)
    const other = new pg.Client({ connectionString: target })
    await other.connect()
    await other.query('begin; lock table payment')
    const asked = request()
    const waiting = Promise.allSettled([store.payments.claim(asked), store.payments.claim(asked)])
    const mine = `from pg_stat_activity where datname = current_database() and application_name = 'assay'`
    let locked = 0
    for (let asked_times = 0; locked === 0 && asked_times < 2_000; asked_times += 1) {
      locked = (await sql(`select 1 ${mine} and wait_event_type = 'Lock'`)).length
    }
    assert.equal(locked, 1, 'the second claim waits for the first, not in the database')
    await sql(`select pg_terminate_backend(pid) ${mine}`)
    await other.query('commit')
    await other.end()
    const [first, second] = await waiting
    assert.equal(first?.status === 'rejected' && first.reason.code, 'STORE_UNAVAILABLE')
    assert.deepEqual(second, { status: 'fulfilled', value: { kind: 'claimed', fence: 1 } })
    await store.close()
  })
})

describe('SQLite, payments', () => {
  test('the questions of every call and job are answered from an index', async (t) => {
    const driver = await sqliteDriver()
    t.after(() => driver.stop())
    const { target, sql } = await driver.fresh()
    await (await openStore(target)).close()
    const payments = await import('../../src/adapters/store/payment-statements.ts')
    const sendings = await import('../../src/adapters/store/payment-works.ts')
    const expected = [
      [payments.READ_IN_FLIGHT, 'payment_in_flight'],
      [payments.READ_PAYMENT, 'sqlite_autoindex_payment_1'],
      [payments.READ_BY_TOKEN, 'payment_token'],
      [payments.RELEASE_ABANDONED, 'payment_state'],
      [payments.READ_WAITING, 'payment_waiting'],
      [payments.READ_IN_STATE, 'payment_state'],
      [payments.COUNT_REFUSED_OF, 'payment_refused'],
      [sendings.READ_CARRIED, 'payment_carried'],
      [sendings.READ_OPEN_SENDINGS, 'sending_open'],
    ] as const
    for (const [{ name, text }, index] of expected) {
      const plan = (await sql(`explain query plan ${text}`)).map((row) => String(row['detail'])).join('; ')
      assert.match(plan, new RegExp(`INDEX ${index}\\b`), name)
      assert.doesNotMatch(plan, /SCAN payment\b/, name)
    }
  })
})
