/** The form of a credit code: what was copied wrong is found before it is looked up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { creditCode, readCreditCode } from '../../src/pure/credits/credits.ts'
import { runs, SEED } from '../support/counts.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PARAMETERS = { seed: SEED, numRuns: runs(100, 2_000) }
const random = fc.stringMatching(/^[0-9a-f]{40}$/)

test('the code is Crockford base 32 of the random bits, and a check character', () => {
  assert.equal(creditCode('0'.repeat(40)), `ac_${'0'.repeat(33)}`)
  // 160 ones are 32 times 31, which is z.
  assert.match(creditCode('f'.repeat(40)), /^ac_z{32}[0-9a-z]$/)
  // The last 5 bits are 1: the body ends in 1, which counts x, written 2.
  assert.equal(creditCode(`${'0'.repeat(39)}1`), `ac_${'0'.repeat(31)}12`)
  // One place further up it counts x², 4; and 16 there is x⁴ · x² = x⁶ = x · x⁵ = x³ + x, 10.
  assert.equal(creditCode(`${'0'.repeat(38)}20`), `ac_${'0'.repeat(30)}104`)
  assert.equal(creditCode(`${'0'.repeat(37)}200`), `ac_${'0'.repeat(30)}g0a`)
})

test('however it is written, the same code is read', () => {
  fc.assert(
    fc.property(random, (hex) => {
      const code = creditCode(hex)
      assert.equal(readCreditCode(code), code)
      assert.equal(readCreditCode(` ${code.toUpperCase()} `), code)
      assert.equal(readCreditCode(`ac_${(code.slice(3).match(/.{1,4}/g) ?? []).join('-')}`), code)
      assert.equal(readCreditCode(`ac_${code.slice(3).replaceAll('0', 'O').replaceAll('1', 'l')}`), code)
    }),
    PARAMETERS,
  )
})

test('one wrong character, and two neighbours that changed places, are always found', () => {
  fc.assert(
    fc.property(random, fc.nat(32), fc.nat(31), (hex, place, other) => {
      const code = creditCode(hex)
      const at = 3 + place
      const wrong = code.slice(0, at) + ALPHABET[other] + code.slice(at + 1)
      assert.equal(readCreditCode(wrong), wrong === code ? code : null)
      const swapped = at + 1 < code.length ? code.slice(0, at) + code[at + 1] + code[at] + code.slice(at + 2) : code
      assert.equal(readCreditCode(swapped), swapped === code ? code : null)
    }),
    PARAMETERS,
  )
})

test('what is no code is none, however long', () => {
  for (const text of [
    '',
    'ac_',
    'code',
    `ac_${'0'.repeat(32)}`,
    `ac_${'u'.repeat(33)}`,
    `xx_${'0'.repeat(33)}`,
    `ac_${'0'.repeat(34)}`,
    ' '.repeat(1e6),
  ])
    assert.equal(readCreditCode(text), null)
})
