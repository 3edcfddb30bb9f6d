/** The list of a merchant's invoices over HTTP: signed as the answer asks, paged by its token, closed to everyone else. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PrivateKeyAccount, TypedDataDefinition } from 'viem'
import { issue, issueSigned, looked, mine, newMerchant, send, sendAsStranger, signAsMerchant, signFor } from '../support/invoicing.ts'
import { placeWallet } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import type { Answered } from '../support/paying-calls.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const list = (body: unknown) => send(`${world.url}/api/invoice/list`, body)

interface Sign {
  signer: string
  typed_data: TypedDataDefinition
  submit: { url: string; body: Record<string, string>; body_is: string }
}

/** Asks without a proof, signs what the problem asks for, and sends it again. */
async function signedList(merchant: string, signer: PrivateKeyAccount, request: object = {}): Promise<Answered> {
  const asked = await list({ merchant, ...request })
  assert.deepEqual([asked.status, asked.body['code']], [403, 'INVOICE_SIGNATURE_INVALID'], asked.text)
  const sign = asked.body['sign'] as Sign
  assert.deepEqual([sign.signer, sign.submit.body_is], [merchant.toLowerCase(), 'merge_patch'])
  const signature = await signer.signTypedData(sign.typed_data)
  return send(sign.submit.url, { merchant, ...request, ...sign.submit.body, signature })
}

const ids = ({ body }: Answered) => (body['invoices'] as { invoice_id: string }[]).map(({ invoice_id }) => invoice_id)

test('a merchant lists what it signed, newest first and in pages; unsigned invoices and those of others are not there', async () => {
  const [merchant, other] = [newMerchant(), newMerchant()]
  const made = [await issueSigned(world, '1', merchant), await issueSigned(world, '2', merchant), await issueSigned(world, '3', merchant)]
  await issue(world, '4', merchant.address)
  await issueSigned(world, '5', other)
  const expected = made.map(({ invoice_id }) => invoice_id).toReversed()

  const first = await signedList(merchant.address, merchant, { limit: 2 })
  assert.deepEqual([first.status, ids(first)], [200, expected.slice(0, 2)], first.text)
  assert.equal(first.headers.get('cache-control'), 'private, no-store')
  const { token, next_before } = first.body
  const second = await list({ merchant: merchant.address, token, before: next_before, limit: 2 })
  assert.deepEqual([ids(second), second.body['next_before']], [expected.slice(2), null])
  const [newest] = first.body['invoices'] as Record<string, unknown>[]
  const { status, amount_usdc, amount_due_minor, page_url, settled_at, payer } = newest ?? {}
  const id = String(expected[0])
  assert.deepEqual(
    [status, amount_usdc, amount_due_minor, new URL(String(page_url)).pathname, settled_at, payer],
    ['ISSUED', '3', '3000000', `/pay/${id}`, null, null],
  )
})

test('a paid invoice is listed with its transaction and payer, a void one as void', async () => {
  const [merchant, payer] = [newMerchant(), await world.payer(10_000_000n)]
  const [paid, voided] = [await issueSigned(world, '10', merchant), await issueSigned(world, '11', merchant)]
  const tx_hash = await sendAsStranger(world.chain, await signFor(world.chain, payer, paid))
  await mine(world.chain)
  assert.equal((await looked(world, paid)).status, 'SETTLED')
  const signature = await signAsMerchant(world.chain, merchant, voided, 'Void')
  assert.equal((await send(`${world.url}/api/invoice/${voided.invoice_id}/void`, { signature })).status, 200)
  const listed = await signedList(merchant.address, merchant)
  assert.deepEqual(
    (listed.body['invoices'] as Record<string, unknown>[]).map((one) => [one['status'], one['tx_hash'], one['payer']]),
    [
      ['VOID', null, null],
      ['SETTLED', tx_hash, payer.address.toLowerCase()],
    ],
  )
})

test('no other key, time or token opens a list', async () => {
  const [merchant, other] = [newMerchant(), newMerchant()]
  await issueSigned(world, '1', merchant)
  const refused = (answer: Answered, detail: RegExp) => {
    assert.deepEqual([answer.status, answer.body['code']], [403, 'INVOICE_SIGNATURE_INVALID'], answer.text)
    assert.match(String(answer.body['detail']), detail)
    assert.ok('typed_data' in (answer.body['sign'] as object))
  }
  refused(await signedList(merchant.address, other), /not made by the merchant/)
  const old = String(Math.floor(Date.now() / 1_000) - 3_600)
  refused(await signedList(merchant.address, merchant, { issued_at: old }), /expected within 600 s/)

  const { token } = (await signedList(other.address, other)).body
  refused(await list({ merchant: merchant.address, token }), /another merchant/)
  const [, expires_s = '', mac = ''] = String(token).split('_')
  const later = `mlt_${Number(expires_s) + 1}_${mac}`
  refused(await list({ merchant: other.address, token: later }), /has expired or is of another merchant/)
  assert.equal((await list({ merchant: other.address, token: 'mlt_1_x' })).status, 400)
  assert.equal((await list({ merchant: other.address, limit: 101 })).status, 400)
  const by_get = await send(`${world.url}/api/invoice/list`)
  assert.deepEqual([by_get.status, by_get.headers.get('allow')], [405, 'POST, OPTIONS'])
})

test('a contract wallet lists by its own word on the chain', async () => {
  const owner = newMerchant()
  const wallet = await placeWallet(world.chain, owner.address)
  const invoice = await issue(world, '10', wallet)
  const signature = await signAsMerchant(world.chain, owner, invoice, 'Issue')
  assert.equal((await send(`${world.url}/api/invoice/${invoice.invoice_id}/sign`, { signature })).status, 200)
  assert.deepEqual(ids(await signedList(wallet, owner)), [invoice.invoice_id])
  assert.equal((await signedList(wallet, newMerchant())).status, 403)
})
