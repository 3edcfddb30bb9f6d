import { html } from '../html.ts'
import { PROTOCOLS } from '../../../pure/protocols/registry.ts'
import { NODE_TABLE } from '../../../pure/protocols/micro-ast/rules-nodes.ts'
import { MOST_NODES } from '../../../pure/protocols/micro-ast/view.ts'
import { nobleCrypto, toHex } from '../../../pure/receipts/crypto.ts'
import { createCommitment, CSP1, CSP1_CODES, readMetaAddress, stealthAddress } from '../../../pure/rulebooks/csp1.ts'
import { DIP, DIP_CLAIMS, DIP_GRADES, DIP_NOTES, DIP_RULES } from '../../../pure/rulebooks/dip1.ts'
import { CHECKS, type CheckName, POD1, POD1_CODES, POD1_ROLES_MAX, POD1_WARNINGS } from '../../../pure/rulebooks/pod1-table.ts'
import { type Policy, POLICY_CODES, POLICY_SIGNED_TEXT } from '../../../pure/rulebooks/pol1.ts'
import { ENTRY_FORMS, LISTING_NOTICE, POL } from '../../../pure/rulebooks/pol1-registry.ts'
import { signingKindDocument } from '../../../pure/signing/kinds.ts'
import type { SigningKind } from '../../../pure/signing/sign-request.ts'
import { shellWord } from '../../../service/catalogue/text.ts'
import { limits, proofLimits } from '../../../service/limits.ts'
import type { AppDeps } from '../../deps.ts'
import type { Markup } from '../layout.ts'
import { code, items, json, paragraphs, pretty, sample, table, type Values } from './parts.ts'

const MICRO_AST = PROTOCOLS['micro-ast']

/** Values of the placeholders in the rule books of docs/guide/. */

/** Meaning of each member of a certificate. */
const CERTIFICATE_MEMBERS: Readonly<Record<keyof Policy, string>> = {
  v: 'POL-1',
  policy_id: 'an id that cannot be guessed',
  underwriter_id: 'name of the underwriter in the directory',
  underwriter_address: 'address of the underwriter',
  underwriter_entry_hash: 'digest of the signed entry that was used',
  coverage_type: 'kind of cover',
  policyholder: 'address, or null, as the caller sent it',
  beneficiary: 'address, or null, as the caller sent it',
  subject: 'what is insured, as the caller sent it: tx_hash, transaction_id and invoice_id, each a text or null',
  coverage_minor: 'the cover',
  premium_minor: 'its price',
  currency: 'USDC',
  terms_uri: 'from the entry',
  terms_hash: 'from the entry',
  trigger: 'a sentence that refers to the terms of the underwriter',
  effective_from: 'start of the cover',
  effective_to: 'end of the cover',
  issued_at: 'time of the certificate',
  jurisdiction: 'from the entry, joined by commas',
  licence_reference: 'from the entry',
  disclaimer: 'limits of the role of the registrar',
  registrar: 'address of the receipt key of this service',
  origin: 'origin of this service',
  chain_id: 'chain of this service',
  status: Object.values(POL.table.status).join(' or '),
  registrar_signature: 'signature of the digest by the receipt key of this service; it attests only the record',
  underwriter_signature: 'countersignature, or null',
  underwriter_attestation: 'only where a contract wallet countersigned: method (erc1271), checked_at and registrar_signature',
}

/** Condition under which each check of POD-1 passes. */
const POD_CHECKS: Readonly<Record<CheckName, string>> = {
  form: 'ids and roles are printable ASCII without the bar, keys are 0x hexadecimal',
  mandate_id: 'both documents name the same mandate',
  geofence: 'the ring encloses one area',
  position: 'the device was inside; the boundary counts as inside and is reported as boundary',
  accuracy: 'accuracy_m ≤ max_accuracy_m',
  window: 'not_before ≤ ts ≤ not_after; all three have the same unit, usually Unix seconds',
  counter: 'counter > last_seen_counter; without the latter it is not_checked, and a warning says so',
  scheme: 'the scheme is one of those below',
  device: 'device_pubkey is a key of the scheme, and the one that the mandate binds to the role device, if it binds one',
  signers: 'the mandate requires at least one role, and none twice',
  signatures: 'every required role has a valid signature; an invalid signature that is not required rejects too',
  distinct_keys: 'no key is used for two roles, in signer_keys, as device_pubkey or by signing',
}

/** Key and signature of each scheme of POD-1. */
const POD_SCHEMES: Readonly<Record<keyof typeof POD1.table.schemes, readonly [string, string]>> = {
  '1': [
    'secp256k1: an address, or a point of 33 or 65 bytes',
    'r, s and v in 65 bytes over the digest itself, without a prefix; s low, v 0, 1, 27 or 28',
  ],
  '2': ['Ed25519: 32 bytes', 'RFC 8032 with the digest as message; canonical encodings only, key and R in the group of prime order'],
  '3': [
    'P-256: a point of 33 or 65 bytes',
    'r and s in 64 bytes, ECDSA with SHA-256 and the digest as message; s low or high (FIPS 186-5)',
  ],
}

/** Meaning of each grade of DIP-1. */
const GRADES: Readonly<Record<(typeof DIP_GRADES)[number], string>> = {
  receipt_and_output: 'the delivered output hashes to that of the receipt, so both were compared',
  transport_signed: 'the signer of the receipt also signed which output it delivered',
  receipt: 'the receipt alone decided',
  claimant_asserted: 'only the claimant says what was delivered, or the output is missing',
  unverified: 'the signature of the receipt could not be checked',
  none: 'a gate rejected the dispute',
}

const CSP_SALT = `0x${'0123456789abcdef'.repeat(4)}`
const CSP_INVOICE = { invoice: 'INV-1', amount_minor: '49000000', token_address: `0x${'22'.repeat(20)}` }
/** Points of the private keys 5 and 6 (secp256k1, SEC 2). */
const CSP_META =
  '0x022f8bde4d1a07209355b4a7250a5c5128e88b84bddc619ab7cba8d569b240efe403fff97bd5755eeea420453a14355235d382f6472f8568a18b2f057a1460297556'

/** Recipient of the announcement: the stealth address of CSP_META under the ephemeral key 7. */
function stealthVector() {
  const reading = readMetaAddress(CSP_META)
  const stealth = reading.ok ? stealthAddress(reading.meta, 7n, nobleCrypto) : null
  if (stealth === null) throw new Error('The test vector of CSP-1 has no stealth address.')
  return stealth
}

const AST_EXAMPLE = {
  micro_ast: '1.0',
  merchant: { id: 'm-1', name: 'Shop', url: 'https://shop.example', payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
  currency: 'USD',
  issued_at: '2026-11-21T10:00:00Z',
  nodes: [
    { id: 'c1', type: 'category', name: 'Shirts' },
    { id: 'p1', type: 'product', parent: 'c1', name: 'Shirt', url: 'https://shop.example/shirt' },
    {
      id: 'v1',
      type: 'variant',
      parent: 'p1',
      name: 'Shirt, red',
      sku: 'S-R',
      price: { amount: 1999 },
      availability: 'in_stock',
      attributes: { colour: 'red', size: 42 },
      actions: [{ type: 'checkout', protocol: 'ucp', href: 'https://shop.example/ucp' }],
    },
  ],
  signature: { alg: 'ES256', kid: 'k1', value: 'c2lnbmF0dXJl' },
}

const REASONS = ['code', 'meaning'] as const

export const RULE_BOOKS: Values = {
  listing_notice: () => LISTING_NOTICE,
  pol_proof_path: () => POL.table.proof.path,
  pol_premium: () => POL.table.premium,
  pol_status_unsigned: () => POL.table.status.without_underwriter_signature,
  pol_status_signed: () => POL.table.status.with_underwriter_signature,
  pol_entry_members: () =>
    table(
      'In the order in which they are signed',
      ['member', 'form'],
      Object.entries(ENTRY_FORMS).map(([name, { words }]) => [code(name), words]),
    ),
  pol_entry_days: () => POL.table.entry_days_max,
  pol_clock_skew_s: () => POL.table.clock_skew_s,
  pol_entries_max: () => POL.table.entries_max,
  pol_page_max: () => limits.directory_page,
  pol_list_age_s: () => limits.directory_cache_ms / 1_000,
  pol_per_minute: () => limits.insurance_writes_per_minute,
  pol_proof_s: () => proofLimits.read_ms / 1_000,
  pol_proof_kib: () => proofLimits.answer_bytes / 1_024,
  pol_proof_age_s: () => proofLimits.remembered_ms / 1_000,
  pol_proof_addresses: () => POL.table.proof.addresses_max,
  pol_proof_per_domain: () => POL.table.proof.entries_max_per_domain,
  pol_unproven_max: () => POL.table.unproven.entries_max,
  pol_unproven_per_network: () => POL.table.unproven.entries_max_per_network,
  pol_unproven_days: () => POL.table.unproven.listed_days,
  pol_certificate_members: () => codeTable('Members of a certificate', ['member', 'meaning'], CERTIFICATE_MEMBERS),
  pol_signed_text: () => POLICY_SIGNED_TEXT,
  pol_codes: () => codeTable('Reasons why a certificate is not valid', ['reason_code', 'meaning'], POLICY_CODES),
  pod_checks: () =>
    table(
      'Checks in the order of their report',
      ['check', 'passes if'],
      CHECKS.map((check) => [code(check), POD_CHECKS[check]]),
    ),
  pod_vertices_max: () => POD1.table.geometry.vertices_max,
  pod_edge_span_deg: () => POD1.table.geometry.edge_span_below_deg,
  pod_roles_max: () => POD1_ROLES_MAX,
  pod_example: (deps) => pretty(deps.call.catalogue.find('pod-verify-delivery')?.example ?? {}),
  pod_codes: () => codeTable('Reasons', REASONS, POD1_CODES),
  pod_warnings: () => codeTable('Warnings', REASONS, POD1_WARNINGS),
  pod_digest_fields: () => POD1.table.digest.fields.join(POD1.table.digest.separator),
  pod_schemes: () =>
    table(
      'Schemes',
      ['scheme', 'key', 'signature over the 32 bytes of the digest'],
      Object.entries(POD_SCHEMES).map(([scheme, [key, signature]]) => [code(scheme), key, signature]),
    ),
  csp_formula: () => `${CSP1.table.commitment}\n${CSP1.table.derived_salt}`,
  csp_vector() {
    const made = createCommitment({ invoice_object: CSP_INVOICE, salt_hex: CSP_SALT }, () => '00'.repeat(32))
    const { canonical_jcs, invoice_commitment } = made
    const keccak256_of_tag = toHex(nobleCrypto.keccak256(CSP1.table.tags.commitment))
    return pretty({ invoice_object: CSP_INVOICE, salt_hex: CSP_SALT, keccak256_of_tag, canonical_jcs, invoice_commitment })
  },
  csp_salt_bytes: () => CSP1.table.salt_bytes,
  csp_stealth_vector: () => pretty({ meta_address: CSP_META, ...stealthVector() }),
  csp_announcement() {
    const { stealth_address: stealth_recipient, ephemeral_pubkey, view_tag } = stealthVector()
    const asked = { invoice_object: CSP_INVOICE, salt_hex: CSP_SALT, stealth_recipient, ephemeral_pubkey, view_tag }
    return pretty(createCommitment(asked, () => '00'.repeat(32)).announcement)
  },
  csp_codes: () => codeTable('Codes', REASONS, CSP1_CODES),
  dip_claims: () => DIP_CLAIMS.join(', '),
  dip_rules: () =>
    table(
      'Rules in the order of their checks',
      ['rule', 'verdict', 'reason_code', 'meaning'],
      Object.entries(DIP_RULES).map(([rule, { verdict, code: reason, words }]) => [code(rule), code(verdict), code(reason), words]),
    ),
  dip_notes: () => codeTable('Remarks in addition to the deciding rule', ['rule', 'meaning'], DIP_NOTES),
  dip_grades: () =>
    table(
      'Grades of the evidence, best first',
      ['grade', 'meaning'],
      DIP_GRADES.map((grade) => [code(grade), GRADES[grade]]),
    ),
  dip_empty_outputs: () => DIP.table.empty_outputs.filter((text) => text !== '').join(', '),
  dip_window_days: () => DIP.table.window_days,
  dip_call_window_s: () => DIP.table.call_window_s,
  dip_refund_minor: () => DIP.table.refund_threshold_minor,
  ast_nodes_max: () => MOST_NODES,
  ast_types: () =>
    table(
      'Types of nodes',
      ['type', 'parent'],
      Object.entries(NODE_TABLE.parents).map(([type, parents]) => [
        code(type),
        parents.map((parent) => (parent === 'root' ? 'none' : parent)).join(' or '),
      ]),
    ),
  ast_depth: () => NODE_TABLE.limits.depth,
  ast_attributes_max: () => NODE_TABLE.limits.attributes,
  ast_attribute_chars: () => NODE_TABLE.limits.attribute_name_chars,
  ast_name_chars: () => NODE_TABLE.limits.name_chars,
  ast_availability: () => NODE_TABLE.availability.join(', '),
  ast_action_types: () => NODE_TABLE.action_types.join(', '),
  ast_action_protocols: () => NODE_TABLE.action_protocols.join(', '),
  ast_example: () => pretty(AST_EXAMPLE),
  ast_body: () => shellWord(JSON.stringify({ protocol: 'micro-ast', document: AST_EXAMPLE })),
  ast_rules: () =>
    table(
      `Versions ${MICRO_AST.versions.join(', ')}`,
      ['rule', 'severity', 'why', 'what to do'],
      MICRO_AST.rules.map(({ code: rule, severity, why, hint }) => [
        html`<a href="/v1/protocols/rules?protocol=micro-ast#${rule}">${code(rule)}</a>`,
        severity === 'both' ? 'error or warning' : severity,
        why,
        hint,
      ]),
    ),
  ast_not_checked: () => items(...MICRO_AST.not_checked.map((one) => `Not checked: ${one}.`)),
  signing_pol_1_entry: (deps) => signingKind(deps, 'pol-1-entry'),
  signing_pol_1_countersignature: (deps) => signingKind(deps, 'pol-1-countersignature'),
  signing_pod_1_role: (deps) => signingKind(deps, 'pod-1-role'),
  signing_dip_1_dispute: (deps) => signingKind(deps, 'dip-1-dispute'),
  signing_dip_1_transport: (deps) => signingKind(deps, 'dip-1-transport'),
  table_pol_1: () => ruleTable(POL),
  table_pod_1: () => ruleTable(POD1),
  table_csp_1: () => ruleTable(CSP1),
  table_dip_1: () => ruleTable(DIP),
}

const METHOD_WORDS = {
  eth_signTypedData_v4: 'EIP-712, by eth_signTypedData_v4.',
  personal_sign: 'EIP-191, by personal_sign.',
  sign_digest: 'The keccak-256 of the UTF-8 text is signed itself, without a prefix; devices and servers do this, wallets do not.',
} as const

/** Bytes that a kind of signature covers, with an example that anyone can repeat. */
function signingKind({ origins }: AppDeps, kind: SigningKind): Markup {
  const { title, signer, contract_wallets, example, test_vector } = signingKindDocument(kind, origins.api_url)
  const wallets = contract_wallets ? 'Contract wallets may sign (ERC-1271).' : 'Contract wallets cannot sign.'
  const signable = example.method === 'eth_signTypedData_v4' ? example.typed_data : example.message
  return html`<h3 id="${kind}">${code(kind)}</h3>
    ${paragraphs(html`${title} By: ${signer}. ${METHOD_WORDS[example.method]} ${wallets} <a href="/v1/signing/${kind}">Schema, example and request</a>.`)}
    ${
      typeof signable === 'string'
        ? sample(`${kind}-text`, 'text', 'Example: the exact text', signable)
        : json(`${kind}-typed`, 'Example: typed data', signable)
    }
    ${json(`${kind}-vector`, 'Test vector: key, digest and signature of the example', test_vector)}`
}

/** Rule table as data with its hash, which every answer names. */
function ruleTable({ standard, policy_hash, table: rules }: { standard: string; policy_hash: string; table: unknown }): Markup {
  return html`${paragraphs(
    html`${code('policy_hash')} in every answer is the keccak-256 of the RFC 8785 text of this object. Another hash means other rules.`,
  )}
  ${json('table', 'Standard and table', { standard, table: rules })} ${sample('policy-hash', 'text', 'policy_hash', policy_hash)}`
}

function codeTable(caption: string, columns: readonly string[], codes: Readonly<Record<string, string>>): Markup {
  return table(
    caption,
    columns,
    Object.entries(codes).map(([name, words]) => [code(name), words]),
  )
}
