import { html } from '../html.ts'
import { encodeReceipt } from '../../../pure/receipts/compact.ts'
import { type Receipt, digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { RECEIPT_LIMIT } from '../../../service/catalogue/text.ts'
import { receiptSchema } from '../../../service/catalogue/wire-schemas.ts'
import { code, curl, items, json, paragraphs, sample, steps, table, type Topic } from './parts.ts'
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
