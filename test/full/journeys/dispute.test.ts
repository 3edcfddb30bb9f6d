/**
 * Journey 11: a payer files a dispute, reads the ruling, appeals to the rule that it names, signs, and is told of each ruling by a webhook.
 */
import assert from 'node:assert/strict'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { follow, journey, paymentOf, type Json } from './stranger.ts'

const INPUT = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CALL = '/v1/tools/iban-check/call'
const FILE = '/v1/tools/dip-file-dispute/call'
const SETTINGS = { ASSAY_FREE_DAILY: '20' }

journey('a disputer files with evidence, reads the ruling, appeals to a rule and signs', SETTINGS, async (given) => {
  const key = await given.payer()
  const account = privateKeyToAccount(key).address
  const receiver = await startReceiver()
  try {
    const subscription = { url: receiver.url, account }
    const subscribed = await follow((await given.post('/v1/webhooks', subscription)).body, key, subscription)
    assert.equal(subscribed.status, 201, subscribed.text)
    receiver.secret = String(subscribed.body['secret'])

    for (let call = 0; call < 20; call++) await given.result('iban-check', INPUT)
    const terms = await given.post(CALL, { input: INPUT })
    const paid = await given.post(CALL, { input: INPUT }, { 'X-PAYMENT': await paymentOf(terms, key) })
    assert.deepEqual([paid.status, paid.body['tier']], [200, 'paid'], paid.text)
    const { receipt, result } = paid.body as { receipt: Json; result: Json }

    // Later calls are paid too; what is filed does not depend on how the filing is paid.
    const file = async (dispute: Json): Promise<Json> => {
      const asked = await given.post(FILE, { input: dispute })
      const filed = await given.post(FILE, { input: dispute }, { 'X-PAYMENT': await paymentOf(asked, key) })
      assert.equal(filed.status, 200, filed.text)
      return filed.body['result'] as Json
    }
    const evidence = { receipt, claimed_input: INPUT }
    const ruled = await file({ ...evidence, dispute_id: 'D-1', claim: 'NOT_DELIVERED' })
    assert.deepEqual([ruled['verdict'], ruled['rule'], ruled['binding']], ['REJECTED', 'DIP-N2', 'none'])
    const [reason] = ruled['findings'] as Json[]
    assert.deepEqual([reason?.['rule'], reason?.['message']], ['DIP-N2', ruled['reason']])
    assert.match(String(ruled['reason']), /claim OUTPUT_MISMATCH/)

    // The appeal follows the rule that rejected the claim.
    const appeal = { ...evidence, dispute_id: 'D-1', claim: 'OUTPUT_MISMATCH', delivered_output: { ...result, valid: false } }
    const advisory = await file(appeal)
    assert.deepEqual([advisory['verdict'], advisory['rule'], advisory['binding']], ['INCONCLUSIVE', 'DIP-O3', 'advisory'])
    const signatureBy = async (signer: typeof key) =>
      privateKeyToAccount(signer).signTypedData((advisory['sign'] as { typed_data: never }).typed_data)
    const foreign = await file({ ...appeal, claimant_signature: await signatureBy(generatePrivateKey()) })
    assert.deepEqual([foreign['binding'], foreign['claimant']], ['advisory', 'unsigned'])
    assert.ok((foreign['findings'] as Json[]).some(({ rule }) => rule === 'DIP-R5'))
    const signed = await file({ ...appeal, claimant_signature: await signatureBy(key) })
    assert.deepEqual([signed['verdict'], signed['binding'], signed['claimant']], ['INCONCLUSIVE', 'signed', 'payer_signed'])

    // Signed, the ruling is kept for good, also over a crash.
    await given.crash()
    const again = await file({ ...appeal, claimant_signature: await signatureBy(key) })
    assert.deepEqual([again['created'], again['filed_at']], [false, signed['filed_at']])
    // An event that arrived just before the crash may come again, under the same id.
    const rulings = () => [
      ...new Map(receiver.accepted.filter(({ type }) => type === 'dispute.ruled').map((one) => [one.id, one])).values(),
    ]
    await until('both rulings are delivered', () => rulings().length >= 2, 60_000)
    assert.deepEqual(
      rulings().map(({ data }) => [data['dispute_id'], data['verdict'], data['rule'], data['payer_signed']]),
      [
        ['D-1', 'INCONCLUSIVE', 'DIP-O3', false],
        ['D-1', 'INCONCLUSIVE', 'DIP-O3', true],
      ],
    )
  } finally {
    await receiver.stop()
  }
})
