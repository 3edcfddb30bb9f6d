import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeReceipt } from '../../src/pure/receipts/compact.ts'
import { signLink } from '../../src/pure/receipts/chain.ts'
import type { PublishedKey } from '../../src/pure/receipts/keys.ts'
import { assessReceipt } from '../../src/surfaces/pages/client/verify/assess.ts'
import { readDocuments, type ReceiptInput } from '../../src/surfaces/pages/client/verify/documents.ts'
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
const OTHER_KEY: PublishedKey = { ...KEY, address: `0x${'ab'.repeat(20)}` }
const PREVIOUS = `0x${'44'.repeat(32)}`
const CHAIN = signLink(DIGEST, PREVIOUS, signerOne)

const decisionOf = (input: ReceiptInput, service: PublishedKey[] | null, pasted: PublishedKey[] = []) => {
  const { tone, word } = assessReceipt(input, { service, pasted, logs: { service: null, pasted: null } })
  return [tone, word]
}

/** The only receipt in a text; null if there is none or several. */
const readReceipt = (text: string): ReceiptInput | null => {
  const [first, ...more] = readDocuments(text, '')
  return first?.kind === 'receipt' && more.length === 0 ? first.input : null
}

test('the decision on a receipt is never better than its weakest part', () => {
  const receipt = RECEIPT
  assert.deepEqual(decisionOf({ receipt }, [OTHER_KEY, KEY]), ['good', 'Verified'])
  assert.deepEqual(decisionOf({ receipt, result: RESULT, chain: CHAIN }, [KEY]), ['good', 'Verified'])
  assert.deepEqual(decisionOf({ receipt }, [OTHER_KEY]), ['caution', 'Unknown signer'])
  assert.deepEqual(decisionOf({ receipt }, null), ['caution', 'Signature valid, signer not checked'])
  assert.deepEqual(decisionOf({ receipt }, [{ ...KEY, not_after: BODY.ts - 1, status: 'retired' }]), ['bad', 'Key not valid at that time'])
  assert.deepEqual(decisionOf({ receipt }, [{ ...KEY, revoked_at: BODY.ts, status: 'revoked' }]), ['bad', 'Key not valid at that time'])
  assert.deepEqual(decisionOf({ receipt, result: { ...RESULT, valid: false } }, [KEY]), ['bad', 'Result was changed'])
  assert.deepEqual(decisionOf({ receipt, chain: { ...CHAIN, prev_receipt_hash: `0x${'45'.repeat(32)}` } }, [KEY]), ['bad', 'Broken link'])
  assert.deepEqual(decisionOf({ receipt: { ...RECEIPT, amount: '5001' } }, [KEY]), ['bad', 'Altered or forged'])
  for (const broken of [null, 'x', [], {}, { ...RECEIPT, signature: undefined }])
    assert.deepEqual(decisionOf({ receipt: broken }, [KEY]), ['bad', 'Not a valid receipt'])
})

test('a pasted key list identifies signers that this service does not publish, and never overrides its own list', () => {
  const input = { receipt: RECEIPT }
  const revoked: PublishedKey = { ...KEY, revoked_at: BODY.ts, status: 'revoked' }
  assert.deepEqual(decisionOf(input, [OTHER_KEY], [KEY]), ['good', 'Verified with your key list'])
  assert.deepEqual(decisionOf(input, null, [KEY]), ['good', 'Verified with your key list'])
  assert.deepEqual(decisionOf(input, [OTHER_KEY], [revoked]), ['bad', 'Key not valid at that time'])
  assert.deepEqual(decisionOf(input, [revoked], [KEY]), ['bad', 'Key not valid at that time'])
  assert.deepEqual(decisionOf(input, [KEY], [revoked]), ['good', 'Verified'])
  assert.deepEqual(decisionOf(input, [OTHER_KEY], [OTHER_KEY]), ['caution', 'Unknown signer'])
  assert.deepEqual(decisionOf({ receipt: { ...RECEIPT, amount: '5001' } }, null, [KEY]), ['bad', 'Altered or forged'])
})

function compactOf(receipt: unknown): string {
  const written = encodeReceipt(receipt)
  assert.ok(written.ok)
  return written.text
}

test('a text with a receipt is a receipt, an answer or the link of a badge', () => {
  const text = JSON.stringify(RECEIPT)
  const link = `[![assay](x.svg)](https://assay.example/verify#r=${Buffer.from(text).toString('base64url')})`
  for (const given of [text, `\n ${text} `, link, `{"receipt":${text}}`, `{"receipt":${text},"chain":null}`])
    assert.deepEqual(readReceipt(given), { receipt: RECEIPT }, given)
  const compact = compactOf(RECEIPT)
  for (const given of [compact, ` ${compact}\n`, `[![assay](x.svg)](https://assay.example/verify#r=${compact})`, `#r=${compact}`])
    assert.deepEqual(readReceipt(given), { receipt: RECEIPT }, given)
  assert.equal(readReceipt(compact.slice(0, -1)), null)
  assert.equal(readReceipt(`#r=${compact}A`), null)
  assert.deepEqual(readReceipt(JSON.stringify({ result: RESULT, receipt: RECEIPT, chain: CHAIN, embeddable_badge: link })), {
    receipt: RECEIPT,
    result: RESULT,
    chain: CHAIN,
  })
})

test('in an answer with the result members at top level, `chain` is a member of the result and the link is `receipt_chain`', () => {
  const result = { ...RESULT, chain: 'base' }
  const beside = { tier: 'free', settlement: null, allowance: null }
  assert.deepEqual(readReceipt(JSON.stringify({ ...result, receipt: RECEIPT, ...beside })), { receipt: RECEIPT, result })
  // Without `tool` the members are not known to be a result.
  const bare = { chain: 'base', receipt: RECEIPT }
  assert.deepEqual(readReceipt(JSON.stringify(bare)), { receipt: RECEIPT })
  const linked = readReceipt(JSON.stringify({ ...bare, receipt_chain: CHAIN }))
  assert.deepEqual(linked, { receipt: RECEIPT, chain: CHAIN })
  assert.deepEqual(decisionOf(linked ?? { receipt: null }, [KEY]), ['good', 'Verified'])
  const forged = { ...bare, receipt_chain: 'base', chain: CHAIN }
  assert.deepEqual(decisionOf(readReceipt(JSON.stringify(forged)) ?? { receipt: null }, [KEY]), ['bad', 'Broken link'])
})

test('ambiguous and unreadable texts are refused', () => {
  const twice = JSON.stringify(RECEIPT).replace('{', '{"amount":"1",')
  for (const text of ['', 'null', '[]', '"x"', '{', twice, '#r=A', '#r=gICA', `#r=${Buffer.from('[]').toString('base64url')}`])
    assert.equal(readReceipt(text), null, text)
})
