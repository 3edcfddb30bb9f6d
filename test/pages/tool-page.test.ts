import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit, type Visit } from '../support/browser.ts'
import { assertSound } from '../support/page-checks.ts'
import { says, startRdapServer } from '../support/rdap-server.ts'
import { LEI, leiRecord } from '../support/register-records.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

const open = (tool: string): Promise<Visit> => visit(browser, `${app.url}/tools/${tool}`)

/** Waits for a new answer: that of the call before stands on the page until it comes. */
async function send(page: Page): Promise<void> {
  await page.evaluate(() => document.querySelector('.answer .proof .act')?.setAttribute('data-seen', ''))
  await page.click('#ask button[type=submit]')
  await page.waitForSelector('.answer .proof .act:not([data-seen])')
}

/** A payment message whose count and one account are wrong, in four lines. */
const MESSAGE = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>MSG-1</MsgId><CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>1250.75</CtrlSum><InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>PMT-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg><ReqdExctnDt><Dt>2026-11-23</Dt></ReqdExctnDt><Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013001</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt>
<CdtTrfTxInf><PmtId><EndToEndId>E2E-1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1250.75</InstdAmt></Amt><Cdtr><Nm>Creditor</Nm></Cdtr><CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>`

test('findings of a payment message hang from the characters that they are about', async () => {
  const { page, complaints, close } = await open('iso20022-validate')
  await page.fill('[name=raw_payload]', MESSAGE)
  await send(page)
  assert.equal(await page.textContent('.verdict .word'), 'invalid')
  const rows = await page
    .locator('.lines > li.remarked')
    .evaluateAll((all) =>
      all.map((row) => [row.querySelector('.number')?.textContent, ...[...row.querySelectorAll('mark')].map((mark) => mark.textContent)]),
    )
  assert.deepEqual(rows, [
    ['2', '2'],
    ['3', 'DE89370400440532013001'],
  ])
  assert.match((await page.locator('.lines .said').first().textContent()) ?? '', /error.*Expected: 1\./)
  // Each remark says its weight in a word and a shape, not in colour alone.
  assert.equal(await page.locator('.said li').count(), await page.locator('.said li .verdict .shape').count())
  assert.deepEqual(complaints, [])
  await close()
})

test('the answer of a live register: headline, name, status, day, and what is then not checked', async () => {
  const register = await startRdapServer()
  const settings = { ASSAY_REGISTERS: 'gleif', ASSAY_REGISTER_URLS: `gleif=${register.url}` }
  const asking = await startTestApp({ settings })
  // The first call of a process loads modules, which on a busy machine takes longer than an answer waits for its register.
  await restCall(asking.url, 'lei-check', { lei: '529900T8BM49AURSDO55', register: true })
  const { page, complaints, close } = await visit(browser, `${asking.url}/tools/lei-check`)
  try {
    register.manner.set(LEI, says(leiRecord(LEI, { registration: { status: 'LAPSED', nextRenewalDate: '2025-01-31T00:00:00Z' } })))
    await page.fill('[name=lei]', LEI)
    await page.selectOption('[name=register]', 'true')
    await send(page)
    assert.equal(await page.textContent('.verdict .word'), 'registered, not renewed')
    const text = (await page.textContent('.answer')) ?? ''
    assert.match(text, /Registered in GLEIF, but on 20\d\d-\d\d-\d\d the registration was not renewed \(due 2025-01-31\)\./)
    assert.match(text, /Registered name\s*Bloomberg Finance L\.P\./)
    assert.match(text, /Register status\s*LAPSED/)
    assert.doesNotMatch(text, /that the code was ever issued/)
    register.manner.set(LEI, says('', 500))
    await page.fill('[name=lei]', '529900T8BM49AURSDO55')
    await send(page)
    assert.equal(await page.textContent('.verdict .word'), 'valid')
    assert.match((await page.textContent('.answer')) ?? '', /only the offline checks count/)
    assert.deepEqual(complaints, [])
  } finally {
    await close()
    await Promise.all([asking.stop(), register.stop()])
  }
})

test('faults of JSON data hang from the value at their pointer', async () => {
  const { page, complaints, close } = await open('instant-json-schema-verifier')
  await page.fill('[name=data]', '{\n  "id": "x",\n  "lines": [{"sku": "A"}, {"sku": 7}]\n}')
  await page.fill('[name=schema]', '{"properties":{"lines":{"items":{"properties":{"sku":{"type":"string"}}}}},"required":["amount"]}')
  await send(page)
  const rows = await page
    .locator('.lines > li.remarked')
    .evaluateAll((all) => all.map((row) => [row.querySelector('.number')?.textContent, row.querySelector('mark')?.textContent]))
  assert.deepEqual(rows, [
    ['1', '{'],
    ['3', '"sku": 7'],
  ])
  assert.deepEqual(complaints, [])
  await close()
})

test('lists are tables with points in one line, and copy as CSV; the answer stands beside as JSON', async () => {
  const { page, complaints, close } = await open('batch-validate')
  await send(page)
  // RFC 4180: cells with a comma or a quote stand in quotes, quotes twice.
  await page.fill('[name=items]', JSON.stringify([{ tool: 'iban-check', value: 'GB82 WEST 1234 5698 7654 32' }, { tool: 'iban-check' }]))
  await send(page)
  assert.deepEqual(((await page.textContent('#csv-rows')) ?? '').split('\r\n'), [
    'Item,Tool,Verdict,Value,Reason',
    '0,iban-check,valid,GB82WEST12345698765432,Country format and check digits are valid; this does not prove that the account exists.',
    '1,,not checked,,"An item is {""tool"": text, ""value"": text}."',
  ])
  assert.equal(await page.getAttribute('[data-copies=csv-rows]', 'type'), 'button')
  assert.ok((await page.locator('.answer table.list tbody tr').count()) > 0)
  await page.focus('.answer [role=tab][aria-selected=true]')
  await page.keyboard.press('ArrowRight')
  await page.waitForSelector('#raw')
  const text = (await page.textContent('#raw')) ?? ''
  assert.deepEqual(Object.keys(JSON.parse(text) as object).slice(0, 2), ['result', 'receipt'])
  assert.equal(await page.locator('.answer .verdict .word').count(), 0)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'answer-json')
  await page.keyboard.press('Home')
  await page.waitForSelector('.answer .verdict .word')
  assert.deepEqual(complaints, [])
  await close()
})

test('samples follow what is typed, and their tabs obey the keys', async () => {
  const { page, complaints, close } = await open('iban-check')
  const first = await page.textContent('#sample')
  assert.match(first ?? '', /^curl -s http.*\/v1\/tools\/iban-check\/call/)
  await page.fill('[name=iban]', "O'Neil")
  await page.waitForFunction(() => document.getElementById('sample')?.textContent?.includes('Neil'))
  assert.match((await page.textContent('#sample')) ?? '', /'\{"input":\{"iban":"O'\\''Neil"\}\}'$/)
  await page.focus('#sample-curl')
  for (const word of ['fetch', 'createClient', 'urllib.request', 'http.Post', 'tools/call', 'assay call', 'curl -s']) {
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction((text) => document.getElementById('sample')?.textContent?.includes(text), word)
    const shown = (await page.textContent('#sample')) ?? ''
    assert.ok(shown.includes(word) && shown.includes('Neil'), `${word}: ${shown}`)
  }
  assert.equal(await page.locator('#sample-tabs [tabindex="0"]').count(), 1)
  await page.click('#restore')
  await page.waitForSelector('#restore:disabled')
  assert.equal(await page.textContent('#sample'), first)
  assert.deepEqual(complaints, [])
  await close()
})

test('a document may come from a file; one that is too long or no text is refused in words', async () => {
  const { page, complaints, close } = await open('clean-markdown-scraper')
  const file = (name: string, buffer: Buffer) => page.setInputFiles('#file-html', { name, mimeType: 'text/html', buffer })
  await file('page.html', Buffer.from('<h1>From a file</h1>'))
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('[name=html]')?.value === '<h1>From a file</h1>')
  assert.equal(await page.isVisible('#fault-html'), false)
  await file('broken.html', Buffer.from([0xff, 0xfe, 0x00]))
  await page.waitForSelector('#fault-html:visible')
  assert.match((await page.textContent('#fault-html')) ?? '', /not UTF-8 text/)
  await file('long.html', Buffer.alloc(2_000_001, 'x'))
  await page.waitForFunction(() => /limit is 2000000/.test(document.getElementById('fault-html')?.textContent ?? ''))
  assert.equal(await page.inputValue('[name=html]'), '<h1>From a file</h1>')
  await send(page)
  assert.match((await page.textContent('.answer')) ?? '', /# From a file/)
  assert.deepEqual(complaints, [])
  await close()
})

test('a list gets items from a template, and a choice has every value of its schema', async () => {
  const { page, complaints, close } = await open('batch-validate')
  await page.fill('[name=items]', '')
  for (const count of [1, 2, 3]) {
    await page.click('[data-template]')
    // The first click is repeated once the script of the form is loaded.
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('[name=items]')?.value !== '')
    assert.equal((JSON.parse(await page.inputValue('[name=items]')) as unknown[]).length, count)
  }
  await page.goto(`${app.url}/tools/iso20022-validate`)
  const schema = app.running.app.deps.schemas.get('iso20022-validate')?.input['properties'] as { profile: { enum: string[] } }
  const words = await page.locator('[name=profile] option').allTextContents()
  assert.deepEqual(words, ['not set', ...schema.profile.enum.map((value) => value.replaceAll('_', ' '))])
  await page.selectOption('[name=profile]', { value: JSON.stringify(schema.profile.enum[1]) })
  await send(page)
  assert.match((await page.textContent('.answer')) ?? '', /Profile source\s*argument/)
  assert.deepEqual(complaints, [])
  await close()
})

test('when the free calls are used up, the page says how to pay', async () => {
  const poor = await startTestApp({ free_daily: 0 })
  const { page, close } = await visit(browser, `${poor.url}/tools/iban-check`)
  await page.click('#ask button[type=submit]')
  await page.waitForSelector('.answer .problem')
  assert.match((await page.textContent('.answer')) ?? '', /must be paid.*how payment works.*assay call/s)
  await close()
  await poor.stop()
})

for (const tool of ['iban-check', 'iso20022-validate', 'batch-validate']) {
  test(`the page of ${tool} has no barriers in either scheme, narrow or wide`, async () => {
    await assertSound(browser, `${app.url}/tools/${tool}`, send)
  })
}
