/** A pilot invoice, paid on a chain by a wallet of viem, is worth its calls to whoever paid it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { balance, callWith, post } from '../support/credits.ts'
import { invoiceUrl, looked, mine, send, sendAsStranger, signFor, transferPlainly, type InvoiceShown } from '../support/invoicing.ts'
import { placeWallet } from '../support/paying-chain.ts'
import { fund } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld({ free_daily: 5, settings: { ASSAY_PILOT_CREDIT: 'on' } })
})
after(() => world.stop())

const PILOT_MINOR = 49_000_000n

test('50,000 calls for 49 USDC, released to the signature of the payer alone, debited by the call', async () => {
  const made = await post(`${world.url}/v1/tools/create-ap2-pilot/call`, { input: {} })
  assert.equal(made.status, 200, made.text)
  const { record } = made.body['result'] as { record: InvoiceShown }
  const url = `${invoiceUrl(world, record)}/credit`
  const payer = await world.payer(PILOT_MINOR)
  // The text that is signed, as the service documents it.
  const text = `Release the calls of invoice ${record.invoice_id} on chain ${world.chain.chain_id} as an assay credit code.`
  const signature = await payer.signMessage({ message: text })
  const early = await send(url, { signature })
  assert.deepEqual([early.status, early.body['code']], [409, 'CREDIT_NOT_DUE'])

  const paid = await send(`${invoiceUrl(world, record)}/pay`, (await signFor(world.chain, payer, record)).body)
  assert.equal(paid.status, 200, paid.text)
  await mine(world.chain)
  assert.equal((await looked(world, record)).status, 'SETTLED')

  const stranger = privateKeyToAccount(generatePrivateKey())
  const others = [await stranger.signMessage({ message: text }), await payer.signMessage({ message: `${text} ` })]
  for (const other of others) {
    const refused = await send(url, { signature: other })
    assert.deepEqual([refused.status, refused.body['code']], [403, 'CREDIT_RELEASE_INVALID'])
    assert.ok(String(refused.body['detail']).includes(text))
  }
  const released = await send(url, { signature })
  assert.equal(released.status, 200, released.text)
  const code = String(released.body['code'])
  assert.deepEqual(released.body, { code, unit: 'calls', calls: 50_000 })
  // Asked for again, it is the same code, granted once.
  assert.deepEqual((await send(url, { signature })).body, released.body)

  const called = await callWith(world.url, code, 'pilot')
  assert.equal(called.status, 200, called.text)
  // 49 USDC for 50,000 calls are 980 minor units each.
  assert.deepEqual(
    [(called.body['receipt'] as { amount: string }).amount, (called.body['settlement'] as { amount_minor: string }).amount_minor],
    ['980', '980'],
  )
  const { body } = await balance(world.url, code)
  assert.deepEqual([body['unit'], body['available'], body['spent'], body['origin']], ['calls', '49999', '1', 'invoice'])
})

test('the operator signs a pilot, so that a plain transfer pays it when it is the only one that is open', async () => {
  const made = await post(`${world.url}/v1/tools/create-ap2-pilot/call`, { input: {} })
  const { record } = made.body['result'] as { record: InvoiceShown }
  assert.deepEqual([record.merchant_verified, record['eip681_reason']], [true, null])
  assert.match(String(record['merchant_notice']), /^The operator of this service made this invoice and signed it/)
  assert.match(String(record['eip681_uri']), /uint256=49000000$/)
  const payer = await world.payer(PILOT_MINOR)
  await transferPlainly(world.chain, payer, record.merchant, PILOT_MINOR)
  await mine(world.chain)
  const paid = await looked(world, record)
  assert.deepEqual([paid.status, paid.payments[0]?.method], ['SETTLED', 'transfer'])
  const text = `Release the calls of invoice ${record.invoice_id} on chain ${world.chain.chain_id} as an assay credit code.`
  const released = await send(`${invoiceUrl(world, record)}/credit`, { signature: await payer.signMessage({ message: text }) })
  assert.deepEqual([released.status, released.body['calls']], [200, 50_000])
})

test('who sends more once it is paid does not take the calls from who paid', async () => {
  const made = await post(`${world.url}/v1/tools/create-ap2-pilot/call`, { input: {} })
  const { record } = made.body['result'] as { record: InvoiceShown }
  const url = `${invoiceUrl(world, record)}/credit`
  const text = `Release the calls of invoice ${record.invoice_id} on chain ${world.chain.chain_id} as an assay credit code.`
  const [payer, greedy] = [await world.payer(PILOT_MINOR), await world.payer(2n * PILOT_MINOR)]
  await sendAsStranger(world.chain, await signFor(world.chain, payer, record))
  await sendAsStranger(world.chain, await signFor(world.chain, greedy, record, { value: PILOT_MINOR + 1n }))
  await mine(world.chain)
  assert.deepEqual((await looked(world, record)).exceptions, ['overpaid'])
  const taken = await send(url, { signature: await greedy.signMessage({ message: text }) })
  assert.deepEqual([taken.status, taken.body['code']], [403, 'CREDIT_RELEASE_INVALID'])
  assert.equal((await send(url, { signature: await payer.signMessage({ message: text }) })).status, 200)
})

test('a contract wallet that paid is given its calls by its own word on the chain (ERC-1271)', async () => {
  const made = await post(`${world.url}/v1/tools/create-ap2-pilot/call`, { input: {} })
  const { record } = made.body['result'] as { record: InvoiceShown }
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = await placeWallet(world.chain, owner.address)
  await fund(world.chain.rpc_url, world.chain.token, wallet, PILOT_MINOR)
  const paid = await send(`${invoiceUrl(world, record)}/pay`, (await signFor(world.chain, { ...owner, address: wallet }, record)).body)
  assert.equal(paid.status, 200, paid.text)
  await mine(world.chain)
  const text = `Release the calls of invoice ${record.invoice_id} on chain ${world.chain.chain_id} as an assay credit code.`
  const url = `${invoiceUrl(world, record)}/credit`
  const forged = await send(url, { signature: await privateKeyToAccount(generatePrivateKey()).signMessage({ message: text }) })
  assert.deepEqual([forged.status, forged.body['code']], [403, 'CREDIT_RELEASE_INVALID'])
  const released = await send(url, { signature: await owner.signMessage({ message: text }) })
  assert.deepEqual([released.status, released.body['calls']], [200, 50_000], released.text)
})

test('other invoices buy no credit', async () => {
  const plain = await send(`${world.url}/api/invoice/create`, { amountUsdc: '49', merchant: world.chain.pay_to })
  const found = await send(`${world.url}/api/invoice/${String(plain.body['invoice_id'])}/credit`, { signature: `0x${'1'.repeat(130)}` })
  assert.deepEqual([found.status, found.body['code']], [404, 'INVOICE_NOT_FOUND'])
  assert.equal((await send(`${world.url}/api/invoice/inv_000000000001/credit`, { signature: `0x${'1'.repeat(130)}` })).status, 404)
})
