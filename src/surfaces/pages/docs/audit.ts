import { html } from '../html.ts'
import { BUNDLE_ENTRIES_MAX, BUNDLE_FORMAT, BUNDLE_LIMITS, BUNDLE_VERSION } from '../../../pure/audit/bundle.ts'
import { BUNDLE_RULES } from '../../../service/limits.ts'
import { code, curl, items, paragraphs, sample, steps, table, type Topic } from './parts.ts'

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
