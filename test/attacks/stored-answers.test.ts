/** Stored brief answers: networks that use up the storage of all take it neither from payers nor from clients of other providers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'
import type { Store } from '../../src/ports/store.ts'
import { createStoredAnswers } from '../../src/service/calls/answer-detail.ts'
import { networkHasher, providerHasher } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const SECRET = new Uint8Array(32).fill(7)
const START_MS = 1_795_262_400_000
const TEXT = 'x'.repeat(100_000)
const SEALED_BYTES = createSealer(SECRET).seal(TEXT, 'any').length

let driver: StoreDriver
let fresh: FreshStore
let store: Store
before(async () => {
  driver = await (STORE_DRIVERS[0] ?? assert.fail())()
  fresh = await driver.fresh()
  store = await openStore(fresh.target)
})
after(async () => {
  await store.close()
  await driver.stop()
})

/** The storage of answers over the database of the test, with a clock that moves by each answer. */
function bench() {
  let now_ms = START_MS
  const faults: unknown[] = []
  const stored = createStoredAnswers({
    store: store.stored_answers,
    clock: clockAt(() => now_ms),
    sealer: createSealer(SECRET),
    crypto: nobleCrypto,
    networkHash: networkHasher(SECRET),
    providerHash: providerHasher(SECRET),
    onFault: (error) => faults.push(error),
  })
  const keep = (address: string, is_paid = false) => {
    now_ms += 1
    return stored.keep(`0x${toHex(Buffer.from(String(number++).padStart(32, '0'))).slice(2)}`, TEXT, { address, is_paid })
  }
  return { stored, keep, faults }
}

let number = 0

// attack: brief answers that use up the storage of all for a day
// in: money and signatures
// asset: stored answers of payers
// attacker: client with 256 networks
// defence: bounds by /24 or /48 and /16 or /32; paid answers are counted apart and never deleted for others; the widest provider gives
//   way
test('when 300 networks use up the storage, a payer stores its answer, and the widest provider gives way', async () => {
  const { stored, keep, faults } = bench()
  const payer = await keep('203.0.113.7', true)
  const free = await keep('192.0.2.7')
  // 60 providers of five networks each: each network uses up its budget.
  for (let provider = 0; provider < 60; provider++)
    for (let network = 0; network < 5; network++) for (let count = 0; count < 8; count++) await keep(`10.${provider}.${network}.1`)
  assert.ok((await store.stored_answers.total_bytes()) <= limits.stored_answers_bytes)
  assert.equal(await stored.fetch(payer ?? ''), TEXT)
  assert.equal(await stored.fetch(free ?? ''), TEXT, 'its provider is not the widest')
  for (const [address, is_paid] of [
    ['198.51.100.7', false],
    ['203.0.113.7', true],
  ] as const)
    assert.equal(await stored.fetch((await keep(address, is_paid)) ?? ''), TEXT)
  assert.ok((await store.stored_answers.total_bytes()) <= limits.stored_answers_bytes)
  const [widest] = await store.stored_answers.unpaid_bytes(1)
  assert.ok((widest?.bytes ?? 0) <= limits.stored_answers_provider_bytes)
  assert.deepEqual(faults, [])
})

test('many networks of one provider use up its share alone', async () => {
  const { keep, faults } = bench()
  const tokens: (string | null)[] = []
  for (let network = 0; network < 80; network++) tokens.push(await keep(`172.20.${network}.1`))
  const bytes = tokens.filter((token) => token !== null).length * SEALED_BYTES
  assert.ok(bytes <= limits.stored_answers_provider_bytes && bytes + SEALED_BYTES > limits.stored_answers_provider_bytes, String(bytes))
  assert.notEqual(await keep('172.20.99.1', true), null, 'paid answers are counted apart')
  assert.notEqual(await keep('172.21.1.1'), null)
  assert.deepEqual(faults, [])
})
