import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { resolveUri } from '../../src/pure/documents/json-schema/load.ts'
import { isMultipleOf } from '../../src/pure/documents/json-schema/rules-assertions.ts'
import { Budget } from '../../src/pure/documents/json-schema/schema-model.ts'
import { compilePattern } from '../../src/pure/documents/json-schema/pattern.ts'
import { runs, SEED } from '../support/counts.ts'

const plenty = new Budget(Infinity)
const compile = (source: string) => compilePattern(source, plenty)

test('references resolve as in RFC 3986 §5.4, and names of other schemes as they stand', () => {
  const expected: Record<string, string> = {
    'g:h': 'g:h',
    g: 'http://a/b/c/g',
    './g': 'http://a/b/c/g',
    'g/': 'http://a/b/c/g/',
    '/g': 'http://a/g',
    '//g': 'http://g',
    '?y': 'http://a/b/c/d;p?y',
    'g?y': 'http://a/b/c/g?y',
    '#s': 'http://a/b/c/d;p?q#s',
    'g?y#s': 'http://a/b/c/g?y#s',
    ';x': 'http://a/b/c/;x',
    '': 'http://a/b/c/d;p?q',
    '.': 'http://a/b/c/',
    './': 'http://a/b/c/',
    '..': 'http://a/b/',
    '../g': 'http://a/b/g',
    '../..': 'http://a/',
    '../../../g': 'http://a/g',
    '/./g': 'http://a/g',
    'g.': 'http://a/b/c/g.',
    './g/.': 'http://a/b/c/g/',
    'g;x=1/../y': 'http://a/b/c/y',
    'g#s/../x': 'http://a/b/c/g#s/../x',
  }
  for (const [reference, absolute] of Object.entries(expected))
    assert.equal(resolveUri('http://a/b/c/d;p?q', reference), absolute, reference)
  assert.equal(resolveUri('urn:example:a', '#x'), 'urn:example:a#x')
  assert.equal(resolveUri('', 'item.json'), 'item.json')
})

test('a product of two decimals is a multiple of both, and a little more is not', () => {
  const cents = fc.integer({ min: 1, max: 99_999_999 })
  const property = fc.property(cents, fc.integer({ min: 0, max: 6 }), fc.integer({ min: -9_999, max: 9_999 }), (digits, places, factor) => {
    const shift = 10n ** BigInt(places)
    const decimal = (units: bigint) =>
      Number(`${units < 0n ? '-' : ''}${abs(units) / shift}.${String(abs(units) % shift).padStart(places, '0')}`)
    const product = BigInt(digits) * BigInt(factor)
    assert.equal(isMultipleOf(decimal(product), decimal(BigInt(digits))), true)
    assert.equal(isMultipleOf(decimal(product + 1n), decimal(BigInt(digits))), digits === 1)
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
  assert.equal(isMultipleOf(1e308, 0.5), true)
  assert.equal(isMultipleOf(5e-324, 1e308), false)
  assert.equal(isMultipleOf(0, 1e-300), true)
})

const abs = (value: bigint) => (value < 0n ? -value : value)

const ATOMS = [
  'a',
  'b',
  '.',
  String.raw`\d`,
  String.raw`\D`,
  String.raw`\w`,
  String.raw`\W`,
  String.raw`\s`,
  String.raw`\S`,
  '[a-c]',
  '[^a]',
  String.raw`[\s\d]`,
  String.raw`[^\S]`,
  '[]',
  '[^]',
  String.raw`\u0061`,
  String.raw`\u{1F432}`,
  String.raw`\uD83D\uDC32`,
  String.raw`\x61`,
  String.raw`\cJ`,
  String.raw`\/`,
  String.raw`[\b\-]`,
  String.raw`\p{L}`,
  String.raw`\P{Lu}`,
  String.raw`\p{Script=Greek}`,
  '🐲',
  '^',
  '$',
  String.raw`\b`,
]

const pattern = fc.letrec<{ all: string }>((tie) => ({
  all: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('all'), tie('all')).map(([one, two]) => one + two),
    fc.tuple(tie('all'), tie('all')).map(([one, two]) => `(?:${one}|${two})`),
    fc.tuple(tie('all'), fc.constantFrom('*', '+', '?', '{0,2}', '{2}', '*?')).map(([one, sign]) => `(${one})${sign}`),
  ),
})).all

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', '\u00a0', '\u2028', '\ufeff', 'é', 'α', '🐲', '-', '/'),
  maxLength: 6,
})

test('patterns match what the engine matches with the flag u', () => {
  const seen = { matched: 0, not: 0 }
  const property = fc.property(pattern, text, (source, value) => {
    const ours = compile(source)
    assert.ok(ours?.state === 'ready', `${source} is ${ours?.state}`)
    const expected = new RegExp(source, 'u').test(value)
    seen[expected ? 'matched' : 'not']++
    assert.equal(ours.test(value, plenty), expected)
  })
  fc.assert(property, { numRuns: runs(1_000, 10_000), seed: SEED })
  assert.ok(seen.matched > 100 && seen.not > 100, JSON.stringify(seen))
})

test('what a linear matcher cannot do is said to be unsupported, and what is no pattern to be broken', () => {
  const unsupported = [
    '(?=a)b',
    '(?!a)b',
    '(?<=a)b',
    '(?<!a)b',
    String.raw`(a)\1`,
    String.raw`(?<n>a)\k<n>`,
    'a{1,2000}',
    '(?:(?:a{100}){100}){100}',
  ]
  for (const source of [...unsupported, String.raw`\a`, String.raw`\p{L}\-`, 'x'.repeat(5_000)]) {
    assert.equal(compile(source)?.state, 'unsupported', source.slice(0, 40))
  }
  for (const source of ['(', '[b-a]', 'a**', '*']) assert.equal(compile(source)?.state, 'broken', source)
})

test('patterns of the older syntax are read too', () => {
  const cases: [string, string, boolean][] = [
    [String.raw`^[\w-.]+@`, 'a-b.c@', true],
    [String.raw`^\-\_$`, '-_', true],
    ['^a{,5}$', 'a{,5}', true],
    ['^]}$', ']}', true],
    [String.raw`[a-\d]`, '-', true],
  ]
  for (const [source, value, expected] of cases) {
    const ours = compile(source)
    assert.equal(ours?.state === 'ready' && ours.test(value, plenty), expected, source)
    assert.equal(new RegExp(source).test(value), expected, source)
  }
})
