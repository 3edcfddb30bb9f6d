import type { CleanDocument } from './harness.ts'
import { X402_CLEAN_MORE } from './x402-clean-more.ts'
import { BASE_USDC, evm, PAYEE, PAYER, resource, svm, upto } from './x402-clean-parts.ts'

/** Right documents of x402, built by hand from the fields of the specifications of versions 1 and 2. */

const challenge = { x402Version: 2, error: 'payment required', resource, accepts: [evm, svm, upto] }

const entry_v1 = {
  scheme: 'exact',
  network: 'base',
  maxAmountRequired: '10000',
  resource: 'https://api.example.com/report',
  description: 'Weather report',
  mimeType: 'application/json',
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  asset: BASE_USDC,
  extra: { name: 'USD Coin', version: '2' },
}

const authorization = {
  from: PAYER,
  to: PAYEE,
  value: '10000',
  validAfter: '1795262000',
  validBefore: '1795262460',
  nonce: `0x${'f3746613c2d920b5'.repeat(4)}`,
}
const payload = { signature: `0x${'2d6a7588d6acca50'.repeat(8)}1c`, authorization }
const payment = { x402Version: 2, resource, accepted: evm, payload }

const extensions = {
  bazaar: {
    info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: { city: 'Oslo' } } },
    schema: { type: 'object', properties: { input: { type: 'object' } }, required: ['input'] },
  },
  'payment-identifier': { info: { id: 'pay_0123456789abcdef' }, schema: { type: 'object' } },
}

const declared = (type: string, version: '1' | '2') => ({ type, version, version_source: 'declared' as const })

export const X402_CLEAN: Readonly<Record<string, CleanDocument>> = {
  challenge_v2: { document: challenge, ...declared('payment_required', '2') },
  extended_v2: { document: { ...challenge, extensions }, ...declared('payment_required', '2') },
  challenge_v1: {
    document: { x402Version: 1, error: 'payment required', accepts: [entry_v1] },
    ...declared('payment_required', '1'),
    warnings: ['X402-001'],
  },
  requirements_v2: { document: evm, type: 'payment_requirements', version: '2', version_source: 'inferred' },
  requirements_v1: { document: entry_v1, type: 'payment_requirements', version: '1', version_source: 'inferred' },
  payment_v2: { document: payment, ...declared('payment_payload', '2') },
  payment_svm: {
    document: { x402Version: 2, accepted: svm, payload: { transaction: 'AQABAgMEBQYHCAkKCwwNDg8=' } },
    ...declared('payment_payload', '2'),
  },
  payment_v1: {
    document: { x402Version: 1, scheme: 'exact', network: 'base', payload },
    ...declared('payment_payload', '1'),
    warnings: ['X402-001'],
  },
  verify_request_v2: {
    document: { x402Version: 2, paymentPayload: payment, paymentRequirements: evm },
    ...declared('verify_request', '2'),
  },
  settlement: {
    document: { success: true, transaction: `0x${'89ab'.repeat(16)}`, network: 'eip155:8453', payer: PAYER },
    type: 'settlement_response',
    version: '2',
    version_source: 'inferred',
  },
  failed_settlement: {
    document: { success: false, transaction: '', network: 'eip155:8453', errorReason: 'insufficient_funds' },
    type: 'settlement_response',
    version: '2',
    version_source: 'inferred',
  },
  verify_response: {
    document: { isValid: false, invalidReason: 'insufficient_funds', payer: PAYER },
    type: 'verify_response',
    version: '2',
    version_source: 'assumed',
  },
  list: {
    document: { x402Version: 2, items: [{ resource: 'https://api.example.com/report', type: 'http', x402Version: 2, accepts: [evm] }] },
    ...declared('resource_list', '2'),
  },
  ...X402_CLEAN_MORE,
}
