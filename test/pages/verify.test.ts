import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { logEntry, bytesToHex } from '../../src/pure/log/checkpoint.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { readEntry } from '../../src/pure/rulebooks/pol1-registry.ts'
import { issuePolicy } from '../../src/tools/insurance/bind-insurance-policy.ts'
import { openDesk } from '../cli/run-cli.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { asMembers } from '../support/documents.ts'
import { insurer } from '../support/insurer.ts'
import { assertSound } from '../support/page-checks.ts'
import { NOON_S } from '../support/underwriters.ts'
import { until } from '../support/until.ts'

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

type Body = Record<string, unknown>

const digestOf = (body: Body) => verifyReceipt(body['receipt']).digest ?? ''

/** Four answers: two follow the first, the last follows one that is kept back. */
async function family(): Promise<Body[]> {
  const call = async (previous: string | null) => {
    const headers: Record<string, string> = previous === null ? {} : { 'x-prev-receipt-hash': previous }
    return (await restCall(app.url, 'iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' }, headers)).body
  }
  const first = await call(null)
  const [second, third, kept] = [await call(digestOf(first)), await call(digestOf(first)), await call(null)]
  return [first, second, third, await call(digestOf(kept))]
}

async function verify(page: Page, text: string): Promise<void> {
  await page.fill('#given', text)
  await page.click('#verify button[type=submit]')
}

const wordIs = (page: Page, word: string) => page.waitForSelector(`#answer .verdict .word:text-is("${word}")`)

test('a chain is pasted, verified and read with the keyboard alone', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const bodies = await family()
  await page.focus('#given')
  await page.keyboard.insertText(bodies.map((body) => JSON.stringify(body)).join('\n'))
  for (let presses = 0; presses < 6; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(() => document.activeElement?.matches('button[type=submit]'))) break
  }
  await page.keyboard.press('Enter')
  await wordIs(page, 'All verified')
  assert.match(
    (await page.textContent('#answer')) ?? '',
    /4 documents: 4 verified\. All 3 links are valid\. One earlier receipt was not given\./,
  )
  // The first, two that follow it in the lane beside it, then the one that is not here and what follows it.
  assert.deepEqual(await page.locator('.receipts .row-title').allTextContents(), [
    '1 iban-check',
    '2 iban-check',
    '3 iban-check',
    'earlier, not given',
    '4 iban-check',
  ])
  assert.deepEqual([await page.locator('.edge.good').count(), await page.locator('.edge.broken').count()], [3, 0])
  assert.equal((await page.locator('.node-seal path').count()) > 12, true)
  await page.focus('#row-0')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('End')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'row-3')
  await page.keyboard.press('Enter')
  assert.equal(await page.getAttribute('#row-3', 'aria-pressed'), 'true')
  assert.match((await page.textContent('#one')) ?? '', /^Number 4: line 4\s*Verified/)
  assert.match((await page.textContent('#asking')) ?? '', /^Verified\. /)
  await page.click('#chain summary')
  const last = await page.locator('#chain-table tbody tr').last().locator('td').allTextContents()
  assert.deepEqual([last[0], last[1], last[2], last[7]], ['4', 'Verified', 'iban-check', 'valid'])
  assert.match(last[6] ?? '', /^0x[0-9a-f]{64}, not given$/)
  assert.deepEqual(complaints, [])
  await close()
})

test('a changed receipt is shown as not valid with its link, and its followers lose their place', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const [first = {}, second = {}, third = {}] = await family()
  const changed = { ...second, receipt: { ...asMembers(second['receipt']), amount: '7' } }
  await verify(page, JSON.stringify([first, changed, third]))
  await wordIs(page, '1 of 3 not valid')
  assert.match((await page.textContent('#answer')) ?? '', /1 of 2 links is broken/)
  assert.equal(await page.locator('.edge.broken .cross').count(), 1)
  // The broken one is shown at once: which part disagrees, and that a signature cannot tell the field.
  assert.match(
    (await page.textContent('#one')) ?? '',
    /^Number 2\s*Altered or forged.*does not show which one was changed.*The digest of the link does not follow/s,
  )
  assert.deepEqual(await page.locator('#one .checks li.invalid b').allTextContents(), ['Signature', 'Link'])
  const foreign = { ...first, result: { ...asMembers(first['result']), valid: false } }
  await verify(page, JSON.stringify(foreign))
  await wordIs(page, 'Result was changed')
  assert.equal(await page.locator('#chain').count(), 0)
  assert.deepEqual(await page.locator('.checks li.invalid b').allTextContents(), ['Result'])
  assert.deepEqual(await page.locator('tr.at-fault th').allTextContents(), ['Output hashat fault'])
  const { tier: _, ...lacking } = asMembers(first['receipt'])
  await verify(page, JSON.stringify(lacking))
  await wordIs(page, 'Not a valid receipt')
  assert.match((await page.textContent('.checks')) ?? '', /tier: A required field is missing/)
  assert.deepEqual(complaints, [])
  await close()
})

test('once the form was used, the page verifies offline', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  await page.focus('#given')
  await page.waitForSelector('#key-list:has-text("now works offline")')
  const bodies = await family()
  await page.context().setOffline(true)
  await verify(page, JSON.stringify(bodies))
  await wordIs(page, 'All verified')
  await verify(page, JSON.stringify({ ...asMembers(bodies[0]?.['receipt']), amount: '1' }))
  await wordIs(page, 'Altered or forged')
  assert.deepEqual(complaints, [])
  await close()
})

test('each file is read under its name, and unreadable ones are reported', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const [first = {}, second = {}] = await family()
  await page.setInputFiles('#files', [
    { name: 'one.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(first)) },
    { name: 'two.jsonl', mimeType: 'text/plain', buffer: Buffer.from(`${JSON.stringify(second)}\nnonsense`) },
    { name: 'three.bin', mimeType: 'text/plain', buffer: Buffer.from([0xff, 0xfe]) },
  ])
  await wordIs(page, '2 of 4 not valid')
  assert.deepEqual(await page.locator('.receipts .row-title').allTextContents(), [
    '1 iban-check',
    '2 iban-check',
    '3 two.jsonl, line 2',
    '4 three.bin',
  ])
  await verify(page, '[]')
  await wordIs(page, 'Not verified')
  await verify(page, JSON.stringify(Array.from({ length: 501 }, () => ({}))))
  await page.waitForSelector('#answer:has-text("this page verifies up to 500")')
  await verify(page, JSON.stringify([{ v: '<img src=x onerror=alert(1)>', tool: '<b>bold</b>' }, first]))
  await wordIs(page, '1 of 2 not valid')
  assert.equal(await page.locator('main img, .receipts b').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

test('a certificate is verified by its two signatures and the key list', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const { registrar } = app.running.app.deps.call.sources
  const now_s = Math.floor(app.running.app.deps.call.issuer.clock.now_ms() / 1_000)
  const read = readEntry(await insurer(`0x${'8'.repeat(64)}`).registration(registrar.origin, NOON_S), registrar.origin, NOON_S)
  assert.ok(read.ok)
  const asked = {
    coverage_minor: 1_000_001n,
    policyholder: null,
    beneficiary: null,
    subject: { tx_hash: null, transaction_id: null, invoice_id: 'INV-1' },
  }
  const policy = issuePolicy(read.entry, read.entry_hash, asked, { registrar, crypto: nobleCrypto, hmac: () => 'a'.repeat(64), now_s })
  await verify(page, JSON.stringify({ certificate: policy }))
  await wordIs(page, 'Not bound')
  assert.match((await page.textContent('#answer')) ?? '', /PENDING_UNDERWRITER.*signed this record.*published here\s*yes/s)
  await verify(page, JSON.stringify({ ...policy, coverage_minor: '9' }))
  await wordIs(page, 'Certificate not valid')
  assert.deepEqual(complaints, [])
  await close()
})

test('the sample receipt is verified, and a pasted key list names its keys', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  await page.click('#sample')
  await wordIs(page, 'Verified')
  assert.match((await page.textContent('.decided')) ?? '', /decision: valid/)
  const keys = await (await fetch(`${app.url}/.well-known/xdr-1.json`)).text()
  await page.click('#verify summary')
  await page.fill('#keys', '{"keys":[{}]}')
  await page.waitForSelector('#keys-note.fault')
  await page.fill('#keys', keys)
  await page.waitForSelector('#keys-note.hint:has-text("One key in use")')
  // Without the key list of this service the pasted one decides.
  await page.route('**/.well-known/xdr-1.json', (route) => route.fulfill({ body: '{"keys":[]}' }))
  const answer = await page.inputValue('#given')
  await page.reload()
  await verify(page, answer)
  await wordIs(page, 'Unknown signer')
  await page.click('#verify summary')
  await page.fill('#keys', keys)
  await page.click('#verify button[type=submit]')
  await wordIs(page, 'Verified with your key list')
  assert.deepEqual(complaints, [])
  await close()
})

test('a proof of the transparency log is loaded or pasted, and checked', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  const [first = {}] = await family()
  const entry = logEntry(digestOf(first), String(asMembers(first['receipt'])['signature'])) ?? assert.fail('no entry')
  const address = `${app.url}/log/proof/${bytesToHex(entry)}`
  await until('the proof', async () => (await fetch(address)).ok)
  await verify(page, JSON.stringify(first))
  await wordIs(page, 'Verified')
  await page.click('#answer summary')
  await page.click('#log-load')
  await page.waitForSelector('#log-finding:has-text("In the log")')
  const proof = await (await fetch(address)).text()
  await page.fill('#log-proof', proof.replace(/^index \d+$/m, 'index 9999'))
  await page.click('#log-check')
  await page.waitForSelector('#log-finding:has-text("Not proved")')
  await page.fill('#log-proof', proof)
  await page.click('#log-check')
  await page.waitForSelector('#log-finding:has-text("In the log")')
  assert.deepEqual(complaints, [])
  await close()
})

test('an audit bundle is verified part by part, and an altered one names the part', async () => {
  const [first = {}, second = {}] = await family()
  const desk = await openDesk()
  const answers = await desk.file('answers.json', [first, second])
  const inputs = await desk.file('inputs.json', { iban: 'GB82 WEST 1234 5698 7654 32' })
  const { code, stdout, stderr } = await desk.run(['bundle', answers, '--inputs', inputs, '--url', app.url])
  await desk.clear()
  assert.equal(code, 0, stderr)
  const { page, complaints, close } = await visit(browser, `${app.url}/verify`)
  await verify(page, stdout)
  await wordIs(page, 'All verified')
  await page.waitForSelector('#one .verdict .word:text-is("Bundle verified")')
  const listed = (await page.textContent('#bundle-parts')) ?? ''
  for (const part of ['/answers/1/answer/chain', '/answers/0/input', '/log/checkpoint', '/log/proofs/1', '/manifest', '/keys'])
    assert.ok(listed.includes(part), part)
  const altered = JSON.parse(stdout) as { answers: { input: unknown }[] }
  altered.answers[1] = { ...altered.answers[1], input: { iban: 'DE89370400440532013000' } }
  await verify(page, JSON.stringify(altered))
  await page.waitForSelector('#one .verdict .word:text-is("Bundle not verified")')
  assert.match((await page.textContent('#bundle-parts')) ?? '', /\/answers\/1\/input\s*Not valid\.\s*The input was changed/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the page is accessible in both schemes and widths with a broken chain', async () => {
  const [first = {}, second = {}] = await family()
  await assertSound(browser, `${app.url}/verify`, async (page) => {
    await verify(page, JSON.stringify([first, { ...second, receipt: { ...asMembers(second['receipt']), amount: '7' } }]))
    await wordIs(page, '1 of 2 not valid')
    await page.click('#chain summary')
  })
})
