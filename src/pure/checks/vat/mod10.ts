import { at, decimal, lengths, NO_LEADING_ZERO, type PartRule, plain, type Scheme, single, weighted } from './rule.ts'

/**
 * Sums modulo 10: weighted, Luhn's, and the hybrid of ISO 7064. Sources: the description of check digits by the Austrian finance
 * ministry (BMF), the Italian decree of 23 December 1976 on the partita IVA, Skatteverket SKV 709 (SE), ISO 7064:2003 (DE, HR).
 */

/** The digit that completes a weighted sum to a multiple of ten. */
function tens(weights: readonly number[]): Scheme {
  return single('modulus 10', weights.length, (values) => (10 - (weighted(values, weights) % 10)) % 10)
}

/** Luhn's sum of a range whose last digit is doubled, as it is when the check digit comes after it; Austria begins the other way. */
export function luhnSum(values: Uint8Array, start: number, end: number, last_doubled = true): number {
  let sum = 0
  for (let index = end - 1, doubled = last_doubled; index >= start; index--, doubled = !doubled) {
    const product = doubled ? at(values, index) * 2 : at(values, index)
    sum += product > 9 ? product - 9 : product
  }
  return sum
}

const luhn = (place: number): Scheme => single('Luhn', place, (values) => (10 - (luhnSum(values, 0, place) % 10)) % 10)

/** ISO 7064 MOD 11,10. */
const hybrid = (place: number): Scheme =>
  single('ISO 7064 MOD 11,10', place, (values) => {
    let product = 10
    for (let index = 0; index < place; index++) product = (((product + at(values, index)) % 10 || 10) * 2) % 11
    return (11 - product) % 10
  })

export const ESTONIA = plain(9, tens([3, 7, 1, 3, 7, 1, 3, 7]))
export const HUNGARY = plain(8, tens([9, 7, 3, 1, 9, 7, 3]))
/** U, then seven digits whose second, fourth and sixth are doubled; 4 is added to the sum. */
export const AUSTRIA = plain(
  9,
  single('modulus 10', 8, (values) => (10 - ((luhnSum(values, 1, 8, false) + 4) % 10)) % 10),
)
export const GERMANY = lengths({ 9: { parts: [NO_LEADING_ZERO], schemes: [hybrid(8)] } })
export const CROATIA = plain(11, hybrid(10))

/** Provinces are 001 to 100; 120 and 121 foreigners, 888 and 999 the ministry itself. */
const PROVINCE: PartRule = {
  label: 'province',
  start: 7,
  end: 10,
  code: 'bad_component',
  expected: '001 to 100, 120, 121, 888 or 999',
  holds(values) {
    const province = decimal(values, 7, 10)
    return (province >= 1 && province <= 100) || province === 120 || province === 121 || province === 888 || province === 999
  },
}

/** Seven digits of the taxpayer, the province, Luhn's digit. */
export const ITALY = lengths({ 11: { parts: [PROVINCE], schemes: [luhn(10)], body: [0, 7] } })

/** The organisation number, and which of its registrations this is: 01, seldom more. */
export const SWEDEN = lengths({
  12: {
    parts: [
      {
        label: 'registration',
        start: 10,
        end: 12,
        code: 'bad_component',
        expected: '01, seldom more',
        holds: (values) => decimal(values, 10, 12) > 0,
      },
    ],
    schemes: [luhn(9)],
    body: [0, 10],
  },
})
