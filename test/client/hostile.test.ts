/** A service that says what no service should: whatever comes, a method rejects with `AssayError`, and a revoked key proves nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssayError, createClient, type Answer, type AssayClient, type ClientOptions, type Payment } from '../../src/client/index.ts'
import { valueHash, ZERO_ADDRESS, signReceipt } from '../../src/pure/receipts/receipt.ts'
import { ADDRESS_ONE, BODY, signerOne } from '../receipts/example.ts'
import { IMPATIENT } from './wallet.ts'

type Members = Record<string, unknown>

const INPUT = { iban: 'GB82WEST12345698765432' }
const RESULT = { valid: true }
const KEY = { address: ADDRESS_ONE, status: 'active', not_before: 0, not_after: null, revoked_at: null, mode: 'live', chain_id: 8453 }
const FACTS = { chain_id: 8453, payment_address: BODY.recipient, keys: [KEY] }
const FREE = {
  ...BODY,
  input_hash: valueHash(INPUT),
  output_hash: valueHash(RESULT),
  payer: ZERO_ADDRESS,
  amount: '0',
  tier: 'free',
} as const
const ANSWER = { result: RESULT, receipt: signReceipt(FREE, signerOne).receipt, tier: 'free' }

/** Terms that are good but for what `entry` changes. */
function unpaid(entry: Members = {}): Response {
  const good = {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '5000',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    payTo: BODY.recipient,
    maxTimeoutSeconds: 120,
    extra: { name: 'USD Coin', version: '2' },
  }
  const resource = { url: 'https://assay.example/v1/tools/iban-check/call' }
  const required = Buffer.from(JSON.stringify({ x402Version: 2, resource, accepts: [{ ...good, ...entry }] })).toString('base64')
  const body = { code: 'PAYMENT_REQUIRED', detail: 'It has to be paid.', charged: false, retryable: false }
  return Response.json(body, { status: 402, headers: { 'payment-required': required } })
}

function clientOf(facts: () => unknown, call: () => Response, more: Partial<ClientOptions> = {}): AssayClient {
  const fetch: ClientOptions['fetch'] = (url) => Promise.resolve(url.endsWith('xdr-1.json') ? Response.json(facts()) : call())
  return createClient({ url: 'https://assay.example', fetch, clock: IMPATIENT, ...more })
}

const WALLET: Partial<ClientOptions> = {
  signer: { address: `0x${'5'.repeat(40)}`, signTypedData: () => Promise.reject(new Error('nothing is signed here')) },
  spend_cap: { per_call_usdc: '0.05', session_usdc: '1' },
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AssayError, String(error))
  return error.code
}

test('a chain that no service is on is refused before anything is signed', async () => {
  for (const chain_id of [1, 0.5, -1]) {
    const client = clientOf(() => ({ ...FACTS, chain_id }), unpaid, WALLET)
    assert.equal(await codeOf(client.call('iban-check', INPUT)), 'TERMS_REFUSED', String(chain_id))
    assert.deepEqual([(await client.dryRun('iban-check', INPUT)).outcome, client.spending()?.signed_usdc], ['refuse', '0'])
  }
})

test('a signer without an address is refused when the client is made', () => {
  const signer = { account: { address: ADDRESS_ONE }, signTypedData: () => Promise.resolve('0x') }
  assert.throws(() => clientOf(() => FACTS, unpaid, { ...WALLET, signer: signer as never }), { code: 'BAD_OPTIONS' })
})

test('an answer that was kept is held against the keys of now', async () => {
  let keys: Members[] = [KEY]
  const served = () => ({ ...FACTS, keys })
  const client = clientOf(served, () => Response.json(ANSWER))
  const answer = await client.call('iban-check', INPUT)
  assert.equal((await client.verify(answer, INPUT)).ok, true)
  keys = [{ ...KEY, status: 'revoked', revoked_at: 1, reason: 'lost' }]
  const { ok, checks } = await client.verify(answer, INPUT)
  assert.deepEqual([ok, checks.filter((check) => !check.ok).map(({ name }) => name)], [false, ['key']])
  const pinned = clientOf(served, () => Response.json(ANSWER), { keys: [ADDRESS_ONE] })
  assert.equal((await pinned.verify(answer, INPUT)).ok, true)
})

test('what a file holds instead of an answer or a payment is judged, not thrown at', async () => {
  const client = clientOf(
    () => FACTS,
    () => Response.json(ANSWER),
  )
  const answer = await client.call('iban-check', INPUT)
  for (const receipt of [null, undefined, 'x', [], {}]) {
    assert.equal((await client.verify({ ...answer, receipt } as unknown as Answer<object>, INPUT)).ok, false)
  }
  const hex = (digits: number) => `0x${'1'.repeat(digits)}`
  const payment = { v: 1, tool: 'iban-check', input_text: '{}', payer: hex(40), nonce: hex(64), header: 'e30=' }
  const held: unknown[] = [null, undefined, 'x', [], {}, payment, { ...payment, previous_receipt: 'x' }]
  for (const one of held) assert.equal(await codeOf(client.resume(one as Payment)), 'BAD_OPTIONS')
})
