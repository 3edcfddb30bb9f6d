/** The directory of underwriters and their policies, over both databases and in the memory of the tests. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DirectoryBounds, InsuranceStore, UnderwriterRow } from '../../src/ports/insurance.ts'
import type { Store } from '../../src/ports/store.ts'
import { insuranceInMemory } from '../support/insurance-memory.ts'
import { ANY_EVENT } from '../support/webhooks.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const address = (number: number) => `0x${String(number).padStart(40, '0')}`

function row(number: number, change: Partial<UnderwriterRow> = {}): UnderwriterRow {
  const entry_hash = `0x${String(number).padStart(64, '0')}`
  const entry = { address: address(number), entry_hash, entry: `{"n":${number},"ü":1}`, issued_s: 100, valid_until_s: 1_000 }
  const proof = { proven_s: 50, proof_source: 'https', domain: `d${number}.example`, network: '', provider: '', listed_until_s: 1_000 }
  return { ...entry, ...proof, ...change }
}

/** The same without a proof, from this network. */
function unproven(number: number, network: string, change: Partial<UnderwriterRow> = {}): UnderwriterRow {
  return row(number, { proven_s: null, proof_source: null, network, provider: network.slice(0, 1), listed_until_s: 700, ...change })
}

/** A later entry of the same address. */
function renewed(number: number, change: Partial<UnderwriterRow> = {}): UnderwriterRow {
  return row(number, { entry_hash: row(number + 1_000).entry_hash, issued_s: 101, entry: '{}', ...change })
}

const BOUNDS: DirectoryBounds = { entries: 3, unproven: 100, unproven_network: 100, proven_domain: 100 }

async function keepsTheDirectory(store: InsuranceStore): Promise<void> {
  const register = (given: UnderwriterRow, now_s = 500) => store.register(given, [], BOUNDS, now_s)
  assert.deepEqual(await store.underwriters(0), [])
  assert.equal(await store.underwriter(address(1)), null)
  assert.equal(await register(row(2)), 'registered')
  assert.equal(await register(row(2)), 'unchanged')
  assert.equal(await register(row(1, { listed_until_s: 600 })), 'registered')
  assert.deepEqual(await store.underwriters(599), [row(1, { listed_until_s: 600 }), row(2)])
  // An entry is listed until, not at, its last second.
  assert.deepEqual(await store.underwriters(600), [row(2)])
  assert.equal(await register(renewed(2, { issued_s: 100 })), 'older')
  assert.equal(await register(renewed(2)), 'registered')
  assert.deepEqual(await store.underwriter(address(2)), renewed(2))
  assert.equal(await register(row(3)), 'registered')
  assert.equal(await register(row(4)), 'full')
  // Whoever is in may renew although it is full; what has expired makes room.
  assert.equal(await register(renewed(3)), 'registered')
  assert.equal(await register(row(4), 600), 'registered')
  assert.equal(await store.underwriter(address(1)), null)
}

/** In the directory that `keepsTheDirectory` left: 2, 3 and 4, all proven. */
async function keepsProofs(store: InsuranceStore): Promise<void> {
  const bounds: DirectoryBounds = { entries: 6, unproven: 3, unproven_network: 2, proven_domain: 2 }
  const register = (given: UnderwriterRow, networks: string[] = [], now_s = 500) => store.register(given, networks, bounds, now_s)
  // A network is counted under its names of several days.
  assert.equal(await register(unproven(11, 'a-monday'), ['a-monday']), 'registered')
  assert.equal(await register(unproven(12, 'a-tuesday'), ['a-tuesday', 'a-monday']), 'registered')
  assert.equal(await register(unproven(13, 'a-tuesday'), ['a-tuesday', 'a-monday']), 'network_full')
  assert.equal(await register(unproven(13, 'b', { listed_until_s: 650 }), ['b']), 'registered')
  assert.equal(await register(unproven(14, 'b'), ['b']), 'unproven_full')
  // A network without an entry takes the place of one of the provider network with the most.
  assert.equal(await register(unproven(14, 'c', { listed_until_s: 600 }), ['c']), 'registered')
  assert.equal(await store.underwriter(address(11)), null)
  assert.equal(await register(unproven(14, 'a-monday', { listed_until_s: 600 }), ['a-monday']), 'unchanged')
  assert.equal(await store.remove(address(14), 500), true)
  assert.equal(await register(unproven(11, 'a-monday'), ['a-monday']), 'registered')
  // Unproven entries are listed behind proven ones, whatever their address.
  assert.deepEqual(
    (await store.underwriters(500)).map((one) => Number(one.address.slice(2))),
    [2, 3, 4, 11, 12, 13],
  )
  // Six of six: a proven entry displaces the unproven one that would leave first, and no other.
  assert.equal(await register(row(1)), 'registered')
  assert.equal(await store.underwriter(address(13)), null)
  // The same entry again, with its proof.
  const proof = { proven_s: 510, proof_source: 'https', network: '', provider: '', listed_until_s: 1_000 }
  assert.equal(await register(unproven(11, 'a-monday'), ['a-monday']), 'unchanged')
  assert.equal(await register(unproven(11, 'a-monday', proof), ['a-monday']), 'unchanged')
  assert.deepEqual(await store.underwriter(address(11)), unproven(11, 'a-monday', proof))
  // Sent again without it by anyone, nothing is taken away.
  assert.equal(await register(unproven(11, 'z'), ['z']), 'unchanged')
  assert.deepEqual(await store.underwriter(address(11)), unproven(11, 'a-monday', proof))
  // Two entries of one domain.
  assert.equal(await register(renewed(1, { domain: 'd2.example' })), 'registered')
  assert.equal(await register(renewed(3, { entry_hash: row(2_003).entry_hash, issued_s: 102, domain: 'd2.example' })), 'domain_full')
  // One that was taken out stays out until its underwriter signs another.
  assert.equal(await store.remove(address(4), 500), true)
  assert.equal(await store.remove(address(4), 500), false)
  assert.equal(await store.remove(address(99), 500), false)
  assert.equal(await register(row(4)), 'older')
  assert.ok((await store.underwriters(500)).every((one) => one.address !== address(4)))
  assert.equal(await register(renewed(4)), 'registered')
  // An unproven entry that has left is not taken again as it was.
  assert.equal(await register(unproven(12, 'a-tuesday', { listed_until_s: 900 }), ['a-tuesday'], 800), 'older')
}

async function keepsPolicies(store: InsuranceStore): Promise<void> {
  const given = { policy_id: 'pol_1', underwriter: address(1), certificate: '{"a":1}' }
  const kept = { ...given, underwriter_signature: null, underwriter_attestation: null }
  const signed = (underwriter_signature: string, underwriter_attestation: string | null = null) => ({
    underwriter_signature,
    underwriter_attestation,
  })
  assert.equal(await store.policy('pol_1'), null)
  assert.equal(await store.countersign('pol_1', signed('0xaa'), ANY_EVENT), null)
  assert.deepEqual(await store.bind(given), { created: true, policy: kept })
  assert.deepEqual(await store.bind({ ...given, certificate: '{}' }), { created: false, policy: kept })
  assert.deepEqual(await store.countersign('pol_1', signed('0xaa', '{"b":2}'), ANY_EVENT), { ...kept, ...signed('0xaa', '{"b":2}') })
  assert.deepEqual(await store.countersign('pol_1', signed('0xbb'), ANY_EVENT), { ...kept, ...signed('0xaa', '{"b":2}') })
  assert.deepEqual(await store.policy('pol_1'), { ...kept, ...signed('0xaa', '{"b":2}') })
}

test('the memory of the tests keeps what the databases keep', async () => {
  const directory = insuranceInMemory()
  await keepsTheDirectory(directory)
  await keepsProofs(directory)
  await keepsPolicies(insuranceInMemory())
})

for (const open of STORE_DRIVERS) {
  describe(`insurance: ${open.name}`, () => {
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

    test('one entry an address, the one issued last, within the bound', () => keepsTheDirectory(store.insurance))

    test('unproven entries are bounded apart, and never keep a proven one out', () => keepsProofs(store.insurance))

    test('a policy is made out once and countersigned once', () => keepsPolicies(store.insurance))

    test('many at once, over two connections, do not outgrow the bound', async () => {
      const other = await openSealed(fresh.target)
      const most = 10
      const bounds: DirectoryBounds = { ...BOUNDS, entries: most }
      const held = (await store.insurance.underwriters(500)).filter(({ proven_s }) => proven_s !== null).length
      const ends = await Promise.all(
        Array.from({ length: 30 }, (_, call) => (call % 2 === 0 ? store : other).insurance.register(row(100 + call), [], bounds, 500)),
      )
      assert.equal((await store.insurance.underwriters(500)).length, most)
      assert.equal(ends.filter((end) => end === 'full').length, 30 - (most - held))
      await other.close()
    })

    test('entries of the schema before proofs are unproven, and listed for seven days at most', async () => {
      const old = await driver.fresh()
      await old.createSchema(12)
      const now_s = Math.floor(Date.now() / 1_000)
      for (const [number, valid_until_s] of [
        [1, now_s + 300 * 86_400],
        [2, now_s + 3_600],
      ])
        await old.sql(`insert into underwriter values ('${address(number ?? 0)}', 'h', '{}', 100, ${valid_until_s})`)
      const migrated = await openSealed(old.target)
      const listed = await migrated.insurance.underwriters(now_s)
      await migrated.close()
      assert.deepEqual(
        listed.map(({ proven_s, network }) => [proven_s, network]),
        [
          [null, ''],
          [null, ''],
        ],
      )
      const [first = 0, second = 0] = listed.map(({ listed_until_s }) => listed_until_s - now_s)
      assert.ok(first >= 7 * 86_400 && first < 7 * 86_400 + 600, String(first))
      assert.equal(second, 3_600)
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      for (const change of [
        { address: '' },
        { entry: 'a\u0000b' },
        { issued_s: -1 },
        { valid_until_s: 0.5 },
        { proven_s: -1 },
        { listed_until_s: 0.5 },
        { network: 'a\u0000b' },
      ])
        await assert.rejects(store.insurance.register(row(7, change), [], { ...BOUNDS, entries: 1_000 }, 1), { code: 'STORE_REFUSED' })
    })
  })
}
