/** Levels of detail over REST and A2A: what is asked for, what the brief form contains, and that nothing else changes. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Store } from '../../src/ports/store.ts'
import { decodeReceipt, encodeReceipt } from '../../src/pure/receipts/compact.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { receiptDigest, type Receipt } from '../../src/pure/receipts/receipt.ts'
import { allowanceSchema } from '../../src/service/catalogue/wire-schemas.ts'
import { briefSchema } from '../../src/service/catalogue/brief.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { answerOf, asking, connectA2a, dataOf, saying, taskFor, type A2aVersion, A2A_CARDS } from '../support/a2a.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { painMessage, swap } from '../support/iso20022-messages.ts'
import { newAjv } from '../support/json-schema.ts'
import { call, INPUT, read, signed, stranger, TOOL, v2 } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { startService } from '../support/service.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const BRIEF = { 'x-detail': 'brief' }
let app: TestApp

before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

async function callAt(path: string, headers: Record<string, string> = {}, input: unknown = IBAN) {
  const response = await fetch(`${app.url}/v1/tools/${path}`, { method: 'POST', headers, body: JSON.stringify({ input }) })
  return { status: response.status, headers: response.headers, body: asMembers(await response.json()) }
}

test('without a level, with standard and with full the answer has its members of before', async () => {
  const plain = await callAt('iban-check/call')
  for (const [path, headers] of [
    ['iban-check/call', { 'x-detail': 'standard' }],
    ['iban-check/call', { 'x-detail': 'full' }],
    ['iban-check/call?detail=standard', {}],
    ['iban-check/call?detail=brief', { 'x-detail': 'full' }],
  ] as const) {
    const { status, body } = await callAt(path, headers)
    assert.deepEqual([status, Object.keys(body), body['result']], [200, Object.keys(plain.body), plain.body['result']], path)
  }
})

test('brief findings of a message: errors first, each with code, place, line, found and expected value', async () => {
  const raw_payload = swap(painMessage().replace('<BtchBookg>true</BtchBookg>', ''), '<NbOfTxs>2</NbOfTxs>', '<NbOfTxs>3</NbOfTxs>')
  const { body } = await callAt('iso20022-validate/call', BRIEF, { raw_payload })
  const [first = ''] = body['remarks'] as string[]
  assert.equal(first, 'P_NBTX_GROUP CstmrCdtTrfInitn/GrpHdr/NbOfTxs:4 3 → 2')
})

test('brief, by header and by address: decision, value, facts, limits, price, and the hashes of the whole answer', async () => {
  const whole = await callAt('iban-check/call')
  const result = asMembers(whole.body['result'])
  for (const [path, headers] of [
    ['iban-check/call', BRIEF],
    ['iban-check/call?detail=brief', {}],
  ] as const) {
    const { status, body, headers: sent } = await callAt(path, headers)
    const { headline, facts, not_checked, price, allowance, receipt_digest, output_hash, answer_url, ...rest } = body
    assert.equal(status, 200)
    assert.deepEqual(headline, { word: 'valid', tone: 'good', sentence: result['reason'] })
    assert.deepEqual(rest, {
      detail: 'brief',
      tool: 'iban-check',
      reason_code: result['reason_code'],
      value: 'GB82WEST12345698765432',
    })
    assert.match(String(answer_url), /^http:\/\/127\.0\.0\.1:\d+\/v1\/answers\/[0-9a-f]{64}$/)
    assert.equal(asMembers(facts)['country_name'], asMembers(result['facts'])['country_name'])
    assert.match(String(not_checked), /^[a-z]/)
    assert.deepEqual(price, { tier: 'free', amount_minor: '0', method: null })
    assert.deepEqual(Object.keys(asMembers(allowance)), ['limit', 'remaining', 'resets_at'])
    assert.match(String(receipt_digest), /^0x[0-9a-f]{64}$/)
    assert.equal(output_hash, nobleCrypto.keccak256Hex(JSON.stringify(result)))
    assert.match(sent.get('ratelimit') ?? '', /^"daily";r=\d+/)
    assert.ok(JSON.stringify(body).length < JSON.stringify(whole.body).length / 2)
  }
})

test('the brief form of every tool fits its schema, has at most 2,500 characters and repeats decision and receipt of MCP’s text', async () => {
  const fits = newAjv().compile(briefSchema(allowanceSchema()))
  for (const tool of app.running.app.deps.call.catalogue.tools) {
    const { status, body } = await callAt(`${tool.id}/call`, BRIEF, tool.example)
    assert.equal(status, 200, tool.id)
    assert.ok(fits(body), `${tool.id}: ${JSON.stringify(fits.errors)}`)
    assert.ok(JSON.stringify(body).length <= 2_500, `${tool.id}: ${JSON.stringify(body).length}`)
    assert.equal(body['tool'], tool.id)
  }
})

test('the badge of every tool’s answer has at most 600 characters, and its link at most 360 of receipt that verifies', async () => {
  let longest = 0
  for (const tool of app.running.app.deps.call.catalogue.tools) {
    const { body } = await callAt(`${tool.id}/call`, {}, tool.example)
    const badge = String(body['embeddable_badge'])
    longest = Math.max(longest, badge.length)
    const compact = /\/verify#r=([\w-]+)\)$/.exec(badge)?.[1] ?? ''
    assert.ok(badge.length <= 600 && compact.length <= 360, `${tool.id}: ${badge.length}, ${compact.length}`)
    const decoded = decodeReceipt(compact)
    assert.ok(decoded.ok)
    assert.deepEqual(decoded.receipt, body['receipt'] ?? null, tool.id)
    // Paid receipts have a payer and an amount, here of a thousand dollars.
    const paid = encodeReceipt({ ...decoded.receipt, payer: `0x${'ab'.repeat(20)}`, amount: '1000000000', tier: 'paid' })
    assert.ok(paid.ok && paid.text.length <= 360, tool.id)
  }
  assert.ok(longest > 400)
})

test('an unknown level is refused in words, and nothing is counted', async () => {
  const before_wrong = await restCall(app.url, 'iban-check', IBAN)
  const left = Number(asMembers(before_wrong.body['allowance'])['remaining'])
  for (const [path, headers] of [
    ['iban-check/call', { 'x-detail': 'Brief' }],
    ['iban-check/call', { 'x-detail': '' }],
    ['iban-check/call?detail=short', {}],
    ['iban-check/call?detail=', {}],
  ] as const) {
    const { status, body } = await callAt(path, headers)
    assert.deepEqual([status, body['code'], body['charged']], [400, 'INPUT_SCHEMA_INVALID', false], path)
    assert.match(String(body['detail']), /Send X-Detail, \?detail= or "assay\/detail" as one of: brief, standard, full\.$/)
  }
  const { body } = await restCall(app.url, 'iban-check', IBAN)
  assert.equal(asMembers(body['allowance'])['remaining'], left - 1)
})

test('a problem is the same at every level', async () => {
  const problems = await Promise.all([{}, BRIEF].map((headers) => callAt('iban-check/call', headers, { iban: 7 })))
  const [one, other] = problems.map(({ status, body }) => [status, body['code'], body['detail'], body['errors']])
  assert.equal(one?.[0], 400)
  assert.deepEqual(one, other)
})

test('a browser of another origin may send the header', async () => {
  const { headers } = await fetch(`${app.url}/v1/tools/iban-check/call`, { method: 'OPTIONS' })
  assert.match(headers.get('access-control-allow-headers') ?? '', /\bX-Detail\b/)
})

for (const version of Object.keys(A2A_CARDS) as A2aVersion[]) {
  test(`A2A ${version}: the metadata of a message choose the level; without them the artifact is the whole answer`, async () => {
    const client = await connectA2a(app.url, version)
    const asked = { tool: 'iban-check', input: IBAN }
    const whole = answerOf(await taskFor(client, asking(asked)))
    const full = answerOf(await taskFor(client, asking(asked, { metadata: { 'assay/detail': 'full' } })))
    assert.deepEqual(Object.keys(full), Object.keys(whole))
    const task = await taskFor(client, asking(asked, { metadata: { 'assay/detail': 'brief' } }))
    const brief = answerOf(task)
    const receipt = whole['receipt'] as Receipt
    assert.deepEqual([brief['detail'], brief['value'], brief['output_hash']], ['brief', 'GB82WEST12345698765432', receipt.output_hash])
    assert.notEqual(brief['receipt_digest'], nobleCrypto.keccak256Hex(receiptDigest(receipt)))
    assert.deepEqual(answerOf(await client.getTask({ tenant: '', id: task.id })), brief)
    const refused = await taskFor(client, asking(asked, { metadata: { 'assay/detail': 'short' } }))
    const { code, errors } = dataOf(refused) as { code: string; errors: { pointer: string }[] }
    assert.deepEqual([code, errors[0]?.pointer], ['INPUT_SCHEMA_INVALID', '/params/message/metadata/assay~1detail'])
  })
}

test('A2A reads the level of the header and of the address as well', async () => {
  for (const [query, headers] of [
    ['', BRIEF],
    ['?detail=brief', {}],
  ] as const) {
    const message = { role: 'ROLE_USER', messageId: 'm-1', parts: [{ data: { tool: 'iban-check', input: IBAN } }] }
    const response = await fetch(`${app.url}/a2a${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
    })
    assert.match(await response.text(), /"detail":"brief"/)
  }
})

test('answer_url brings the whole answer of a free call: the receipt of the brief form, its result, and the members of before', async () => {
  const whole = await callAt('iban-check/call')
  const { body: brief } = await callAt('iban-check/call', BRIEF)
  const response = await fetch(String(brief['answer_url']))
  const answer = asMembers(await response.json())
  assert.deepEqual([response.status, response.headers.get('cache-control')], [200, 'private, no-store'])
  assert.deepEqual(Object.keys(answer), Object.keys(whole.body))
  const receipt = answer['receipt'] as Receipt
  assert.deepEqual([verifyReceipt(receipt).valid, verifyReceipt(receipt).digest], [true, brief['receipt_digest']])
  assert.equal(nobleCrypto.keccak256Hex(JSON.stringify(answer['result'])), brief['output_hash'])
  assert.equal(receipt.output_hash, brief['output_hash'])
  assert.deepEqual(answer['allowance'], brief['allowance'])
  const unknown = await fetch(`${app.url}/v1/answers/${'0'.repeat(64)}`)
  assert.deepEqual([unknown.status, asMembers(await unknown.json())['code']], [404, 'ANSWER_NOT_FOUND'])
  assert.equal((await fetch(`${app.url}/v1/answers/`)).status, 404)
})

test('an answer in the form of its tool is stored as it would have been sent', async () => {
  const { example } = app.running.app.deps.call.catalogue.find('token-contract-risk') ?? {}
  const post = (headers: Record<string, string>) =>
    fetch(`${app.url}/v1/tools/token-contract-risk/call`, { method: 'POST', headers, body: JSON.stringify(example) })
  const whole = asMembers(await (await post({})).json())
  const brief = asMembers(await (await post(BRIEF)).json())
  const answer = asMembers(await (await fetch(String(brief['answer_url']))).json())
  assert.deepEqual([Object.keys(answer), Object.hasOwn(answer, 'result')], [Object.keys(whole), false])
})

test('tools that are free without limit, and answers that are not brief, store nothing', async () => {
  const { store } = app.running.app.deps
  const answers = (store as Store).stored_answers
  const bytes = await answers.total_bytes()
  const { example } = app.running.app.deps.call.catalogue.find('receipt-verify') ?? {}
  assert.equal((await callAt('receipt-verify/call', BRIEF, example)).body['answer_url'], null)
  await callAt('iban-check/call')
  await mcpBrief()
  assert.equal(await answers.total_bytes(), bytes)
  await callAt('iban-check/call', BRIEF)
  assert.ok((await answers.total_bytes()) > bytes)
})

/** Over MCP the brief text stands next to the whole answer, so that nothing has to be stored. */
async function mcpBrief(): Promise<void> {
  const params = { name: 'iban-check', arguments: IBAN, _meta: { 'assay/detail': 'brief' } }
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  assert.match(await response.text(), /"structuredContent":/)
}

// attack: brief answers by the thousand, so that the store fills with their whole texts
test('a client network that used its budget gets brief answers without an address; another still gets one', async () => {
  const own = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
  try {
    const long = { text: 'A word of many. '.repeat(8_000) }
    const brief = async (client: string) => {
      const headers = { ...BRIEF, 'x-forwarded-for': client }
      return (await restCall(own.url, 'clean-markdown-scraper', { html: long.text }, headers)).body
    }
    const urls: unknown[] = []
    for (let number = 0; number < 8; number++) urls.push((await brief(`198.51.100.${number}`))['answer_url'])
    const [first] = urls
    assert.ok(typeof first === 'string')
    assert.equal(urls.at(-1), null)
    assert.equal(typeof (await brief('203.0.113.9'))['answer_url'], 'string')
    assert.equal((await fetch(first)).status, 200)
  } finally {
    await own.stop()
  }
})

test('an address that was given out survives the sudden end of the process', { timeout: 60_000 }, async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-detail-'))
  try {
    const settings = { ASSAY_DATA_DIR: data_dir }
    const first = await startService(settings)
    const brief = await restCall(first.url, 'iban-check', IBAN, BRIEF)
    first.process.kill('SIGKILL')
    await first.ended
    const again = await startService(settings)
    const path = new URL(String(brief.body['answer_url'])).pathname
    const answer = asMembers(await (await fetch(`${again.url}${path}`)).json())
    assert.equal(verifyReceipt(answer['receipt']).digest, brief.body['receipt_digest'])
    again.process.kill('SIGTERM')
    await again.ended
  } finally {
    await rm(data_dir, { recursive: true, force: true })
  }
})

describe('paid calls', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.stop())

  test('a paid call is answered briefly, its stored answer is the whole one, and a resend chooses its own level', async () => {
    const payment = await signed(world.url, await world.payer())
    const client = stranger()
    const brief = await call(world.url, { ...v2(payment), ...BRIEF }, { client })
    const { price, output_hash, receipt_digest, answer_url } = brief.body as Record<string, string>
    assert.equal(brief.status, 200, brief.text)
    assert.ok(brief.headers.has('payment-response'))
    const amount_minor = payment.message.value.toString()
    assert.deepEqual(price, { tier: 'paid', amount_minor, method: 'self' })
    const stored = await read(String(answer_url))
    const whole = await call(world.url, v2(payment), { client })
    assert.equal(stored.text, whole.text)
    const receipt = whole.body['receipt'] as Receipt
    assert.deepEqual([receipt.output_hash, verifyReceipt(receipt).digest], [output_hash, receipt_digest])
    assert.deepEqual((await call(world.url, { ...v2(payment), ...BRIEF }, { client })).body, brief.body)
    const refused = await call(world.url, { ...v2(payment), 'x-detail': 'short' }, { client })
    assert.deepEqual([refused.status, refused.body['charged']], [400, false])
  })

  test('over A2A the level of the first message stays with the task that is paid by a later one', async () => {
    const a2a = await connectA2a(world.url)
    const payment = await signed(world.url, await world.payer())
    const open = await taskFor(a2a, asking({ tool: TOOL, input: INPUT }, { metadata: { 'assay/detail': 'brief' } }))
    const payload = JSON.parse(Buffer.from(payment.v2, 'base64').toString()) as object
    const paid = await taskFor(a2a, saying('Paid.', { taskId: open.id, metadata: { 'x402.payment.payload': payload } }))
    const brief = answerOf(paid)
    assert.equal(brief['detail'], 'brief', JSON.stringify(paid.status))
    assert.equal(nobleCrypto.keccak256Hex(JSON.stringify((await read(String(brief['answer_url']))).body['result'])), brief['output_hash'])
  })
})
