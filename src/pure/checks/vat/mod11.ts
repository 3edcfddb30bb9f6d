import { at, type CountryRule, lengths, NO_LEADING_ZERO, NONE, plain, type Scheme, single, weighted } from './rule.ts'

/**
 * Weighted sums modulo 11. Sources: the national tax authorities as collected in the Austrian finance ministry's description of the
 * UID check digits of all member states ("Prüfziffernberechnung", BMF), Brønnøysundregistrene (NO), the Swiss UID register's technical
 * description (CH), OECD tax identification number sheets (PT, PL, NO).
 */

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

const NAME = 'modulus 11'

export const DENMARK = lengths({ 8: { parts: [NO_LEADING_ZERO], schemes: [completing(NAME, [2, 7, 6, 5, 4, 3, 2])] } })
export const FINLAND = plain(8, completing(NAME, [7, 9, 10, 5, 8, 4, 2]))
export const SWITZERLAND = plain(9, completing(NAME, [5, 4, 3, 2, 7, 6, 5, 4]))
export const NORWAY = plain(9, completing(NAME, [3, 2, 7, 6, 5, 4, 3, 2]))
export const POLAND = plain(10, remainder(NAME, [6, 5, 7, 2, 3, 4, 5, 6, 7]))
export const PORTUGAL = lengths({ 9: { parts: [NO_LEADING_ZERO], schemes: [completing(NAME, [9, 8, 7, 6, 5, 4, 3, 2], 0)] } })
export const GREECE = plain(9, remainder(NAME, [256, 128, 64, 32, 16, 8, 4, 2], 0))

/** Eleven minus the remainder: 10 is written 0, and 11 never issued. */
export const SLOVENIA = lengths({
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
export const LITHUANIA: CountryRule = lengths(
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
