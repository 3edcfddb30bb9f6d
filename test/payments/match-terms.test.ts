import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkWindow, matchTerms, type AcceptableTerms, type TermsMatch } from '../../src/service/payments/terms.ts'
import { exactOnly, readPayment, type X402Payment } from '../../src/service/payments/payment-header.ts'
import { runs, SEED } from '../support/counts.ts'
import { changed, PLACE, V1, V2 } from './samples.ts'

const ACCEPTABLE: AcceptableTerms = { ...PLACE, amounts: new Set([5_000n, 6_000n]) }
const STRANGER = `0x${'77'.repeat(20)}`

function paymentOf(value: unknown): X402Payment {
  const reading = exactOnly(readPayment({ kind: 'value', value }))
  assert.ok(reading.ok, 'the sample is a payment')
  return reading.payment
}

function match(value: object): TermsMatch {
  return matchTerms(paymentOf(value), ACCEPTABLE)
}

test('payments are matched by meaning', () => {
  const upper = PLACE.pay_to.toUpperCase().replace('0X', '0x')
  const quoted = changed(changed(V2, 'accepted.amount', '06000'), 'payload.authorization.value', '6000')
  const fine = [
    V1,
    V2,
    changed(V1, 'network', 'eip155:8453'),
    changed(V2, 'accepted.network', 'base'),
    changed(V2, 'accepted.payTo', PLACE.pay_to.toLowerCase()),
    changed(V1, 'payload.authorization.to', upper),
    changed(V2, 'accepted.asset', PLACE.token.address.toLowerCase()),
    changed(V2, 'accepted.maxTimeoutSeconds', 300),
    changed(V2, 'accepted.extra', undefined),
    changed(V2, 'accepted.extra.paymentFlow', 'authorization'),
    changed(V2, 'resource.url', 'https://elsewhere.example/'),
    quoted,
  ]
  for (const value of fine) assert.deepEqual(match(value), { ok: true })
})

// attack: another network, token, payee or price
test('each mismatch has its own code and the reason of the official facilitators', () => {
  const v2_value = 'invalid_exact_evm_payload_authorization_value_mismatch'
  const cases: [object, string, string][] = [
    [changed(V1, 'network', 'base-sepolia'), 'NETWORK_MISMATCH', 'invalid_exact_evm_network_mismatch'],
    [changed(V1, 'network', 'Base'), 'NETWORK_MISMATCH', 'invalid_exact_evm_network_mismatch'],
    [changed(V2, 'accepted.network', 'eip155:84532'), 'NETWORK_MISMATCH', 'invalid_exact_evm_network_mismatch'],
    [changed(V2, 'accepted.asset', STRANGER), 'ASSET_MISMATCH', 'invalid_payment_requirements'],
    [changed(V2, 'accepted.extra.name', 'USDC'), 'DOMAIN_MISMATCH', 'invalid_exact_evm_token_name_mismatch'],
    [changed(V2, 'accepted.extra.version', '1'), 'DOMAIN_MISMATCH', 'invalid_exact_evm_token_version_mismatch'],
    [changed(V2, 'accepted.extra.paymentFlow', 'escrow'), 'SCHEME_UNSUPPORTED', 'unsupported_payment_flow'],
    [changed(V1, 'payload.authorization.to', STRANGER), 'RECIPIENT_MISMATCH', 'invalid_exact_evm_recipient_mismatch'],
    [changed(V2, 'payload.authorization.to', STRANGER), 'RECIPIENT_MISMATCH', 'invalid_exact_evm_recipient_mismatch'],
    [changed(V2, 'accepted.payTo', STRANGER), 'RECIPIENT_MISMATCH', 'invalid_exact_evm_recipient_mismatch'],
    [changed(V1, 'payload.authorization.value', '4999'), 'PRICE_MISMATCH', 'invalid_exact_evm_authorization_value'],
    [changed(V1, 'payload.authorization.value', '5001'), 'PRICE_MISMATCH', 'invalid_exact_evm_authorization_value'],
    [changed(V2, 'payload.authorization.value', '4999'), 'PRICE_MISMATCH', v2_value],
    [changed(V2, 'accepted.amount', '6000'), 'PRICE_MISMATCH', v2_value],
  ]
  for (const [value, code, x402_reason] of cases) {
    const found = match(value)
    assert.ok(!found.ok)
    assert.deepEqual([found.code, found.x402_reason], [code, x402_reason])
    assert.ok(!found.detail.includes(STRANGER), 'a refusal quotes the caller')
  }
})

const BOUNDS = { least_left_s: 21, longest_s: 3_600, skew_s: 5 }
const NOW_S = 1_700_000_000
const base = paymentOf(V1).authorization

function window(after: number, before: number): string {
  const authorization = { ...base, valid_after_s: BigInt(NOW_S + after), valid_before_s: BigInt(NOW_S + before) }
  const found = checkWindow(authorization, NOW_S, BOUNDS)
  return found.ok ? 'ok' : `${found.code} ${found.x402_reason.replace('invalid_exact_evm_payload_authorization_', '')}`
}

test('the window is judged to the second', () => {
  assert.equal(window(-600, 120), 'ok')
  assert.equal(window(-NOW_S, 21), 'ok')
  assert.equal(window(-NOW_S, 20), 'EXPIRED valid_before')
  assert.equal(window(-NOW_S, -1), 'EXPIRED valid_before')
  assert.equal(window(5, 120), 'ok')
  assert.equal(window(6, 120), 'NOT_YET_VALID valid_after')
  assert.equal(window(0, 3_605), 'ok')
  assert.equal(window(0, 3_606), 'WINDOW_TOO_LONG valid_before')
  // Strictly between the two: no second lies between 99 and 100.
  assert.equal(window(99, 100), 'EXPIRED valid_before')
})

test('the widest numbers are judged too', () => {
  const end = 2n ** 256n - 1n
  const judge = (valid_after_s: bigint, valid_before_s: bigint) =>
    checkWindow({ ...base, valid_after_s, valid_before_s }, NOW_S + 0.9, BOUNDS)
  const codes = [judge(0n, end), judge(end - 2n, end), judge(end, end), judge(0n, 0n)].map((found) => (found.ok ? 'ok' : found.code))
  assert.deepEqual(codes, ['WINDOW_TOO_LONG', 'NOT_YET_VALID', 'EXPIRED', 'EXPIRED'])
})

test('a window that passes can be settled for as long as is promised', () => {
  const seconds = fc.integer({ min: -5_000, max: 5_000 })
  const property = fc.property(seconds, seconds, (after, before) => {
    const passes = window(after, before) === 'ok'
    assert.equal(passes, before >= 21 && before <= 3_605 && after <= 5 && before - after >= 2)
  })
  fc.assert(property, { seed: SEED, numRuns: runs(500, 5_000) })
})
