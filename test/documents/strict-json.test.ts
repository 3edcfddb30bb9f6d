// attack: long bodies that are slow to read, or read more than once

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeUtf8, readStrictJsonForReaders, readStrictJson } from '../../src/pure/documents/strict-json.ts'
import type { StrictJsonCode } from '../../src/pure/documents/strict-json-scan.ts'
import { runs, SEED } from '../support/counts.ts'
import { referenceRead } from './strict-json-reference.ts'

const BOUNDS = { depth: 64, nodes: 20_000 }

function refusal(text: string, bounds = BOUNDS): [code: StrictJsonCode, position: number] | null {
  const read = readStrictJson(text, bounds)
  return read.ok ? null : [read.code, read.position]
}

test('what RFC 8259 allows is read as JSON.parse reads it', () => {
  const scalars = [
    '0',
    '-0',
    '-0.0',
    '1e5',
    '1E-5',
    '0.1e+2',
    '"x"',
    'true',
    'false',
    'null',
    '""',
    '9007199254740991',
    '-9007199254740991',
  ]
  const fractions = ['9007199254740991.4', '1e-400', '0.12345678901234567890']
  const containers = ['[]', '{}', ' \t\r\n[ ] ', '[1,[2,[3]]]', '{"":0}', '{"a":{"a":{"a":1}}}', '{"a":1,"A":2}', '{"9":1,"10":2,"1":3}']
  const escapes = ['["\\u0000\\u001f\\"\\\\\\/\\b\\f\\n\\r\\t"]', '"\\ud83d\\ude00"', '"\\u2028\u2028"', '"\u007f"', '"😀"', '"\ufeff"']
  const harmless = ['["__proto__"]', '{"constructor":1,"toString":2}']
  const accepted = [...scalars, ...fractions, ...containers, ...escapes, ...harmless]
  for (const text of accepted) assert.deepEqual(readStrictJson(text, BOUNDS), { ok: true, value: JSON.parse(text) }, text)
})

test('what RFC 8259 does not allow is refused at the first character that cannot stand', () => {
  const broken: readonly (readonly [text: string, position: number])[] = [
    ['', 0],
    [' ', 1],
    ['[', 1],
    ['{', 1],
    [']', 0],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['[,1]', 1],
    ['{,}', 1],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a":1 "b":2}', 7],
    ['{1:1}', 1],
    ['[1}', 2],
    ['{"a":1]', 6],
    ['01', 1],
    ['-', 1],
    ['-a', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.e1', 2],
    ['1e', 2],
    ['1e+', 3],
    ['0x1', 1],
    ['1_0', 1],
    ['NaN', 0],
    ['Infinity', 0],
    ['-Infinity', 1],
    ['undefined', 0],
    ['tru', 3],
    ['trux', 3],
    ['nul', 3],
    ['True', 0],
    ['truefalse', 4],
    ['"', 1],
    ['"a', 2],
    ['"\t"', 1],
    ['"\n"', 1],
    ['"\u0000"', 1],
    ['"\\x"', 2],
    ['"\\', 2],
    ['"\\u', 3],
    ['"\\u12"', 5],
    ['"\\uD8Z0"', 5],
    ['"a\\\\"b"', 5],
    ['[] []', 3],
    ['1 // no', 2],
    ['/**/1', 0],
    ['\ufeff1', 0],
    ['\u00a01', 0],
    ['[1\u2028]', 2],
    ['\f1', 0],
  ]
  for (const [text, position] of broken) assert.deepEqual(refusal(text), ['not_json', position], JSON.stringify(text))
})

// attack: JSON that two parsers understand differently
// in: requests
// asset: what a JSON reader sees
// attacker: client
// defence: duplicate keys, lone surrogates, unsafe numbers and reserved names are refused
test('each further refusal has its own code and position', () => {
  const refused: readonly (readonly [text: string, code: StrictJsonCode, position: number])[] = [
    ['{"a":1,"a":2}', 'duplicate_key', 7],
    ['{"a":1, "\\u0061":2}', 'duplicate_key', 8],
    ['{"\\u0061":1,"a":2}', 'duplicate_key', 12],
    ['[{"k":{"a":1,"b":{"a":1},"a":1}}]', 'duplicate_key', 25],
    ['{"a":"x","b":"a","a":"\\""}', 'duplicate_key', 17],
    ['{"":1,"":1}', 'duplicate_key', 6],
    ['{"1":1,"1":1}', 'duplicate_key', 7],
    ['{"__proto__":1}', 'forbidden_key', 1],
    ['[{"a":{"\\u005f_proto__":{}}}]', 'forbidden_key', 7],
    ['{"__proto\\u005f\\u005F":1}', 'forbidden_key', 1],
    ['"\\ud800"', 'lone_surrogate', 0],
    ['["ok","\\udc00x"]', 'lone_surrogate', 6],
    ['["\\ude00\\ud83d"]', 'lone_surrogate', 1],
    ['{"\\ud83d":1}', 'lone_surrogate', 1],
    ['"\ud800"', 'lone_surrogate', 0],
    ['"\\ud83d\ude00\udc00"', 'lone_surrogate', 0],
    ['9007199254740992', 'unsafe_number', 0],
    ['[-9007199254740993]', 'unsafe_number', 1],
    ['[1,9007199254740991.5]', 'unsafe_number', 3],
    ['{"a":9.1e15}', 'unsafe_number', 5],
    ['1E400', 'unsafe_number', 0],
    ['-1e309', 'unsafe_number', 0],
    [`[0,1${'0'.repeat(400)}]`, 'unsafe_number', 3],
  ]
  for (const [text, code, position] of refused) assert.deepEqual(refusal(text), [code, position], JSON.stringify(text))
})

test('the bounds hold exactly', () => {
  assert.equal(refusal('[[1]]', { depth: 2, nodes: 3 }), null)
  assert.deepEqual(refusal('[[1]]', { depth: 1, nodes: 3 }), ['too_deep', 1])
  assert.deepEqual(refusal('[[1]]', { depth: 2, nodes: 2 }), ['too_many_nodes', 2])
  assert.equal(refusal('1', { depth: 0, nodes: 1 }), null)
  assert.deepEqual(refusal('{"a":[1,2],"b":{"c":3}}', { depth: 2, nodes: 5 }), ['too_many_nodes', 20])
  const nodes = `[${'1,'.repeat(19_998)}1]`
  assert.equal(refusal(nodes), null)
  assert.deepEqual(refusal(`[0,${nodes.slice(1)}`), ['too_many_nodes', 2 * 19_999 + 1])
})

test('lines and columns count from 1 and messages quote nothing', () => {
  const read = readStrictJson('{\n  "ünique": 1,\r\n  "zebra": 1e999\n}', BOUNDS)
  assert.ok(!read.ok)
  assert.deepEqual([read.code, read.line, read.column, read.position], ['unsafe_number', 3, 12, 29])
  for (const text of ['{"zebra":1,"zebra":2}', '["zebra\\ud800"]', '[zebra]', '{"__proto__":"zebra"}']) {
    const refused = readStrictJson(text, BOUNDS)
    assert.ok(!refused.ok && !refused.message.includes('zebra'))
  }
})

test('unsafe numbers are handed on as text where the reader asks for it', () => {
  const read = readStrictJson('{"a":[9007199254740993,-1e400,1.50,9007199254740991],"b":"9007199254740993"}', BOUNDS, {
    unsafe_numbers: 'keep_text',
  })
  assert.deepEqual(read, { ok: true, value: { a: ['9007199254740993', '-1e400', 1.5, 9007199254740991], b: '9007199254740993' } })
})

test('a key with an escape is itself, whatever key was read before (nodejs/node issue 63785)', () => {
  for (const [first, second, name] of [
    ['{"\\\\":null}', '{"\\u0000":null}', '\u0000'],
    ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', '"'],
  ] as const) {
    for (let round = 0; round < 20; round++) {
      readStrictJson(first, BOUNDS)
      const read = readStrictJson(second, BOUNDS)
      assert.ok(read.ok)
      assert.equal(Object.keys(read.value as object).at(-1), name)
    }
  }
})

test('hostile megabytes are answered by the rule that they break', () => {
  const mebi = 1_048_576
  const hostile: readonly (readonly [text: string, code: StrictJsonCode | null])[] = [
    ['['.repeat(mebi), 'too_deep'],
    [`${'['.repeat(mebi / 2)}${']'.repeat(mebi / 2)}`, 'too_deep'],
    ['{"a":'.repeat(mebi / 5), 'too_deep'],
    [`[${'[],'.repeat(mebi / 3)}1]`, 'too_many_nodes'],
    [`{${'"a":0,'.repeat(mebi / 6)}"a":0}`, 'duplicate_key'],
    [`{"a":0,"a":[${'"",'.repeat(mebi / 3)}0]}`, 'duplicate_key'],
    [`{${Array.from({ length: 60_000 }, (_, index) => `"${index}":0`).join(',')}}`, 'too_many_nodes'],
    [`"${'\\\\'.repeat(mebi / 2)}"`, null],
    [`"${'\\"'.repeat(mebi / 2)}"`, null],
    [`{"${'\\n'.repeat(mebi / 2)}":"__proto__"}`, null],
    [`"${'\\"'.repeat(mebi / 2)}`, 'not_json'],
    [`"${'[{'.repeat(mebi / 2)}"`, null],
    ['1'.repeat(mebi), 'unsafe_number'],
    [' '.repeat(mebi), 'not_json'],
  ]
  for (const [text, code] of hostile) assert.equal(refusal(text)?.[0] ?? null, code, text.slice(0, 12))
})

test('UTF-8 is decoded strictly and one byte order mark is dropped', () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
  assert.equal(decodeUtf8(encode('{"ü":"😀"}')), '{"ü":"😀"}')
  assert.equal(decodeUtf8(encode('\ufeff[]')), '[]')
  assert.equal(decodeUtf8(encode('\ufeff\ufeff[]')), '\ufeff[]')
  // Overlong, surrogate half, beyond U+10FFFF, cut off, stray continuation (RFC 3629 §3).
  for (const bytes of [[0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x5b, 0xe2, 0x82], [0x80], [0xff, 0xfe]]) {
    assert.equal(decodeUtf8(Uint8Array.from(bytes)), null)
  }
  assert.equal(decodeUtf8(encode('[]')), '[]', 'a refusal leaves nothing behind')
})

/** JSON texts with all that is refused mixed in, and then damaged in one place. */
const PART = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom('a', 'b', ' ', '\\u0061', '\\n', '\\"', '\\\\', '\\ud83d\\ude00', '😀', '\\u005f', '_', 'é', ':', '[', '{'),
  },
  { weight: 1, arbitrary: fc.constantFrom('\\ud83d', '\\ude00', '\ud800') },
)
const STRING = fc.array(PART, { maxLength: 4 }).map((parts) => `"${parts.join('')}"`)
const KEY = fc.oneof(
  { weight: 6, arbitrary: STRING },
  { weight: 4, arbitrary: fc.constantFrom('"a"', '"b"', '"1"', '""', '"\\u0061"', '"\\\\"', '"\\u0000"') },
  { weight: 1, arbitrary: fc.constantFrom('"__proto__"', '"\\u005f_proto__"') },
)
const SCALAR = fc.oneof(
  STRING,
  fc.constantFrom('0', '-0', '1', '-1.5e3', '1e400', '9007199254740991', '9007199254740992', '9007199254740991.5', 'true', 'false', 'null'),
)
const BLANK = fc.constantFrom('', '', '', ' ', '\n', '\t\r')
const { text: TEXT } = fc.letrec<{ text: string }>((tie) => {
  const padded = fc.tuple(BLANK, tie('text'), BLANK).map((parts) => parts.join(''))
  const member = fc.tuple(BLANK, KEY, BLANK, padded).map(([before, key, after, value]) => `${before}${key}${after}:${value}`)
  return {
    text: fc.oneof(
      { depthSize: 'small' },
      SCALAR,
      fc.array(padded, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
    ),
  }
})
const DAMAGE = fc.record({
  at: fc.nat(200),
  cut: fc.nat(2),
  insert: fc.constantFrom('', '', '"', '\\', ',', ']', '}', '{', '[', '0', 'e', ' ', '\u0001', 'u'),
})
const MAYBE_DAMAGED = fc.oneof(
  TEXT,
  fc.tuple(TEXT, DAMAGE).map(([text, { at, cut, insert }]) => {
    const start = at % (text.length + 1)
    return text.slice(0, start) + insert + text.slice(start + cut)
  }),
)

test('any text is read or refused exactly as by the slow reference', () => {
  const property = fc.property(MAYBE_DAMAGED, fc.nat(8), fc.integer({ min: 1, max: 60 }), fc.boolean(), (text, depth, nodes, keep_text) => {
    const read = readStrictJson(text, { depth, nodes }, { unsafe_numbers: keep_text ? 'keep_text' : 'refuse' })
    const mine = read.ok ? read : { ok: false, code: read.code, position: read.position }
    assert.deepEqual(mine, referenceRead(text, { depth, nodes, keep_text }))
  })
  fc.assert(property, { numRuns: runs(5_000, 40_000), seed: SEED })
})

const READER = fc.record({
  depth: fc.nat(8),
  nodes: fc.integer({ min: 1, max: 60 }),
  unsafe_numbers: fc.constantFrom('refuse' as const, 'keep_text' as const),
})

test('one reading for several bounds gives each of them what the slow reference gives it', () => {
  const property = fc.property(MAYBE_DAMAGED, fc.array(READER, { minLength: 1, maxLength: 5 }), READER, (text, readers, other) => {
    const read = readStrictJsonForReaders(text, readers)
    for (const reader of [...readers, other]) {
      const found = read(reader)
      const mine = found.ok ? found : { ok: false, code: found.code, position: found.position }
      const { depth, nodes, unsafe_numbers } = reader
      assert.deepEqual(mine, referenceRead(text, { depth, nodes, keep_text: unsafe_numbers === 'keep_text' }))
    }
  })
  fc.assert(property, { numRuns: runs(2_000, 25_000), seed: SEED })
})

test('however many readers ask, the text meets the parser of the engine once', (context) => {
  const parse = context.mock.method(JSON, 'parse')
  const text = `{"a":[${'1,'.repeat(30)}12345678901234567890]}`
  const readers = [1, 2, 3].flatMap((depth) =>
    [10, 40].map((nodes) => ({ depth, nodes, unsafe_numbers: depth === 3 ? ('keep_text' as const) : ('refuse' as const) })),
  )
  const read = readStrictJsonForReaders(text, readers)
  const codes = readers.map((reader) => {
    const found = read(reader)
    return found.ok ? 'ok' : found.code
  })
  assert.deepEqual(codes, ['too_deep', 'too_deep', 'too_many_nodes', 'unsafe_number', 'too_many_nodes', 'ok'])
  assert.equal(parse.mock.calls.filter(({ arguments: [given] }) => given === text).length, 1)
})
