/** The official agent client calls and pays, with payments that the official x402 client makes of what the task says. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { TaskState } from '@a2a-js/sdk'
import { x402Client } from '@x402/core/client'
import { validatePaymentRequired } from '@x402/core/schemas'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import type { PrivateKeyAccount } from 'viem/accounts'
import { A2A_CARDS, ACTIVATE, answerOf, asking, connectA2a, dataOf, metadataOf, saying, taskFor, type A2aVersion } from '../support/a2a.ts'
import { restCall } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { base64 } from '../support/paying.ts'
import { assertBought, assertNothingPaid, openShop, seenOnChain, type Shop } from './shop.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CALL = { tool: 'iban-check', input: IBAN }
const CHECK_MINOR = 5_000n

let shop: Shop
before(async () => {
  shop = await openShop()
})
after(() => shop.stop())

type Client = Awaited<ReturnType<typeof connectA2a>>
type Task = Awaited<ReturnType<typeof taskFor>>

async function unpaid(client: Client, call: unknown = CALL): Promise<Task> {
  const task = await taskFor(client, asking(call), ACTIVATE)
  assert.equal(task.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED)
  assert.equal(metadataOf(task)['x402.payment.status'], 'payment-required')
  assert.equal(dataOf(task)['code'], 'PAYMENT_REQUIRED')
  return task
}

function paymentFor(task: Task, payer: PrivateKeyAccount, generation: 1 | 2 = 2): Promise<PaymentPayload> {
  const terms: unknown = metadataOf(task)[generation === 2 ? 'x402.payment.required' : 'x402.payment.required.v1']
  validatePaymentRequired(terms)
  const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(payer)).registerV1('base-sepolia', new ExactEvmSchemeV1(payer))
  return wallet.createPaymentPayload(terms as PaymentRequired)
}

function paying(task: Pick<Task, 'id'>, payment: unknown) {
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment }
  return saying('Here is the payment authorization.', { taskId: task.id, metadata })
}

async function assertPaid(task: Task, payer: PrivateKeyAccount): Promise<Record<string, unknown>> {
  assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED, JSON.stringify(task.status))
  const answer = answerOf(task)
  const transaction = await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: IBAN, answer })
  const { 'x402.payment.status': status, 'x402.payment.receipts': receipts, ...others } = metadataOf(task)
  assert.equal(status, 'payment-completed')
  const network = shop.network.v2
  const end = { success: true, transaction, network, payer: payer.address.toLowerCase(), amount: String(CHECK_MINOR) }
  const { extensions, ...told } = asMembers((receipts as unknown[])[0])
  assert.deepEqual([told, Object.keys(asMembers(extensions))], [end, ['offer-receipt']])
  assert.deepEqual(others, {})
  return answer
}

for (const version of Object.keys(A2A_CARDS) as A2aVersion[]) {
  for (const generation of [1, 2] as const) {
    test(`${version}, x402 version ${generation}: the client is told the terms, pays, and the same message again costs nothing`, async () => {
      const client = await connectA2a(shop.url, version)
      const payer = await shop.payer()
      const asked = await unpaid(client)
      const message = paying(asked, await paymentFor(asked, payer, generation))
      const paid = await taskFor(client, message, ACTIVATE)
      assert.equal(paid.id, asked.id)
      assert.equal(paid.contextId, asked.contextId)
      const answer = await assertPaid(paid, payer)
      assert.deepEqual(answerOf(await taskFor(client, message)), answer)
      assert.deepEqual(answerOf(await client.getTask({ tenant: '', id: paid.id })), answer)
      assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
    })
  }

  test(`${version}: a stream tells of the task, the answer and the end`, async () => {
    const client = await connectA2a(shop.url, version)
    const payer = await shop.payer()
    const asked = await unpaid(client)
    const events = []
    for await (const { payload } of client.sendMessageStream(paying(asked, await paymentFor(asked, payer)))) events.push(payload)
    assert.deepEqual(
      events.map((payload) => payload?.$case),
      ['task', 'artifactUpdate', 'statusUpdate'],
    )
    const [, artifact, status] = events
    assert.ok(artifact?.$case === 'artifactUpdate' && status?.$case === 'statusUpdate' && artifact.value.artifact !== undefined)
    assert.equal(status.value.status?.state, TaskState.TASK_STATE_COMPLETED)
    const answer = answerOf({ artifacts: [artifact.value.artifact] })
    await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: IBAN, answer })
  })
}

test('a payment in Base64 beside the call itself needs no task before', async () => {
  const client = await connectA2a(shop.url)
  const payer = await shop.payer()
  const payment = await paymentFor(await unpaid(client), payer)
  const metadata = { 'x402.payment.payload': base64(payment) }
  const answer = await assertPaid(await taskFor(client, asking(CALL, { metadata })), payer)
  // Over REST it is the same purchase.
  const again = await restCall(shop.url, 'iban-check', IBAN, { 'payment-signature': base64(payment) })
  assert.deepEqual([again.status, again.body], [200, answer])
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
})

test('a payment that fails ends its task, names the reason and costs nothing', async () => {
  const client = await connectA2a(shop.url)
  const payer = await shop.payer(CHECK_MINOR - 1n)
  const asked = await unpaid(client)
  const failed = await taskFor(client, paying(asked, await paymentFor(asked, payer)))
  assert.equal(failed.status?.state, TaskState.TASK_STATE_FAILED)
  const { 'x402.payment.status': status, 'x402.payment.error': error, 'x402.payment.receipts': receipts } = metadataOf(failed)
  assert.deepEqual([status, error], ['payment-failed', 'INSUFFICIENT_FUNDS'])
  const reason = 'invalid_exact_evm_insufficient_balance'
  assert.deepEqual(receipts, [{ success: false, errorReason: reason, transaction: '', network: shop.network.v2 }])
  assert.deepEqual([dataOf(failed)['charged'], failed.artifacts], [false, []])
  await assertNothingPaid(shop, payer.address)
})

test('of two payments at once for one task only one is used', async () => {
  const client = await connectA2a(shop.url)
  const payer = await shop.payer()
  const asked = await unpaid(client)
  const payments = await Promise.all([paymentFor(asked, payer), paymentFor(asked, payer), paymentFor(asked, payer)])
  const tasks = await Promise.all(payments.map((payment) => taskFor(client, paying(asked, payment)).catch(() => null)))
  assert.ok(tasks.some((task) => task?.status?.state === TaskState.TASK_STATE_COMPLETED))
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
  await assert.rejects(taskFor(client, paying(asked, await paymentFor(asked, payer))))
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
})

test('a payment for one call buys no other', async () => {
  const client = await connectA2a(shop.url)
  const payer = await shop.payer()
  const asked = await unpaid(client)
  const message = paying(asked, await paymentFor(asked, payer))
  await assertPaid(await taskFor(client, message), payer)
  const other = await unpaid(client, { tool: 'isbn-check', input: { isbn: '978-0-306-40615-7' } })
  const refused = await taskFor(client, {
    ...message,
    message: { ...paying(other, null).message, ...metaFrom(message) } as typeof message.message,
  })
  assert.equal(refused.status?.state, TaskState.TASK_STATE_FAILED)
  assert.equal(metadataOf(refused)['x402.payment.error'], 'NONCE_BOUND')
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
})

function metaFrom({ message }: ReturnType<typeof paying>) {
  return { metadata: asMembers(message?.metadata) }
}

test('who declines the terms is not charged', async () => {
  const client = await connectA2a(shop.url)
  const asked = await unpaid(client)
  const declined = await taskFor(client, saying('No.', { taskId: asked.id, metadata: { 'x402.payment.status': 'payment-rejected' } }))
  assert.equal(declined.status?.state, TaskState.TASK_STATE_FAILED)
  assert.equal(metadataOf(declined)['x402.payment.status'], 'payment-rejected')
})
