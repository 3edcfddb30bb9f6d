import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isVat } from '../../src/pure/checks/vat.ts'
import { stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

/** Every country's rule beside npm stdnum 1.12.0, with random numbers of the country's format and all check characters of each. */

interface Peer {
  /** Country and name of the validator. */
  oracle: readonly [country: string, name: string]
  /** What stands before the number in the texts that the oracle reads. */
  lead?: string
  tail?: string
  /** 9 a digit, L a letter, `_` all digits in turn, `?` all letters as well, anything else itself. */
  formats: readonly string[]
}

const PEERS: Record<string, Peer> = {
  AT: { oracle: ['AT', 'uid'], formats: ['U9999999_'] },
  BE: { oracle: ['BE', 'vat'], formats: ['09999999__', '19999999__', '99999999__'] },
  BG: { oracle: ['BG', 'vat'], formats: ['99999999_', '999999999_', '990199999_', '994199999_'] },
  CHE: { oracle: ['CH', 'vat'], lead: 'CHE', tail: 'MWST', formats: ['99999999_'] },
  CY: { oracle: ['CY', 'vat'], formats: ['99999999?', '12999999?'] },
  CZ: { oracle: ['CZ', 'dic'], formats: ['9999999_', '69999999_', '53019999_', '990199999_', '995199999_', '994199999_', '12019999_'] },
  DE: { oracle: ['DE', 'vat'], formats: ['99999999_'] },
  DK: { oracle: ['DK', 'cvr'], formats: ['9999999_'] },
  EE: { oracle: ['EE', 'kmkr'], formats: ['99999999_'] },
  EL: { oracle: ['GR', 'vat'], lead: 'EL', formats: ['99999999_'] },
  ES: { oracle: ['ES', 'nif'], formats: ['A9999999?', '99999999?', 'L9999999?', 'X9999999?'] },
  FI: { oracle: ['FI', 'alv'], formats: ['9999999_'] },
  FR: { oracle: ['FR', 'tva'], formats: ['9_99999999_', '9_00099999_', 'LL99999999_', '9L99999999_', 'L999999999_'] },
  GB: { oracle: ['GB', 'vat'], formats: ['9999999__', '0999999__', '9999999__999', 'GD999', 'HA999'] },
  HR: { oracle: ['HR', 'oib'], formats: ['9999999999_'] },
  HU: { oracle: ['HU', 'anum'], formats: ['9999999_'] },
  IE: { oracle: ['IE', 'vat'], formats: ['9999999?', '9999999?L', '9L99999?', '9+99999?', '9*99999?'] },
  IT: { oracle: ['IT', 'iva'], formats: ['9999999009_', '9999999999_', '999999912__'] },
  LT: { oracle: ['LT', 'pvm'], formats: ['9999999__', '9999999999__'] },
  LU: { oracle: ['LU', 'tva'], formats: ['999999__'] },
  LV: { oracle: ['LV', 'pvn'], formats: ['4999999999_', '1501999999_', '3299999999_', '3999999999_', '9999999999_'] },
  MT: { oracle: ['MT', 'vat'], formats: ['999999__'] },
  NL: { oracle: ['NL', 'btw'], formats: ['99999999_B01', '999999999B__'] },
  NO: { oracle: ['NO', 'mva'], tail: 'MVA', formats: ['99999999_'] },
  PL: { oracle: ['PL', 'nip'], formats: ['999999999_'] },
  PT: { oracle: ['PT', 'nif'], formats: ['99999999_'] },
  RO: {
    oracle: ['RO', 'cif'],
    formats: ['9_', '99_', '99999_', '9999999_', '999999999_', '199010199999_', '599019999999_', '9'.repeat(12)],
  },
  SE: { oracle: ['SE', 'vat'], formats: ['999999999_01', '9999999999__'] },
  SI: { oracle: ['SI', 'ddv'], formats: ['9999999_'] },
  SK: { oracle: ['SK', 'dph'], formats: ['999999999_', '202999999_', '720115999_'] },
}

interface Difference {
  country: string
  why: string
  /** A number, without what stands before it, on which the two differ; when they agree on it one day, the line goes. */
  example: string
  covers(number: string): boolean
}

const ZEROS: Record<string, string> = {
  BE: '0000000097',
  BG: '000000000',
  CHE: '000000000',
  EE: '000000000',
  EL: '000000000',
  FI: '00000000',
  FR: '12000000000',
  GB: '000000000',
  HR: '00000000001',
  HU: '00000000',
  IT: '00000000018',
  LU: '00000000',
  NO: '000000000',
  PL: '0000000000',
}

const SLOVAK_KINDS = '234789'
/** Two digits of a year that may lie ahead; stdnum asks the clock. */
const ahead = (digits: string) => Number(digits) >= 26

/** Each is a defect or a gap of stdnum unless the line says that the sources differ. */
const DIFFERENCES: readonly Difference[] = [
  { country: 'BE', why: 'first digit 2 to 9 is taken', example: '7315705653', covers: (number) => /^[2-9]/.test(number) },
  { country: 'BG', why: 'companies with first digit 4 to 8 are refused', example: '731570560', covers: (number) => /^[4-8]/.test(number) },
  {
    country: 'BG',
    why: 'ten digits: the third calculation is compared the wrong way, so nearly every digit passes',
    example: '1901177403',
    covers: (number) => number.length === 10,
  },
  { country: 'CY', why: '12 in front is taken (BMF: never issued)', example: '12191774N', covers: (number) => number.startsWith('12') },
  { country: 'CZ', why: 'special numbers: the 6 is counted', example: '619177407', covers: (number) => /^6.{8}$/.test(number) },
  { country: 'CZ', why: 'months 41 to 49 are taken', example: '1941177403', covers: (number) => /^..(4[1-9]|9[1-9])/.test(number) },
  {
    country: 'CZ',
    why: 'births after today are refused',
    example: '4601207369',
    covers: (number) => number.length === 10 && number < '54' && ahead(number.slice(0, 2)),
  },
  { country: 'DE', why: 'a leading 0 is taken', example: '021265106', covers: (number) => number.startsWith('0') },
  { country: 'DK', why: 'a leading 0 is taken', example: '02126516', covers: (number) => number.startsWith('0') },
  {
    country: 'GB',
    why: 'a third remainder, 55, is taken beside 0 and 42 (HMRC knows two series)',
    example: '191774000',
    covers: (number) => /^[0-9]{9}(?:[0-9]{3})?$/.test(number) && britishRemainder(number) === 55,
  },
  { country: 'LV', why: 'personal codes since 2017 are refused', example: '32191774000', covers: (number) => /^3[2-9]/.test(number) },
  {
    country: 'LV',
    why: 'births after today are refused',
    example: '15019120005',
    covers: (number) => number[6] === '2' && ahead(number.slice(4, 6)),
  },
  {
    country: 'MT',
    why: 'check digits above 37, and a leading 0, are taken',
    example: '12689138',
    covers: (number) => Number(number.slice(6)) > 37 || number.endsWith('00') || number.startsWith('0'),
  },
  { country: 'NL', why: 'the count 00 is taken', example: '751834476B00', covers: (number) => number.endsWith('B00') },
  {
    country: 'NL',
    why: 'aliases of the check digits 97, 98 and 02 are taken',
    example: '856761529B01',
    covers: (number) => /B(?:00|01|99)$/.test(number),
  },
  {
    country: 'RO',
    why: 'unknown counties are refused',
    example: '1120101689134',
    covers: (number) => number.length === 13 && !hasCounty(number),
  },
  {
    country: 'RO',
    why: 'births after today are refused',
    example: '5890118314126',
    covers: (number) => /^[56].{12}$/.test(number) && ahead(number.slice(1, 3)),
  },
  { country: 'SE', why: 'registrations after the first are refused', example: '126891359502', covers: (number) => !/0[01]$/.test(number) },
  {
    country: 'SI',
    why: 'remainder 0 gives 1 instead of no number; a leading 0 is taken',
    example: '12689131',
    covers: (number) => /1$|^0/.test(number),
  },
  {
    country: 'SK',
    why: 'the kind is read from the first digit instead of the third',
    example: '7315705694',
    covers: (number) => !SLOVAK_KINDS.includes(number.charAt(0)) || !SLOVAK_KINDS.includes(number.charAt(2)),
  },
  ...['BE', 'BG', 'CHE', 'EE', 'EL', 'FI', 'FR', 'GB', 'HR', 'HU', 'IT', 'LU', 'NO', 'PL'].map((country) => ({
    country,
    why: 'a number of zeros is taken',
    example: ZEROS[country] ?? '',
    covers: (number: string) => /^(?:[A-Z]|..)?0{5,}[0-9A-Z]{0,5}$/.test(number),
  })),
]

function britishRemainder(number: string): number {
  return [8, 7, 6, 5, 4, 3, 2, 10, 1].reduce((sum, weight, index) => sum + weight * Number(number[index]), 0) % 97
}

/** Counties 01 to 46, the two abolished sectors, Călărași and Giurgiu. */
function hasCounty(number: string): boolean {
  const county = Number(number.slice(7, 9))
  return (county >= 1 && county <= 48) || county === 51 || county === 52
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'

function numbersOf(format: string): fc.Arbitrary<string> {
  const units = Array.from(format, (unit) => {
    if (unit === '9') return fc.constantFrom(...DIGITS.split(''))
    return unit === 'L' ? fc.constantFrom(...LETTERS.split('')) : fc.constant(unit)
  })
  return fc.tuple(...units).map((parts) => parts.join(''))
}

/** Each way to fill the marked places: `_` with digits, `?` with digits and letters. */
function fillings(number: string): string[] {
  const first = number.search(/[_?]/)
  if (first < 0) return [number]
  const units = number[first] === '_' ? DIGITS : DIGITS + LETTERS
  return Array.from(units, (unit) => number.slice(0, first) + unit + number.slice(first + 1)).flatMap(fillings)
}

function ours(country: string, number: string): boolean {
  return isVat(`${country}${number}${PEERS[country]?.tail ?? ''}`)
}

function theirs(country: string, number: string): boolean {
  const { oracle, lead = '', tail = '' } = PEERS[country] ?? assert.fail(country)
  return stdnumTakes(...oracle, `${lead}${number}${tail}`)
}

for (const [country, { formats }] of Object.entries(PEERS)) {
  test(`${country}: the same answers as stdnum, but for the named differences`, () => {
    const named = DIFFERENCES.filter((one) => one.country === country)
    let valid = 0
    fc.assert(
      fc.property(fc.oneof(...formats.map(numbersOf)), (marked) => {
        for (const number of fillings(marked)) {
          const mine = ours(country, number)
          if (mine) valid++
          if (mine === theirs(country, number)) continue
          assert.ok(
            named.some(({ covers }) => covers(number)),
            `${country}${number}: ${mine ? 'only we accept it' : 'only stdnum accepts it'}`,
          )
        }
      }),
      { numRuns: runs(150, 1_500), seed: SEED },
    )
    assert.ok(valid > 10, `only ${valid} of the numbers were valid`)
  })
}

test('each named difference is one', () => {
  for (const { country, why, example, covers } of DIFFERENCES) {
    assert.ok(covers(example), why)
    assert.notEqual(ours(country, example), theirs(country, example), `${country}${example}: ${why}`)
  }
})
