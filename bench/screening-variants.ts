/**
 * Variants of listed names as people write them, and names that are on no list: made without any code of the matcher, so that the measurement does not
 * repeat its rules. Everything follows from a seed.
 */

/** Mulberry32: numbers from 0 to 1, the same on every machine. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export type VariantKind =
  | 'exact'
  | 'typo'
  | 'word order'
  | 'transliteration'
  | 'other script'
  | 'initial'
  | 'middle left out'
  | 'legal form'
  | 'spacing'

export interface Variant {
  kind: VariantKind
  text: string
}

type Random = () => number
const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('')

const partsOf = (name: string): string[] =>
  name
    .replace(/,/g, ' ')
    .split(/\s+/)
    .filter((part) => part !== '')
const long = (parts: readonly string[], letters: number) =>
  parts.map((part, index) => ({ part, index })).filter(({ part }) => part.replace(/[^\p{L}]/gu, '').length >= letters)

/** One letter replaced, left out, doubled or exchanged with its neighbour, in a word of five letters or more. */
function typo(name: string, random: Random): string | null {
  const parts = partsOf(name)
  const chosen = pick(random, long(parts, 5))
  if (chosen === undefined) return null
  const letters = chosen.part.split('')
  const at = 1 + Math.floor(random() * (letters.length - 2))
  const letter = letters[at] ?? ''
  if (!/[a-z]/i.test(letter)) return null
  const kind = Math.floor(random() * 4)
  if (kind === 0) letters[at] = pick(random, LETTERS) ?? 'x'
  if (kind === 1) letters.splice(at, 1)
  if (kind === 2) letters.splice(at, 0, letter)
  if (kind === 3) [letters[at], letters[at + 1]] = [letters[at + 1] ?? '', letter]
  return parts.with(chosen.index, letters.join('')).join(' ')
}

function wordOrder(name: string, random: Random): string | null {
  const parts = partsOf(name)
  if (parts.length < 2) return null
  if (name.includes(',')) {
    const [last = '', first = ''] = name.split(',', 2)
    return `${first.trim()} ${last.trim()}`
  }
  const turn = 1 + Math.floor(random() * (parts.length - 1))
  return [...parts.slice(turn), ...parts.slice(0, turn)].join(' ')
}

/** Pairs of spellings that romanizations of Arabic, Persian and Russian use for one sound; each is tried in both directions. */
const SPELLINGS = [
  ['ou', 'u'],
  ['oo', 'u'],
  ['ee', 'i'],
  ['kh', 'h'],
  ['q', 'k'],
  ['ei', 'ay'],
  ['ai', 'ay'],
  ['y', 'i'],
  ['ie', 'iye'],
  ['ii', 'y'],
  ['iy', 'y'],
  ['ks', 'x'],
  ['f', 'ph'],
  ['ss', 's'],
  ['mm', 'm'],
  ['ll', 'l'],
  ['v', 'w'],
  ['ov', 'off'],
  ['ya', 'ia'],
  ['yu', 'iu'],
  ['c', 'k'],
  ['sh', 'sch'],
  ['ah', 'a'],
  ['e', 'a'],
  ['o', 'u'],
] as const

function transliteration(name: string, random: Random): string | null {
  const lower = partsOf(name.toLowerCase()).join(' ')
  const usable = SPELLINGS.flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]).filter(([from = '']) => new RegExp(`\\p{L}${from}|${from}\\p{L}`, 'u').test(lower))
  const [from, to] = pick(random, usable) ?? []
  if (from === undefined || to === undefined) return null
  const places = [...lower.matchAll(new RegExp(from, 'g'))].map(({ index }) => index)
  const at = pick(random, places) ?? 0
  return lower.slice(0, at) + to + lower.slice(at + from.length)
}

/** GOST 7.79 and common usage, longest first; good enough for names that came from Russian. */
const TO_CYRILLIC: readonly (readonly [string, string])[] = Object.entries({
  shch: 'щ',
  zh: 'ж',
  kh: 'х',
  ts: 'ц',
  ch: 'ч',
  sh: 'ш',
  yu: 'ю',
  ya: 'я',
  ye: 'е',
  yo: 'ё',
  iy: 'ий',
  a: 'а',
  b: 'б',
  v: 'в',
  g: 'г',
  d: 'д',
  e: 'е',
  z: 'з',
  i: 'и',
  y: 'ы',
  k: 'к',
  l: 'л',
  m: 'м',
  n: 'н',
  o: 'о',
  p: 'п',
  r: 'р',
  s: 'с',
  t: 'т',
  u: 'у',
  f: 'ф',
  h: 'х',
  c: 'к',
  j: 'дж',
  w: 'в',
  x: 'кс',
  q: 'к',
})

export function toCyrillic(name: string): string {
  let rest = partsOf(name.toLowerCase()).join(' ')
  let written = ''
  while (rest !== '') {
    const found = TO_CYRILLIC.find(([latin]) => rest.startsWith(latin))
    written += found?.[1] ?? rest[0]
    rest = rest.slice(found?.[0].length ?? 1)
  }
  return written
}

function initial(name: string, random: Random): string | null {
  const parts = partsOf(name)
  if (parts.length < 2) return null
  // The family name of "LAST, First" stays; elsewhere the last word does.
  const kept = name.includes(',') ? 0 : parts.length - 1
  const chosen = pick(
    random,
    long(parts, 3).filter(({ index }) => index !== kept),
  )
  return chosen === undefined ? null : parts.with(chosen.index, `${chosen.part[0]}.`).join(' ')
}

function middleLeftOut(name: string, random: Random): string | null {
  const parts = partsOf(name)
  if (parts.length < 3) return null
  const chosen = 1 + Math.floor(random() * (parts.length - 2))
  return parts.toSpliced(chosen, 1).join(' ')
}

function legalForm(name: string): string | null {
  const other = name.replace(/,?\s+(?:LTD|LIMITED|L\.?L\.?C|INC|CO|CORP|GMBH|S\.A)\.?$/i, '')
  return other === name ? `${name} Ltd.` : other
}

function spacing(name: string): string | null {
  const other = name.replace(/([a-z])-(?=[a-z])/i, '$1 ')
  return other === name ? name.replace(/([a-z]{3}) (?=[a-z]{3})/i, '$1-') : other
}

/** Variants of one name of a person or an organisation; those that the name does not allow are left out. */
export function variantsOf(name: string, kind: string, russian: boolean, random: Random): Variant[] {
  const made: [VariantKind, string | null][] = [
    ['exact', name.toLowerCase()],
    ['typo', typo(name, random)],
    ['word order', wordOrder(name, random)],
    ['transliteration', transliteration(name, random)],
    ['other script', russian && kind === 'person' ? toCyrillic(name) : null],
    ['initial', kind === 'person' ? initial(name, random) : null],
    ['middle left out', kind === 'person' ? middleLeftOut(name, random) : null],
    ['legal form', kind === 'organisation' ? legalForm(name) : null],
    ['spacing', spacing(name)],
  ]
  return made.flatMap(([of, text]) => (text === null || text === name ? [] : [{ kind: of, text }]))
}

const words = (text: string) => text.trim().split(/\s+/)

/** Common given names and family names of many countries, written by hand. */
const GIVEN = words(`
  James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica Thomas Karen Daniel Nancy Matthew Lisa Anthony
  Emma Olivia Noah Liam Lucas Sophie Hannah Jonas Felix Anna Lena Paul Marie Pierre Camille Julien Claire Hugo Lucia Pablo Carmen Diego Elena Javier Giulia Marco
  Francesca Luca Paolo Joao Ana Pedro Beatriz Piotr Katarzyna Tomasz Agnieszka Erik Ingrid Lars Astrid Ivan Olga Dmitri Natalia Sergei Tatiana Andrei Irina
  Mehmet Ayse Mustafa Fatma Ahmed Fatima Omar Aisha Hassan Layla Yusuf Mariam Ali Zainab Reza Maryam Arjun Priya Rahul Anjali Vikram Deepa Wei Li Jing Hiroshi
  Yuki Kenji Sakura Minjun Seoyeon Nguyen Linh Kofi Ama Chidi Ngozi Thabo Naledi Juan Maria Jose Luis Carlos
`)
const FAMILY = words(`
  Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Thomas Moore Martin Jackson Thompson White Harris Clark Lewis Robinson Walker Young King Wright
  Schneider Fischer Weber Meyer Wagner Becker Hoffmann Koch Richter Dubois Moreau Laurent Lefebvre Bernard Girard Rossi Ferrari Esposito Bianchi Romano Colombo Silva
  Santos Oliveira Pereira Costa Kowalski Nowak Wojcik Nielsen Hansen Johansson Lindqvist Ivanov Petrov Smirnov Kuznetsova Yilmaz Kaya Demir Hassan Ahmed Khan Hussain
  Malik Rahimi Hosseini Sharma Patel Singh Gupta Reddy Wang Chen Zhang Liu Tanaka Suzuki Yamamoto Kim Park Lee Tran Pham Mensah Okafor Dlamini Garcia Rodriguez
  Martinez Hernandez Lopez Gonzalez Fernandez
`)
const TRADE = words(
  'Bakery Plumbing Logistics Consulting Software Dental Garden Studio Catering Books Cycles Optics Textiles Ceramics Robotics Roofing Interiors Analytics',
)
const PLACE = words(
  'Riverside Oakwood Bluebell Northgate Silverlake Maplewood Stonebridge Harbourview Kingsway Larkspur Willowbrook Eastfield Highmoor Fernhill Ashford Brightwater',
)

/** Different names of persons that are common. */
export function commonNames(count: number, seed: number): string[] {
  const random = randomNumbers(seed)
  const names = new Set<string>()
  while (names.size < count) names.add(`${pick(random, GIVEN)} ${pick(random, FAMILY)}`)
  return [...names]
}

/** Different invented names of small companies. */
export function companyNames(count: number, seed: number): string[] {
  const random = randomNumbers(seed)
  const names = new Set<string>()
  while (names.size < count) {
    const start = random() < 0.5 ? pick(random, PLACE) : pick(random, FAMILY)
    const second = random() < 0.5 ? pick(random, PLACE) : `& ${pick(random, FAMILY)}`
    names.add(`${start} ${second} ${pick(random, TRADE)} ${pick(random, ['Ltd', 'GmbH', 'Inc.', 'LLC', 'S.A.', ''])}`.trim())
  }
  return [...names]
}
