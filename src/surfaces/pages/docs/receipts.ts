import { html } from '../html.ts'
import { encodeReceipt } from '../../../pure/receipts/compact.ts'
import { type Receipt, digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { RECEIPT_LIMIT } from '../../../service/catalogue/text.ts'
import { receiptSchema } from '../../../service/catalogue/wire-schemas.ts'
import { code, curl, inline, items, json, paragraphs, sample, steps, table, type Topic } from './parts.ts'
import { BUNDLE_ENTRIES_MAX, BUNDLE_FORMAT, BUNDLE_LIMITS, BUNDLE_VERSION } from '../../../pure/audit/bundle.ts'
import { BUNDLE_RULES } from '../../../service/limits.ts'

export const RECEIPTS: Topic = {
  id: 'receipts',
  title: 'Receipts',
  words: 'What is signed, how it is verified offline, and what it does not prove.',
  chapters(deps) {
    const { receipt, digest, link_to, link_digest } = TEST_VECTOR
    const keys_url = `${deps.origins.api_url}/.well-known/xdr-1.json`
    return [
      {
        id: 'what',
        title: 'What a receipt is',
        body: html`${paragraphs(
          html`Every answer carries a receipt of the form XDR-1: thirteen fields, of which eleven are signed by a key that this service
            publishes. It names the tool, the hashes of input and result, who paid whom how much, and when.
            <a href="/verify">Verify receipts</a> judges them in your browser.`,
          RECEIPT_LIMIT,
        )}
        ${table(
          'Fields',
          ['field', 'signed', 'what it is', 'form'],
          [...SIGNED_FIELDS, ...TAIL_FIELDS, 'signer' as const, 'signature' as const].map((name) => fieldRow(name)),
        )}`,
      },
      {
        id: 'worked',
        title: 'A worked example',
        body: html`${paragraphs(
          html`${TEST_VECTOR.notice} It is published with the <a href="/.well-known/xdr-1.json">specification</a>, so that you can
            test your own verifier against it.`,
        )}
        ${json('receipt', 'The receipt', receipt)}
        ${steps(1, html`Join the values of the signed fields by bars, in their order; ${code('ts')} in plain decimal.`)}
        ${sample('signed-text', 'text', 'The text that is signed', digestText(receipt))}
        ${steps(2, html`Take the keccak-256 of its UTF-8 bytes: the original padding, not SHA3-256, and no prefix of any kind.`)}
        ${sample('digest', 'text', 'The digest, by which the receipt is also named', digest)}
        ${steps(3, html`Recover the address from ${code('signature')} (r, s, v; s in the lower half) over these 32 bytes, and compare it with ${code('signer')}.`)}
        ${sample('signer', 'text', 'The address', receipt.signer)}
        ${steps(
          4,
          html`Find the address on the key list: ${code('ts')} must not lie before ${code('not_before')}, nor after ${code('not_after')},
          nor at or after ${code('revoked_at')}.`,
          html`With the answer at hand, take the keccak-256 of the RFC 8785 text of ${code('result')} and compare it with
          ${code('output_hash')}; the same with the input, without its wrapper, and ${code('input_hash')}.`,
        )}
        ${sample('keys', 'shell', 'The key list, the grammar and this example, for programs', curl(keys_url))}`,
      },
      {
        id: 'links',
        title: 'Chains',
        body: html`${paragraphs(
          html`The signed text has no place for an earlier receipt, so a link is signed on its own, by the same key. Several receipts may
          follow one. A chain shows what was linked, not that nothing was left out.`,
        )}
        ${sample('link-text', 'text', 'The text of a link: this receipt, then the earlier one', `XDR-1-LINK|${digest}|${link_to}`)}
        ${sample('link-digest', 'text', 'Its keccak-256, which is signed as link_digest', link_digest)}`,
      },
      {
        id: 'keys',
        title: 'Keys',
        body: items(
          'A key is active, retired or revoked. What a retired key signed in its time still counts; what a revoked one signed counts until the revocation.',
          'Keep the key list with your receipts: then you can verify when this service is gone.',
          deps.mode === 'sandbox'
            ? 'This deployment is a sandbox: its receipts are signed by a key that says so.'
            : 'The list names mode and chain of each key; a sandbox’s key says so.',
        ),
      },
      compactChapter(receipt),
    ]
  },
}

type Field = (typeof SIGNED_FIELDS)[number] | (typeof TAIL_FIELDS)[number] | 'signer' | 'signature'

function fieldRow(name: Field): (ReturnType<typeof html> | string)[] {
  const properties = receiptSchema()['properties'] as Record<Field, { description?: string; pattern?: string }>
  const { description = '', pattern } = properties[name]
  const signed = name !== 'signer' && name !== 'signature'
  const when = (TAIL_FIELDS as readonly string[]).includes(name) ? 'where it is there' : signed ? 'yes' : 'no'
  const form = signed ? GRAMMAR[name].source : (pattern ?? '')
  return [code(name), when, description, code(form)]
}

export const AUDIT: Topic = {
  id: 'audit',
  title: 'Audit bundles',
  words: 'One file with inputs, answers, receipts, links, log proofs, keys and datasets, which an auditor verifies offline.',
  chapters({ origins }) {
    const url = origins.api_url
    return [
      {
        id: 'make',
        title: 'Make a bundle',
        body: html`${paragraphs(
          html`The service does not store inputs and answers: keep them. ${code('assay bundle')} sends it hashes of the receipts, and writes one file with your
          part and its part.`,
        )}
        ${sample('make', 'text', 'Answers and inputs, in files', `assay bundle answers.json --inputs inputs.json --url ${url} --out bundle.json`)}
        ${items(
          'A file contains one answer, an array, or one per line; inputs are found by input_hash, in any order.',
          html`${code('--checkpoint')} takes a checkpoint that you kept: the bundle then proves that the log only grew since.`,
          `A bundle has at most ${BUNDLE_LIMITS.answers} answers, ${BUNDLE_LIMITS.datasets} datasets and ${BUNDLE_LIMITS.bytes / 1_048_576} MiB.`,
        )}`,
      },
      {
        id: 'verify',
        title: 'Verify it offline',
        body: html`${paragraphs(
          html`Get the key list from the issuer, not from the maker of the bundle. <a href="/verify">Verify</a> takes bundles too.`,
        )}
        ${sample('verify', 'text', 'Every part, and the tools that are deterministic once more', 'assay verify bundle.json --keys xdr-1.json --text')}
        ${table(
          'What is checked',
          ['check', 'what it compares'],
          CHECKS.map(([name, text]) => [code(name), text]),
        )}
        ${paragraphs('A check is valid, failed, or not checked because the bundle lacks something; the last two are named with their place.')}`,
      },
      {
        id: 'format',
        title: 'The format',
        body: html`${paragraphs(
          html`JSON (RFC 8259), ${code('format')} "${BUNDLE_FORMAT}", ${code('version')} ${BUNDLE_VERSION}. The JSON Schema is at
            <a href="/v1/bundle/schema">/v1/bundle/schema</a>.`,
          html`${code('manifest')} has the SHA-256 of the RFC 8785 text of each part, by JSON pointer: each member of the file but itself; of
          ${code('answers')}, ${code('answer')}, ${code('log')}, its lists and ${code('datasets')}, each element or member. It shows which part was
          changed, unless the manifest was changed as well. Only signatures and hashes protect against the maker.`,
        )}
        ${steps(
          1,
          html`Verify each ${code('receipt')}, ${code('input')}, ${code('result')} and link as <a href="/docs/receipts">receipts</a> describes.`,
          html`Compute the log entry: SHA-256 over the 32 bytes of the digest and the 65 of the signature. Its ${code('proof')} (C2SP tlog-proof) must lead to
          ${code('checkpoint')}, which the key of the log signed.`,
          html`Hash the ${code('text')} of each dataset; an answer names it in ${code('data_as_of')} or ${code('list.sha256')}.`,
        )}`,
      },
      {
        id: 'service',
        title: 'The part of the service',
        body: html`${paragraphs(
          html`Free, ${BUNDLE_RULES.per_minute} requests a minute for one client, up to ${BUNDLE_ENTRIES_MAX} entries each. An entry discloses nothing
          about a call.`,
        )}
        ${sample('part', 'shell', 'Keys, checkpoint and proofs for entries', curl(`${url}/v1/bundle`, { body: { entries: ['0'.repeat(64)] }, headers: ['content-type: application/json'] }))}`,
      },
      {
        id: 'limits',
        title: 'What it does not prove',
        body: items(
          'That results are right, or that money moved.',
          'That the bundle has every answer: links and the log show what is there, not what was left out.',
          'Who made the bundle, and when.',
          'The texts of datasets that answers name by date only; a replay with the same release shows them.',
        ),
      },
    ]
  },
}

const CHECKS: readonly (readonly [string, string])[] = [
  ['manifest', 'each part with its SHA-256'],
  ['receipt', 'signature, signer on the key list, key valid at the date'],
  ['input, result', 'their hashes with input_hash and output_hash'],
  ['link', 'signature of the link, and whether the earlier receipt is in the bundle'],
  ['checkpoint, log_proof', 'signature of the log, and the path from each receipt to its root; all proofs lead to one tree'],
  ['consistency', 'the earlier checkpoint with the new one'],
  ['dataset', 'its text with its SHA-256, and both with what answers name'],
  ['replay', 'the result of the same tool in the same version, run again on your machine'],
]

function compactChapter(receipt: Receipt) {
  const compact = encodeReceipt(receipt)
  return {
    id: 'compact',
    title: 'The compact form',
    body: html`${paragraphs(
      html`Links and badges contain a receipt as bytes in base64url, at most 360 characters. It gives back the same JSON, so that the digest
      is the same, and each receipt has exactly one. ${code('docs/how-receipts-work.md')} of the source has the layout; ${code('assay verify')} and
      ${code('decodeReceipt')} of ${code('assay/client')} read it.`,
    )}
    ${sample('compact-receipt', 'text', 'The same receipt, compact', compact.ok ? compact.text : '')}`,
  }
}

/** Task of a reader who has the public URL and a wallet. `steps` are texts with names in backticks. */
interface Journey {
  id: string
  title: string
  steps: readonly string[]
  /** A request that runs without changes. */
  sample: (url: string) => { caption: string; text: string }
  pages: readonly (readonly [href: string, title: string])[]
}

const SPECIMEN = '/api/invoice/inv_000000000000'
const MERCHANT = '0x1000000000000000000000000000000000000001'
const BANK = { iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX', name: 'Example GmbH', currency: 'EUR', amount: '45.00' }
const read = (path: string, caption: string) => (url: string) => ({ caption, text: curl(`${url}${path}`) })
const send = (path: string, body: unknown, caption: string) => (url: string) => ({ caption, text: curl(`${url}${path}`, { body }) })

const JOURNEYS: readonly Journey[] = [
  {
    id: 'agent',
    title: '1. Agent: call, pay, verify',
    steps: [
      'Read `/llms.txt` or `/openapi.json`, and call a tool: the first calls of a day are free.',
      'A 402 has the terms of x402 in `accepts`. Sign them and send the call again with `X-PAYMENT` or `PAYMENT-SIGNATURE`.',
      'Verify `receipt` at `/v1/receipt/verify`, or offline with the keys of `/.well-known/xdr-1.json`.',
      'Lost the answer? Send the same payment again from the same network within 24 hours: you get the same answer, uncharged.',
    ],
    sample: send('/v1/tools/iban-check/call', { input: { iban: 'GB82 WEST 1234 5698 7654 32' } }, 'A free call'),
    pages: [
      ['/docs/rest', 'REST'],
      ['/docs/payment', 'Payment'],
    ],
  },
  {
    id: 'merchant-page',
    title: '2. Merchant: get paid by page',
    steps: [
      'Open the page for merchants and connect the wallet that is to be paid.',
      'Fill in the amount, choose “Create and sign”, and sign in the wallet. Send the link to your customer; the page shows when it is paid.',
      '“Show my invoices” lists all that you signed, from any computer; there you void an invoice or save the list as CSV.',
    ],
    sample: read(SPECIMEN, 'An invoice as JSON; this is a void specimen'),
    pages: [
      ['/merchant', 'Get paid in USDC'],
      ['/docs/invoices', 'Invoices'],
    ],
  },
  {
    id: 'merchant-api',
    title: '3. Merchant: get paid by API',
    steps: [
      'Create an invoice at `/api/invoice/create`. `sign.typed_data` of the answer is what your wallet signs, `sign.submit` the request that takes it.',
      'Subscribe at `/v1/webhooks` with your address: the first answer asks for a signature in the same way, the second shows the secret once.',
      'Verify each event with the secret (Standard Webhooks) and remember its `webhook-id`: delivery is at least once.',
    ],
    sample: send('/api/invoice/create', { amountUsdc: '49.00', merchant: MERCHANT, memo: 'May' }, 'Creates an invoice'),
    pages: [
      ['/docs/invoices', 'Invoices'],
      ['/docs/webhooks', 'Webhooks'],
    ],
  },
  {
    id: 'payer-wallet',
    title: '4. Payer: pay with a browser wallet',
    steps: [
      'Open the link of the invoice, compare the address of the merchant, and choose your wallet.',
      'Sign once. You need no ether: the service sends the transfer, from 1 USDC on, and the page shows when it is confirmed.',
    ],
    sample: read('/v1/signing/invoice-payment', 'What you sign'),
    pages: [['/docs/invoices', 'Invoices']],
  },
  {
    id: 'payer-exchange',
    title: '5. Payer: pay from an exchange or any wallet',
    steps: [
      'Send USDC on the network that the invoice names to its deposit address (`deposit.address`, on the page under “Other ways to pay”). Nothing is signed, and no memo is needed.',
      'The address belongs to this one invoice, and its contract can only forward to the merchant. Less or more than the amount is recorded as such.',
    ],
    sample: read(SPECIMEN, 'Members `deposit` and `eip681_uri` of an invoice; this is a void specimen'),
    pages: [['/docs/invoices', 'Invoices']],
  },
  {
    id: 'payer-bank',
    title: '6. Payer: pay by bank',
    steps: [
      'The merchant creates the invoice with `bank`: account, currency and amount. They never change, and the wallet of the merchant shows them when it signs.',
      'Scan the code on the page or PDF with your banking app (EPC069-12, for EUR), or copy IBAN, amount and reference. Pay only if the page says that the merchant signed the bank details.',
      'The merchant sends the statement of the bank (camt.053 or camt.054) to `/api/invoice/statement`, or on the page for merchants. One booked entry of the exact amount closes the invoice.',
    ],
    sample: send(
      '/api/invoice/create',
      { amountUsdc: '49.00', merchant: MERCHANT, bank: BANK },
      'Creates an invoice that can be paid by bank',
    ),
    pages: [
      ['/docs/invoices#bank', 'Let customers pay by bank'],
      ['/merchant', 'Get paid in USDC'],
    ],
  },
  {
    id: 'underwriter',
    title: '7. Underwriter: register and countersign',
    steps: [
      'Send your rate card as `entry` to `/api/insurance/register`; the problem has what to sign and how your domain is proved.',
      'Buyers find you in quotes. A policy is `PENDING_UNDERWRITER` until you sign it.',
      'Send its `policy_id` to `/api/insurance/countersign` and sign what the problem shows. Contract wallets may sign (ERC-1271).',
    ],
    sample: read('/api/insurance/register', 'Registered underwriters'),
    pages: [['/docs/pol-1', 'POL-1']],
  },
  {
    id: 'insured',
    title: '8. Insured: get a policy and verify it',
    steps: [
      'Ask `quote-3rd-party-insurance` for quotes and send the `underwriter_id` of one to `bind-insurance-policy`.',
      'Once it is `BOUND`, read the certificate at `certificate_url` and verify it with `assay verify`, or by hand as POL-1 describes.',
    ],
    sample: send(
      '/v1/tools/quote-3rd-party-insurance/call',
      { input: { amount_usdc: 20_000 } },
      'Asks for quotes; none until an underwriter registers',
    ),
    pages: [['/docs/pol-1', 'POL-1']],
  },
  {
    id: 'device',
    title: '9. Device maker: prove a delivery',
    steps: [
      'Call `pod-verify-delivery` with mandate and attestation, without signatures: `signers` has the exact `message` and `digest` for each role.',
      'Sign each digest with the key of its role, and call again with `signatures`. The verdict is `VERIFIED` when all checks pass.',
      'The recipient repeats the call, or recovers the signers from the digests. Pass `next_last_seen_counter` on, so that no proof counts twice.',
    ],
    sample: read('/v1/signing/pod-1-role', 'Form and test vector of the signed text'),
    pages: [['/docs/pod-1', 'POD-1']],
  },
  {
    id: 'pilot',
    title: '10. Pilot buyer: buy 50,000 calls',
    steps: [
      'Call `create-ap2-pilot`, where the operator offers it, and pay the invoice of 49 USDC at `pay_url`.',
      'Sign the text `redemption_text` with the account that paid, and send it to `/api/invoice/{id}/credit`: the answer has the code.',
      'Send the code as `X-CREDIT` with each call. `/api/credits/balance` shows what is left.',
    ],
    sample: read('/v1/signing/pilot-credit', 'The text that the payer signs'),
    pages: [['/docs/prices', 'Prices']],
  },
  {
    id: 'dispute',
    title: '11. Disputer: dispute an answer',
    steps: [
      'Call `dip-file-dispute` with the receipt, a `claim` and the evidence for it: the answer names verdict, rule and reason.',
      'A rule that rejects a claim names the claim that fits: file again with it. `sign` is what the payer of the receipt signs to make it binding.',
    ],
    sample: read('/v1/signing/dip-1-dispute', 'What the payer signs'),
    pages: [['/docs/dip-1', 'DIP-1']],
  },
  {
    id: 'auditor',
    title: '12. Auditor: verify a bundle',
    steps: [
      'Keep the answers of your calls, and chain them: `X-PREV-RECEIPT-HASH` is the digest of the receipt before.',
      '`assay bundle answers.json --url …` collects the log proofs, keys and datasets into one file.',
      '`assay verify bundle.json` and the page for verification check it offline, and name the entry that was altered.',
    ],
    sample: read('/v1/bundle/schema', 'JSON Schema of a bundle'),
    pages: [
      ['/docs/audit', 'Audit bundles'],
      ['/verify', 'Verify'],
    ],
  },
]

export const JOURNEY_TOPIC: Topic = {
  id: 'journeys',
  title: 'Twelve tasks',
  words: 'What merchants, payers, underwriters, device makers and auditors do, with the public URL and a wallet.',
  chapters: (deps) =>
    JOURNEYS.map((journey) => {
      const { caption, text } = journey.sample(deps.origins.api_url)
      return {
        id: journey.id,
        title: journey.title,
        body: html`${steps(1, ...journey.steps.map((step) => inline(step)))} ${sample(journey.id, 'shell', caption, text)}
          <p>More: ${journey.pages.map(([href, title], place) => html`${place === 0 ? '' : ', '}<a href="${href}">${title}</a>`)}.</p>`,
      }
    }),
}
