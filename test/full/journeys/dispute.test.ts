/** Journey 11: a payer files a dispute with evidence, signs it, and reads the ruling and the rule that decided. */
import assert from 'node:assert/strict'
import { privateKeyToAccount } from 'viem/accounts'
import { follow, journey, type Json } from './stranger.ts'

journey('a disputer files with evidence, signs and reads the ruling', {}, async (given) => {
  const key = await given.payer()
  const result = await given.post('/v1/tools/iban-check/call', { input: { iban: 'GB82 WEST 1234 5698 7654 32' } })
  const receipt = result.body['receipt'] as Json
  const evidence = { dispute_id: 'D-1', receipt, claim: 'OUTPUT_MISMATCH', claimed_input: { iban: 'GB82 WEST 1234 5698 7654 32' } }
  const other = { ...(result.body['result'] as Json), valid: false }
  const filed = await given.result('dip-file-dispute', { ...evidence, delivered_output: other })
  assert.deepEqual([filed['verdict'], filed['rule'], filed['binding']], ['INCONCLUSIVE', 'DIP-O3', 'advisory'])
  const [ruling] = filed['findings'] as Json[]
  assert.deepEqual([ruling?.['rule'], ruling?.['message']], ['DIP-O3', filed['reason']])

  // The receipt of a free call names no payer, so no wallet can make this dispute its own.
  const signed = await follow({ sign: { ...(filed['sign'] as Json), signer: null } }, key, {
    input: { ...evidence, delivered_output: other },
  })
  const unchanged = signed.body['result'] as Json
  assert.deepEqual([unchanged['binding'], unchanged['claimant']], ['advisory', 'unsigned'])
  assert.ok((unchanged['findings'] as Json[]).some(({ rule }) => rule === 'DIP-R5'))

  const match = await given.result('dip-file-dispute', { ...evidence, dispute_id: 'D-2', delivered_output: result.body['result'] })
  assert.deepEqual([match['verdict'], match['rule'], match['reason_code']], ['REJECTED', 'DIP-O1', 'output_matches'])
  assert.notEqual(privateKeyToAccount(key).address, receipt['payer'])
})
