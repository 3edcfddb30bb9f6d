import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { hostileText } from './hostile-text.ts'
import type { Random } from './random.ts'

/** Bodies that are JSON, nearly JSON, or nothing of the kind. */

const NUMBERS: readonly string[] = (
  '0 -0 00 01 -01 +1 .5 1. 1.e1 1e 1e+ 0x1 1_0 NaN Infinity -Infinity 1e400 -1e400 1E+999999999 1e-999999999 ' +
  '9007199254740991 9007199254740992 9007199254740993 -9007199254740993 18446744073709551616 0.1e309 5e-324 1e21'
).split(' ')

/** The number of levels, values or characters that a bound might stand at. */
const SIZES = [0, 1, 2, 31, 63, 64, 65, 66, 127, 255, 256, 257, 999, 1_024, 5_000]

type Shape = (random: Random, inner: string) => string

/** Whole texts; `inner` is a JSON value. */
const SHAPES: readonly Shape[] = [
  (random, inner) => nested(random, '[', inner, ']'),
  (random, inner) => nested(random, '{"a":', inner, '}'),
  (random, inner) => nested(random, '[{"a":', inner, '}]'),
  (random) => '['.repeat(random.pick(SIZES) * 13),
  (random) => '{"":'.repeat(random.pick(SIZES) * 3),
  (random, inner) => `[${`${inner},`.repeat(random.pick(SIZES))}${inner}]`,
  (random) => `[${'0,'.repeat(random.pick([19_000, 19_999, 20_000, 20_001, 25_000]))}0]`,
  (random) => `{${Array.from({ length: 1 + random.pick(SIZES) }, (_, index) => `"key_${index}":${index}`).join(',')}}`,
  (_, inner) => `{"input":${inner},"input":${inner}}`,
  (_, inner) => `{"input":${inner},"\\u0069nput":${inner}}`,
  (random, inner) => `{"input":{"${random.pick(['a', 'iban', '', '\\"', '\\\\', '\\u0000'])}":1,"a":${inner},"a":${inner}}}`,
  (random, inner) =>
    `{"input":{"${random.pick(['__proto__', '\\u005f_proto__', '__proto\\u005f\\u005f', 'constructor', 'prototype', 'toString'])}":${inner}}}`,
  (random) => `{"input":{"iban":${random.pick(NUMBERS)}}}`,
  (random) => `{"input":${random.pick(NUMBERS)}${random.pick(['', '0'.repeat(400), 'e9'.repeat(3)])}}`,
  (random) =>
    `{"input":{"iban":"${random.pick(['\\ud800', '\\udc00x', '\\ud83d', '\\ude00\\ud83d', '\\uD800\\uD800', '\ud800', '\udfff'])}"}}`,
  (random) => `{"input":{"iban":"${random.pick(['\\u0000', '\u0000', '\u001f', '\n', '\\x', '\\u12', '\\', '\u007f', '\u2028'])}"}}`,
  (random, inner) =>
    `${random.pick(['\ufeff', '\ufeff\ufeff', '\u00a0', '//x\n', '/**/', '#', ")]}',", '{}', 'callback('])}{"input":${inner}}`,
  (random, inner) => `{"input":${inner}}${random.pick(['\u0000', ',', '}', '{}', '//x', '\ufeff', '\u001a', '\n\n ', ')'])}`,
  (random, inner) => `{"input":${inner}${random.pick(['', ',', ',}', ']', '}}', ',"a"', ',"a":', ',a:1}', ",'a':1}"])}`,
  (random) => `${random.pick([' ', '\n', '\t', '\r\n']).repeat(random.pick(SIZES))}{}`,
  (random) => `{"${'k'.repeat(random.pick(SIZES))}":"${'v'.repeat(random.pick(SIZES))}"}`,
  (random) => `"${random.pick(['\\\\', '\\"', '\\n', '\\u0041', '"', '\\']).repeat(random.pick(SIZES))}"`,
  (random) =>
    random.pick([
      '',
      ' ',
      'null',
      'true',
      '0',
      '""',
      '[]',
      '{}',
      'undefined',
      '"input"',
      '[{"input":{}}]',
      '{"input":null}',
      'tru',
      '{"input"}',
    ]),
  (random, inner) => `{"input":${inner},"${hostileText(random, 10).replace(/["\\\p{Cc}]/gu, '')}":1}`,
  (random, inner) => `{"${random.pick(['Input', 'input ', 'inputs', 'params', 'arguments', 'receipt', '\\u0000input'])}":${inner}}`,
]

function nested(random: Random, open: string, inner: string, close: string): string {
  const levels = random.pick(SIZES)
  return open.repeat(levels) + inner + close.repeat(random.chance(0.9) ? levels : random.pick(SIZES))
}

/** A text with a hazard in it, around a JSON value. */
export function hostileJson(random: Random, inner: string): string {
  return random.pick(SHAPES)(random, inner)
}

const TOKENS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '9',
  '-',
  'e',
  't',
  'n',
  '\\u',
  '\\ud800',
  '__proto__',
  '\u0000',
  '\ufeff',
  '{"a":',
  '[[',
  '//',
]

/** Bytes a few accidents away from good ones: flipped, cut, doubled, moved, with pieces of syntax in between. */
export function damaged(random: Random, good: Buffer): Buffer {
  let bytes = good
  for (let accidents = 1 + random.below(4); accidents > 0; accidents--) bytes = accident(random, bytes)
  return bytes
}

function accident(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + 1 + random.below(12))
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
  switch (random.below(6)) {
    case 0:
      return Buffer.concat([before, random.bytes(1 + random.below(3)), after])
    case 1:
      return before
    case 2:
      return Buffer.concat([before, after])
    case 3:
      return Buffer.concat([before, piece, piece, after])
    case 4:
      return Buffer.concat([before, Buffer.from(random.pick(TOKENS)), piece, after])
    default: {
      const copy = Buffer.from(bytes)
      if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ (1 << random.below(8))
      return copy
    }
  }
}

/** The same text as other software might send it. The headers say what was done, where HTTP has a word for it. */
export function encoded(random: Random, text: string): { bytes: Buffer; headers: Record<string, string> } {
  const plain = Buffer.from(text)
  const as = (bytes: Buffer, headers: Record<string, string> = {}) => ({ bytes, headers })
  switch (random.below(10)) {
    case 0:
      return as(gzipSync(plain), { 'content-encoding': 'gzip' })
    case 1:
      return as(deflateSync(plain), { 'content-encoding': 'deflate' })
    case 2:
      return as(deflateRawSync(plain), { 'content-encoding': 'deflate' })
    case 3:
      return as(brotliCompressSync(plain), { 'content-encoding': 'br' })
    case 4:
      return as(Buffer.from(text, 'utf16le'), { 'content-type': 'application/json; charset=utf-16le' })
    case 5:
      return as(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]))
    case 6:
      return as(Buffer.from(text, 'utf16le').swap16(), { 'content-type': 'application/json; charset=utf-16' })
    case 7:
      return as(Buffer.from(text, 'latin1'), { 'content-type': 'application/json; charset=iso-8859-1' })
    case 8:
      return as(Buffer.from(plain.toString('base64')), { 'content-transfer-encoding': 'base64' })
    default:
      return as(notUtf8(random, plain))
  }
}

/** Overlong forms, halves of surrogate pairs, sequences cut off, bytes that UTF-8 never has (RFC 3629 §3). */
const NOT_UTF8 = [
  [0xc0, 0xaf],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xfe],
  [0xff],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
]

function notUtf8(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(NOT_UTF8)), bytes.subarray(at)])
}
