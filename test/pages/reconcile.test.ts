import assert from 'node:assert/strict'
import { buffer as bytesOf, text as textOf } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { SaxesParser } from 'saxes'
import { ISO4217 } from '../../src/pure/checks/currency.ts'
import { reconcileDocuments, type PaymentDocument } from '../../src/pure/documents/reconcile/reconcile-documents.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { runs } from '../support/counts.ts'
import { assertSound } from '../support/page-checks.ts'
import { openDesk } from '../cli/run-cli.ts'
import { readVectors } from '../support/vectors.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

const headline = (page: Page, word: string) => page.waitForSelector(`#answer .verdict .word:text-is("${word}")`)
const shown = (page: Page) => page.locator('#grid tbody tr:not(.space) th').allTextContents()

/** Presses Tab until something that matches has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  const there = () => page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)
  for (let presses = 0; presses < 40 && !(await there()); presses++) await page.keyboard.press('Tab')
  assert.ok(await there(), `${selector} is out of reach of the keyboard`)
}

/** Payments of one cent, two cents, and so on, all of them booked as instructed but every tenth. */
function files(payments: number) {
  const rows = Array.from({ length: payments }, (_, index) => ({ id: `P${String(index + 1).padStart(6, '0')}`, cents: index + 1 }))
  const euros = (cents: number) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
  const account = '<Id><IBAN>DE89370400440532013000</IBAN></Id>'
  const asked = rows.map(
    ({ id, cents }) =>
      `<CdtTrfTxInf><PmtId><EndToEndId>${id}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${euros(cents)}</InstdAmt></Amt></CdtTrfTxInf>`,
  )
  const told = rows.map(({ id, cents }, index) => {
    const paid = index % 10 === 9 ? cents + 1 : cents
    return `<Ntry><Amt Ccy="EUR">${euros(paid)}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><NtryDtls><TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>`
  })
  const pain = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><PmtInf><DbtrAcct>${account}</DbtrAcct>\n${asked.join('\n')}\n</PmtInf></CstmrCdtTrfInitn></Document>`
  const camt = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S</Id><Acct>${account}</Acct>\n${told.join('\n')}\n</Stmt></BkToCstmrStmt></Document>`
  const file = (name: string, text: string) => ({ name, mimeType: 'application/xml', buffer: Buffer.from(text) })
  return { payments: file('payments.xml', pain), statement: file('statement.xml', camt) }
}

/** Lets files fall onto an element. */
async function drop(page: Page, onto: string, given: readonly { name: string; text: string }[]): Promise<void> {
  const transfer = await page.evaluateHandle((all) => {
    const made = new DataTransfer()
    for (const { name, text } of all) made.items.add(new File([text], name))
    return made
  }, given)
  await page.dispatchEvent(onto, 'drop', { dataTransfer: transfer })
}

test('a newcomer reconciles the sample with the keyboard alone, and nothing is sent', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  const sent: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
  await tabTo(page, '#sample-correct')
  await page.keyboard.press('Enter')
  await headline(page, '5 of 9 settled')
  // By hand: 1250.00 + 89.90 + 4310.25 + 640.00 + 75.00 + 512.40.
  assert.match((await page.textContent('.totals')) ?? '', /Instructed\s*6\s*6877\.55/)
  await tabTo(page, '#views input')
  await page.keyboard.press('ArrowRight')
  await page.waitForSelector('#found:text-is("1 row")')
  await page.waitForSelector('#grid th :text-is("INV-2045")')
  assert.deepEqual(await shown(page), ['INV-2045'])
  await page.keyboard.press('ArrowLeft')
  await page.waitForSelector('#found:text-is("9 rows")')
  await tabTo(page, '[data-sort=difference]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#grid tbody tr:nth-child(2) th :text-is("INV-2043")')
  assert.equal(await page.getAttribute('th:has([data-sort=difference])', 'aria-sort'), 'ascending')
  await page.keyboard.press('Enter')
  await page.waitForSelector('th[aria-sort=descending] [data-sort=difference]:focus')
  await tabTo(page, '[data-sort=place]')
  await page.fill('#row-search', 'returned')
  await page.waitForSelector('#found:text-is("1 row")')
  await page.waitForSelector('#grid tbody tr:nth-child(2) td:text-is("returned, AC04")')
  assert.deepEqual(await shown(page), ['INV-2046'])
  await page.click('#grid button:text-is("INV-2046")')
  await page.waitForSelector('#row-detail h3:text-is("INV-2046")')
  assert.match(
    (await page.textContent('#row-detail')) ?? '',
    /Due\s*2026-11-19.*CH9300762011623852957.*6\.1\s*2026-11-20\s*debit\s*512\.40 EUR/s,
  )
  assert.deepEqual(sent, [])
  assert.deepEqual(complaints, [])
  await close()
})

test('rows are filtered by date and currency', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  await page.click('#sample-correct')
  await page.waitForSelector('#found:text-is("9 rows")')
  await page.click('.filters summary')
  await page.selectOption('#row-currency', 'JPY')
  await page.waitForSelector('#found:text-is("2 rows")')
  assert.deepEqual(await shown(page), ['INV-2047', 'INV-2048'])
  await page.fill('#row-from', '2026-11-20')
  await page.waitForSelector('#found:text-is("0 rows")')
  await page.selectOption('#row-currency', '')
  await page.check('#views [value=unmatched]', { force: true })
  await page.waitForSelector('#found:text-is("1 row")')
  await page.waitForSelector('#grid td:text-is("no payment found")')
  assert.deepEqual(complaints, [])
  await close()
})

test('many rows stay few elements, are in order at both ends, and are saved as a whole', async () => {
  const count = runs(5_000, 100_000)
  const { payments, statement } = files(count)
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  await page.setInputFiles('#file-instructions', payments)
  await page.setInputFiles('#file-statement', statement)
  const words = (value: number) => value.toLocaleString('en')
  await headline(page, `${words((count / 10) * 9)} of ${words(count)} settled`)
  await page.waitForSelector('#grid th :text-is("P000001")')
  await page.evaluate(() => document.getElementById('grid')?.scrollTo(0, 1e9))
  await page.waitForSelector(`#grid th :text-is("P${String(count).padStart(6, '0')}")`)
  assert.ok((await page.locator('#grid tr').count()) < 60)
  assert.equal(await page.getAttribute('#grid table', 'aria-rowcount'), String(count + 1))
  assert.equal(await page.locator('#grid tr[aria-rowindex]').last().getAttribute('aria-rowindex'), String(count + 1))
  const saved = page.waitForEvent('download')
  await page.click('#export-csv')
  const lines = (await textOf(await (await saved).createReadStream())).split('\r\n')
  assert.equal(lines.length, count + 2)
  assert.match(lines[10] ?? '', /^verdict,P000010,AMOUNT_MISMATCH,exact,over,end_to_end_id,EUR,0\.10,0\.11,0\.01,/)
  const json = page.waitForEvent('download')
  await page.click('#export-json')
  const report = JSON.parse(await textOf(await (await json).createReadStream())) as {
    files: string[]
    verdicts: unknown[]
    conserved: boolean
  }
  assert.deepEqual([report.files, report.verdicts.length, report.conserved], [['payments.xml', 'statement.xml'], count, true])
  assert.deepEqual(complaints, [])
  await close()
})

/** Files of a ZIP archive, read by its directory (APPNOTE 6.3.3, 4.3), each with the right checksum and size. */
function unzip(archive: Buffer): Map<string, string> {
  const end = archive.length - 22
  assert.equal(archive.readUInt32LE(end), 0x06054b50)
  const found = new Map<string, string>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(archive.readUInt32LE(at), 0x02014b50)
    const [crc, size, bytes] = [16, 20, 24].map((offset) => archive.readUInt32LE(at + offset))
    const name_length = archive.readUInt16LE(at + 28)
    const local = archive.readUInt32LE(at + 42)
    assert.equal(archive.readUInt32LE(local), 0x04034b50)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const body = inflateRawSync(archive.subarray(start, start + (size ?? 0)))
    assert.deepEqual([crc32(body), body.length], [crc, bytes])
    found.set(archive.toString('utf8', at + 46, at + 46 + name_length), body.toString())
    at += 46 + name_length
  }
  assert.equal(at, end)
  return found
}

/** Cells of a sheet as a reader of XML finds them: a number, or the text of an inline string. */
function cellsOf(sheet: string): (string | number | null)[][] {
  const rows: (string | number | null)[][] = []
  let text = ''
  let value: string | number | null = null
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => {
    text = ''
    if (name === 'row') rows.push([])
    if (name === 'c') value = null
  })
  parser.on('text', (part) => (text += part))
  parser.on('closetag', ({ name }) => {
    if (name === 'v') value = Number(text)
    if (name === 't') value = text
    if (name === 'c') rows.at(-1)?.push(value)
  })
  parser.write(sheet).close()
  return rows
}

test('the report is saved as a workbook: amounts are numbers, and no text is a formula', async () => {
  const { payments, statement } = files(12)
  const altered = (file: { buffer: Buffer }) => ({
    ...statement,
    ...file,
    buffer: Buffer.from(file.buffer.toString().replace('>P000010<', '>=1+1&lt;_x0041_<')),
  })
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  await page.setInputFiles('#file-instructions', altered(payments))
  await page.setInputFiles('#file-statement', altered(statement))
  await page.waitForSelector('#export-xlsx')
  const saved = page.waitForEvent('download')
  await page.click('#export-xlsx')
  const download = await saved
  assert.equal(download.suggestedFilename(), 'reconciliation.xlsx')
  const archive = unzip(await bytesOf(await download.createReadStream()))
  assert.deepEqual(
    [...archive.keys()].toSorted(),
    [
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/_rels/workbook.xml.rels',
      'xl/workbook.xml',
      ...[1, 2, 3].map((at) => `xl/worksheets/sheet${at}.xml`),
    ].toSorted(),
  )
  for (const text of archive.values()) assert.ok(cellsOf(text))
  const [head, ...rows] = cellsOf(archive.get('xl/worksheets/sheet1.xml') ?? '')
  assert.deepEqual(head?.slice(0, 7), ['End-to-end id', 'Verdict', 'Reason', 'Currency', 'Instructed', 'Paid', 'Difference'])
  assert.equal(rows.length, 12)
  // ECMA-376 part 1, 22.9.2.19: an underscore that would begin an escape is written _x005F_.
  const formula = rows.find(([id]) => String(id).startsWith('='))
  assert.deepEqual(formula?.slice(0, 2), ['=1+1<_x005F_x0041_', 'AMOUNT_MISMATCH'])
  assert.deepEqual(formula?.slice(3, 7), ['EUR', 0.1, 0.11, 0.01])
  assert.doesNotMatch([...archive.values()].join(''), /<f>|t="str"/)
  assert.deepEqual(complaints, [])
  await close()
})

// Chromium loads what a worker imports under the policy of the page; Firefox, as the standard has it, under that of the worker's file. Nor does
// Firefox import JSON in a worker.
test('every module of the worker is a script, and the policy of its file lets it import them', async () => {
  const page = await (await fetch(`${app.url}/reconcile`)).text()
  const worker = /worker&quot;:&quot;([^&]+)&quot;/.exec(page)?.[1] ?? assert.fail('the page names no worker')
  const modules = new Set([new URL(worker, app.url).href])
  // What a module imports joins the end of the set, and so the walk.
  for (const module of modules) {
    const answer = await fetch(module)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/javascript; charset=utf-8'], module)
    assert.match(answer.headers.get('content-security-policy') ?? '', /(^|; )script-src 'self'(;|$)/)
    const imports = [...(await answer.text()).matchAll(/^(?:import|export)\b[^'"]*?\bfrom\s+['"]([^'"]+)['"](.*)$/gm)]
    for (const [, specifier = '', attributes = ''] of imports) {
      assert.doesNotMatch(attributes, /with/, `${module} imports ${specifier}`)
      modules.add(new URL(specifier, module).href)
    }
  }
  assert.ok(modules.size > 30 && [...modules].some((module) => module.includes('/data/')))
})

test('the engine judges in a browser as it does in Node', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  const { worker } = JSON.parse((await page.getAttribute('#desk', 'data-props')) ?? '') as { worker: string }
  const address = worker.replace(/(surfaces|bundles)\/.*$/, 'pure/documents/reconcile/reconcile-documents.ts')
  const kinds = { pain001_xml: 'pain.001', pacs008_xml: 'pacs.008', camt053_xml: 'camt.053', nacha_ach: 'nacha' } as const
  const documents = (readVectors({ family: 'messages', id: 'reconcile' })?.cases ?? []).map(({ in: input }) =>
    Object.entries(kinds).flatMap(([name, kind]): PaymentDocument[] =>
      typeof input[name] === 'string' ? [{ kind, text: input[name] }] : [],
    ),
  )
  assert.ok(documents.length >= 10)
  const there = await page.evaluate(
    async ([path, all]) => {
      const room = (await import(path)) as { reconcileDocuments(given: unknown): unknown }
      return all.map((given) => room.reconcileDocuments(given))
    },
    [address, documents] as const,
  )
  assert.deepEqual(
    there,
    documents.map((given) => reconcileDocuments(given)),
  )
  assert.deepEqual(complaints, [])
  await close()
})

test('a file that cannot be read is told with its line, and one that is too large with its bound', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  await page.click('#sample-faulty')
  await headline(page, 'Not reconciled')
  assert.match((await page.textContent('.found')) ?? '', /AMOUNT_UNREADABLE\s*sample-statement-faulty\.xml, line \d+.*604,00/s)
  assert.equal(await page.isHidden('#rows'), true)
  const { payments, statement } = files(3)
  const text = ({ name, buffer }: { name: string; buffer: Buffer }) => ({ name, text: buffer.toString() })
  await drop(page, '#main', [text(statement), text(payments)])
  await headline(page, 'All settled')
  assert.match((await page.textContent('#given-instructions')) ?? '', /^\s*payments\.xml/)
  await drop(page, '#main', [text(payments), text(payments)])
  await page.waitForSelector('#asking:has-text("cannot be distinguished")')
  await page.evaluate(() => {
    const made = new DataTransfer()
    made.items.add(new File([new Uint8Array(64 * 1_048_576 + 1)], 'huge.xml'))
    document.getElementById('slot-statement')?.dispatchEvent(new DragEvent('drop', { dataTransfer: made, bubbles: true, cancelable: true }))
  })
  await headline(page, 'File too large')
  assert.match((await page.textContent('#answer')) ?? '', /huge\.xml has 64\.0 MiB; the limit of this page is 64\.0 MiB.*assay reconcile/s)
  assert.deepEqual(complaints, [])
  await close()
})

test('only a wish for a signature sends the files, and its answer is held against the page', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/reconcile`)
  await page.click('#sample-correct')
  await headline(page, '5 of 9 settled')
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.click('#sign-now')
  assert.match((await sent).url(), /\/v1\/tools\/reconcile\/call$/)
  await page.waitForSelector('#signed .proof .seal:not(.broken)')
  assert.match((await page.textContent('#signing')) ?? '', /^Signed\. The signed answer has the same counts/)
  await page.context().setOffline(true)
  await page.click('#sign-now')
  await page.waitForSelector('#signed .problem:has-text("No answer")')
  assert.deepEqual(
    complaints.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED')),
    [],
  )
  await close()
})

test('a signature without free calls shows its price and the ways to pay', async () => {
  const poor = await startTestApp({ free_daily: 1 })
  const { page, close } = await visit(browser, `${poor.url}/reconcile`)
  await page.click('#sample-correct')
  await page.click('#sign-now')
  await page.waitForSelector('#signed .proof')
  await page.click('#sign-now')
  await page.waitForSelector('#signed .problem h2:has-text("free call is used")')
  assert.match((await page.textContent('#signed .problem')) ?? '', /This call costs [\d.]+ USDC/)
  await close()
  await poor.stop()
})

test('it fits a phone and a desk, light and dark, without barriers', async () => {
  await assertSound(browser, `${app.url}/reconcile`, async (page) => {
    await page.click('#sample-correct')
    await page.waitForSelector('#grid th :text-is("INV-2049")')
  })
})

test('the page decides from the table of currencies that the service uses, and without it from that of the release', async () => {
  const desk = await openDesk()
  const data_dir = desk.settings['ASSAY_DATA_DIR'] ?? ''
  const other = ISO4217.bundled()
  const today = new Date().toISOString().slice(0, 10)
  const rows = (other.rows as { alpha: string; minor_units: number | null }[]).map((row) =>
    row.alpha === 'EUR' ? { ...row, minor_units: 3 } : row,
  )
  // The first start makes the store.
  await (await startTestApp({ data_dir })).stop()
  const imported = await desk.run([
    'data',
    'import',
    await desk.file('newer.json', { ...other, published_at: today, retrieved_at: today, rows }),
  ])
  assert.equal(imported.code, 0, imported.stderr)
  const own = await startTestApp({ data_dir })
  const { page, complaints, close } = await visit(browser, `${own.url}/reconcile`)
  const reconcile = async () => {
    // A tenth of a cent is an amount with three decimal places only.
    const { payments, statement } = files(1)
    const [paid, booked] = [payments, statement].map(({ name, mimeType, buffer }) => ({
      name,
      mimeType,
      buffer: Buffer.from(buffer.toString('utf8').replace('>0.01<', '>0.011<')),
    }))
    assert.ok(paid !== undefined && booked !== undefined)
    await page.setInputFiles('#file-instructions', paid)
    await page.setInputFiles('#file-statement', booked)
  }
  try {
    await reconcile()
    await headline(page, 'All settled')
    assert.match((await page.textContent('#answer .scope-line')) ?? '', new RegExp(`table of ${today} sha256:[0-9a-f]{12}\\.`))
    await page.route('**/v1/datasets', (route) => route.abort())
    await page.reload()
    await reconcile()
    await headline(page, 'Not reconciled')
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes('ERR_FAILED')),
      [],
    )
    await page.click('#sample-correct')
    await headline(page, '5 of 9 settled')
    const line = (await page.textContent('#answer .scope-line')) ?? ''
    assert.match(line, new RegExp(`table of ${other.published_at ?? ''} sha256:[0-9a-f]{12} of the release: the service did not send`))
  } finally {
    await close()
    await own.stop()
    await desk.clear()
  }
})
