import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_CHARS, normalize, type NormalizeOptions } from '../../src/pure/checks/normalize.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, textNear } from '../support/identifiers.ts'

const IBAN: NormalizeOptions = { separators: ' -.', prefixes: ['IBAN'], field: 'iban' }
const NONE: NormalizeOptions = { separators: '', field: 'code' }

const near = textNear('0123456789ABCXYZ', 'abcz -.:–−\u00a0\u200b\u3000ＡｚıßſÇ٣०𝟘\ud835IBAN', 60)

test('each step does what its name says, and they are listed in their order', () => {
  const cases: [text: string, value: string, changes: string[]][] = [
    ['GB82WEST', 'GB82WEST', []],
    ['GB82 WEST', 'GB82WEST', ['stripped_spaces']],
    ['GB82\u00a0\u2009\u202f\u3000\tWEST\r\n', 'GB82WEST', ['stripped_spaces']],
    ['GB82-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0dWEST', 'GB82WEST', ['stripped_hyphens']],
    ['GB.82', 'GB82', ['stripped_dots']],
    ['gb82', 'GB82', ['uppercased']],
    ['ＧＢ８２', 'GB82', ['folded_fullwidth']],
    ['ｇｂ８２', 'GB82', ['folded_fullwidth', 'uppercased']],
    ['\u200e\ufeffGB\u00ad8\u20602\u202c', 'GB82', ['removed_invisible']],
    ['IBAN GB82', 'GB82', ['stripped_spaces', 'removed_prefix']],
    ['IBAN:GB82', 'GB82', ['removed_prefix']],
    [
      'iban: \u200bｇｂ-8.2',
      'GB82',
      ['removed_invisible', 'folded_fullwidth', 'stripped_spaces', 'stripped_hyphens', 'stripped_dots', 'uppercased', 'removed_prefix'],
    ],
  ]
  for (const [text, value, changes] of cases) {
    const read = normalize(text, IBAN)
    assert.deepEqual([read.value, read.changes, read.finding], [value, changes, null], JSON.stringify(text))
  }
})

test('only the separators of the identifier go, and only letters of ASCII are raised', () => {
  assert.equal(normalize('a-b.c d', NONE).value, 'A-B.C D')
  assert.equal(normalize('a—b c', NONE).value, 'A-B C')
  // Turkish dotless i, sharp s, long s, Kelvin sign: raising them by a locale would turn them into I, SS, S and K.
  assert.equal(normalize('ıßſ\u212aé', NONE).value, 'ıßſ\u212aé')
})

test('a prefix goes once, and never so that another pass would take more', () => {
  assert.equal(normalize('IBANIBANGB82', IBAN).value, 'IBANIBANGB82')
  assert.equal(normalize('IBA NGB82', IBAN).value, 'GB82')
  assert.equal(normalize('IBAN', IBAN).finding?.code, 'empty')
})

test('digits of other scripts are named and folded only in the suggestion', () => {
  // Digit values from the Unicode Character Database: Arabic-Indic, Devanagari, mathematical double-struck.
  for (const [text, suggestion] of [
    ['GB٨٢', 'GB82'],
    ['gb ८२', 'GB82'],
    ['𝟘𝟙𝟡A', '019A'],
    ['٣', '3'],
  ] as const) {
    const read = normalize(text, IBAN)
    assert.equal(read.finding?.code, 'non_ascii_digits')
    assert.equal(read.suggestion, suggestion)
    assert.notEqual(read.value, suggestion)
  }
  const { finding } = normalize('GB٨٢WEST', IBAN)
  assert.deepEqual([finding?.position, finding?.found, finding?.field], [[2, 4], '٨٢', 'iban'])
})

test('nothing and too much are refused without echo', () => {
  for (const text of ['', ' ', ' - \u200b.']) assert.equal(normalize(text, IBAN).finding?.code, 'empty')
  assert.equal(normalize('1'.repeat(MAX_CHARS), IBAN).finding, null)
  const refused = normalize('1'.repeat(MAX_CHARS + 1), IBAN)
  assert.deepEqual([refused.finding?.code, refused.value, refused.changes], ['too_long_input', '', []])
})

test('applied twice it changes nothing more', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near), fc.constantFrom(IBAN, NONE), (text, options) => {
      const once = normalize(text, options)
      if (once.finding?.code === 'too_long_input' || once.finding?.code === 'empty') return
      const twice = normalize(once.value, options)
      assert.equal(twice.value, once.value)
      assert.deepEqual(twice.changes, [])
      assert.deepEqual(twice.finding, once.finding)
      if (once.changes.length > 0) assert.notEqual(once.value, text)
    }),
    { numRuns: runs(2_000, 20_000), seed: SEED },
  )
})
