/** Our terms and readers against the official x402 clients, unmodified: 1.2.0 of the first generation, 2.27.0 of the second. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { isPaymentPayloadV1, isPaymentPayloadV2, isPaymentRequiredV1, isPaymentRequiredV2 } from '@x402/core/schemas'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment as wrapFetch } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { createAuthorizationDigest, normaliseSignature, recoverPayer } from '../../src/pure/payments/eip3009.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import {
  checkWindow,
  matchTerms,
  challengeOf,
  mcpResource,
  v1PaymentRequired,
  v2PaymentRequired,
  type PaymentTerms,
} from '../../src/service/payments/terms.ts'
import { exactOnly, readPayment } from '../../src/service/payments/payment-header.ts'
import { paymentResponseHeaders } from '../../src/surfaces/payment.ts'

const BASE: PaymentTerms = {
  pay_to: '0xAbCdEf0123456789aBcDeF0123456789abcdef01',
  token: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin', version: '2' },
  chain_id: 8453,
  network: 'base',
}
const SEPOLIA: PaymentTerms = {
  pay_to: '0x7777777777777777777777777777777777777777',
  token: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' },
  chain_id: 84532,
  network: 'base-sepolia',
}
const PLACES = [BASE, SEPOLIA]

const OFFER = {
  resource: 'https://tools.example/v1/tools/iban-check/call',
  description: 'Checks an IBAN, as ISO 13616 describes it – structure and check digits.',
  amount_minor: 5_000n,
}
const TRANSACTION = `0x${'ab'.repeat(32)}`
const account = privateKeyToAccount(generatePrivateKey())

interface Served {
  fetch: typeof fetch
  /** Headers of the second request. */
  paid(): Headers
}

/** A service that asks for payment once and then thanks for it. */
function serve(place: PaymentTerms, required: { header?: string; body: unknown }): Served {
  const requests: Headers[] = []
  const answer = async (input: string | URL | Request, init?: RequestInit) => {
    requests.push(input instanceof Request ? input.headers : new Headers(init?.headers))
    if (requests.length === 1) {
      const headers = required.header === undefined ? {} : { 'payment-required': required.header }
      return Response.json(required.body, { status: 402, headers })
    }
    const end = { success: true, transaction: TRANSACTION, payer: account.address, chain_id: place.chain_id, network: place.network }
    return Response.json({ result: 'paid' }, { headers: paymentResponseHeaders(end) })
  }
  return {
    fetch: answer,
    paid: () => {
      const found = requests[1]
      assert.ok(found !== undefined, 'the client did not come back')
      return found
    },
  }
}

/** The 402 as the service sends it: version 2 in the header, version 1 among the members of a problem. */
function unpaid(place: PaymentTerms) {
  const { header, body_members_json } = challengeOf({ ...place, ...OFFER }, 'The free calls of today are used up')
  const body: unknown = JSON.parse(`{"type":"about:blank","status":402,"code":"PAYMENT_REQUIRED","errors":[],${body_members_json}}`)
  return { header, body }
}

function clientV2() {
  return new x402Client().register('eip155:*', new ExactEvmScheme(account))
}

/** What a client sent is a payment for these terms, signed by its account. */
function assertPays(place: PaymentTerms, name: 'x-payment' | 'payment-signature', headers: Headers): void {
  const text = headers.get(name) ?? ''
  const reading = exactOnly(readPayment({ kind: 'header', name, text }))
  assert.ok(reading.ok, reading.ok ? '' : reading.detail)
  const { authorization } = reading.payment
  assert.deepEqual(matchTerms(reading.payment, { ...place, amounts: new Set([OFFER.amount_minor]) }), { ok: true })
  const domain = { ...place.token, chain_id: place.chain_id, verifying_contract: place.token.address }
  const digest = createAuthorizationDigest(domain, nobleCrypto.keccak256)
  const signature = normaliseSignature(authorization.signature)
  assert.ok(signature !== null)
  assert.equal(recoverPayer(digest(authorization), signature, nobleCrypto.recover), account.address.toLowerCase())
  assert.equal(authorization.from, account.address.toLowerCase())
  // The client takes the time from its own clock: as long as was granted, and some seconds for this test.
  const now_s = Number(authorization.valid_before_s) - 120
  assert.deepEqual(checkWindow(authorization, now_s, { least_left_s: 21, longest_s: 3_600, skew_s: 5 }), { ok: true })
  const sent: unknown = JSON.parse(Buffer.from(text, 'base64').toString())
  assert.ok(name === 'x-payment' ? isPaymentPayloadV1(sent) : isPaymentPayloadV2(sent))
}

test('x402-fetch pays the body', async () => {
  for (const place of PLACES) {
    const served = serve(place, unpaid(place))
    const response = await wrapFetchV1(served.fetch, account)(OFFER.resource, { method: 'POST' })
    assertPays(place, 'x-payment', served.paid())
    const end = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '')
    assert.deepEqual(end, { success: true, transaction: TRANSACTION, network: place.network, payer: account.address })
  }
})

test('@x402/fetch pays the header', async () => {
  for (const place of PLACES) {
    const served = serve(place, unpaid(place))
    const response = await wrapFetch(served.fetch, clientV2())(OFFER.resource, { method: 'POST' })
    assertPays(place, 'payment-signature', served.paid())
    const end = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    assert.deepEqual(end, { success: true, transaction: TRANSACTION, network: `eip155:${place.chain_id}`, payer: account.address })
  }
})

test('@x402/fetch with both generations pays the header, and the body where a proxy took the header away', async () => {
  const both = () => clientV2().registerV1('base', new ExactEvmSchemeV1(account))
  const { header, body } = unpaid(BASE)
  const whole = serve(BASE, { header, body })
  await wrapFetch(whole.fetch, both())(OFFER.resource)
  assertPays(BASE, 'payment-signature', whole.paid())
  const headless = serve(BASE, { body })
  await wrapFetch(headless.fetch, both())(OFFER.resource)
  assertPays(BASE, 'x-payment', headless.paid())
})

test('a payment for MCP is read as the object that the official client makes', async () => {
  const required = v2PaymentRequired({ ...BASE, ...OFFER, resource: mcpResource('iban-check') }, 'payment required')
  const http = new x402HTTPClient(clientV2())
  const json = JSON.stringify(required)
  const value = await http.createPaymentPayload(http.getPaymentRequiredResponse(() => Buffer.from(json).toString('base64')))
  const reading = exactOnly(readPayment({ kind: 'value', value: JSON.parse(JSON.stringify(value)) }))
  assert.ok(reading.ok)
  assert.equal(reading.payment.resource_url, 'mcp://tool/iban-check')
  assert.deepEqual(matchTerms(reading.payment, { ...BASE, amounts: new Set([OFFER.amount_minor]) }), { ok: true })
})

test('the official validators take both objects', () => {
  for (const place of PLACES) {
    for (const resource of [OFFER.resource, mcpResource('iban-check')]) {
      const terms = { ...place, ...OFFER, resource }
      assert.ok(isPaymentRequiredV2(v2PaymentRequired(terms, 'payment required')))
      assert.ok(isPaymentRequiredV1(v1PaymentRequired(terms, 'payment required')))
    }
  }
})

type Entry = Record<string, unknown>

/** What a client does with an entry of terms that was changed. */
async function withEntry(version: 1 | 2, change: (entry: Entry) => void): Promise<Headers> {
  const { header, body } = unpaid(BASE)
  const changed =
    version === 1 ? (body as { accepts: Entry[] }) : (JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: Entry[] })
  for (const entry of changed.accepts) change(entry)
  const text = Buffer.from(JSON.stringify(changed)).toString('base64')
  const served = serve(BASE, version === 1 ? { body: changed } : { header: text, body: {} })
  if (version === 1) await wrapFetchV1(served.fetch, account)(OFFER.resource)
  else await wrapFetch(served.fetch, clientV2())(OFFER.resource)
  return served.paid()
}

test('each member of an entry is there because its client fails without it', async () => {
  const [v1] = v1PaymentRequired({ ...BASE, ...OFFER }, 'e').accepts
  const [v2] = v2PaymentRequired({ ...BASE, ...OFFER }, 'e').accepts
  assert.ok(v1 !== undefined && v2 !== undefined)
  for (const [version, entry] of [[1, v1] as const, [2, v2] as const]) {
    const members = Object.keys(entry).filter((member) => version === 2 || member !== 'extra')
    assert.ok(members.length >= 7)
    for (const member of members) {
      const drop = (changed: Entry) => Reflect.deleteProperty(changed, member)
      await assert.rejects(withEntry(version, drop), Error, `version ${version} without ${member}`)
    }
  }
  // The first generation signs over no domain at all when none is named: a payment that looks fine and fails.
  const headers = await withEntry(1, (entry) => Reflect.deleteProperty(entry, 'extra'))
  assert.throws(() => assertPays(BASE, 'x-payment', headers))
})

test('forms that clients refuse are none of ours', async () => {
  const refused: [1 | 2, Entry][] = [
    [1, { outputSchema: null }],
    [1, { extra: null }],
    [1, { maxAmountRequired: 5_000 }],
    [1, { maxTimeoutSeconds: '120' }],
    [1, { network: 'eip155:8453' }],
    [1, { resource: '/v1/tools/iban-check/call' }],
    [1, { scheme: 'upto' }],
    [2, { amount: '0.005' }],
    [2, { network: 'base' }],
    [2, { scheme: 'unknown' }],
    [2, { extra: { version: '2' } }],
    [2, { extra: { name: 'USD Coin', version: '2', paymentFlow: 'unknown' } }],
  ]
  for (const [version, change] of refused) {
    await assert.rejects(
      withEntry(version, (entry) => Object.assign(entry, change)),
      Error,
      JSON.stringify(change),
    )
  }
})
