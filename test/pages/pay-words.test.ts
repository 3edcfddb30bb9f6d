/** The words of the checkout that need no browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INVOICE_EXCEPTIONS, INVOICE_STATES } from '../../src/pure/invoices/standing.ts'
import { leftText } from '../../src/surfaces/pages/client/pay/countdown.ts'
import { serviceFault, walletFault } from '../../src/surfaces/pages/client/pay/faults.ts'
import { readRecord, usdc } from '../../src/surfaces/pages/client/pay/record.ts'
import { regionsOf } from '../../src/surfaces/pages/client/pay/regions.ts'
import { initials, plainText } from '../../src/surfaces/pages/client/pay/wallets.ts'
import { PROBLEMS } from '../../src/service/problems.ts'

const WIRE = {
  invoice_id: 'inv_000000000000',
  status: 'ISSUED',
  exceptions: [],
  merchant: `0x${'11'.repeat(20)}`,
  amount_minor: '10000000',
  amount_paid_minor: '4000000',
  amount_due_minor: '6000000',
  overpaid_minor: '0',
  chain_id: 84_532,
  created_s: 1_795_219_200,
  expires_s: 1_796_428_800,
  first_seen_s: 1_795_219_300,
  voided_s: 1_795_219_400,
  payments: [],
}

function shown(change: Record<string, unknown>): string {
  const record = readRecord({ ...WIRE, ...change })
  assert.ok(record !== null)
  return JSON.stringify(regionsOf(record, null))
}

test('every exception has words of its own, with what the payer can do and whom to ask', () => {
  for (const exception of INVOICE_EXCEPTIONS) {
    const text = shown({ exceptions: [exception] })
    assert.doesNotMatch(text, /The record carries this remark/, exception)
    assert.match(text, /What you can do: .*Whom to ask: the merchant/, exception)
  }
  assert.match(shown({ exceptions: ['some_later_one'] }), /The record carries this remark/)
})

test('every state has a word and a line of stations; what ended unpaid ends there', () => {
  const words = INVOICE_STATES.map((status) => /"id":"word"},"children":\["([^"]+)"/.exec(shown({ status }))?.[1])
  assert.equal(new Set(words).size, INVOICE_STATES.length)
  assert.match(shown({ status: 'EXPIRED' }), /"class":"ended"/)
  assert.match(shown({ status: 'VOID' }), /"class":"ended"/)
  assert.match(shown({ status: 'PARTIALLY_PAID' }), /4\.00 of 10\.00 USDC has arrived\. 6\.00 USDC is still due/)
})

test('what is no record of an invoice is not read', () => {
  for (const change of [{ status: 'PAID' }, { amount_minor: '1.5' }, { amount_minor: 10 }, { created_s: null }, { chain_id: '1' }]) {
    assert.equal(readRecord({ ...WIRE, ...change }), null)
  }
  for (const value of [null, [], 'x', 5]) assert.equal(readRecord(value), null)
})

test('amounts are exact, with two decimals at least', () => {
  const pairs: [bigint, string][] = [
    [0n, '0.00'],
    [1n, '0.000001'],
    [12_500_000n, '12.50'],
    [10_000_000n, '10.00'],
    [1_000_000_000_001n, '1000000.000001'],
  ]
  for (const [minor, text] of pairs) assert.equal(usdc(minor), text)
})

test('what is left is told in two units', () => {
  const pairs: [number, string][] = [
    [14 * 86_400, '14 d 0 h left'],
    [86_399, '23 h 59 min left'],
    [3_599, '59 min 59 s left'],
    [61, '1 min 01 s left'],
    [59, '59 s left'],
    [0, 'over'],
    [-5, 'over'],
  ]
  for (const [seconds, text] of pairs) assert.equal(leftText(seconds), text)
})

test('refusals of wallets and of the service end in what next', () => {
  for (const error of [{ code: 4001 }, { code: 4100 }, { code: 4900 }, { code: -32_002 }, new Error('x'), null, 'text', { code: '4001' }]) {
    const { title, happened, next } = walletFault(error, 'Some Wallet')
    assert.ok(title !== '' && happened !== '' && next.endsWith('.'))
  }
  for (const [code, { title }] of Object.entries(PROBLEMS)) {
    const fault = serviceFault({ code, title, detail: 'Detail.', retryable: false })
    assert.ok(fault.title !== '' && fault.next.endsWith('.'), code)
  }
})

test('names of wallets are cut and cleaned', () => {
  assert.equal(plainText('Good\u202eWallet\n\u0000', 32), 'Good Wallet')
  assert.equal(plainText('x'.repeat(500), 32).length, 32)
  assert.deepEqual(['Test Wallet', 'metamask', '', '🦊 Fox'].map(initials), ['TW', 'ME', '?', 'FO'])
})
