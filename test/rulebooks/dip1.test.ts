import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashTypedData, keccak256, toBytes, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { ruleBookDomain, typedDigest, typedSigner, type TypedStruct } from '../../src/pure/payments/typed-data.ts'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'
import { signReceipt } from '../../src/pure/receipts/receipt.ts'
import { adjudicate, type DipFacts, type Dispute, hashesOf, DIP_CLAIMS, DIP_RULES } from '../../src/pure/rulebooks/dip1.ts'
import type { Sources } from '../../src/service/catalogue/define.ts'
import tool from '../../src/tools/trust/dip-file-dispute.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedRegistrar } from '../support/fixed-registrar.ts'
import { fixedSources } from '../support/sources.ts'
import { clockAt } from '../support/clock-at.ts'

const registrar = fixedRegistrar()
const PAYER = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const NOW_S = Date.UTC(2026, 10, 21, 12) / 1_000
const DELIVERED = { b: [1, null], a: 'ü' }
const EMPTY = `0x${'0'.repeat(64)}`
/** What its RFC 8785 text hashes to, by viem. */
const COVERED = keccak256(toBytes('{"a":"ü","b":[1,null]}'))

function receiptWith(change: Record<string, unknown> = {}) {
  const body = {
    v: 'XDR-1' as const,
    tool: 'demo',
    tool_version: '1.0.0',
    input_hash: EMPTY,
    output_hash: COVERED,
    payer: PAYER.address.toLowerCase(),
    recipient: `0x${'2'.repeat(40)}`,
    amount: '5000',
    nonce: `0x${'3'.repeat(64)}`,
    ts: NOW_S - 3_600,
    tier: 'paid' as const,
    ...change,
  }
  return signReceipt(body, registrar).receipt
}

const facts = (schema: unknown = true): DipFacts => ({
  now_s: NOW_S,
  crypto: nobleCrypto,
  owns: registrar.owns,
  published: (id) => (id === 'demo' ? { version: '1.0.0', schema } : null),
})

const dispute = (change: Partial<Dispute>): Dispute => ({ dispute_id: 'D', receipt: receiptWith(), claim: 'NOT_DELIVERED', ...change })

test('a schema claim is judged by what the published schema says, and undecided where it cannot be applied', () => {
  const claim = dispute({ claim: 'SCHEMA', delivered_output: DELIVERED })
  const outcomes = [true, { required: ['a'] }, { required: ['z'] }, { $ref: 'https://example.org/elsewhere' }].map(
    (schema) => adjudicate(claim, facts(schema)).rule,
  )
  assert.deepEqual(outcomes, ['DIP-S2', 'DIP-S2', 'DIP-S1', 'DIP-S4'])
})

test('a schema claim against the receipt of another issuer is inconclusive, whatever schema this service publishes', () => {
  const other = nobleSigner(Uint8Array.from({ length: 32 }, () => 0x77))
  const { signature: _signature, signer: _signer, ...body } = receiptWith()
  const receipt = signReceipt(body, other).receipt
  const claim = dispute({ claim: 'SCHEMA', delivered_output: DELIVERED, receipt })
  for (const schema of [true, { required: ['z'] }]) {
    const { rule, verdict, receipt: read } = adjudicate(claim, facts(schema))
    assert.deepEqual([rule, verdict, read.issuer, DIP_RULES[rule].code], ['DIP-S3', 'INCONCLUSIVE', 'other', 'schema_unknown'])
  }
  // Without its signer it cannot be checked whose it is.
  const { signer: _own, tool_version: _version, tier: _tier, ...short } = receipt
  const unchecked = adjudicate(dispute({ claim: 'SCHEMA', delivered_output: DELIVERED, receipt: short }), facts({ required: ['z'] }))
  assert.deepEqual([unchecked.rule, unchecked.receipt.issuer], ['DIP-S3', 'unknown'])
})

test('every rule decides what its table says, and the gates come first', () => {
  const late = dispute({ receipt: receiptWith({ ts: 1 }), claimed_input: 'other' })
  assert.equal(adjudicate(late, facts()).rule, 'DIP-G3')
  const broken = dispute({ receipt: { ...receiptWith({ ts: 1 }), nonce: `0x${'4'.repeat(64)}` }, claimed_input: 'other' })
  assert.equal(adjudicate(broken, facts()).rule, 'DIP-G2')
  assert.equal(adjudicate(dispute({ receipt: { ...broken.receipt, amount: '-1' } }), facts()).rule, 'DIP-G1')
  for (const claim of DIP_CLAIMS) {
    const { verdict, rule, findings } = adjudicate(dispute({ claim }), facts())
    assert.equal(verdict, DIP_RULES[rule].verdict)
    assert.equal(findings[0]?.rule, rule)
  }
})

test('a receipt without version and tier that names another signer than ours, who signed it, is refused at the gate', () => {
  const { tool_version: _version, tier: _tier, ...short } = receiptWith()
  assert.deepEqual([adjudicate(dispute({ receipt: short }), facts()).rule, short.signer], ['DIP-N2', registrar.address])
  const { rule, receipt } = adjudicate(dispute({ receipt: { ...short, signer: PAYER.address } }), facts())
  assert.deepEqual([rule, receipt.issuer, receipt.signer], ['DIP-G2', 'unknown', null])
})

test('the word of the claimant alone never upholds a claim', () => {
  const property = fc.property(
    fc.constantFrom(...DIP_CLAIMS),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.option(fc.string(), { nil: undefined }),
    (claim, delivered_output, transport_signature) => {
      const found = adjudicate(dispute({ claim, delivered_output, transport_signature }), facts())
      assert.notEqual(found.verdict, 'UPHELD')
    },
  )
  fc.assert(property, { numRuns: runs(100, 2_000), seed: SEED })
})

test('a receipt whose fields are strange is rejected, never thrown', () => {
  const strange = fc.record({ ...Object.fromEntries(Object.keys(receiptWith()).map((name) => [name, fc.string()])), ts: fc.nat() })
  const property = fc.property(strange, (receipt) => {
    const found = adjudicate(dispute({ receipt: receipt as unknown as Dispute['receipt'] }), facts())
    assert.equal(found.rule, 'DIP-G1')
  })
  fc.assert(property, { numRuns: runs(100, 2_000), seed: SEED })
})

test('a text is tried as it stands, as JSON and as a JSON text; an object canonically and as it came', () => {
  const known = (value: unknown) => hashesOf(value, nobleCrypto)
  const of = (text: string) => keccak256(toBytes(text))
  assert.deepEqual(
    known('{ "b":1,"a":2}'),
    new Set([of('{ "b":1,"a":2}'), of('"{ \\"b\\":1,\\"a\\":2}"'), of('{"a":2,"b":1}'), of('{"b":1,"a":2}')]),
  )
  assert.deepEqual(known({ b: 1, a: 2 }), new Set([of('{"a":2,"b":1}'), of('{"b":1,"a":2}')]))
  assert.deepEqual(known(`${'['.repeat(5_000)}${']'.repeat(5_000)}`).size, 2)
})

const EVERY: TypedStruct = {
  name: 'Every',
  fields: [
    { name: 'text', type: 'string' },
    { name: 'texts', type: 'string[]' },
    { name: 'who', type: 'address' },
    { name: 'word', type: 'bytes32' },
    { name: 'wide', type: 'uint256' },
    { name: 'time', type: 'uint64' },
    { name: 'yes', type: 'bool' },
  ],
}

test('typed data hash as viem hashes them', async () => {
  const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => toHex(value) as Hex)
  const message = fc.record({
    text: fc.string(),
    texts: fc.array(fc.string(), { maxLength: 5 }),
    who: hex(20),
    word: hex(32),
    wide: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    time: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    yes: fc.boolean(),
  })
  const property = fc.property(message, (values) => {
    const expected = hashTypedData({
      domain: { name: 'POL-1', version: '1' },
      types: { Every: [...EVERY.fields] },
      primaryType: 'Every',
      message: values,
    })
    assert.equal(toHex(typedDigest(ruleBookDomain('POL-1'), EVERY, values, nobleCrypto)), expected)
  })
  fc.assert(property, { numRuns: runs(100, 5_000), seed: SEED })
  const values = { text: '', texts: [], who: `0x${'1'.repeat(40)}`, word: `0x${'1'.repeat(64)}`, wide: 0n, time: 2n ** 64n, yes: true }
  assert.throws(() => typedDigest(ruleBookDomain('POL-1'), EVERY, values, nobleCrypto), RangeError)
})

const DISPUTE_TYPES = {
  Dispute: [
    { name: 'dispute_id', type: 'string' },
    { name: 'receipt_hash', type: 'bytes32' },
    { name: 'claim', type: 'string' },
    { name: 'body_hash', type: 'bytes32' },
  ],
}

/** The payer's signature over what the answer to a dispute names. */
function signedByPayer(answer: Record<string, unknown>): Promise<Hex> {
  const { dispute_id, receipt_hash, claim, body_hash } = answer
  const message = { dispute_id, receipt_hash, claim, body_hash }
  return PAYER.signTypedData({ domain: { name: 'DIP-1', version: '1' }, types: DISPUTE_TYPES, primaryType: 'Dispute', message })
}

test('the payer signs what the answer to an unsigned dispute names, and takes the name back from a stranger', async () => {
  const sources = fixedSources([tool])
  const receipt = receiptWith()
  const run = async (change: object) => tool.execute(tool.input.parse({ dispute_id: 'D', receipt, ...change }), sources)
  assert.equal((await run({ claim: 'OUTPUT_MISMATCH' }))['created'], true)
  const body = { claim: 'OUTPUT_MISMATCH', delivered_output: { other: 1 } } as const
  await assert.rejects(run(body), { problem: 'DISPUTE_CONFLICT' })
  const unsigned = await tool.execute(tool.input.parse({ dispute_id: 'E', receipt, ...body }), sources)
  const claimant_signature = await signedByPayer({ ...unsigned, dispute_id: 'D' })
  const signed = await run({ ...body, claimant_signature })
  assert.deepEqual([signed['created'], signed['claimant'], signed['rule']], [true, 'payer_signed', 'DIP-O3'])
  await assert.rejects(run({ claim: 'NOT_DELIVERED' }), { problem: 'DISPUTE_CONFLICT', message: /payer signed/ })
  assert.equal(
    typedSigner(typedDigest(ruleBookDomain('DIP-1'), { name: 'X', fields: [] }, {}, nobleCrypto), claimant_signature, nobleCrypto) ===
      PAYER.address.toLowerCase(),
    false,
  )
})

/** The tool at a moment, over sources that stay. */
function filedAt(sources: Sources, receipt: object) {
  return (now_s: number, change: object) =>
    tool.execute(tool.input.parse({ dispute_id: 'D', receipt, ...change }), { ...sources, clock: clockAt(() => now_s * 1_000) })
}

test('the assured record of a receipt follows the disputes that its payer signed, and those that are upheld', async () => {
  const sources = fixedSources([tool])
  const signed = signReceipt({ ...receiptWith({ output_hash: EMPTY }) }, registrar)
  const record = { receipt_hash: signed.digest, assured_id: 'asr_1', terms: '{}', window_ends_s: NOW_S, created_ms: 1, signed: null }
  await sources.assured.keep(record)
  const run = filedAt(sources, signed.receipt)
  const refused = { claim: 'NOT_DELIVERED', claimed_input: 'not it' }
  assert.equal((await run(NOW_S, refused))['assured_state'], 'OPEN')
  assert.equal((await run(NOW_S + 1, refused))['assured_state'], 'WINDOW_CLOSED')
  const mismatch = { dispute_id: 'E', claim: 'OUTPUT_MISMATCH' }
  const unsigned = await run(NOW_S, mismatch)
  assert.deepEqual([unsigned['verdict'], unsigned['binding'], unsigned['assured_state']], ['INCONCLUSIVE', 'advisory', 'OPEN'])
  const claimant_signature = await signedByPayer(unsigned)
  assert.equal((await run(NOW_S, { ...mismatch, claimant_signature }))['assured_state'], 'DISPUTED')
  assert.equal((await run(NOW_S + 1, mismatch))['assured_state'], 'DISPUTED')
  assert.equal((await run(NOW_S, { dispute_id: 'F', claim: 'NOT_DELIVERED' }))['assured_state'], 'ADJUDICATED')
})

test('an unsigned dispute that is rejected keeps nothing; filed again it is decided again, and the payer’s own is kept', async () => {
  const sources = fixedSources([tool])
  const signed = signReceipt({ ...receiptWith({ output_hash: EMPTY }) }, registrar)
  const kept = { receipt_hash: signed.digest, assured_id: 'asr_1', terms: '{}', window_ends_s: NOW_S, created_ms: 1, signed: null }
  await sources.assured.keep(kept)
  const run = filedAt(sources, signed.receipt)
  const claim = { claim: 'TIMEOUT_UNDELIVERED' }
  const ts = NOW_S - 3_600
  const members = ['created', 'verdict', 'rule', 'binding', 'assured_state']
  const shown = (answer: Record<string, unknown>) => members.map((name) => answer[name])
  // A stranger files too early; that neither marks the record nor takes the name.
  const early = await run(ts, claim)
  assert.deepEqual(shown(early), [false, 'REJECTED', 'DIP-T3', 'none', 'OPEN'])
  assert.equal(await sources.disputes.find(signed.digest, 'D'), null)
  const claimant_signature = await signedByPayer(early)
  assert.deepEqual(shown(await run(ts, { ...claim, claimant_signature })), [true, 'REJECTED', 'DIP-T3', 'signed', 'ADJUDICATED'])
  // The verdict that the payer signed stays, whatever would be decided now.
  assert.deepEqual(shown(await run(ts + 200, claim)), [false, 'REJECTED', 'DIP-T3', 'signed', 'ADJUDICATED'])
  assert.deepEqual(shown(await run(ts + 200, { ...claim, dispute_id: 'E' })), [true, 'UPHELD', 'DIP-T1', 'advisory', 'ADJUDICATED'])
})

test('the typed data of the answer is what the payer signs, for any wallet', async () => {
  const run = filedAt(fixedSources([tool]), receiptWith())
  const unsigned = await run(NOW_S, { claim: 'NOT_DELIVERED' })
  const { domain, types, primaryType, message } = unsigned['typed_data'] as Parameters<typeof PAYER.signTypedData>[0]
  const claimant_signature = await PAYER.signTypedData({ domain, types, primaryType, message })
  assert.equal((await run(NOW_S, { claim: 'NOT_DELIVERED', claimant_signature }))['binding'], 'signed')
})

test('a signature that is not the payer’s is told to whoever brought it, and not kept', async () => {
  const run = filedAt(fixedSources([tool]), receiptWith())
  const foreign = { claim: 'NOT_DELIVERED', claimant_signature: `0x${'1'.repeat(130)}` }
  const rules = ({ findings }: Record<string, unknown>) => (findings as { rule: string }[]).map(({ rule }) => rule)
  const first = await run(NOW_S, foreign)
  assert.deepEqual(rules(first), ['DIP-N2', 'DIP-R5'])
  assert.deepEqual(rules(await run(NOW_S, { claim: 'NOT_DELIVERED' })), ['DIP-N2'])
  const signed = await run(NOW_S, { claim: 'NOT_DELIVERED', claimant_signature: await signedByPayer(first) })
  assert.deepEqual([signed['claimant'], rules(signed)], ['payer_signed', ['DIP-N2']])
  const again = await run(NOW_S, foreign)
  assert.deepEqual([again['claimant'], rules(again)], ['payer_signed', ['DIP-N2']])
})
