import {
  MODULUS_11,
  modulus11,
  modulus11Remainder,
  nonzeroStart,
  ruleForLength,
  type VatRule,
  modulus10,
  isoModulus11_10,
} from './calculations.ts'
import {
  BULGARIA,
  CZECHIA,
  LATVIA,
  ROMANIA,
  SLOVAKIA,
  AUSTRIA,
  BELGIUM,
  CYPRUS,
  FRANCE,
  IRELAND,
  ITALY,
  LITHUANIA,
  LUXEMBOURG,
  MALTA,
  NETHERLANDS,
  SLOVENIA,
  SPAIN,
  SWEDEN,
  UNITED_KINGDOM,
} from './special-rules.ts'

const PERSON = 'natural person'
const LEGAL = 'legal entity'

/** Kinds of holder by the first character of a Spanish number. */
const SPANISH_KINDS: Readonly<Record<string, string>> = {
  A: 'public limited company (sociedad anónima)',
  B: 'limited company (sociedad limitada)',
  C: 'general partnership',
  D: 'limited partnership',
  E: 'community of property',
  F: 'cooperative',
  G: 'association or foundation',
  H: 'homeowners’ association',
  J: 'civil company',
  K: 'natural person under 14',
  L: 'natural person living abroad',
  M: 'natural person, foreigner without NIE',
  N: 'foreign entity',
  P: 'local authority',
  Q: 'public body',
  R: 'religious body',
  S: 'state or regional government',
  U: 'temporary joint venture (UTE)',
  V: 'other entity',
  W: 'establishment of a non-resident entity',
  X: 'natural person, foreigner (NIE)',
  Y: 'natural person, foreigner (NIE)',
  Z: 'natural person, foreigner (NIE)',
}

/** Kinds of holder by the first digits of a Portuguese number; the longest match comes first. */
const PORTUGUESE_KINDS: readonly (readonly [start: string, hint: string])[] = [
  ['45', 'natural person, non-resident'],
  ['70', 'undivided estate'],
  ['71', 'legal entity, non-resident'],
  ['72', 'investment fund'],
  ['74', 'undivided estate'],
  ['75', 'undivided estate'],
  ['78', 'non-resident, VAT refund'],
  ['90', 'condominium or civil company'],
  ['91', 'condominium or civil company'],
  ['98', 'non-resident without establishment'],
  ['99', 'civil company without personality'],
  ['1', PERSON],
  ['2', PERSON],
  ['3', PERSON],
  ['5', 'company'],
  ['6', 'public body'],
  ['8', 'sole trader, old series'],
]

/** Kinds of holder by the first digit of a Swedish number. */
const SWEDISH_KINDS: Readonly<Record<string, string>> = {
  1: 'estate of a deceased person',
  2: 'state, region, municipality or parish',
  3: 'foreign company',
  5: 'limited company (aktiebolag)',
  6: 'simple partnership (enkelt bolag)',
  7: 'economic or tenant-owner association',
  8: 'non-profit association or foundation',
  9: 'trading or limited partnership',
}

function britishHolder(number: string): string | null {
  if (number.startsWith('GD')) return 'government department'
  if (number.startsWith('HA')) return 'health authority'
  // A VAT number with 000 behind it is the EORI number of its holder, of any kind.
  return number.length === 12 && !number.endsWith('000') ? 'branch of a group registration' : null
}

function dutchHolder(_number: string, scheme: string): string | null {
  if (scheme === 'modulus 11') return 'legal entity, or an older number'
  return scheme === '' ? null : 'sole trader, number of 2020 or later'
}

/*
 * Every VAT country: the format in the Commission's list, the names, the rule of the check digits and the kinds of holder, in one row by the
 * code in front of the numbers. A longer rule is in special-rules.ts. BMF is "Prüfziffernberechnung",
 * the Austrian finance ministry's description of the check digits of all member states, also the source of rules without another; for IT the
 * decree of 23 December 1976 on the partita IVA; for SE Skatteverket SKV 709.
 */

export interface VatCountryRow {
  name: string
  /** Codes in front of numbers, where they are not the country code. */
  prefixes?: readonly string[]
  /** False for countries outside the EU. */
  eu_member?: false
  /** The code of the Commission's VIES service, where it is not that of an EU member. */
  vies?: string
  /** Notation of the Commission's list: 9 a digit, L a letter, X a letter or digit, S a letter, digit, + or *; others as they are. */
  formats: readonly string[]
  /** The formats in words. */
  structure: string
  /** The country's names of the tax and of the number. */
  tax_name: string
  number_name: string
  /** Print form, # for each character of the number; without it, the number follows its prefix directly. */
  print?: string
  /** Endings of numbers, such as MVA. */
  suffixes?: readonly string[]
  rule: VatRule
  /**
   * Kind of holder that the characters indicate; null for none. `scheme` is the calculation that was valid, or ''. Registers move entities
   * between kinds without a new number, so this is a hint, never a legal form. Sources as for the rules.
   */
  holderKind?(number: string, scheme: string): string | null
}

/** By country code, EL for Greece. */
export const VAT_COUNTRY_ROWS: Readonly<Record<string, VatCountryRow>> = {
  AT: {
    name: 'Austria',
    formats: ['U99999999'],
    structure: 'U and 8 digits',
    tax_name: 'Umsatzsteuer (USt)',
    number_name: 'Umsatzsteuer-Identifikationsnummer (UID)',
    rule: AUSTRIA,
  },
  BE: {
    name: 'Belgium',
    formats: ['9999999999'],
    structure: '10 digits, the first 0 or 1',
    tax_name: 'btw / TVA / MwSt',
    number_name: 'btw-nummer / numéro de TVA',
    print: 'BE ####.###.###',
    rule: BELGIUM,
  },
  BG: {
    name: 'Bulgaria',
    formats: ['999999999', '9999999999'],
    structure: '9 or 10 digits',
    tax_name: 'ДДС (DDS)',
    number_name: 'Идентификационен номер по ДДС',
    rule: BULGARIA,
    holderKind: (number, scheme) => (number.length === 9 ? LEGAL : scheme.endsWith('other') ? 'other registrant' : PERSON),
  },
  CH: {
    name: 'Switzerland',
    prefixes: ['CHE'],
    eu_member: false,
    formats: ['999999999'],
    structure: 'CHE and 9 digits',
    tax_name: 'MWST / TVA / IVA',
    number_name: 'MWST-Nummer / numéro TVA / numero IVA (UID)',
    print: 'CHE-###.###.###',
    suffixes: ['MWST', 'TVA', 'IVA', 'TPV'],
    // Swiss UID register, technical description.
    rule: ruleForLength(9, modulus11(MODULUS_11, [5, 4, 3, 2, 7, 6, 5, 4])),
  },
  CY: {
    name: 'Cyprus',
    formats: ['99999999L'],
    structure: '8 digits and a letter',
    tax_name: 'ΦΠΑ (FPA)',
    number_name: 'Αριθμός Εγγραφής ΦΠΑ',
    rule: CYPRUS,
  },
  CZ: {
    name: 'Czechia',
    formats: ['99999999', '999999999', '9999999999'],
    structure: '8, 9 or 10 digits',
    tax_name: 'DPH',
    number_name: 'daňové identifikační číslo (DIČ)',
    rule: CZECHIA,
    holderKind: (number) => (number.length === 8 ? LEGAL : PERSON),
  },
  DE: {
    name: 'Germany',
    formats: ['999999999'],
    structure: '9 digits, the first not 0',
    tax_name: 'Umsatzsteuer (USt)',
    number_name: 'Umsatzsteuer-Identifikationsnummer (USt-IdNr.)',
    // ISO 7064:2003, MOD 11,10.
    rule: nonzeroStart(9, isoModulus11_10(8)),
  },
  DK: {
    name: 'Denmark',
    formats: ['99999999'],
    structure: '8 digits, the first not 0',
    tax_name: 'moms',
    number_name: 'momsnummer (SE-nr. or CVR-nr.)',
    print: 'DK ## ## ## ##',
    // BMF.
    rule: nonzeroStart(8, modulus11(MODULUS_11, [2, 7, 6, 5, 4, 3, 2])),
  },
  EE: {
    name: 'Estonia',
    formats: ['999999999'],
    structure: '9 digits',
    tax_name: 'käibemaks (KM)',
    number_name: 'käibemaksukohustuslase number (KMKR)',
    // BMF.
    rule: ruleForLength(9, modulus10([3, 7, 1, 3, 7, 1, 3, 7])),
  },
  EL: {
    name: 'Greece',
    prefixes: ['EL', 'GR'],
    formats: ['999999999'],
    structure: '9 digits',
    tax_name: 'ΦΠΑ (FPA)',
    number_name: 'Αριθμός Φορολογικού Μητρώου (ΑΦΜ)',
    // BMF.
    rule: ruleForLength(9, modulus11Remainder(MODULUS_11, [256, 128, 64, 32, 16, 8, 4, 2], 0)),
  },
  ES: {
    name: 'Spain',
    formats: ['X9999999X'],
    structure: '9 characters, a letter first, last or both',
    tax_name: 'IVA',
    number_name: 'número de identificación fiscal (NIF)',
    rule: SPAIN,
    holderKind: (number) => SPANISH_KINDS[number.charAt(0)] ?? 'natural person (DNI)',
  },
  FI: {
    name: 'Finland',
    formats: ['99999999'],
    structure: '8 digits',
    tax_name: 'arvonlisävero (ALV)',
    number_name: 'arvonlisäveronumero (ALV-numero)',
    // BMF.
    rule: ruleForLength(8, modulus11(MODULUS_11, [7, 9, 10, 5, 8, 4, 2])),
  },
  FR: {
    name: 'France',
    formats: ['XX999999999'],
    structure: '2 letters or digits and 9 digits',
    tax_name: 'TVA',
    number_name: 'numéro de TVA intracommunautaire',
    print: 'FR ## ### ### ###',
    rule: FRANCE,
    holderKind: (number) => (number.slice(2, 5) === '000' ? 'registered in Monaco' : null),
  },
  GB: {
    name: 'United Kingdom',
    eu_member: false,
    formats: ['999999999', '999999999999', 'GD999', 'HA999'],
    structure: '9 or 12 digits, or GD or HA and 3 digits',
    tax_name: 'VAT',
    number_name: 'VAT registration number',
    rule: UNITED_KINGDOM,
    holderKind: britishHolder,
  },
  HR: {
    name: 'Croatia',
    formats: ['99999999999'],
    structure: '11 digits',
    tax_name: 'PDV',
    number_name: 'PDV identifikacijski broj (OIB)',
    // ISO 7064:2003, MOD 11,10.
    rule: ruleForLength(11, isoModulus11_10(10)),
  },
  HU: {
    name: 'Hungary',
    formats: ['99999999'],
    structure: '8 digits',
    tax_name: 'áfa',
    number_name: 'közösségi adószám',
    // BMF.
    rule: ruleForLength(8, modulus10([9, 7, 3, 1, 9, 7, 3])),
  },
  IE: {
    name: 'Ireland',
    formats: ['9S99999L', '9999999LL'],
    structure: '7 digits and 1 or 2 letters, or the old form 9S99999L',
    tax_name: 'VAT (CBL)',
    number_name: 'VAT registration number',
    rule: IRELAND,
  },
  IT: {
    name: 'Italy',
    formats: ['99999999999'],
    structure: '11 digits',
    tax_name: 'IVA',
    number_name: 'partita IVA',
    rule: ITALY,
  },
  LT: {
    name: 'Lithuania',
    formats: ['999999999', '999999999999'],
    structure: '9 or 12 digits',
    tax_name: 'PVM',
    number_name: 'PVM mokėtojo kodas',
    rule: LITHUANIA,
    holderKind: (number) => (number.length === 9 ? LEGAL : 'natural person or temporary registration'),
  },
  LU: {
    name: 'Luxembourg',
    formats: ['99999999'],
    structure: '8 digits',
    tax_name: 'TVA',
    number_name: "numéro d'identification TVA",
    rule: LUXEMBOURG,
  },
  LV: {
    name: 'Latvia',
    formats: ['99999999999'],
    structure: '11 digits',
    tax_name: 'PVN',
    number_name: 'PVN reģistrācijas numurs',
    rule: LATVIA,
    holderKind: (number) => (number.charAt(0) > '3' ? LEGAL : PERSON),
  },
  MT: {
    name: 'Malta',
    formats: ['99999999'],
    structure: '8 digits, the first not 0',
    tax_name: 'VAT (TVM)',
    number_name: 'VAT registration number',
    rule: MALTA,
  },
  NL: {
    name: 'Netherlands',
    formats: ['999999999B99'],
    structure: '9 digits, B and 2 digits',
    tax_name: 'btw',
    number_name: 'btw-identificatienummer',
    rule: NETHERLANDS,
    holderKind: dutchHolder,
  },
  NO: {
    name: 'Norway',
    eu_member: false,
    formats: ['999999999'],
    structure: '9 digits and MVA',
    tax_name: 'merverdiavgift (MVA)',
    number_name: 'organisasjonsnummer med MVA',
    print: 'NO ### ### ###',
    suffixes: ['MVA'],
    // Brønnøysundregistrene; OECD tax identification number sheet.
    rule: ruleForLength(9, modulus11(MODULUS_11, [3, 2, 7, 6, 5, 4, 3, 2])),
  },
  PL: {
    name: 'Poland',
    formats: ['9999999999'],
    structure: '10 digits',
    tax_name: 'VAT',
    number_name: 'numer identyfikacji podatkowej (NIP)',
    // OECD tax identification number sheet.
    rule: ruleForLength(10, modulus11Remainder(MODULUS_11, [6, 5, 7, 2, 3, 4, 5, 6, 7])),
  },
  PT: {
    name: 'Portugal',
    formats: ['999999999'],
    structure: '9 digits, the first not 0',
    tax_name: 'IVA',
    number_name: 'número de identificação fiscal (NIF)',
    print: 'PT ### ### ###',
    // OECD tax identification number sheet.
    rule: nonzeroStart(9, modulus11(MODULUS_11, [9, 8, 7, 6, 5, 4, 3, 2], 0)),
    holderKind: (number) => PORTUGUESE_KINDS.find(([start]) => number.startsWith(start))?.[1] ?? null,
  },
  RO: {
    name: 'Romania',
    formats: ['99', '999', '9999', '99999', '999999', '9999999', '99999999', '999999999', '9999999999', '9999999999999'],
    structure: '2 to 10 digits, or the 13 of a personal code',
    tax_name: 'TVA',
    number_name: 'cod de înregistrare în scopuri de TVA (CIF)',
    rule: ROMANIA,
    holderKind: (number) => (number.length === 13 ? PERSON : null),
  },
  SE: {
    name: 'Sweden',
    formats: ['999999999999'],
    structure: '12 digits, the last two 01 or more',
    tax_name: 'moms',
    number_name: 'momsregistreringsnummer',
    rule: SWEDEN,
    // The third digit of a person's number is below 2, since a month follows; all others have a higher one.
    holderKind: (number) => (number.charAt(2) < '2' ? 'natural person, sole trader' : (SWEDISH_KINDS[number.charAt(0)] ?? null)),
  },
  SI: {
    name: 'Slovenia',
    formats: ['99999999'],
    structure: '8 digits, the first not 0',
    tax_name: 'DDV',
    number_name: 'identifikacijska številka za DDV',
    rule: SLOVENIA,
  },
  SK: {
    name: 'Slovakia',
    formats: ['9999999999'],
    structure: '10 digits',
    tax_name: 'DPH',
    number_name: 'identifikačné číslo pre DPH (IČ DPH)',
    rule: SLOVAKIA,
    holderKind: (number) => (/^..[234789]/.test(number) ? null : PERSON),
  },
  XI: {
    name: 'Northern Ireland',
    eu_member: false,
    vies: 'XI',
    formats: ['999999999', '999999999999', 'GD999', 'HA999'],
    structure: '9 or 12 digits, or GD or HA and 3 digits',
    tax_name: 'VAT',
    number_name: 'VAT registration number',
    rule: UNITED_KINGDOM,
    holderKind: britishHolder,
  },
}

/** Characters that a position of a format takes: the values from `least` to `most`. */
export interface FormatCharacter {
  expected: string
  least: number
  most: number
}

const FORMAT_CHARACTERS: Readonly<Record<string, FormatCharacter>> = {
  9: { expected: 'a digit', least: 0, most: 9 },
  L: { expected: 'a letter', least: 10, most: 35 },
  X: { expected: 'a letter or a digit', least: 0, most: 35 },
  S: { expected: 'a letter, a digit, + or *', least: 0, most: 37 },
}

function formatCharacters(format: string): FormatCharacter[] {
  return Array.from(format, (unit) => {
    const literal = Number.parseInt(unit, 36)
    return FORMAT_CHARACTERS[unit] ?? { expected: unit, least: literal, most: literal }
  })
}

export interface VatCountry extends Omit<VatCountryRow, 'formats' | 'vies'> {
  code: string
  prefixes: readonly string[]
  vies: string | null
  suffixes: readonly string[]
  /** Formats by length. */
  formats: ReadonlyMap<number, readonly (readonly FormatCharacter[])[]>
}

function vatCountry([code, row]: [string, VatCountryRow]): VatCountry {
  const formats = row.formats.map(formatCharacters)
  const lengths = new Set(formats.map(({ length }) => length))
  return {
    ...row,
    code,
    prefixes: row.prefixes ?? [code],
    vies: row.vies ?? (row.eu_member === false ? null : code),
    suffixes: row.suffixes ?? [],
    formats: new Map(Array.from(lengths, (length) => [length, formats.filter((format) => format.length === length)])),
  }
}

export const VAT_COUNTRIES: readonly VatCountry[] = Object.entries(VAT_COUNTRY_ROWS).map(vatCountry)

/** By the first two letters of a number; both GR and EL are Greece. */
export const VAT_BY_LETTERS: ReadonlyMap<string, VatCountry> = new Map(
  VAT_COUNTRIES.flatMap((country) => country.prefixes.map((prefix) => [prefix.slice(0, 2), country] as const)),
)
