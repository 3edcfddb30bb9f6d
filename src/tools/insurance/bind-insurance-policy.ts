import { z } from 'zod'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { unpayableAddress } from '../../pure/contracts/unpayable.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import {
  quoteRefusal,
  underwriterAddress,
  type QuoteRefusal,
  POL,
  countersignRequest,
  coverageMinor,
  standing,
  storedEntry,
  type SignedEntry,
  underwriterId,
  premiumOf,
} from '../../pure/rulebooks/pol1-registry.ts'
import { COVERAGE_TYPES, policyDigest, type PolicyBody, type Policy } from '../../pure/rulebooks/pol1.ts'
import { toHex, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, COVER, oneCoverAmount, SIGN, SOME_COVER_AMOUNT, RULE_BOOK } from '../../service/catalogue/schemas.ts'

const POL_DISCLAIMER =
  'This service is not an insurer, underwrites nothing, holds no money and has not vetted the underwriter. It attests that this record was made ' +
  'from the underwriter’s signed entry. Only the countersignature of the underwriter binds it.'

const DAY_S = 86_400

/** Insured subject and parties; all supplied by the caller and not verified. */
interface PolicyAsked {
  coverage_minor: bigint
  policyholder: string | null
  beneficiary: string | null
  subject: PolicyBody['subject']
}

interface PolicyMaker {
  registrar: { readonly origin: string; readonly chain_id: number; readonly address: string; sign(digest: Uint8Array): string }
  crypto: ReceiptCrypto
  /** Unguessable, and the same for the same words. */
  hmac(tag: string, text: string): string
  now_s: number
}

/** The name of a policy: the same entry and the same wishes give the same one, so that asking twice binds once. */
function policyId(
  entry_hash: string,
  { coverage_minor, policyholder, beneficiary, subject }: PolicyAsked,
  hmac: PolicyMaker['hmac'],
): string {
  const words = [entry_hash, coverage_minor, policyholder, beneficiary, subject.tx_hash, subject.transaction_id, subject.invoice_id]
  return `pol_${hmac('POL-1', JSON.stringify(words.map((word) => (word === null ? null : String(word))))).slice(0, 32)}`
}

/** A certificate with the registrar's signature, pending until the underwriter countersigns. */
export function issuePolicy(entry: SignedEntry, entry_hash: string, asked: PolicyAsked, maker: PolicyMaker): Policy {
  const { registrar, crypto, now_s } = maker
  const body: PolicyBody = {
    v: 'POL-1',
    policy_id: policyId(entry_hash, asked, maker.hmac),
    underwriter_id: underwriterId(entry.underwriter),
    underwriter_address: entry.underwriter,
    underwriter_entry_hash: entry_hash,
    coverage_type: entry.coverage_type,
    policyholder: asked.policyholder,
    beneficiary: asked.beneficiary,
    subject: asked.subject,
    coverage_minor: String(asked.coverage_minor),
    premium_minor: String(premiumOf(entry, asked.coverage_minor)),
    currency: POL.table.currency,
    terms_uri: entry.terms_uri,
    terms_hash: entry.terms_hash,
    trigger: 'As the terms of the underwriter with this hash say; the underwriter alone decides and pays.',
    effective_from: now_s,
    effective_to: now_s + entry.term_days * DAY_S,
    issued_at: now_s,
    jurisdiction: entry.jurisdictions.join(','),
    licence_reference: entry.licence_reference,
    disclaimer: POL_DISCLAIMER,
    registrar: registrar.address,
    origin: registrar.origin,
    chain_id: registrar.chain_id,
  }
  const registrar_signature = registrar.sign(policyDigest(body, crypto))
  return { ...body, status: 'PENDING_UNDERWRITER', registrar_signature, underwriter_signature: null }
}

const INPUT = z
  .strictObject({
    underwriter_id: z.string().min(1).max(64).describe('From list-approved-insurers, or the address of the underwriter.'),
    ...COVER.shape,
    policyholder_address: ADDRESS.optional().describe('Who takes the cover. A broken checksum (EIP-55) is refused.'),
    beneficiary_address: ADDRESS.optional().describe('Who is paid, the policyholder when absent. A broken checksum (EIP-55) is refused.'),
    coverage_type: z.enum(COVERAGE_TYPES).optional().describe('Kind of cover; that of the rate card when absent.'),
  })
  .check(oneCoverAmount)
  .meta(SOME_COVER_AMOUNT)

const REFUSALS = {
  unknown_underwriter: 'No underwriter of this id is in the directory.',
  not_proven: 'The domain of the terms of this underwriter has not named its key, so its rate card is not quoted.',
  entry_expired: 'The entry of this underwriter has expired.',
  coverage_type_not_offered: 'The rate card of this underwriter is for another kind of cover.',
  below_minimum: 'The sum is below the least that the rate card takes.',
  above_maximum: 'The sum is above the most that the rate card takes.',
  policyholder_checksum:
    'The checksum of policyholder_address (EIP-55) is broken, so a digit or a capital letter is wrong: copy the address again.',
  beneficiary_checksum:
    'The checksum of beneficiary_address (EIP-55) is broken, so a digit or a capital letter is wrong: copy the address again.',
  policyholder_unpayable: 'policyholder_address is not an account or a wallet, so money paid to it would be lost.',
  beneficiary_unpayable: 'beneficiary_address is not an account or a wallet, so money paid to it would be lost.',
} as const satisfies Record<QuoteRefusal | Mistyped | 'unknown_underwriter' | 'not_proven', string>

type Mistyped = 'policyholder_checksum' | 'beneficiary_checksum' | 'policyholder_unpayable' | 'beneficiary_unpayable'

type BindRefusal = keyof typeof REFUSALS
const CODES = Object.keys(REFUSALS) as [BindRefusal, ...BindRefusal[]]

/** A certificate on an underwriter's signed rate card; only the underwriter's countersignature binds it. */
export default defineTool({
  id: 'bind-insurance-policy',
  title: 'Bind a policy of an underwriter',
  description:
    'Makes out a POL-1 certificate on the signed rate card of a proven underwriter and signs it as registrar. It is PENDING_UNDERWRITER, ' +
    'and no cover, until the underwriter countersigns at /api/insurance/countersign. The same request again returns the same ' +
    'certificate. Verifiable offline. The service underwrites nothing and takes no premium.',
  family: 'insurance',
  version: '1.2.0',
  price: 'check',
  annotations: { read_only: false, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['amount, kind and date against the signed rate card', 'the countersignature, once it is there'],
    not_checked: ['who the underwriter is', 'licences and solvency', 'transaction, invoice and addresses', 'that a premium was paid'],
  },
  headline: [
    { when: { status: 'PENDING_UNDERWRITER' }, tone: 'caution', word: 'PENDING UNDERWRITER' },
    { when: { status: 'BOUND' }, tone: 'good', word: 'BOUND' },
    { when: { status: 'REFUSED' }, tone: 'bad', word: 'REFUSED' },
  ],
  sources: ['clock', 'crypto', 'derive', 'registrar', 'insurance'],
  input: INPUT,
  output: z.strictObject({
    status: z.enum(['PENDING_UNDERWRITER', 'BOUND', 'REFUSED']).describe('BOUND only after the underwriter countersigned.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or why there is no certificate.'),
    reason: z.string().describe('One sentence.'),
    created: z.boolean().describe('False when this certificate was there before.'),
    certificate: z.record(z.string(), z.unknown()).nullable().describe('The whole POL-1 certificate; null when refused.'),
    policy_digest: z.string().nullable().describe('What the underwriter countersigns, as a hash.'),
    sign: SIGN.describe('Typed data of the countersignature, for the underwriter; null when bound or refused.'),
    countersign_at: z.string().nullable().describe('Where the underwriter sends policy_id and signature.'),
    certificate_url: z.string().nullable().describe('Where the certificate can be fetched again.'),
    warnings: z
      .array(z.strictObject({ code: z.string().describe('Kind.'), message: z.string().describe('One sentence.') }))
      .describe('What should be known all the same.'),
    disclaimer: z.string().describe('What the service is not.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: {
    underwriter_id: 'uw_1111111111111111111111111111111111111111',
    amount_usdc: '25000',
    invoice_id: 'INV-2026-118',
    policyholder_address: '0x2222222222222222222222222222222222222222',
  },
  async run(asked, { clock, crypto, derive, registrar, insurance }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    const mistyped = mistypedOf(asked)
    if (mistyped !== null) return refused(mistyped, now_ms)
    const address = underwriterAddress(asked.underwriter_id)
    const row = address === null ? null : await insurance.underwriter(address)
    if (row === null || row.listed_until_s === 0) return refused('unknown_underwriter', now_ms)
    const entry = storedEntry(row.entry)
    if (row.proven_s === null) return refused('not_proven', now_ms)
    const wanted = wishes(asked)
    const refusal = quoteRefusal(entry, { coverage_minor: wanted.coverage_minor, coverage_type: asked.coverage_type, now_s })
    if (refusal !== null) return refused(refusal, now_ms)
    const maker = { registrar, crypto, hmac: (tag: string, text: string) => derive.hmac(tag, text), now_s }
    const issued = issuePolicy(entry, row.entry_hash, wanted, maker)
    const given = { policy_id: issued.policy_id, underwriter: entry.underwriter, certificate: canonicalText(issued) }
    const { created, policy } = await insurance.bind(given)
    const certificate = standing(policy)
    return {
      status: certificate.status,
      reason_code: 'ok' as const,
      reason: STATUS[certificate.status],
      created,
      certificate: { ...certificate },
      policy_digest: toHex(policyDigest(certificate, crypto)),
      sign: certificate.status === 'BOUND' ? null : countersignRequest(certificate, registrar.origin, crypto),
      countersign_at: `${registrar.origin}/api/insurance/countersign`,
      certificate_url: `${registrar.origin}/api/insurance/policies/${certificate.policy_id}`,
      warnings: warningsOf(wanted, certificate.effective_to, now_s),
      ...notices(now_ms),
    }
  },
})

const STATUS = {
  PENDING_UNDERWRITER: 'The certificate provides no cover until the underwriter countersigns it.',
  BOUND: 'The underwriter has countersigned.',
} as const

/** A policy pays the address that it names, so an address with a broken checksum is refused, and one that no payment may go to. */
function mistypedOf({ policyholder_address = '', beneficiary_address = '' }: z.output<typeof INPUT>): Mistyped | null {
  if (readEvmAddress(policyholder_address)?.checksum === 'broken') return 'policyholder_checksum'
  if (readEvmAddress(beneficiary_address)?.checksum === 'broken') return 'beneficiary_checksum'
  if (policyholder_address !== '' && unpayableAddress(policyholder_address) !== null) return 'policyholder_unpayable'
  return beneficiary_address !== '' && unpayableAddress(beneficiary_address) !== null ? 'beneficiary_unpayable' : null
}

function wishes(asked: z.output<typeof INPUT>) {
  const policyholder = asked.policyholder_address?.toLowerCase() ?? null
  return {
    coverage_minor: coverageMinor(asked.amount_usdc ?? asked.amount ?? 0),
    policyholder,
    beneficiary: asked.beneficiary_address?.toLowerCase() ?? policyholder,
    subject: {
      tx_hash: asked.tx_hash?.toLowerCase() ?? null,
      transaction_id: asked.transaction_id ?? null,
      invoice_id: asked.invoice_id ?? null,
    },
  }
}

function warningsOf({ policyholder, subject }: ReturnType<typeof wishes>, effective_to: number, now_s: number) {
  const named = Object.values(subject).some((part) => part !== null)
  return [
    ...(named ? [] : [{ code: 'no_subject', message: 'Neither transaction nor invoice is named, so nothing says what is insured.' }]),
    ...(policyholder === null ? [{ code: 'no_policyholder', message: 'No policyholder is named.' }] : []),
    ...(now_s >= effective_to ? [{ code: 'term_over', message: 'The term of this certificate is over.' }] : []),
  ]
}

function refused(reason_code: BindRefusal, now_ms: number) {
  const nothing = { certificate: null, policy_digest: null, sign: null, countersign_at: null, certificate_url: null, warnings: [] }
  return { status: 'REFUSED' as const, reason_code, reason: REFUSALS[reason_code], created: false, ...nothing, ...notices(now_ms) }
}

function notices(now_ms: number) {
  return {
    disclaimer: POL_DISCLAIMER,
    standard: POL.standard,
    policy_hash: POL.policy_hash,
    evaluated_at: new Date(now_ms).toISOString(),
  }
}
