import { secp256k1 } from '@noble/curves/secp256k1.js'
import { cartHash, invoiceNonces, listTypedData, merchantTypedData, statementTypedData } from '../invoices/terms.ts'
import type { BankTerms } from '../invoices/links.ts'
import { releaseText } from '../credits/credits.ts'
import { personalMessageDigest } from '../payments/sign-in.ts'
import { type TypedData, typedDataDigest } from '../payments/typed-data.ts'
import { usdcOn } from '../payments/usdc.ts'
import { edgeText } from '../rulebooks/aci1.ts'
import { transferTypedData } from './transfer.ts'
import { addressOfPublicKey, nobleCrypto, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { TEST_VECTOR } from '../receipts/receipt.ts'
import { ASSURED, termsTypedData } from '../rulebooks/assured.ts'
import { disputeTypedData, transportText } from '../rulebooks/dip1.ts'
import { digestText } from '../rulebooks/pod1.ts'
import { countersignTypedData, type PolicyBody } from '../rulebooks/pol1.ts'
import { entryTypedData } from '../rulebooks/pol1-registry.ts'
import { subscriptionTypedData } from '../webhooks/subscription.ts'
import { SIGNING_KINDS, type Signable, signRequest, type SigningKind } from './sign-request.ts'

/** Private key of the test vectors. It is public: never fund its address. */
const VECTOR_KEY = Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 1 : 0))
const VECTOR_SIGNER = addressOfPublicKey(secp256k1.getPublicKey(VECTOR_KEY, false), nobleCrypto.keccak256)

const CHAIN_ID = 84_532
const INVOICE_ID = 'inv_000000000000'
const SHOP = { order_number: null, return_url: null, bank: null }
const BANK: BankTerms = {
  name: 'Example GmbH',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  currency: 'EUR',
  amount: '45.00',
  reference: 'RF18539007547034',
}
const HASH = `0x${'5'.repeat(64)}`

/** Digest that the signature covers. Throws a RangeError for typed data that does not fit its types. */
export function signableDigest(signable: Signable, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  switch (signable.method) {
    case 'eth_signTypedData_v4':
      return typedDataDigest(signable.typed_data, crypto)
    case 'personal_sign':
      return personalMessageDigest(signable.message, crypto)
    case 'sign_digest':
      return crypto.keccak256(signable.message)
  }
}

/** Signs with a private key: r, s and v in 65 bytes, s in the lower half (RFC 6979). */
function signWithKey(signable: Signable, private_key: Uint8Array): { signer: string; digest: string; signature: string } {
  const digest = signableDigest(signable)
  const bytes = secp256k1.sign(digest, private_key, { prehash: false, lowS: true, format: 'recovered' })
  const signature = toHex(bytes.subarray(1)) + (bytes[0] === 0 ? '1b' : '1c')
  const signer = addressOfPublicKey(secp256k1.getPublicKey(private_key, false), nobleCrypto.keccak256)
  return { signer, digest: toHex(digest), signature }
}

const typed = (typed_data: TypedData): Signable => ({ method: 'eth_signTypedData_v4', typed_data })
const raw = (message: string): Signable => ({ method: 'sign_digest', message })

/** An invoice of Base Sepolia, whose merchant is the signer of the vectors. */
function exampleInvoice(invoice_id: string, bank: BankTerms | null = null) {
  const token = usdcOn(CHAIN_ID).address.toLowerCase()
  const cart = {
    merchant: VECTOR_SIGNER,
    amount_minor: '49000000',
    memo: 'May',
    client_name: 'Example Ltd',
    ...SHOP,
    bank,
    chain_id: CHAIN_ID,
    token,
  }
  return { invoice_id, ...cart, cart_hash: cartHash(cart) }
}

const POLICY: PolicyBody = {
  v: 'POL-1',
  policy_id: `pol_${'1'.repeat(32)}`,
  underwriter_id: `uw_${VECTOR_SIGNER.slice(2)}`,
  underwriter_address: VECTOR_SIGNER,
  underwriter_entry_hash: HASH,
  coverage_type: 'commercial_trade_credit',
  policyholder: null,
  beneficiary: null,
  subject: { tx_hash: null, transaction_id: null, invoice_id: INVOICE_ID },
  coverage_minor: '20000000000',
  premium_minor: '300000000',
  currency: 'USDC',
  terms_uri: 'https://underwriter.example/terms',
  terms_hash: HASH,
  trigger: 'Example.',
  effective_from: 1_795_219_200,
  effective_to: 1_797_811_200,
  issued_at: 1_795_219_200,
  jurisdiction: 'DE',
  licence_reference: '',
  disclaimer: 'Example.',
  registrar: VECTOR_SIGNER,
  origin: 'https://assay.example',
  chain_id: CHAIN_ID,
}

const EXAMPLES: Record<SigningKind, () => Signable> = {
  'invoice-create': () => typed(merchantTypedData('create', exampleInvoice('order-4711'))),
  'invoice-issue': () => typed(merchantTypedData('issue', exampleInvoice(INVOICE_ID))),
  'invoice-create-bank': () => typed(merchantTypedData('create', exampleInvoice('order-4711', BANK))),
  'invoice-issue-bank': () => typed(merchantTypedData('issue', exampleInvoice(INVOICE_ID, BANK))),
  'invoice-statement': () =>
    typed(
      statementTypedData({ service: 'https://assay.example', merchant: VECTOR_SIGNER, document_sha256: HASH, issued_at: 1_795_300_000 }),
    ),
  'invoice-void': () => typed(merchantTypedData('void', exampleInvoice(INVOICE_ID))),
  'invoice-list': () => typed(listTypedData({ service: 'https://assay.example', merchant: VECTOR_SIGNER, issued_at: 1_795_300_000 })),
  'invoice-payment': () => {
    const invoice = { ...exampleInvoice(INVOICE_ID), merchant: `0x${'1'.repeat(40)}`, salt: HASH }
    const [nonce = HASH] = invoiceNonces(invoice)
    const transfer = { from: VECTOR_SIGNER, to: invoice.merchant, value_minor: 49_000_000n, valid_before_s: 1_795_219_500n, nonce }
    return typed(transferTypedData(CHAIN_ID, transfer))
  },
  'pilot-credit': () => ({ method: 'personal_sign', message: releaseText(INVOICE_ID, CHAIN_ID) }),
  'pol-1-entry': () =>
    typed(
      entryTypedData({
        underwriter: VECTOR_SIGNER,
        name: 'Example Re',
        origin: 'https://assay.example',
        coverage_type: 'commercial_trade_credit',
        min_coverage_minor: '1000000',
        max_coverage_minor: '50000000000',
        rate_bps: 150,
        min_premium_minor: '5000000',
        term_days: 30,
        jurisdictions: ['DE', 'AT'],
        licence_reference: '',
        terms_uri: 'https://underwriter.example/terms',
        terms_hash: HASH,
        issued_at: 1_795_219_200,
        valid_until: 1_826_755_200,
      }),
    ),
  'pol-1-countersignature': () => typed(countersignTypedData(POLICY, nobleCrypto)),
  'webhook-subscription': () =>
    typed(
      subscriptionTypedData({
        service: 'https://assay.example',
        account: VECTOR_SIGNER,
        url: 'https://example.com/hooks',
        events: ['invoice.paid'],
        issued_at: 1_795_300_000,
      }),
    ),
  'dip-1-dispute': () =>
    typed(disputeTypedData({ dispute_id: 'D-2026-0001', receipt_hash: TEST_VECTOR.digest, claim: 'NOT_DELIVERED', body_hash: HASH })),
  'dip-1-transport': () => raw(transportText(TEST_VECTOR.digest, HASH)),
  'assured-terms': () =>
    typed(
      termsTypedData(TEST_VECTOR.digest, {
        notional_minor: '50000000000',
        rail: 'crypto',
        counterparty_tier: 'T2',
        annual_volume_minor: '0',
        pod_asked: false,
        premium_minor: '100000000',
        policy_hash: ASSURED.policy_hash,
      }),
    ),
  'pod-1-role': () => {
    const device_pubkey = toHex(secp256k1.getPublicKey(VECTOR_KEY, true))
    const geo = { lat_e7: 525_200_000, lon_e7: 134_050_000, accuracy_m: 8.5 }
    const attestation = { mandate_id: 'M-2026-77', device_id: 'scanner-9', device_pubkey, scheme: 1, geo, ts: 1_790_001_800, counter: 42 }
    return raw(digestText('device', attestation) ?? '')
  },
  'aci-1-edge': () =>
    raw(
      edgeText({
        sponsor: VECTOR_SIGNER,
        subject: 'c402:example',
        scope: 'any',
        issued_at: 1_795_219_200,
        expires_at: 1_826_755_200,
      }),
    ),
}

/** Form of the signed texts, with the names of their values in angle brackets. */
const TEXT_FORMS: Partial<Record<SigningKind, string>> = {
  'pilot-credit': 'Release the calls of invoice <invoice_id> on chain <chain_id> as an assay credit code.',
  'dip-1-transport': 'DIP-1-TRANSPORT|<receipt digest>|<output hash>',
  'pod-1-role': 'POD-1|<role>|<mandate_id>|<device_id>|<device_pubkey>|<scheme>|<lat_e7>|<lon_e7>|<accuracy_m>|<ts>|<counter>',
  'aci-1-edge': 'ACI-1-EDGE|<sponsor>|<subject>|<scope>|<issued_at>|<expires_at>',
}

/** Marks of a kind that no other kind has: types and domain of its typed data, or the fixed start of its text. */
export function signableForm(kind: SigningKind) {
  const signable = EXAMPLES[kind]()
  if (signable.method !== 'eth_signTypedData_v4')
    return { method: signable.method, prefix: (TEXT_FORMS[kind] ?? '').split('<', 1)[0] ?? '' }
  const { types, primaryType, domain } = signable.typed_data
  return { method: signable.method, types, primaryType, domain }
}

const FIELD_SCHEMAS: Readonly<Record<string, object>> = {
  address: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  bytes32: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  uint256: { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,77})$' },
  uint64: { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,19})$' },
  string: { type: 'string' },
  bool: { type: 'boolean' },
  'string[]': { type: 'array', items: { type: 'string' } },
}

/** JSON Schema (2020-12) of the part of `sign` that is signed. Chain and contract of a domain depend on the deployment. */
function signableSchema(kind: SigningKind, signable: Signable): Record<string, unknown> {
  const method = { const: signable.method }
  if (signable.method !== 'eth_signTypedData_v4') {
    const message = { type: 'string', description: `Text of the form: ${TEXT_FORMS[kind] ?? ''}` }
    return closed({ method, message })
  }
  const { domain, types, primaryType } = signable.typed_data
  const fields = types[primaryType] ?? []
  const fixed = { name: { const: domain.name }, version: { const: domain.version } }
  const named =
    domain.chainId === undefined ? fixed : { ...fixed, chainId: { type: 'integer' }, verifyingContract: FIELD_SCHEMAS['address'] }
  const message = closed(Object.fromEntries(fields.map(({ name, type }) => [name, FIELD_SCHEMAS[type] ?? {}])))
  const typed_data = closed({ domain: closed(named), types: { const: types }, primaryType: { const: primaryType }, message })
  return closed({ method, typed_data })
}

function closed(properties: Record<string, unknown>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** Document of a kind: how it is signed, its schema, an example and a test vector. */
export function signingKindDocument(kind: SigningKind, origin: string) {
  const { title, signer, contract_wallets, page } = SIGNING_KINDS[kind]
  const signable = EXAMPLES[kind]()
  const { signer: address, ...vector } = signWithKey(signable, VECTOR_KEY)
  return {
    kind,
    title,
    signer,
    contract_wallets,
    page: origin + page,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...signableSchema(kind, signable) },
    example: signRequest({ kind, origin, signer: address, signable }),
    test_vector: {
      notice: 'The private key is public. Never send anything to its address.',
      private_key: toHex(VECTOR_KEY),
      signer: address,
      ...vector,
    },
  }
}

export function isSigningKind(kind: string): kind is SigningKind {
  return Object.hasOwn(SIGNING_KINDS, kind)
}
