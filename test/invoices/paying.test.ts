/** Invoices are paid in every way, over HTTP and a chain of its own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import {
  invoiceUrl,
  issue,
  looked,
  mine,
  newMerchant,
  payByX402,
  send,
  sendAsStranger,
  signAsMerchant,
  signFor,
  transferPlainly,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { held, readRequired, signTerms } from '../support/paying.ts'
import { call, signed as signedTerms, stranger, v2 } from '../support/paying-calls.ts'
import { spendElsewhere } from '../support/paying-chain.ts'
import { rejectOnce } from '../support/paying-faults.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const TEN = 10_000_000n

function pay(invoice: InvoiceShown, body: unknown) {
  return send(`${invoiceUrl(world, invoice)}/pay`, body)
}

async function settledAt(invoice: InvoiceShown): Promise<InvoiceShown> {
  await mine(world.chain)
  return looked(world, invoice)
}

test('paid gaslessly: one signature, the merchant has the money, and the nonce names the invoice', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const signed = await signFor(world.chain, payer, invoice)
  const paid = await pay(invoice, signed.body)
  assert.equal(paid.status, 200, paid.text)
  assert.equal(paid.body['paid_minor'], '10000000')
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), TEN)
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.exceptions, record.amount_due_minor], ['SETTLED', [], '0'])
  assert.deepEqual(
    record.payments.map(({ matched_by, payer: by }) => [matched_by, by]),
    [['eip3009', payer.address.toLowerCase()]],
  )
  assert.equal(record.tx_hash, (paid.body['settlement'] as { transaction: string }).transaction)
  const again = await pay(invoice, signed.body)
  assert.deepEqual([again.status, again.text], [200, paid.text])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), TEN)
})

test('paid by x402 from the terms alone; the same payment buys no other invoice', async () => {
  const [payer, invoice] = [await world.payer(2n * TEN), await issue(world, '10')]
  const twin = await issue(world, '10', invoice.merchant)
  const { required, payment, answer } = await payByX402(world, payer, invoice)
  assert.deepEqual([required.accepts[0].payTo.toLowerCase(), required.accepts[0].amount], [invoice.merchant, '10000000'])
  assert.equal(answer.status, 200, answer.text)
  assert.notEqual(answer.headers.get('payment-response'), null)
  const other = await send(`${invoiceUrl(world, twin)}/pay`, {}, { 'payment-signature': payment.v2 })
  assert.deepEqual([other.status, other.body['code']], [409, 'NONCE_BOUND'])
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.payments[0]?.matched_by], ['SETTLED', 'x402'])
  assert.equal((await looked(world, twin)).status, 'ISSUED')
})

test('a settlement that fails is answered with a failure in the words of x402, and asks for no other while it may be executed', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, TEN))
  const { answer } = await payByX402(world, payer, invoice)
  assert.deepEqual([answer.status, answer.body['code']], [402, 'SETTLEMENT_FAILED'])
  assert.deepEqual(JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString()), {
    success: false,
    errorReason: 'invalid_exact_evm_transaction_failed',
    transaction: '',
    network: 'eip155:84532',
    payer: payer.address.toLowerCase(),
  })
  assert.deepEqual([answer.body['charged'], answer.headers.get('payment-required')], ['unknown', null])
})

test('paid in part, then the rest, by one payer; what is due is asked for', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const part = await pay(invoice, (await signFor(world.chain, payer, invoice, { value: 4_000_000n })).body)
  assert.equal(part.status, 200, part.text)
  const between = await settledAt(invoice)
  assert.deepEqual([between.status, between.amount_due_minor], ['PARTIALLY_PAID', '6000000'])
  assert.notEqual(between.payment_nonce, invoice.payment_nonce)
  const rest = await pay(invoice, (await signFor(world.chain, payer, between)).body)
  assert.equal(rest.status, 200, rest.text)
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.exceptions, record.payments.length], ['SETTLED', [], 2])
})

test('paid twice by two payers: overpaid, and said to be twice', async () => {
  const [one, two, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  const [first, second] = [await signFor(world.chain, one, invoice), await signFor(world.chain, two, invoice)]
  await sendAsStranger(world.chain, first)
  await sendAsStranger(world.chain, second)
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.exceptions, record.overpaid_minor], ['SETTLED', ['overpaid', 'duplicate_payment'], '10000000'])
  const third = await pay(invoice, (await signFor(world.chain, await world.payer(TEN), { ...invoice, amount_due_minor: '10000000' })).body)
  assert.deepEqual([third.status, third.body['code']], [409, 'INVOICE_NOT_PAYABLE'])
})

test('of two who pay the whole at once one does; while it is on its way nobody is asked to pay, and the merchant cannot void it', async () => {
  const merchant = newMerchant()
  const [one, two, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10', merchant.address)]
  const late = await signTerms(two, readRequired((await send(`${invoiceUrl(world, invoice)}/pay`)).headers.get('payment-required') ?? ''))
  const seen: { status: number; code: unknown; terms: string | null }[] = []
  world.at('after_claim', async () => {
    const meanwhile = [
      await send(`${invoiceUrl(world, invoice)}/pay`),
      await send(`${invoiceUrl(world, invoice)}/pay`, {}, { 'payment-signature': late.v2 }),
      await send(`${invoiceUrl(world, invoice)}/void`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Void') }),
    ]
    seen.push(...meanwhile.map(({ status, body, headers }) => ({ status, code: body['code'], terms: headers.get('payment-required') })))
  })
  const { answer } = await payByX402(world, one, invoice)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(seen, [
    { status: 409, code: 'INVOICE_NOT_PAYABLE', terms: null },
    { status: 409, code: 'INVOICE_NOT_PAYABLE', terms: null },
    { status: 409, code: 'INVOICE_NOT_VOIDABLE', terms: null },
  ])
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.exceptions, record.overpaid_minor], ['SETTLED', [], '0'])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), TEN)
})

test('a payment on its way is answered with the place where its answer will be', async (t) => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  rejectOnce(t, world.payments, 'begin_settling')
  const waiting = await pay(invoice, (await signFor(world.chain, payer, invoice)).body)
  assert.deepEqual([waiting.status, waiting.body['code']], [202, 'PAYMENT_PENDING'], waiting.text)
  assert.equal(waiting.headers.get('location'), String(waiting.body['answer_url']))
})

test('one transfer pays one thing: what bought a call settles no invoice, and the nonce of one invoice pays no other', async () => {
  const payer = await world.payer(3n * TEN)
  const [cheap, one, two] = [
    await issue(world, '0.005', world.chain.pay_to),
    await issue(world, '10', world.chain.pay_to),
    await issue(world, '10', world.chain.pay_to),
  ]
  const answer = await call(world.url, v2(await signedTerms(world.url, payer, { nonce: cheap.payment_nonce })))
  assert.deepEqual([answer.status, (answer.body['settlement'] as { amount_minor: string }).amount_minor], [200, '5000'], answer.text)
  const other = await pay(one, (await signFor(world.chain, payer, two)).body)
  assert.deepEqual([other.status, other.body['code']], [409, 'NONCE_BOUND'], other.text)
  const records = [await settledAt(cheap), await looked(world, one), await looked(world, two)]
  assert.deepEqual(
    records.map(({ status, amount_paid_minor }) => [status, amount_paid_minor]),
    [
      ['ISSUED', '0'],
      ['ISSUED', '0'],
      ['ISSUED', '0'],
    ],
  )
})

test('what may pass later says when to come again', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const validAfter = BigInt(Math.floor(Date.now() / 1_000) + 4)
  const early = await pay(invoice, (await signFor(world.chain, payer, invoice, { validAfter })).body)
  assert.deepEqual([early.status, early.body['code'], early.headers.get('retry-after')], [402, 'NOT_YET_VALID', '2'], early.text)
})

test('while a part is on its way the terms ask for the rest', async () => {
  const [one, two, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  let asked: string | undefined
  world.at('after_claim', async () => {
    asked = readRequired((await send(`${invoiceUrl(world, invoice)}/pay`)).headers.get('payment-required') ?? '').accepts[0].amount
  })
  assert.equal((await pay(invoice, (await signFor(world.chain, one, invoice, { value: 4_000_000n })).body)).status, 200)
  assert.equal(asked, '6000000')
  const { answer } = await payByX402(world, two, invoice)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual((await settledAt(invoice)).exceptions, [])
})

test('paid after it expired: settled, and late', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  world.sql((database) => database.prepare('update invoice set expires_s = 1 where invoice_id = ?').run(invoice.invoice_id))
  const late = await looked(world, invoice)
  assert.deepEqual([late.status, late['x402'], late.payment_nonce, late['eip681_uri']], ['EXPIRED', null, null, null])
  const signed = await signFor(world.chain, payer, invoice)
  const relayed = await pay(invoice, signed.body)
  assert.deepEqual([relayed.status, relayed.body['code']], [409, 'INVOICE_NOT_PAYABLE'])
  await sendAsStranger(world.chain, signed)
  const record = await settledAt(invoice)
  assert.deepEqual([record.status, record.exceptions], ['SETTLED', ['paid_late']])
})

test('a plain transfer pays a signed invoice that alone fits, and no other', async () => {
  const merchant = newMerchant()
  const [payer, unsigned, signed] = [
    await world.payer(3n * TEN),
    await issue(world, '10', merchant.address),
    await issue(world, '7', merchant.address),
  ]
  const signature = await signAsMerchant(world.chain, merchant, signed, 'Issue')
  const accepted = await send(`${invoiceUrl(world, signed)}/sign`, { signature })
  assert.deepEqual([accepted.status, accepted.body['merchant_verified']], [200, true], accepted.text)
  await transferPlainly(world.chain, payer, merchant.address, 10_000_000n)
  const hash = await transferPlainly(world.chain, payer, merchant.address, 7_000_000n)
  const named = await send(`${invoiceUrl(world, signed)}/transactions`, { tx_hash: hash })
  assert.deepEqual([named.status, named.body['transaction_found']], [200, true], named.text)
  const [open, paid] = [await settledAt(unsigned), await looked(world, signed)]
  assert.deepEqual([open.status, open.payments], ['ISSUED', []])
  assert.deepEqual([paid.status, paid.tx_hash, paid.payments[0]?.method], ['SETTLED', hash, 'transfer'])
})

test('of two signed invoices of one amount a plain transfer pays neither, ever; signatures pay each its own', async () => {
  const merchant = newMerchant()
  const pair = [await issue(world, '10', merchant.address), await issue(world, '10', merchant.address)] as const
  for (const invoice of pair) {
    await send(`${invoiceUrl(world, invoice)}/sign`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Issue') })
  }
  const payer = await world.payer(5n * TEN)
  await transferPlainly(world.chain, payer, merchant.address, TEN)
  for (const invoice of pair) {
    const record = await looked(world, invoice)
    assert.deepEqual([record.status, record.exceptions], ['ISSUED', ['ambiguous']])
  }
  const second = await pay(pair[1], (await signFor(world.chain, payer, pair[1])).body)
  assert.equal(second.status, 200, second.text)
  const records = [await settledAt(pair[0]), await looked(world, pair[1])]
  assert.deepEqual(
    records.map(({ status, amount_paid_minor }) => [status, amount_paid_minor]),
    [
      ['ISSUED', '0'],
      ['SETTLED', '10000000'],
    ],
  )
})

test('a rest that is not carried has no terms, and is paid by the payer’s own hand or, once the merchant has signed, by a plain transfer', async () => {
  const merchant = newMerchant()
  const [payer, invoice] = [await world.payer(2n * TEN), await issue(world, '10', merchant.address)]
  const part = await pay(invoice, (await signFor(world.chain, payer, invoice, { value: 9_500_000n })).body)
  assert.equal(part.status, 200, part.text)
  const rest = await settledAt(invoice)
  assert.deepEqual([rest.status, rest.amount_due_minor, rest['x402']], ['PARTIALLY_PAID', '500000', null])
  const asked = await send(`${invoiceUrl(world, rest)}/pay`)
  assert.deepEqual([asked.status, asked.body['code'], asked.headers.get('payment-required')], [409, 'INVOICE_NOT_PAYABLE', null])
  const refused = await pay(rest, (await signFor(world.chain, payer, rest)).body)
  assert.deepEqual([refused.status, refused.body['detail']], [409, asked.body['detail']])
  const twin = await issue(world, '0.5', merchant.address)
  await sendAsStranger(world.chain, await signFor(world.chain, payer, twin))
  assert.deepEqual((await settledAt(twin)).status, 'SETTLED')
  await send(`${invoiceUrl(world, rest)}/sign`, { signature: await signAsMerchant(world.chain, merchant, rest, 'Issue') })
  await transferPlainly(world.chain, payer, merchant.address, 500_000n)
  const record = await settledAt(rest)
  assert.deepEqual([record.status, record.exceptions, record['x402']], ['SETTLED', [], null])
})

test('nothing goes to anybody but the merchant, nor more than is due, nor less than is carried', async () => {
  const [payer, invoice] = [await world.payer(5n * TEN), await issue(world, '10')]
  const refused: [Partial<Record<'to' | 'nonce', Hex>> & { value?: bigint }, number, string][] = [
    [{ to: payer.address }, 402, 'RECIPIENT_MISMATCH'],
    [{ value: 10_000_001n }, 402, 'PRICE_MISMATCH'],
    [{ value: 999_999n }, 409, 'INVOICE_NOT_PAYABLE'],
    [{ value: 4_000_000n, nonce: `0x${'ab'.repeat(32)}` }, 402, 'PRICE_MISMATCH'],
  ]
  for (const [change, status, code] of refused) {
    const answer = await pay(invoice, (await signFor(world.chain, payer, invoice, change)).body)
    assert.deepEqual([answer.status, answer.body['code']], [status, code], answer.text)
  }
  assert.equal(await held(world.chain.rpc_url, world.chain.token, invoice.merchant), 0n)
})

test('only the merchant voids, and a void invoice takes nothing', async () => {
  const merchant = newMerchant()
  const invoice = await issue(world, '10', merchant.address)
  const forged = await send(`${invoiceUrl(world, invoice)}/void`, {
    signature: await signAsMerchant(world.chain, newMerchant(), invoice, 'Void'),
  })
  assert.deepEqual([forged.status, forged.body['code']], [403, 'INVOICE_SIGNATURE_INVALID'])
  const issued = await send(`${invoiceUrl(world, invoice)}/void`, {
    signature: await signAsMerchant(world.chain, merchant, invoice, 'Issue'),
  })
  assert.equal(issued.body['code'], 'INVOICE_SIGNATURE_INVALID')
  const signature = await signAsMerchant(world.chain, merchant, invoice, 'Void')
  const voided = await send(`${invoiceUrl(world, invoice)}/void`, { signature })
  assert.deepEqual([voided.status, voided.body['status'], voided.body['x402']], [200, 'VOID', null])
  assert.equal((await send(`${invoiceUrl(world, invoice)}/void`, { signature })).body['code'], 'INVOICE_NOT_VOIDABLE')
  const paid = await pay(invoice, (await signFor(world.chain, await world.payer(TEN), invoice)).body)
  assert.equal(paid.body['code'], 'INVOICE_NOT_PAYABLE')
})

test('a payment that is sent again too often is refused unread, and not called uncharged', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { body } = await signFor(world.chain, payer, invoice)
  const client = { 'x-forwarded-for': stranger() }
  const path = `${invoiceUrl(world, invoice)}/pay`
  let reply = await send(path, body, client)
  assert.equal(reply.status, 200, reply.text)
  for (let count = 0; count < 200 && reply.status === 200; count++) reply = await send(path, body, client)
  assert.deepEqual([reply.status, reply.body['code'], reply.body['charged']], [429, 'INVOICE_RATE_LIMITED', 'unknown'])
})

test('a payment of an invoice whose row is gone is not called uncharged', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { body } = await signFor(world.chain, payer, invoice)
  const path = `${invoiceUrl(world, invoice)}/pay`
  const client = { 'x-forwarded-for': stranger() }
  assert.equal((await send(path, body, client)).status, 200)
  world.sql((database) => database.prepare('delete from invoice where invoice_id = ?').run(invoice.invoice_id))
  const again = await send(path, body, client)
  assert.deepEqual([again.status, again.body['code'], again.body['charged']], [404, 'INVOICE_NOT_FOUND', 'unknown'])
  const unpaid = await send(path, undefined, client)
  assert.deepEqual([unpaid.status, unpaid.body['charged']], [404, false])
})
