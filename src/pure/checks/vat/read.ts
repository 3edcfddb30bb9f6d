import type { Change } from '../verdict.ts'
import { BY_LETTERS, type VatCountry } from './countries.ts'

/** A normalized text taken apart. */
export interface VatReading {
  /** Null when the text begins with two letters that are no VAT prefix. */
  country: VatCountry | null
  /** What stands in front of the number; empty when nothing names a country. */
  prefix: string
  number: string
  /** The national ending, such as MVA, when there was one. */
  suffix: string | null
  /** Prefix and number as they are checked. */
  value: string
  changes: Change[]
  /** Zeros that had been left out in front. */
  padded: boolean
  /** Nothing in the text names a country, so it is read as Belgian. */
  bare: boolean
  /** A bare number before zeros were put in front. */
  given: string
}

const NORWEGIAN = /^[0-9]{9}MVA$/

/** Country, number and ending; old short forms get their zeros. Reading `value` again gives the same `value`. */
export function readVat(text: string): VatReading {
  if (!/^[A-Z]{2}/.test(text)) return readBare(text)
  const country = BY_LETTERS.get(text.slice(0, 2)) ?? null
  const prefix = country?.prefixes.find((word) => text.startsWith(word)) ?? text.slice(0, 2)
  const rest = text.slice(prefix.length)
  const suffix = country?.suffixes.find((word) => rest.endsWith(word)) ?? null
  const short = suffix === null ? rest : rest.slice(0, -suffix.length)
  const number = country === null ? short : withZeros(country.code, short)
  const changes: Change[] = []
  if (suffix !== null) changes.push('removed_suffix')
  if (number !== short) changes.push('padded_zeros')
  return { country, prefix, number, suffix, value: prefix + number, changes, padded: number !== short, bare: false, given: number }
}

/** Belgian, but for the ending that only Norway writes. */
function readBare(text: string): VatReading {
  const frame = { prefix: '', value: text, changes: [], padded: false, given: text }
  if (NORWEGIAN.test(text)) {
    return { ...frame, country: BY_LETTERS.get('NO') ?? null, number: text.slice(0, 9), suffix: 'MVA', bare: false }
  }
  const number = withZeros('BE', text)
  const padded = number !== text
  const changes: Change[] = padded ? ['padded_zeros'] : []
  return { ...frame, country: BY_LETTERS.get('BE') ?? null, number, suffix: null, value: number, changes, padded, bare: true }
}

/**
 * Numbers that are still written without the zeros of their present form: Belgian ones of before 2005, Greek ones of before 1999, and
 * Dutch ones by people who take the number for a quantity.
 */
function withZeros(country: string, number: string): string {
  if (country === 'BE' && /^[0-9]{9}$/.test(number)) return `0${number}`
  if (country === 'EL' && /^[0-9]{8}$/.test(number)) return `0${number}`
  return country === 'NL' && /^[0-9]{7,8}B[0-9]{2}$/.test(number) ? number.padStart(12, '0') : number
}
