/** The preflight on payments that the official clients sign, by every scheme and way of moving the token that needs no chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PaymentRequirements, SchemeNetworkClient } from '@x402/core/types'
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { BOUNDS } from '../protocols/harness.ts'
import { evm, PAYEE, PAYER, upto } from '../protocols/x402-clean-parts.ts'

const STRANGER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const payer = privateKeyToAccount(generatePrivateKey())
const now_s = Math.floor(systemClock.now_ms() / 1_000)

const permit2 = { ...evm.extra, assetTransferMethod: 'permit2' }
const capture = {
  ...evm.extra,
  captureAuthorizer: PAYER,
  captureDeadline: now_s + 86_400,
  refundDeadline: now_s + 172_800,
  feeRecipient: PAYER,
  minFeeBps: 0,
  maxFeeBps: 0,
}

const channel = { ...evm.extra, receiverAuthorizer: PAYER, withdrawDelay: 900, minDeposit: '100000' }

interface Way {
  client: SchemeNetworkClient
  terms: object
  /** Whether the payment itself names who gets the money. */
  names_payee: boolean
}

const WAYS: Readonly<Record<string, Way>> = {
  'exact by EIP-3009': { client: new ExactEvmScheme(payer), terms: evm, names_payee: true },
  'exact by Permit2': { client: new ExactEvmScheme(payer), terms: { ...evm, extra: permit2 }, names_payee: true },
  'upto by Permit2': { client: new UptoEvmScheme(payer), terms: upto, names_payee: true },
  'batch-settlement by EIP-3009': {
    client: new BatchSettlementEvmScheme(payer),
    terms: { ...evm, scheme: 'batch-settlement', extra: channel },
    names_payee: true,
  },
  'batch-settlement by Permit2': {
    client: new BatchSettlementEvmScheme(payer),
    terms: { ...evm, scheme: 'batch-settlement', extra: { ...channel, assetTransferMethod: 'permit2' } },
    names_payee: true,
  },
  'auth-capture by EIP-3009': {
    client: new AuthCaptureEvmScheme(payer),
    terms: { ...evm, scheme: 'auth-capture', extra: capture },
    names_payee: false,
  },
  'auth-capture by Permit2': {
    client: new AuthCaptureEvmScheme(payer),
    terms: { ...evm, scheme: 'auth-capture', extra: { ...capture, assetTransferMethod: 'permit2' } },
    names_payee: false,
  },
}

/** A payment that is signed for one payee, and says that it accepted terms which name the expected one. */
async function report({ client, terms }: Way, payTo: string) {
  const { payload } = await client.createPaymentPayload(2, { ...terms, payTo } as PaymentRequirements)
  const result = checkDocument(
    'x402',
    { x402Version: 2, accepted: terms, payload },
    {
      expected_payee: PAYEE,
      now_s,
      literals: NO_LITERALS,
      bounds: BOUNDS,
    },
  )
  assert.ok(result.kind === 'report')
  return result.report
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`a payment of ${name} passes when it pays the expected payee`, async () => {
    const { status, errors, warnings, not_checked } = await report(way, PAYEE)
    assert.deepEqual([status, errors, warnings], ['pass', [], []])
    assert.equal(not_checked.includes('what the signed transaction pays'), !way.names_payee)
  })
  if (!way.names_payee) continue
  test(`a payment of ${name} fails when it pays somebody else`, async () => {
    const { errors } = await report(way, STRANGER)
    assert.deepEqual(
      errors.map(({ code }) => code),
      ['X402-035', 'X402-042'],
    )
  })
}
