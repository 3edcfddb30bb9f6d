/** Texts of the checkout, tested without a browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderToString } from 'preact-render-to-string'
import { INVOICE_EXCEPTIONS, INVOICE_STATES } from '../../src/pure/invoices/standing.ts'
import { serviceFault, walletFault } from '../../src/surfaces/pages/client/pay/checkout.ts'
import { readRecord, usdc } from '../../src/surfaces/pages/client/pay/record.ts'
import { initials, plainText } from '../../src/surfaces/pages/client/wallets.ts'
import { PaymentsReceived, PayNotices, PayState, PaySteps } from '../../src/surfaces/pages/components/checkout.ts'
import { PayLocaleContext } from '../../src/surfaces/pages/components/pay-text.ts'
import { html } from '../../src/surfaces/pages/html.ts'
import { localized } from '../../src/surfaces/pages/messages.ts'
import { PROBLEMS } from '../../src/service/problems.ts'

const { messages } = localized('en', undefined)

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
  const view = html`<div>
    <${PayState} record=${record} /><${PaySteps} record=${record} trace=${null} /><${PayNotices} record=${record} />
    <${PaymentsReceived} record=${record} />
  </div>`
  return renderToString(html`<${PayLocaleContext.Provider} value=${{ messages, language: 'en', in_browser: false }}>${view}<//>`)
}

test('every exception has its own text, with what the payer can do and whom to ask', () => {
  for (const exception of INVOICE_EXCEPTIONS) {
    const text = shown({ exceptions: [exception] })
    assert.doesNotMatch(text, /The invoice has this exception/, exception)
    assert.match(text, /What you can do:<\/b> .*Whom to ask: the merchant/, exception)
  }
  assert.match(shown({ exceptions: ['some_later_one'] }), /The invoice has this exception/)
})

test('every state has a word and steps; expired and void invoices end at that step', () => {
  const words = INVOICE_STATES.map((status) => /id="word">([^<]+)</.exec(shown({ status }))?.[1])
  assert.equal(new Set(words).size, INVOICE_STATES.length)
  assert.match(shown({ status: 'EXPIRED' }), /class="ended"/)
  assert.match(shown({ status: 'VOID' }), /class="ended"/)
  assert.match(shown({ status: 'PARTIALLY_PAID' }), /4\.00 of 10\.00 USDC has arrived\. 6\.00 USDC is still due/)
})

test('an invalid invoice record is rejected', () => {
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

test('every wallet and service fault says what to do next', () => {
  for (const error of [{ code: 4001 }, { code: 4100 }, { code: 4900 }, { code: -32_002 }, new Error('x'), null, 'text', { code: '4001' }]) {
    const { title, happened, next } = walletFault(messages.faults, error, 'Some Wallet')
    assert.ok(title !== '' && happened !== '' && next.endsWith('.'))
  }
  for (const [code, { title }] of Object.entries(PROBLEMS)) {
    const fault = serviceFault(messages.faults, { code, title, detail: 'Detail.', retryable: false })
    assert.ok(fault.title !== '' && fault.next.endsWith('.'), code)
  }
})

test('wallet names are shortened and cleaned', () => {
  assert.equal(plainText('Good\u202eWallet\n\u0000', 32), 'Good Wallet')
  assert.equal(plainText('x'.repeat(500), 32).length, 32)
  assert.deepEqual(['Test Wallet', 'metamask', '', '🦊 Fox'].map(initials), ['TW', 'ME', '?', 'FO'])
})

test('a payment links to the block explorer of its network, where there is one', () => {
  const paid = { tx_hash: `0x${'ab'.repeat(32)}`, payer: '0x1', amount_minor: '1', block_number: 1, block_time: '2026-11-24T00:00:00Z' }
  const transaction_url = `https://basescan.org/tx/${paid.tx_hash}`
  assert.match(shown({ payments: [{ ...paid, transaction_url }] }), /href="https:\/\/basescan\.org\/tx\/0x(?:ab){32}"/)
  assert.doesNotMatch(shown({ payments: [paid] }), /href="https/)
})
