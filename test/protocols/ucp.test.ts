import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/place.ts'
import { runs, SEED } from '../support/counts.ts'
import { BOUNDS, checkText, NOW_S, protocolSuite } from './harness.ts'
import { UCP_CASES } from './ucp-cases.ts'
import { UCP_CLEAN } from './ucp-clean.ts'
import { changed, stepsIn } from './ucp-mutants.ts'

protocolSuite('ucp', { clean: UCP_CLEAN, cases: UCP_CASES })

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
