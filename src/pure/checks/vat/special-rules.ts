import { inRange97, luhnSum, remainder97, weightedSum } from '../check-digits.ts'
import {
  byLength,
  checkCharacter,
  decimal,
  foundCheck,
  MODULUS_11,
  modulus11Remainder,
  modulus11Twice,
  NO_LEADING_ZERO,
  NONE,
  nonzeroStart,
  ruleForLength,
  valueAt,
  type VatLengthRule,
  type VatRule,
  type VatScheme,
  partRule,
  type VatPartRule,
  accepts,
  modulus11,
  luhn,
} from './calculations.ts'

/** A scheme with two check digits. */
function checkPair(name: string, start: number, expected: (values: Uint8Array) => number): VatScheme {
  return { name, start, end: start + 2, expected }
}

/**
 * Two check digits from a remainder modulo 97, 89 or 37. Sources: FOD Economie on the enterprise number (BE), Belastingdienst on the
 * btw-identificatienummer of 2020 (NL), HMRC VAT Traders Number check digit, both series (GB, XI), DGFiP and INSEE on the TVA key and
 * SIREN (FR), the description of check digits by the Austrian finance ministry (LU, MT).
 */

/** 97 less the remainder of the first eight digits: 01 to 97. */
const BELGIAN = checkPair('modulus 97', 8, (values) => 97 - (decimal(values, 0, 8) % 97))

/** The first digit is 0, or 1 since 2023. */
export const BELGIUM = byLength({
  10: {
    parts: [partRule('number', [0, 1], 'bad_prefix', '0 or 1', (values) => valueAt(values, 0) < 2)],
    schemes: [BELGIAN],
  },
})

const NL = Uint8Array.of(23, 21)

/** ISO 7064 MOD 97-10 over the whole number with its prefix, for sole traders since 2020; B is written in place 10. */
const DUTCH_NEW: VatScheme = {
  ...checkPair('ISO 7064 MOD 97-10', 10, (values) => 98 - ((remainder97(values, 0, 10, remainder97(NL, 0, 2)) * 100) % 97)),
  accepts: (values) => inRange97(decimal(values, 10, 12)) && remainder97(values, 0, 12, remainder97(NL, 0, 2)) === 1,
}

/** Nine digits of a RSIN or BSN with modulus 11, then B and a count from 01; or the calculation of 2020. */
export const NETHERLANDS = byLength({
  12: {
    parts: [partRule('suffix', [10, 12], 'bad_component', '01 to 99', (values) => decimal(values, 10, 12) > 0)],
    schemes: [modulus11Remainder('modulus 11', [9, 8, 7, 6, 5, 4, 3, 2]), DUTCH_NEW],
    body: [0, 9],
  },
})

const BRITISH_WEIGHTS = [8, 7, 6, 5, 4, 3, 2]

/** Check digits that differ by 97 are the same: the descriptions disagree on whether 00 or 97 is written. */
function british(name: string, added: number, holds_for?: VatScheme['appliesTo']): VatScheme {
  const scheme = checkPair(name, 7, (values) => 97 - ((weightedSum(values, BRITISH_WEIGHTS) + added) % 97))
  const agrees = (values: Uint8Array) => (foundCheck(scheme, values) - scheme.expected(values)) % 97 === 0
  return { ...scheme, accepts: agrees, ...(holds_for === undefined ? {} : { appliesTo: holds_for }) }
}

/** The second series begins at 100 0000 xx. */
const BRITISH_SCHEMES: readonly VatScheme[] = [
  british('modulus 97', 0),
  british('modulus 97, second series', 55, (values) => decimal(values, 0, 3) >= 100),
]
const STANDARD: VatLengthRule = { parts: [], schemes: BRITISH_SCHEMES, body: [0, 7] }

/** Government departments (GD) are 000 to 499, health authorities (HA) 500 to 999. */
const AUTHORITY = partRule('number', [2, 5], 'bad_component', '000 to 499 after GD, 500 to 999 after HA', (values) =>
  valueAt(values, 0) === 16 ? valueAt(values, 2) < 5 : valueAt(values, 2) >= 5,
)

/** Nine digits, three more for a branch; no checksum for authorities. */
export const UNITED_KINGDOM = byLength({ 5: { parts: [AUTHORITY], schemes: [] }, 9: STANDARD, 12: STANDARD })

/** Values 0–33 of the characters of a French key, which has no I and no O. */
function keyValue(value: number): number {
  return value > 24 ? value - 2 : value > 18 ? value - 1 : value
}

const allDigits = (values: Uint8Array) => valueAt(values, 0) < 10 && valueAt(values, 1) < 10

const FRENCH = checkPair('modulus 97 key', 0, (values) => (12 + 3 * (decimal(values, 2, 11) % 97)) % 97)

/** A key with a letter is not the only one that a SIREN can have, so the expected one is the key of two digits. */
const FRENCH_LETTERS: VatScheme = {
  ...FRENCH,
  name: 'key with letters',
  accepts(values) {
    const [first, second] = [keyValue(valueAt(values, 0)), keyValue(valueAt(values, 1))]
    const key = first < 10 ? first * 24 + second - 10 : first * 34 + second - 100
    return (decimal(values, 2, 11) + 1 + Math.floor(key / 11)) % 11 === key % 11
  },
  appliesTo: (values) => !allDigits(values),
}

/** Numbers of Monaco have 000 in the place where a SIREN begins, and are none. */
const isMonegasque = (values: Uint8Array) => decimal(values, 2, 5) === 0

export const FRANCE = byLength({
  11: {
    parts: [
      partRule('key', [0, 2], 'bad_component', 'no I and no O', (values) =>
        [0, 1].every((index) => valueAt(values, index) !== 18 && valueAt(values, index) !== 24),
      ),
      partRule(
        'siren',
        [2, 11],
        'bad_national_checksum',
        'a SIREN, whose last digit is Luhn’s',
        (values) => isMonegasque(values) || (luhnSum(values, 2, 10) + valueAt(values, 10)) % 10 === 0,
      ),
    ],
    schemes: [{ ...FRENCH, appliesTo: allDigits }, FRENCH_LETTERS],
    body: [2, 11],
  },
})

export const LUXEMBOURG = ruleForLength(
  8,
  checkPair('modulus 89', 6, (values) => decimal(values, 0, 6) % 89),
)

/** 37 less the remainder: 01 to 37. */
export const MALTA = byLength({
  8: {
    parts: [NO_LEADING_ZERO],
    schemes: [checkPair('modulus 37', 6, (values) => 37 - (weightedSum(values, [3, 4, 6, 7, 8, 9]) % 37))],
  },
})

/**
 * Numbers whose check character is a letter. Sources: Real Decreto 1065/2007 and Orden EHA/451/2008 with the Interior ministry's table
 * of letters (ES), Revenue Commissioners on the VAT and PPS numbers with the second letter of 2013 (IE), the description of check digits
 * by the Austrian finance ministry (CY).
 */

const valuesOf = (letters: string): Uint8Array => Uint8Array.from(letters, (letter) => letter.charCodeAt(0) - 55)
const includes = (letters: string) => {
  const set = new Set(valuesOf(letters))
  return (value: number) => set.has(value)
}

const DNI_LETTERS = valuesOf('TRWAGMYFPDXBNJZSQVHLCKE')
const CIF_LETTERS = valuesOf('JABCDEFGHI')
const isForeigner = includes('XYZ')
const isSpecialPerson = includes('KLM')
const isEntity = includes('ABCDEFGHJNPQRSUVW')
const hasLetterByRule = includes('NPQRSW')
const isCifLetter = includes('ABCDEFGHIJ')
const hasDigitByRule = includes('ABEH')

/** Citizens have eight digits, foreigners X, Y or Z for a first digit 0, 1 or 2; K, L and M count as no digit. */
const SPANISH_PERSON: VatScheme = {
  ...checkCharacter('modulus 23', 8, (values) => {
    const first = valueAt(values, 0)
    const lead = isForeigner(first) ? first - 33 : isSpecialPerson(first) ? 0 : first
    return DNI_LETTERS[(lead * 10_000_000 + decimal(values, 1, 8)) % 23] ?? 0
  }),
  appliesTo: (values) => !isEntity(valueAt(values, 0)),
}

const cifDigit = (values: Uint8Array) => (10 - (luhnSum(values, 1, 8) % 10)) % 10

/** Sources differ on which kinds of entity have a digit and which a letter, so both are taken. */
const SPANISH_ENTITY: VatScheme = {
  ...checkCharacter('Luhn', 8, (values) => (hasLetterByRule(valueAt(values, 0)) ? (CIF_LETTERS[cifDigit(values)] ?? 0) : cifDigit(values))),
  accepts: (values) => valueAt(values, 8) === cifDigit(values) || valueAt(values, 8) === CIF_LETTERS[cifDigit(values)],
  appliesTo: (values) => isEntity(valueAt(values, 0)),
}

const SPANISH_KIND = partRule(
  'kind',
  [0, 1],
  'bad_component',
  'a digit, or any letter but I, O and T',
  (values) =>
    valueAt(values, 0) < 10 || isForeigner(valueAt(values, 0)) || isSpecialPerson(valueAt(values, 0)) || isEntity(valueAt(values, 0)),
)

const SPANISH_LAST = partRule('check', [8, 9], 'bad_structure', 'a letter for persons; a digit or A to J for entities', (values) => {
  const last = valueAt(values, 8)
  return isEntity(valueAt(values, 0)) ? last < 10 || isCifLetter(last) : last >= 10
})

export const SPAIN = byLength({ 9: { parts: [SPANISH_KIND, SPANISH_LAST], schemes: [SPANISH_PERSON, SPANISH_ENTITY] } })

/** Tests for a check character of the unusual kind (letter or digit) for the kind of entity. */
export function isUnusualSpanish(values: Uint8Array): boolean {
  const [kind, last] = [valueAt(values, 0), valueAt(values, 8)]
  return (hasLetterByRule(kind) && last < 10) || (hasDigitByRule(kind) && last >= 10)
}

const IRISH_LETTERS = valuesOf('WABCDEFGHIJKLMNOPQRSTUV')
const isIrish = includes('WABCDEFGHIJKLMNOPQRSTUV')
const IRISH_WEIGHTS = [8, 7, 6, 5, 4, 3, 2]
const IRISH_NAME = 'modulus 23'

/** Seven digits, the letter, and since 2013 a second letter whose place in the alphabet counts nine times. */
const irish = (length: number): VatScheme => ({
  ...checkCharacter(IRISH_NAME, 7, (values) => {
    const extra = length === 9 ? valueAt(values, 8) : 32
    return IRISH_LETTERS[(weightedSum(values, IRISH_WEIGHTS) + 9 * (extra === 32 ? 0 : extra - 9)) % 23] ?? 0
  }),
  appliesTo: (values) => valueAt(values, 1) < 10,
})

/** Until 2013 the second character could be a letter, + or *; the sum reads 0, the five digits, then the first digit. */
const IRISH_OLD: VatScheme = {
  ...checkCharacter(`${IRISH_NAME}, old form`, 7, (values) => {
    const sum = weightedSum(values, [7, 6, 5, 4, 3], 2) + valueAt(values, 0) * 2
    return IRISH_LETTERS[sum % 23] ?? 0
  }),
  appliesTo: (values) => valueAt(values, 1) >= 10,
}

const IRISH_LAST = partRule('check', [7, 8], 'bad_structure', 'a letter A to W', (values) => isIrish(valueAt(values, 7)))

const IRISH_SECOND = partRule('check', [8, 9], 'bad_structure', 'a letter A to W', (values) => isIrish(valueAt(values, 8)))

export const IRELAND: VatRule = byLength({
  8: { parts: [IRISH_LAST], schemes: [irish(8), IRISH_OLD] },
  9: { parts: [IRISH_LAST, IRISH_SECOND], schemes: [irish(9)] },
})

/** Values of the digits 0-9 in the odd places. */
const CYPRIOT_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21]

const CYPRIOT = checkCharacter('modulus 26', 8, (values) => {
  let sum = 0
  for (let index = 0; index < 8; index++) sum += index % 2 === 0 ? (CYPRIOT_ODD[valueAt(values, index)] ?? 0) : valueAt(values, index)
  return 10 + (sum % 26)
})

export const CYPRUS = byLength({
  9: {
    parts: [
      { label: 'number', start: 0, end: 2, code: 'bad_prefix', expected: 'not 12', isValid: (values) => decimal(values, 0, 2) !== 12 },
    ],
    schemes: [CYPRIOT],
  },
})

/** U, then seven digits whose second, fourth and sixth are doubled; 4 is added to the sum. */
export const AUSTRIA = ruleForLength(
  9,
  checkCharacter('modulus 10', 8, (values) => (10 - ((luhnSum(values, 1, 8, false) + 4) % 10)) % 10),
)

/** Provinces are 001 to 100; 120 and 121 foreigners, 888 and 999 the ministry itself. */
const PROVINCE = partRule('province', [7, 10], 'bad_component', '001 to 100, 120, 121, 888 or 999', (values) => {
  const province = decimal(values, 7, 10)
  return (province >= 1 && province <= 100) || province === 120 || province === 121 || province === 888 || province === 999
})

/** Seven digits of the taxpayer, the province, Luhn's digit. */
export const ITALY = byLength({ 11: { parts: [PROVINCE], schemes: [luhn(10)], body: [0, 7] } })

/** The organisation number, and which of its registrations this is: 01, seldom more. */
export const SWEDEN = byLength({
  12: {
    parts: [partRule('registration', [10, 12], 'bad_component', '01, seldom more', (values) => decimal(values, 10, 12) > 0)],
    schemes: [luhn(9)],
    body: [0, 10],
  },
})

/** Eleven minus the remainder: 10 is written 0, and 11 never issued. */
export const SLOVENIA = nonzeroStart(
  8,
  checkCharacter(MODULUS_11, 7, (values) => {
    const rest = weightedSum(values, [8, 7, 6, 5, 4, 3, 2]) % 11
    return rest === 0 ? NONE : (11 - rest) % 10
  }),
)

const ONE_TO_NINE = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]
const THREE_ON = [3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4]

/** Nine digits for legal persons, twelve for temporarily registered ones; the digit before the check digit is 1. */
export const LITHUANIA: VatRule = byLength(
  Object.fromEntries(
    [9, 12].map((length) => [
      length,
      {
        parts: [
          partRule('marker', [length - 2, length - 1], 'bad_component', '1', (values: Uint8Array) => valueAt(values, length - 2) === 1),
        ],
        schemes: [modulus11Twice(MODULUS_11, ONE_TO_NINE.slice(0, length - 1), THREE_ON.slice(0, length - 1))],
        body: [0, length - 2] as const,
      },
    ]),
  ),
)

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

export const CZECHIA = byLength({
  8: { parts: [{ ...NO_LEADING_ZERO, expected: '0 to 8', isValid: (values) => valueAt(values, 0) !== 9 }], schemes: [CZECH_COMPANY] },
  9: { parts: [birth(0, (values) => isSpecial(values) || isBirthNumber(values, 9))], schemes: [CZECH_SPECIAL] },
  10: { parts: [birth(0, (values) => isBirthNumber(values, 10))], schemes: [CZECH_PERSON] },
})

/** The third digit identifies companies; birth numbers, which are divisible by eleven too, have other digits there. */
export const SLOVAKIA = byLength({
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

export const BULGARIA = byLength({
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

export const ROMANIA = byLength({
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

export const LATVIA = byLength({
  11: {
    parts: [birth(0, (values) => isLatvianCompany(values) || isUndated(values) || isLatvianDate(values))],
    schemes: [LATVIAN_COMPANY, LATVIAN_PERSON],
  },
})
