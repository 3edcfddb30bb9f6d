/** Erasure of the personal details of an invoice by the command line, beside the running service, and what record, list, page and PDF then say. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BANK, banked, coordinates, EUR, IBAN, outcomes, read, signedBody, upload } from '../support/bank-invoices.ts'
import { openDesk, parsed } from '../cli/run-cli.ts'
import { statementOf } from '../support/invoice-statements.ts'
import { invoiceUrl, newMerchant, pdfWords, send, type InvoiceShown } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const TEXTS = { client_name: 'Kim Canary', memo: 'Canary memo', order_number: 'CANARY-7', return_url: 'https://canary.example/done' }
const WORDS = ['Kim Canary', 'Canary memo', 'CANARY-7', 'canary.example', 'Example GmbH', IBAN]

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

/** Runs `assay invoice erase` over the store of the running service. */
async function erase(invoice_id: string) {
  const desk = await openDesk()
  try {
    return await desk.run(['invoice', 'erase', invoice_id, '--json'], { settings: { ASSAY_DATA_DIR: world.data_dir } })
  } finally {
    await desk.clear()
  }
}

async function create(merchant: string): Promise<InvoiceShown> {
  const made = await send(`${world.url}/api/invoice/create`, { amountUsdc: '49', merchant, bank: BANK, ...TEXTS })
  assert.equal(made.status, 201, made.text)
  return made.body as InvoiceShown
}

async function shownEverywhere(invoice: InvoiceShown): Promise<string> {
  const page = await (await fetch(`${world.url}/pay/${invoice.invoice_id}`)).text()
  const pdf = await pdfWords(await (await fetch(`${invoiceUrl(world, invoice)}/pdf`)).arrayBuffer())
  return [JSON.stringify(await read(world, invoice)), page, pdf].join('\n')
}

test('record, page and PDF lose the details and say when they were erased; what the ledger needs stays', async () => {
  const invoice = await create(newMerchant().address)
  const before_erasure = await shownEverywhere(invoice)
  assert.deepEqual(
    WORDS.filter((word) => !before_erasure.includes(word)),
    [],
  )
  const { code, stdout, stderr } = await erase(invoice.invoice_id)
  assert.equal(code, 0, stderr)
  const { erased_at, erased_before } = parsed(stdout) as { erased_at: string; erased_before: boolean }
  assert.equal(erased_before, false)
  const record = await read(world, invoice)
  assert.equal(Date.parse(String(record['erased_at'])), Math.floor(Date.parse(erased_at) / 1_000) * 1_000)
  assert.match(String(record['erased_notice']), /were erased/)
  for (const kept of ['invoice_id', 'amount_minor', 'cart_hash', 'merchant', 'payment_nonce', 'created_s', 'expires_s', 'accepted_terms'])
    assert.deepEqual(record[kept], invoice[kept], kept)
  const page = await (await fetch(`${world.url}/pay/${invoice.invoice_id}`)).text()
  assert.match(page, /id="erased"[^>]*>Client, order number, memo, shop and bank details of this invoice were erased/)
  const pdf = await pdfWords(await (await fetch(`${invoiceUrl(world, invoice)}/pdf`)).arrayBuffer())
  assert.match(pdf, /Details erased/)
  const now = await shownEverywhere(invoice)
  assert.deepEqual(
    WORDS.filter((word) => now.includes(word)),
    [],
  )
  const again = parsed((await erase(invoice.invoice_id)).stdout)
  assert.deepEqual([again['erased_before'], again['erased_at']], [true, erased_at])
})

test('an invoice that is erased before its merchant signed it cannot be signed, and can be voided', async () => {
  const merchant = newMerchant()
  const invoice = await create(merchant.address)
  await erase(invoice.invoice_id)
  const record = await read(world, invoice)
  assert.equal(record['sign'], null)
  const signed = await send(`${invoiceUrl(world, invoice)}/sign`, await signedBody(invoice, merchant))
  assert.deepEqual([signed.status, signed.body['code']], [410, 'INVOICE_ERASED'], signed.text)
  const asked = await send(`${invoiceUrl(world, invoice)}/void`, { signature: `0x${'00'.repeat(65)}` })
  const voided = await send(`${invoiceUrl(world, invoice)}/void`, await signedBody(asked.body, merchant))
  assert.deepEqual([voided.status, voided.body['status']], [200, 'VOID'], voided.text)
})

test('a bank transfer of an erased invoice stays paid, without account and reference, and its statement names no invoice any more', async () => {
  const merchant = newMerchant()
  const invoice = await banked(world, merchant)
  const { reference } = coordinates(invoice)
  const document = statementOf([EUR({ amount: '45.00', reference })], { iban: IBAN })
  assert.deepEqual(outcomes(await upload(world, document, merchant)), ['closed'])
  await erase(invoice.invoice_id)
  const { status, bank_payment, paid_by } = await read(world, invoice)
  const evidence = bank_payment as Record<string, unknown>
  assert.deepEqual([status, paid_by], ['SETTLED', 'bank'])
  assert.deepEqual([evidence['iban'], evidence['reference'], evidence['amount'], evidence['currency']], [null, null, '45.00', 'EUR'])
  const everywhere = await shownEverywhere(invoice)
  assert.ok(!everywhere.includes(IBAN) && !everywhere.includes('Example GmbH'))
  assert.deepEqual((await upload(world, document, merchant)).body['invoices'], [])
})

test('the command refuses what is no invoice of this store', async () => {
  const unknown = await erase('inv_zzzzzzzzzzzzzzzzzzzzzzzzzz')
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /no invoice of this id/)
  const wrong = await erase('invoice-7')
  assert.equal(wrong.code, 2, wrong.stderr)
})
