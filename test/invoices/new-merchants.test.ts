/** Daily budgets of invoices that merchants sign before their first payment: of a network, of its provider, and of all. */
// attack: invoices that random keys sign, by the thousand, from one network or from 400

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { createNewMerchantQuota } from '../../src/service/invoices/new-merchants.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { invoiceUrl, issue, issueSigned, mine, looked, newMerchant, send, signAsMerchant, signFor } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const { new_signed_network, new_signed_provider, new_signed_all, new_signed_small } = INVOICE_RULES

let driver: StoreDriver
let world: World
before(async () => {
  driver = await sqliteDriver()
  world = await startWorld()
})
after(async () => {
  await world.stop()
  await driver.stop()
})

const merchant = () => `0x${randomBytes(20).toString('hex')}`

async function fresh() {
  const store = await openStore((await driver.fresh()).target)
  let now_ms = NOW_MS
  const derive = createDerivation(new Uint8Array(32).fill(7))
  const quota = createNewMerchantQuota({ store, clock: { now_ms: () => now_ms }, derive })
  /** Result of so many invoices of new merchants from an address: granted, or the limit of the last refusal. */
  const take = async (address: string, times = 1) => {
    const units = await Promise.all(Array.from({ length: times }, () => quota.take(merchant(), address)))
    const refused = units.flatMap((unit) => (unit.ok ? [] : [unit.problem.extra?.['limit_of']]))
    return [times - refused.length, refused[0] ?? null]
  }
  return { store, quota, take, nextDay: () => void (now_ms += 86_400_000) }
}

test('a network signs so many invoices of new merchants a day, from whichever of its addresses; the refusal says whose limit it is', async () => {
  const { store, quota, take, nextDay } = await fresh()
  for (const [first, second, other] of [
    ['203.0.113.7', '203.0.113.200', '203.0.114.7'],
    ['2001:db8:7::1', '2001:db8:7:ffff::2', '2001:db8:8::1'],
  ] as const) {
    assert.deepEqual(await take(first, new_signed_network - 1), [new_signed_network - 1, null])
    assert.deepEqual(await take(second, 2), [1, 'network'])
    assert.deepEqual(await take(other), [1, null])
    const refused = await quota.take(merchant(), second)
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'INVOICE_NETWORK_LIMIT')
    assert.match(refused.problem.detail, /limit of your network \(\/24, \/48\): 500 .* resets at 00:00 UTC/)
    assert.equal(refused.problem.retry_after_s, 43_200)
  }
  nextDay()
  assert.deepEqual(await take('203.0.113.7'), [1, null])
  await store.close()
})

test('networks of one provider leave half of its budget to those that sign few', async () => {
  const { store, take } = await fresh()
  const half = new_signed_provider / 2
  for (let net = 0; net * new_signed_network < half; net++) assert.equal((await take(`198.51.${net}.1`, new_signed_network))[1], null)
  // The first ones of a network are granted still, more are not.
  assert.deepEqual(await take('198.51.100.1', new_signed_small + 1), [new_signed_small, 'provider'])
  assert.deepEqual(await take('198.52.100.1', new_signed_small + 1), [new_signed_small + 1, null])
  await store.close()
})

test('all networks leave half of the budget of the service to those that sign few', async () => {
  const { store, take } = await fresh()
  const nets = new_signed_all / 2 / new_signed_network
  for (let net = 0; net < nets; net++) assert.equal((await take(`${net + 1}.1.1.1`, new_signed_network))[1], null)
  assert.deepEqual(await take('198.51.100.1', new_signed_small + 1), [new_signed_small, 'all'])
  await store.close()
})

test('a unit that brought no signed invoice is given back', async () => {
  const { store, quota, take } = await fresh()
  const units = await Promise.all(Array.from({ length: new_signed_network }, () => quota.take(merchant(), '203.0.113.7')))
  await Promise.all(units.map((unit) => (unit.ok ? unit.give_back() : assert.fail())))
  assert.deepEqual(await take('203.0.113.7', new_signed_network + 1), [new_signed_network, 'network'])
  await store.close()
})

/** Uses up the budget of every network that has signed today. */
function useUp(): void {
  world.sql((database) => database.exec(`update allowance set used = 1000000 where bucket = 'invoice-signed-network'`))
}

test('over HTTP: a network beyond its limit still sends unsigned invoices, retries, and invoices of a merchant that was paid', async () => {
  const client = { 'x-forwarded-for': '192.0.2.7' }
  const [shop, stranger] = [newMerchant(), newMerchant()]
  const signOf = async (of: typeof shop, invoice: Awaited<ReturnType<typeof issue>>) =>
    send(`${invoiceUrl(world, invoice)}/sign`, { signature: await signAsMerchant(world.chain, of, invoice, 'Issue') }, client)
  const first = await issue(world, '5', shop.address)
  assert.equal((await signOf(shop, first)).status, 200)
  useUp()
  const second = await issue(world, '5', stranger.address)
  const refused = await signOf(stranger, second)
  assert.deepEqual(
    [refused.status, refused.body['code'], refused.body['limit_of']],
    [429, 'INVOICE_NETWORK_LIMIT', 'network'],
    refused.text,
  )
  assert.equal(refused.body['charged'], false)
  // A signature that was taken before is answered as before.
  assert.equal((await signOf(shop, first)).status, 200)
  // Another network is not touched.
  assert.equal((await issueSigned(world, '5', stranger)).merchant_verified, true)
  // A payment on the chain ends the limit for its merchant.
  const { body } = await signFor(world.chain, await world.payer(5_000_000n), first)
  assert.equal((await send(`${invoiceUrl(world, first)}/pay`, body)).status, 200)
  await mine(world.chain)
  assert.equal((await looked(world, first)).status, 'SETTLED')
  assert.equal((await signOf(shop, await issue(world, '5', shop.address))).status, 200)
})
