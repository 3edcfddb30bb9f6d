/**
 * What kind of holder the characters of a number point to, in words; null when they tell nothing. Registers move entities between kinds
 * without a new number, so this is a hint, never a legal form. Sources as in the files of the rules.
 */
export function entityHint(country: string, number: string, scheme: string | null): string | null {
  return HINTS[country]?.(number, scheme ?? '') ?? null
}

type Hint = (number: string, scheme: string) => string | null

const PERSON = 'natural person'
const LEGAL = 'legal entity'

const SPANISH: Readonly<Record<string, string>> = {
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

/** The longest beginning decides. */
const PORTUGUESE: readonly (readonly [start: string, hint: string])[] = [
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

const SWEDISH: Readonly<Record<string, string>> = {
  1: 'estate of a deceased person',
  2: 'state, region, municipality or parish',
  3: 'foreign company',
  5: 'limited company (aktiebolag)',
  6: 'simple partnership (enkelt bolag)',
  7: 'economic or tenant-owner association',
  8: 'non-profit association or foundation',
  9: 'trading or limited partnership',
}

function british(number: string): string | null {
  if (number.startsWith('GD')) return 'government department'
  if (number.startsWith('HA')) return 'health authority'
  // With 000 behind it a VAT number is the EORI number of its holder, of whatever kind.
  return number.length === 12 && !number.endsWith('000') ? 'branch of a group registration' : null
}

function dutch(_number: string, scheme: string): string | null {
  if (scheme === 'modulus 11') return 'legal entity, or an older number'
  return scheme === '' ? null : 'sole trader, number of 2020 or later'
}

const HINTS: Readonly<Record<string, Hint>> = {
  BG: (number, scheme) => (number.length === 9 ? LEGAL : scheme.endsWith('other') ? 'other registrant' : PERSON),
  CZ: (number) => (number.length === 8 ? LEGAL : PERSON),
  ES: (number) => SPANISH[number.charAt(0)] ?? 'natural person (DNI)',
  FR: (number) => (number.slice(2, 5) === '000' ? 'registered in Monaco' : null),
  GB: british,
  LT: (number) => (number.length === 9 ? LEGAL : 'natural person or temporary registration'),
  LV: (number) => (number.charAt(0) > '3' ? LEGAL : PERSON),
  NL: dutch,
  PT: (number) => PORTUGUESE.find(([start]) => number.startsWith(start))?.[1] ?? null,
  RO: (number) => (number.length === 13 ? PERSON : null),
  // A month stands in places three and four of a person's number, a digit above 1 in the third place of all others.
  SE: (number) => (number.charAt(2) < '2' ? 'natural person, sole trader' : (SWEDISH[number.charAt(0)] ?? null)),
  SK: (number) => (/^..[234789]/.test(number) ? null : PERSON),
  XI: british,
}
