/** The receipt of a paid call, disputed in each of the four ways over REST. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, INPUT, signed, v2, type Answered } from '../support/paying-calls.ts'
import { signTerms, termsOf } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

async function paidCall(): Promise<{ receipt: Record<string, unknown>; result: Record<string, unknown> }> {
  const payer = await world.payer()
  const { status, body } = await call(world.url, v2(await signed(world.url, payer)), { input: INPUT })
  assert.equal(status, 200)
  return { receipt: body['receipt'] as Record<string, unknown>, result: body['result'] as Record<string, unknown> }
}

async function file(input: Record<string, unknown>): Promise<Answered> {
  const payer = await world.payer()
  const payment = await signTerms(payer, await termsOf(world.url, 'dip-file-dispute', input))
  return call(world.url, v2(payment), { tool: 'dip-file-dispute', input })
}

test('each claim about a call that went well is rejected or undecided, by the receipt alone', async () => {
  const { receipt, result } = await paidCall()
  const claims: [string, Record<string, unknown>, string, string][] = [
    ['NOT_DELIVERED', { claimed_input: INPUT }, 'DIP-N2', 'receipt'],
    ['TIMEOUT_UNDELIVERED', { claimed_input: JSON.stringify(INPUT) }, 'DIP-T2', 'receipt'],
    ['OUTPUT_MISMATCH', { delivered_output: result }, 'DIP-O1', 'receipt_and_output'],
    ['SCHEMA', { delivered_output: result }, 'DIP-S2', 'receipt_and_output'],
    ['OUTPUT_MISMATCH', { delivered_output: { ...result, valid: false } }, 'DIP-O3', 'claimant_asserted'],
  ]
  for (const [index, [claim, more, rule, grade]] of claims.entries()) {
    const { status, body, text } = await file({ dispute_id: `D-${index}`, receipt, claim, ...more })
    assert.equal(status, 200, text)
    const found = body['result'] as Record<string, unknown>
    assert.deepEqual([found['rule'], found['grade'], found['issuer'], found['remedy']], [rule, grade, 'own', 'verdict_only'])
  }
})

test('the receipt in the form of the specification, without signer, tier and version, is recognised', async () => {
  const { receipt } = await paidCall()
  const { signer: _signer, tier: _tier, tool_version: _version, ...short } = receipt
  const first = await file({ dispute_id: 'D-1', receipt: short, claim: 'OUTPUT_MISMATCH' })
  const { signature_checked, created, receipt_hash } = first.body['result'] as Record<string, unknown>
  assert.deepEqual([signature_checked, created], [true, true])
  // The whole receipt is the same receipt.
  const again = await file({ dispute_id: 'D-1', receipt, claim: 'OUTPUT_MISMATCH' })
  const second = again.body['result'] as Record<string, unknown>
  assert.deepEqual([second['created'], second['receipt_hash']], [false, receipt_hash])
})

test('another body under the same id is a conflict, and the payment for it is not used', async () => {
  const { receipt } = await paidCall()
  assert.equal((await file({ dispute_id: 'D-1', receipt, claim: 'OUTPUT_MISMATCH' })).status, 200)
  const other = await file({ dispute_id: 'D-1', receipt, claim: 'TIMEOUT_UNDELIVERED' })
  assert.deepEqual([other.status, other.body['code'], other.body['charged']], [409, 'DISPUTE_CONFLICT', false])
})
