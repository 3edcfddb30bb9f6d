import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { readProtocolDocument } from '../../src/pure/protocols/read-document.ts'
import { PROTOCOL_IDS } from '../../src/pure/protocols/protocol.ts'
import { sampleText } from '../../src/surfaces/pages/components/preflight-desk.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { assertSound } from '../support/page-checks.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

const status = (page: Page, word: string) => page.waitForSelector(`#answer .verdict .word:text-is("${word}")`)

/** Presses Tab until something that matches has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  const there = () => page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)
  for (let presses = 0; presses < 40 && !(await there()); presses++) await page.keyboard.press('Tab')
  assert.ok(await there(), `${selector} is out of reach of the keyboard`)
}

const caret = (page: Page) => page.evaluate(() => (document.activeElement as HTMLTextAreaElement).selectionStart)
const textOf = (page: Page) => page.inputValue('#document')

test('a faulty document is found, gone to and mended with the keyboard alone', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/preflight`)
  await tabTo(page, 'input[name=protocol]')
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press('ArrowRight')
  assert.equal(await page.inputValue('input[name=protocol]:checked'), 'x402')
  await tabTo(page, '#sample-faulty')
  await page.keyboard.press('Enter')
  await status(page, 'fail')
  assert.deepEqual(await page.locator('.found code:has-text("X402")').allTextContents(), ['X402-009', 'X402-042', 'X402-017'])
  // Each is marked on its line: the name of the member with its value.
  assert.deepEqual(await page.locator('.under mark').allTextContents(), [
    '"amount": 0.01',
    `"payTo": "0x857b06519E91e3A54538791bDbb0E22373e36b66"`,
    '"maxTimeoutSeconds": "60"',
  ])
  assert.deepEqual(await page.locator('.gutter .error').allTextContents(), ['13', '15', '16'])
  await tabTo(page, '.found .place')
  await page.keyboard.press('Enter')
  assert.equal(await caret(page), (await textOf(page)).indexOf('"amount"'))
  for (const [from, to] of [
    ['0.01', '"10000"'],
    ['"60"', '60'],
    ['0x857b06519E91e3A54538791bDbb0E22373e36b66', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'],
  ] as const) {
    const start = (await textOf(page)).indexOf(from)
    await page.evaluate(([at, end]) => (document.activeElement as HTMLTextAreaElement).setSelectionRange(at, end), [
      start,
      start + from.length,
    ] as const)
    await page.keyboard.insertText(to)
  }
  await status(page, 'pass')
  assert.equal(await page.locator('.under mark').count(), 0)
  assert.match((await page.textContent('#asking')) ?? '', /^pass: /)
  assert.match((await page.textContent('.scope')) ?? '', /rules were applied.*signatures.*not a conformance result/s)
  assert.deepEqual(complaints, [])
  await close()
})

test('type and version may be stated, and a document without rules is said to be none that is covered', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/preflight`)
  await page.check('input[name=protocol][value=a2a]', { force: true })
  await page.fill('#document', '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}')
  await status(page, 'not covered')
  assert.match((await page.textContent('#answer')) ?? '', /neither passes nor fails.*a2a request, version 1\.0/s)
  await page.selectOption('#document-type', 'agent_card')
  await status(page, 'fail')
  await page.selectOption('#version', '0.3')
  await page.waitForFunction(() => document.querySelector('#answer')?.textContent?.includes('version 0.3 (as you stated)'))
  assert.deepEqual(complaints, [])
  await close()
})

test('the output of curl -i for a 402 is decoded where it is pasted, and its findings are marked in the document', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/preflight`)
  await page.check('input[name=protocol][value=x402]', { force: true })
  const challenge = JSON.parse(sampleText('x402', 'correct', 1_795_262_400).text) as { accepts: { amount: unknown }[] }
  const [offer] = challenge.accepts
  assert.ok(offer !== undefined)
  offer.amount = '0.01'
  const header = Buffer.from(JSON.stringify(challenge)).toString('base64')
  await page.focus('#document')
  await page.keyboard.insertText(`HTTP/2 402 \r\ncontent-type: application/json\r\npayment-required: ${header}\r\n\r\n{}`)
  await status(page, 'fail')
  assert.deepEqual(await page.locator('.found code:has-text("X402")').allTextContents(), ['X402-009'])
  assert.deepEqual(await page.locator('.under mark').allTextContents(), ['"amount": "0.01"'])
  assert.match((await page.textContent('#read-part')) ?? '', /header PAYMENT-REQUIRED, the first of 2 parts/)
  assert.deepEqual(JSON.parse(await textOf(page)), challenge)
  assert.deepEqual(complaints, [])
  await close()
})

test('what is no JSON is said with line and column, and is not sent', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/preflight`)
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await page.fill('#document', '{\n  "a": 1,\n  "b": tru\n}')
  await status(page, 'not readable')
  // RFC 8259: after "tru" of the third line, "e" has to follow.
  assert.equal(await page.textContent('#answer .place'), 'line 3, column 11')
  await page.click('#answer .place')
  assert.equal(await caret(page), 22)
  await page.fill('#document', '{"a": 1, "a": 2}')
  assert.equal(await page.textContent('#answer .place'), 'line 1, column 10')
  await page.fill('#document', '[1]')
  await status(page, 'not an object')
  await page.fill('#document', `{"a":"${'x'.repeat(262_144)}"}`)
  await status(page, 'too large')
  assert.deepEqual(sent, [])
  assert.deepEqual(complaints, [])
  await close()
})

test('numbers go as they were typed, and text of strangers stays text', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/preflight`)
  const bait = '<img src=x onerror=alert(1)>'
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.fill('#document', `{"ucp":{"version":"2026-08-25"},"${bait}":1.50e1,"currency":"${bait}"}`)
  assert.match((await sent).postData() ?? '', /^\{"protocol":"ucp","document":\{.*1\.50e1,/)
  await status(page, 'fail')
  assert.ok((await page.locator('.where code').allTextContents()).some((path) => path.includes('/')))
  assert.equal(await page.locator('#answer img, .under img').count(), 0)
  await page.click('#indent')
  assert.match(await textOf(page), /\n {2}"<img src=x onerror=alert\(1\)>": 1\.50e1,\n/)
  assert.deepEqual(complaints, [])
  await close()
})

test('a client that has sent its documents of the minute is told how long to wait; a lost line is told too', async (t) => {
  const strict = await startTestApp({ settings: { ASSAY_PREFLIGHT_PER_MINUTE: '1' } })
  t.after(() => strict.stop())
  const { page, complaints, close } = await visit(browser, `${strict.url}/preflight`)
  await page.click('#sample-correct')
  await status(page, 'pass')
  const told = '#asking:has-text("are used up; the next is sent in")'
  await page.click('#sample-faulty')
  await Promise.race([page.waitForSelector(told), status(page, 'fail')])
  // A new minute may have begun between the two; a third document then comes in the same one.
  if ((await page.locator(told).count()) === 0) await page.click('#sample-correct')
  await page.waitForSelector(told)
  assert.deepEqual(
    complaints.filter((line) => !line.includes('429')),
    [],
  )
  await close()
  const lost = await visit(browser, `${app.url}/preflight`)
  await lost.page.click('#sample-correct')
  await status(lost.page, 'pass')
  await lost.page.context().setOffline(true)
  await lost.page.click('#sample-faulty')
  await lost.page.waitForSelector('#answer .problem:has-text("No answer")')
  await lost.close()
})

test('it fits a phone and a desk, light and dark, without barriers', async () => {
  await assertSound(browser, `${app.url}/preflight`, async (page) => {
    await page.click('#sample-faulty')
    await status(page, 'fail')
  })
})

test('so do its rules', async () => {
  for (const protocol of ['', '?protocol=x402', '?protocol=acp'])
    await assertSound(browser, `${app.url}/v1/protocols/rules${protocol}`, () => Promise.resolve())
})

test('of the examples of each protocol one passes and one fails, whenever they are taken', () => {
  const bounds = { string_chars: 65_536, array_items: 5_000 }
  for (const now_s of [1_795_262_400, 1_900_000_000]) {
    for (const protocol of PROTOCOL_IDS) {
      for (const [kind, expected] of [['correct', 'pass'] as const, ['faulty', 'fail'] as const]) {
        const { text, expected_payee } = sampleText(protocol, kind, now_s)
        const read = readProtocolDocument(text, { depth: 64, nodes: 20_000 })
        assert.ok(read.ok)
        const given = { expected_payee: expected_payee === '' ? null : expected_payee, now_s, literals: read.literals, bounds }
        const result = checkDocument(protocol, read.value, given)
        assert.equal(result.kind === 'report' ? result.report.status : result.kind, expected, `${protocol} ${kind}`)
      }
    }
  }
})
