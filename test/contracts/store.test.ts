/** One contract for every store. PostgreSQL is a real server, started here. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { AllowanceGrant, AllowanceRequest, Store, StoreIdentity } from '../../src/ports/store.ts'
import { runs, SEED } from '../support/counts.ts'
import { STORE_DRIVERS } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'

const DAY = 20_000

function ask(client: string, limit: number, changes: Partial<AllowanceRequest> = {}): AllowanceRequest {
  return { day: DAY, bucket: 'general', client, limit, ...changes }
}

function grants(answers: readonly AllowanceGrant[]): number {
  return answers.filter((answer) => answer.granted).length
}

/** What the port says, one call after the other: the oracle for any number of calls at once. */
class Model {
  readonly #used = new Map<string, number>()

  take({ day, bucket, client, limit }: AllowanceRequest): AllowanceGrant {
    const key = JSON.stringify([day, bucket, client])
    const used = this.#used.get(key) ?? 0
    if (used >= limit) return { granted: false, used }
    this.#used.set(key, used + 1)
    return { granted: true, used: used + 1 }
  }
}

/** SQL that makes the database itself refuse the client `poison`, and the commit fail for the client `poison-commit`. */
const POISON: Record<StoreDriver['kind'], string[]> = {
  sqlite: [
    `create trigger poison before insert on allowance when new.client = 'poison' begin select raise(abort, 'poison'); end`,
    `create table parent (id integer primary key)`,
    `create table child (id integer references parent deferrable initially deferred)`,
    `create trigger late after insert on allowance when new.client = 'poison-commit' begin insert into child values (1); end`,
    `create trigger lost before insert on allowance when new.client = 'poison-rollback' begin select raise(rollback, 'lost'); end`,
  ],
  postgres: [
    `create function poison() returns trigger language plpgsql as
      $$ begin if new.client = 'poison' then raise exception 'poison'; end if; return new; end $$`,
    `create trigger poison before insert on allowance for each row execute function poison()`,
    `create table parent (id integer primary key)`,
    `create table child (id integer references parent deferrable initially deferred)`,
    `create function late() returns trigger language plpgsql as
      $$ begin if new.client = 'poison-commit' then insert into child values (1); end if; return null; end $$`,
    `create trigger late after insert on allowance for each row execute function late()`,
  ],
}

for (const start of STORE_DRIVERS) {
  describe(`store: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await start()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('200 calls of one client at once get exactly the limit', async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => store.take(ask('crowd', 3))))
      assert.deepEqual(
        answers.slice(0, 3),
        [1, 2, 3].map((used) => ({ granted: true, used })),
      )
      assert.ok(answers.slice(3).every((answer) => !answer.granted && answer.used === 3))
      assert.equal(await store.used(ask('crowd', 3)), 3)
    })

    test('200 calls over two handles at once get exactly the limit', async () => {
      const other = await openStore(fresh.target)
      const answers = await Promise.all(Array.from({ length: 200 }, (_, call) => (call % 2 === 0 ? store : other).take(ask('pair', 3))))
      await other.close()
      assert.equal(grants(answers), 3)
      assert.equal(await store.used(ask('pair', 3)), 3)
    })

    test('any calls at once answer as if one came after the other', async () => {
      let run = 0
      const call = fc.record({
        client: fc.constantFrom('a', 'b', 'c'),
        bucket: fc.constantFrom('general', 'token-contract-risk'),
        day: fc.constantFrom(DAY, DAY + 1),
        limit: fc.integer({ min: 0, max: 6 }),
      })
      const waves = fc.array(fc.array(call, { maxLength: 150 }), { minLength: 1, maxLength: 3 })
      await fc.assert(
        fc.asyncProperty(waves, async (calls) => {
          run += 1
          const model = new Model()
          for (const wave of calls) {
            const requests = wave.map((request) => ({ ...request, client: `${request.client}-${run}` }))
            assert.deepEqual(
              await Promise.all(requests.map((request) => store.take(request))),
              requests.map((request) => model.take(request)),
            )
          }
        }),
        { numRuns: runs(60, 2_000), seed: SEED },
      )
    })

    test('a limit of zero grants nothing, before and after a first unit', async () => {
      assert.deepEqual(await store.take(ask('zero', 0)), { granted: false, used: 0 })
      assert.deepEqual(await store.take(ask('zero', 1)), { granted: true, used: 1 })
      assert.deepEqual(await store.take(ask('zero', 0)), { granted: false, used: 1 })
    })

    test('days, buckets and clients are counted apart', async () => {
      const apart = [ask('x', 1), ask('x', 1, { day: DAY + 1 }), ask('x', 1, { bucket: 'token-contract-risk' }), ask('y', 1)]
      const answers = await Promise.all([...apart, ...apart].map((request) => store.take(request)))
      assert.deepEqual(
        answers.map((answer) => answer.granted),
        [true, true, true, true, false, false, false, false],
      )
    })

    test('a unit given back can be taken again, and nothing falls below zero', async () => {
      await store.give_back(ask('back', 1))
      assert.equal(await store.used(ask('back', 1)), 0)
      assert.equal((await store.take(ask('back', 1))).granted, true)
      assert.equal((await store.take(ask('back', 1))).granted, false)
      await Promise.all([store.give_back(ask('back', 1)), store.give_back(ask('back', 1))])
      assert.equal(await store.used(ask('back', 1)), 0)
      assert.deepEqual(await store.take(ask('back', 1)), { granted: true, used: 1 })
    })

    test('purge forgets the days before, and only those', async () => {
      const old = Array.from({ length: 1_200 }, (_, client) => ask(`old-${client}`, 1, { day: 10 }))
      await Promise.all(old.map((request) => store.take(request)))
      await store.take(ask('kept', 1, { day: 11 }))
      assert.equal(await store.purge_allowance(11), 1_200)
      assert.equal(await store.used(ask('old-7', 1, { day: 10 })), 0)
      assert.equal(await store.used(ask('kept', 1, { day: 11 })), 1)
    })

    test('a request that cannot be stored is refused alone', async () => {
      const wrong = [ask('', 1), ask('nul\u0000', 1), ask('x'.repeat(201), 1), ask('w', 0.5), ask('w', -1), ask('w', Number.NaN)]
      const days = [ask('w', 1, { day: -1 }), ask('w', 1, { day: 2 ** 31 }), ask('w', 1, { bucket: '' })]
      const calls = [ask('right', 2), ...wrong, ...days, ask('right', 2)]
      const answers = await Promise.allSettled(calls.map((request) => store.take(request)))
      for (const answer of answers.slice(1, -1)) {
        assert.ok(answer.status === 'rejected')
        assert.equal(answer.reason.code, 'STORE_REFUSED')
      }
      assert.equal(await store.used(ask('right', 2)), 2)
    })

    test('identity and notes: the first writer wins, over two handles', async () => {
      const other = await openStore(fresh.target)
      const mine: StoreIdentity = { mode: 'sandbox', chain_id: 11_297_108_109, pay_to: `0x${'11'.repeat(20)}` }
      const theirs: StoreIdentity = { mode: 'live', chain_id: 8453, pay_to: `0x${'22'.repeat(20)}` }
      const [first, second] = await Promise.all([store.identity(mine), other.identity(theirs)])
      assert.deepEqual(first, second)
      assert.ok(first.mode === 'sandbox' || first.mode === 'live')
      assert.deepEqual(first, first.mode === 'sandbox' ? mine : theirs)
      assert.equal(await store.recall('key'), null)
      assert.equal(await store.remember('key', 'one'), 'one')
      assert.equal(await other.recall('key'), 'one')
      assert.equal(await other.remember('key', 'two'), 'one')
      await other.close()
    })

    test('a lease is held by one, renewed by it, and taken over when it has run out, under a new number', async () => {
      const now_ms = 1_700_000_000_000
      const holders = ['a', 'b', 'c']
      const race = await Promise.all(holders.map((holder) => store.lease('job', holder, now_ms, now_ms + 10)))
      assert.deepEqual(
        race.filter((fence) => fence !== null),
        [1],
      )
      const holder = holders[race.indexOf(1)] ?? ''
      assert.equal(await store.lease('job', 'other', now_ms + 9, now_ms + 20), null)
      assert.equal(await store.lease('job', holder, now_ms + 9, now_ms + 20), 1)
      assert.equal(await store.lease('job', 'other', now_ms + 10, now_ms + 30), null)
      assert.equal(await store.lease('job', 'other', now_ms + 20, now_ms + 30), 2)
      assert.equal(await store.lease('job', holder, now_ms + 21, now_ms + 40), null)
      assert.equal(await store.lease('another job', holder, now_ms, now_ms + 10), 1)
      assert.equal(await store.lease('job', holder, now_ms + 30, now_ms + 40), 3)
      assert.equal(await store.lease('job', holder, now_ms + 50, now_ms + 60), 3, 'run out, but in the same hands')
    })

    test('a lease from a clock that was an hour ahead binds nobody, and giving up what one has not takes none', async () => {
      const now_ms = 1_795_262_400_000
      const hour_ms = 3_600_000
      assert.equal(await store.lease('ahead', 'one', now_ms + hour_ms, now_ms + hour_ms + 8_000), 1)
      assert.equal(await store.lease('ahead', 'other', now_ms, now_ms), null)
      assert.equal(await store.lease('ahead', 'other', now_ms, now_ms + 8_000), 2)
      // A job of the hour has a longer lease than whoever gives up.
      assert.equal(await store.lease('hourly', 'one', now_ms, now_ms + 2 * hour_ms), 1)
      assert.equal(await store.lease('hourly', 'other', now_ms, now_ms), null)
      assert.equal(await store.lease('hourly', 'other', now_ms, now_ms + 2 * hour_ms), null)
    })

    test('the clock of the store runs with the clock of this machine, and forward', async () => {
      const before_ms = Math.floor(performance.timeOrigin + performance.now()) - 1_000
      const first_ms = await store.now_ms()
      const second_ms = await store.now_ms()
      assert.ok(
        Number.isSafeInteger(first_ms) && first_ms >= before_ms && first_ms < before_ms + 60_000,
        `${first_ms} against ${before_ms}`,
      )
      assert.ok(second_ms >= first_ms)
    })

    test('a store of the first schema is brought up to date with what it holds', async () => {
      const old = await driver.fresh()
      await old.createSchema(1)
      await old.sql(`insert into lease (name, holder, until_ms) values ('job', 'me', 10)`)
      const handle = await openStore(old.target)
      assert.equal(await handle.lease('job', 'me', 5, 20), 1)
      assert.equal(await handle.lease('job', 'other', 20, 30), 2)
      assert.equal(await handle.payments.last_account_nonce('wallet'), null)
      await handle.close()
    })

    test('ping answers, and settings say that commits are durable', async () => {
      await store.ping()
      const settings = await store.settings()
      if (store.kind === 'sqlite') assert.deepEqual([settings['journal_mode'], settings['synchronous']], ['wal', '2'])
      else assert.deepEqual([settings['synchronous_commit'], settings['fsync'], settings['full_page_writes']], ['on', 'on', 'on'])
    })

    test('an item that the database refuses takes no neighbour with it', async () => {
      const poisoned = await driver.fresh()
      const handle = await openStore(poisoned.target)
      for (const sql of POISON[driver.kind]) await poisoned.sql(sql)
      const clients = Array.from({ length: 60 }, (_, call) => (call % 6 === 3 ? 'poison' : `good-${call % 7}`))
      const answers = await Promise.allSettled(clients.map((client) => handle.take(ask(client, 1_000))))
      const good = new Map<string, number>()
      answers.forEach((answer, call) => {
        const client = clients[call] ?? ''
        assert.equal(answer.status === 'rejected', client === 'poison')
        if (answer.status === 'rejected') return assert.equal(answer.reason.code, 'STORE_REFUSED')
        good.set(client, (good.get(client) ?? 0) + 1)
        return assert.deepEqual(answer.value, { granted: true, used: good.get(client) })
      })
      for (const [client, count] of good) assert.equal(await handle.used(ask(client, 0)), count)
      assert.equal(await handle.used(ask('poison', 0)), 0)
      await handle.close()
    })

    test('a batch whose commit fails grants nothing that it did not count', async () => {
      const poisoned = await driver.fresh()
      const handle = await openStore(poisoned.target)
      for (const sql of POISON[driver.kind]) await poisoned.sql(sql)
      for (const poison of ['poison-commit', 'poison-rollback'].slice(0, driver.kind === 'sqlite' ? 2 : 1)) {
        const clients = [`before-${poison}`, poison, `behind-${poison}`]
        const answers = await Promise.allSettled(clients.map((client) => handle.take(ask(client, 9))))
        assert.equal(answers[1]?.status, 'rejected')
        for (const [index, client] of clients.entries()) {
          const answer = answers[index]
          assert.equal(await handle.used(ask(client, 0)), answer?.status === 'fulfilled' && answer.value.granted ? 1 : 0)
        }
        assert.equal((await handle.take(ask(`later-${poison}`, 1))).granted, true)
      }
      await handle.close()
    })

    test('two handles bring an empty store up to date at once; a newer one is refused in a sentence', async () => {
      const empty = await driver.fresh()
      const handles = await Promise.all([openStore(empty.target), openStore(empty.target)])
      await Promise.all(handles.map((handle) => handle.close()))
      const ran = await empty.sql('select number, name from migration order by number')
      assert.deepEqual(
        ran.map((row) => [row['number'], row['name']]),
        MIGRATIONS.map(({ number, name }) => [number, name]),
      )
      await empty.sql(`insert into migration (number, name) values (99, 'from-the-future')`)
      await assert.rejects(openStore(empty.target), { code: 'STORE_NEWER', message: /schema 99 .* start the newer version/ })
    })

    test('close finishes what waits, then nothing more is taken', async () => {
      const handle = await openStore(fresh.target)
      const waiting = Array.from({ length: 300 }, () => handle.take(ask('closing', 200)))
      const closed = handle.close()
      assert.equal(grants(await Promise.all(waiting)), 200)
      await closed
      await handle.close()
      for (const late of [handle.take(ask('closing', 1_000)), handle.ping(), handle.give_back(ask('closing', 1))]) {
        await assert.rejects(late, { code: 'STORE_UNAVAILABLE' })
      }
      assert.equal(await store.used(ask('closing', 0)), 200)
    })
  })
}
