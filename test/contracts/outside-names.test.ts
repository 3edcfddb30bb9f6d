import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { after, before, test } from 'node:test'
import { createOutsideResolver } from '../../src/adapters/public-https/outside-names.ts'
import { nameLimits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'
import { type NameServer, startNameServer } from '../support/name-server.ts'

/** Every name below `silent.test`, `mute.test` and `still.test` is never answered. */
const SILENT = /(?:^|\.)(?:silent|mute|still)\.test$/
const ANSWERS = new Map([
  ['shop.test', ['93.184.215.14', '93.184.215.15']],
  ['other.test', ['93.184.215.16']],
])

let server: NameServer
let now_ms = 1_000_000
const never = new AbortController().signal

before(async () => {
  server = await startNameServer((name) =>
    SILENT.test(name) ? 'silent' : name === 'broken.test' ? 'failed' : (ANSWERS.get(name) ?? 'unknown'),
  )
})
after(() => server.stop())

function resolver() {
  server.asked.length = 0
  return createOutsideResolver(
    clockAt(() => now_ms),
    [server.place],
  )
}

test('a name has the addresses that its server gives; a name without one is refused, and asked again next time', async () => {
  const resolve = resolver()
  assert.deepEqual(await resolve('shop.test', never), [
    { address: '93.184.215.14', family: 4 },
    { address: '93.184.215.15', family: 4 },
  ])
  for (const round of [1, 2]) {
    await assert.rejects(resolve('missing.test', never), /missing\.test has no address: none/)
    assert.equal(server.asked.filter((name) => name === 'missing.test').length, round)
  }
})

test('names of this machine are never asked of a server', async () => {
  const resolve = resolver()
  const addresses = (await resolve('hooks.localhost', never)).map(({ address }) => address)
  assert.deepEqual([addresses, server.asked], [['127.0.0.1', '::1'], []])
})

test('servers that do not answer end one query, and their domain is not asked again for a minute', async () => {
  const resolve = resolver()
  await assert.rejects(resolve('a.silent.test', never), /has no address: silent/)
  const asked = server.asked.length
  await assert.rejects(resolve('b.silent.test', never), /the name servers of silent\.test did not answer/)
  assert.equal(server.asked.length, asked)
  await assert.rejects(resolve('broken.test', never), /has no address: silent/)
  await assert.rejects(resolve('broken.test', never), /did not answer/)
  now_ms += nameLimits.silent_ms
  const again = new AbortController()
  const asking = resolve('c.silent.test', again.signal)
  again.abort()
  await assert.rejects(asking, /has no address: aborted/)
  assert.deepEqual(server.asked.includes('c.silent.test'), true)
})

// attack: hosts whose name servers stay silent, so that look-ups of payments wait
// in: outgoing requests and stored data
// asset: name resolution
// attacker: client who names hosts (webhooks, proof files, domains)
// defence: a separate resolver that is cancelled after 2 s, four queries at a time and one for a client; a silent domain is not asked
//   again for a minute
test('silent names of one party delay neither the names of another nor the system resolver of the operator', async () => {
  const resolve = resolver()
  const ended: string[] = []
  const stop = new AbortController()
  const silent = Array.from({ length: nameLimits.party_waiting }, (_, index) =>
    resolve(`n${index}.mute.test`, stop.signal, 'attacker').catch(() => ended.push(`silent ${index}`)),
  )
  await Promise.all([
    resolve('shop.test', never, 'merchant').then(() => ended.push('merchant')),
    resolve('other.test', never, 'other').then(() => ended.push('other')),
    lookup('localhost', { all: true }).then(() => ended.push('operator')),
  ])
  assert.deepEqual(ended.toSorted(), ['merchant', 'operator', 'other'])
  stop.abort()
  await Promise.all(silent)
  assert.equal(server.asked.filter((name) => name.endsWith('mute.test')).length, 1)
})

test('the queue of one party is bounded, and an abort leaves it', async () => {
  const resolve = resolver()
  const stop = new AbortController()
  const waiting = Array.from({ length: nameLimits.party_waiting + 1 }, (_, index) => resolve(`n${index}.still.test`, stop.signal, 'one'))
  await assert.rejects(resolve('more.still.test', stop.signal, 'one'), /too many host names wait/)
  assert.equal((await resolve('shop.test', never, 'two')).length, 2)
  stop.abort()
  const results = await Promise.allSettled(waiting)
  assert.ok(results.every(({ status }) => status === 'rejected'))
  assert.equal((await resolve('shop.test', never, 'one')).length, 2)
})
