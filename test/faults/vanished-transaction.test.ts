/** A process that vanishes from the network in the middle of a transaction: PostgreSQL hears no end of it, and still its locks must not stay. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { startLink } from '../support/fault-link.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { request } from '../support/store-payments.ts'
import { until } from '../support/until.ts'

/** What the store lets a statement take, what it lets a silent transaction live, and one statement more; with time to spare. */
const BOUND_MS = 40_000

let postgres: PostgresServer
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres.stop())

test('the lock of a payer is free again while the one who took it stays lost', { timeout: 120_000 }, async (t) => {
  const target = await postgres.createDatabase('vanished')
  const link = await startLink(target)
  t.after(() => link.stop())
  const [lost, other] = [await openStore(link.through(target)), await openStore(target)]
  assert.equal((await lost.payments.claim(request())).kind, 'claimed')
  const wanted = request()
  link.loseAfter('pg_advisory_xact_lock')
  const vanished = lost.payments.claim(wanted).catch((error: { code: string }) => error.code)
  const begun_ms = performance.now()
  const claimed = async () =>
    other.payments.claim(wanted).then(
      ({ kind }) => kind === 'claimed',
      (error: { code: string }) => {
        assert.equal(error.code, 'STORE_UNAVAILABLE')
        return false
      },
    )
  assert.equal(await vanished, 'STORE_UNAVAILABLE')
  await until('another process gets the lock', claimed, BOUND_MS)
  t.diagnostic(`free after ${Math.round(performance.now() - begun_ms)} ms`)
  link.become('open')
  await until(
    'the one that was lost is back',
    () =>
      lost.ping().then(
        () => true,
        () => false,
      ),
    BOUND_MS,
  )
  await Promise.all([lost.close(), other.close()])
})
