/** The write-ahead log of a SQLite file is emptied beside the event loop. */
import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { Checkpoints } from '../../src/adapters/store/sqlite.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'

const ask = (client: string) => ({ day: 20_000, bucket: 'general', client, limit: 3 })

describe('checkpoints of the SQLite store', () => {
  let driver: StoreDriver
  before(async () => {
    driver = await sqliteDriver()
  })
  after(() => driver.stop())

  test('what is written comes into the file itself while the store is open', async () => {
    const { target } = await driver.fresh()
    const store = await openStore(target)
    await store.take(ask('d'))
    const copy = `${target}.copy`
    await until('the checkpoint', async () => {
      await copyFile(target, copy)
      // A file in this mode asks for its side files; the copy is read as it stands.
      const alone = new DatabaseSync(`file:${copy}?immutable=1`, { readOnly: true })
      try {
        return alone.prepare('select count(*) as rows from allowance').get()?.['rows'] === 1
      } catch {
        return false
      } finally {
        alone.close()
      }
    })
    await store.close()
  })

  test('a thread that dies is told of once, and nothing is asked of it afterwards', async () => {
    const { target } = await driver.fresh()
    const module = new URL(`data:text/javascript,throw new Error('no checkpoints today')`)
    const faults: string[] = []
    const checkpoints = new Checkpoints(target, (why) => faults.push(why), module)
    checkpoints.committed()
    await until('the fault', () => faults.length > 0)
    checkpoints.committed()
    await checkpoints.stop()
    assert.deepEqual(faults, ['no checkpoints today'])
  })
})
