/**
 * Journey 6: a payer reads the bank details and the code of an invoice and pays at the bank; the merchant confirms the transfer with the statement of its
 * bank, while the service is killed, and gets one event. HTTP and served documents only: the bank is a text that is put together from the code.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import QRCode from 'qrcode'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { darkSquares } from '../../support/qr.ts'
import { follow, journey, type Json } from './stranger.ts'

/** Payload of the code, read as a banking app does (EPC069-12). */
function transferIn(code: string) {
  const [tag, version, charset, identification, bic, name, iban = '', amount = '', purpose, reference = ''] = code.split('\n')
  assert.deepEqual(
    [tag, version, charset, identification, bic, name, purpose],
    ['BCD', '001', '1', 'SCT', 'COBADEFFXXX', 'Example GmbH', ''],
  )
  const [, currency = '', value = ''] = /^(EUR)([0-9]+\.[0-9]{2})$/.exec(amount) ?? []
  return { iban, currency, value, reference }
}

/** Statement of the bank (camt.053) with one booked credit. */
function statementOf({ iban, currency, value, reference }: ReturnType<typeof transferIn>): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-25T06:00:00Z</CreDtTm></GrpHdr>
<Stmt><Id>2026-228</Id><Acct><Id><IBAN>${iban}</IBAN></Id></Acct>
<Ntry><NtryRef>1</NtryRef><Amt Ccy="${currency}">${value}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${new Date().toISOString().slice(0, 10)}</Dt></BookgDt>
<AcctSvcrRef>ASR-77</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>
<RmtInf><Strd><CdtrRefInf><Ref>${reference}</Ref></CdtrRefInf></Strd></RmtInf></TxDtls></NtryDtls></Ntry>
</Stmt></BkToCstmrStmt></Document>`
}

journey('a payer pays by bank, and the merchant confirms it by a statement', {}, async (given) => {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  const receiver = await startReceiver()
  try {
    const subscription = { url: receiver.url, account: address }
    const subscribed = await follow((await given.post('/v1/webhooks', subscription)).body, key, subscription)
    assert.equal(subscribed.status, 201, subscribed.text)
    receiver.secret = String(subscribed.body['secret'])

    const bank = { iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX', name: 'Example GmbH', currency: 'EUR', amount: '45.00' }
    const mistyped = { amountUsdc: '49.00', merchant: address, bank: { ...bank, iban: 'DE98 3704 0044 0532 0130 00' } }
    const refused = await given.post('/api/invoice/create', mistyped)
    assert.deepEqual([refused.status, (refused.body['errors'] as Json[])[0]?.['pointer']], [400, '/bank/iban'], refused.text)
    const created = await given.post('/api/invoice/create', { amountUsdc: '49.00', merchant: address, memo: 'May', bank })
    assert.equal(created.status, 201, created.text)
    const { typed_data } = created.body['sign'] as { typed_data: { message: Json } }
    assert.match(
      String(typed_data.message['bank']),
      /^45\.00 EUR to IBAN DE89370400440532013000, BIC COBADEFFXXX, account of Example GmbH$/,
    )
    const signed = await follow(created.body, key)
    assert.deepEqual([signed.status, signed.body['merchant_verified']], [200, true], signed.text)

    // The payer: page, code and PDF.
    const id = String(created.body['invoice_id'])
    const path = `/api/invoice/${id}`
    const page = await (await fetch(`${given.url()}/pay/${id}`, { headers: { accept: 'text/html' } })).text()
    for (const words of ['Example GmbH', 'COBADEFFXXX', '45.00', 'The merchant signed these bank details'])
      assert.ok(page.includes(words), words)
    const { epc_payload } = (await given.get(path)).body['bank_coordinates'] as { epc_payload: string }
    const { modules } = QRCode.create(epc_payload, { errorCorrectionLevel: 'M' })
    const drawn = darkSquares((await given.get(`${path}/qr.svg?kind=epc`)).text)
    assert.deepEqual(
      drawn,
      [...modules.data.keys()].filter((at) => modules.data[at] === 1),
    )
    assert.equal((await given.get(`${path}/pdf`)).headers.get('content-type'), 'application/pdf')

    // The bank books the transfer; the merchant sends the statement, and the service is killed meanwhile.
    const document = statementOf(transferIn(epc_payload))
    const upload = { document, merchant: address }
    const asked = await given.post('/api/invoice/statement', upload)
    assert.equal(asked.body['code'], 'INVOICE_SIGNATURE_INVALID', asked.text)
    const sending = follow(asked.body, key, upload).catch(() => null)
    await given.crash()
    await sending
    const sent = await follow(asked.body, key, upload)
    const outcomeOf = ({ body }: { body: Json }) => (body['invoices'] as Json[]).map((one) => [one['invoice_id'], one['outcome']])
    assert.equal(sent.status, 200, sent.text)
    assert.ok(['closed', 'already_closed'].includes(String(outcomeOf(sent)[0]?.[1])), sent.text)
    await given.crash()
    assert.deepEqual(outcomeOf(await follow(asked.body, key, upload)), [[id, 'already_closed']])

    const record = (await given.get(path)).body
    const { confirmed_at, ...evidence } = record['bank_payment'] as Json
    assert.deepEqual([record['status'], record['paid_by'], record['settled_at']], ['SETTLED', 'bank', confirmed_at])
    const [entry_reference, document_sha256] = ['1', `0x${createHash('sha256').update(document).digest('hex')}`]
    const { iban, reference } = transferIn(epc_payload)
    const stated = {
      amount: '45.00',
      currency: 'EUR',
      iban,
      reference,
      booked_on: new Date().toISOString().slice(0, 10),
      statement_id: '2026-228',
    }
    assert.deepEqual(evidence, { ...stated, entry_reference, document_sha256, confirmed_by: 'merchant' })
    // Nothing more can be paid, and the list shows it.
    assert.equal((await given.get(`${path}/pay`)).body['code'], 'INVOICE_NOT_PAYABLE')
    const listing = await given.post('/api/invoice/list', { merchant: address })
    const [listed] = (await follow(listing.body, key, { merchant: address })).body['invoices'] as Json[]
    assert.deepEqual([listed?.['invoice_id'], listed?.['status'], listed?.['paid_by']], [id, 'SETTLED', 'bank'])

    const paidEvents = () => new Map(receiver.accepted.filter(({ type }) => type === 'invoice.paid').map((event) => [event.id, event]))
    await until('the event', () => paidEvents().size > 0, 120_000)
    const [event, ...more] = paidEvents().values()
    assert.deepEqual([event?.data['invoice_id'], event?.data['bank_payment'], more], [id, record['bank_payment'], []])
  } finally {
    await receiver.stop()
  }
})
