/** Which answers are stored, under which token, and for how long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import type { StoredAnswer, StoredAnswerStore } from '../../src/ports/stored-answers.ts'
import { createStoredAnswers } from '../../src/service/calls/answer-detail.ts'
import { networkHasher, providerHasher } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'

const SECRET = new Uint8Array(32).fill(7)
const DIGEST = `0x${'ab'.repeat(32)}`
const DAY_MS = 24 * 3_600_000

const free = (address: string) => ({ address, is_paid: false })

function bench(change: Partial<StoredAnswerStore> = {}) {
  const rows = new Map<string, StoredAnswer>()
  const time = { ms: 1_795_262_400_000 }
  const faults: unknown[] = []
  let totals = 0
  const store: StoredAnswerStore = {
    keep: (row) => Promise.resolve(rows.set(row.token_hash, row) === rows),
    find: (token_hash) => Promise.resolve(rows.get(token_hash) ?? null),
    total_bytes: () => Promise.resolve((totals++, [...rows.values()].reduce((sum, { bytes }) => sum + bytes, 0))),
    unpaid_bytes: () => Promise.resolve([]),
    trim_provider: () => Promise.resolve(),
    purge: () => Promise.resolve(0),
    ...change,
  }
  const stored = createStoredAnswers({
    store,
    clock: clockAt(() => time.ms),
    sealer: createSealer(SECRET),
    crypto: nobleCrypto,
    networkHash: networkHasher(SECRET),
    providerHash: providerHasher(SECRET),
    onFault: (error) => faults.push(error),
  })
  return { stored, rows, time, faults, totals: () => totals }
}

test('an answer is fetched byte for byte by its token for a day; the store has neither token, text nor address', async () => {
  const { stored, rows, time } = bench()
  const token = await stored.keep(DIGEST, '{"secret":"ü"}', free('198.51.100.7'))
  assert.match(token ?? '', /^[0-9a-f]{64}$/)
  assert.equal(await stored.keep(DIGEST, '{"secret":"ü"}', free('198.51.100.7')), token)
  assert.equal(await stored.fetch(token ?? ''), '{"secret":"ü"}')
  const text = JSON.stringify([...rows])
  for (const secret of [token ?? '', 'secret', '198.51.100', DIGEST.slice(2)]) assert.ok(!text.includes(secret), secret)
  assert.equal(await stored.fetch('0'.repeat(64)), null)
  time.ms += DAY_MS - 1
  assert.equal(await stored.fetch(token ?? ''), '{"secret":"ü"}')
  time.ms += 1
  assert.equal(await stored.fetch(token ?? ''), null)
})

test('the token follows from the secret: another deployment gives another, and a moved row opens nothing', async () => {
  const { stored, rows } = bench()
  const token = (await stored.keep(DIGEST, '{}', free('198.51.100.7'))) ?? ''
  const own = createSealer(new Uint8Array(32).fill(8)).token(`stored answer|${DIGEST}`)
  assert.notEqual(token, own)
  const [row] = rows.values()
  assert.ok(row !== undefined)
  rows.set(nobleCrypto.keccak256Hex('f'.repeat(64)), row)
  assert.equal(await stored.fetch('f'.repeat(64)), null)
})

test('the clients of one network share a budget, which is named anew every day', async () => {
  const { stored, rows, time } = bench()
  for (const [number, address] of ['198.51.100.7', '198.51.100.200', '198.51.101.7'].entries())
    await stored.keep(`0x${String(number).repeat(64)}`, '{}', free(address))
  const [first, second, third] = [...rows.values()].map(({ client }) => client)
  assert.deepEqual([first === second, first === third], [true, false])
  time.ms += DAY_MS
  await stored.keep(DIGEST, '{}', free('198.51.100.7'))
  assert.notEqual([...rows.values()].at(-1)?.client, first)
})

test('too long, out of budget or a store that is down: not stored, and only the last is a fault', async () => {
  const { stored, rows } = bench()
  assert.equal(await stored.keep(DIGEST, 'x'.repeat(limits.stored_answer_bytes), free('198.51.100.7')), null)
  assert.equal(rows.size, 0)
  const refused = bench({ keep: () => Promise.resolve(false) })
  assert.equal(await refused.stored.keep(DIGEST, '{}', free('198.51.100.7')), null)
  assert.deepEqual(refused.faults, [])
  const down = bench({ keep: () => Promise.reject(new Error('down')) })
  assert.equal(await down.stored.keep(DIGEST, '{}', free('198.51.100.7')), null)
  assert.equal(down.faults.length, 1)
})

test('when all answers together reach their limit, none is added while others cannot give way; the total is read once a minute', async () => {
  let bytes = limits.stored_answers_bytes - 100
  const { stored, rows, time } = bench({ total_bytes: () => Promise.resolve(bytes) })
  assert.notEqual(await stored.keep(DIGEST, '{}', free('198.51.100.7')), null)
  // What this process has added counts before the total is read again.
  assert.equal(await stored.keep(`0x${'1'.repeat(64)}`, '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaa"}', free('203.0.113.9')), null)
  assert.equal(rows.size, 1)
  bytes = 0
  time.ms += 60_000
  assert.notEqual(await stored.keep(`0x${'1'.repeat(64)}`, '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaa"}', free('203.0.113.9')), null)
})
