/** token-contract-risk takes its fields as the body itself, and then answers alike. The sandbox's own chain is what it reads. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import canonicalize from 'canonicalize'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

const TOOL = 'token-contract-risk'
/** The test USDC of the sandbox stands where Circle's stands on Base Sepolia. */
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
/** The published fields of the answer, and the one that came later. */
const FIELDS =
  'valid address is_contract tool chain block erc20 proxy owner privileged_selectors opcodes flags flag_counts reason retryable scope account'
    .split(' ')
    .toSorted()
const BESIDE = ['receipt', 'tier', 'settlement', 'allowance', 'embeddable_badge', 'proof_summary_markdown']

let app: TestApp

before(async () => {
  app = await startTestApp({ settings: { ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=20', ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

/** A body sent as it is, over the hot path or, since a query string takes it off that path, over hono. */
async function send(body: unknown, { tool = TOOL, query = '', headers = {} }: { tool?: string; query?: string; headers?: object } = {}) {
  const response = await fetch(`${app.url}/v1/tools/${tool}/call${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('bare fields are answered bare, on both transports and under both spellings', async () => {
  for (const options of [{}, { query: '?over=hono' }, { tool: 'token_contract_risk' }]) {
    const { status, body } = await send({ address: USDC, chain: 'base' }, options)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).toSorted(), [...FIELDS, ...BESIDE].toSorted())
    assert.deepEqual([body['valid'], body['is_contract'], body['chain'], body['tool']], [true, true, 'base', TOOL])
    assert.deepEqual([body['reason'], body['retryable'], body['tier']], [null, false, 'free'])
    assert.equal((body['block'] as Record<string, unknown>)['sandbox'], true)
    assert.equal((body['erc20'] as Record<string, unknown>)['decimals'], 6)
  }
})

test('the receipt covers the bare fields and the bare result', async () => {
  const input = { address: USDC, chain: 'base' }
  const { body } = await send(input)
  const receipt = body['receipt'] as Record<string, unknown>
  const result = Object.fromEntries(FIELDS.map((name) => [name, body[name]]))
  assert.equal(receipt['output_hash'], nobleCrypto.keccak256Hex(canonicalize(result) ?? ''))
  assert.equal(receipt['input_hash'], nobleCrypto.keccak256Hex(canonicalize(input) ?? ''))
})

test('under "input" it answers under "result", with the same fields', async () => {
  const { status, body } = await restCall(app.url, TOOL, { address: USDC })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body).toSorted(), ['result', ...BESIDE].toSorted())
  assert.deepEqual(Object.keys(body['result'] as object).toSorted(), FIELDS)
})

test('the link to an earlier receipt leaves the field "chain" alone', async () => {
  const headers = { 'x-prev-receipt-hash': `0x${'ab'.repeat(32)}` }
  const { body } = await send({ address: USDC }, { headers })
  assert.equal(body['chain'], 'base')
  assert.equal((body['receipt_chain'] as Record<string, unknown>)['prev_receipt_hash'], headers['x-prev-receipt-hash'])
})

test('its problems say whether anything is valid, why not, and whether to ask again', async () => {
  const bad: [body: unknown, pointer: string][] = [
    [{ address: '0x1234' }, '/address'],
    [{ address: USDC, chain: 'ethereum' }, '/chain'],
    [{}, '/address'],
    [{ address: USDC, addres: USDC }, '/addres'],
    [{ input: { address: '0x1234' } }, '/input/address'],
    [{ input: { address: USDC }, chain: 'base' }, ''],
    [[USDC], '/input'],
  ]
  for (const [sent, pointer] of bad) {
    const { status, body } = await send(sent)
    const [error] = body['errors'] as { pointer: string }[]
    assert.deepEqual([status, error?.pointer], [400, pointer], JSON.stringify(sent))
    assert.deepEqual([body['valid'], body['reason'], body['retryable']], [false, 'input_schema_invalid', false])
  }
})

test('no other tool takes bare fields, or speaks of validity in its problems', async () => {
  const { status, body } = await send({ iban: 'GB82WEST12345698765432' }, { tool: 'iban-check' })
  assert.deepEqual([status, body['code'], 'valid' in body], [400, 'INPUT_SCHEMA_INVALID', false])
})

test('an allowance that is used up is no verdict', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.7' }
  const answers = []
  for (let call = 0; call < 21; call++) answers.push(await send({ address: USDC }, { headers }))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...Array.from({ length: 20 }, () => 200), 402],
  )
  const body = answers.at(-1)?.body ?? {}
  assert.deepEqual([body['valid'], body['reason'], body['retryable']], [null, 'payment_required', true])
})
