import { at, NONE, type Scheme, single, weighted } from './rule.ts'

/** Calculations of check digits that several countries use: sums modulo 10 and modulo 11, Luhn's, and the hybrid of ISO 7064. */

/** The digit that completes a weighted sum to a multiple of ten. */
export function tens(weights: readonly number[]): Scheme {
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

export const luhn = (place: number): Scheme => single('Luhn', place, (values) => (10 - (luhnSum(values, 0, place) % 10)) % 10)

/** ISO 7064 MOD 11,10. */
export const hybrid = (place: number): Scheme =>
  single('ISO 7064 MOD 11,10', place, (values) => {
    let product = 10
    for (let index = 0; index < place; index++) product = (((product + at(values, index)) % 10 || 10) * 2) % 11
    return (11 - product) % 10
  })

/** The digit that completes the sum to a multiple of eleven; `ten` stands for what is written when that is 10. */
export function completing(name: string, weights: readonly number[], ten: number = NONE): Scheme {
  return single(name, weights.length, (values) => {
    const digit = (11 - (weighted(values, weights) % 11)) % 11
    return digit === 10 ? ten : digit
  })
}

/** The remainder itself is the digit. */
export function remainder(name: string, weights: readonly number[], ten: number = NONE): Scheme {
  return single(name, weights.length, (values) => {
    const digit = weighted(values, weights) % 11
    return digit === 10 ? ten : digit
  })
}

/** The remainder, taken again with other weights when it is 10; 10 once more is written 0. */
export function twice(name: string, first: readonly number[], second: readonly number[]): Scheme {
  return single(name, first.length, (values) => {
    const digit = weighted(values, first) % 11
    return digit < 10 ? digit : (weighted(values, second) % 11) % 10
  })
}
