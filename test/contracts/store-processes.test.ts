/** Several real processes on one store, and a process that is killed in the middle of its work. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { runs } from '../support/counts.ts'
import { STORE_DRIVERS } from '../support/store-drivers.ts'
import type { StoreDriver } from '../support/store-drivers.ts'
import { startProcess } from '../support/store-process.ts'
import type { StoreProcess } from '../support/store-process.ts'
import type { WorkerOrder, WorkerReport } from '../support/store-worker.ts'

const worker = (order: WorkerOrder): Promise<StoreProcess> => startProcess('store-worker.ts', order)

/** Lets all of them go at the same moment; resolves with their reports when all have ended. */
async function race(orders: WorkerOrder[]): Promise<WorkerReport[]> {
  const workers = await Promise.all(orders.map(worker))
  const reports = workers.map(async ({ lines }): Promise<WorkerReport> => JSON.parse(String((await once(lines, 'line'))[0])))
  for (const { child } of workers) child.stdin.end('go\n')
  return Promise.all(reports)
}

/** Kills the worker once it has acknowledged `enough` units; returns what it had acknowledged in the end, by client. */
async function killed(order: WorkerOrder, enough: number): Promise<number[]> {
  const { child, lines } = await worker(order)
  const acknowledged = Array.from({ length: order.clients }, () => 0)
  let seen = 0
  lines.on('line', (line) => {
    const client = Number.parseInt(line, 10)
    acknowledged[client] = (acknowledged[client] ?? 0) + 1
    seen += 1
    if (seen === enough) child.kill('SIGKILL')
  })
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  child.stdin.end('go\n')
  const [[, signal]] = await ended
  assert.equal(signal, 'SIGKILL')
  return acknowledged
}

/** Every acknowledged unit is counted, and beyond them at most those that were on their way. */
async function assertKept(target: string, acknowledged: readonly number[], in_flight: number): Promise<void> {
  const store = await openStore(target)
  let in_vain = 0
  for (const [client, count] of acknowledged.entries()) {
    const used = await store.used({ day: 20_000, bucket: 'general', client: `client-${client}`, limit: 0 })
    assert.ok(used >= count, `client ${client}: ${used} counted, ${count} acknowledged`)
    in_vain += used - count
  }
  assert.ok(in_vain <= in_flight, `${in_vain} counted in vain`)
  await store.close()
}

for (const start of STORE_DRIVERS) {
  describe(`processes: ${start.name}`, () => {
    let driver: StoreDriver
    before(async () => {
      driver = await start()
    })
    after(() => driver.stop())

    /** Two processes that also find the store empty, and bring it up to date at the same time. */
    for (const { limit, clients } of [
      { limit: 3, clients: 40 },
      { limit: 100_000, clients: 3 },
    ]) {
      test(`two processes, ${clients} clients, limit ${limit}: every unit granted is counted, and never one too many`, async () => {
        const { target, sql } = await driver.fresh()
        const order: WorkerOrder = { target, clients, calls: runs(4_000, 60_000), limit, in_flight: 64, acknowledge: false, die_after: 0 }
        const reports = await race([order, order])
        assert.deepEqual(
          reports.flatMap((report) => report.faults),
          [],
        )
        const rows = await sql(`select client, used from allowance`)
        const used = new Map(rows.map((row) => [row['client'], row['used']]))
        for (let client = 0; client < clients; client += 1) {
          const granted = reports.reduce((sum, report) => sum + (report.granted[client] ?? 0), 0)
          const asked = 2 * Math.floor((order.calls - client - 1) / clients + 1)
          assert.equal(granted, Math.min(limit, asked))
          assert.equal(used.get(`client-${client}`), granted)
        }
        assert.equal(rows.length, clients)
      })
    }

    test('a process killed under load has lost no unit that it acknowledged', async () => {
      // Killed from outside at any moment, and by itself right behind an acknowledgement, the moment that is hardest to survive.
      const outside = Array.from({ length: runs(1, 10) }, (_, round) => ({ die_after: 0, enough: 2_000 + 1_777 * round }))
      const inside = [1, 1_000, 64, 5_555].slice(0, runs(2, 4)).map((die_after) => ({ die_after, enough: 0 }))
      for (const { die_after, enough } of [...outside, ...inside]) {
        const { target, sql } = await driver.fresh()
        const order = { target, clients: 50, calls: 10_000_000, limit: 1_000_000, in_flight: 64, acknowledge: true, die_after }
        await assertKept(target, await killed(order, enough), order.in_flight)
        if (driver.kind === 'sqlite') assert.deepEqual((await sql('pragma integrity_check'))[0]?.['integrity_check'], 'ok')
      }
    })
  })
}
