import type { TypedData } from '../payments/typed-data.ts'

/** Text or typed data that a person or a device signs, and the method of its wallet. */
export type Signable =
  /** EIP-712. */
  | { method: 'eth_signTypedData_v4'; typed_data: TypedData }
  /** EIP-191, version 0x45: the wallet adds the prefix. */
  | { method: 'personal_sign'; message: string }
  /** A key signs the digest itself, which is the keccak-256 of the UTF-8 text, without a prefix. Wallets cannot do this; devices and servers do. */
  | { method: 'sign_digest'; message: string }

/** Request that takes a signature. */
interface Submission {
  method: 'POST'
  url: string
  headers?: Record<string, string>
  /** `{signature}` is the place of the signature. */
  body: unknown
  /** merge_patch: the body is the request that was answered, changed by this JSON Merge Patch (RFC 7396). */
  body_is: 'complete' | 'merge_patch'
}

/** Member `sign` of answers and problems that ask for a signature, but for the 402 of a tool call, which has the terms of x402. */
export type SignRequest = Signable & {
  kind: SigningKind
  /** Account that must sign; null if the request does not determine it. */
  signer: string | null
  submit: Submission
  /** JSON pointers of values in braces that the signer fills in before signing. */
  fill_in?: readonly string[]
  /** Schema, example and test vector of this kind. */
  documentation: string
}

interface SigningKindRow {
  title: string
  /** Party that signs. */
  signer: string
  /** Contract wallets may sign; they are asked on the chain (ERC-1271). */
  contract_wallets: boolean
  path: string
  headers?: Record<string, string>
  body: unknown
  body_is: Submission['body_is']
  /** Page that explains the act. */
  page: string
}

const SIGNATURE = '{signature}'
const INVOICES = '/docs/invoices'
const MERCHANT = { signer: 'merchant of the invoice', contract_wallets: true, page: INVOICES } as const

/** Everything that anyone signs for this service, by kind. Values in braces are filled in. */
export const SIGNING_KINDS = {
  'invoice-create': {
    ...MERCHANT,
    title: 'Create an invoice that its merchant has signed from the start.',
    path: '/api/invoice/create',
    headers: { 'Idempotency-Key': '{request}' },
    body: { signature: SIGNATURE },
    body_is: 'merge_patch',
  },
  'invoice-issue': {
    ...MERCHANT,
    title: 'Sign an invoice as its merchant.',
    path: '/api/invoice/{id}/sign',
    body: { signature: SIGNATURE },
    body_is: 'complete',
  },
  'invoice-create-bank': {
    ...MERCHANT,
    title: 'Create an invoice with bank details that its merchant has signed from the start.',
    path: '/api/invoice/create',
    headers: { 'Idempotency-Key': '{request}' },
    body: { signature: SIGNATURE },
    body_is: 'merge_patch',
  },
  'invoice-issue-bank': {
    ...MERCHANT,
    title: 'Sign an invoice with bank details as its merchant.',
    path: '/api/invoice/{id}/sign',
    body: { signature: SIGNATURE },
    body_is: 'complete',
  },
  'invoice-statement': {
    ...MERCHANT,
    title: 'Confirm bank transfers of invoices with a bank statement, as their merchant.',
    signer: 'merchant of the invoices',
    path: '/api/invoice/statement',
    body: { issued_at: '{issued_at}', signature: SIGNATURE },
    body_is: 'merge_patch',
  },
  'invoice-void': {
    ...MERCHANT,
    title: 'Void an invoice as its merchant.',
    path: '/api/invoice/{id}/void',
    body: { signature: SIGNATURE },
    body_is: 'complete',
  },
  'invoice-list': {
    ...MERCHANT,
    title: 'List the invoices of a merchant, as that merchant.',
    signer: 'merchant whose invoices are listed',
    path: '/api/invoice/list',
    body: { issued_at: '{issued_at}', signature: SIGNATURE },
    body_is: 'merge_patch',
  },
  'invoice-payment': {
    title: 'Pay an invoice: a transfer of USDC (EIP-3009) that this service sends to the chain.',
    signer: 'payer',
    contract_wallets: true,
    path: '/api/invoice/{id}/pay',
    body: {
      authorization: {
        from: '{from}',
        to: '{to}',
        value: '{value}',
        validAfter: '{validAfter}',
        validBefore: '{validBefore}',
        nonce: '{nonce}',
      },
      signature: SIGNATURE,
    },
    body_is: 'complete',
    page: INVOICES,
  },
  'webhook-subscription': {
    title: 'Subscribe a webhook to all events of an account.',
    signer: 'account whose events are delivered',
    contract_wallets: true,
    path: '/v1/webhooks',
    body: { issued_at: '{issued_at}', signature: SIGNATURE },
    body_is: 'merge_patch',
    page: '/docs/webhooks',
  },
  'pilot-credit': {
    title: 'Redeem the calls of a settled pilot invoice as a credit code.',
    signer: 'account that paid the invoice',
    contract_wallets: true,
    path: '/api/invoice/{id}/credit',
    body: { signature: SIGNATURE },
    body_is: 'complete',
    page: '/docs/reference/release-invoice-credit',
  },
  'pol-1-entry': {
    title: 'Register a rate card in the directory of underwriters.',
    signer: 'underwriter',
    contract_wallets: true,
    path: '/api/insurance/register',
    body: { signature: SIGNATURE },
    body_is: 'merge_patch',
    page: '/docs/pol-1',
  },
  'pol-1-countersignature': {
    title: 'Countersign a policy as its underwriter, which binds it.',
    signer: 'underwriter of the policy',
    contract_wallets: true,
    path: '/api/insurance/countersign',
    body: { policy_id: '{policy_id}', signature: SIGNATURE },
    body_is: 'complete',
    page: '/docs/pol-1',
  },
  'dip-1-dispute': {
    title: 'Make a dispute your own, as the payer of the receipt.',
    signer: 'payer of the receipt',
    contract_wallets: false,
    path: '/v1/tools/dip-file-dispute/call',
    body: { input: { claimant_signature: SIGNATURE } },
    body_is: 'merge_patch',
    page: '/docs/dip-1',
  },
  'dip-1-transport': {
    title: 'State which output was delivered, as the issuer of a receipt.',
    signer: 'receipt key of the issuer',
    contract_wallets: false,
    path: '/v1/tools/dip-file-dispute/call',
    body: { input: { transport_signature: SIGNATURE } },
    body_is: 'merge_patch',
    page: '/docs/dip-1',
  },
  'assured-terms': {
    title: 'Bind assured-settlement terms, as payer or recipient of the receipt.',
    signer: 'payer or recipient of the receipt',
    contract_wallets: false,
    path: '/v1/tools/assured-create/call',
    body: { input: { terms_signature: SIGNATURE } },
    body_is: 'merge_patch',
    page: '/docs/reference/assured-create',
  },
  'pod-1-role': {
    title: 'Sign a proof of delivery in one role, as a device or a person.',
    signer: 'key of the role',
    contract_wallets: false,
    path: '/v1/tools/pod-verify-delivery/call',
    body: { input: { attestation: { signatures: { '{role}': SIGNATURE } } } },
    body_is: 'merge_patch',
    page: '/docs/pod-1',
  },
  'aci-1-edge': {
    title: 'Vouch for a counterparty, as a sponsor.',
    signer: 'sponsor',
    contract_wallets: false,
    path: '/v1/tools/aci-trust-lookup/call',
    body: {
      input: {
        sponsor_attestations: [
          {
            sponsor: '{sponsor}',
            subject: '{subject}',
            scope: '{scope}',
            issued_at: '{issued_at}',
            expires_at: '{expires_at}',
            signature: SIGNATURE,
          },
        ],
      },
    },
    body_is: 'merge_patch',
    page: '/docs/reference/aci-trust-lookup',
  },
} as const satisfies Record<string, SigningKindRow>

export type SigningKind = keyof typeof SIGNING_KINDS

interface SignRequestParts {
  kind: SigningKind
  /** Public origin of the service, without a final slash. */
  origin: string
  signer: string | null
  signable: Signable
  /** Values for the names in braces of path, headers and body. */
  values?: Readonly<Record<string, string>>
  fill_in?: readonly string[]
}

export function signRequest({ kind, origin, signer, signable, values = {}, fill_in }: SignRequestParts): SignRequest {
  const { path, body, body_is, headers }: SigningKindRow = SIGNING_KINDS[kind]
  const put = <Value>(value: Value): Value => fillIn(value, values) as Value
  return {
    kind,
    signer,
    ...signable,
    submit: {
      method: 'POST',
      url: origin + put(path),
      ...(headers === undefined ? {} : { headers: put(headers) }),
      body: put(body),
      body_is,
    },
    ...(fill_in === undefined ? {} : { fill_in }),
    documentation: `${origin}/v1/signing/${kind}`,
  }
}

/** Replaces `{name}` in every text and key of a JSON value; names without a value stay. */
function fillIn(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replace(/\{(\w+)\}/g, (braced, name: string) => values[name] ?? braced)
  if (Array.isArray(value)) return value.map((one) => fillIn(one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [fillIn(name, values), fillIn(one, values)]))
}
