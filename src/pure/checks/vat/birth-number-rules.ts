import { weightedSum } from '../check-digits.ts'
import {
  accepts,
  byLength,
  checkCharacter,
  decimal,
  modulus11,
  modulus11Remainder,
  modulus11Twice,
  NO_LEADING_ZERO,
  NONE,
  partRule,
  valueAt,
  type VatLengthRule,
  type VatPartRule,
  type VatRule,
  type VatScheme,
} from './calculations.ts'

/**
 * Countries in which a natural person's own number, with a date of birth inside, is also the VAT number. Sources: Czech act 133/2000
 * Coll. on birth numbers and the description of check digits by the Austrian finance ministry (CZ, SK), ESGRAON on the EGN (BG),
 * Romanian tax code procedures on CIF and CNP (RO), Latvian State Revenue Service on PVN numbers (LV). No date is compared with today.
 */

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day >= 1 && day <= (month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0))
}

const birth = (start: number, isValid: (values: Uint8Array) => boolean): VatPartRule => ({
  label: 'birth_date',
  start,
  end: start + 6,
  code: 'bad_date',
  expected: 'a date of birth',
  isValid,
})

/** Birth numbers: women have 50 added to the month, and 20 more, for either sex, when a day's numbers ran out. */
function birthMonth(values: Uint8Array): number {
  const month = decimal(values, 2, 4)
  const either = month > 50 ? month - 50 : month
  return either > 20 ? either - 20 : either
}

/** Ten digits were given from 1954 on, nine before. */
function birthYear(values: Uint8Array, length: number): number {
  const year = decimal(values, 0, 2)
  if (length === 10) return year < 54 ? 2000 + year : 1900 + year
  return year < 54 ? 1900 + year : 1800 + year
}

function isBirthNumber(values: Uint8Array, length: number): boolean {
  const year = birthYear(values, length)
  return isDate(year, birthMonth(values), decimal(values, 4, 6)) && (length === 10 || year >= 1880)
}

const isSpecial = (values: Uint8Array) => valueAt(values, 0) === 6

const CZECH_COMPANY = checkCharacter('modulus 11', 7, (values) => {
  const rest = weightedSum(values, [8, 7, 6, 5, 4, 3, 2]) % 11
  return rest === 0 ? 1 : (11 - rest) % 10
})

/** Persons without a birth number: 6, seven digits, and a digit that is two less than their sum modulo 11. */
const CZECH_SPECIAL: VatScheme = {
  ...checkCharacter('modulus 11, special', 8, (values) => ((weightedSum(values, [8, 7, 6, 5, 4, 3, 2], 1) % 11) + 8) % 10),
  appliesTo: isSpecial,
}

/** A remainder of 10 was written 0 until 1985; later such numbers were passed over. */
const CZECH_PERSON = checkCharacter('modulus 11, birth number', 9, (values) => {
  const rest = decimal(values, 0, 9) % 11
  return rest < 10 ? rest : birthYear(values, 10) < 1985 ? 0 : NONE
})

const CZECHIA = byLength({
  8: { parts: [{ ...NO_LEADING_ZERO, expected: '0 to 8', isValid: (values) => valueAt(values, 0) !== 9 }], schemes: [CZECH_COMPANY] },
  9: { parts: [birth(0, (values) => isSpecial(values) || isBirthNumber(values, 9))], schemes: [CZECH_SPECIAL] },
  10: { parts: [birth(0, (values) => isBirthNumber(values, 10))], schemes: [CZECH_PERSON] },
})

/** The third digit identifies companies; birth numbers, which are divisible by eleven too, have other digits there. */
const SLOVAKIA = byLength({
  10: {
    parts: [
      NO_LEADING_ZERO,
      partRule(
        'kind',
        [2, 3],
        'bad_component',
        '2, 3, 4, 7, 8 or 9',
        (values) => [2, 3, 4, 7, 8, 9].includes(valueAt(values, 2)) || isBirthNumber(values, 10),
      ),
    ],
    schemes: [
      checkCharacter('divisible by 11', 9, (values) => {
        const digit = decimal(values, 0, 9) % 11
        return digit === 10 ? NONE : digit
      }),
    ],
  },
})

/** Months 21 to 32 are of the nineteenth century, 41 to 52 of the twenty-first. */
function isBulgarianDate(values: Uint8Array): boolean {
  const month = decimal(values, 2, 4)
  const century = month > 40 ? 2000 : month > 20 ? 1800 : 1900
  return isDate(century + decimal(values, 0, 2), month > 40 ? month - 40 : month > 20 ? month - 20 : month, decimal(values, 4, 6))
}

const EGN = modulus11Remainder('modulus 11, EGN', [2, 4, 8, 5, 10, 9, 7, 3, 6], 0)
const BULGARIAN_PERSON: VatScheme = { ...EGN, accepts: (values) => accepts(EGN, values) && isBulgarianDate(values) }

const BULGARIAN_FOREIGNER = checkCharacter(
  'modulus 10, foreigner',
  9,
  (values) => weightedSum(values, [21, 19, 17, 13, 11, 9, 7, 3, 1]) % 10,
)

const BULGARIAN_OTHER = modulus11('modulus 11, other', [4, 3, 2, 7, 6, 5, 4, 3, 2])

const BULGARIA = byLength({
  9: { parts: [], schemes: [modulus11Twice('modulus 11', [1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 5, 6, 7, 8, 9, 10])] },
  10: { parts: [], schemes: [BULGARIAN_PERSON, BULGARIAN_FOREIGNER, BULGARIAN_OTHER] },
})

const ROMANIAN_WEIGHTS = [7, 5, 3, 2, 1, 7, 5, 3, 2]

/** Two to ten digits; the weights are read from the right, so that no zeros need be put in front. */
function romanian(length: number): VatLengthRule {
  const weights = ROMANIAN_WEIGHTS.slice(10 - length)
  const scheme = checkCharacter('modulus 11', length - 1, (values) => ((weightedSum(values, weights) * 10) % 11) % 10)
  return { parts: [NO_LEADING_ZERO], schemes: [scheme] }
}

const CENTURIES = [1900, 1900, 1900, 1800, 1800, 2000, 2000, 1900, 1900, 1900]

/** Personal codes of 13 digits: sex and century, date, county, serial, check digit; the century of foreigners is unknown. */
function isRomanianDate(values: Uint8Array): boolean {
  const year = (CENTURIES[valueAt(values, 0)] ?? 1900) + decimal(values, 1, 3)
  const [month, day] = [decimal(values, 3, 5), decimal(values, 5, 7)]
  return isDate(year, month, day) || (valueAt(values, 0) > 6 && isDate(year + 100, month, day))
}

const ROMANIA = byLength({
  ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8, 9, 10].map((length) => [length, romanian(length)])),
  13: {
    parts: [NO_LEADING_ZERO, birth(1, isRomanianDate)],
    schemes: [modulus11Remainder('modulus 11, CNP', [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9], 1)],
  },
})

const isLatvianCompany = (values: Uint8Array) => valueAt(values, 0) > 3
/**
 * Personal codes since July 2017 hold no date: 3, a digit from 2 to 9, and nine random digits (Physical Persons Register Law, section 10).
 * No check digit is documented for them.
 */
const isUndated = (values: Uint8Array) => valueAt(values, 0) === 3 && valueAt(values, 1) >= 2

/** The seventh digit counts centuries from 1800. */
function isLatvianDate(values: Uint8Array): boolean {
  return (
    valueAt(values, 6) <= 2 && isDate(1800 + 100 * valueAt(values, 6) + decimal(values, 4, 6), decimal(values, 2, 4), decimal(values, 0, 2))
  )
}

const LATVIAN_COMPANY: VatScheme = {
  ...checkCharacter('modulus 11', 10, (values) => {
    const digit = (3 + 11 * 50 - weightedSum(values, [9, 1, 4, 8, 3, 10, 2, 5, 7, 6])) % 11
    return digit === 10 ? NONE : digit
  }),
  appliesTo: isLatvianCompany,
}

const LATVIAN_PERSON: VatScheme = {
  ...checkCharacter('modulus 11, personal code', 10, (values) => ((1 + weightedSum(values, [10, 5, 8, 4, 2, 1, 6, 3, 7, 9])) % 11) % 10),
  appliesTo: (values) => !isLatvianCompany(values) && !isUndated(values),
}

const LATVIA = byLength({
  11: {
    parts: [birth(0, (values) => isLatvianCompany(values) || isUndated(values) || isLatvianDate(values))],
    schemes: [LATVIAN_COMPANY, LATVIAN_PERSON],
  },
})

export const BIRTH_NUMBER_RULES = { BG: BULGARIA, CZ: CZECHIA, LV: LATVIA, RO: ROMANIA, SK: SLOVAKIA } satisfies Record<string, VatRule>
