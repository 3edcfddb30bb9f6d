import { complement10, inRange97, luhnSum, remainder97, weightedSum, mod11_10 } from '../check-digits.ts'
import {
  byLength,
  checkCharacter,
  decimal,
  foundCheck,
  modulus11,
  modulus11Remainder,
  modulus11Twice,
  NO_LEADING_ZERO,
  NONE,
  partRule,
  valueAt,
  type VatLengthRule,
  type VatRule,
  type VatScheme,
} from './calculations.ts'
import { BIRTH_NUMBER_RULES } from './birth-number-rules.ts'

/** A rule for one length, without rules about parts. */
function ruleForLength(length: number, ...schemes: VatScheme[]): VatRule {
  return byLength({ [length]: { parts: [], schemes } })
}

/** A rule for one length whose first digit is not 0. */
function nonzeroStart(length: number, ...schemes: VatScheme[]): VatRule {
  return byLength({ [length]: { parts: [NO_LEADING_ZERO], schemes } })
}

/** Name of the most frequent scheme in facts. */
const MODULUS_11 = 'modulus 11'

const luhn = (start: number): VatScheme => checkCharacter('Luhn', start, (values) => complement10(luhnSum(values, 0, start)))

/** The digit that completes a weighted sum to a multiple of ten. */
function modulus10(weights: readonly number[]): VatScheme {
  return checkCharacter('modulus 10', weights.length, (values) => complement10(weightedSum(values, weights)))
}

/** ISO 7064:2003, MOD 11,10. */
const isoModulus11_10 = (start: number): VatScheme => checkCharacter('ISO 7064 MOD 11,10', start, (values) => mod11_10(values, 0, start))

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
const BELGIUM = byLength({
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
const NETHERLANDS = byLength({
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
const UNITED_KINGDOM = byLength({ 5: { parts: [AUTHORITY], schemes: [] }, 9: STANDARD, 12: STANDARD })

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

const FRANCE = byLength({
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

const LUXEMBOURG = ruleForLength(
  8,
  checkPair('modulus 89', 6, (values) => decimal(values, 0, 6) % 89),
)

/** 37 less the remainder: 01 to 37. */
const MALTA = byLength({
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

const SPAIN = byLength({ 9: { parts: [SPANISH_KIND, SPANISH_LAST], schemes: [SPANISH_PERSON, SPANISH_ENTITY] } })

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

const IRELAND: VatRule = byLength({
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

const CYPRUS = byLength({
  9: {
    parts: [
      { label: 'number', start: 0, end: 2, code: 'bad_prefix', expected: 'not 12', isValid: (values) => decimal(values, 0, 2) !== 12 },
    ],
    schemes: [CYPRIOT],
  },
})

/** U, then seven digits whose second, fourth and sixth are doubled; 4 is added to the sum. */
const AUSTRIA = ruleForLength(
  9,
  checkCharacter('modulus 10', 8, (values) => (10 - ((luhnSum(values, 1, 8, false) + 4) % 10)) % 10),
)

/** Provinces are 001 to 100; 120 and 121 foreigners, 888 and 999 the ministry itself. */
const PROVINCE = partRule('province', [7, 10], 'bad_component', '001 to 100, 120, 121, 888 or 999', (values) => {
  const province = decimal(values, 7, 10)
  return (province >= 1 && province <= 100) || province === 120 || province === 121 || province === 888 || province === 999
})

/** Seven digits of the taxpayer, the province, Luhn's digit. */
const ITALY = byLength({ 11: { parts: [PROVINCE], schemes: [luhn(10)], body: [0, 7] } })

/** The organisation number, and which of its registrations this is: 01, seldom more. */
const SWEDEN = byLength({
  12: {
    parts: [partRule('registration', [10, 12], 'bad_component', '01, seldom more', (values) => decimal(values, 10, 12) > 0)],
    schemes: [luhn(9)],
    body: [0, 10],
  },
})

/** Eleven minus the remainder: 10 is written 0, and 11 never issued. */
const SLOVENIA = nonzeroStart(
  8,
  checkCharacter(MODULUS_11, 7, (values) => {
    const rest = weightedSum(values, [8, 7, 6, 5, 4, 3, 2]) % 11
    return rest === 0 ? NONE : (11 - rest) % 10
  }),
)

const ONE_TO_NINE = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]
const THREE_ON = [3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4]

/** Nine digits for legal persons, twelve for temporarily registered ones; the digit before the check digit is 1. */
const LITHUANIA: VatRule = byLength(
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

/** Rule of each country by the code in `VAT_COUNTRY_ROWS`; Northern Ireland has that of GB. */
export const VAT_RULES = {
  ...BIRTH_NUMBER_RULES,
  AT: AUSTRIA,
  BE: BELGIUM,
  // Swiss UID register, technical description.
  CH: ruleForLength(9, modulus11(MODULUS_11, [5, 4, 3, 2, 7, 6, 5, 4])),
  CY: CYPRUS,
  // ISO 7064:2003, MOD 11,10.
  DE: nonzeroStart(9, isoModulus11_10(8)),
  // BMF.
  DK: nonzeroStart(8, modulus11(MODULUS_11, [2, 7, 6, 5, 4, 3, 2])),
  // BMF.
  EE: ruleForLength(9, modulus10([3, 7, 1, 3, 7, 1, 3, 7])),
  // BMF.
  EL: ruleForLength(9, modulus11Remainder(MODULUS_11, [256, 128, 64, 32, 16, 8, 4, 2], 0)),
  ES: SPAIN,
  // BMF.
  FI: ruleForLength(8, modulus11(MODULUS_11, [7, 9, 10, 5, 8, 4, 2])),
  FR: FRANCE,
  GB: UNITED_KINGDOM,
  // ISO 7064:2003, MOD 11,10.
  HR: ruleForLength(11, isoModulus11_10(10)),
  // BMF.
  HU: ruleForLength(8, modulus10([9, 7, 3, 1, 9, 7, 3])),
  IE: IRELAND,
  IT: ITALY,
  LT: LITHUANIA,
  LU: LUXEMBOURG,
  MT: MALTA,
  NL: NETHERLANDS,
  // Brønnøysundregistrene; OECD tax identification number sheet.
  NO: ruleForLength(9, modulus11(MODULUS_11, [3, 2, 7, 6, 5, 4, 3, 2])),
  // OECD tax identification number sheet.
  PL: ruleForLength(10, modulus11Remainder(MODULUS_11, [6, 5, 7, 2, 3, 4, 5, 6, 7])),
  // OECD tax identification number sheet.
  PT: nonzeroStart(9, modulus11(MODULUS_11, [9, 8, 7, 6, 5, 4, 3, 2], 0)),
  SE: SWEDEN,
  SI: SLOVENIA,
} satisfies Record<string, VatRule>
