/** No two histories of one log are shown: a store that lost published entries stops the log, whatever it has instead. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { logMemory } from '../../src/adapters/log-memory/folder.ts'
import { ed25519Signer } from '../../src/adapters/log-signer/ed25519.ts'
import { createLog } from '../../src/adapters/log/pino.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { signedCheckpoint, verifierKey } from '../../src/pure/log/checkpoint.ts'
import { fromHex, growFrom, NO_ENTRIES } from '../../src/service/log/stored-tree.ts'
import { lastStop, readHistory, recordResumption } from '../../src/service/log/log-history.ts'
import { PublishedHead } from '../../src/service/log/published-head.ts'
import type { LogMemory } from '../../src/ports/log-memory.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(7))
const keyOf = (origin: string) => verifierKey('log', origin, signer.public_key)
const ORIGIN = 'assay.example/log'
const entriesOf = (history: string, count: number) =>
  Array.from({ length: count }, (_, at) => createHash('sha256').update(`${history} ${at}`).digest('hex'))

/** Appends as the sequencer does. */
async function append(store: Store, entries: readonly string[], origin = ORIGIN): Promise<void> {
  const older = (await store.log.head()) ?? NO_ENTRIES
  const grown = (await growFrom(store.log, older, entries)) ?? assert.fail('the tiles are not those of the head')
  const { size, root, tiles } = grown
  const checkpoint = signedCheckpoint({ size, root: fromHex(root) }, keyOf(origin), signer)
  assert.ok(await store.log.append({ from_size: older.size, entries, tiles, head: { size, root, checkpoint, signed_ms: 1 } }))
}

/** Part of the store that an instance reads and writes. */
interface LogStore extends Pick<Store, 'remember' | 'recall'> {
  log: Pick<Store['log'], 'head' | 'tile' | 'largest_cosigned'>
}

/** An instance with the memory of one folder; the store can be replaced under it, as a failover does. */
function instance(store: LogStore, memory: LogMemory) {
  const current = { store }
  const published = new PublishedHead({
    store: {
      head: () => current.store.log.head(),
      tile: (level, index) => current.store.log.tile(level, index),
      largest_cosigned: () => current.store.log.largest_cosigned(),
    },
    notes: {
      remember: (name, note) => current.store.remember(name, note),
      recall: (name) => current.store.recall(name),
    },
    memory,
    clock: systemClock,
    log: createLog('silent', systemClock).log,
    first_origin: ORIGIN,
    keyOf,
  })
  return { published, failOverTo: (next: LogStore) => (current.store = next), current: () => current.store }
}

for (const open of STORE_DRIVERS) {
  describe(`published head: ${open.name}`, () => {
    let driver: StoreDriver
    let folder: string
    const opened: Store[] = []
    /** A store whose log has these entries. */
    const storeWith = async (...entries: readonly string[][]) => {
      const { target } = await driver.fresh()
      const store = await openStore(target)
      opened.push(store)
      await append(store, [])
      for (const step of entries) await append(store, step)
      return store
    }

    before(async () => {
      driver = await open()
    })
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'assay-heads-'))
    })
    after(async () => {
      for (const store of opened) await store.close()
      await driver.stop()
      await rm(folder, { recursive: true, force: true })
    })

    const common = entriesOf('common', 300)
    const losses: Record<string, { entries: string[][]; reason: string }> = {
      'behind the head': { entries: [common.slice(0, 280)], reason: 'behind' },
      'behind the head, with another history': { entries: [common.slice(0, 270), entriesOf('other', 5)], reason: 'behind' },
      'as large, with another history': { entries: [common.slice(0, 290), entriesOf('other', 10)], reason: 'inconsistent' },
      'larger, with another history': { entries: [common.slice(0, 299), entriesOf('other', 300)], reason: 'inconsistent' },
      empty: { entries: [], reason: 'behind' },
    }
    for (const [name, { entries, reason }] of Object.entries(losses)) {
      // attack: a second history of the log after the database lost entries
      // in: money and signatures
      // asset: trust in receipts
      // attacker: a failover
      // defence: each instance remembers the highest published head and stops the log of all
      test(`a store that is ${name} stops the log for every instance, and the published head stays`, async () => {
        const { published, failOverTo } = instance(await storeWith(common), logMemory(folder))
        await published.open()
        const shown = await published.shown()
        assert.equal(shown?.size, 300)
        const lossy = await storeWith(...entries)
        const head = await lossy.log.head()
        failOverTo(lossy)
        assert.deepEqual(await published.shown(), { size: shown.size, root: shown.root, checkpoint: shown.checkpoint })
        assert.deepEqual([published.stopped?.reason, published.stopped?.store.size], [reason, head?.size])
        // A machine without the memory is stopped by the record, and shows the same head.
        const other = instance(lossy, logMemory(join(folder, 'other')))
        await other.published.open()
        assert.deepEqual([other.published.stopped?.reason, (await other.published.shown())?.checkpoint], [reason, shown.checkpoint])
        // The memory survives a restart, and the lossy store would stop it without the record too.
        const unaware = await storeWith(...entries)
        const restarted = instance(unaware, logMemory(folder))
        await restarted.published.open()
        assert.deepEqual([restarted.published.stopped?.reason, (await restarted.published.shown())?.checkpoint], [reason, shown.checkpoint])
        assert.deepEqual(await lossy.log.head(), head, 'nothing was written to the log')
      })
    }

    test('a store that continues what was published goes on, and the memory follows it', async () => {
      const store = await storeWith(common.slice(0, 10))
      const { published, failOverTo } = instance(store, logMemory(folder))
      await published.open()
      await append(store, common.slice(10, 270))
      assert.equal((await published.shown())?.size, 270)
      failOverTo(await storeWith(common.slice(0, 200), common.slice(200)))
      assert.deepEqual([(await published.shown())?.size, published.stopped], [300, null])
      const kept = await logMemory(folder).highest(keyOf(ORIGIN).id)
      assert.deepEqual([kept?.size, (await readdir(folder)).length], [300, 1])
    })

    test('a head leaves only after the memory has it', async () => {
      const store = await storeWith(common.slice(0, 10))
      const memory = logMemory(folder)
      const full = { is: false }
      const keep: LogMemory['keep'] = (key_id, head) =>
        full.is ? Promise.reject(new Error('ENOSPC: no space left on device')) : memory.keep(key_id, head)
      const { published } = instance(store, { highest: (key_id) => memory.highest(key_id), keep })
      await published.open()
      full.is = true
      await append(store, common.slice(10, 20))
      await assert.rejects(published.shown(), /ENOSPC/)
      full.is = false
      assert.equal((await published.shown())?.size, 20)
      assert.equal((await memory.highest(keyOf(ORIGIN).id))?.size, 20)
    })

    test('reads that overtake each other are no loss', async () => {
      const store = await storeWith(common.slice(0, 10))
      const late = Promise.withResolvers<void>()
      const held = { next: false }
      const slow: Store['log']['head'] = async () => {
        const wait = held.next
        held.next = false
        const head = await store.log.head()
        if (wait) await late.promise
        return head
      }
      const log = {
        head: slow,
        tile: (level: number, index: number) => store.log.tile(level, index),
        largest_cosigned: () => store.log.largest_cosigned(),
      }
      const notes = {
        remember: (name: string, note: string) => store.remember(name, note),
        recall: (name: string) => store.recall(name),
      }
      const { published } = instance({ log, ...notes }, logMemory(folder))
      await published.open()
      held.next = true
      const first = published.shown()
      await append(store, common.slice(10, 20))
      assert.equal((await published.shown())?.size, 20)
      late.resolve()
      assert.deepEqual([(await first)?.size, published.stopped], [20, null])
    })

    test('a stop is resumed on proof when the store has the published head after all', async () => {
      const good = await storeWith(common)
      const lossy = await storeWith(common.slice(0, 250))
      const { published, failOverTo } = instance(good, logMemory(folder))
      await published.open()
      failOverTo(lossy)
      await published.watch()
      assert.equal(published.stopped?.reason, 'behind')
      await append(lossy, common.slice(250))
      const stop = lastStop(await readHistory(lossy)) ?? assert.fail('the stop is recorded')
      const accepted = { size: 300, root: (await lossy.log.head())?.root ?? '' }
      assert.equal(await recordResumption(lossy, stop.number, { how: 'proved', accepted, why: '', resumed_ms: 1 }), true)
      await published.watch()
      assert.deepEqual([published.stopped, (await published.shown())?.size, published.key.name], [null, 300, ORIGIN])
      // A resumption that is not true stops it again.
      const again = await storeWith(common.slice(0, 250))
      failOverTo(again)
      await published.watch()
      await recordResumption(again, 1, { how: 'proved', accepted, why: '', resumed_ms: 1 })
      await published.watch()
      assert.equal(published.stopped?.reason, 'behind')
      assert.equal((await readHistory(again)).records.length, 2)
    })

    test('a cut retires the log: the next one has another origin, begins at the accepted head, and is guarded like the first', async () => {
      const lossy = await storeWith(common.slice(0, 250), entriesOf('other', 10))
      const { published, failOverTo, current } = instance(await storeWith(common), logMemory(folder))
      await published.open()
      failOverTo(lossy)
      await published.watch()
      const head = (await lossy.log.head()) ?? assert.fail('no head')
      const accepted = { size: head.size, root: head.root }
      await recordResumption(lossy, 1, { how: 'cut', accepted, why: 'the primary is lost', resumed_ms: 1 })
      await published.watch()
      const next = `${ORIGIN}/2`
      assert.deepEqual([published.stopped, published.key.name], [null, next])
      assert.equal((await published.look()).shown, null, 'the head is signed under the name of the retired log')
      await append(lossy, [], next)
      await append(lossy, entriesOf('more', 5), next)
      assert.equal((await published.shown())?.size, 265)
      failOverTo(await storeWith(common.slice(0, 100)))
      await published.watch()
      assert.deepEqual([published.stopped?.reason, published.stopped?.epoch], ['behind', 2], 'the store has lost the record of the cut too')
      // A further cut does not use the name of the second log again.
      await recordResumption(current(), 1, {
        how: 'cut',
        accepted: { size: 100, root: (await current().log.head())?.root ?? '' },
        why: '',
        resumed_ms: 1,
      })
      await published.watch()
      assert.deepEqual([published.stopped, published.key.name], [null, `${ORIGIN}/3`])
    })

    test('a store that is behind what a witness signed stops the log', async () => {
      const store = await storeWith(common.slice(0, 20))
      await store.log.cosign(25, 'witness.example', 'a line')
      const { published } = instance(store, logMemory(folder))
      await published.open()
      assert.deepEqual([published.stopped?.reason, published.stopped?.published.size], ['witness', 25])
    })
  })
}

test('processes that share a folder keep the highest head, in whatever order they write', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-heads-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const head = (size: number) => {
    const root = createHash('sha256').update(String(size)).digest('hex')
    return { size, root, checkpoint: signedCheckpoint({ size, root: fromHex(root) }, keyOf(ORIGIN), signer) }
  }
  const key_id = keyOf(ORIGIN).id
  const memories = [logMemory(folder), logMemory(folder), logMemory(folder)] as const
  assert.equal(await memories[0].highest(key_id), null)
  const sizes = Array.from({ length: 60 }, (_, at) => (at * 37) % 61)
  await Promise.all(sizes.map((size, at) => (memories[at % memories.length] ?? memories[0]).keep(key_id, head(size))))
  assert.deepEqual(await logMemory(folder).highest(key_id), head(60))
  await memories[1].keep(key_id, head(5))
  assert.deepEqual(await logMemory(folder).highest(key_id), head(60))
  assert.equal(await logMemory(folder).highest('00000000'), null)
})
