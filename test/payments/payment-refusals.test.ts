import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../src/ports/payments.ts'
import { settlementFailed } from '../../src/service/payments/payment-refusals.ts'

const NOW_S = 1_795_262_400
const REFUSED = { payer: '0x01', nonce: '0x02', asset: null, state: 'refused', final: false, valid_before_s: BigInt(NOW_S + 60) } as Payment

const told = (reason: string | null, transaction: string | null) =>
  settlementFailed({ ...REFUSED, reason, transaction }, NOW_S).problem.detail

test('what was never sent is not said to have been tried, and may be signed anew', () => {
  for (const [reason, transaction] of [
    ['out_of_time', null],
    ['expired_unused', '0xab'],
    ['facilitator_unreachable', null],
  ] as const) {
    assert.doesNotMatch(told(reason, transaction), /tried and moved nothing/, reason)
    assert.match(told(reason, transaction), /never sent|ran out/, reason)
    assert.match(told(reason, transaction), /Sign a new authorization/, reason)
  }
  assert.match(told('out_of_time', '0xab'), /ran out/, 'it was sent, and no block took it up')
  for (const reason of ['insufficient_balance', null]) assert.match(told(reason, null), /tried and moved nothing/)
})

test('a refused authorization that is still valid is told with its end: no other may be signed before then', () => {
  const live = ['insufficient_balance', 'transfer_refused', 'token_paused', 'signature_withdrawn', 'no_reason_given', null]
  for (const reason of live) {
    const { problem } = settlementFailed({ ...REFUSED, reason, transaction: '0xab' }, NOW_S)
    assert.deepEqual([problem.charged, problem.extra?.['valid_before']], ['unknown', NOW_S + 60], String(reason))
    // 2026-11-21T12:00:00Z is second 1795262400.
    assert.match(problem.detail, /valid until 2026-11-21T12:01:00Z: do not sign another before then; this one may still be executed/)
  }
  for (const reason of ['authorization_cancelled', 'authorization_used_elsewhere', 'authorization_expired', 'expired_unused']) {
    const { problem } = settlementFailed({ ...REFUSED, reason, transaction: '0xab' }, NOW_S)
    assert.deepEqual([problem.charged, problem.extra?.['valid_before']], [false, undefined], reason)
  }
  const over = [
    settlementFailed({ ...REFUSED, reason: 'insufficient_balance', transaction: '0xab' }, NOW_S + 60 + 120),
    settlementFailed({ ...REFUSED, reason: 'insufficient_balance', transaction: '0xab', final: true }, NOW_S),
  ]
  for (const { problem } of over) assert.deepEqual([problem.charged, /Sign a new authorization/.test(problem.detail)], [false, true])
})
