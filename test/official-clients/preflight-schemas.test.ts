/** The preflight against the schemas of the official package @x402/core: what those refuse, the preflight refuses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isPaymentPayloadV1,
  isPaymentPayloadV2,
  isPaymentRequiredV1,
  isPaymentRequiredV2,
  isPaymentRequirementsV1,
  isPaymentRequirementsV2,
} from '@x402/core/schemas'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { seeded } from '../fuzz/random.ts'
import { BOUNDS, NOW_S } from '../protocols/harness.ts'
import { mutated, type Json } from '../protocols/hostile-documents.ts'
import { X402_CLEAN } from '../protocols/x402-clean.ts'
import { SEED } from '../support/counts.ts'

const CASES = 2_000

/** How the package reads each of the clean documents. */
const OFFICIAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  challenge_v1: isPaymentRequiredV1,
  challenge_v2: isPaymentRequiredV2,
  extended_v2: isPaymentRequiredV2,
  requirements_v1: isPaymentRequirementsV1,
  requirements_v2: isPaymentRequirementsV2,
  payment_v1: isPaymentPayloadV1,
  payment_v2: isPaymentPayloadV2,
  payment_svm: isPaymentPayloadV2,
  payment_permit2: isPaymentPayloadV2,
  payment_upto: isPaymentPayloadV2,
  payment_with_info_alone: isPaymentPayloadV2,
  declares_for_payers: isPaymentRequiredV2,
}

/**
 * Whether both were asked the same: the preflight finds kind and version by itself, and asks nothing of redacted values, of which the
 * package knows nothing.
 */
function isReadAlike(name: string, document: unknown): boolean {
  const { document_type, version, warnings } = reportOf(document)
  const clean = X402_CLEAN[name]
  return document_type === clean?.type && version === clean.version && !warnings.some(({ code }) => code === 'PRE-002')
}

function reportOf(document: unknown) {
  const result = checkDocument('x402', document, { expected_payee: null, now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS })
  assert.ok(result.kind === 'report')
  return result.report
}

test('the package accepts every clean document', () => {
  for (const [name, accepts] of Object.entries(OFFICIAL)) assert.ok(accepts(X402_CLEAN[name]?.document), name)
})

test('what the package refuses, the preflight refuses', () => {
  const names = Object.keys(OFFICIAL)
  const counts = { both_refuse: 0, both_accept: 0, only_preflight: 0, other_kind: 0 }
  const codes = new Set<string>()
  for (let index = 0; index < CASES; index++) {
    const random = seeded(SEED, index)
    const name = random.pick(names)
    const document = mutated(random, X402_CLEAN[name]?.document as Json)
    const accepted = OFFICIAL[name]?.(document) === true
    const { status, errors } = reportOf(document)
    if (accepted) {
      if (status === 'fail' && isReadAlike(name, document)) for (const { code } of errors) codes.add(code)
      counts[status === 'fail' ? 'only_preflight' : 'both_accept']++
    } else if (isReadAlike(name, document)) {
      assert.equal(status, 'fail', `case ${index}, ${name}: ${JSON.stringify(document)}`)
      counts.both_refuse++
    } else counts.other_kind++
  }
  assert.ok(counts.both_refuse > CASES / 5 && counts.both_accept > CASES / 20 && counts.only_preflight > CASES / 20, JSON.stringify(counts))
  // Named disagreements: the package takes any text that is not empty, blanks too, for schemes, amounts, addresses and networks, and any
  // object for extra, extensions and payloads.
  const known = ['X402-005', 'X402-006', 'X402-007', 'X402-009', 'X402-010', 'X402-012', 'X402-013', 'X402-015', 'X402-016', 'X402-017']
  const forms = ['X402-018', 'X402-019', 'X402-020', 'X402-021', 'X402-022', 'X402-024', 'X402-026']
  const inside = ['X402-003', 'X402-030', 'X402-031', 'X402-032', 'X402-033', 'X402-034', 'X402-035', 'X402-037', 'X402-038', 'X402-051']
  assert.deepEqual(
    [...codes].filter((code) => ![...known, ...forms, ...inside].includes(code)),
    [],
  )
})
