/**
 * Journey: a merchant without an account subscribes a webhook, creates an invoice, signs it, and receives and verifies the events of its signature, and of
 * voiding it after the service was killed. Everything that is signed comes from the service: from the answer, or from `/v1/signing/{kind}`. HTTP only.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keccak256, toBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startReceiver } from '../../support/receiver.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const merchant = privateKeyToAccount(generatePrivateKey())

type TypedData = Parameters<typeof merchant.signTypedData>[0]

async function json(url: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Signature of the merchant over an act on its invoice, in the form that `/v1/signing/{kind}` documents. */
async function signatureOf(origin: string, kind: 'invoice-issue' | 'invoice-void', invoice: Record<string, unknown>) {
  const document = (await json(`${origin}/v1/signing/${kind}`)).body as {
    example: { typed_data: TypedData & { domain: object; message: object } }
  }
  const { typed_data } = document.example
  const { invoice_id, merchant: address, amount_minor, cart_hash } = invoice
  const message = {
    ...typed_data.message,
    invoice: keccak256(toBytes(String(invoice_id))),
    merchant: address,
    amount: amount_minor,
    cart: cart_hash,
  }
  return merchant.signTypedData({ ...typed_data, message })
}

test('a merchant subscribes, creates, signs and voids by HTTP, and verifies each event', { timeout: 120_000 }, async (t) => {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-merchant-'))
  const receiver = await startReceiver()
  const settings = { ASSAY_DATA_DIR: data_dir, ASSAY_WEBHOOK_LOOPBACK: 'on', ASSAY_ADMIN_PORT: 'off' }
  let service = await startService(settings)
  t.after(async () => {
    service.process.kill('SIGTERM')
    await service.ended
    await receiver.stop()
    await rm(data_dir, { recursive: true, force: true })
  })

  const request = { url: receiver.url, account: merchant.address }
  const asked = await json(`${service.url}/v1/webhooks`, request)
  assert.equal(asked.status, 403)
  const sign = asked.body['sign'] as { typed_data: TypedData; submit: { url: string; body: object } }
  const subscribed = await json(sign.submit.url, {
    ...request,
    ...sign.submit.body,
    signature: await merchant.signTypedData(sign.typed_data),
  })
  assert.equal(subscribed.status, 201, JSON.stringify(subscribed.body))
  receiver.secret = String(subscribed.body['secret'])

  const made = await json(`${service.url}/api/invoice/create`, { amountUsdc: '49.00', merchant: merchant.address, memo: 'May' })
  assert.equal(made.status, 201)
  const { invoice_id } = made.body
  const signed = await json(`${service.url}/api/invoice/${String(invoice_id)}/sign`, {
    signature: await signatureOf(service.url, 'invoice-issue', made.body),
  })
  assert.deepEqual([signed.status, signed.body['merchant_verified']], [200, true])
  await until('invoice.created', () => receiver.accepted.length === 1)

  // The change and its event are stored together, so the answer may be followed by a kill.
  const signature = await signatureOf(service.url, 'invoice-void', made.body)
  assert.equal((await json(`${service.url}/api/invoice/${String(invoice_id)}/void`, { signature })).status, 200)
  service.process.kill('SIGKILL')
  await service.ended
  service = await startService(settings)
  await until('invoice.voided', () => receiver.accepted.some(({ type }) => type === 'invoice.voided'))
  const names = new Map(receiver.accepted.map(({ id, type, data }) => [id, [type, data['invoice_id'], data['status']]]))
  assert.deepEqual(
    [...names.values()],
    [
      ['invoice.created', invoice_id, 'ISSUED'],
      ['invoice.voided', invoice_id, 'VOID'],
    ],
  )
})
