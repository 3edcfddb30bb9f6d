import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { toHex } from '../../src/pure/receipts/crypto.ts'
import type { KeyList, PublishedKey } from '../../src/pure/receipts/keys.ts'
import { digestText, receiptDigest, type Joinable, type ReceiptBody, signReceipt } from '../../src/pure/receipts/receipt.ts'
import { FIELD_CHARS_MAX, verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { runs, SEED } from '../support/counts.ts'
import { ADDRESS_ONE, BODY, DIGEST, mirrored, RECEIPT, SIGNATURE, signerOne } from './example.ts'

/** Signs whatever joins, as an issuer without our grammar might. */
function foreign(change: Partial<Record<keyof Joinable, unknown>>): object {
  const body = { ...BODY, ...change } as unknown as Joinable
  return { ...body, signer: ADDRESS_ONE, signature: signerOne.sign(receiptDigest(body)) }
}

function reasonOf(receipt: unknown): string {
  const verdict = verifyReceipt(receipt)
  assert.equal(verdict.valid, false)
  assert.equal(verdict.findings[0]?.code, verdict.reason_code)
  return verdict.reason_code
}

test('a good receipt is valid, and nothing is claimed about a key list that was not given', () => {
  assert.deepEqual(verifyReceipt(RECEIPT), {
    valid: true,
    reason_code: 'ok',
    reason: 'The declared signer signed exactly this receipt.',
    digest: DIGEST,
    canonical: digestText(BODY),
    declared_signer: ADDRESS_ONE,
    signer_recovered: ADDRESS_ONE,
    signer_published: 'not_checked',
    signer_valid_at_ts: 'not_checked',
    findings: [],
    warnings: [],
  })
  const shuffled = Object.fromEntries(Object.entries(RECEIPT).toReversed())
  assert.equal(verifyReceipt(shuffled).valid, true)
})

// attack: a receipt altered, of another signer, or of a revoked key
// in: money and signatures
// asset: trust in receipts
// attacker: client
// defence: the signer is recovered from the signature; the key list says when a key was valid
test('a change of any signed field makes it invalid', () => {
  const changes: Record<keyof typeof BODY, unknown> = {
    v: 'XDR-2',
    tool: 'lei-check',
    tool_version: '1.0.1',
    input_hash: BODY.output_hash,
    output_hash: BODY.input_hash,
    payer: BODY.recipient,
    recipient: BODY.payer,
    amount: '5001',
    nonce: `0x${'34'.repeat(32)}`,
    ts: BODY.ts + 1,
    tier: 'free',
    successor: BODY.payer,
    stream_state: 'active',
  }
  for (const [field, value] of Object.entries(changes)) {
    assert.equal(reasonOf({ ...RECEIPT, [field]: value }), field === 'v' ? 'bad_version' : 'signer_mismatch', field)
  }
  assert.equal(reasonOf({ ...RECEIPT, signer: BODY.payer }), 'signer_mismatch')
})

test('missing and mistyped fields are findings, each by name', () => {
  assert.equal(reasonOf(null), 'not_an_object')
  assert.equal(reasonOf([RECEIPT]), 'not_an_object')
  assert.deepEqual(
    verifyReceipt({}).findings.map((found) => found.field),
    ['v', 'tool', 'tool_version', 'input_hash', 'output_hash', 'payer', 'recipient', 'amount', 'nonce', 'ts', 'tier'],
  )
  for (const field of Object.keys(RECEIPT)) {
    const { [field]: _, ...rest } = RECEIPT as unknown as Record<string, unknown>
    assert.deepEqual(verifyReceipt(rest).findings[0], {
      code: 'missing_field',
      field,
      message: 'A required field is missing.',
    })
  }
  assert.equal(reasonOf({ ...RECEIPT, amount: 5000 }), 'wrong_type')
  assert.equal(reasonOf({ ...RECEIPT, ts: '1790000000' }), 'wrong_type')
  assert.equal(reasonOf({ ...RECEIPT, ts: 1790000000.5 }), 'wrong_type')
  assert.equal(reasonOf({ ...RECEIPT, successor: 1 }), 'wrong_type')
  assert.equal(reasonOf({ ...RECEIPT, signature: null }), 'wrong_type')
  assert.equal(reasonOf({ ...RECEIPT, signer: 'me' }), 'bad_signer')
  assert.equal(reasonOf({ ...RECEIPT, payer: 'x'.repeat(FIELD_CHARS_MAX + 1) }), 'field_too_long')
  assert.equal(reasonOf({ ...RECEIPT, payer: '\ud800' }), 'ill_formed_text')
})

test('signatures are accepted in one form and refused by reason', () => {
  const rs = SIGNATURE.slice(0, 130)
  for (const v of ['1b', '00']) assert.equal(verifyReceipt({ ...RECEIPT, signature: rs + v }).valid, true)
  assert.equal(verifyReceipt({ ...RECEIPT, signature: SIGNATURE.replace('f6230c', 'F6230C') }).valid, true)
  for (const v of ['1c', '01']) assert.notEqual(verifyReceipt({ ...RECEIPT, signature: rs + v }).signer_recovered, ADDRESS_ONE)
  for (const v of ['02', '1a', '1d', '1e', '25', 'ff']) assert.equal(reasonOf({ ...RECEIPT, signature: rs + v }), 'bad_recovery_id')
  for (const text of ['', SIGNATURE.slice(2), `${SIGNATURE.slice(0, -1)}g`, SIGNATURE.slice(0, -1), ` ${SIGNATURE}`]) {
    assert.equal(reasonOf({ ...RECEIPT, signature: text }), 'bad_signature_format')
  }
  for (const text of ['0x', rs, `${SIGNATURE}00`]) assert.equal(reasonOf({ ...RECEIPT, signature: text }), 'bad_signature_length')
  const zero = '0'.repeat(64)
  assert.equal(reasonOf({ ...RECEIPT, signature: `0x${zero}${SIGNATURE.slice(66)}` }), 'zero_signature')
  assert.equal(reasonOf({ ...RECEIPT, signature: `${SIGNATURE.slice(0, 66)}${zero}1b` }), 'zero_signature')
  assert.equal(reasonOf({ ...RECEIPT, signature: `0x${'f'.repeat(64)}${SIGNATURE.slice(66)}` }), 'signature_out_of_range')
  // 5 is no x coordinate on the curve: 5³ + 7 = 132 is no square modulo p.
  assert.equal(reasonOf({ ...RECEIPT, signature: `0x${'5'.padStart(64, '0')}${SIGNATURE.slice(66)}` }), 'not_recoverable')
})

test('the high-s twin recovers to the same signer and is refused by its own code', () => {
  const verdict = verifyReceipt({ ...RECEIPT, signature: mirrored(SIGNATURE) })
  assert.deepEqual([verdict.valid, verdict.reason_code, verdict.signer_recovered], [false, 'high_s', ADDRESS_ONE])
})

test('a bar is refused even where the signature recovers', () => {
  const receipt = foreign({ tool: 'iban-check|1.0.0', tool_version: 'x' })
  const verdict = verifyReceipt(receipt)
  assert.deepEqual([verdict.valid, verdict.reason_code, verdict.canonical], [false, 'holds_bar', null])
})

test('a text that could be another kind of message is refused', () => {
  assert.equal(reasonOf(foreign({ v: '\u0019Ethereum Signed Message:\n99' })), 'bad_version')
})

test('receipts of other issuers are valid with warnings where they break the grammar', () => {
  const free = verifyReceipt(foreign({ payer: 'free:203.0.113.7', amount: '0', tier: 'free', stream_state: 'active' }))
  assert.deepEqual([free.valid, free.warnings.map((found) => [found.code, found.field])], [true, [['off_grammar', 'payer']]])
  const capitals = verifyReceipt({
    ...foreign({ payer: `0x${'Aa'.repeat(20)}`, ts: -5 }),
    signer: ADDRESS_ONE.toUpperCase().replace('0X', '0x'),
    extra: 1,
  })
  assert.equal(capitals.valid, true)
  assert.deepEqual(
    capitals.warnings.map((found) => `${found.code} ${found.field}`),
    ['off_grammar payer', 'off_grammar ts', 'signer_case signer', 'unsigned_fields null'],
  )
  assert.equal(verifyReceipt({ ...RECEIPT, successor: null, stream_state: null }).valid, true)
  const empty = verifyReceipt({ ...RECEIPT, successor: '', stream_state: '' })
  assert.deepEqual([empty.valid, empty.digest], [true, DIGEST])
})

const KEY: PublishedKey = {
  address: ADDRESS_ONE,
  status: 'active',
  not_before: BODY.ts - 10,
  not_after: null,
  revoked_at: null,
  reason: null,
  mode: 'sandbox',
  chain_id: 84_532,
}

// attack: a receipt altered, of another signer, or of a revoked key
test('what the key list says stays apart from the signature', () => {
  const cases: readonly (readonly [keys: KeyList, published: boolean, valid_at_ts: boolean, warning: string | null])[] = [
    [[KEY], true, true, null],
    [[], false, false, 'signer_not_published'],
    [[{ ...KEY, not_before: BODY.ts }], true, true, null],
    [[{ ...KEY, not_before: BODY.ts + 1 }], true, false, 'signer_not_yet_valid'],
    [[{ ...KEY, status: 'retired', not_after: BODY.ts }], true, true, null],
    [[{ ...KEY, status: 'retired', not_after: BODY.ts - 1 }], true, false, 'signer_retired'],
    [[{ ...KEY, status: 'revoked', revoked_at: BODY.ts }], true, false, 'signer_revoked'],
    [[{ ...KEY, status: 'revoked', revoked_at: BODY.ts + 1 }], true, true, 'revoked_later'],
    [[{ ...KEY, status: 'revoked' }], true, false, 'signer_revoked'],
  ]
  for (const [keys, published, valid_at_ts, warning] of cases) {
    const verdict = verifyReceipt(RECEIPT, keys)
    assert.deepEqual([verdict.valid, verdict.signer_published, verdict.signer_valid_at_ts], [true, published, valid_at_ts])
    assert.deepEqual(
      verdict.warnings.map((found) => found.code),
      warning === null ? [] : [warning],
    )
  }
  const altered = verifyReceipt({ ...RECEIPT, amount: '1' }, [KEY])
  assert.deepEqual([altered.valid, altered.signer_published, altered.signer_valid_at_ts], [false, 'not_checked', 'not_checked'])
})

const HEX = (bytes: number): fc.Arbitrary<string> => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex)
const ANY_BODY: fc.Arbitrary<ReceiptBody> = fc.record(
  {
    v: fc.constant('XDR-1' as const),
    tool: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
    tool_version: fc.tuple(fc.nat(), fc.nat(), fc.nat()).map((parts) => parts.join('.')),
    input_hash: HEX(32),
    output_hash: HEX(32),
    payer: HEX(20),
    recipient: HEX(20),
    amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
    nonce: HEX(32),
    ts: fc.integer({ min: 0, max: 999_999_999_999 }),
    tier: fc.constantFrom('free' as const, 'paid' as const),
    successor: fc.oneof(fc.constant(''), HEX(20), HEX(32)),
    stream_state: fc.constantFrom('active' as const, 'rotating' as const, 'closed' as const),
  },
  { requiredKeys: ['v', 'tool', 'tool_version', 'input_hash', 'output_hash', 'payer', 'recipient', 'amount', 'nonce', 'ts', 'tier'] },
)
const PRIVATE_KEY = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] ?? 0) < 0xff)

test('whatever is signed verifies, without a warning, also after a trip through JSON', () => {
  fc.assert(
    fc.property(ANY_BODY, PRIVATE_KEY, (body, key) => {
      const { receipt, digest } = signReceipt(body, nobleSigner(key))
      const verdict = verifyReceipt(JSON.parse(JSON.stringify(receipt)))
      assert.deepEqual([verdict.valid, verdict.digest, verdict.warnings], [true, digest, []])
    }),
    { numRuns: runs(60, 600), seed: SEED },
  )
})

test('nothing that can be handed in makes it throw', () => {
  const wild = fc.oneof(
    fc.anything(),
    fc.record(Object.fromEntries(Object.keys(RECEIPT).map((name) => [name, fc.oneof(fc.anything(), fc.constant(RECEIPT[name as 'v']))]))),
  )
  fc.assert(
    fc.property(wild, (value) => assert.equal(typeof verifyReceipt(value).valid, 'boolean')),
    { numRuns: runs(500, 20_000), seed: SEED },
  )
  const trap = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no')
      },
    },
  )
  assert.equal(verifyReceipt(trap).reason_code, 'not_an_object')
})
