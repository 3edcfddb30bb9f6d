import { remainder97 } from './mod97.ts'

/**
 * Check digits that a country put into its account numbers before the IBAN came. Sources: ECBS TR201 v3.23 (February 2007),
 * Register of European Account Numbers, for its members; the national banks' own rules elsewhere. Each rule passes on the
 * example of the country's row in the IBAN registry, release 102.
 *
 * All functions read the values 0–35 of a whole IBAN whose structure holds; positions count within the BBAN.
 */

/** One run of check digits and what the rest calls for, as a number; NONE when no digits would fit. */
interface Digits {
  start: number
  end: number
  expected(values: Uint8Array): number
}

interface NationalRule {
  /** True where one algorithm binds every account of the country; a mismatch is then fatal, elsewhere a warning. */
  binding: boolean
  digits: readonly Digits[]
  /** Accounts for which the rule says nothing. */
  exempt?(values: Uint8Array): boolean
}

export interface NationalCheck {
  digits: string
  expected: string | null
  valid: boolean
}

const BBAN = 4
const NONE = -1

const rules = (binding: boolean, ...digits: Digits[]): NationalRule => ({ binding, digits })

/** Sum of weight times value, the weights repeating. */
function weighted(values: Uint8Array, start: number, end: number, weights: readonly number[]): number {
  let sum = 0
  let turn = 0
  for (let index = start; index < end; index++) {
    sum += (values[BBAN + index] ?? 0) * (weights[turn] ?? 0)
    turn = turn + 1 === weights.length ? 0 : turn + 1
  }
  return sum
}

function hasLetter(values: Uint8Array, length: number): boolean {
  for (let index = 0; index < length; index++) if ((values[BBAN + index] ?? 0) > 9) return true
  return false
}

/** ISO 7064 MOD 97-10 over everything before the last two digits. */
const iso97 = (start: number): Digits => ({
  start,
  end: start + 2,
  expected: (values) => 98 - ((remainder97(values, BBAN, BBAN + start) * 100) % 97),
})

/** Letters of a French account number as digits: A J, B K S, C L T … are 1, 2, 3 … */
const RIB_DIGITS = Uint8Array.from('012345678912345678912345678923456789', Number)

/** The key of a French relevé d'identité bancaire, also used by banking systems that grew from it: 97 − (100·n mod 97). */
const rib = (start: number): Digits => ({
  start,
  end: start + 2,
  expected(values) {
    let remainder = 0
    for (let index = 0; index < start; index++) {
      remainder = remainder * 10 + (RIB_DIGITS[values[BBAN + index] ?? 0] ?? 0)
      if (remainder > 99_999_999) remainder %= 97
    }
    return 97 - (((remainder % 97) * 100) % 97)
  },
})

/** A digit that brings a weighted sum to a multiple of ten. */
const tens = (from: number, at: number, weights: readonly number[]): Digits => ({
  start: at,
  end: at + 1,
  expected: (values) => (10 - (weighted(values, from, at, weights) % 10)) % 10,
})

/** A digit that brings a weighted sum to a multiple of eleven; there is none when it would be 10. */
const elevens = (from: number, at: number, weights: readonly number[]): Digits => ({
  start: at,
  end: at + 1,
  expected(values) {
    const digit = (11 - (weighted(values, from, at, weights) % 11)) % 11
    return digit === 10 ? NONE : digit
  },
})

/** As `elevens`, but 10 is written 1 (Spain). */
const spanish = (from: number, to: number, at: number, weights: readonly number[]): Digits => ({
  start: at,
  end: at + 1,
  expected(values) {
    const digit = (11 - (weighted(values, from, to, weights) % 11)) % 11
    return digit === 10 ? 1 : digit
  },
})

/** ISO 7064 MOD 11,10. */
const hybrid = (from: number, at: number): Digits => ({
  start: at,
  end: at + 1,
  expected(values) {
    let product = 10
    for (let index = from; index < at; index++) product = (((product + (values[BBAN + index] ?? 0)) % 10 || 10) * 2) % 11
    return (11 - product) % 10
  },
})

/** Belgium: the first ten digits modulo 97, 97 for 0. */
const BELGIAN: Digits = { start: 10, end: 12, expected: (values) => remainder97(values, BBAN, BBAN + 10) || 97 }

/** Finland: the Luhn digit of the thirteen before it. */
const FINNISH: Digits = {
  start: 13,
  end: 14,
  expected(values) {
    let sum = 0
    for (let index = 0; index < 13; index++) {
      const digit = values[BBAN + index] ?? 0
      sum += index % 2 === 0 ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : digit
    }
    return (10 - (sum % 10)) % 10
  },
}

/** Values of the characters 0-9 (the same as A-J) and K-Z at odd places of an Italian account number. */
const CIN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]

/** Italy and San Marino: the letter CIN in front, from the 22 characters behind it. */
const CIN: Digits = {
  start: 0,
  end: 1,
  expected(values) {
    let sum = 0
    for (let index = 1; index < 23; index++) {
      const value = values[BBAN + index] ?? 0
      const letter = value < 10 ? value : value - 10
      sum += index % 2 === 1 ? (CIN_ODD[letter] ?? 0) : letter
    }
    return 10 + (sum % 26)
  },
}

/** Czech decree 169/2011 Coll.: each weighted sum is a multiple of eleven; Slovakia kept the rule. */
const CZECH = [elevens(4, 9, [10, 5, 8, 4, 2]), elevens(10, 19, [6, 3, 7, 9, 10, 5, 8, 4, 2])]

const RULES: Readonly<Record<string, NationalRule>> = {
  AL: rules(false, tens(0, 7, [9, 7, 3, 1])),
  BA: rules(true, iso97(14)),
  BE: rules(true, BELGIAN),
  BI: rules(false, rib(21)),
  CZ: rules(false, ...CZECH),
  DJ: rules(false, rib(21)),
  EE: rules(false, tens(2, 15, [7, 1, 3])),
  ES: rules(true, spanish(0, 8, 8, [4, 8, 5, 10, 9, 7, 3, 6]), spanish(10, 20, 9, [1, 2, 4, 8, 5, 10, 9, 7, 3, 6])),
  FI: rules(false, FINNISH),
  FR: rules(true, rib(21)),
  HR: rules(false, hybrid(0, 6), hybrid(7, 16)),
  HU: rules(false, tens(0, 7, [9, 7, 3, 1]), tens(8, 23, [9, 7, 3, 1])),
  IT: rules(false, CIN),
  MC: rules(true, rib(21)),
  ME: rules(true, iso97(16)),
  // The rule is written for digits; the registry lets accounts have letters.
  MK: { ...rules(true, iso97(13)), exempt: (values) => hasLetter(values, 13) },
  MR: rules(false, rib(21)),
  // With 00 in places 5 and 6 the digit covers fewer places (TR201, Norway), so it is left unchecked.
  NO: {
    ...rules(true, elevens(0, 10, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2])),
    exempt: (values) => values[BBAN + 4] === 0 && values[BBAN + 5] === 0,
  },
  PL: rules(false, tens(0, 7, [3, 9, 7, 1])),
  PT: rules(true, iso97(19)),
  RS: rules(true, iso97(16)),
  SI: rules(true, iso97(13)),
  SK: rules(false, ...CZECH),
  SM: rules(false, CIN),
  ST: rules(false, iso97(19)),
  TL: rules(false, iso97(17)),
  TN: rules(false, rib(18)),
  XK: rules(false, iso97(14)),
}

export function nationalRule(country: string): NationalRule | null {
  return RULES[country] ?? null
}

export type { NationalRule }

export function nationalHolds(rule: NationalRule, values: Uint8Array): boolean {
  if (rule.exempt?.(values) === true) return true
  for (const digits of rule.digits) if (digits.expected(values) !== found(digits, values)) return false
  return true
}

/** What stands there and what should; null when the rule does not speak about this account. */
export function nationalCheck(rule: NationalRule, values: Uint8Array): NationalCheck | null {
  if (rule.exempt?.(values) === true) return null
  const expected = rule.digits.map((digits) => digits.expected(values))
  const known = rule.digits.map((digits, index) => write(expected[index] ?? NONE, digits))
  return {
    digits: rule.digits.map((digits) => write(found(digits, values), digits)).join(''),
    expected: expected.includes(NONE) ? null : known.join(''),
    valid: nationalHolds(rule, values),
  }
}

function found({ start, end }: Digits, values: Uint8Array): number {
  const last = values[BBAN + end - 1] ?? 0
  return end - start === 1 ? last : (values[BBAN + start] ?? 0) * 10 + last
}

/** A number of two digits, or a single character of base 36. */
function write(value: number, { start, end }: Digits): string {
  return end - start === 1 ? value.toString(36).toUpperCase() : String(value).padStart(2, '0')
}
