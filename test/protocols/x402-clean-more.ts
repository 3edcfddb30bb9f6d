import type { CleanDocument } from './harness.ts'
import { channelId, type Config } from '../support/channels.ts'
import { BASE_USDC, evm, PAYEE, PAYER, resource, svm, upto } from './x402-clean-parts.ts'

/** Right documents of x402 beyond the plainest: payments other than by EIP-3009, what follows them, and extensions that payers complete. */

const declared = (type: string, version: '1' | '2' = '2') => ({ type, version, version_source: 'declared' as const })
const settled = { type: 'settlement_response', version: '2', version_source: 'inferred' } as const

const SIGNATURE = `0x${'2d6a7588d6acca50'.repeat(8)}1c`
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const challenge = { x402Version: 2, resource }
const terms = { ...evm, extra: { ...evm.extra, assetTransferMethod: 'permit2' } }

/** The addresses of the proxies are those of the scheme documents: x402ExactPermit2Proxy and x402UptoPermit2Proxy. */
const permit = {
  permitted: { token: evm.asset, amount: '10000' },
  from: PAYER,
  spender: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  nonce: '33247007178036348590600198031289925668252061821958005840077069883511451257277',
  deadline: '1795262460',
  witness: { to: PAYEE, validAfter: '1795262000' },
}
const upto_permit = {
  ...permit,
  spender: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  // The example of scheme_upto_evm has a nonce in hexadecimal.
  nonce: '0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480',
  witness: { to: PAYEE, facilitator: PAYER, validAfter: '0' },
}
const upto_payment = { x402Version: 2, accepted: upto, payload: { signature: SIGNATURE, permit2Authorization: upto_permit } }

const text = (pattern: string) => ({ type: 'string', pattern })
const address = text('^0x[a-fA-F0-9]{40}$')
/** What eip2612GasSponsoring declares (@x402/extensions 2.27.0): all but version comes from the payer. */
const sponsoring = {
  info: { description: 'The facilitator accepts EIP-2612 gasless Permit to `Permit2` canonical contract.', version: '1' },
  schema: {
    type: 'object',
    properties: { from: address, asset: address, spender: address, amount: text('^[0-9]+$'), version: text('^[0-9]+(\\.[0-9]+)*$') },
    required: ['from', 'asset', 'spender', 'amount', 'nonce', 'deadline', 'signature', 'version'],
  },
}
const sponsored = {
  from: PAYER,
  asset: evm.asset,
  spender: PERMIT2,
  amount: (2n ** 256n - 1n).toString(),
  nonce: '0',
  deadline: '1795262460',
  signature: SIGNATURE,
  version: '1',
}
/** sign-in-with-x: whoever signs in adds address, chain and signature. */
const signing_in = {
  info: { domain: 'api.example.com', uri: resource.url, version: '1', nonce: 'a1b2c3d4e5f67890', issuedAt: '2026-11-21T12:00:00Z' },
  supportedChains: [{ chainId: 'eip155:8453', type: 'eip191' }],
  schema: {
    type: 'object',
    properties: { domain: { type: 'string' }, address: { type: 'string' }, signature: { type: 'string' } },
    required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
  },
}
const bazaar_tool = {
  info: { input: { type: 'mcp', toolName: 'weather', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } } },
  schema: { type: 'object', properties: { input: { required: ['type', 'toolName', 'inputSchema'] } }, required: ['input'] },
}

const entry_v1 = {
  ...evm,
  network: 'base',
  maxAmountRequired: '10000',
  resource: resource.url,
  description: 'Report',
  mimeType: 'text/plain',
}
const { amount: _amount, ...requirements_v1 } = entry_v1
const authorization = {
  from: PAYER,
  to: PAYEE,
  value: '10000',
  validAfter: '1795262000',
  validBefore: '1795262460',
  nonce: `0x${'f3746613c2d920b5'.repeat(4)}`,
}

const batch = {
  ...evm,
  scheme: 'batch-settlement',
  maxTimeoutSeconds: 3_600,
  extra: { ...evm.extra, receiverAuthorizer: PAYEE, withdrawDelay: 900 },
}
const channel: Config = {
  payer: PAYER,
  payerAuthorizer: '0x0000000000000000000000000000000000000000',
  receiver: PAYEE,
  receiverAuthorizer: PAYEE,
  token: BASE_USDC,
  withdrawDelay: 900,
  salt: `0x${'00'.repeat(32)}`,
}
const signed_voucher = { channelId: channelId(channel, 8_453), maxClaimableAmount: '15000', signature: SIGNATURE }
/** Payloads of the client of @x402/evm 2.27.0 with EIP-3009 and with Permit2. */
const transfer = { validAfter: '1795262000', validBefore: '1795262460', salt: `0x${'5a'.repeat(32)}`, signature: SIGNATURE }
const channel_permit = {
  from: PAYER,
  permitted: { token: evm.asset, amount: '100000' },
  spender: '0x4020425FAf3B746C082C2f942b4E5159887B0005',
  nonce: '33247007178036348590600198031289925668252061821958005840077069883511451257277',
  deadline: '1795262460',
  witness: { channelId: signed_voucher.channelId },
  signature: SIGNATURE,
}
const channelPayment = (body: object) => ({
  document: {
    x402Version: 2,
    accepted: { ...batch, extra: { ...batch.extra, minDeposit: '100000' } },
    payload: { ...body, channelConfig: channel, voucher: signed_voucher },
  },
  ...declared('payment_payload'),
})
const corrected = {
  ...batch,
  extra: {
    ...batch.extra,
    minDeposit: '100000',
    channelState: {
      channelId: signed_voucher.channelId,
      balance: '100000',
      totalClaimed: '5000',
      withdrawRequestedAt: 0,
      refundNonce: '0',
      chargedCumulativeAmount: '15000',
    },
    voucherState: { signedMaxClaimable: '15000', signature: SIGNATURE },
  },
}

const { scheme, network, asset, payTo, amount } = evm
const offer = {
  format: 'eip712',
  acceptIndex: 0,
  payload: { version: 1, resourceUrl: resource.url, scheme, network, asset, payTo, amount, validUntil: 1_795_262_500 },
  signature: SIGNATURE,
}
/** Header and payload are those of RFC 7515, appendix A.3. */
const compact_jws = 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UifQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmX'
const receipt = {
  format: 'eip712',
  payload: { version: 1, network, resourceUrl: resource.url, payer: PAYER, issuedAt: 1_795_262_400, transaction: '' },
  signature: SIGNATURE,
}

export const X402_CLEAN_MORE: Readonly<Record<string, CleanDocument>> = {
  payment_permit2: {
    document: { x402Version: 2, accepted: terms, payload: { signature: SIGNATURE, permit2Authorization: permit } },
    ...declared('payment_payload'),
    expected_payee: PAYEE,
  },
  payment_upto: { document: upto_payment, ...declared('payment_payload'), expected_payee: PAYEE },
  payment_erc7710: {
    document: {
      x402Version: 2,
      accepted: { ...evm, extra: { ...evm.extra, assetTransferMethod: 'erc7710' } },
      payload: { delegationManager: PERMIT2, permissionContext: '0x00', delegator: PAYER },
    },
    ...declared('payment_payload'),
    expected_payee: PAYEE,
  },
  /** The settle request of scheme_upto_evm: less than was accepted is settled. */
  settle_request_upto: {
    document: { x402Version: 2, paymentPayload: upto_payment, paymentRequirements: { ...upto, amount: '1858' } },
    ...declared('verify_request'),
  },
  verify_request_v1: {
    document: {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base', payload: { signature: SIGNATURE, authorization } },
      paymentRequirements: requirements_v1,
    },
    ...declared('verify_request', '1'),
    warnings: ['X402-001'],
  },
  /** The merchant may pay the fee (scheme_exact_svm, PaymentRequirements). */
  challenge_svm: {
    document: { ...challenge, accepts: [{ ...svm, extra: { feePayer: svm.payTo } }] },
    ...declared('payment_required'),
  },
  nothing_used: { document: { success: true, transaction: '', network: 'eip155:8453', payer: PAYER, amount: '0' }, ...settled },
  voucher: {
    document: { success: true, transaction: '', network: 'eip155:8453', payer: PAYER, amount: '', extra: { chargedAmount: '700' } },
    ...settled,
    needed: ['/amount'],
  },
  settlement_with_receipt: {
    document: {
      success: true,
      transaction: `0x${'89ab'.repeat(16)}`,
      network: 'eip155:8453',
      extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', signature: compact_jws } } } },
    },
    ...settled,
  },
  declares_for_payers: {
    document: { ...challenge, accepts: [terms], extensions: { eip2612GasSponsoring: sponsoring, 'sign-in-with-x': signing_in } },
    ...declared('payment_required'),
  },
  payment_with_info_alone: {
    document: {
      x402Version: 2,
      accepted: terms,
      payload: { signature: SIGNATURE, permit2Authorization: permit },
      extensions: { eip2612GasSponsoring: { info: sponsored } },
    },
    ...declared('payment_payload'),
  },
  /** Official clients send the declarations back unchanged where they add nothing. */
  payment_with_declarations: {
    document: {
      x402Version: 2,
      accepted: evm,
      payload: { signature: SIGNATURE, authorization },
      extensions: { 'sign-in-with-x': signing_in, bazaar: bazaar_tool },
    },
    ...declared('payment_payload'),
  },
  tool: { document: { ...challenge, accepts: [evm], extensions: { bazaar: bazaar_tool } }, ...declared('payment_required') },
  /** GET /supported, as the specification of version 2 has it in 7.3. */
  supported: {
    document: {
      kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }],
      extensions: ['bazaar'],
      signers: { 'eip155:*': [PAYER] },
    },
    type: 'supported_response',
    version: '2',
    version_source: 'assumed',
  },
  /** The examples of both schemes, with addresses in place of names. */
  held: {
    document: {
      ...challenge,
      accepts: [
        batch,
        {
          ...evm,
          scheme: 'auth-capture',
          extra: {
            ...evm.extra,
            captureAuthorizer: PAYER,
            captureDeadline: 1_795_300_000,
            refundDeadline: 1_795_900_000,
            minFeeBps: 100,
            maxFeeBps: 100,
            feeRecipient: PAYER,
          },
        },
      ],
    },
    ...declared('payment_required'),
  },
  /** A voucher, as the scheme has it in Voucher Payload. */
  voucher_payment: {
    document: { x402Version: 2, accepted: batch, payload: { type: 'voucher', channelConfig: channel, voucher: signed_voucher } },
    ...declared('payment_payload'),
    expected_payee: PAYEE,
  },
  deposit_payment: channelPayment({ type: 'deposit', deposit: { amount: '100000', authorization: { erc3009Authorization: transfer } } }),
  permit_deposit: channelPayment({
    type: 'deposit',
    deposit: { amount: '100000', authorization: { permit2Authorization: channel_permit } },
  }),
  refund_payment: channelPayment({ type: 'refund', amount: '5000' }),
  corrected: { document: { ...challenge, accepts: [corrected] }, ...declared('payment_required') },
  offered: {
    document: {
      ...challenge,
      accepts: [evm],
      extensions: {
        'offer-receipt': {
          info: { offers: [offer, { format: 'jws', signature: compact_jws }] },
          schema: { type: 'object', properties: { offers: { type: 'array' } }, required: ['offers'] },
        },
        'sign-in-with-x': {
          ...signing_in,
          info: { ...signing_in.info, expirationTime: '2026-11-21T12:05:00Z', resources: [resource.url] },
        },
        'payment-identifier': { info: { required: true }, schema: { type: 'object' } },
      },
    },
    ...declared('payment_required'),
  },
  settlement_with_signed_receipt: {
    document: { success: true, transaction: '', network, amount: '', extensions: { 'offer-receipt': { info: { receipt } } } },
    ...settled,
    needed: ['/amount'],
  },
  payment_with_id: {
    document: {
      x402Version: 2,
      accepted: evm,
      payload: { signature: SIGNATURE, authorization },
      extensions: { 'payment-identifier': { info: { required: true, id: 'pay_0123456789abcdef' } } },
    },
    ...declared('payment_payload'),
  },
  message_that_asks: {
    document: {
      kind: 'message',
      messageId: 'm_1',
      role: 'agent',
      parts: [],
      metadata: {
        'x402.payment.status': 'payment-required',
        'x402.payment.required': { x402Version: 2, error: 'Payment required', resource, accepts: [evm] },
      },
    },
    ...declared('a2a_message'),
    expected_payee: evm.payTo,
  },
  list_of_urls: { document: { x402Version: 2, resources: [resource.url] }, ...declared('resource_list') },
}
