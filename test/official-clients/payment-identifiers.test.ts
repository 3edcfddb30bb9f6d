/**
 * The official client with the official extension: its answer is lost, the wrapper of its caller signs again under the same id, and the
 * refusal leads to the first answer.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { asMembers } from '../support/documents.ts'
import { openShop, seenOnChain, type Shop } from './shop.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }

let shop: Shop
before(async () => {
  shop = await openShop()
})
after(() => shop.stop())

const order = () => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input: IBAN }) })

test('a lost answer, and the same id again: no second charge, and the first answer at answer_url', async () => {
  const payer = await shop.payer()
  const id = generatePaymentId()
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer)).onBeforePaymentCreation(({ paymentRequired }) => {
    appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {}, id)
    return Promise.resolve()
  })
  let lost = ''
  // The first answer to a payment never arrives.
  const lossy: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const response = await fetch(request)
    if (lost !== '' || !request.headers.has('payment-signature')) return response
    lost = await response.text()
    throw new TypeError('fetch failed')
  }
  const paying = wrapFetchWithPayment(lossy, client)
  await assert.rejects(paying(shop.callUrl('iban-check'), order()))
  assert.match(lost, /"tier":"paid"/)
  const again = await paying(shop.callUrl('iban-check'), order())
  const body = asMembers(await again.json())
  assert.deepEqual([again.status, body['code'], body['charged']], [409, 'PAYMENT_ALREADY_USED', false])
  assert.equal(await (await fetch(String(body['answer_url']))).text(), lost)
  const { transfers } = await seenOnChain(shop, payer.address)
  assert.equal(transfers.length, 1)
})
