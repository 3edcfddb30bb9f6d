import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getAddress } from 'viem'
import { mcpResource, type Offer, paymentRequiredHeader, v1PaymentRequired, v2PaymentRequired } from '../../src/service/payments/terms.ts'
import { PLACE, TERMS } from './samples.ts'
import { paymentResponseHeaders, type X402SettlementResponse, createChallenges } from '../../src/surfaces/payment.ts'

function decoded(header: string): unknown {
  return JSON.parse(Buffer.from(header, 'base64').toString())
}

test('version 2 is as the x402 specification shows it, without extensions', () => {
  assert.deepEqual(v2PaymentRequired(TERMS, 'payment required'), {
    x402Version: 2,
    error: 'payment required',
    resource: { url: TERMS.resource, description: 'Checks an IBAN.', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '5000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: getAddress(PLACE.pay_to),
        maxTimeoutSeconds: 120,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  })
})

test('version 1 is as the x402 specification shows it', () => {
  assert.deepEqual(v1PaymentRequired(TERMS, 'payment required'), {
    x402Version: 1,
    error: 'payment required',
    accepts: [
      {
        scheme: 'exact',
        network: 'base',
        maxAmountRequired: '5000',
        resource: TERMS.resource,
        description: 'Checks an IBAN.',
        mimeType: 'application/json',
        payTo: getAddress(PLACE.pay_to),
        maxTimeoutSeconds: 120,
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  })
})

test('a challenge holds both forms ready to send', () => {
  const challenge = createChallenges((offer) => ({ ...PLACE, ...offer }), 'payment required', { now_ms: () => 0, reuse_ms: 1_000 })(TERMS)
  assert.equal(challenge.header, paymentRequiredHeader(TERMS, 'payment required'))
  assert.match(challenge.header, /^[A-Za-z0-9+/]+={0,2}$/)
  assert.deepEqual(decoded(challenge.header), v2PaymentRequired(TERMS, 'payment required'))
  assert.deepEqual(JSON.parse(challenge.required_json), v2PaymentRequired(TERMS, 'payment required'))
  const body: unknown = JSON.parse(`{"code":"PAYMENT_REQUIRED",${challenge.body_members_json}}`)
  assert.deepEqual(body, { code: 'PAYMENT_REQUIRED', ...v1PaymentRequired(TERMS, 'payment required') })
})

test('challenges are made once for a resource and an amount, and no more are kept than told', () => {
  let at_ms = 0
  const build = (offer: Offer) => ({ ...PLACE, ...offer })
  const challenges = createChallenges(build, 'payment required', { now_ms: () => at_ms, reuse_ms: 1_000, max_cached: 2 })
  const first = challenges(TERMS)
  assert.equal(challenges({ ...TERMS }), first)
  const dearer = challenges({ ...TERMS, amount_minor: 6_000n })
  assert.notEqual(dearer, first)
  assert.match(JSON.stringify(decoded(dearer.header)), /"amount":"6000"/)
  const elsewhere = challenges({ ...TERMS, resource: mcpResource('iban-check') })
  assert.match(JSON.stringify(decoded(elsewhere.header)), /"url":"mcp:\/\/tool\/iban-check"/)
  // The oldest made room; the others are still there.
  assert.equal(challenges({ ...TERMS, amount_minor: 6_000n }), dearer)
  const again = challenges(TERMS)
  assert.ok(again !== first && again.header === first.header)
  at_ms = 999
  assert.equal(challenges(TERMS), again)
  at_ms = 1_000
  assert.notEqual(challenges(TERMS), again, 'a challenge is built again when its time is over')
  at_ms = 0
  const now = challenges(TERMS)
  at_ms = -1
  assert.notEqual(challenges(TERMS), now, 'nor is one from the future reused')
})

test('long descriptions are cut between characters, and the header stays below 1.5 kB', () => {
  const cut = (description: string) => v2PaymentRequired({ ...TERMS, description }, 'e').resource.description
  assert.equal(cut('x'.repeat(200)), 'x'.repeat(200))
  assert.equal(cut('x'.repeat(201)), `${'x'.repeat(199)}…`)
  assert.equal(cut(`${'x'.repeat(198)}\u{1f600}yy`), `${'x'.repeat(198)}…`)
  assert.equal(cut(`${'x'.repeat(197)}\u{1f600}yy`), `${'x'.repeat(197)}\u{1f600}…`)
  assert.equal(cut('a\ud800b'), 'a\ufffdb')
  const widest = paymentRequiredHeader({ ...TERMS, description: '\u6f22'.repeat(500) }, 'The free calls of today are used up')
  assert.ok(widest.length < 1_536, `${widest.length} characters`)
})

const END: X402SettlementResponse = {
  success: true,
  transaction: `0x${'ab'.repeat(32)}`,
  chain_id: 8453,
  network: 'base',
  payer: `0x${'1a'.repeat(20)}`,
}

test('both response headers say the same, each with its name of the network', () => {
  const headers = paymentResponseHeaders({ ...END, amount_minor: 5_000n })
  const common = { success: true, transaction: END.transaction, payer: END.payer }
  assert.deepEqual(decoded(headers['payment-response']), { ...common, network: 'eip155:8453', amount: '5000' })
  assert.deepEqual(decoded(headers['x-payment-response']), { ...common, network: 'base' })
})

test('a payment that failed says why, without a transaction', () => {
  const headers = paymentResponseHeaders({ ...END, success: false, transaction: '', error_reason: 'invalid_exact_evm_transaction_failed' })
  for (const header of Object.values(headers)) {
    const { errorReason, transaction, success } = decoded(header) as Record<string, unknown>
    assert.deepEqual([errorReason, transaction, success], ['invalid_exact_evm_transaction_failed', '', false])
  }
})
