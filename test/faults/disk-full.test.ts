/**
 * The disk is full: calls are refused uncounted and uncharged, the process lives, and goes on when there is room. Two limits stand for a
 * full disk: RLIMIT_FSIZE of the running process (prlimit of util-linux), under which every write to a file fails, and SQLite's own
 * max_page_count, under which it says SQLITE_FULL.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { runs } from '../support/counts.ts'
import { assertLedgerProved } from '../support/fault-audit.ts'
import { FREE_DAILY, FREE_TOOL, PAID_TOOL } from '../support/fault-pair.ts'
import * as buyers from '../support/faults-buyer.ts'
import { assertLedgerIsChain, heartbeat, liveDeployment, type Live } from '../support/faults-live.ts'
import { killLeft, startFaulty, type FaultyService } from '../support/faults-process.ts'
import { until } from '../support/until.ts'

const LEI = { lei: '506700GE1G29325QX363' }
const PAYERS = 6

let anvil: Anvil
let stopHeart: () => Promise<void>
before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await anvil.stop()
})

/** Largest file that the process may write, in bytes; sockets and pipes are not files. */
function limitFiles({ process: { pid } }: FaultyService, bytes: '1' | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

const linux = { skip: process.platform === 'linux' ? false : 'prlimit is of Linux' }

test('no file can be written under paid and free calls, and then it can again', { ...linux, timeout: 180_000 }, async (t) => {
  const live = await liveDeployment(anvil, {
    ASSAY_FREE_DAILY: String(FREE_DAILY),
    ASSAY_FREE_DAILY_OVERRIDES: `${PAID_TOOL}=0`,
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
  })
  t.after(live.remove)
  const service = await startFaulty(live.settings)
  const { url } = service
  let paid = 0
  for (let round = 0; round < runs(1, 5); round++) {
    const client = { 'x-forwarded-for': `198.18.0.${round}` }
    const free = () => restCall(url, FREE_TOOL, LEI, client)
    const all = []
    for (let count = 0; count < PAYERS; count++) all.push(await buyers.newBuyer(anvil, url))
    assert.equal((await free()).status, 200)
    // Some are on their way when it happens, the others come after.
    const early = all.slice(0, PAYERS / 2).map((buyer) => buyers.insist(url, buyer))
    limitFiles(service, '1')
    const refusals = [await free(), await free(), await free(), await free()]
    for (const { status, body } of refusals)
      assert.deepEqual([status, body['code'], body['charged'], body['retryable']], [503, 'STORE_UNAVAILABLE', false, true])
    for (const buyer of all.slice(PAYERS / 2)) await assertNotTaken(live, url, buyer)
    assert.equal((await restCall(url, 'receipt-verify', { receipt: {} })).status, 200)
    limitFiles(service, 'unlimited')
    await until('it is well again', async () => (await fetch(`${url}/health`)).status === 200)
    for (const left of [1, 0]) {
      const { status, body } = await free()
      assert.deepEqual([status, (body['allowance'] as { remaining: number } | undefined)?.remaining], [200, left], JSON.stringify(body))
    }
    assert.equal((await free()).status, 402)
    const replies = await Promise.all([...early, ...all.slice(PAYERS / 2).map((buyer) => buyers.insist(url, buyer))])
    for (const [index, buyer] of all.entries()) await buyers.assertPaidOnce(anvil, live, url, buyer, replies[index] ?? assert.fail())
    paid += all.length
  }
  assert.equal(service.process.exitCode, null)
  await service.stop()
  await assertLedgerIsChain(anvil, live)
  await assertLedgerProved(anvil, live, await openStore(join(live.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite')), paid)
})

/** Told so by name, and nothing is taken; a chain that is slow to answer may be named before the store is asked. */
async function assertNotTaken(live: Live, url: string, buyer: buyers.Buyer): Promise<void> {
  await until('the store is named', async () => {
    const reply = await buyers.send(url, buyer)
    assert.deepEqual([reply?.status, reply?.body['charged']], [503, false], JSON.stringify(reply?.body))
    return reply?.body['code'] === 'STORE_UNAVAILABLE'
  })
  await buyers.assertUntouched(anvil, live, buyer)
}

test('SQLite has no page left: nothing is counted, batches fail whole, and room brings everything back', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-full-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const opened: DatabaseSync[] = []
  const exec = DatabaseSync.prototype.exec
  t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    opened.push(this)
    exec.call(this, sql)
  })
  const store = await openStore(join(folder, 'full.sqlite'))
  t.after(() => store.close())
  t.mock.restoreAll()
  const [database] = opened
  assert.ok(database !== undefined)
  const take = (client: string) => store.take({ day: 20_000, bucket: 'general', client, limit: 3 })
  assert.deepEqual(await take('known'), { granted: true, used: 1 })
  // The connection grants itself not a page more than there are.
  database.exec('pragma max_page_count = 1')
  let granted = 0
  const full = async () => {
    const ends = await Promise.allSettled(Array.from({ length: 64 }, (_, index) => take(`client ${granted + index} ${'x'.repeat(40)}`)))
    const refused = ends.filter((end) => end.status === 'rejected')
    for (const { reason } of refused) assert.equal((reason as { code: string }).code, 'STORE_UNAVAILABLE')
    granted += ends.length - refused.length
    return refused.length > 0
  }
  await until('there is no page left', full)
  const counted = () => Number(database.prepare('select count(*) as count from allowance').get()?.['count'])
  assert.equal(counted(), granted + 1)
  database.exec('pragma max_page_count = 4294967294')
  assert.deepEqual(await take('known'), { granted: true, used: 2 })
  assert.deepEqual(await take('new'), { granted: true, used: 1 })
  assert.equal(counted(), granted + 2)
})
