import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { readReceiptHash, signLink, verifyLink } from '../../src/pure/receipts/chain.ts'
import { ADDRESS_ONE, DIGEST, mirrored, signerOne } from './example.ts'

const PREVIOUS = `0x${'44'.repeat(32)}`
/** Computed apart from this project's code. */
const LINK_DIGEST = '0x8e0544a37535f1ba7dab476e3185b1450a9393d0511d7d103efd2d9cc2124ffd'

test('a link has the digest computed elsewhere and verifies against the signer of the receipt', () => {
  const link = signLink(DIGEST, PREVIOUS, signerOne)
  assert.equal(link.link_digest, LINK_DIGEST)
  assert.deepEqual(Object.keys(link), ['link_digest', 'link_signature', 'prev_receipt_hash'])
  assert.deepEqual(verifyLink(link, DIGEST, ADDRESS_ONE), {
    valid: true,
    code: 'ok',
    reason: 'The same signer linked this receipt to the earlier one.',
  })
})

test('every fault of a link has its code', () => {
  const link = signLink(DIGEST, PREVIOUS, signerOne)
  const other = nobleSigner(new Uint8Array(32).fill(2))
  const codeOf = (value: unknown, digest = DIGEST): string => verifyLink(value, digest, ADDRESS_ONE).code
  for (const value of [null, 1, {}, { ...link, link_digest: '0x' }, { ...link, prev_receipt_hash: 5 }])
    assert.equal(codeOf(value), 'bad_shape')
  assert.equal(codeOf({ ...link, prev_receipt_hash: DIGEST }), 'digest_mismatch')
  assert.equal(codeOf(link, PREVIOUS), 'digest_mismatch')
  assert.equal(codeOf({ ...link, link_signature: '0x00' }), 'bad_signature')
  assert.equal(codeOf({ ...link, link_signature: mirrored(link.link_signature) }), 'bad_signature')
  assert.equal(codeOf(signLink(DIGEST, PREVIOUS, other)), 'signer_mismatch')
})

test('a previous hash is 32 bytes of hex in either case', () => {
  assert.equal(readReceiptHash(`0x${'Ab'.repeat(32)}`), `0x${'ab'.repeat(32)}`)
  for (const text of [
    '',
    '0x',
    'ab'.repeat(32),
    `0x${'ab'.repeat(31)}`,
    `0x${'ab'.repeat(33)}`,
    `0x${'zz'.repeat(32)}`,
    ` ${DIGEST}`,
    `${DIGEST}\n`,
  ]) {
    assert.equal(readReceiptHash(text), null)
  }
})
