import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findPlaceTerm } from '../../src/pure/checks/place-index.ts'
import { foldName, spellingKey } from '../../src/pure/checks/place-names.ts'
import { readPostalAddress } from '../../src/pure/checks/postal-address.ts'
import { PROHIBITED_PLACES, worldTowns } from '../../src/pure/checks/prohibited-places.ts'
import guard from '../../src/tools/packs/pre-disbursement-guard.ts'
import { fixedSources } from '../support/sources.ts'

/** Addresses as people write them, from public knowledge. */
const ADDRESSES = JSON.parse(readFileSync(new URL('addresses.json', import.meta.url), 'utf8')) as {
  elsewhere: string[]
  prohibited_names: string[]
  prohibited: string[]
  read: string[]
  foreign_languages: Record<string, string[]>
  not_read_as_country: string[]
}

async function decide(physical_address: string) {
  const answer = await guard.execute({ recipient_iban: 'DE89370400440532013000', physical_address }, fixedSources([guard]))
  const { decision, flags_triggered } = answer as { decision: string; flags_triggered: { factor: string }[] }
  return { decision, factors: flags_triggered.map(({ factor }) => factor) }
}

test('streets, firms, families and towns elsewhere that have the name of a prohibited place are never blocked', async () => {
  for (const address of ADDRESSES.elsewhere) assert.notEqual((await decide(address)).decision, 'BLOCK', address)
})

test('divisions and towns of prohibited jurisdictions are found in every spelling', async () => {
  for (const address of ADDRESSES.prohibited_names) {
    const { decision, factors } = await decide(address)
    assert.notEqual(decision, 'CLEAR', address)
    assert.ok(
      factors.some((factor) => factor === 'country_sanctioned' || factor === 'place_needs_review'),
      `${address}: ${factors.join(', ')}`,
    )
  }
})

test('a prohibited place that is a part of its address, or is written with its country, is blocked', async () => {
  for (const address of ADDRESSES.prohibited) assert.equal((await decide(address)).decision, 'BLOCK', address)
})

test('ordinary addresses of forty countries are read, with and without their country', async () => {
  for (const address of ADDRESSES.read) {
    const { decision, factors } = await decide(address)
    assert.deepEqual([decision, factors], ['CLEAR', []], address)
  }
})

test('the country of an address is read in the languages of the European Union and its own, and from codes', () => {
  for (const [country, addresses] of Object.entries(ADDRESSES.foreign_languages)) {
    for (const address of addresses) assert.equal(readPostalAddress(address).country, country, address)
  }
  for (const address of ADDRESSES.not_read_as_country) assert.equal(readPostalAddress(address).country, null, address)
})

test('an account of a country that the address does not name is a mismatch in any language', async () => {
  for (const physical_address of ['1 Street, Berlin, Germany', 'Straße 1, 10115 Berlin, Deutschland', 'Berlin, Allemagne', 'Berlin, DE']) {
    const input = { recipient_iban: 'GB82WEST12345698765432', declared_country: 'GB', physical_address }
    const { flags_triggered } = (await guard.execute(input, fixedSources([guard]))) as { flags_triggered: { factor: string }[] }
    assert.deepEqual(
      flags_triggered.map(({ factor }) => factor),
      ['address_country_mismatch'],
      physical_address,
    )
  }
})

test('capitals of countries with list-based programmes are seen without their country', async () => {
  for (const address of ['Tverskaya 1, Moscow', 'пр. Независимости 10, Минск', 'Kabul', 'Av. Urdaneta, Caracas'])
    assert.deepEqual(await decide(address), { decision: 'REVIEW', factors: ['country_elevated'] }, address)
})

test('the table has all first-level divisions of Cuba, Iran and North Korea, and no name of a larger place elsewhere', () => {
  const divisions = (code: string) => PROHIBITED_PLACES.filter((place) => place.code === code && place.kind === 'division').length
  // ISO 3166-2: 15 provinces and a special municipality, 31 provinces, 9 provinces and several special cities.
  for (const [code, least] of Object.entries({ CU: 16, IR: 31, KP: 11 })) assert.ok(divisions(code) >= least, code)
  for (const name of ['Florida', 'Santiago', 'San Luis', 'Cologne', 'Victoria']) assert.equal(findPlaceTerm(name), null, name)
  assert.equal(worldTowns().get(foldName('Köln')), 'DE')
})

test('spellings of one name have one key, in linear time', () => {
  const same = [
    ['assalouyeh', 'asaluyeh'],
    ['nampho', 'nampo'],
    ['khorramabad', 'horamabad'],
    ['ghazvin', 'qazvin'],
    ['zhinvali', 'jinvali'],
    ['ourmia', 'urmiah'],
  ]
  for (const [one = '', other = ''] of same) assert.equal(spellingKey(one), spellingKey(other))
  const began = process.hrtime.bigint()
  for (const letters of ['a', 'h', 'ou', 'kh', 'dzh']) spellingKey(letters.repeat(50_000))
  assert.ok(process.hrtime.bigint() - began < 2_000_000_000n)
})
