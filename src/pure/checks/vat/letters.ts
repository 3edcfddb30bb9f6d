import { luhnSum } from './schemes.ts'
import { at, type CountryRule, decimal, lengths, type PartRule, type Scheme, single, weighted } from './rule.ts'

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
const SPANISH_PERSON: Scheme = {
  ...single('modulus 23', 8, (values) => {
    const first = at(values, 0)
    const lead = isForeigner(first) ? first - 33 : isSpecialPerson(first) ? 0 : first
    return DNI_LETTERS[(lead * 10_000_000 + decimal(values, 1, 8)) % 23] ?? 0
  }),
  covers: (values) => !isEntity(at(values, 0)),
}

const cifDigit = (values: Uint8Array) => (10 - (luhnSum(values, 1, 8) % 10)) % 10

/** Sources differ on which kinds of entity have a digit and which a letter, so both are taken. */
const SPANISH_ENTITY: Scheme = {
  ...single('Luhn', 8, (values) => (hasLetterByRule(at(values, 0)) ? (CIF_LETTERS[cifDigit(values)] ?? 0) : cifDigit(values))),
  accepts: (values) => at(values, 8) === cifDigit(values) || at(values, 8) === CIF_LETTERS[cifDigit(values)],
  covers: (values) => isEntity(at(values, 0)),
}

const SPANISH_KIND: PartRule = {
  label: 'kind',
  start: 0,
  end: 1,
  code: 'bad_component',
  expected: 'a digit, or any letter but I, O and T',
  holds: (values) => at(values, 0) < 10 || isForeigner(at(values, 0)) || isSpecialPerson(at(values, 0)) || isEntity(at(values, 0)),
}

const SPANISH_LAST: PartRule = {
  label: 'check',
  start: 8,
  end: 9,
  code: 'bad_structure',
  expected: 'a letter for persons; a digit or A to J for entities',
  holds(values) {
    const last = at(values, 8)
    return isEntity(at(values, 0)) ? last < 10 || isCifLetter(last) : last >= 10
  },
}

export const SPAIN = lengths({ 9: { parts: [SPANISH_KIND, SPANISH_LAST], schemes: [SPANISH_PERSON, SPANISH_ENTITY] } })

/** Whether an entity's check character is of the unusual sort for its kind. */
export function isUnusualSpanish(values: Uint8Array): boolean {
  const [kind, last] = [at(values, 0), at(values, 8)]
  return (hasLetterByRule(kind) && last < 10) || (hasDigitByRule(kind) && last >= 10)
}

const IRISH_LETTERS = valuesOf('WABCDEFGHIJKLMNOPQRSTUV')
const isIrish = includes('WABCDEFGHIJKLMNOPQRSTUV')
const IRISH_WEIGHTS = [8, 7, 6, 5, 4, 3, 2]
const IRISH_NAME = 'modulus 23'

/** Seven digits, the letter, and since 2013 a second letter whose place in the alphabet counts nine times. */
const irish = (length: number): Scheme => ({
  ...single(IRISH_NAME, 7, (values) => {
    const extra = length === 9 ? at(values, 8) : 32
    return IRISH_LETTERS[(weighted(values, IRISH_WEIGHTS) + 9 * (extra === 32 ? 0 : extra - 9)) % 23] ?? 0
  }),
  covers: (values) => at(values, 1) < 10,
})

/** Until 2013 the second character could be a letter, + or *; the sum reads 0, the five digits, then the first digit. */
const IRISH_OLD: Scheme = {
  ...single(`${IRISH_NAME}, old form`, 7, (values) => {
    const sum = weighted(values, [7, 6, 5, 4, 3], 2) + at(values, 0) * 2
    return IRISH_LETTERS[sum % 23] ?? 0
  }),
  covers: (values) => at(values, 1) >= 10,
}

const IRISH_LAST: PartRule = {
  label: 'check',
  start: 7,
  end: 8,
  code: 'bad_structure',
  expected: 'a letter A to W',
  holds: (values) => isIrish(at(values, 7)),
}

const IRISH_SECOND: PartRule = {
  label: 'check',
  start: 8,
  end: 9,
  code: 'bad_structure',
  expected: 'a letter A to W',
  holds: (values) => isIrish(at(values, 8)),
}

export const IRELAND: CountryRule = lengths({
  8: { parts: [IRISH_LAST], schemes: [irish(8), IRISH_OLD] },
  9: { parts: [IRISH_LAST, IRISH_SECOND], schemes: [irish(9)] },
})

/** Values of the digits 0-9 in the odd places. */
const CYPRIOT_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21]

const CYPRIOT = single('modulus 26', 8, (values) => {
  let sum = 0
  for (let index = 0; index < 8; index++) sum += index % 2 === 0 ? (CYPRIOT_ODD[at(values, index)] ?? 0) : at(values, index)
  return 10 + (sum % 26)
})

export const CYPRUS = lengths({
  9: {
    parts: [{ label: 'number', start: 0, end: 2, code: 'bad_prefix', expected: 'not 12', holds: (values) => decimal(values, 0, 2) !== 12 }],
    schemes: [CYPRIOT],
  },
})
