/** Bank details on invoices, and statements that close them: over HTTP, with wallets of viem. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { hashTypedData, keccak256, toBytes, type TypedDataDefinition } from 'viem'
import { statementOf, today, type Booking } from '../support/invoice-statements.ts'
import {
  invoiceUrl,
  looked,
  mine,
  newMerchant,
  send,
  sendAsStranger,
  signAsMerchant,
  signFor,
  type InvoiceShown,
} from '../support/invoicing.ts'
import { BANK, EUR, IBAN, banked, coordinates, create, outcomes, read, signedBody, upload } from '../support/bank-invoices.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('bank details are on the record, in the code of EPC069-12, and in what the merchant signs', async () => {
  const merchant = newMerchant()
  const { body } = await create(world, { merchant: merchant.address, memo: 'May', bank: BANK })
  const bank = { name: 'Example GmbH', iban: IBAN, bic: 'COBADEFFXXX', currency: 'EUR', amount: '45.00', reference: null }
  assert.deepEqual(body['bank'], bank)
  const { reference, amount, epc_payload, signed } = coordinates(body)
  assert.match(reference, /^RF[0-9]{2}[0-9A-Z]{21}$/)
  assert.deepEqual([amount, signed], ['45.00', false])
  assert.equal(epc_payload, `BCD\n001\n1\nSCT\nCOBADEFFXXX\nExample GmbH\n${IBAN}\nEUR45.00\n\n${reference}`)
  assert.match(String(body['bank_reason']), /has not signed these bank details/)

  // The wallet shows the account, and the hash covers it (RFC 8785: members in the order of their names).
  const { typed_data } = body['sign'] as { typed_data: TypedDataDefinition }
  const token = world.chain.token.toLowerCase()
  const account = `{"amount":"45.00","bic":"COBADEFFXXX","currency":"EUR","iban":"${IBAN}","name":"Example GmbH","reference":null}`
  const cart =
    `{"amount_minor":"49000000","bank":${account},"chain_id":${world.chain.chain_id},"client_name":null,"memo":"May",` +
    `"merchant":"${merchant.address.toLowerCase()}","token":"${token}"}`
  assert.equal(body['cart_hash'], keccak256(toBytes(cart)))
  const expected = hashTypedData({
    domain: { name: 'assay invoice', version: '1', chainId: world.chain.chain_id, verifyingContract: world.chain.token },
    types: {
      InvoiceIssueWithBank: [
        { name: 'invoice', type: 'bytes32' },
        { name: 'merchant', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'cart', type: 'bytes32' },
        { name: 'bank', type: 'string' },
      ],
    },
    primaryType: 'InvoiceIssueWithBank',
    message: {
      invoice: keccak256(toBytes(String(body['invoice_id']))),
      merchant: merchant.address,
      amount: 49_000_000n,
      cart: body['cart_hash'],
      bank: `45.00 EUR to IBAN ${IBAN}, BIC COBADEFFXXX, account of Example GmbH`,
    },
  })
  assert.equal(hashTypedData(typed_data), expected)

  // A signature over the form without the account is none of this invoice.
  const plain = await signAsMerchant(world.chain, merchant, body as InvoiceShown, 'Issue')
  assert.equal((await send(`${invoiceUrl(world, body as InvoiceShown)}/sign`, { signature: plain })).status, 403)
  const signed_now = await send(`${invoiceUrl(world, body as InvoiceShown)}/sign`, await signedBody(body, merchant))
  assert.deepEqual([signed_now.status, coordinates(signed_now.body).signed], [200, true])
})

test('the code of a bank transfer follows the guideline for each account, or there is none', async () => {
  const code = async (bank: Record<string, unknown>) => {
    const { body, status, text } = await create(world, { merchant: newMerchant().address, bank: { ...BANK, bic: undefined, ...bank } })
    assert.equal(status, 201, text)
    return coordinates(body).epc_payload
  }
  const reference = 'RF18539007547034'
  assert.equal(await code({ reference: 'rf18 5390 0754 7034' }), `BCD\n002\n1\nSCT\n\nExample GmbH\n${IBAN}\nEUR45.00\n\n${reference}`)
  // Switzerland is in SEPA and not in the EEA: only a BIC makes a code. Brazil is in neither.
  assert.equal(await code({ iban: 'CH9300762011623852957' }), null)
  assert.match((await code({ iban: 'CH9300762011623852957', bic: 'BLKBCH22' })) ?? '', /^BCD\n001\n1\nSCT\nBLKBCH22\n/)
  assert.equal(await code({ iban: 'BR1800360305000010009795493C1' }), null)
  assert.equal(await code({ currency: 'USD' }), null)
})

test('each part of the bank details is checked, and a refusal names the field', async () => {
  const wrong: [string, unknown][] = [
    ['iban', 'DE88370400440532013000'],
    ['iban', 'DE8937040044053201300'],
    ['bic', 'COBADE'],
    ['bic', 'cobadeffxxx'],
    ['name', ''],
    ['name', 'Example\nGmbH'],
    ['name', 'Example\u202eGmbH'],
    ['name', 'x'.repeat(71)],
    ['currency', 'EURO'],
    ['currency', 'DEM'],
    ['currency', 'eur'],
    ['amount', '0'],
    ['amount', '45.001'],
    ['amount', '-1'],
    ['amount', '1000000000'],
    ['reference', 'RF19539007547034'],
    ['reference', '4711'],
  ]
  for (const [name, value] of wrong) {
    const { status, body } = await create(world, { merchant: newMerchant().address, bank: { ...BANK, [name]: value } })
    const [first] = body['errors'] as { pointer: string }[]
    assert.deepEqual([status, body['code'], first?.pointer], [400, 'INPUT_SCHEMA_INVALID', `/bank/${name}`], `${name} ${String(value)}`)
  }
  const yen = await create(world, { merchant: newMerchant().address, bank: { ...BANK, currency: 'JPY', amount: 5_000 } })
  assert.equal(coordinates(yen.body).amount, '5000')
})

test('one booked entry with reference, account, currency and amount closes the invoice; the same document again changes nothing', async () => {
  const merchant = newMerchant()
  const invoice = await banked(world, merchant)
  const { reference } = coordinates(invoice)
  const document = statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN })
  const end = await upload(world, document, merchant)
  assert.deepEqual([end.status, outcomes(end)], [200, ['closed']], end.text)
  const record = await read(world, invoice)
  const document_sha256 = `0x${createHash('sha256').update(document).digest('hex')}`
  const { confirmed_at, ...evidence } = record['bank_payment'] as Record<string, unknown>
  assert.deepEqual(evidence, {
    amount: '45.00',
    currency: 'EUR',
    iban: IBAN,
    reference,
    booked_on: today(),
    statement_id: 'S1',
    entry_reference: 'N1',
    document_sha256,
    confirmed_by: 'merchant',
  })
  assert.deepEqual(
    [record.status, record['paid_by'], record['settled_at'], record.amount_due_minor, record.amount_paid_minor, record.exceptions],
    ['SETTLED', 'bank', confirmed_at, '0', '0', []],
  )
  // Nothing is offered any more.
  assert.deepEqual([record['eip681_uri'], record['x402'], record['bank_coordinates'], record['sign']], [null, null, null, null])
  assert.equal((await send(`${invoiceUrl(world, invoice)}/pay`, {})).status, 409)
  assert.deepEqual(outcomes(await upload(world, document, merchant)), ['already_closed'])
  assert.deepEqual((await read(world, invoice))['bank_payment'], record['bank_payment'])
  // Another entry for it is a second payment.
  const second = statementOf([EUR({ amount: '45.00', reference, name: 'N2' })], { iban: IBAN, id: 'S2' })
  assert.deepEqual(outcomes(await upload(world, second, merchant)), ['second_entry'])
  assert.equal(
    (await send(`${invoiceUrl(world, invoice)}/void`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Void') })).status,
    409,
  )
})

test('a notification (camt.054) closes an invoice, and so does the id of the invoice in free text', async () => {
  const merchant = newMerchant()
  const [one, two] = [await banked(world, merchant), await banked(world, merchant)]
  const text = `Invoice ${two.invoice_id.replace('inv_', 'inv ').toUpperCase()} thanks`
  const bookings = [EUR({ amount: '45.00', reference: coordinates(one).reference }), EUR({ amount: '45.00', text: [text] })]
  const notification = statementOf(bookings, { iban: IBAN })
    .replace('camt.053.001.08', 'camt.054.001.08')
    .replaceAll('BkToCstmrStmt', 'BkToCstmrDbtCdtNtfctn')
    .replaceAll(/(<\/?)Stmt>/g, '$1Ntfctn>')
  const end = await upload(world, notification, merchant)
  assert.deepEqual([end.body['entries'], outcomes(end)], [2, ['closed', 'closed']], end.text)
})

test('everything but an exact match is reported and closes nothing', async () => {
  const merchant = newMerchant()
  const other_iban = 'DE75512108001245126199'
  const cases: [string, (reference: string) => Booking[]][] = [
    ['under', (reference) => [EUR({ amount: '44.99', reference })]],
    ['over', (reference) => [EUR({ amount: '45.01', reference })]],
    ['over', (reference) => [EUR({ amount: '45.00', reference }), EUR({ amount: '45.00', reference, name: 'N2' })]],
    ['other_currency', (reference) => [EUR({ amount: '45.00', reference, currency: 'USD' })]],
    [
      'returned',
      (reference) => [
        EUR({ amount: '45.00', reference }),
        EUR({ amount: '45.00', reference, name: 'N2', direction: 'DBIT', reversal: true }),
      ],
    ],
    ['unclear', (reference) => [EUR({ amount: '40.00', reference }), EUR({ amount: '5.00', reference, name: 'N2' })]],
    ['unclear', (reference) => [EUR({ amount: '45.00', reference, direction: 'DBIT' })]],
  ]
  for (const [outcome, bookings] of cases) {
    const invoice = await banked(world, merchant)
    const end = await upload(world, statementOf(bookings(coordinates(invoice).reference), { iban: IBAN }), merchant)
    assert.deepEqual(outcomes(end), [outcome], end.text)
    assert.deepEqual([(await read(world, invoice)).status, (await read(world, invoice))['bank_payment']], ['ISSUED', null], outcome)
  }
  const invoice = await banked(world, merchant)
  const { reference } = coordinates(invoice)
  const unmatched = async (bookings: Booking[], iban = IBAN) => {
    const { body, text } = await upload(world, statementOf(bookings, { iban }), merchant)
    assert.deepEqual(body['invoices'], [], text)
    return (body['unmatched'] as { reason: string }[]).map(({ reason }) => reason)
  }
  assert.deepEqual(await unmatched([EUR({ amount: '45.00', reference, status: 'PDNG' })]), ['not_booked'])
  assert.deepEqual(await unmatched([EUR({ amount: '45.00', reference })], other_iban), ['other_account'])
  assert.deepEqual(await unmatched([EUR({ amount: '45.00', reference: 'RF18539007547034' })]), ['no_invoice'])
  assert.deepEqual(await unmatched([EUR({ amount: '45.00' })]), [])
  assert.equal((await read(world, invoice)).status, 'ISSUED')
})

test('two open invoices of a merchant with one reference are never told apart by a guess', async () => {
  const merchant = newMerchant()
  const reference = 'RF18539007547034'
  await banked(world, merchant, { reference })
  await banked(world, merchant, { reference })
  const { body } = await upload(world, statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN }), merchant)
  assert.deepEqual([body['invoices'], (body['unmatched'] as { reason: string }[])[0]?.reason], [[], 'several_invoices'])
})

test('a document that cannot be read changes nothing and is refused with its line', async () => {
  const merchant = newMerchant()
  const { reference } = coordinates(await banked(world, merchant))
  const good = statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN })
  const documents = [
    good.slice(0, -20),
    good.replace('45.00', '45,00'),
    `<!DOCTYPE x [<!ENTITY e "45.00">]>${good}`,
    good.replace('camt.053.001.08', 'camt.052.001.08'),
    'no XML',
  ]
  for (const document of documents) {
    const { status, body, text } = await upload(world, document, merchant)
    const [first] = (body['errors'] ?? []) as { pointer: string }[]
    assert.deepEqual([status, first?.pointer], [400, '/document'], text)
  }
  const long = { document: 'x'.repeat(1_048_577), merchant: merchant.address }
  assert.equal((await send(`${world.url}/api/invoice/statement`, long)).status, 400)
})

test('a payment on the chain after the bank transfer is a second payment, and a bank transfer after one closes nothing', async () => {
  const merchant = newMerchant()
  const pay = async (invoice: InvoiceShown) => {
    await sendAsStranger(world.chain, await signFor(world.chain, await world.payer(10_000_000n), invoice))
    await mine(world.chain)
    return looked(world, invoice)
  }
  const late = await banked(world, merchant, {}, '10')
  const document = ({ reference }: { reference: string }) => statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN })
  assert.deepEqual(outcomes(await upload(world, document(coordinates(late)), merchant)), ['closed'])
  const twice = await pay(late)
  assert.deepEqual([twice.status, twice['paid_by'], twice.exceptions], ['SETTLED', 'bank', ['overpaid', 'duplicate_payment']])
  assert.deepEqual([twice.overpaid_minor, twice.amount_due_minor, twice.payments.length], ['10000000', '0', 1])

  const first = await banked(world, merchant, {}, '10')
  const bank = coordinates(first)
  const paid = await pay(first)
  assert.deepEqual([paid.status, paid['paid_by']], ['SETTLED', 'chain'])
  assert.deepEqual(outcomes(await upload(world, document(bank), merchant)), ['paid_on_chain'])
  assert.equal((await read(world, first))['bank_payment'], null)

  const voided = await banked(world, merchant)
  const reference = coordinates(voided)
  const signature = await signAsMerchant(world.chain, merchant, voided, 'Void')
  assert.equal((await send(`${invoiceUrl(world, voided)}/void`, { signature })).status, 200)
  assert.deepEqual((await upload(world, document(reference), merchant)).body['invoices'], [])
})
