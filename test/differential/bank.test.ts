import { test } from 'node:test'
import { isValidBIC, isValidIBAN } from 'ibantools'
import validator from 'validator'
import registry from '../../data/iban-registry.json' with { type: 'json' }
import { isAba } from '../../src/pure/checks/aba.ts'
import { isBic } from '../../src/pure/checks/bic.ts'
import { COUNTRIES } from '../../src/pure/checks/countries.ts'
import { isIban } from '../../src/pure/checks/iban.ts'
import { isLei } from '../../src/pure/checks/lei.ts'
import { isLuhn } from '../../src/pure/checks/luhn.ts'
import type { Random } from '../fuzz/random.ts'
import { ALNUM, compare, DIGITS, draw, LETTERS } from '../support/differential.ts'
import { luhnDigit, weighted } from '../support/differential-sums.ts'
import { bigCheck97, bigRemainder97 } from '../support/mod97.ts'

const SPACES = /[ -]/g
const MEMBERS = registry.rows.filter((row) => row.registry)
const UNITS: Readonly<Record<string, string>> = { n: DIGITS, a: LETTERS, c: ALNUM }

/** The registry's words for a format, such as 4!n12!c, as a pattern. */
const SHAPES = new Map(
  MEMBERS.map(({ country: code, structure }) => {
    const body = structure.replace(
      /(\d+)!([nac])/g,
      (_, length: string, kind: string) => `[${kind === 'n' ? '0-9' : kind === 'a' ? 'A-Z' : '0-9A-Z'}]{${length}}`,
    )
    return [code, new RegExp(`^${code}[0-9]{2}${body}$`)]
  }),
)

/** Countries where a rule inside the account number binds every bank; it is held against its own vectors elsewhere. */
const NATIONAL = 'BA BE ES FR MC ME NO PT RS SI'.split(' ')

function country(text: string): string {
  return text.slice(0, 2)
}

/** Structure and remainder as registry and standard say, without anything national. */
function isByRegistry(text: string): boolean {
  return SHAPES.get(country(text))?.test(text) === true && bigRemainder97(text.slice(4) + text.slice(0, 4)) === 1 && !isAlias(text)
}

function isAlias(text: string): boolean {
  return /^..(00|01|99)/.test(text)
}

function within(...codes: string[]): (text: string) => boolean {
  return (text) => codes.includes(country(text))
}

function misshapen(...codes: string[]): (text: string) => boolean {
  return (text) => codes.includes(country(text)) && SHAPES.get(country(text))?.test(text) === false
}

function makeIban(random: Random, { country: code, structure }: { country: string; structure: string }): string {
  const bban = structure.replace(/(\d+)!([nac])/g, (_, length: string, kind: string) => draw(random, UNITS[kind] ?? '', Number(length)))
  return withCheck(code, bban)
}

/** Any country, whatever its national digits: kinds of characters mixed up, check digits that are 97 off, and two rare accounts. */
function nearIban(random: Random): string {
  if (random.chance(0.02)) return withCheck('NO', `${draw(random, DIGITS, 4)}00${draw(random, DIGITS, 5)}`)
  if (random.chance(0.02)) return withCheck('BA', aliased(draw(random, DIGITS, 14)))
  const row = random.pick(registry.rows)
  const made = makeIban(random, random.chance(0.2) ? { ...row, structure: row.structure.replaceAll('a', 'c') } : row)
  return random.chance(0.5) ? made : made.slice(0, 2) + asAlias(made.slice(2, 4)) + made.slice(4)
}

function withCheck(code: string, bban: string): string {
  return `${code}${bigCheck97(bban + code)}${bban}`
}

/** The check digits that leave the same remainder outside 02 to 98, or the given ones. */
function asAlias(pair: string): string {
  return { '97': '00', '98': '01', '02': '99' }[pair] ?? pair
}

/** The first number from here on whose national check digits have an alias, with that alias. */
function aliased(from: string): string {
  for (let number = BigInt(from); ; number++) {
    const free = String(number).padStart(14, '0')
    const pair = bigCheck97(free)
    if (asAlias(pair) !== pair) return free + asAlias(pair)
  }
}

const FREE = MEMBERS.filter((row) => !NATIONAL.includes(row.country))

test('IBAN', () => {
  compare({
    name: 'iban',
    ours: isIban,
    // One in five is an example of the registry, whose national digits hold.
    make: (random) => (random.chance(0.2) ? (random.pick(MEMBERS).example ?? '') : makeIban(random, random.pick(FREE))),
    near: nearIban,
    alphabet: ALNUM,
    separators: /[ .-]/g,
    oracles: {
      registry: { judge: isByRegistry, allowed: [{ name: 'national check digits', ours: false, holds: within(...NATIONAL) }] },
      ibantools: {
        judge: isValidIBAN,
        allowed: [
          { name: 'account part of PK and PS digits only', ours: true, holds: within('PK', 'PS') },
          { name: 'bank part of BY and DO letters only', ours: true, holds: within('BY', 'DO') },
          { name: 'bank part of GE, IE and VG of any kind', ours: false, holds: misshapen('GE', 'IE', 'VG') },
          { name: 'national rules that are warnings here', ours: true, holds: within(...'CZ EE HR HU MK PL SK'.split(' ')) },
          { name: 'NO accounts of group 00', ours: true, holds: (text) => /^NO[0-9]{6}00/.test(text) },
          { name: 'BA national check digits 97 off', ours: false, holds: within('BA') },
          { name: 'countries outside the registry', ours: false, holds: (text) => SHAPES.get(country(text)) === undefined },
        ],
      },
      validator: {
        judge: (text) => validator.isIBAN(text),
        allowed: [
          { name: 'countries not known', ours: true, holds: within(...'FK MN NI OM SO HN YE BI DJ RU LY SD'.split(' ')) },
          { name: 'shapes', ours: true, holds: within('ST', 'AZ', 'BY', 'DO', 'JO', 'PK') },
          { name: 'bank part of GE and SV of any kind', ours: false, holds: misshapen('GE', 'SV') },
          { name: 'check digits 00, 01, 99', ours: false, holds: isAlias },
          { name: 'national check digits', ours: false, holds: within(...NATIONAL) },
          { name: 'countries outside the registry', ours: false, holds: within('DZ', 'IR', 'MA', 'MZ') },
        ],
      },
    },
  })
})

const CODES = [...COUNTRIES.keys()]

test('BIC', () => {
  const standard = (text: string) => /^[0-9A-Z]{4}[A-Z]{2}[0-9A-Z]{2}([0-9A-Z]{3})?$/.test(text) && CODES.includes(text.slice(4, 6))
  const numeric = (text: string) => /[0-9]/.test(text.slice(0, 4))
  compare({
    name: 'bic',
    ours: isBic,
    make: (random) => {
      const prefix = draw(random, random.chance(0.8) ? LETTERS : ALNUM, 4)
      return prefix + random.pick(CODES) + draw(random, ALNUM, random.chance(0.5) ? 2 : 5)
    },
    alphabet: ALNUM,
    separators: SPACES,
    oracles: {
      'ISO 9362': { judge: standard, allowed: [] },
      ibantools: {
        judge: isValidBIC,
        allowed: [{ name: 'digits in the prefix', ours: true, holds: numeric }],
      },
      validator: { judge: (text) => validator.isBIC(text), allowed: [{ name: 'digits in the prefix', ours: true, holds: numeric }] },
    },
  })
})

test('LEI', () => {
  const standard = (text: string) => /^[0-9A-Z]{18}[0-9]{2}$/.test(text) && bigRemainder97(text) === 1 && !/(00|01|99)$/.test(text)
  const make = (random: Random) => {
    const free = draw(random, ALNUM, 18)
    return free + bigCheck97(free)
  }
  compare({
    name: 'lei',
    ours: isLei,
    make,
    alphabet: ALNUM,
    separators: SPACES,
    oracles: { 'ISO 17442': { judge: standard, allowed: [] } },
  })
})

test('Luhn', () => {
  const standard = (text: string) => /^[0-9]{2,}$/.test(text) && luhnDigit(text.slice(0, -1)) === text.slice(-1)
  compare({
    name: 'luhn',
    ours: (text) => isLuhn(text),
    make: (random) => {
      const free = draw(random, DIGITS, 1 + random.below(20))
      return free + luhnDigit(free)
    },
    alphabet: `${DIGITS}OIX`,
    separators: SPACES,
    oracles: {
      'ISO/IEC 7812-1': { judge: standard, allowed: [] },
      validator: {
        judge: (text) => validator.isLuhnNumber(text),
        allowed: [{ name: 'other characters are ignored', ours: false, holds: (text) => /[^0-9]/.test(text) || text.length < 2 }],
      },
    },
  })
})

test('ABA routing number', () => {
  const weights = [3, 7, 1, 3, 7, 1, 3, 7, 1]
  const completed = (free: string) => `${free}${(10 - (weighted(`${free}0`, weights) % 10)) % 10}`
  const inUse = (text: string) => /^(0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(text) && !/^0+$/.test(text)
  const sums = (text: string) => /^[0-9]{9}$/.test(text) && weighted(text, weights) % 10 === 0
  compare({
    name: 'aba',
    ours: isAba,
    make: (random) => {
      const free = random.pick(['00', '01', '12', '21', '32', '61', '72', '80']) + draw(random, DIGITS, 6)
      return completed(free.replace(/^0+$/, '02100002'))
    },
    near: (random) => (random.chance(0.1) ? '000000000' : completed(draw(random, DIGITS, 8))),
    alphabet: DIGITS,
    separators: SPACES,
    oracles: {
      'ABA routing number policy': { judge: (text) => sums(text) && inUse(text), allowed: [] },
      validator: {
        judge: (text) => validator.isAbaRouting(text),
        allowed: [{ name: 'all zeros', ours: false, holds: (text) => /^0+$/.test(text) }],
      },
    },
  })
})
