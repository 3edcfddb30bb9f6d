import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signLink } from '../../src/pure/receipts/chain.ts'
import type { PublishedKey } from '../../src/pure/receipts/keys.ts'
import { readGiven } from '../../src/surfaces/pages/client/given.ts'
import { judge } from '../../src/surfaces/pages/client/judge.ts'
import { ADDRESS_ONE, BODY, DIGEST, RECEIPT, RESULT, signerOne } from '../receipts/example.ts'

const KEY: PublishedKey = {
  address: ADDRESS_ONE,
  status: 'active',
  not_before: 0,
  not_after: null,
  revoked_at: null,
  reason: null,
  mode: 'live',
  chain_id: 8453,
}
const STRANGER: PublishedKey = { ...KEY, address: `0x${'ab'.repeat(20)}` }
const PREVIOUS = `0x${'44'.repeat(32)}`
const CHAIN = signLink(DIGEST, PREVIOUS, signerOne)

const wordOf = (given: Parameters<typeof judge>[0], keys: Parameters<typeof judge>[1]) => {
  const { mark, word } = judge(given, keys)
  return [mark, word]
}

test('a page says no more of a receipt than its weakest part carries', () => {
  const receipt = RECEIPT
  assert.deepEqual(wordOf({ receipt }, [STRANGER, KEY]), ['valid', 'verified'])
  assert.deepEqual(wordOf({ receipt, result: RESULT, chain: CHAIN }, [KEY]), ['valid', 'verified'])
  assert.deepEqual(wordOf({ receipt }, [STRANGER]), ['unverifiable', 'unknown signer'])
  assert.deepEqual(wordOf({ receipt }, null), ['unverifiable', 'signature valid, issuer unknown'])
  assert.deepEqual(wordOf({ receipt }, [{ ...KEY, not_after: BODY.ts - 1, status: 'retired' }]), ['invalid', 'key not valid at that time'])
  assert.deepEqual(wordOf({ receipt }, [{ ...KEY, revoked_at: BODY.ts, status: 'revoked' }]), ['invalid', 'key not valid at that time'])
  assert.deepEqual(wordOf({ receipt, result: { ...RESULT, valid: false } }, [KEY]), ['invalid', 'result was changed'])
  assert.deepEqual(wordOf({ receipt, chain: { ...CHAIN, prev_receipt_hash: `0x${'45'.repeat(32)}` } }, [KEY]), ['invalid', 'broken link'])
  assert.deepEqual(wordOf({ receipt: { ...RECEIPT, amount: '5001' } }, [KEY]), ['invalid', 'receipt altered or forged'])
  for (const broken of [null, 'x', [], {}, { ...RECEIPT, signature: undefined }])
    assert.deepEqual(wordOf({ receipt: broken }, [KEY]), ['invalid', 'not a valid receipt'])
})

test('what is given may be a receipt, an answer or the link of a badge', () => {
  const text = JSON.stringify(RECEIPT)
  const link = `[![assay](x.svg)](https://assay.example/verify#r=${Buffer.from(text).toString('base64url')})`
  for (const given of [text, `\n ${text} `, link, `{"receipt":${text}}`, `{"receipt":${text},"chain":null}`])
    assert.deepEqual(readGiven(given), { receipt: RECEIPT }, given)
  assert.deepEqual(readGiven(JSON.stringify({ result: RESULT, receipt: RECEIPT, chain: CHAIN, embeddable_badge: link })), {
    receipt: RECEIPT,
    result: RESULT,
    chain: CHAIN,
  })
})

test('where the fields of a tool are the body itself, its `chain` is no link; the link goes by another name', () => {
  const result = { ...RESULT, chain: 'base' }
  const beside = { tier: 'free', settlement: null, allowance: null }
  assert.deepEqual(readGiven(JSON.stringify({ ...result, receipt: RECEIPT, ...beside })), { receipt: RECEIPT, result })
  // Without the name of its tool nothing says that the members are a result.
  const bare = { chain: 'base', receipt: RECEIPT }
  assert.deepEqual(readGiven(JSON.stringify(bare)), { receipt: RECEIPT })
  const linked = readGiven(JSON.stringify({ ...bare, receipt_chain: CHAIN }))
  assert.deepEqual(linked, { receipt: RECEIPT, chain: CHAIN })
  assert.deepEqual(wordOf(linked ?? { receipt: null }, [KEY]), ['valid', 'verified'])
  const forged = { ...bare, receipt_chain: 'base', chain: CHAIN }
  assert.deepEqual(wordOf(readGiven(JSON.stringify(forged)) ?? { receipt: null }, [KEY]), ['invalid', 'broken link'])
})

test('what can be read in two ways, or not at all, is not read', () => {
  const twice = JSON.stringify(RECEIPT).replace('{', '{"amount":"1",')
  for (const text of ['', 'null', '[]', '"x"', '{', twice, '#r=A', '#r=gICA', `#r=${Buffer.from('[]').toString('base64url')}`])
    assert.equal(readGiven(text), null, text)
})
