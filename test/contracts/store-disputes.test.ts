/** Disputes about receipts, over both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DisputeRecord } from '../../src/ports/assured-records.ts'
import type { Store } from '../../src/ports/store.ts'
import { disputesInMemory } from '../support/dispute-memory.ts'
import { ANY_EVENT } from '../support/webhooks.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`

function filed(change: Partial<DisputeRecord> = {}): DisputeRecord {
  const same = { receipt_hash: hash('1'), dispute_id: 'D-1', body_hash: hash('a'), payer_signed: false }
  return { ...same, outcome: '{"verdict":"UPHELD","ü":1}', filed_ms: 1_795_262_400_123, ...change }
}

/** Each step with what is kept after it; the memory of the tests must behave as the databases do. */
const STORY: { given: DisputeRecord; created: boolean; kept: DisputeRecord }[] = [
  { given: filed(), created: true, kept: filed() },
  { given: filed({ outcome: '{}', filed_ms: 5 }), created: false, kept: filed() },
  { given: filed({ body_hash: hash('b'), outcome: '{"b":1}' }), created: false, kept: filed() },
  { given: filed({ dispute_id: 'D-2' }), created: true, kept: filed({ dispute_id: 'D-2' }) },
  { given: filed({ receipt_hash: hash('2') }), created: true, kept: filed({ receipt_hash: hash('2') }) },
  // The same body, now signed: the verdict and its time stand.
  {
    given: filed({ dispute_id: 'D-2', payer_signed: true, outcome: '{"later":1}', filed_ms: 9 }),
    created: false,
    kept: filed({ dispute_id: 'D-2', payer_signed: true }),
  },
  // Signed later with the very same outcome: still the first filing.
  { given: filed({ dispute_id: 'D-3' }), created: true, kept: filed({ dispute_id: 'D-3' }) },
  {
    given: filed({ dispute_id: 'D-3', payer_signed: true, filed_ms: 1_795_262_400_124 }),
    created: false,
    kept: filed({ dispute_id: 'D-3', payer_signed: true }),
  },
  // Another body, signed: it takes the place of the unsigned one, once.
  {
    given: filed({ body_hash: hash('c'), payer_signed: true, outcome: '{"c":1}', filed_ms: 7 }),
    created: true,
    kept: filed({ body_hash: hash('c'), payer_signed: true, outcome: '{"c":1}', filed_ms: 7 }),
  },
  {
    given: filed({ body_hash: hash('d'), payer_signed: true, outcome: '{"d":1}' }),
    created: false,
    kept: filed({ body_hash: hash('c'), payer_signed: true, outcome: '{"c":1}', filed_ms: 7 }),
  },
]

test('the memory of the tests keeps what the databases keep', async () => {
  const memory = disputesInMemory()
  for (const { given, created, kept } of STORY) assert.deepEqual(await memory.file(given, ANY_EVENT), { created, record: kept })
})

for (const open of STORE_DRIVERS) {
  describe(`disputes: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openSealed(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('one name holds one dispute; unsigned yields to signed', async () => {
      assert.equal(await store.disputes.find(hash('1'), 'D-1'), null)
      for (const { given, created, kept } of STORY) {
        assert.deepEqual(await store.disputes.file(given, ANY_EVENT), { created, record: kept })
        assert.deepEqual(await store.disputes.find(given.receipt_hash, given.dispute_id), kept)
      }
    })

    test('of many at once, over two connections, all see the one that was first', async () => {
      const other = await openSealed(fresh.target)
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, call) =>
          (call % 2 === 0 ? store : other).disputes.file(
            filed({ dispute_id: 'race', body_hash: `0x${String(call).padStart(64, '0')}`, outcome: `{"call":${call}}` }),
            ANY_EVENT,
          ),
        ),
      )
      assert.equal(answers.filter(({ created }) => created).length, 1)
      for (const { record } of answers) assert.deepEqual(record, answers[0]?.record)
      await other.close()
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      for (const change of [{ dispute_id: '' }, { outcome: 'a\u0000b' }, { filed_ms: -1 }])
        await assert.rejects(store.disputes.file(filed(change), ANY_EVENT), { code: 'STORE_REFUSED' })
    })
  })
}
