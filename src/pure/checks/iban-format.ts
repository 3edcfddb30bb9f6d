import table from '../../../data/iban-registry.json' with { type: 'json' }
import { pairIndex, pairIndexOf } from './characters.ts'
import type { Part } from './check-result.ts'
import { nationalRule, type NationalRule } from './national-check.ts'

/** The published release that the formats were read from. */
export const IBAN_REGISTRY_RELEASE = table.source_version

/** Kinds of character, as bits: a place takes digits, letters or both. */
export const DIGIT = 1
export const LETTER = 2
const KINDS: Readonly<Record<string, number>> = { n: DIGIT, a: LETTER, c: DIGIT | LETTER }

export interface IbanFormat {
  country: string
  /** False for countries that print IBAN-like numbers without being in the registry. */
  registry: boolean
  length: number
  /** The kind of each place, from the country code on. */
  kinds: Uint8Array
  /** Country, check, then the parts of the BBAN; positions in the whole IBAN. */
  parts: readonly Part[]
  /** Territories whose accounts carry this country's code. */
  territories: readonly string[]
  national: NationalRule | null
}

const FORMATS: (IbanFormat | undefined)[] = Array.from({ length: 26 * 26 })
const HOSTS = new Map<string, string>()

for (const row of table.rows) {
  FORMATS[pairIndexOf(row.country)] = compile(row)
  for (const territory of row.territories) HOSTS.set(territory, row.country)
}

function compile(row: (typeof table.rows)[number]): IbanFormat {
  const bban = [...row.structure.matchAll(/(\d+)!([nac])/g)].flatMap(([, count = '0', kind = 'c']) =>
    Array.from({ length: Number.parseInt(count, 10) }, () => KINDS[kind] ?? 0),
  )
  return {
    country: row.country,
    registry: row.registry,
    length: row.length,
    kinds: Uint8Array.of(LETTER, LETTER, DIGIT, DIGIT, ...bban),
    parts: places(`country:2 check:2 ${row.parts}`),
    territories: row.territories,
    national: row.registry ? nationalRule(row.country) : null,
  }
}

/** Places of a list of label:length. */
function places(list: string): Part[] {
  let end = 0
  return list.split(' ').map((part) => {
    const [label = '', length = '0'] = part.split(':')
    const start = end
    end += Number.parseInt(length, 10)
    return Object.freeze({ end, label, start })
  })
}

/** The format for a country given by the values of its two letters. */
export function formatOf(first: number, second: number): IbanFormat | undefined {
  return FORMATS[pairIndex(first, second)]
}

/** The country whose code the accounts of a territory carry, such as GB for JE. */
export function hostOf(territory: string): string | null {
  return HOSTS.get(territory) ?? null
}
