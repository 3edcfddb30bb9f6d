import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/place.ts'
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
