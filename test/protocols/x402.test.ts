import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs, SEED } from '../support/counts.ts'
import { all, checkText, codesOf, protocolSuite, set } from './harness.ts'
import { X402_CASES } from './x402-cases.ts'
import { X402_CLEAN } from './x402-clean.ts'
import { PAYEE } from './x402-clean-parts.ts'

const STRANGER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'

protocolSuite('x402', { clean: X402_CLEAN, cases: X402_CASES })

const OPAQUE = 'what the signed transaction pays'

function clean(name: string): string {
  return JSON.stringify(X402_CLEAN[name]?.document)
}

test('x402: a payment that cannot be read is not passed in silence', () => {
  const [, capture] = (JSON.parse(clean('held')) as { accepts: unknown[] }).accepts
  const held = all(set('/accepted', capture), set('/payload/authorization/to', STRANGER))(clean('payment_v2'))
  const unnamed = all(set('/accepted/scheme', 'subscription'), set('/payload', { permit2Authorization: {} }))(clean('payment_v2'))
  for (const [name, document] of Object.entries({ unnamed, svm: clean('payment_svm'), erc7710: clean('payment_erc7710'), held })) {
    const { errors, not_checked } = checkText('x402', document, name === 'svm' ? null : PAYEE)
    assert.deepEqual([errors, not_checked.includes(OPAQUE)], [[], true], name)
  }
  for (const name of ['payment_v2', 'payment_v1', 'payment_permit2', 'payment_upto', 'voucher_payment', 'challenge_v2'])
    assert.ok(!checkText('x402', clean(name)).not_checked.includes(OPAQUE), name)
})

test('x402: whoever is signed to be paid must be the expected payee', () => {
  const others = fc.stringMatching(/^0x[0-9a-f]{40}$/).filter((one) => one !== PAYEE.toLowerCase())
  const recipient = fc.oneof(fc.constantFrom(PAYEE, PAYEE.toLowerCase()), others)
  const scheme = fc.constantFrom('exact', 'upto', 'subscription')
  const places = ['/payload/authorization/to', '/payload/permit2Authorization/witness/to']
  fc.assert(
    fc.property(scheme, fc.tuple(fc.option(recipient), fc.option(recipient)), (name, [transferred, permitted]) => {
      const authorization = transferred === null ? {} : { authorization: { to: transferred } }
      const permit = permitted === null ? {} : { permit2Authorization: { witness: { to: permitted } } }
      const document = all(set('/accepted/scheme', name), set('/payload', { ...authorization, ...permit }))(clean('payment_v2'))
      const { errors } = checkText('x402', document, PAYEE)
      const strangers = [transferred, permitted].map((one) => one !== null && one.toLowerCase() !== PAYEE.toLowerCase())
      assert.deepEqual(
        errors.filter(({ code }) => code === 'X402-042').map(({ path }) => path),
        places.filter((_place, index) => strangers[index]),
      )
    }),
    { seed: SEED, numRuns: runs(100, 5_000) },
  )
})

test('x402: a payment of version 1 is held against the requirements of its own network', () => {
  const request = JSON.parse(clean('verify_request_v1')) as { paymentRequirements: object }
  const elsewhere = { ...request.paymentRequirements, network: 'base-sepolia', payTo: STRANGER }
  const several = { ...request, paymentRequirements: [elsewhere, request.paymentRequirements] }
  const codes = codesOf(checkText('x402', JSON.stringify(several))).filter((code) => code.startsWith('X402-035'))
  assert.deepEqual(codes, [])
})

test('x402: a request whose payment is redacted draws no error', () => {
  const report = checkText('x402', set('/paymentPayload', '[REDACTED]')(clean('verify_request_v2')))
  assert.deepEqual(codesOf(report), ['PRE-002 warning'])
})

test('x402: what a facilitator of version 1 supports has kinds alone', () => {
  const kinds = [
    { x402Version: 1, scheme: 'exact', network: 'base' },
    { x402Version: 1, scheme: 'exact', network: 'solana' },
  ]
  const report = checkText('x402', JSON.stringify({ kinds }))
  assert.deepEqual([report.document_type, codesOf(report)], ['supported_response', []])
})

test('x402: Algorand is known by the genesis hash that its scheme writes in full (scheme_exact_algo)', () => {
  const network = 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8='
  const payTo = 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE'
  const extra = { feePayer: 'FACILITATORADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALQCXBZE' }
  const terms = { scheme: 'exact', network, amount: '5000000', payTo, maxTimeoutSeconds: 60, asset: '31566704', extra }
  const payment = { x402Version: 2, accepted: terms, payload: { paymentIndex: 1, paymentGroup: ['gaN0', 'gqNz'] }, extensions: {} }
  const settled = { success: true, errorReason: null, transaction: 'NTRZR6HGMMZGYMJKUNVNLKLA427ACAVIPFNC6JHA5XNBQQHW7MWA', network }
  assert.deepEqual(codesOf(checkText('x402', JSON.stringify(payment))), ['X402-006 warning', 'X402-008 warning'])
  assert.deepEqual(codesOf(checkText('x402', JSON.stringify(settled))), ['X402-039 warning'])
})

test('x402: the form of EIP-3009 is asked for on EVM networks alone', () => {
  const elsewhere = { network: 'starknet:SN_MAIN', asset: '0x053c', payTo: '0x04718f', extra: {} }
  const { accepted } = JSON.parse(clean('payment_v2')) as { accepted: object }
  const changes = all(set('/accepted', { ...accepted, ...elsewhere }), set('/payload', { authorization: { to: '0x04718f' } }))
  assert.deepEqual(codesOf(checkText('x402', changes(clean('payment_v2')), '0x04718f')), ['X402-008 warning'])
})

test('x402: what EVM networks ask of batch-settlement and upto is asked on no other network', () => {
  const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  for (const [name, code] of [
    ['voucher_payment', 'X402-037'],
    ['payment_upto', 'X402-022'],
    ['payment_upto', 'X402-037'],
  ] as const) {
    const text = clean(name).replaceAll(/eip155:[0-9]+/g, solana)
    const codes = checkText('x402', text).errors.map((finding) => finding.code)
    assert.ok(!codes.includes(code), `${name} ${code}`)
  }
  const unknown = clean('voucher_payment')
  const changed = set('/payload/channelConfig/payer', 'alice')(unknown.replaceAll(/eip155:[0-9]+/g, 'nonsense'))
  assert.deepEqual(
    checkText('x402', changed).errors.map(({ code }) => code),
    ['X402-006'],
  )
})
