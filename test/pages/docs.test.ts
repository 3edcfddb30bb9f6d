import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { keccak256, recoverAddress, stringToBytes, type Hex } from 'viem'
import { COMMANDS } from '../../src/cli/commands.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { asMembers } from '../support/documents.ts'
import { assertSound } from '../support/page-checks.ts'

const TOPICS = [
  '',
  '/rest',
  '/mcp',
  '/a2a',
  '/cli',
  '/client',
  '/prices',
  '/payment',
  '/receipts',
  '/errors',
  '/invoices',
  '/journeys',
  '/going-live',
  '/reference',
]

let app: TestApp
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([startTestApp(), startBrowser()])
})
after(async () => {
  await browser.close()
  await app.stop()
})

async function pageOf(path: string): Promise<string> {
  const response = await fetch(`${app.url}/docs${path}`, { headers: { accept: 'text/html' } })
  assert.equal(response.status, 200, path)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  return response.text()
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** The samples of a page by what they are written for, as a reader copies them. */
function samplesIn(page: string, kind: string): string[] {
  const found = page.matchAll(/<pre id="sample-[^"]+" class="\w+" data-sample="(\w+)" tabindex="0">([^<]*)<\/pre>/g)
  return [...found]
    .filter(([, of]) => of === kind)
    .map(([, , text = '']) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? ''))
}

/** The words of a line of a POSIX shell: quotes in single quotes, a backslash before what is taken as it is, and one at the end of a line. */
function shellWords(line: string): string[] {
  const words: string[] = []
  const rest = line.replace(/\\\n/g, '')
  for (const [, word = ''] of rest.matchAll(/((?:'[^']*'|\\.|[^\s'\\])+)/g)) {
    words.push(word.replace(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''))
  }
  return words
}

/** What curl does with such a line. */
async function curl(line: string): Promise<{ status: number; text: string }> {
  const [program, ...words] = shellWords(line)
  assert.equal(program, 'curl', line)
  const headers = new Headers()
  let [url, body]: [string, string | null] = ['', null]
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '-s') continue
    else if (word === '-d') body = words[++at] ?? ''
    else if (word === '-H') {
      const [name = '', ...value] = (words[++at] ?? '').split(':')
      headers.set(name, value.join(':').trim())
    } else url = word
  }
  if (body !== null && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')
  const response = await fetch(url, body === null ? { headers } : { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

test('the words of a shell line are those of a shell', () => {
  assert.deepEqual(shellWords(`curl -s 'a b' \\\n  -d 'it'\\''s {"x":1}' plain`), ['curl', '-s', 'a b', '-d', `it's {"x":1}`, 'plain'])
})

/** Samples that make something new, or ask for a signature. */
const OTHER_STATUS = { '/api/invoice/create': 201, '/api/invoice/list': 403 }

test('every curl sample runs as it stands', async () => {
  let run = 0
  for (const topic of TOPICS) {
    for (const line of samplesIn(await pageOf(topic), 'shell')) {
      const { status, text } = await curl(line)
      const other = Object.entries(OTHER_STATUS).find(([part]) => line.includes(part))?.[1] ?? 200
      const expected = topic === '/errors' ? 400 : other
      assert.equal(status, expected, `${line}\n${text.slice(0, 300)}`)
      const body = asMembers(JSON.parse(text))
      assert.equal('error' in body, false, `${line}\n${text.slice(0, 300)}`)
      run++
    }
  }
  assert.ok(run >= 18, `only ${run} samples were run`)
})

test('the twelve tasks have a section each, whose links lead somewhere', async () => {
  const page = await pageOf('/journeys')
  const article = page.slice(page.indexOf('<article'), page.indexOf('</article>'))
  assert.equal(samplesIn(page, 'shell').length, 12)
  assert.deepEqual(
    [...article.matchAll(/<h2[^>]*><a[^>]*>(\d+)\./g)].map(([, number]) => Number(number)),
    Array.from({ length: 12 }, (_, place) => place + 1),
  )
  const links = new Set([...article.matchAll(/href="(\/[^"#]*)/g)].map(([, href = '']) => href))
  assert.ok(links.size >= 9)
  for (const href of links) assert.equal((await fetch(app.url + href, { headers: { accept: 'text/html' } })).status, 200, href)
})

test('the samples of the library run as they stand, and all scripts can be read', async () => {
  for (const topic of ['/client', '/payment'])
    for (const text of samplesIn(await pageOf(topic), 'javascript')) assert.ok(stripTypeScriptTypes(text).length > 0)
  const [free = ''] = samplesIn(await pageOf('/client'), 'javascript')
  assert.match(free, /from 'assay\/client'[^]*console\.log\(result\)$/)
  const library = new URL('../../src/client/index.ts', import.meta.url).href
  const script = free.replace('assay/client', library).replace('console.log(result)', 'export { result }')
  const { result } = asMembers(await import(`data:text/javascript,${encodeURIComponent(script)}`))
  assert.equal(asMembers(result)['valid'], true)
})

test('every operation has a page, its request runs, and what it answers is told', async () => {
  const index = await pageOf('/reference')
  const openapi = asMembers(await (await fetch(`${app.url}/openapi.json`)).json())
  const operations = Object.values(asMembers(openapi['paths'])).flatMap((methods) =>
    Object.values(asMembers(methods)).map((one) => String(asMembers(one)['operationId'])),
  )
  assert.ok(operations.length > 70)
  for (const id of operations) {
    assert.ok(index.includes(`href="/docs/reference/${id}"`), id)
    const page = await pageOf(`/reference/${id}`)
    assert.match(page, /<h2 id="(?:answer|problems)-title">/, id)
    const tool = app.running.app.deps.call.catalogue.find(id)
    if (tool?.id !== id) continue
    const [line = ''] = samplesIn(page, 'shell')
    const { status, text } = await curl(line)
    assert.equal(status, 200, `${line}\n${text.slice(0, 300)}`)
    for (const name of Object.keys(tool.input.shape)) assert.ok(page.includes(`<code>input.${name}</code>`), `${id} ${name}`)
    for (const name of Object.keys(tool.output.shape)) assert.ok(page.includes(`<code>${name}</code>`), `${id} ${name}`)
  }
})

test('an operation is chosen, filled, sent and shown; a 402 is explained', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/docs/reference`)
  await page.selectOption('#operation', 'luhn-check')
  await page.click('#try button[type=submit]')
  await page.waitForURL('**/docs/reference/luhn-check#try')
  await page.click('.request button[type=submit]')
  await page.waitForSelector('#response h3:has-text("200 OK")')
  const body = asMembers(JSON.parse((await page.textContent('#response-body')) ?? ''))
  assert.equal(asMembers(body['result'])['valid'], true)
  assert.match((await page.textContent('#response-headers')) ?? '', /^ratelimit: "daily";r=\d+/m)
  await page.fill('#request-body', '{"input":{}}')
  await page.keyboard.press('Tab')
  await page.click('.request button[type=submit]')
  await page.waitForSelector('#response h3:has-text("400")')
  await page.click('.request button:text-is("Restore the example")')
  await page.click('#show-402')
  await page.waitForSelector('#response h3:has-text("402")')
  assert.match(
    (await page.textContent('#response .steps')) ?? '',
    /this request costs 0\.005 USDC, and nothing was charged.*MALFORMED_PAYMENT.*PAYMENT-SIGNATURE.*page of the tool/s,
  )
  const accepts = asMembers(JSON.parse((await page.textContent('#response-body')) ?? ''))['accepts']
  assert.ok(Array.isArray(accepts) && accepts.length > 0)
  for (const link of await page.locator('#response .steps a').evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href)))
    assert.equal((await fetch(link)).status, 200, link)
  // A refusal of the service is no fault of the page, but browsers report it.
  assert.deepEqual(
    complaints.filter((line) => !/status of 40[02]/.test(line)),
    [],
  )
  await close()
})

test('parts of the address are escaped and needed; headers are sent; other types are named', async () => {
  const { page, close } = await visit(browser, `${app.url}/docs/reference/read-dataset`)
  const [asked] = [page.waitForRequest('**/v1/datasets/*')]
  await page.fill('#request-0', 'a b?c#d')
  await page.click('.request button[type=submit]')
  assert.equal(new URL((await asked).url()).pathname, '/v1/datasets/a%20b%3Fc%23d')
  await page.waitForSelector('#response h3:has-text("40")')
  await page.click('.request button:text-is("Restore the example")')
  await page.click('.request button[type=submit]')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'request-0')
  assert.equal(await page.locator('#response').count(), 0)
  await page.goto(`${app.url}/docs/reference/iban-check`)
  await page.click('.request summary:text-is("Headers")')
  const detail = page.locator('.request label:has-text("X-Detail")')
  await page.fill(`#${await detail.getAttribute('for')}`, 'brief')
  await page.click('.request button[type=submit]')
  await page.waitForSelector('#response-body:has-text("answer_url")')
  await close()
  const bare = await visit(browser, `${app.url}/docs/reference?operation=health`, { javaScriptEnabled: false })
  assert.equal(new URL(bare.page.url()).pathname, '/docs/reference/health')
  assert.match((await bare.page.textContent('#try')) ?? '', /needs JavaScript/)
  await bare.page.goto(`${app.url}/docs/reference?operation=__proto__`)
  assert.equal(new URL(bare.page.url()).pathname, '/docs/reference')
  await bare.close()
})

test('every problem is in the table of errors, and commands that are named exist', async () => {
  const errors = await pageOf('/errors')
  for (const code of Object.keys(PROBLEMS)) assert.equal(errors.split(`href="/problems/${code}"`).length, 2, code)
  const cli = await pageOf('/cli')
  const named = new Set([...cli.matchAll(/>assay ([a-z]+)/g)].map(([, command = '']) => command).filter((command) => command !== 'help'))
  assert.deepEqual(
    [...named].filter((command) => !Object.hasOwn(COMMANDS, command)),
    [],
  )
  for (const line of samplesIn(cli, 'assay')) assert.deepEqual(shellWords(line).slice(0, 2), ['assay', 'call'])
})

test('the worked example is right: text, digest, signer and link agree by another library', async () => {
  const page = await pageOf('/receipts')
  const [canonical = '', digest, signer, link = '', link_digest] = samplesIn(page, 'text')
  const [receipt = '{}'] = samplesIn(page, 'json')
  const { signature } = JSON.parse(receipt) as { signature: Hex }
  assert.equal(keccak256(stringToBytes(canonical)), digest)
  assert.equal((await recoverAddress({ hash: digest as Hex, signature })).toLowerCase(), signer)
  assert.equal(keccak256(stringToBytes(link)), link_digest)
})

test('what is not there says so', async () => {
  for (const path of ['/docs/nothing', '/docs/reference/nothing', '/docs/reference/__proto__', '/docs/constructor']) {
    const response = await fetch(app.url + path)
    assert.equal(response.status, 404, path)
    assert.match(await response.text(), /No such page/)
  }
})

test('with the keyboard alone a reader goes from topic to topic and copies a sample', async () => {
  const { page, complaints, close } = await visit(browser, `${app.url}/docs`, {
    viewport: { width: 1280, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.focus('.rail a[href="/docs/payment"]')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/payment')
  assert.equal(await page.locator('.rail [aria-current=page]').textContent(), 'Payment')
  const button = page.locator('button[data-copies=sample-status]')
  await button.focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('button[data-copies=sample-status]:text-is("Copied")')
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl -s 'http/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the pages are sound in both schemes and widths', async () => {
  for (const path of ['/docs/receipts', '/docs/reference/luhn-check'])
    await assertSound(browser, app.url + path, (page) => page.waitForSelector('.doc-page h2'))
})
