import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPostalAddress } from '../../src/pure/checks/postal-address.ts'
import { inspectCounterparty } from '../../src/pure/rulebooks/counterparty.ts'

test('a place under a comprehensive programme is found wherever the address sets it apart, and streets and towns of the name are none', () => {
  const sanctioned = (physical_address: string) =>
    inspectCounterparty({ physical_address, lei: '5493001KJTIIGC8Y1R12', domain: null }).found.some(
      ({ factor }) => factor === 'country_sanctioned',
    )
  const there = [
    'Iran, Tehran, Valiasr Street 12',
    'Valiasr Street 12, Tehran, IR',
    'Valiasr Street 12\nTehran\nIRN',
    'Valiasr Street 12, Tehran/Iran',
    'Valiasr Street 12, Tehran, Iran\nTel: +98 21 1234',
    'Valiasr Street 12, Tehran, Iran, office@example.com',
    'Valiasr Street 12, Tehran,\u2028\uff29\uff52\uff41\uff4e',
    "Pyongyang, Korea, Democratic People's Republic of",
    'Pjöngjang, Nordkorea',
    'Calle 23, La Habana, CU',
    'Havanna, Kuba',
    'Valiasr Street 12, Tehran 11369',
    'Ryomyong Street, Pyongyang, Korea',
    'Lenina 1, 95000 Simferopol, Ukraine',
    'ул. Ленина 1, Симферополь, Крым',
  ]
  const elsewhere = [
    'Valiasr Street 12, Iran, Dubai, United Arab Emirates',
    '123 Main Street, Cuba, NM 87013',
    'Cuba, Missouri 65453',
    'Cuba, New York 14727, USA',
    'Rua 1, 7940 Cuba, Beja, Portugal',
    'Calle Cuba 5, Madrid, Spain',
    '12 rue de Crimée, Paris, France',
    'Iran Air Cargo, Frankfurt, Germany',
    'Tehran Restaurant, 5 High Street, London, United Kingdom',
    'Hotel Yalta, Prague, Czech Republic',
    '1 High Street, London, United Kingdom',
  ]
  for (const address of there) assert.equal(sanctioned(address), true, address)
  for (const address of elsewhere) assert.equal(sanctioned(address), false, address)
})

test('telephone numbers and the like behind an address hide no country', () => {
  const read = [
    '10 Rue de Rivoli, Paris, France\nTel. +33 1 44',
    'Paris, France, www.example.fr',
    'Paris, France\ninfo@example.com',
    'Paris / France',
  ]
  for (const address of read) assert.equal(readPostalAddress(address).country, 'FR', address)
  assert.equal(readPostalAddress('1 Allenby Street, Tel Aviv').country, null)
})

test('a VAT number behind its national name is read with the letters of the declared country', () => {
  const named = {
    'NIP 856-734-62-15': 'PL',
    'NIF B58378431': 'ES',
    'OIB: 33392005961': 'HR',
    'P.IVA 00743110157': 'IT',
    'CVR-nr. 13585628': 'DK',
    'DIČ: 25123891': 'CZ',
    'VAT number 136695976': 'DE',
  }
  for (const [vat_number, declared_country] of Object.entries(named)) {
    const { vat, found } = inspectCounterparty({ vat_number, declared_country, domain: null })
    assert.deepEqual([vat?.valid, vat?.facts?.country, found], [true, declared_country, []], vat_number)
  }
  assert.equal(inspectCounterparty({ vat_number: 'NIP 8567346216', declared_country: 'PL', domain: null }).vat?.reason_code, 'bad_checksum')
})

test('a tax number of a declared country whose rule is not known is not judged, and none of another country', () => {
  const seen = (vat_number: string, declared_country?: string) => {
    const { vat, vat_unjudged, found, empty } = inspectCounterparty({ vat_number, declared_country, domain: null })
    return [vat?.valid ?? null, vat_unjudged, found.map(({ factor }) => factor), empty]
  }
  // Right numbers of India, Australia and the Emirates; one of Korea that Belgium’s rule would take; one of the EU’s one-stop shop.
  const foreign = { '27AAPFU0939F1ZV': 'IN', 'ABN 51 824 753 556': 'AU', '100123456700003': 'AE', '0428759497': 'KR', EU372022452: 'US' }
  for (const [number, country] of Object.entries(foreign)) assert.deepEqual(seen(number, country), [null, true, [], true], number)
  assert.deepEqual(seen('DE136695976', 'IN'), [true, false, ['vat_country_mismatch'], false])
  assert.deepEqual(seen('DE136695978', 'IN'), [false, false, ['vat_invalid'], false])
  // No tax number has so few digits, and the United States have no such tax.
  assert.deepEqual(seen('unknown', 'IN'), [false, false, ['vat_invalid'], false])
  assert.deepEqual(seen('12-3456789', 'US'), [false, false, ['vat_invalid'], false])
  assert.deepEqual(seen('27AAPFU0939F1ZV'), [false, false, ['vat_invalid'], false])
  assert.deepEqual(seen('136695978', 'DE'), [false, false, ['vat_invalid'], false])
})
