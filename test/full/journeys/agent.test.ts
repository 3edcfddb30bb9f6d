/** Journey 1: an agent discovers the service, calls it free, pays, verifies the receipt and gets a lost answer again. */
import assert from 'node:assert/strict'
import canonicalize from 'canonicalize'
import { keccak256, recoverAddress, stringToHex, type Hex } from 'viem'
import { journey, paymentOf, type Json } from './stranger.ts'

const INPUT = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CALL = '/v1/tools/iban-check/call'

journey('an agent calls free, pays, verifies and gets a lost answer again', { ASSAY_FREE_DAILY: '1' }, async (given) => {
  const words = (await given.get('/llms.txt')).text
  assert.match(words, /iban-check/)
  assert.ok(words.includes(`POST ${given.url()}/v1/sandbox/fund {"address":"0x…"}`))
  const paths = (await given.get('/openapi.json')).body['paths'] as Json
  assert.ok(CALL in paths && '/v1/sandbox/fund' in paths)
  const free = await given.post(CALL, { input: INPUT })
  assert.deepEqual([free.status, free.body['tier']], [200, 'free'])
  const terms = await given.post(CALL, { input: INPUT })
  assert.equal(terms.status, 402)
  assert.match(String(terms.body['test_money']), /POST http.*\/v1\/sandbox\/fund \{"address":"0x…"\}$/)
  const headers = { 'X-PAYMENT': await paymentOf(terms, await given.payer()) }
  const paid = await given.post(CALL, { input: INPUT }, headers)
  assert.deepEqual([paid.status, paid.body['tier']], [200, 'paid'], paid.text)
  const again = await given.post(CALL, { input: INPUT }, headers)
  assert.deepEqual([again.status, again.text], [200, paid.text])
  const receipt = paid.body['receipt'] as Json
  await verifyOffline(receipt, paid.body['result'], (await given.get('/.well-known/xdr-1.json')).body)
  const verified = await given.post('/v1/receipt/verify', { receipt })
  assert.equal((verified.body['result'] as Json)['valid'], true, verified.text)
})

/** As xdr-1.json describes it. */
async function verifyOffline(receipt: Json, result: unknown, spec: Json): Promise<void> {
  const { fields, separator } = spec['signed_text'] as { fields: string[]; separator: string }
  const hash = keccak256(stringToHex(fields.map((field) => String(receipt[field])).join(separator)))
  const signer = (await recoverAddress({ hash, signature: receipt['signature'] as Hex })).toLowerCase()
  assert.ok((spec['keys'] as Json[]).some(({ address }) => address === signer))
  assert.equal(receipt['output_hash'], keccak256(stringToHex(canonicalize(result) ?? '')))
}
