/** Processes that share a store know of one another whether they run, over both databases. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'

const MODULE = new URL('../../src/adapters/store/open.ts', import.meta.url).href
const CHILD = `
  const { openStore } = await import(${JSON.stringify(MODULE)})
  const store = await openStore(process.argv[1])
  process.stdout.write(await store.instances.join() + '\\n')
  setInterval(() => undefined, 60_000)
`

/** Another process on the store, and its id there. */
async function otherProcess(target: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, target], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, id: line.toString().trim() }
}

for (const makeDriver of STORE_DRIVERS) {
  describe(makeDriver.name, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    before(async () => {
      driver = await makeDriver()
      fresh = await driver.fresh()
    })
    after(() => driver.stop())

    test('an instance runs until its store is closed, and one that never was does not', async () => {
      const [one, other] = await Promise.all([openStore(fresh.target), openStore(fresh.target)])
      const ids = [await one.instances.join(), await other.instances.join()] as const
      assert.notEqual(ids[0], ids[1])
      assert.equal(await one.instances.join(), ids[0])
      for (const store of [one, other]) for (const id of ids) assert.equal(await store.instances.isRunning(id), true)
      assert.equal(await one.instances.isRunning(crypto.randomUUID()), false)
      await other.close()
      await until('the closed store has gone', async () => !(await one.instances.isRunning(ids[1])))
      assert.equal(await one.instances.isRunning(ids[0]), true)
      await one.close()
    })

    test('an instance that is killed has ended', async () => {
      const store = await openStore(fresh.target)
      const { child, id } = await otherProcess(fresh.target)
      assert.equal(await store.instances.isRunning(id), true)
      child.kill('SIGKILL')
      await once(child, 'close')
      // A server of PostgreSQL sees the end of the connection a moment later.
      await until('the killed process has gone', async () => !(await store.instances.isRunning(id)))
      await store.close()
      if (driver.kind === 'sqlite') {
        const left = (await readdir(dirname(fresh.target))).filter((name) => name.includes('-instance-'))
        assert.deepEqual(left, [])
      }
    })
  })
}
