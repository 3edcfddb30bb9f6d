/** Spending: a credit is debited exactly, once for a key, and never the allowance. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkBindable } from '../../src/pure/rulebooks/assured.ts'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import * as credits from '../support/credits.ts'
import { ask, balance, boughtCode, callWith, event, notify, post, refund } from '../support/credits.ts'
import { runs } from '../support/counts.ts'
import { readJson } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'

let app: credits.CreditApp
/** Called between the reservation and the run of a call. */
let onClaim: () => Promise<void> = () => Promise.resolve()

before(async () => {
  const reach = (point: string) => (point === 'after_claim' ? onClaim() : Promise.resolve())
  app = await credits.startCreditApp('sandbox', { reach })
})
after(() => app.stop())

const IBAN = { iban: 'GB82WEST12345698765432' }
const left = async (code: string) => BigInt(String((await balance(app.url, code)).body['available']))

test('a call is debited its price, and says so in answer and receipt', async () => {
  const { code } = await boughtCode(app.url, 500)
  const paid = await callWith(app.url, code, 'first')
  assert.equal(paid.status, 200)
  const { result, receipt, tier, settlement, allowance } = paid.body as Record<string, Record<string, unknown>>
  assert.equal(tier, 'paid')
  assert.deepEqual(settlement, {
    network: null,
    transaction: null,
    payer: `0x${'0'.repeat(40)}`,
    amount_minor: receipt?.['amount'],
    method: 'credit',
  })
  const price_minor = BigInt(String(receipt?.['amount']))
  assert.ok(price_minor >= 5_000n && price_minor <= 50_000n)
  assert.deepEqual([receipt?.['tier'], receipt?.['payer']], ['paid', `0x${'0'.repeat(40)}`])
  assert.match(String(receipt?.['nonce']), /^0x[0-9a-f]{64}$/)
  assert.equal(verifyReceipt(receipt).valid, true)
  assert.equal(receipt?.['output_hash'], nobleCrypto.keccak256Hex(canonicalText(result ?? null)))
  assert.equal(allowance?.['remaining'], 3)
  assert.equal(await left(code), 5_000_000n - price_minor)
  assert.equal(paid.headers.get('payment-response'), null)
  const { entries } = (await balance(app.url, code)).body as { entries: Record<string, unknown>[] }
  const [{ at, ...debit } = {}] = entries
  assert.deepEqual(debit, { kind: 'debit', tool: 'iban-check', amount: price_minor.toString() })
  assert.match(String(at), /^\d{4}-/)
})

test('the same key and request bring the stored answer byte for byte, and cost nothing more', async () => {
  const { code } = await boughtCode(app.url, 500)
  const first = await callWith(app.url, code, 'again')
  const before_replay = await left(code)
  const second = await callWith(app.url, code, 'again')
  assert.deepEqual([second.status, second.text], [200, first.text])
  // Written another way, it is the same code.
  assert.equal((await callWith(app.url, ` ${code.toUpperCase()}`, 'again')).text, first.text)
  assert.equal(await left(code), before_replay)
  const other = await callWith(app.url, code, 'again', { iban: 'DE89370400440532013000' })
  assert.deepEqual([other.status, other.body['code'], other.body['charged']], [409, 'CREDIT_KEY_BOUND', false])
  assert.equal((await callWith(app.url, code, 'again', { lei: '5493001KJTIIGC8Y1R12' }, 'lei-check')).status, 409)
  assert.equal(await left(code), before_replay)
})

test('what is wrong with a credit is said before anything is charged, while free calls remain', async () => {
  const { code } = await boughtCode(app.url, 500)
  const many = 'k'.repeat(129)
  for (const key of [null, many, 'two words'])
    assert.deepEqual(
      [(await callWith(app.url, code, key)).status, (await callWith(app.url, code, key)).body['code']],
      [400, 'CREDIT_KEY_INVALID'],
    )
  assert.match(String((await callWith(app.url, code, null)).body['detail']), /Idempotency-Key/)
  const mistyped = code.slice(0, -1) + (code.endsWith('0') ? '1' : '0')
  assert.deepEqual(
    [(await callWith(app.url, mistyped, 'k')).status, (await callWith(app.url, mistyped, 'k')).body['code']],
    [403, 'CREDIT_UNKNOWN'],
  )
  const both = await post(
    `${app.url}/v1/tools/iban-check/call`,
    { input: IBAN },
    { 'x-credit': code, 'idempotency-key': 'k', 'x-payment': 'e30=' },
  )
  assert.equal(both.body['code'], 'PAYMENT_CONFLICT')
  const unfit = await callWith(app.url, code, 'k', { iban: 7 })
  assert.deepEqual([unfit.status, unfit.body['code']], [400, 'INPUT_SCHEMA_INVALID'])
  assert.equal(await left(code), 5_000_000n)
})

test('free tools leave a credit alone', async () => {
  const { code } = await boughtCode(app.url, 500)
  assert.equal((await callWith(app.url, code, null, { receipt: {} }, 'receipt-verify')).status, 200)
  assert.equal(await left(code), 5_000_000n)
})

test('a credit that holds too little is answered 402 with the x402 terms', async () => {
  const { code, n } = await boughtCode(app.url, 500)
  await notify(app.url, event('charge.refunded', refund(n, 500)))
  const short = await callWith(app.url, code, 'short')
  assert.deepEqual([short.status, short.body['code'], short.body['charged']], [402, 'CREDIT_INSUFFICIENT', false])
  assert.deepEqual(short.body['credit'], { unit: 'usdc_minor', available: '0' })
  assert.notEqual(short.headers.get('payment-required'), null)
  assert.equal((short.body['accepts'] as unknown[]).length, 1)
  const validate = newAjv().compile(await readJson(`${app.url}/.well-known/x402-schema.json`))
  assert.ok(validate(short.body), JSON.stringify(validate.errors))
})

test('many at once are debited exactly, and the credit is never overdrawn', async () => {
  const { code } = await boughtCode(app.url, 100)
  const calls = runs(60, 250)
  const answers = await Promise.all(Array.from({ length: calls }, (_, key) => callWith(app.url, code, `parallel-${key}`)))
  const paid = answers.filter(({ status }) => status === 200)
  const spent = paid.reduce((sum, { body }) => sum + BigInt((body['settlement'] as { amount_minor: string }).amount_minor), 0n)
  assert.ok(paid.length > 0)
  assert.ok(answers.every(({ status, body }) => status === 200 || body['code'] === 'CREDIT_INSUFFICIENT'))
  assert.equal(await left(code), 1_000_000n - spent)
})

test('one key at once, many times: one debit, one answer for all', async () => {
  const { code } = await boughtCode(app.url, 500)
  const answers = await Promise.all(Array.from({ length: 20 }, () => callWith(app.url, code, 'crowd')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const [first] = answers
  assert.ok(first !== undefined)
  const { amount_minor } = first.body['settlement'] as { amount_minor: string }
  assert.equal(await left(code), 5_000_000n - BigInt(amount_minor))
})

test('a payment that is reversed while a call runs: the call is answered, the rest is gone, and what is missing is recorded', async () => {
  const { code, n } = await boughtCode(app.url, 500)
  onClaim = async () => {
    onClaim = () => Promise.resolve()
    assert.equal((await notify(app.url, event('charge.refunded', refund(n, 500)))).status, 200)
  }
  const answered = await callWith(app.url, code, 'while')
  assert.equal(answered.status, 200)
  const { amount_minor } = answered.body['settlement'] as { amount_minor: string }
  const { body } = await balance(app.url, code)
  assert.deepEqual([body['available'], body['spent'], body['shortfall']], ['0', amount_minor, amount_minor])
})

test('a tool that fails gives back what was reserved; the same key may be sent again', async () => {
  const { code } = await boughtCode(app.url, 500)
  for (let time = 0; time < 2; time++) {
    const failed = await callWith(app.url, code, 'fails', { invoice_id: `inv_${'1'.repeat(26)}` }, 'get-b2b-invoice')
    assert.deepEqual([failed.status, failed.body['code'], failed.body['charged']], [404, 'INVOICE_NOT_FOUND', false])
  }
  const { body } = await balance(app.url, code)
  assert.deepEqual([body['available'], body['reserved'], body['spent']], ['5000000', '0', '0'])
})

test('the assured lane takes no receipt of a credit', async () => {
  const { code } = await boughtCode(app.url, 500)
  const { receipt } = (await callWith(app.url, code, 'assured')).body
  const judged = checkBindable(receipt, Math.floor(Date.now() / 1_000))
  assert.deepEqual(judged.ok ? null : judged.refusal, 'payer_not_on_chain')
})

test('over MCP the credit travels in _meta or in headers', async () => {
  const { code } = await boughtCode(app.url, 500)
  const call = (meta: Record<string, unknown>, headers: Record<string, string> = {}) =>
    ask(`${app.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'iban-check', arguments: IBAN, _meta: meta } }),
    })
  const inMeta = await call({ 'assay/credit': code, 'assay/idempotency-key': 'mcp' })
  const inHeaders = await call({}, { 'x-credit': code, 'idempotency-key': 'mcp' })
  assert.equal(inMeta.text, inHeaders.text)
  const { structuredContent } = inMeta.body['result'] as { structuredContent: { settlement: Record<string, unknown> } }
  assert.equal(structuredContent.settlement['method'], 'credit')
  // REST draws on the same use.
  assert.deepEqual((await callWith(app.url, code, 'mcp')).body, structuredContent)
  const refused = await call({ 'assay/credit': 7, 'assay/idempotency-key': 'other' })
  assert.match(refused.text, /CREDIT_UNKNOWN/)
})
