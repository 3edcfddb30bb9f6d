import table from '../../../../data/vat-formats.json' with { type: 'json' }
import { grouped } from '../grouped.ts'
import { RULES } from './rules.ts'
import { accepts, covers, type CountryRule, isAllZero, type LengthRule, type Scheme } from './rule.ts'
import { dataDate } from '../../data-date.ts'

/** Characters that a place of a format takes, in the notation of the Commission's list; anything else stands for itself. */
const CLASSES: Readonly<Record<string, Place>> = {
  9: { words: 'a digit', least: 0, most: 9 },
  L: { words: 'a letter', least: 10, most: 35 },
  X: { words: 'a letter or a digit', least: 0, most: 35 },
  S: { words: 'a letter, a digit, + or *', least: 0, most: 37 },
}

/** A place of a format takes the values from `least` to `most`. */
interface Place {
  words: string
  least: number
  most: number
}

export function takes({ least, most }: Place, value: number): boolean {
  return value >= least && value <= most
}

export interface VatCountry {
  code: string
  name: string
  prefixes: readonly string[]
  eu_member: boolean
  /** The code that the Commission's VIES service takes; null when it does not know the country. */
  vies: string | null
  structure: string
  tax_name: string
  number_name: string
  /** With # for each character of the number; null for a number written in one run behind its prefix. */
  print: string | null
  suffixes: readonly string[]
  /** Formats by length, each a row of places. */
  formats: ReadonlyMap<number, readonly (readonly Place[])[]>
  rule: CountryRule
}

function places(format: string): Place[] {
  return Array.from(format, (letter) => {
    const literal = Number.parseInt(letter, 36)
    return CLASSES[letter] ?? { words: letter, least: literal, most: literal }
  })
}

function countryOf(row: (typeof table.rows)[number]): VatCountry {
  const formats = grouped(row.formats.map(places), ({ length }) => length)
  return { ...row, formats, rule: RULES[row.code] ?? new Map<number, LengthRule>() }
}

export const VAT_COUNTRIES: readonly VatCountry[] = table.rows.map(countryOf)

export const VAT_AS_OF = dataDate(table)

/** By the first two letters of a number; both GR and EL are Greece. */
export const BY_LETTERS: ReadonlyMap<string, VatCountry> = new Map(
  VAT_COUNTRIES.flatMap((country) => country.prefixes.map((prefix) => [prefix.slice(0, 2), country] as const)),
)

/** Whether the characters fit a format of the country. */
export function fits(country: VatCountry, values: Uint8Array, length: number): boolean {
  const formats = country.formats.get(length)
  if (formats === undefined) return false
  for (const format of formats) if (fitsFormat(format, values)) return true
  return false
}

function fitsFormat(format: readonly Place[], values: Uint8Array): boolean {
  for (let index = 0; index < format.length; index++) {
    const place = format[index]
    if (place === undefined || !takes(place, values[index] ?? 0)) return false
  }
  return true
}

/** Whether a number without prefix and suffix passes: format, parts, and a check where there is one. */
export function passesFor(country: VatCountry, values: Uint8Array, length: number): boolean {
  if (!fits(country, values, length)) return false
  const rule = country.rule.get(length)
  if (rule === undefined) return false
  for (const part of rule.parts) if (!part.holds(values)) return false
  return !isAllZero(rule, length, values) && checkHolds(rule, values)
}

function checkHolds({ schemes }: LengthRule, values: Uint8Array): boolean {
  let covered = false
  for (const scheme of schemes) {
    if (!covers(scheme, values)) continue
    if (accepts(scheme, values)) return true
    covered = true
  }
  return !covered
}

/** The schemes that speak about this number. */
export function schemesFor(rule: LengthRule, values: Uint8Array): Scheme[] {
  return rule.schemes.filter((scheme) => covers(scheme, values))
}
