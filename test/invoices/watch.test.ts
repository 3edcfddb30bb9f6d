/** How far a look at a merchant reads, and what is said where it does not reach the head of the chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BlockHeader } from '../../src/ports/chain.ts'
import type { InvoiceStore, WatchedMerchant } from '../../src/ports/invoices.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { createInvoiceWatch, type InvoiceWatch } from '../../src/service/invoices/watch.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedInvoices, invoicesInMemory, WATCHED } from '../support/invoices-memory.ts'

const MERCHANT = '0x00000000000000000000000000000000a11ce001'
const INVOICE = 'inv_vector00000000000000000000'
const NOW_MS = Date.UTC(2026, 10, 21, 12)
const FINAL_BLOCKS = 64n

/** A chain up to that block, all of it younger than the invoice and without a transfer; blocks before the next one were read. */
function place(head: bigint, next_block: number) {
  const header = (number: bigint): BlockHeader => ({
    number,
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    parent_hash: '',
    timestamp_s: Math.floor(NOW_MS / 1_000),
  })
  let read = 0n
  let row: WatchedMerchant = { ...WATCHED, merchant: MERCHANT, next_block, looked_ms: 0 }
  const store: InvoiceStore = {
    ...invoicesInMemory(),
    watch_of: () => Promise.resolve(row),
    watched_since: () => Promise.resolve(NOW_MS - 3_600_000),
    record_looks: ([look]) => Promise.resolve(void (row = { ...row, ...look })),
  }
  const chain = {
    head: () => Promise.resolve(header(head)),
    header: (at: bigint | 'latest' | 'safe' | 'finalized') => Promise.resolve(typeof at === 'bigint' ? header(at) : null),
    read: () => assert.fail('nothing is to be read'),
    receipt: () => Promise.resolve(null),
    logs: ({ to_block }: { to_block: bigint }) => {
      if (to_block > read) read = to_block
      return Promise.resolve([])
    },
  }
  const clock = { now_ms: () => NOW_MS }
  const watch = createInvoiceWatch({
    store,
    payments: { find: () => Promise.resolve(null) },
    chain_id: 84_532,
    transactions: { transaction: () => Promise.resolve(null) },
    source: { chain, token: '0x', finality: { by: 'depth', blocks: FINAL_BLOCKS } } as never,
    clock,
    log: { warn: () => assert.fail('nothing goes wrong') } as never,
  })
  const desk = fixedInvoices(clock, store, null, watch)
  const stale = async () => [(await desk.look(INVOICE))?.record['stale'], (await desk.read(INVOICE))?.record['stale']]
  return { read: () => read, row: () => row, stale }
}

test('a record is stale until its merchant’s transfers were read up to the head, however many looks that takes', async () => {
  const blocks = Number(INVOICE_RULES.look_blocks)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 * blocks }), async (behind) => {
      const first = 1_000_000
      const { read, row, stale } = place(BigInt(first + behind - 1), first)
      const looks = Math.ceil(behind / blocks)
      for (let look = 1; look <= looks; look++)
        assert.deepEqual(await stale(), look < looks ? [true, true] : [false, false], `look ${look}`)
      assert.equal(read(), BigInt(first + behind - 1))
      assert.equal(row().looked_ms, NOW_MS)
    }),
    { seed: SEED, numRuns: runs(40, 500) },
  )
})

test('who is behind the head waits for those that were looked at before', async () => {
  const { row, stale } = place(2_000_000n, 1_000_000)
  await stale()
  assert.ok(row().looked_ms > NOW_MS - 2 * INVOICE_RULES.stale_ms && row().looked_ms < NOW_MS - INVOICE_RULES.stale_ms)
})

test('the specimen is never stale: nobody watches it, and it needs no chain', async () => {
  const store = { ...invoicesInMemory(), watch_of: () => Promise.resolve(null) }
  const down: InvoiceWatch = {
    round: () => Promise.resolve(),
    look: () => Promise.reject(Object.assign(new Error('no endpoint'), { code: 'CHAIN_UNAVAILABLE' })),
    lookInto: () => Promise.resolve(null),
  }
  const desk = fixedInvoices({ now_ms: () => NOW_MS + 86_400_000 }, store, null, down)
  const stale = async (id: string) => [(await desk.look(id))?.record['stale'], (await desk.read(id))?.record['stale']]
  assert.deepEqual(await stale('inv_000000000000'), [false, false])
  assert.deepEqual(await stale(INVOICE), [true, true])
})
