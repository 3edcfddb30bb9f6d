import names from '../../../data/country-names.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { once } from '../once.ts'

/** Names of countries in languages other than English, of CLDR. Rebuilt by `scripts/refresh-country-names.ts`. */
export const COUNTRY_NAMES = releaseTable('country_names', () => names)

const byName = once(
  (): ReadonlyMap<string, string> => new Map(names.rows.flatMap((row) => row.names.map((name) => [name, row.code] as const))),
)

/** Alpha-2 code of a country by its folded name in another language than English; null if it is none. */
export function countryByForeignName(name: string): string | null {
  return byName().get(name) ?? null
}

/** Longest name at the beginning of a word, in letters. */
const UNSPACED_CHARS = 12

/** Alpha-2 code of the country whose name a word of a script without spaces begins with, as addresses in Chinese and Japanese do; null for none. */
export function countryAtStart(word: string): string | null {
  for (let length = Math.min(word.length, UNSPACED_CHARS); length > 1; length--) {
    const code = byName().get(word.slice(0, length))
    if (code !== undefined) return code
  }
  return null
}
