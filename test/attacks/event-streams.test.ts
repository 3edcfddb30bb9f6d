/** Event streams of invoices: neither many clients of one network nor many networks keep a client from elsewhere from following an invoice. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSharedPlaces, type PlaceResult } from '../../src/service/admission/shared-places.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { invoiceUrl, issue } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const BOUNDS = { all: 12, client: 2, network: 4, provider: 6, kept: 3 }

/** Places with small bounds, and the names of the holders that gave way. */
function smallPlaces() {
  const places = createSharedPlaces(BOUNDS)
  const ended: string[] = []
  let number = 0
  const take = (address: string, is_favoured = false): PlaceResult => {
    const name = `${address}#${number++}`
    return places.take({ address, is_favoured, end: () => void ended.push(name) })
  }
  return { places, ended, take }
}

function outcome(result: PlaceResult): string {
  return result.kind === 'refused' ? result.limit : result.kind
}

test('each limit is named: of the client, its /24 or /48, its /16 or /32', () => {
  const { take } = smallPlaces()
  const outcomes = (addresses: string[]) => addresses.map((address) => outcome(take(address)))
  assert.deepEqual(outcomes(['10.1.1.1', '10.1.1.1', '10.1.1.1']), ['taken', 'taken', 'client'])
  assert.deepEqual(outcomes(['10.1.1.2', '10.1.1.3', '10.1.1.4']), ['taken', 'taken', 'network'])
  assert.deepEqual(outcomes(['10.1.2.1', '10.1.3.1', '10.1.4.1']), ['taken', 'taken', 'provider'])
  const six = smallPlaces()
  const outcomes6 = (addresses: string[]) => addresses.map((address) => outcome(six.take(address)))
  assert.deepEqual(outcomes6(['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1']), ['taken', 'taken', 'client'])
  assert.deepEqual(outcomes6(['2001:db8:2::1', '2001:db8:3::1', '2001:db8:4::1', '2001:db8:5::1']), ['taken', 'taken', 'taken', 'taken'])
  assert.deepEqual(outcomes6(['2001:db8:6::1', '2001:db9::1']), ['provider', 'taken'])
})

test('when all are taken, the newest holder of the widest network gives way, and never to a network that has as many', () => {
  const { places, ended, take } = smallPlaces()
  for (const address of ['10.1.1.1', '10.1.1.2', '10.1.2.1', '10.2.1.1', '10.2.2.1', '10.3.1.1', '10.4.1.1', '10.5.1.1', '10.6.1.1'])
    take(address)
  assert.equal(outcome(take('10.7.1.1')), 'taken')
  assert.deepEqual(ended, ['10.1.1.2#1'])
  assert.equal(outcome(take('10.7.2.1')), 'service', 'its provider would then have as many as the widest')
  assert.equal(outcome(take('10.3.2.1')), 'service')
  assert.equal(places.count(), BOUNDS.all - BOUNDS.kept)
})

test('a part is kept for favoured holders, to whom others give way; their own widest network gives way among them', () => {
  const { places, ended, take } = smallPlaces()
  for (let provider = 0; provider < 9; provider++) take(`10.${provider}.1.1`)
  for (let provider = 0; provider < 3; provider++) assert.equal(outcome(take(`20.${provider}.1.1`, true)), 'taken')
  assert.deepEqual([places.count(), ended], [BOUNDS.all, []])
  for (let provider = 3; provider < 12; provider++) assert.equal(outcome(take(`20.${provider}.1.1`, true)), 'taken')
  assert.equal(ended.length, 9)
  assert.ok(ended.every((name) => name.startsWith('10.')))
  assert.equal(outcome(take('30.0.1.1', true)), 'service', 'all are favoured, and each has one')
  assert.equal(outcome(take('30.0.1.1')), 'service')
})

describe('over HTTP', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.stop())

  // attack: streams from many addresses of one network, or from many networks, so that a payer cannot follow an invoice
  // in: money and signatures
  // asset: event streams of invoices
  // attacker: client
  // defence: bounds by client, /24 or /48 and /16 or /32; when all are taken, the newest of the widest network ends; a fifth is kept for
  //   invoices of merchants that were paid before; a refusal names its limit
  test('a hundred clients with five streams each keep no one out, whether of one /24, one /16 or a hundred networks; a refusal says whose limit it is', async () => {
    const url = invoiceUrl(world, await issue(world, '10'))
    const { followers_client, followers_network, followers_provider } = INVOICE_RULES
    /** Referenced, since fetch ends a stream that nothing refers to. */
    const open: Response[] = []
    const follow = async (address: string) => {
      const response = await fetch(`${url}/events`, { headers: { 'x-forwarded-for': address } })
      if (response.status === 200) open.push(response)
      return response
    }
    const attack = async (addressOf: (index: number) => string) => {
      const opened = open.length
      for (let asked = 0; asked < 100 * followers_client; asked++) await follow(addressOf(Math.floor(asked / followers_client)))
      return open.length - opened
    }
    const detail = async (address: string) => {
      const refused = await follow(address)
      assert.equal(refused.status, 429)
      return ((await refused.json()) as { detail: string }).detail
    }
    assert.equal(await attack((index) => `198.18.7.${index}`), followers_network)
    assert.match(await detail('198.18.7.200'), /^Your network \(the \/24 or IPv6 \/48 of your address\) has 20/)
    assert.match(await detail('198.18.7.1'), /^Your address has 5 event streams open/)
    assert.equal(await attack((index) => `198.19.${index}.1`), followers_provider)
    assert.match(await detail('198.19.200.1'), /^The network of your provider \(the \/16 or IPv6 \/32 of your address\) has 80/)
    await attack((index) => `${100 + index}.64.0.1`)
    for (const address of ['203.0.113.9', '192.0.2.9', '2001:db8:77::1']) assert.equal((await follow(address)).status, 200, address)
    for (const { body } of open) await body?.cancel()
  })
})
