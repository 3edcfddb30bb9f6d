import { CYPRUS, IRELAND, SPAIN } from './letters.ts'
import { BULGARIA, CZECHIA, LATVIA, ROMANIA, SLOVAKIA } from './persons.ts'
import { BELGIUM, FRANCE, LUXEMBOURG, MALTA, NETHERLANDS, UNITED_KINGDOM } from './remainders.ts'
import { at, type CountryRule, decimal, lengths, NO_LEADING_ZERO, NONE, type PartRule, plain, single, weighted } from './rule.ts'
import { completing, hybrid, luhn, luhnSum, remainder, tens, twice } from './schemes.ts'

/*
 * Rules of the countries. A rule of one line stands in the table below, a longer one above the table, and the rules about dates, letters and
 * remainders in persons.ts, letters.ts and remainders.ts. Sources: BMF, "Prüfziffernberechnung", the Austrian finance ministry's description
 * of the check digits of all member states; the Italian decree of 23 December 1976 on the partita IVA (IT); Skatteverket SKV 709 (SE).
 */

/** Name of the scheme in facts. */
const NAME = 'modulus 11'

/** U, then seven digits whose second, fourth and sixth are doubled; 4 is added to the sum. */
const AUSTRIA = plain(
  9,
  single('modulus 10', 8, (values) => (10 - ((luhnSum(values, 1, 8, false) + 4) % 10)) % 10),
)

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
const ITALY = lengths({ 11: { parts: [PROVINCE], schemes: [luhn(10)], body: [0, 7] } })

/** The organisation number, and which of its registrations this is: 01, seldom more. */
const SWEDEN = lengths({
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

/** Eleven minus the remainder: 10 is written 0, and 11 never issued. */
const SLOVENIA = lengths({
  8: {
    parts: [NO_LEADING_ZERO],
    schemes: [
      single(NAME, 7, (values) => {
        const rest = weighted(values, [8, 7, 6, 5, 4, 3, 2]) % 11
        return rest === 0 ? NONE : (11 - rest) % 10
      }),
    ],
  },
})

const ONE_TO_NINE = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]
const THREE_ON = [3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4]

/** Nine digits for legal persons, twelve for temporarily registered ones; a 1 stands before the check digit. */
const LITHUANIA: CountryRule = lengths(
  Object.fromEntries(
    [9, 12].map((length) => [
      length,
      {
        parts: [
          {
            label: 'marker',
            start: length - 2,
            end: length - 1,
            code: 'bad_component' as const,
            expected: '1',
            holds: (values: Uint8Array) => at(values, length - 2) === 1,
          },
        ],
        schemes: [twice(NAME, ONE_TO_NINE.slice(0, length - 1), THREE_ON.slice(0, length - 1))],
        body: [0, length - 2] as const,
      },
    ]),
  ),
)

/** The rule of each country by the code in front of its numbers, EL for Greece. */
export const RULES: Readonly<Record<string, CountryRule>> = {
  AT: AUSTRIA,
  BE: BELGIUM,
  BG: BULGARIA,
  // Swiss UID register, technical description.
  CH: plain(9, completing(NAME, [5, 4, 3, 2, 7, 6, 5, 4])),
  CY: CYPRUS,
  CZ: CZECHIA,
  // ISO 7064:2003, MOD 11,10.
  DE: lengths({ 9: { parts: [NO_LEADING_ZERO], schemes: [hybrid(8)] } }),
  // BMF.
  DK: lengths({ 8: { parts: [NO_LEADING_ZERO], schemes: [completing(NAME, [2, 7, 6, 5, 4, 3, 2])] } }),
  // BMF.
  EE: plain(9, tens([3, 7, 1, 3, 7, 1, 3, 7])),
  // BMF.
  EL: plain(9, remainder(NAME, [256, 128, 64, 32, 16, 8, 4, 2], 0)),
  ES: SPAIN,
  // BMF.
  FI: plain(8, completing(NAME, [7, 9, 10, 5, 8, 4, 2])),
  FR: FRANCE,
  GB: UNITED_KINGDOM,
  // ISO 7064:2003, MOD 11,10.
  HR: plain(11, hybrid(10)),
  // BMF.
  HU: plain(8, tens([9, 7, 3, 1, 9, 7, 3])),
  IE: IRELAND,
  IT: ITALY,
  LT: LITHUANIA,
  LU: LUXEMBOURG,
  LV: LATVIA,
  MT: MALTA,
  NL: NETHERLANDS,
  // Brønnøysundregistrene; OECD tax identification number sheet.
  NO: plain(9, completing(NAME, [3, 2, 7, 6, 5, 4, 3, 2])),
  // OECD tax identification number sheet.
  PL: plain(10, remainder(NAME, [6, 5, 7, 2, 3, 4, 5, 6, 7])),
  // OECD tax identification number sheet.
  PT: lengths({ 9: { parts: [NO_LEADING_ZERO], schemes: [completing(NAME, [9, 8, 7, 6, 5, 4, 3, 2], 0)] } }),
  RO: ROMANIA,
  SE: SWEDEN,
  SI: SLOVENIA,
  SK: SLOVAKIA,
  XI: UNITED_KINGDOM,
}
