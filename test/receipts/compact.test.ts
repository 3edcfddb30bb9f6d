/** Compact receipts: vectors that were calculated elsewhere, and the laws of the format. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { COMPACT_CHARS_MAX, decodeReceipt, encodeReceipt, looksCompact } from '../../src/pure/receipts/compact.ts'
import type { Receipt } from '../../src/pure/receipts/receipt.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { runs, SEED } from '../support/counts.ts'
import { DIGEST, RECEIPT } from './example.ts'

interface Vectors {
  cases: { name: string; receipt: Receipt; compact: string }[]
  refused: { name: string; compact: string; code: string }[]
}
const { cases, refused } = JSON.parse(readFileSync(new URL('../../vectors/receipts/compact.json', import.meta.url), 'utf8')) as Vectors

function compactOf(receipt: unknown): string {
  const written = encodeReceipt(receipt)
  assert.ok(written.ok, JSON.stringify(written))
  return written.text
}

function restored(text: string): Receipt {
  const read = decodeReceipt(text)
  assert.ok(read.ok, JSON.stringify(read))
  return read.receipt
}

test('vectors: each receipt has the text that was calculated elsewhere, and the text gives the receipt back', () => {
  assert.ok(cases.length >= 10)
  for (const { name, receipt, compact } of cases) {
    assert.equal(compactOf(receipt), compact, name)
    assert.equal(JSON.stringify(restored(compact)), JSON.stringify(receipt), name)
  }
})

test('vectors: every other text is refused with the code of its fault, in words', () => {
  for (const { name, compact, code } of refused) {
    const read = decodeReceipt(compact)
    assert.ok(!read.ok, name)
    assert.equal(read.code, code, name)
    assert.match(read.message, /^[A-Z].*\.$/, name)
  }
})

test('the digest and the signature of a restored receipt are those of before', () => {
  const verdict = verifyReceipt(restored(compactOf(RECEIPT)))
  assert.deepEqual([verdict.valid, verdict.digest, verdict.warnings], [true, DIGEST, []])
})

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => `0x${Buffer.from(value).toString('hex')}`)
const zeroOr = (bytes: number) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(`0x${'00'.repeat(bytes)}`) }, { weight: 4, arbitrary: hex(bytes) })
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789-'
const number = fc.nat({ max: 9_999 }).map(String)
/** Amounts of tokens other than USDC. */
const OTHER_TOKENS = fc
  .record({
    chain: fc.integer({ min: 1, max: 9_999_999_999 }),
    token: hex(20),
    minor: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }),
    price: fc.bigInt({ min: 0n, max: 10n ** 15n }),
  })
  .map(({ chain, token, minor, price }) => `eip155:${chain}/erc20:${token} ${minor} for ${usd(price)} USD`)
const RECEIPTS: fc.Arbitrary<Receipt> = fc
  .record(
    {
      v: fc.constant('XDR-1' as const),
      tool: fc.string({ unit: fc.constantFrom(...letters.split('')), minLength: 1, maxLength: 64 }),
      tool_version: fc
        .tuple(number, number, number, fc.constantFrom('', '-rc.1', '+build-7'))
        .map(([a, b, c, end]) => `${a}.${b}.${c}${end}`),
      input_hash: hex(32),
      output_hash: zeroOr(32),
      payer: zeroOr(20),
      recipient: zeroOr(20),
      amount: fc.oneof(
        fc.bigInt({ min: 0n, max: 10n ** 78n - 1n }).map(String),
        fc.bigInt({ min: 0n, max: 70_000n }).map(String),
        OTHER_TOKENS,
      ),
      nonce: hex(32),
      ts: fc.integer({ min: 0, max: 999_999_999_999 }),
      tier: fc.constantFrom('free' as const, 'paid' as const),
      successor: fc.oneof(fc.constant(''), hex(20), hex(32)),
      stream_state: fc.constantFrom('active' as const, 'rotating' as const, 'closed' as const),
      signer: hex(20),
      signature: fc.tuple(hex(64), fc.constantFrom('1b', '1c')).map((parts) => parts.join('')),
    },
    {
      requiredKeys: [
        'v',
        'tool',
        'tool_version',
        'input_hash',
        'output_hash',
        'payer',
        'recipient',
        'amount',
        'nonce',
        'ts',
        'tier',
        'signer',
        'signature',
      ],
    },
  )
  .map((receipt): Receipt => ({ ...receipt }))

/** Millionths of a dollar as a decimal number without zeros at the end. */
function usd(minor: bigint): string {
  const text = (Number(minor) / 1e6).toFixed(6)
  return text.replace(/\.?0+$/, '')
}

/** The same layout read with Buffer alone, as an outsider would write it from the document. */
function readByBuffer(text: string): Receipt {
  const bytes = Buffer.from(text, 'base64url')
  let at = 2
  const take = (length: number) => bytes.subarray(at, (at += length))
  const take_hex = (length: number) => `0x${take(length).toString('hex')}`
  const counted = () => take(take(1).readUInt8()).toString('latin1')
  const flags = bytes.readUInt8(1)
  const [tool, tool_version, input_hash, output_hash] = [counted(), counted(), take_hex(32), take_hex(32)]
  const payer = (flags & 4) === 0 ? `0x${'0'.repeat(40)}` : take_hex(20)
  const recipient = take_hex(20)
  const counted_number = () => BigInt(`0x0${take(take(1).readUInt8()).toString('hex')}`)
  const minor = counted_number().toString()
  const amount =
    (flags & 128) === 0 ? minor : `eip155:${take(5).readUIntBE(0, 5)}/erc20:${take_hex(20)} ${minor} for ${usd(counted_number())} USD`
  const [nonce, ts] = [take_hex(32), take(5).readUIntBE(0, 5)]
  const kind = (flags >> 3) & 3
  const successor = kind === 0 ? {} : { successor: kind === 1 ? '' : take_hex(kind === 2 ? 20 : 32) }
  const state = (['', 'active', 'rotating', 'closed'] as const)[((flags >> 5) & 3) as 0 | 1 | 2 | 3]
  const signer = take_hex(20)
  const signature = `${take_hex(64)}${(flags & 2) === 0 ? '1b' : '1c'}`
  assert.equal(at, bytes.length)
  const tier = (flags & 1) === 0 ? 'free' : 'paid'
  const body = { v: 'XDR-1', tool, tool_version, input_hash, output_hash, payer, recipient, amount, nonce, ts, tier } as const
  return { ...body, ...successor, ...(state === '' ? {} : { stream_state: state }), signer, signature }
}

test('every receipt comes back from its text, here and in a decoder that was written apart', () => {
  fc.assert(
    fc.property(RECEIPTS, (receipt) => {
      const text = compactOf(receipt)
      assert.ok(text.length <= COMPACT_CHARS_MAX && looksCompact(text), text)
      assert.deepEqual(restored(text), receipt)
      assert.deepEqual(readByBuffer(text), receipt)
    }),
    { seed: SEED, numRuns: runs(300, 20_000) },
  )
})

test('two texts never give one receipt: a text that is read is the text that its receipt has', () => {
  const altered = fc.tuple(RECEIPTS, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([receipt, at, change]) => {
    const bytes = Buffer.from(compactOf(receipt), 'base64url')
    bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ change, at % bytes.length)
    return bytes.toString('base64url')
  })
  const anything = fc.oneof(altered, fc.string(), fc.string({ unit: fc.constantFrom(...'ABQRabz09-_'.split('')) }), fc.base64String())
  fc.assert(
    fc.property(anything, (text) => {
      const read = decodeReceipt(text)
      if (read.ok) assert.equal(compactOf(read.receipt), text)
      else assert.equal(typeof read.message, 'string')
    }),
    { seed: SEED, numRuns: runs(1_000, 50_000) },
  )
})

test('every proper beginning of a text is refused', () => {
  const text = compactOf(RECEIPT)
  for (let length = 0; length < text.length; length++) assert.equal(decodeReceipt(text.slice(0, length)).ok, false, String(length))
})

test('a receipt that could not be restored is not encoded, and the field is named', () => {
  const broken: readonly (readonly [unknown, string, string | null])[] = [
    [null, 'not_an_object', null],
    [[], 'not_an_object', null],
    ['x', 'not_an_object', null],
    [{}, 'off_grammar', 'v'],
    [{ ...RECEIPT, tool: 'iban_check' }, 'off_grammar', 'tool'],
    [{ ...RECEIPT, ts: '1790000000' }, 'off_grammar', 'ts'],
    [{ ...RECEIPT, ts: 1e12 }, 'off_grammar', 'ts'],
    [{ ...RECEIPT, amount: 5000 }, 'off_grammar', 'amount'],
    [{ ...RECEIPT, amount: '05000' }, 'off_grammar', 'amount'],
    [{ ...RECEIPT, amount: `eip155:1/erc20:0x${'ab'.repeat(20)} 0 for 1 USD` }, 'off_grammar', 'amount'],
    [{ ...RECEIPT, amount: `eip155:1/erc20:0x${'ab'.repeat(20)} 5 for 1.50 USD` }, 'off_grammar', 'amount'],
    [{ ...RECEIPT, signer: RECEIPT.signer.toUpperCase() }, 'off_grammar', 'signer'],
    [{ ...RECEIPT, signature: `${RECEIPT.signature.slice(0, -2)}00` }, 'off_grammar', 'signature'],
    [{ ...RECEIPT, successor: null }, 'off_grammar', 'successor'],
    [{ ...RECEIPT, stream_state: '' }, 'off_grammar', 'stream_state'],
    [{ ...RECEIPT, note: 'x' }, 'unsigned_fields', null],
  ]
  for (const [receipt, code, field] of broken) {
    const written = encodeReceipt(receipt)
    assert.ok(!written.ok)
    assert.deepEqual([written.code, written.field], [code, field])
  }
})

test('JSON in base64url never looks like a compact receipt', () => {
  for (const text of ['{}', '[]', JSON.stringify(RECEIPT), ' {}'])
    assert.equal(looksCompact(Buffer.from(text).toString('base64url')), false)
})
