import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../src/ports/payments.ts'
import { UNTRIED_REASONS } from '../../src/pure/payments/states.ts'
import { settlementFailed } from '../../src/service/payments/payment-refusals.ts'

const told = (reason: string | null, transaction: string | null) =>
  settlementFailed({ payer: '0x01', reason, transaction } as Payment).problem.detail

test('what was never sent is not said to have been tried', () => {
  for (const reason of UNTRIED_REASONS) {
    assert.doesNotMatch(told(reason, null), /tried and moved nothing/, reason)
    assert.match(told(reason, null), /never sent|ran out/, reason)
    assert.match(told(reason, null), /Sign a new authorization/, reason)
  }
  assert.match(told('out_of_time', '0xab'), /ran out/, 'it was sent, and no block took it up')
  for (const reason of ['insufficient_balance', null]) assert.match(told(reason, null), /tried and moved nothing/)
})
