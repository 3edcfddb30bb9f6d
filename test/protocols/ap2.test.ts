import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { runs, SEED } from '../support/counts.ts'
import { AP2_CASES } from './ap2-cases.ts'
import { AP2_CLEAN } from './ap2-clean.ts'
import { BOUNDS, checkText, codesOf, NOW_S, protocolSuite, set } from './harness.ts'
import { changed, stepsIn } from './ucp-mutants.ts'

protocolSuite('ap2', { clean: AP2_CLEAN, cases: AP2_CASES })

test('ap2: whatever stands at a place, the check ends with a report', () => {
  const documents = fc.constantFrom(...Object.values(AP2_CLEAN).map(({ document }) => document))
  const mutants = documents.chain((document) =>
    fc.tuple(fc.constantFrom(...stepsIn(document)), fc.jsonValue()).map(([steps, to]) => changed(document, steps, to)),
  )
  const options = { expected_payee: 'merchant_1', now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS }
  const property = fc.property(mutants, (document) => {
    const result = checkDocument('ap2', document, options)
    assert.ok(result.kind === 'report')
    assert.equal(result.report.status === 'fail', result.report.errors.length > 0)
  })
  fc.assert(property, { numRuns: runs(300, 5_000), seed: SEED })
})

test('ap2: the payee is found by its id, its website or its name, and then nothing is said', () => {
  const payees: [string, string][] = [
    ['payment', 'merchant_1'],
    ['payment', 'https://www.demo-merchant.example/'],
    ['payment', 'demo-merchant.example'],
    ['payment', 'DEMO MERCHANT'],
    ['open payment', 'merchant_2'],
    ['open checkout', 'second.example'],
    ['checkout', 'merchant_1'],
    ['chain', 'Demo Merchant'],
    ['preset chain', 'merchant_1'],
  ]
  for (const [name, payee] of payees) {
    assert.deepEqual(codesOf(checkText('ap2', JSON.stringify(AP2_CLEAN[name]?.document), payee)), [], `${name} for ${payee}`)
  }
})

test('ap2: a checkout that says it is one of UCP keeps the rules of UCP, under their codes', () => {
  const text = JSON.stringify(AP2_CLEAN['with ucp']?.document)
  const { errors, checked } = checkText('ap2', set('/checkout/totals/0/amount', 1)(text))
  assert.deepEqual(
    errors.map(({ code, path }) => `${code} ${path}`),
    ['UCP-033 /checkout/totals'],
  )
  assert.ok(checked.includes('AP2-038') && checked.includes('UCP-027'))
})

test('ap2: one payment beyond the budget is beyond it in whichever unit the budget counts', () => {
  const text = JSON.stringify(AP2_CLEAN['preset chain']?.document)
  const paid = (amount: number, max: number, currency: string) => {
    const changes = [
      ...['/mandates/0/payment_amount', '/mandates/1/payment_amount'].flatMap((at) => [
        set(`${at}/amount`, amount),
        set(`${at}/currency`, currency),
      ]),
      set('/mandates/0/constraints/6/max', max),
      ...[1, 6].map((at) => set(`/mandates/0/constraints/${at}/currency`, currency)),
      set('/mandates/0/constraints/1/max', 10_000_000),
    ]
    return codesOf(
      checkText(
        'ap2',
        changes.reduce((found, change) => change(found), text),
      ),
    ).filter((code) => code === 'AP2-032 error').length
  }
  // Units of ISO 4217: two digits of the dollar, three of the Kuwaiti dinar; for the yen, which has none, the library counts two as well.
  const budgets: [number, number, string, boolean][] = [
    [20_000, 200, 'USD', false],
    [20_001, 200, 'USD', true],
    [20_000, 199.99, 'USD', true],
    [20_000, 20_000, 'USD', false],
    [100_500, 100.5, 'KWD', false],
    [100_501, 100.5, 'KWD', true],
    [20_000, 200, 'JPY', false],
    [20_001, 200, 'JPY', true],
  ]
  for (const [amount, max, currency, isBeyond] of budgets)
    assert.equal(paid(amount, max, currency), isBeyond ? 1 : 0, `${amount} ${currency} of ${max}`)
})
