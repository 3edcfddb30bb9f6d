import { checkCharacters, checkDigits97, complement10, complement11, luhnSum, mod11_10, remainder97 } from './check-digits.ts'

/**
 * Check digits that countries put into account numbers before the IBAN existed. Sources: ECBS TR201 v3.23 (February 2007),
 * Register of European Account Numbers, for its members; the national banks' own rules elsewhere. Each rule accepts the
 * example of the country's row in the IBAN registry, release 102.
 *
 * All functions read the values 0–35 of a whole IBAN whose structure is valid; positions count within the BBAN.
 */

/** One run of check digits and its expected value; NONE when no digits would match. */
interface NationalDigits {
  start: number
  end: number
  expected(values: Uint8Array): number
}

export interface NationalCheck {
  digits: string
  expected: string | null
  valid: boolean
}

const BBAN = 4
const NONE = -1

/** Rule of a country; its own check digits, found and expected. */
class NationalRule {
  /** True where one algorithm applies to every account of the country; a mismatch is then fatal, elsewhere a warning. */
  readonly binding: boolean
  readonly #digits: readonly NationalDigits[]
  readonly #isExempt: ((values: Uint8Array) => boolean) | null

  /** `isExempt` tests for accounts outside the rule. */
  constructor(binding: boolean, digits: readonly NationalDigits[], isExempt: ((values: Uint8Array) => boolean) | null) {
    this.binding = binding
    this.#digits = digits
    this.#isExempt = isExempt
  }

  accepts(values: Uint8Array): boolean {
    if (this.#isExempt?.(values) === true) return true
    for (const digits of this.#digits) if (digits.expected(values) !== foundCheck(digits, values)) return false
    return true
  }

  /** Returns the found and expected digits; null when the rule does not apply to this account. */
  check(values: Uint8Array): NationalCheck | null {
    if (this.#isExempt?.(values) === true) return null
    const expected = this.#digits.map((digits) => digits.expected(values))
    const known = this.#digits.map((digits, index) => checkCharacters(expected[index] ?? NONE, digits.end - digits.start))
    return {
      digits: this.#digits.map((digits) => checkCharacters(foundCheck(digits, values), digits.end - digits.start)).join(''),
      expected: expected.includes(NONE) ? null : known.join(''),
      valid: this.accepts(values),
    }
  }
}

const rules = (binding: boolean, ...digits: NationalDigits[]) => new NationalRule(binding, digits, null)

/** Sum of weight times value, the weights repeating. */
function cyclicSum(values: Uint8Array, start: number, end: number, weights: readonly number[]): number {
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
const iso97 = (start: number): NationalDigits => ({
  start,
  end: start + 2,
  expected: (values) => checkDigits97(remainder97(values, BBAN, BBAN + start)),
})

/** Letters of a French account number as digits: A J, B K S, C L T … are 1, 2, 3 … */
const RIB_DIGITS = Uint8Array.from('012345678912345678912345678923456789', Number)

/** The key of a French relevé d'identité bancaire, also used by banking systems that grew from it: 97 − (100·n mod 97). */
const ribKey = (start: number): NationalDigits => ({
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

/** A digit that completes a weighted sum to a multiple of ten. */
const complementTen = (from: number, at: number, weights: readonly number[]): NationalDigits => ({
  start: at,
  end: at + 1,
  expected: (values) => complement10(cyclicSum(values, from, at, weights)),
})

/** A digit that completes a weighted sum to a multiple of eleven; none when it would be 10. */
const complementEleven = (from: number, at: number, weights: readonly number[]): NationalDigits => ({
  start: at,
  end: at + 1,
  expected(values) {
    const digit = complement11(cyclicSum(values, from, at, weights))
    return digit === 10 ? NONE : digit
  },
})

/** As `complementEleven`, but 10 is written 1 (Spain). */
const spanishDigit = (from: number, to: number, at: number, weights: readonly number[]): NationalDigits => ({
  start: at,
  end: at + 1,
  expected(values) {
    const digit = complement11(cyclicSum(values, from, to, weights))
    return digit === 10 ? 1 : digit
  },
})

/** ISO 7064 MOD 11,10. */
const isoModulus11_10 = (from: number, at: number): NationalDigits => ({
  start: at,
  end: at + 1,
  expected: (values) => mod11_10(values, BBAN + from, BBAN + at),
})

/** Belgium: the first ten digits modulo 97, 97 for 0. */
const BELGIAN: NationalDigits = { start: 10, end: 12, expected: (values) => remainder97(values, BBAN, BBAN + 10) || 97 }

/** Finland: the Luhn digit of the thirteen before it. */
const FINNISH: NationalDigits = { start: 13, end: 14, expected: (values) => complement10(luhnSum(values, BBAN, BBAN + 13)) }

/** Values of the characters 0-9 (the same as A-J) and K-Z at odd places of an Italian account number. */
const CIN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]

/** Italy and San Marino: the letter CIN in front, from the 22 characters behind it. */
const CIN: NationalDigits = {
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
const CZECH = [complementEleven(4, 9, [10, 5, 8, 4, 2]), complementEleven(10, 19, [6, 3, 7, 9, 10, 5, 8, 4, 2])]

const RULES: Readonly<Record<string, NationalRule>> = {
  AL: rules(false, complementTen(0, 7, [9, 7, 3, 1])),
  BA: rules(true, iso97(14)),
  BE: rules(true, BELGIAN),
  BI: rules(false, ribKey(21)),
  CZ: rules(false, ...CZECH),
  DJ: rules(false, ribKey(21)),
  EE: rules(false, complementTen(2, 15, [7, 1, 3])),
  ES: rules(true, spanishDigit(0, 8, 8, [4, 8, 5, 10, 9, 7, 3, 6]), spanishDigit(10, 20, 9, [1, 2, 4, 8, 5, 10, 9, 7, 3, 6])),
  FI: rules(false, FINNISH),
  FR: rules(true, ribKey(21)),
  HR: rules(false, isoModulus11_10(0, 6), isoModulus11_10(7, 16)),
  HU: rules(false, complementTen(0, 7, [9, 7, 3, 1]), complementTen(8, 23, [9, 7, 3, 1])),
  IT: rules(false, CIN),
  MC: rules(true, ribKey(21)),
  ME: rules(true, iso97(16)),
  // The rule is defined for digits; the registry allows letters in accounts.
  MK: new NationalRule(true, [iso97(13)], (values) => hasLetter(values, 13)),
  MR: rules(false, ribKey(21)),
  // With 00 in positions 5 and 6 the digit covers fewer positions (TR201, Norway), so it is not checked.
  NO: new NationalRule(
    true,
    [complementEleven(0, 10, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2])],
    (values) => values[BBAN + 4] === 0 && values[BBAN + 5] === 0,
  ),
  PL: rules(false, complementTen(0, 7, [3, 9, 7, 1])),
  PT: rules(true, iso97(19)),
  RS: rules(true, iso97(16)),
  SI: rules(true, iso97(13)),
  SK: rules(false, ...CZECH),
  SM: rules(false, CIN),
  ST: rules(false, iso97(19)),
  TL: rules(false, iso97(17)),
  TN: rules(false, ribKey(18)),
  XK: rules(false, iso97(14)),
}

export function nationalRule(country: string): NationalRule | null {
  return RULES[country] ?? null
}

function foundCheck({ start, end }: NationalDigits, values: Uint8Array): number {
  const last = values[BBAN + end - 1] ?? 0
  return end - start === 1 ? last : (values[BBAN + start] ?? 0) * 10 + last
}
