import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'
import { digestText, receiptDigest, valueHash, ZERO_ADDRESS, type ReceiptBody, signReceipt } from '../../src/pure/receipts/receipt.ts'
import { BODY, DIGEST, DIGEST_WITH_TAIL, INPUT, mirrored, RECEIPT, RESULT, SIGNATURE, signerOne } from './example.ts'

test('keccak-256 is the original one, not SHA3-256', () => {
  // Keccak team, test vectors of the Keccak submission; the empty one is also EIP-1052's hash of no code.
  assert.equal(nobleCrypto.keccak256Hex(''), '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
  assert.equal(nobleCrypto.keccak256Hex('abc'), '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45')
})

test('the example receipt hashes and signs to the bytes computed elsewhere', () => {
  assert.equal(valueHash(INPUT), BODY.input_hash)
  assert.equal(valueHash(RESULT), BODY.output_hash)
  assert.equal(toHex(receiptDigest(BODY)), DIGEST)
  const signed = signReceipt(BODY, signerOne)
  assert.deepEqual(signed, { receipt: RECEIPT, digest: DIGEST })
})

test('successor and stream_state join the text together, when either is there', () => {
  const both: ReceiptBody = { ...BODY, successor: '', stream_state: 'active' }
  assert.equal(toHex(receiptDigest(both)), DIGEST_WITH_TAIL)
  assert.equal(toHex(receiptDigest({ ...BODY, stream_state: 'active' })), DIGEST_WITH_TAIL)
  // The public reference verifiers ask whether one of the two is set, which an empty text is not.
  assert.equal(toHex(receiptDigest({ ...BODY, successor: '' })), DIGEST)
  assert.equal(digestText({ ...BODY, successor: ZERO_ADDRESS, stream_state: 'closed' }), `${digestText(BODY)}|${ZERO_ADDRESS}|closed`)
})

test('a body that breaks the grammar is never signed', () => {
  const broken: readonly object[] = [
    { tool: 'iban_check' },
    { tool: 'a|b' },
    { tool: '' },
    { tool: 'a'.repeat(65) },
    { tool_version: '1.0' },
    { tool_version: '01.0.0' },
    { tool_version: `1.0.${'1'.repeat(64)}` },
    { input_hash: BODY.input_hash.toUpperCase() },
    { output_hash: '0x' },
    { payer: 'free:203.0.113.7' },
    { recipient: '' },
    { amount: '05' },
    { amount: '1.5' },
    { amount: '-1' },
    { nonce: '0x33' },
    { ts: -1 },
    { ts: 1.5 },
    { ts: 1e12 },
    { tier: 'gold' },
    { v: 'XDR-2' },
    { successor: '0x11' },
    { stream_state: 'open' },
  ]
  for (const change of broken) {
    assert.throws(() => signReceipt({ ...BODY, ...change }, signerOne), /breaks the XDR-1 grammar/, JSON.stringify(change))
  }
})

test('a signer that returns another form is caught', () => {
  const forms = [mirrored(SIGNATURE), SIGNATURE.slice(0, -2), `${SIGNATURE.slice(0, -2)}00`, SIGNATURE.slice(2), SIGNATURE.toUpperCase()]
  for (const form of forms) assert.throws(() => signReceipt(BODY, { ...signerOne, sign: () => form }), /another form/)
})
