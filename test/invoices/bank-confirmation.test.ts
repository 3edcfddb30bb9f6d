/** Confirmation of bank transfers of invoices: the party that confirms, the entries that count, and the words of page and PDF. */
// attack: an unsigned invoice in its name, closed by an invented bank statement so that page and PDF say PAID
// in: money and signatures
// asset: name of a merchant
// attacker: client
// defence: only the signature of the merchant over the statement confirms, only for invoices that it signed, and only entries of its
//   lifetime

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { statementOf, today, type Booking } from '../support/invoice-statements.ts'
import {
  invoiceUrl,
  looked,
  mine,
  newMerchant,
  pdfHeights,
  pdfWords,
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

test('only the signature of the merchant over a statement closes an invoice, and only one that it signed', async () => {
  const [merchant, thief] = [newMerchant(), newMerchant()]
  const { body: made } = await create(world, { merchant: merchant.address, bank: BANK })
  const { invoice_id } = made as { invoice_id: string }
  assert.equal(made['statement_token'], undefined)
  const document = statementOf([EUR({ amount: '45.00', reference: coordinates(made).reference })], { iban: IBAN })
  const foreign = await upload(world, document, thief)
  assert.deepEqual([foreign.status, foreign.body['invoices']], [200, []])
  // The merchant has not signed the invoice.
  assert.deepEqual((await upload(world, document, merchant)).body['invoices'], [])
  const asked = { document, merchant: merchant.address }
  const { body: first } = await send(`${world.url}/api/invoice/statement`, asked)
  assert.equal((await send(`${world.url}/api/invoice/statement`, { ...asked, ...(await signedBody(first, thief)) })).status, 403)
  // A signature covers one document.
  const changed = { ...asked, ...(await signedBody(first, merchant)), document: document.replace('45.00', '46.00') }
  assert.equal((await send(`${world.url}/api/invoice/statement`, changed)).status, 403)
  for (const shape of [{ document }, { ...asked, invoice_id }]) {
    const { status, body, text } = await send(`${world.url}/api/invoice/statement`, shape)
    assert.deepEqual([status, (body['errors'] as { pointer: string }[])[0]?.pointer], [400, '/merchant'], text)
  }
  // A creator gets what the merchant signs; then the merchant confirms.
  const refused = await send(`${world.url}/api/invoice/statement`, { document, invoice_id, invoice_token: `bst_${'0'.repeat(64)}` })
  const [fault] = refused.body['errors'] as { pointer: string; code: string; message: string }[]
  assert.deepEqual([refused.status, fault?.pointer, fault?.code], [403, '/invoice_id', 'invoice_not_signed'], refused.text)
  const unsigned = await read(world, made as InvoiceShown)
  assert.deepEqual([unsigned.status, unsigned['paid_by'], unsigned['bank_payment']], ['ISSUED', null, null])
  const signed = await send(`${invoiceUrl(world, made as InvoiceShown)}/sign`, await signedBody(refused.body, merchant))
  assert.equal(signed.status, 200, signed.text)
  const late = await send(`${world.url}/api/invoice/statement`, { document, invoice_id })
  assert.deepEqual([late.status, (late.body['errors'] as { code: string }[])[0]?.code], [403, 'merchant_missing'], late.text)
  assert.deepEqual(outcomes(await upload(world, document, merchant)), ['closed'])
  assert.equal(((await read(world, made as InvoiceShown))['bank_payment'] as { confirmed_by: string }).confirmed_by, 'merchant')
  assert.equal((await send(`${world.url}/api/invoice/statement`, { document, invoice_id: 'inv_0000000000000' })).status, 404)
})

test('an invoice that was signed when it was created is confirmed by the merchant alone', async () => {
  const merchant = newMerchant()
  const headers = { 'idempotency-key': `order-${Date.now()}` }
  const content = { amountUsdc: '49', merchant: merchant.address, bank: BANK, signature: `0x${'00'.repeat(65)}` }
  const asked = await send(`${world.url}/api/invoice/create`, content, headers)
  assert.equal((asked.body['sign'] as { kind: string }).kind, 'invoice-create-bank', asked.text)
  const made = await send(`${world.url}/api/invoice/create`, { ...content, ...(await signedBody(asked.body, merchant)) }, headers)
  assert.deepEqual([made.status, made.body['merchant_verified'], made.body['statement_token']], [201, true, undefined], made.text)
  const document = statementOf([EUR({ amount: '45.00', reference: coordinates(made.body).reference })], { iban: IBAN })
  assert.equal((await send(`${world.url}/api/invoice/statement`, { document, invoice_id: made.body['invoice_id'] })).status, 403)
  assert.deepEqual(outcomes(await upload(world, document, merchant)), ['closed'])
})

const dayFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const hoursFromNow = (hours: number) => `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)}Z`

test('an entry of another time than the life of the invoice is unclear, and the answer says why', async () => {
  const merchant = newMerchant()
  const notice = (document: string) =>
    document
      .replace('camt.053.001.08', 'camt.054.001.08')
      .replaceAll('BkToCstmrStmt', 'BkToCstmrDbtCdtNtfctn')
      .replaceAll(/(<\/?)Stmt>/g, '$1Ntfctn>')
  const wrong: [Partial<Booking>, string, string | null][] = [
    [{ booked: '2025-01-02' }, 'BookgDt', '2025-01-02'],
    [{ booked: dayFromNow(-2) }, 'BookgDt', dayFromNow(-2)],
    [{ booked: dayFromNow(2) }, 'BookgDt', dayFromNow(2)],
    [{ booked: hoursFromNow(-25) }, 'BookgDt', null],
    [{ booked: hoursFromNow(25) }, 'BookgDt', null],
    [{ booked: '2026-13-45' }, 'BookgDt', '2026-13-45'],
    // The booking date counts; the value date only without one.
    [{ booked: '2027-06-01', value: today() }, 'BookgDt', '2027-06-01'],
    [{ booked: null, value: '2025-01-02' }, 'ValDt', '2025-01-02'],
    [{ booked: null }, 'BookgDt', null],
  ]
  for (const [booking, field, found] of wrong) {
    for (const form of [(text: string) => text, notice]) {
      const invoice = await banked(world, merchant)
      const document = statementOf([EUR({ amount: '45.00', reference: coordinates(invoice).reference, ...booking })], { iban: IBAN })
      const end = await upload(world, form(document), merchant)
      assert.deepEqual(outcomes(end), ['unclear'], end.text)
      const [{ reason, message } = { reason: null, message: '' }] = end.body['invoices'] as {
        reason: Record<string, string> | null
        message: string
      }[]
      assert.deepEqual([reason?.['field'], reason?.['expected']], [field, `${dayFromNow(-1)} to ${dayFromNow(1)}`], end.text)
      if (found !== null) assert.deepEqual([reason?.['found'], message.includes(found)], [found, true])
      assert.equal((await read(world, invoice)).status, 'ISSUED')
    }
  }
})

test('days of other time zones, times, and value dates without a booking date close an invoice', async () => {
  const merchant = newMerchant()
  const bookings: Partial<Booking>[] = [
    { booked: dayFromNow(-1) },
    { booked: dayFromNow(1) },
    { booked: hoursFromNow(-23) },
    { booked: hoursFromNow(23) },
    { booked: today(), value: '2025-01-02' },
    { booked: null, value: today() },
  ]
  for (const booking of bookings) {
    const invoice = await banked(world, merchant)
    const document = statementOf([EUR({ amount: '45.00', reference: coordinates(invoice).reference, ...booking })], { iban: IBAN })
    const end = await upload(world, document, merchant)
    assert.deepEqual(outcomes(end), ['closed'], JSON.stringify(booking) + end.text)
  }
})

test('page and PDF show the bank details with their code, and after the payment the evidence, in every language', async () => {
  const merchant = newMerchant()
  const invoice = await banked(world, merchant)
  const { reference } = coordinates(invoice)
  const page = async (lang: string) =>
    (await fetch(`${world.url}/pay/${invoice.invoice_id}?lang=${lang}`, { headers: { accept: 'text/html' } })).text()
  const pdf = async (lang: string) => (await fetch(`${invoiceUrl(world, invoice)}/pdf?lang=${lang}`)).arrayBuffer()
  const fours = (text: string) => (text.match(/.{1,4}/g) ?? []).join(' ')
  const signed = {
    en: 'The merchant signed these bank details',
    de: 'Der Händler hat diese Bankdaten',
    es: 'El comerciante firmó estos datos',
  }
  for (const [lang, words] of Object.entries(signed)) {
    const html = await page(lang)
    assert.ok(html.includes(words) && html.includes('qr.svg?kind=epc') && html.includes('Example GmbH'), lang)
    const [text, heights] = [await pdfWords(await pdf(lang)), await pdfHeights(await pdf(lang))]
    for (const part of [fours(IBAN), fours(reference), '45.00 EUR', 'EPC']) assert.ok(text.includes(part), `${lang} ${part}`)
    assert.ok(Math.min(...heights) >= 40, `${lang} ${Math.min(...heights)}`)
  }
  const code = await fetch(`${invoiceUrl(world, invoice)}/qr.svg?kind=epc`)
  assert.deepEqual([code.status, code.headers.get('content-type')], [200, 'image/svg+xml; charset=utf-8'])
  const document = statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN })
  assert.deepEqual(outcomes(await upload(world, document, merchant)), ['closed'])
  const paid = { en: 'Paid by bank', de: 'Per Bank bezahlt', es: 'Pagada por banco' }
  const sha = createHash('sha256').update(document).digest('hex')
  for (const [lang, words] of Object.entries(paid)) {
    const html = await page(lang)
    assert.ok(html.includes(words) && html.includes(sha) && html.includes(reference), lang)
    assert.deepEqual(payable(html, invoice), [], lang)
    const text = await pdfWords(await pdf(lang))
    for (const part of ['45.00 EUR', fours(IBAN), `${today()}  N1`]) assert.ok(text.includes(part), `${lang} ${part}\n${text}`)
  }
  assert.equal((await fetch(`${invoiceUrl(world, invoice)}/qr.svg?kind=epc`)).status, 404)
})

/** Parts of a page by which something could be paid. */
function payable(html: string, { deposit }: InvoiceShown): string[] {
  const { address = '' } = (deposit ?? {}) as { address?: string }
  const parts = ['Pay 0.00', '0.00 USDC zahlen', 'Pagar 0.00', 'id="ways"', 'qr.svg', 'id="to"', 'id="wallets"', address]
  return parts.filter((part) => part !== '' && html.includes(part))
}

test('the page of an invoice that cannot be paid has nothing to pay with in its markup', async () => {
  const page = async (invoice: InvoiceShown, lang: string) =>
    (await fetch(`${world.url}/pay/${invoice.invoice_id}?lang=${lang}`, { headers: { accept: 'text/html' } })).text()
  const merchant = newMerchant()
  const [open, voided, settled] = [await banked(world, merchant), await banked(world, merchant), await banked(world, merchant, {}, '3')]
  await send(`${invoiceUrl(world, voided)}/void`, { signature: await signAsMerchant(world.chain, merchant, voided, 'Void') })
  await sendAsStranger(world.chain, await signFor(world.chain, await world.payer(3_000_000n), settled))
  await mine(world.chain)
  assert.equal((await looked(world, settled)).status, 'SETTLED')
  assert.notDeepEqual(payable(await page(open, 'en'), open), [])
  for (const lang of ['en', 'de', 'es']) {
    for (const invoice of [voided, settled]) assert.deepEqual(payable(await page(invoice, lang), invoice), [], lang)
  }
})

test('a transfer that only the creator reported to an earlier release is nowhere called paid or confirmed', async () => {
  const merchant = newMerchant()
  const invoice = await banked(world, merchant)
  const { reference } = coordinates(invoice)
  const evidence = {
    amount: '45.00',
    currency: 'EUR',
    iban: IBAN,
    reference,
    booked_on: today(),
    statement_id: 'S1',
    entry_reference: 'N1',
  }
  const report = { ...evidence, document_sha256: `0x${'1'.repeat(64)}`, confirmed_by: 'creator', confirmed_at: '2026-11-01T00:00:00Z' }
  const kept = (id: string, bank_paid_ms: number | null) =>
    world.sql((database) =>
      database
        .prepare('update invoice set bank_payment = ?, bank_paid_ms = ? where invoice_id = ?')
        .run(JSON.stringify(report), bank_paid_ms, id),
    )
  const words = { en: /reported[^.]*not confirmed/i, de: /gemeldet, nicht bestätigt/i, es: /comunicada[^.]*sin confirmar/i }
  const claims =
    /Payment confirmation|Zahlungsbestätigung|Confirmación de pago|PAID|BEZAHLT|PAGADA|Paid by bank|Per Bank bezahlt|Pagada por banco/
  // As the migration leaves it, and as the release before wrote it.
  for (const bank_paid_ms of [null, Date.now()]) {
    kept(invoice.invoice_id, bank_paid_ms)
    const record = await read(world, invoice)
    assert.deepEqual(
      [record.status, record['paid_by'], record['bank_payment'], record['settled_at'], record['bank_status']],
      ['ISSUED', null, null, null, 'reported by the creator, not confirmed'],
    )
    for (const [lang, word] of Object.entries(words)) {
      const html = await (await fetch(`${world.url}/pay/${invoice.invoice_id}?lang=${lang}`, { headers: { accept: 'text/html' } })).text()
      const shown = html.replace(/data-props="[^"]*"/g, '')
      assert.match(shown, word, lang)
      assert.doesNotMatch(shown, claims, lang)
      const text = await pdfWords(await (await fetch(`${invoiceUrl(world, invoice)}/pdf?lang=${lang}`)).arrayBuffer())
      assert.match(text, word, lang)
      assert.doesNotMatch(text, claims, lang)
    }
    const listed = await send(`${world.url}/api/invoice/list`, { merchant: merchant.address })
    const { body } = await send(`${world.url}/api/invoice/list`, {
      merchant: merchant.address,
      ...(await signedBody(listed.body, merchant)),
    })
    const [line] = body['invoices'] as Record<string, unknown>[]
    assert.deepEqual(
      [line?.['status'], line?.['paid_by'], line?.['bank_payment'], line?.['bank_status']],
      ['ISSUED', null, null, 'reported by the creator, not confirmed'],
    )
  }
})
