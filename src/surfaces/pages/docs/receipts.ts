import { html } from '../html.ts'
import { digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { RECEIPT_LIMIT } from '../../../service/catalogue/text.ts'
import { receiptSchema } from '../../../service/catalogue/wire-schemas.ts'
import { code, curl, items, json, paragraphs, sample, steps, table, type Topic } from './parts.ts'

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
