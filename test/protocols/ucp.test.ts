import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { runs, SEED } from '../support/counts.ts'
import { BOUNDS, checkText, codesOf, NOW_S, protocolSuite, set } from './harness.ts'
import { UCP_CASES } from './ucp-cases.ts'
import { UCP_CATALOG_CASES } from './ucp-cases-catalog.ts'
import { UCP_CLEAN } from './ucp-clean.ts'
import { changed, stepsIn } from './ucp-mutants.ts'

protocolSuite('ucp', { clean: UCP_CLEAN, cases: [...UCP_CASES, ...UCP_CATALOG_CASES] })

test('ucp: whatever stands at a place, the check ends with a report', () => {
  const documents = fc.constantFrom(...Object.values(UCP_CLEAN).map(({ document }) => document))
  const mutants = documents.chain((document) =>
    fc.tuple(fc.constantFrom(...stepsIn(document)), fc.jsonValue()).map(([steps, to]) => changed(document, steps, to)),
  )
  const options = { expected_payee: 'shop.example.com', now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS }
  const property = fc.property(mutants, (document) => {
    const result = checkDocument('ucp', document, options)
    assert.ok(result.kind === 'report')
    assert.equal(result.report.status === 'fail', result.report.errors.length > 0)
  })
  fc.assert(property, { numRuns: runs(200, 5_000), seed: SEED })
})

test('ucp: the payee is found by its account or its host, and then nothing is said', () => {
  const payees: [string, string][] = [
    ['business 04-08', 'm_4711'],
    ['business 08-25', 'shop.example.com'],
    ['business 01-11', 'https://www.example.com/'],
    ['completed 01-23', 'example.com'],
    ['order 08-25', 'shop.example.com'],
  ]
  for (const [name, payee] of payees) {
    const { errors, warnings } = checkText('ucp', JSON.stringify(UCP_CLEAN[name]?.document), payee)
    assert.deepEqual([...errors, ...warnings], [], `${name} for ${payee}`)
  }
})

test('ucp: an EVM address is the same account in whichever case it is written', () => {
  const address = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
  const text = JSON.stringify(UCP_CLEAN['business 04-08']?.document)
  for (const name of ['payTo', 'pay_to', 'payee']) {
    const paid = set('/ucp/payment_handlers/com.example.tokenizer/0/config', { [name]: address })(text)
    for (const payee of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`])
      assert.deepEqual(codesOf(checkText('ucp', paid, payee)), [], `${name} ${payee}`)
    assert.deepEqual(codesOf(checkText('ucp', paid, address.replace('C5328', 'C5329'))), ['UCP-045 error'])
  }
  assert.deepEqual(codesOf(checkText('ucp', text, 'M_4711')), ['UCP-045 error'])
})

test('ucp: a key of RSA has a modulus and an exponent, and a kind that is not known may have what it likes', () => {
  const text = JSON.stringify(UCP_CLEAN['business 08-25']?.document)
  for (const key of [
    { kid: 'r', kty: 'RSA', n: 'AQAB', e: 'AQAB' },
    { kid: 'a', kty: 'AKP', alg: 'ML-DSA-44', pub: 'AQAB' },
  ])
    assert.deepEqual(codesOf(checkText('ucp', set('/keys/-', key)(text))), [], key.kty)
})
