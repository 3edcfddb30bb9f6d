/** Receipts bound to assured terms, over both databases. */
// attack: being first to fix its terms, or to file and lose its dispute

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { NewAssuredRecord } from '../../src/ports/assured-records.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`

function recordOf(receipt_hash: string, change: Partial<NewAssuredRecord> = {}): NewAssuredRecord {
  const assured_id = `asr_${receipt_hash.slice(2, 34)}`
  return {
    receipt_hash,
    assured_id,
    terms: '{"a":"ü"}',
    window_ends_s: 999_999_999_999,
    created_ms: 1_795_262_400_123,
    signed: null,
    ...change,
  }
}

for (const open of STORE_DRIVERS) {
  describe(`assured records: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('a receipt is bound once; later terms change nothing', async () => {
      const first = recordOf(hash('1'))
      assert.equal(await store.assured.find(first.receipt_hash), null)
      const kept = { ...first, mark: 'OPEN' }
      assert.deepEqual(await store.assured.keep(first), { created: true, record: kept })
      const later = recordOf(hash('1'), { terms: '{"b":2}', window_ends_s: 1, created_ms: 1 })
      assert.deepEqual(await store.assured.keep(later), { created: false, record: kept })
      assert.deepEqual(await store.assured.find(first.receipt_hash), kept)
      assert.equal(await store.assured.find(hash('2')), null)
    })

    test('of many at once, over two connections, one creates and all get its record', async () => {
      const other = await openStore(fresh.target)
      const bound = await Promise.all(
        Array.from({ length: 40 }, (_, call) => (call % 2 === 0 ? store : other).assured.keep(recordOf(hash('3'), { created_ms: call }))),
      )
      const created = bound.filter((one) => one.created)
      assert.equal(created.length, 1)
      for (const { record } of bound) assert.deepEqual(record, created[0]?.record)
      await other.close()
    })

    test('signed terms take the place of advisory ones, once, and keep the mark', async () => {
      const signed = (by: string, created_ms: number) =>
        recordOf(hash('8'), { terms: `{"by":"${by}"}`, created_ms, signed: { by, signature: `0x${by}` } })
      await store.assured.keep(recordOf(hash('8')))
      await store.assured.mark(hash('8'), 'DISPUTED')
      const kept = { ...signed('payer', 5), mark: 'DISPUTED' }
      assert.deepEqual(await store.assured.keep(signed('payer', 5)), { created: true, record: kept })
      for (const later of [signed('recipient', 6), signed('payer', 7), recordOf(hash('8'))])
        assert.deepEqual(await store.assured.keep(later), { created: false, record: kept })
    })

    test('of signed and advisory terms that come together, over two connections, one signed record is kept', async () => {
      const other = await openStore(fresh.target)
      const bound = await Promise.all(
        Array.from({ length: 40 }, (_, call) =>
          (call % 2 === 0 ? store : other).assured.keep(
            recordOf(hash('9'), { created_ms: call, signed: call % 4 < 2 ? null : { by: `0x${call}`, signature: '0x01' } }),
          ),
        ),
      )
      const signed = bound.filter(({ created, record }) => created && record.signed !== null)
      assert.equal(signed.length, 1)
      assert.deepEqual(await store.assured.find(hash('9')), signed[0]?.record)
      for (const { record } of bound.filter((one) => !one.created && one.record.signed !== null))
        assert.deepEqual(record, signed[0]?.record)
      await other.close()
    })

    test('marks move in their order alone, each once', async () => {
      await store.assured.keep(recordOf(hash('4')))
      const moves = ['ADJUDICATED', 'DISPUTED', 'DISPUTED', 'ADJUDICATED', 'DISPUTED', 'ADJUDICATED'] as const
      const moved: boolean[] = []
      for (const to of moves) moved.push(await store.assured.mark(hash('4'), to))
      assert.deepEqual(moved, [false, true, false, true, false, false])
      assert.equal((await store.assured.find(hash('4')))?.mark, 'ADJUDICATED')
      assert.equal((await store.assured.keep(recordOf(hash('4')))).record.mark, 'ADJUDICATED')
      assert.equal(await store.assured.mark(hash('5'), 'DISPUTED'), false)
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      const refused: Partial<NewAssuredRecord>[] = [
        { assured_id: '' },
        { terms: 'a\u0000b' },
        { terms: '\ud800' },
        { window_ends_s: -1 },
        { created_ms: 1.5 },
      ]
      for (const change of refused) await assert.rejects(store.assured.keep(recordOf(hash('6'), change)), { code: 'STORE_REFUSED' })
      assert.equal(await store.assured.find(hash('6')), null)
    })

    test('records outlast the service', async () => {
      await store.assured.keep(recordOf(hash('7')))
      await store.close()
      store = await openStore(fresh.target)
      assert.deepEqual(await store.assured.find(hash('7')), { ...recordOf(hash('7')), mark: 'OPEN' })
    })
  })
}
