/** Levels of detail over REST and A2A: what is asked for, what the brief form contains, and that nothing else changes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { receiptDigest, type Receipt } from '../../src/pure/receipts/receipt.ts'
import { allowanceSchema } from '../../src/service/catalogue/wire-schemas.ts'
import { briefSchema } from '../../src/service/catalogue/brief.ts'
import { answerOf, asking, connectA2a, dataOf, taskFor, type A2aVersion, A2A_CARDS } from '../support/a2a.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'

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

test('brief, by header and by address: decision, value, facts, limits, price, and the hashes of the whole answer', async () => {
  const whole = await callAt('iban-check/call')
  const result = asMembers(whole.body['result'])
  for (const [path, headers] of [
    ['iban-check/call', BRIEF],
    ['iban-check/call?detail=brief', {}],
  ] as const) {
    const { status, body, headers: sent } = await callAt(path, headers)
    const { headline, facts, not_checked, price, allowance, receipt_digest, output_hash, ...rest } = body
    assert.equal(status, 200)
    assert.deepEqual(headline, { word: 'valid', tone: 'good', sentence: result['reason'] })
    assert.deepEqual(rest, {
      detail: 'brief',
      tool: 'iban-check',
      reason_code: result['reason_code'],
      value: 'GB82WEST12345698765432',
      answer_url: null,
    })
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
    const call = { tool: 'iban-check', input: IBAN }
    const whole = answerOf(await taskFor(client, asking(call)))
    const full = answerOf(await taskFor(client, asking(call, { metadata: { 'assay/detail': 'full' } })))
    assert.deepEqual(Object.keys(full), Object.keys(whole))
    const task = await taskFor(client, asking(call, { metadata: { 'assay/detail': 'brief' } }))
    const brief = answerOf(task)
    const receipt = whole['receipt'] as Receipt
    assert.deepEqual([brief['detail'], brief['value'], brief['output_hash']], ['brief', 'GB82WEST12345698765432', receipt.output_hash])
    assert.notEqual(brief['receipt_digest'], nobleCrypto.keccak256Hex(receiptDigest(receipt)))
    assert.deepEqual(answerOf(await client.getTask({ tenant: '', id: task.id })), brief)
    const refused = await taskFor(client, asking(call, { metadata: { 'assay/detail': 'short' } }))
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
