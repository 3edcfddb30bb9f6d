import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkBic } from '../../src/pure/checks/bic.ts'
import { checkIban } from '../../src/pure/checks/iban.ts'
import { checkIsbn } from '../../src/pure/checks/isbn.ts'
import { checkLei } from '../../src/pure/checks/lei.ts'
import { checkLuhn } from '../../src/pure/checks/luhn.ts'
import { distillText } from '../../src/pure/documents/distill.ts'
import { decodeUtf8, readStrictJson } from '../../src/pure/documents/strict-json.ts'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import { callerAddress, trustedProxies } from '../../src/service/clients.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { runs } from '../support/counts.ts'
import { JSON_HEADERS, mcpRequest } from '../support/mcp.ts'
import { assertGrowth } from './growth.ts'
import { TOOLS } from './tool-inputs.ts'

/** Characters of the smallest input; the largest is 64 times as long. */
const N = runs(1_024, 16_384)
/** The same where an object has many names: engines keep a thousand of them in another way than ten, so this begins beyond. */
const TABLE = 10_240

const fill = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length))
const list = (size: number, item: (index: number) => string) =>
  Array.from({ length: Math.ceil(size / (item(size).length + 1)) }, (_, index) => item(index)).join(',')

/** JSON texts, good and bad, by what they make a reader do. Those of objects with many names begin with `names`. */
const TEXTS: Record<string, (size: number) => string> = {
  'quotation marks': fill('"'),
  backslashes: fill('\\'),
  'a string of backslashes': (size) => `"${fill('\\\\')(size)}"`,
  'a string of escaped marks': (size) => `"${fill('\\"')(size)}"`,
  'a string that never ends': (size) => `["${fill('\\"')(size)}`,
  'strings that end after a backslash more': (size) => `[${list(size, () => '"\\\\\\\\"')}]`,
  'a string of escapes': (size) => `"${fill('\\u0041')(size)}"`,
  'a string of halves': (size) => `"${fill('\\ud83d\\ude00')(size)}\\ud83d"`,
  'a name of escapes': (size) => `{"${fill('\\u0061')(size)}":1}`,
  'names with escapes': (size) => `{${list(size, (index) => `"\\u0061${index}":0`)}}`,
  'open arrays': fill('['),
  'open objects': fill('{"a":'),
  'open pairs': fill('[{"a":'),
  'closing brackets': fill(']'),
  'arrays side by side': (size) => `[${list(size, () => '[]')}]`,
  'objects side by side': (size) => `[${list(size, () => '{"a":{}}')}]`,
  'names that are one': (size) => `{${list(size, () => '"a":0')}}`,
  'names that look alike': (size) => `{${list(size, (index) => `"aaaaaaaaaaaaaaaa${index}":0`)}}`,
  'names that are numbers': (size) => `{${list(size, (index) => `"${index * 65_536}":0`)}}`,
  'names that are numbers from the end': (size) => `{${list(size, (index) => `"${4_294_967_290 - index}":0`)}}`,
  'names with a late duplicate': (size) => `{${list(size, (index) => `"k${index}":0`)},"k0":1}`,
  'the forbidden name as a value': (size) => `[${list(size, () => '"__proto__"')}]`,
  digits: fill('1'),
  'digits behind a point': (size) => `0.${fill('1')(size)}`,
  'a long exponent': (size) => `1e${fill('9')(size)}`,
  numbers: (size) => `[${list(size, (index) => `${index}`)}]`,
  'long numbers': (size) => `[${list(size, () => '0.12345678901234567890123456789')}]`,
  spaces: fill(' '),
  'line ends before a fault': (size) => `${fill('\n')(size)}!`,
  'byte order marks': fill('\ufeff'),
  'letters of two bytes': (size) => `"${fill('é')(size)}"`,
  'combining marks': (size) => `"a${fill('\u0301')(size)}"`,
}

/** Above what the largest text holds, so that all of it is read; and below what the smallest holds, where it holds many values. */
const WITHIN = [{ depth: 1_000, nodes: 10_000_000 }, 'within the bounds'] as const
const BEYOND = [{ depth: 64, nodes: 20 }, 'beyond the bounds'] as const

test('reading JSON', async () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    for (const [bounds, words] of [WITHIN, BEYOND].slice(0, runs(1, 2))) {
      const prepare = (size: number) => {
        const given = text(size)
        return () => readStrictJson(given, bounds)
      }
      await (name.startsWith('names')
        ? assertGrowth(`${name}, ${words}`, TABLE, prepare, 3)
        : assertGrowth(`${name}, ${words}`, N, prepare))
    }
  }
})

test('decoding UTF-8', async () => {
  for (const [name, unit] of Object.entries({ ascii: [0x61], pairs: [0xf0, 0x9f, 0x98, 0x80], cut: [0xe2, 0x82], high: [0xff] })) {
    await assertGrowth(name, N, (size) => {
      const bytes = Uint8Array.from({ length: size }, (_, index) => unit[index % unit.length] ?? 0)
      return () => decodeUtf8(bytes)
    })
  }
})

test('canonical text', async () => {
  const named = (size: number, name: (index: number) => string) =>
    Object.fromEntries(Array.from({ length: size / 8 }, (_, index) => [name(index), index]))
  const values: Record<string, (size: number) => unknown> = {
    'names in order': (size) => named(size, (index) => `k${String(index).padStart(7, '0')}`),
    'names from the end': (size) => named(size, (index) => `k${String(9_999_999 - index)}`),
    'names that are numbers': (size) => named(size, String),
    'names that differ late': (size) => named(size / 8, (index) => `${'k'.repeat(50)}${-index}`),
    'texts with escapes': (size) => ({ b: fill('"\\\n\u0001')(size), a: 1 }),
    'a long text': (size) => [fill('é😀')(size)],
    'many texts': (size) => Array.from({ length: size / 8 }, () => ['"', 1.5, { b: null, a: true }]),
    'a half at the end': (size) => `${fill('x')(size)}\ud800`,
  }
  for (const [name, value] of Object.entries(values)) {
    const prepare = (size: number) => {
      const given = value(size)
      return () => attempt(() => canonicalText(given))
    }
    await (name.startsWith('names') ? assertGrowth(name, TABLE, prepare, 3) : assertGrowth(name, N, prepare))
  }
})

/** Refusals are thrown there, and cost what they cost. */
function attempt(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof Error)
  }
}

test('distilling a text', async () => {
  const units = [
    '"',
    '’',
    ')',
    'a.a.',
    'U.S. ',
    'Dr. ',
    '1,000,',
    '\u2029',
    '\u00a0',
    'İ',
    'e\u0301',
    '\uac00',
    'ア',
    '😀 ',
    '\ud83d',
    'a’',
    '! ',
    '。」',
    'x\u200d',
    '\u0000',
  ]
  for (const unit of units) {
    const prepare = (size: number) => {
      const given = fill(unit)(size)
      return () => distillText(given)
    }
    await assertGrowth(JSON.stringify(unit), N / 2, prepare)
  }
})

// attack: regular expressions that backtrack
test('checks of identifiers, up to the length that they read and far beyond', async () => {
  const checks = { checkIban, checkLei, checkBic, checkIsbn, checkLuhn }
  const units = ['0', '9', 'X', 'A', 'GB', 'IBAN', 'ISBN', ' ', '-', '.', '\u200b', '\u0301', '０', '٣', '😀', '\ud800', 'O0', 'I1', 'ß']
  for (const [name, check] of Object.entries(checks)) {
    for (const unit of units) {
      for (const smallest of [4, 1_024]) {
        await assertGrowth(`${name} ${JSON.stringify(unit)}`, smallest, (size) => {
          const given = fill(unit)(size).slice(0, size)
          return () => check(given)
        })
      }
    }
  }
})

test('verifying receipts', async () => {
  const tool = TOOLS.find(({ id }) => id === 'receipt-verify')
  const good = tool?.example['receipt'] as Record<string, unknown>
  const units = ['1', '0', 'a', '-', '.', '1.', 'a.', '0-', '|', '0x', '\u0301', '😀']
  for (const field of Object.keys(good).filter((name) => name !== 'ts')) {
    for (const unit of units) {
      // The signature is unreadable, so that its constant cost does not hide the rest.
      await assertGrowth(`${field} of ${unit}`, 16, (size) => {
        const receipt = { ...good, signature: 'none', [field]: `1.0.0-${fill(unit)(size)}` }
        return () => verifyReceipt(receipt)
      })
    }
  }
  const crowded = (size: number) => {
    const receipt = { ...good, signature: 'none', ...manyFields(size) }
    return () => verifyReceipt(receipt)
  }
  await assertGrowth('other fields', TABLE, crowded, 3)
})

function manyFields(size: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: size / 8 }, (_, index) => [`f${index}`, 0]))
}

/** A check, a list of items, and a receipt that may hold anything: the three kinds of schema. */
const HELD = ['iban-check', 'batch-validate', 'receipt-verify']

test('holding inputs against schemas, and telling what is wrong', async () => {
  const inputs: Record<string, (size: number) => Record<string, unknown>> = {
    'names that are unknown': manyFields,
    'names that look like known ones': (size) =>
      Object.fromEntries(Array.from({ length: size / 64 }, (_, index) => [`receipt${'t'.repeat(50)}${index}`, 0])),
    'items that are none': (size) => ({ items: Array.from({ length: size / 2 }, () => 0) }),
    'items of nothing': (size) => ({ items: Array.from({ length: size / 2 }, () => ({})) }),
    'a long text': (size) => ({ iban: fill('x')(size), text: fill('x')(size), receipt: fill('x')(size) }),
    'a receipt of long names': (size) => ({
      receipt: Object.fromEntries(Array.from({ length: size / 1_024 }, (_, index) => [`${'x'.repeat(1_025)}${index}`, 0])),
    }),
  }
  for (const tool of TOOLS.filter(({ id }) => HELD.includes(id))) {
    for (const [name, input] of Object.entries(inputs)) {
      const prepare = (size: number) => {
        const given = input(size)
        return () => decodeInput(tool, given)
      }
      await assertGrowth(`${tool.id}, ${name}`, name.startsWith('names') ? TABLE : N, prepare, 3)
    }
  }
})

test('finding the caller behind proxies', async () => {
  const known = trustedProxies(['127.0.0.1', '10.0.0.0/8'])
  assert.ok(known.ok)
  for (const unit of [',', '10.0.0.1,', '[::1]:1,', ']', '[', ':', '::ffff:10.0.0.1,', '1', '%']) {
    await assertGrowth(JSON.stringify(unit), 64, (size) => {
      const given = fill(unit)(size)
      return () => callerAddress('127.0.0.1', given, known.proxies)
    })
  }
})

let app: TestApp

before(async () => {
  app = await startTestApp({ free_daily: 1_000_000_000 })
})
after(() => app.stop())

/** A request through the whole application, without the network. */
function ask(path: string, body: string | null, headers: Record<string, string>): () => Promise<string> {
  const env = { peer: '127.0.0.1', request_id: 'x', client_request_id: null }
  return async () => {
    const method = body === null ? 'GET' : 'POST'
    const response = await app.running.app.fetch(new Request(`${app.url}${path}`, { method, body, headers }), env)
    return response.text()
  }
}

test('calls over REST and MCP', async () => {
  const inputs: Record<string, (size: number) => [tool: string, input: string]> = {
    'a text': (size) => ['context-distill', `{"text":"${fill('Word after word. ')(size)}"}`],
    'a text of escapes': (size) => ['context-distill', `{"text":"${fill('\\u00e9\\n')(size)}"}`],
    'too long a value': (size) => ['iban-check', `{"iban":"${fill('9')(size)}"}`],
    'unknown fields': (size) => ['iban-check', `{${list(size, (index) => `"f${index}":0`)}}`],
    items: (size) => [
      'batch-validate',
      `{"items":[${list(Math.min(size, 2_000), () => `{"tool":"context-distill","value":"${fill('a ')(size / 50)}"}`)}]}`,
    ],
    'deep input': (size) => ['lei-check', `{"lei":${fill('[')(size)}`],
    'a receipt as text': (size) => ['receipt-verify', `{"receipt":"${fill('{\\"a\\":')(size)}"}`],
  }
  for (const [name, input] of Object.entries(inputs)) {
    const overRest = (size: number) => {
      const [tool, text] = input(size)
      return ask(`/v1/tools/${tool}/call`, `{"input":${text}}`, {})
    }
    const overMcp = (size: number) => {
      const [tool, text] = input(size)
      const { message } = mcpRequest('2025-11-25', 'tools/call', { name: tool, arguments: 'here' })
      const body = JSON.stringify(message).replace('"here"', () => text)
      return ask('/mcp', body, JSON_HEADERS)
    }
    await assertGrowth(`${name} over REST`, 4 * N, overRest, 3)
    await assertGrowth(`${name} over MCP`, 4 * N, overMcp, 3)
  }
})

test('headers that pages read', async () => {
  for (const unit of [',', ';', 'text/html;q=0.5,', 'a/b;', '*/*;q=;', '"', 'a=', ' ']) {
    await assertGrowth(`Accept: ${unit}`, 128, (size) => ask('/problems', null, { accept: `a${fill(unit)(size)}b` }))
    await assertGrowth(`If-None-Match: ${unit}`, 128, (size) => ask('/openapi.json', null, { 'if-none-match': `a${fill(unit)(size)}b` }))
  }
})
