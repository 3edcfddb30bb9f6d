import { MOST_NODES, NODE_TYPES } from '../../../pure/protocols/micro-ast/view.ts'
import { MICRO_AST } from '../../../pure/protocols/micro-ast/index.ts'
import { toHex, nobleCrypto } from '../../../pure/receipts/crypto.ts'
import { createCommitment, CSP1, CSP1_CODES, readMetaAddress, stealthAddress } from '../../../pure/rulebooks/csp1.ts'
import { DIP, DIP_CLAIMS, DIP_GRADES, DIP_NOTES, DIP_RULES } from '../../../pure/rulebooks/dip1.ts'
import { CHECKS, POD1, POD1_CODES, POD1_WARNINGS } from '../../../pure/rulebooks/pod1-table.ts'
import { COVERAGE_TYPES, POLICY_CODES, POLICY_SIGNED_TEXT } from '../../../pure/rulebooks/pol1.ts'
import { ENTRY_FORMS, LISTING_NOTICE, POL } from '../../../pure/rulebooks/pol1-registry.ts'
import { signingKindDocument } from '../../../pure/signing/kinds.ts'
import type { SigningKind } from '../../../pure/signing/sign-request.ts'
import { html } from '../html.ts'
import { code, curl, inline, items, json, paragraphs, sample, steps, table, type Chapter, type Topic } from './parts.ts'

/**
 * Pages of the rule books. Tables, typed data and test vectors come from the code that decides, so that a page cannot state another rule than the one that
 * is applied; the sentences around them explain the order.
 */

const UNSPECIFIED = 'There is no public specification of this name; this page describes the service.'

/** Bytes that a kind of signature covers, with an example that anyone can repeat. */
function signingChapter(origin: string, kinds: readonly SigningKind[]): Chapter {
  return {
    id: 'signing',
    title: 'What is signed',
    body: html`${kinds.map((kind) => {
      const { title, signer, contract_wallets, example, test_vector } = signingKindDocument(kind, origin)
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
    })}`,
  }
}

const METHOD_WORDS = {
  eth_signTypedData_v4: 'EIP-712, by eth_signTypedData_v4.',
  personal_sign: 'EIP-191, by personal_sign.',
  sign_digest: 'The keccak-256 of the UTF-8 text is signed itself, without a prefix; devices and servers do this, wallets do not.',
} as const

/** Rule table as data with its hash, which every answer names. */
function tableChapter({ standard, policy_hash, table: rules }: { standard: string; policy_hash: string; table: unknown }): Chapter {
  return {
    id: 'table',
    title: 'The table and its hash',
    body: html`${paragraphs(
      html`${code('policy_hash')} in every answer is the keccak-256 of the RFC 8785 text of this object. Another hash means other rules.`,
    )}
    ${json('table', 'Standard and table', { standard, table: rules })} ${sample('policy-hash', 'text', 'policy_hash', policy_hash)}`,
  }
}

function codeRows(codes: Readonly<Record<string, string>>) {
  return Object.entries(codes).map(([name, words]) => [code(name), words])
}

const POL_1: Topic = {
  id: 'pol-1',
  title: 'POL-1: policies',
  words: 'Directory of underwriters, quotes, and certificates that only the underwriter’s key binds.',
  chapters: ({ origins: { api_url } }) => [
    {
      id: 'order',
      title: 'From entry to policy',
      body: html`${paragraphs(UNSPECIFIED, LISTING_NOTICE)}
      ${steps(
        1,
        html`The underwriter signs an entry with its rate card and sends it to ${code('POST /api/insurance/register')}.`,
        html`A file at ${code(POL.table.proof.path)} of the host of ${code('terms_uri')} names its address: the entry is then proven, for the domain.`,
        html`${code('quote-3rd-party-insurance')} computes ${code(POL.table.premium)} for proven entries only.`,
        html`${code('bind-insurance-policy')} gives a certificate with status ${code(POL.table.status.without_underwriter_signature)}, signed by the registrar.`,
        html`The underwriter countersigns: the status is ${code(POL.table.status.with_underwriter_signature)}. Anyone verifies the certificate offline.`,
      )}
      ${sample('file', 'json', `${POL.table.proof.path} on the host of terms_uri`, '{ "underwriters": ["0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"] }')}`,
    },
    {
      id: 'entry',
      title: 'Members of an entry',
      body: html`${table(
        'In the order in which they are signed',
        ['member', 'form'],
        Object.entries(ENTRY_FORMS).map(([name, { words }]) => [code(name), words]),
      )}
      ${items(`Coverage types: ${COVERAGE_TYPES.join(', ')}.`, `An entry is valid for at most ${POL.table.entry_days_max} days.`)}`,
    },
    {
      id: 'certificate',
      title: 'Verify a certificate',
      body: html`${steps(
        1,
        html`Take the certificate without ${code('status')}, ${code('registrar_signature')}, ${code('underwriter_signature')} and
        ${code('underwriter_attestation')}. The digest is the keccak-256 of
        ${code(POLICY_SIGNED_TEXT)}.`,
        html`Recover the registrar from ${code('registrar_signature')} over this digest, compare it with ${code('registrar')}, and find it on the
          <a href="/.well-known/xdr-1.json">key list</a>.`,
        html`With ${code('underwriter_signature')}: recover the underwriter from the typed data below, of which ${code('policy_digest')} is this digest.`,
      )}
      ${paragraphs(
        html`A contract wallet cannot be asked offline. The registrar then attests that it accepted the countersignature: ${code('underwriter_attestation')} has
        the time and the registrar’s signature of the keccak-256 of ${code('POL-1-CONTRACT|<policy_digest>|<underwriter_signature>|<checked_at>')}.`,
      )}
      ${table('Reasons why a certificate is not valid', ['reason_code', 'meaning'], codeRows(POLICY_CODES))}`,
    },
    signingChapter(api_url, ['pol-1-entry', 'pol-1-countersignature']),
    tableChapter(POL),
  ],
}

const POD_1: Topic = {
  id: 'pod-1',
  title: 'POD-1: delivery proofs',
  words: 'A mandate, an attestation of a device, and the checks that make a delivery verified.',
  chapters: ({ origins: { api_url }, call: { catalogue } }) => [
    {
      id: 'decides',
      title: 'What is decided',
      body: html`${paragraphs(
        UNSPECIFIED,
        'A mandate states what is to be delivered where, when and who signs; an attestation states that it happened. All checks run. A failed one makes the ' +
          'verdict REJECTED; otherwise a missing input makes it INCOMPLETE; otherwise it is VERIFIED. Nothing is stored: keep next_last_seen_counter.',
        html`Checks in their order: ${CHECKS.join(', ')}. Coordinates are ten-millionths of a degree, latitude first. The boundary counts as inside, and
        both ends of the window are included.`,
      )}
      ${json('example', 'Example: the input of pod-verify-delivery', catalogue.find('pod-verify-delivery')?.example ?? {})}`,
    },
    {
      id: 'reasons',
      title: 'Reasons and warnings',
      body: html`${table('Reasons', ['code', 'meaning'], codeRows(POD1_CODES))} ${table('Warnings', ['code', 'meaning'], codeRows(POD1_WARNINGS))}`,
    },
    {
      ...signingChapter(api_url, ['pod-1-role']),
      title: 'What a role signs',
    },
    {
      id: 'digest',
      title: 'The digest',
      body: html`${paragraphs(
        html`The values are joined by bars, ${code('device_pubkey')} in lower case, numbers in RFC 8785 form. The text has the role, so a signature for one role
        is invalid for another. All signatures of an attestation use its ${code('scheme')}.`,
      )}
      ${sample('digest-fields', 'text', 'Fields of the signed text', POD1.table.digest.fields.join(POD1.table.digest.separator))}
      ${table('Schemes', ['scheme', 'signature'], codeRows(POD1.table.schemes))}`,
    },
    tableChapter(POD1),
  ],
}

const CSP_SALT = `0x${'0123456789abcdef'.repeat(4)}`
const CSP_INVOICE = { invoice: 'INV-1', amount_minor: '49000000', token_address: `0x${'22'.repeat(20)}` }
/** Points of the private keys 5 and 6 (secp256k1, SEC 2). */
const CSP_META =
  '0x022f8bde4d1a07209355b4a7250a5c5128e88b84bddc619ab7cba8d569b240efe403fff97bd5755eeea420453a14355235d382f6472f8568a18b2f057a1460297556'

const CSP_1: Topic = {
  id: 'csp-1',
  title: 'CSP-1: commitments',
  words: 'A commitment to invoice terms that reveals nothing, and the announcement of a stealth payment.',
  chapters() {
    const { canonical_jcs, invoice_commitment } = createCommitment({ invoice_object: CSP_INVOICE, salt_hex: CSP_SALT }, () =>
      '00'.repeat(32),
    )
    const reading = readMetaAddress(CSP_META)
    const stealth = reading.ok ? stealthAddress(reading.meta, 7n, nobleCrypto) : null
    const tag_hash = toHex(nobleCrypto.keccak256(CSP1.table.tags.commitment))
    return [
      {
        id: 'commitment',
        title: 'The commitment',
        body: html`${paragraphs(
          UNSPECIFIED,
          'No signature is needed. The commitment is made of three parts, the first two of 32 bytes; without the salt it cannot be opened by guessing the terms.',
        )}
        ${sample('formula', 'text', 'Commitment, and the salt if none is given', `${CSP1.table.commitment}\n${CSP1.table.derived_salt}`)}
        ${json('vector', 'Test vector', { invoice_object: CSP_INVOICE, salt_hex: CSP_SALT, keccak256_of_tag: tag_hash, canonical_jcs, invoice_commitment })}
        ${paragraphs('A derived salt depends on the secret of the deployment: the same terms have the same commitment here, and another one elsewhere.')}`,
      },
      {
        id: 'stealth',
        title: 'The stealth address',
        body: html`${paragraphs(
          'Scheme 1 of ERC-5564. shared = keccak-256 of the compressed point e · P_view; the view tag is its first byte; the address is that of P_spend + shared · G.',
        )}
        ${json('stealth-vector', 'Test vector: private keys 5 (spend), 6 (view) and 7 (ephemeral)', { meta_address: CSP_META, ...stealth })}
        ${items(
          'An address as stealth_recipient needs ephemeral_pubkey and view_tag, which are packaged unchanged.',
          'With a meta-address the ephemeral key is derived here: the service could then link the payment, which linkable_by_service reports.',
        )}`,
      },
      {
        id: 'reasons',
        title: 'Reasons',
        body: table('Codes', ['code', 'meaning'], codeRows(CSP1_CODES)),
      },
      tableChapter(CSP1),
    ]
  },
}

const DIP_1: Topic = {
  id: 'dip-1',
  title: 'DIP-1: disputes',
  words: 'Claims about a call, the rules that decide them, and how a payer or an issuer signs.',
  chapters: ({ origins: { api_url } }) => [
    {
      id: 'rules',
      title: 'The rules',
      body: html`${paragraphs(
        UNSPECIFIED,
        html`A dispute is decided by the receipt, hashes, signatures and published schemas alone. The gates (DIP-G…) come first, in their order; then the rules of
        the claim: ${DIP_CLAIMS.join(', ')}. The first rule that applies decides; a SCHEMA claim about another output is judged as OUTPUT_MISMATCH.`,
      )}
      ${table(
        'Rules in the order of their checks',
        ['rule', 'verdict', 'reason_code', 'meaning'],
        Object.entries(DIP_RULES).map(([rule, { verdict, code: reason, words }]) => [code(rule), code(verdict), code(reason), words]),
      )}
      ${table('Remarks in addition to the deciding rule', ['rule', 'meaning'], codeRows(DIP_NOTES))}
      ${items(`Grades of the evidence, best first: ${DIP_GRADES.join(', ')}.`)}`,
    },
    {
      id: 'hashes',
      title: 'Hashes and windows',
      body: items(
        inline('`receipt_hash` is the digest of the receipt (XDR-1).'),
        inline('`body_hash` is the keccak-256 of the RFC 8785 text of the input without `dispute_id`, `receipt` and `claimant_signature`.'),
        inline('An output or `claimed_input` is hashed in RFC 8785 form and as it came; a text also bare, and read as JSON.'),
        `A dispute is filed within ${DIP.table.window_days} days after the date of the receipt; a call is over after ${DIP.table.call_window_s} s.`,
        inline(
          `Upheld, paid on chain, signed by this service and above \`refund_threshold_minor\` (${DIP.table.refund_threshold_minor}): \`REFUND_ORDER_QUEUED\`; else \`verdict_only\` or \`none\`.`,
        ),
      ),
    },
    {
      id: 'binding',
      title: 'Who files',
      body: items(
        inline('`signed`: the payer of the receipt signed the dispute; only then it changes the state of an assured record.'),
        inline('`advisory`: unsigned, and replaced by a signed one.'),
        inline('`none`: an unsigned dispute that is rejected is answered but not stored.'),
      ),
    },
    signingChapter(api_url, ['dip-1-dispute', 'dip-1-transport']),
    tableChapter(DIP),
  ],
}

const MICRO_AST_PAGE: Topic = {
  id: 'micro-ast',
  title: 'Micro-AST',
  words: 'A small catalogue of goods that an agent reads as a whole, and the rules that the preflight checks.',
  chapters({ origins: { api_url } }) {
    return [
      {
        id: 'format',
        title: 'The format',
        body: html`${paragraphs(
          UNSPECIFIED,
          html`A flat list of at most ${MOST_NODES} nodes that name their parents; types: ${NODE_TYPES.join(', ')}. Amounts are integers of minor units. Every price
          is in the ${code('currency')} of the root.`,
        )}
        ${json('catalogue', 'Example', MICRO_AST_EXAMPLE)}
        ${sample('preflight', 'shell', 'Check a catalogue', curl(`${api_url}/v1/protocols/check`, { body: { protocol: 'micro-ast', document: MICRO_AST_EXAMPLE }, headers: ['content-type: application/json'] }))}`,
      },
      {
        id: 'rules',
        title: 'The rules',
        body: table(
          `Versions ${MICRO_AST.versions.join(', ')}`,
          ['rule', 'severity', 'why', 'what to do'],
          MICRO_AST.rules.map(({ code: rule, severity, why, hint }) => [
            html`<a href="/v1/protocols/rules?protocol=micro-ast#${rule}">${code(rule)}</a>`,
            severity === 'both' ? 'error or warning' : severity,
            why,
            hint,
          ]),
        ),
      },
      {
        id: 'signature',
        title: 'The signature',
        body: html`${paragraphs(
          html`${code('signature')} has ${code('alg')} (ES256 or EdDSA), ${code('kid')} and ${code('value')}, base64url without padding. The RFC 8785 text of the
          catalogue without ${code('signature')} is signed. The preflight reads its form only.`,
        )}
        ${items(...MICRO_AST.not_checked.map((one) => `Not checked: ${one}.`))}`,
      },
    ]
  },
}

const MICRO_AST_EXAMPLE = {
  micro_ast: '1.0',
  merchant: { id: 'm-1', name: 'Shop', url: 'https://shop.example', payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
  currency: 'USD',
  issued_at: '2026-11-21T10:00:00Z',
  nodes: [
    { id: 'c1', type: 'category', name: 'Shirts' },
    { id: 'p1', type: 'product', parent: 'c1', name: 'Shirt', url: 'https://shop.example/shirt', price: { amount: 1999 } },
  ],
}

export const RULE_BOOKS: readonly Topic[] = [POL_1, POD_1, CSP_1, DIP_1, MICRO_AST_PAGE]
