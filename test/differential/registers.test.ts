import { test } from 'node:test'
import states from '../../data/gst-states.json' with { type: 'json' }
import eins from '../../data/ein-prefixes.json' with { type: 'json' }
import { isAbn } from '../../src/pure/checks/abn.ts'
import { isCnpj } from '../../src/pure/checks/cnpj.ts'
import { isEin } from '../../src/pure/checks/ein.ts'
import { isGstin } from '../../src/pure/checks/gstin.ts'
import { isIfsc } from '../../src/pure/checks/ifsc.ts'
import { isJapanCorp } from '../../src/pure/checks/japan-corp.ts'
import { isKraPin } from '../../src/pure/checks/kra-pin.ts'
import { isPan } from '../../src/pure/checks/pan.ts'
import { isRfc } from '../../src/pure/checks/rfc.ts'
import { isUaeTrn } from '../../src/pure/checks/uae-trn.ts'
import { isUscc } from '../../src/pure/checks/uscc.ts'
import type { Random } from '../fuzz/random.ts'
import { stdnumTakes } from '../support/check-properties.ts'
import { ALNUM, compare, DIGITS, draw, LETTERS } from '../support/differential.ts'
import { abnPair, cnpjDigits, gstinUnit, japanDigit, rfcUnit, USCC_UNITS, usccUnit } from '../support/differential-sums.ts'

const SEPARATORS = /[ -]/g

test('ABN', () => {
  const make = (random: Random) => {
    const rest = draw(random, DIGITS, 9)
    return abnPair(rest) + rest
  }
  const standard = (text: string) => /^[0-9]{11}$/.test(text) && abnPair(text.slice(2)) === text.slice(0, 2)
  compare({
    name: 'abn',
    ours: isAbn,
    make,
    alphabet: DIGITS,
    separators: SEPARATORS,
    oracles: {
      'Australian Business Register': { judge: standard, allowed: [] },
      stdnum: { judge: (text) => stdnumTakes('AU', 'abn', text), allowed: [] },
    },
  })
})

test('CNPJ', () => {
  const make = (random: Random) => {
    const free = draw(random, random.chance(0.5) ? DIGITS : ALNUM, 12)
    return free + cnpjDigits(free)
  }
  const standard = (text: string) => /^[0-9A-Z]{12}[0-9]{2}$/.test(text) && cnpjDigits(text.slice(0, 12)) === text.slice(12)
  const repeated = (text: string) => /^(.)\1*$/.test(text)
  compare({
    name: 'cnpj',
    ours: isCnpj,
    make,
    near: () => '0'.repeat(14),
    alphabet: ALNUM,
    separators: /[ ./-]/g,
    oracles: {
      'Receita Federal': { judge: (text) => standard(text) && !repeated(text), allowed: [] },
      stdnum: {
        judge: (text) => stdnumTakes('BR', 'cnpj', text),
        allowed: [{ name: 'all zeros', ours: false, holds: (text) => /^0+$/.test(text) }],
      },
    },
  })
})

test('USCC', () => {
  const provinces = '11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65'.split(' ')
  const kinds = '11 12 13 19 21 29 31 32 33 34 35 39 41 49 51 52 53 59 61 62 69 71 72 79 81 89 91 92 93 A1 A9 N1 N2 N3 N9 Y1'.split(' ')
  const make = (random: Random) => {
    const free = random.pick(kinds) + random.pick(provinces) + draw(random, DIGITS, 4) + draw(random, USCC_UNITS, 9)
    return free + usccUnit(free)
  }
  const standard = (text: string) => new RegExp(`^[${USCC_UNITS}]{18}$`).test(text) && usccUnit(text.slice(0, 17)) === text.slice(17)
  compare({
    name: 'uscc',
    ours: isUscc,
    make,
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: {
      'GB 32100': { judge: standard, allowed: [{ name: 'division or authority', ours: false, holds: (text) => !isNamed(text, kinds) }] },
      stdnum: {
        judge: (text) => stdnumTakes('CN', 'uscc', text),
        allowed: [
          { name: 'check character 0', ours: true, holds: (text) => text.endsWith('0') },
          { name: 'authorities A, N and Y', ours: true, holds: (text) => /^[ANY]/.test(text) },
        ],
      },
    },
  })
})

/** Authority and kind that the scheme names, six digits of a division. */
function isNamed(text: string, kinds: readonly string[]): boolean {
  return kinds.includes(text.slice(0, 2)) && /^..[0-9]{6}/.test(text)
}

test('corporate number of Japan', () => {
  const make = (random: Random) => {
    const base = draw(random, DIGITS, 12)
    return japanDigit(base) + base
  }
  const standard = (text: string) => /^[1-9][0-9]{12}$/.test(text) && japanDigit(text.slice(1)) === text.charAt(0)
  compare({
    name: 'japan-corp',
    ours: isJapanCorp,
    make,
    alphabet: DIGITS,
    separators: SEPARATORS,
    oracles: {
      'National Tax Agency': { judge: standard, allowed: [] },
      stdnum: { judge: (text) => stdnumTakes('JP', 'cn', text), allowed: [] },
    },
  })
})

const HOLDERS = 'ABCFGHJLPT'

function makePan(random: Random): string {
  return `${draw(random, LETTERS, 3)}${draw(random, HOLDERS, 1)}${draw(random, LETTERS, 1)}${1 + random.below(9)}${draw(random, DIGITS, 3)}${draw(random, LETTERS, 1)}`
}

test('PAN', () => {
  const standard = (text: string) => /^[A-Z]{3}[ABCEFGHJKLPT][A-Z](?!0000)[0-9]{4}[A-Z]$/.test(text)
  compare({
    name: 'pan',
    ours: isPan,
    make: makePan,
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: {
      'Income Tax Department': { judge: standard, allowed: [] },
      stdnum: {
        judge: (text) => stdnumTakes('IN', 'pan', text),
        allowed: [{ name: 'holder E', ours: true, holds: (text) => text.charAt(3) === 'E' }],
      },
    },
  })
})

test('GSTIN', () => {
  const registers = states.rows.filter(({ code }) => code !== '96').map(({ code }) => code)
  const sums = (text: string) => gstinUnit(text.slice(0, 14)) === text.slice(14)
  const shape = /^[0-9]{2}[A-Z]{3}[ABCEFGHJKLPT][A-Z](?!0000)[0-9]{4}[A-Z][1-9A-Z][Z][0-9A-Z]$/
  const standard = (text: string) => shape.test(text) && sums(text) && registers.includes(text.slice(0, 2))
  compare({
    name: 'gstin',
    ours: isGstin,
    make: (random) => {
      const free = `${random.pick(registers)}${makePan(random)}${draw(random, ALNUM.slice(1), 1)}Z`
      return free + gstinUnit(free)
    },
    near: (random) => {
      const free = `${draw(random, DIGITS, 2)}${makePan(random)}${draw(random, ALNUM, 1)}${draw(random, 'CDZ', 1)}`
      return free + gstinUnit(free)
    },
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: {
      CBIC: { judge: standard, allowed: [{ name: 'special types', ours: true, holds: (text) => text.charAt(13) !== 'Z' }] },
      stdnum: {
        judge: (text) => stdnumTakes('IN', 'gstin', text),
        allowed: [
          { name: 'states after 37', ours: true, holds: (text) => /^(38|97|99)/.test(text) },
          { name: 'special types', ours: true, holds: (text) => text.charAt(13) !== 'Z' },
        ],
      },
    },
  })
})

test('KRA PIN', () => {
  const standard = (text: string) => /^[AP][0-9]{9}[A-Z]$/.test(text)
  compare({
    name: 'kra-pin',
    ours: isKraPin,
    make: (random) => draw(random, 'AP', 1) + draw(random, DIGITS, 9) + draw(random, LETTERS, 1),
    alphabet: `${ALNUM}|`,
    separators: SEPARATORS,
    oracles: {
      'Kenya Revenue Authority': { judge: standard, allowed: [] },
      stdnum: {
        judge: (text) => stdnumTakes('KE', 'pin', text),
        allowed: [{ name: 'a bar in front', ours: false, holds: (text) => text.startsWith('|') }],
      },
    },
  })
})

test('RFC, strictly', () => {
  const shape = /^[A-ZÑ&]{3,4}[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[1-9A-NP-V][1-9A-NP-Z][0-9A]$/
  const isByRule = (text: string) => shape.test(text) && rfcUnit(text.slice(0, -1)) === text.slice(-1)
  const date = (random: Random) =>
    [random.below(100), 1 + random.below(12), 1 + random.below(28)].map((part) => String(part).padStart(2, '0')).join('')
  compare({
    name: 'rfc',
    ours: (text) => isRfc(text, true),
    make: (random) => {
      const name = `${draw(random, LETTERS, 1)}${draw(random, 'BCDFGHJKLMNPQRSTVWXYZ', random.chance(0.5) ? 3 : 2)}`
      const free = `${name}${date(random)}${draw(random, '123456789ABCDEFGHIJKLMNPQRSTUV', 1)}${draw(random, '123456789ABCDEFGHIJKLMNPQRSTUVWXYZ', 1)}`
      return free + rfcUnit(free)
    },
    near: (random) => {
      const name = random.pick(['CACA', 'BUEI', 'MAMO', draw(random, LETTERS, 4)])
      const free = `${name}${draw(random, DIGITS, 2)}${random.pick(['0229', '0230', '0431', '1231'])}${draw(random, '123456789', 2)}`
      return free + rfcUnit(free)
    },
    alphabet: `${ALNUM}Ñ&`,
    separators: SEPARATORS,
    oracles: {
      SAT: { judge: isByRule, allowed: [{ name: 'dates and words', ours: false, holds: (text) => isByRule(text) }] },
      stdnum: {
        judge: (text) => stdnumTakes('MX', 'rfc', text),
        allowed: [
          { name: 'the letter O in the homoclave', ours: false, holds: (text) => text.slice(-3, -1).includes('O') },
          { name: 'another rule for the check character', ours: false, holds: (text) => rfcUnit(text.slice(0, -1)) !== text.slice(-1) },
        ],
      },
    },
  })
})

test('EIN', () => {
  const assigned = eins.rows.map(({ prefix }) => prefix)
  const standard = (text: string) => /^[0-9]{9}$/.test(text) && assigned.includes(text.slice(0, 2))
  compare({
    name: 'ein',
    ours: isEin,
    make: (random) => random.pick(assigned) + draw(random, DIGITS, 7),
    alphabet: DIGITS,
    separators: SEPARATORS,
    oracles: { IRS: { judge: standard, allowed: [] }, stdnum: { judge: (text) => stdnumTakes('US', 'ein', text), allowed: [] } },
  })
})

test('IFSC and TRN, which only a form tells', () => {
  compare({
    name: 'ifsc',
    ours: isIfsc,
    make: (random) => `${draw(random, LETTERS, 4)}0${draw(random, ALNUM, 6)}`,
    alphabet: ALNUM,
    separators: SEPARATORS,
    oracles: { 'Reserve Bank of India': { judge: (text) => /^[A-Z]{4}0[0-9A-Z]{6}$/.test(text), allowed: [] } },
  })
  compare({
    name: 'uae-trn',
    ours: isUaeTrn,
    make: (random) => `100${draw(random, DIGITS, 12)}`,
    alphabet: DIGITS,
    separators: SEPARATORS,
    oracles: { 'Federal Tax Authority': { judge: (text) => /^100[0-9]{12}$/.test(text), allowed: [] } },
  })
})
