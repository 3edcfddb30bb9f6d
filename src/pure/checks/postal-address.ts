import { sanctionsHint } from './countries.ts'
import { countryAtStart, countryByForeignName } from './country-names.ts'
import { countryNamed } from './jurisdictions.ts'
import { cleanText, countryByName, foldName, isStateCode, nameFlags, stateCountryAtEnd } from './place-names.ts'
import { SEVERAL_COUNTRIES, worldTowns } from './prohibited-places.ts'
import { isStreetName } from './street-words.ts'

/** Facts of a postal address. */
export interface PostalAddress {
  /** Mail goes to a box, which needs no premises. */
  po_box: boolean
  /** Alpha-2 code of the country that the address names, by name, code or postal code; null when it names none, or could mean two. */
  country: string | null
  /** Country of a large town in the address; null when it names none, or one of several countries. Other towns share the name, so it is a hint only. */
  town_country: string | null
  /** The address names a country, a state, a large town or a post office box. */
  read: boolean
}

const PO_BOX = new RegExp(
  String.raw`\b(?:p\.?\s*o\.?\s*box|post(?:al)?\s+(?:office\s+)?box|postfach|postbus|apartado(?:\s+(?:de\s+correos|postal))?|casilla\s+(?:de\s+correo|postal)|caixa\s+postal|casella\s+postale|bo[iî]te\s+postale|b\.?p\.?\s+\d|pmb\s+\d|gpo\s+box)(?=\W|\d|$)`,
  'iu',
)
/** Contact details behind an address. "Tel Aviv" is a place. */
const CONTACT = /@|https?:|\bwww\.|^(?:tel(?:ephone)?|phone|fax|mob(?:ile)?|e-?mail|web(?:site)?)\b\s*[.:+(\d]/i
/** Longest name of a country, and of a town, in words. */
const NAME_WORDS = 8
const TOWN_WORDS = 3
/** Names of countries in other languages that are common words behind another name: "Long Island". */
const WORDS = new Set(['island'])
/** Directions that are codes of countries too. */
const DIRECTIONS = new Set(['NE', 'SE'])
/** Distinguishing signs and codes before postal codes: D-10115 Berlin. */
const POSTAL_SIGNS: Readonly<Record<string, string>> = {
  A: 'AT',
  B: 'BE',
  D: 'DE',
  E: 'ES',
  F: 'FR',
  FIN: 'FI',
  H: 'HU',
  I: 'IT',
  L: 'LU',
  N: 'NO',
  P: 'PT',
  S: 'SE',
}
const POSTAL_CODES = set('AT BE BG CH CZ DE DK EE ES FI FR GR HR HU IT LI LT LU LV MC NL NO PL PT RO SE SI SK SM')
const SIGNED_CODE = /^([A-Z]{1,3})-\d{3,5}\b/
/** Postal codes with letters: of the United Kingdom and its islands, and of Canada. */
const GB_CODE = /\b(?:GIR|[A-Z]{1,2}\d[A-Z\d]?) \d[A-Z]{2}$/
const CA_CODE = /\b[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d$/

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

/**
 * Reads the country behind the last comma, slash or line break, or the last words, else before the first; telephone numbers and the like are passed over.
 * Names that states of the US share are not taken for countries, and a code of a state only with a large town of the country. Errs towards null.
 */
export function readPostalAddress(address: string): PostalAddress {
  const parts = cleanText(nameFlags(address))
    .split(/[,;/\n、，]+/)
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\d]/u.test(part) && !CONTACT.test(part))
  const lettered = parts.filter((part) => /\p{L}/u.test(part))
  const last = lettered.at(-1) ?? ''
  const [first = ''] = lettered
  const named =
    namedCountry(last) ?? countryOfCodes(parts) ?? (lettered.length > 1 ? firstCountry(first) : (countryAtStart(foldName(first)) ?? null))
  const town = parts.map(townCountry).findLast((code) => code !== null) ?? null
  const state = lettered.some((part) => stateCountryAtEnd(part) !== null)
  const po_box = PO_BOX.test(address)
  return {
    po_box,
    country: named,
    town_country: state || town === SEVERAL_COUNTRIES ? null : town,
    read: po_box || state || named !== null || town !== null,
  }
}

/** The country at the end of a part, numbers aside. */
function namedCountry(part: string): string | null {
  const words = part.split(/\s+/).filter((word) => !/\d/.test(word))
  const folded = words.map(foldName)
  for (let count = Math.min(words.length, NAME_WORDS); count > 0; count--) {
    const name = words.slice(-count).join(' ')
    const start = words.length - count
    const whole = start === 0
    const code = countryNamed(name)
    if (code === null || (!whole && (WORDS.has(foldName(name)) || isStreetName(folded, start, words.length)))) continue
    return folded[start - 1] === 'new' || code === 'GE' ? null : code
  }
  return null
}

/** The country before everything else, as in Russian, Chinese and Japanese addresses. Towns elsewhere are called Cuba, and Georgia is a state too. */
function firstCountry(part: string): string | null {
  const name = foldName(part)
  const code = /^[a-z]{1,3}$/.test(name) ? null : (countryByName(name) ?? countryByForeignName(name) ?? countryAtStart(name))
  return code === null || code === 'GE' || sanctionsHint(code)?.level === 'comprehensive' ? null : code
}

/** The country of a code at the end, of a sign before a postal code, or of a postal code with letters. */
function countryOfCodes(parts: readonly string[]): string | null {
  const last = parts.at(-1) ?? ''
  const alone = /^(?:\d[\d -]* )?([A-Z]{2,3})$/.exec(last)?.[1]
  const code = alone ?? /\s([A-Z]{2})$/.exec(last)?.[1]
  const country = code === undefined ? null : countryByName(code.toLowerCase())
  if (code !== undefined && country !== null) {
    const town = parts.map((part) => townCountry(part.replace(/\s[A-Z]{2}$/, ''))).includes(country)
    const certain = alone !== undefined && (code.length > 2 || (!isStateCode(code) && !DIRECTIONS.has(code)))
    if (certain || town) return country
  }
  for (const part of parts) {
    const sign = SIGNED_CODE.exec(part)?.[1] ?? ''
    if (POSTAL_SIGNS[sign] !== undefined || POSTAL_CODES.has(sign)) return POSTAL_SIGNS[sign] ?? sign
    if (GB_CODE.test(part)) return 'GB'
    if (CA_CODE.test(part)) return 'CA'
  }
  return null
}

/** A short number at the end is that of a house. */
const HOUSE_NUMBER = /^\d{1,3}[a-z]?$/

/** The country of a large town that a part names, numbers aside; in a part with a number also at its end. */
function townCountry(part: string): string | null {
  const words = foldName(part).split(' ')
  if (HOUSE_NUMBER.test(words.at(-1) ?? '')) return null
  const named = words.filter((word) => !/\d/.test(word))
  const whole = worldTowns().get(named.join(' '))
  if (whole !== undefined || named.length === words.length) return whole ?? null
  for (let count = Math.min(TOWN_WORDS, named.length); count > 0; count--) {
    const start = named.length - count
    const found = worldTowns().get(named.slice(-count).join(' '))
    if (found !== undefined && !isStreetName(named, start, named.length)) return found
  }
  return null
}
