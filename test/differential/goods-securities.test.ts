import { test } from 'node:test'
import { parse } from 'isbn3'
import validator from 'validator'
import prefixes from '../../data/isin-prefixes.json' with { type: 'json' }
import { COUNTRIES } from '../../src/pure/checks/countries.ts'
import { isEan13 } from '../../src/pure/checks/ean13.ts'
import { isIsbn } from '../../src/pure/checks/isbn.ts'
import { isIsin } from '../../src/pure/checks/isin.ts'
import { isSedol } from '../../src/pure/checks/sedol.ts'
import { ALNUM, compare, DIGITS, draw } from '../support/differential.ts'
import { gs1Digit, isbn10Digit, isinDigit, weighted } from '../support/differential-sums.ts'

const SEPARATORS = /[ -]/g

test('ISBN', () => {
  const is13 = (text: string) => /^97(8|9(?!0))[0-9]{10}$/.test(text) && gs1Digit(text.slice(0, 12)) === text.slice(12)
  const is10 = (text: string) => /^[0-9]{9}[0-9X]$/.test(text) && isbn10Digit(text.slice(0, 9)) === text.slice(9)
  const isSbn = (text: string) => text.length === 9 && is10(`0${text}`)
  compare({
    name: 'isbn',
    ours: isIsbn,
    make: (random) => {
      const free = draw(random, DIGITS, 9)
      if (random.chance(0.4)) return free + isbn10Digit(free)
      if (random.chance(0.1)) return free.slice(1) + isbn10Digit(`0${free.slice(1)}`)
      const payload = random.chance(0.7) ? `978${free}` : `979${free.replace(/^0/, '1')}`
      return payload + gs1Digit(payload)
    },
    near: (random) => {
      const payload = random.pick(['9790', '9770']) + draw(random, DIGITS, 8)
      return payload + gs1Digit(payload)
    },
    alphabet: `${DIGITS}X`,
    separators: SEPARATORS,
    oracles: {
      'ISO 2108': { judge: (text) => is13(text) || is10(text) || isSbn(text), allowed: [] },
      validator: {
        judge: (text) => validator.isISBN(text),
        allowed: [
          { name: 'SBN of nine characters', ours: true, holds: isSbn },
          { name: 'ISMN', ours: false, holds: (text) => text.startsWith('9790') },
          { name: 'ISSN and other article numbers', ours: false, holds: (text) => text.length === 13 && !/^97[89]/.test(text) },
        ],
      },
      isbn3: {
        judge: (text) => parse(text)?.isValid === true,
        allowed: [
          { name: 'SBN of nine characters', ours: true, holds: isSbn },
          { name: 'registrant ranges that are not assigned', ours: true, holds: (text) => is13(text) || is10(text) },
        ],
      },
    },
  })
})

test('EAN-13', () => {
  const standard = (text: string) => /^[0-9]{13}$/.test(text) && gs1Digit(text.slice(0, 12)) === text.slice(12)
  compare({
    name: 'ean13',
    ours: isEan13,
    make: (random) => {
      const free = draw(random, DIGITS, 12)
      return free + gs1Digit(free)
    },
    alphabet: DIGITS,
    separators: SEPARATORS,
    oracles: {
      'GS1 General Specifications': { judge: standard, allowed: [] },
      validator: {
        judge: (text) => validator.isEAN(text),
        allowed: [{ name: 'other lengths', ours: false, holds: (text) => text.length === 8 || text.length === 14 }],
      },
    },
  })
})

test('ISIN', () => {
  const known = [...COUNTRIES.keys(), ...prefixes.rows.map(({ prefix }) => prefix)]
  const sums = (text: string) => /^[A-Z]{2}[0-9A-Z]{9}[0-9]$/.test(text) && isinDigit(text.slice(0, 11)) === text.slice(11)
  const unknown = (text: string) => !known.includes(text.slice(0, 2))
  compare({
    name: 'isin',
    ours: isIsin,
    make: (random) => {
      const free = random.pick(known) + draw(random, random.chance(0.5) ? DIGITS : ALNUM, 9)
      return free + isinDigit(free)
    },
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: {
      'ISO 6166': { judge: (text) => sums(text) && !unknown(text), allowed: [] },
      validator: { judge: (text) => validator.isISIN(text), allowed: [{ name: 'prefixes', ours: false, holds: unknown }] },
    },
  })
})

test('SEDOL', () => {
  const units = '0123456789BCDFGHJKLMNPQRSTVWXYZ'
  const letters = units.slice(10)
  const weights = [1, 3, 1, 7, 3, 9]
  const check = (free: string) => String((10 - (weighted(free, weights) % 10)) % 10)
  const shape = /^([0-9]{6}|[B-DF-HJ-NP-TV-Z][0-9B-DF-HJ-NP-TV-Z]{5})[0-9]$/
  const standard = (text: string) => shape.test(text) && check(text) === text.charAt(6)
  compare({
    name: 'sedol',
    ours: isSedol,
    make: (random) => {
      const free = random.chance(0.5) ? draw(random, DIGITS, 6) : draw(random, letters, 1) + draw(random, units, 5)
      return free.replace(/^0+$/, '026349') + check(free.replace(/^0+$/, '026349'))
    },
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: { 'London Stock Exchange': { judge: standard, allowed: [] } },
  })
})
