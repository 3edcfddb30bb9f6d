/** `assay invoice reconcile`, as an operator runs it beside a service, and what the record says afterwards. */
import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { openDesk, parsed, type Desk } from '../cli/run-cli.ts'
import { runs } from '../support/counts.ts'
import { bookingText, IBAN, statementHead, statementOf, STATEMENT_TAIL, type Booking, today } from '../support/invoice-statements.ts'
import { invoiceUrl, issue, send, type InvoiceShown } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const BANKED = '0x00000000000000000000000000000000a11ce0bb'
const BANK = { ASSAY_BANK_IBAN: IBAN, ASSAY_BANK_NAME: 'Example Operator', ASSAY_BANK_CURRENCY: 'USD', ASSAY_BANK_MERCHANTS: BANKED }

let world: World
let desk: Desk
before(async () => {
  world = await startWorld({ settings: BANK })
  desk = await openDesk()
})
after(async () => {
  await desk.clear()
  await world.stop()
})

const run = (paths: readonly string[], ...more: string[]) =>
  desk.run(['invoice', 'reconcile', ...paths.flatMap((path) => ['--statement', path]), ...more], {
    settings: { ...BANK, ASSAY_DATA_DIR: world.data_dir },
  })
const write = (name: string, bookings: readonly Booking[], id = 'S1') => desk.file(name, statementOf(bookings, { id }))
const read = async (invoice: InvoiceShown) => (await send(invoiceUrl(world, invoice))).body as InvoiceShown
const coordinates = (invoice: InvoiceShown) => invoice['bank_coordinates'] as { reference: string; amount: string; currency: string }

test('reported, never claimed: printed first, kept with --apply, once', async () => {
  const invoice = await issue(world, '12.5', BANKED)
  const { reference, amount, currency } = coordinates(invoice)
  assert.deepEqual([amount, currency], ['12.50', 'USD'])
  const path = await write('first.xml', [{ amount, reference, name: 'N1' }])
  const printed = await run([path])
  assert.equal(printed.code, 0, printed.stderr)
  const result = parsed(printed.stdout)
  const [found] = result['invoices'] as Record<string, unknown>[]
  assert.deepEqual(
    [found?.['invoice_id'], found?.['verdict'], found?.['received'], result['applied']],
    [invoice.invoice_id, 'SETTLED', '12.50', false],
  )
  assert.deepEqual((await read(invoice))['bank_reports'], [])
  assert.deepEqual(
    [parsed((await run([path], '--apply')).stdout)['changed'], parsed((await run([path], '--apply')).stdout)['changed']],
    [1, 0],
  )
  const record = await read(invoice)
  assert.deepEqual(
    [record.status, record.amount_paid_minor, record.payments, record['bank_status']],
    ['ISSUED', '0', [], 'reported by bank statement: SETTLED'],
  )
  const [report] = record['bank_reports'] as Record<string, unknown>[]
  assert.deepEqual(
    [
      report?.['statement_id'],
      report?.['entry_reference'],
      report?.['booked_at'],
      report?.['amount'],
      report?.['currency'],
      report?.['verdict'],
    ],
    ['S1', 'N1#1.1', today(), '12.50', 'USD', 'SETTLED'],
  )
  assert.match(String(report?.['reported_at']), /^20[0-9]{2}-.*Z$/)
})

test('parts in two statements settle together; taken back, nothing is left', async () => {
  const invoice = await issue(world, '100', BANKED)
  const { reference } = coordinates(invoice)
  const status = async () => (await read(invoice))['bank_status']
  await run([await write('part.xml', [{ amount: '40.00', reference }], 'P1')], '--apply')
  assert.equal(await status(), 'reported by bank statement: PARTIAL')
  await run([await write('rest.xml', [{ amount: '60.00', text: [`ref ${reference.toLowerCase()}`] }], 'P2')], '--apply')
  assert.equal(await status(), 'reported by bank statement: SETTLED')
  await run([await write('back.xml', [{ amount: '100.00', reference, direction: 'DBIT', reversal: true }], 'P3')], '--apply')
  assert.equal(await status(), 'reported by bank statement: RETURNED')
  const record = await read(invoice)
  assert.deepEqual(
    (record['bank_reports'] as Record<string, unknown>[]).map((one) => [one['amount'], one['verdict']]),
    [
      ['40.00', 'RETURNED'],
      ['60.00', 'RETURNED'],
      ['-100.00', 'RETURNED'],
    ],
  )
  assert.equal(record.status, 'ISSUED')
})

test('people get a table; what is wrong with the command, the file or the settings has its exit code', async () => {
  const invoice = await issue(world, '3', BANKED)
  const path = await write(
    'table.xml',
    [
      { amount: '4.00', reference: coordinates(invoice).reference },
      { amount: '1.00', text: ['x'] },
    ],
    'T1',
  )
  const { stdout, code } = await run([path], '--text')
  assert.equal(code, 0)
  assert.match(stdout, new RegExp(`^OVER +3\\.00 USD +4\\.00 USD +${invoice.invoice_id}$`, 'm'))
  assert.match(stdout, /^no_reference +1$/m)
  assert.match(stdout, /not confirmed/)
  const broken = await desk.file('broken.xml', statementOf([]).slice(0, -20))
  const ends = [await run([]), await run(['/nowhere.xml']), await run([broken]), await desk.run(['invoice'])]
  assert.deepEqual(
    ends.map((end) => end.code),
    [2, 66, 65, 2],
  )
  const unset = await desk.run(['invoice', 'reconcile', '--statement', path], { settings: { ASSAY_DATA_DIR: world.data_dir } })
  assert.deepEqual([unset.code, /ASSAY_BANK_IBAN/.test(unset.stderr)], [78, true])
})

test('a statement of any size passes through a small heap', { timeout: 120_000 }, async () => {
  const invoice = await issue(world, '9', BANKED)
  const path = await desk.file('large.xml', statementHead('L1', IBAN))
  const stray = bookingText({
    amount: '1.00',
    text: ['Rent for November, flat 7, and some more words that say nothing'],
    name: 'STRAY',
  }).repeat(2_000)
  const file = await open(path, 'a')
  let bytes = 0
  while (bytes < runs(12, 110) * 1_000_000) bytes += (await file.write(stray)).bytesWritten
  await file.write(`${bookingText({ amount: '9.00', reference: coordinates(invoice).reference })}${STATEMENT_TAIL}`)
  await file.close()
  const ended = await desk.run(['invoice', 'reconcile', '--statement', path], {
    settings: { ...BANK, ASSAY_DATA_DIR: world.data_dir, NODE_OPTIONS: '--max-old-space-size=40' },
  })
  assert.equal(ended.code, 0, ended.stderr)
  const [found] = parsed(ended.stdout)['invoices'] as Record<string, unknown>[]
  assert.deepEqual([found?.['invoice_id'], found?.['verdict']], [invoice.invoice_id, 'SETTLED'])
})
