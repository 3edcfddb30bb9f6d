import { TEST_VECTOR } from '../../pure/receipts/test-vector.ts'
import { GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS } from '../../pure/receipts/receipt.ts'
import { modeMark, RECEIPT_LIMIT } from '../../service/catalogue/text.ts'
import { LOG_RULES } from '../../service/log/rules.ts'
import type { AppDeps } from '../deps.ts'

/** `/.well-known/xdr-1.json`: all that is needed to verify a receipt without asking this service again. */
export function receiptSpec(deps: AppDeps) {
  const { signer, recipient } = deps.call.stamp
  return {
    receipt_spec: 'XDR-1',
    mode: deps.mode,
    notice: modeMark(deps),
    chain_id: deps.chain_id,
    signing_address: signer.address,
    payment_address: recipient,
    keys: deps.keys,
    signed_text: {
      encoding: 'UTF-8',
      separator: '|',
      fields: SIGNED_FIELDS,
      tail_fields: TAIL_FIELDS,
      tail_rule:
        'Appended only when the receipt has one of them, and not empty: successor or the empty text, then stream_state or "active".',
      values: 'As they stand in the receipt; ts in plain decimal.',
    },
    grammar: Object.fromEntries(Object.entries(GRAMMAR).map(([field, pattern]) => [field, pattern.source])),
    digest: 'keccak-256 of the bytes of the signed text, neither wrapped (EIP-191) nor typed (EIP-712). It also names the receipt.',
    signature:
      'secp256k1 over the digest, recoverable: 65 bytes r, s, v as 0x-prefixed hex; s in the lower half, v 27 or 28 (0 and 1 are read too).',
    hashes: {
      input_hash: 'keccak-256 of the RFC 8785 text of the input, without the wrapper {"input": …}.',
      output_hash:
        'keccak-256 of the RFC 8785 text of the result, without receipt, badge and summary. Results are sent in that order of keys.',
    },
    chain_link: {
      request_header: 'X-PREV-RECEIPT-HASH',
      signed_text: 'XDR-1-LINK|{digest of this receipt}|{prev_receipt_hash}',
      fields: ['prev_receipt_hash', 'link_digest', 'link_signature'],
      description:
        'link_digest is the keccak-256 of that text, link_signature its signature by the key of the receipt. Several receipts may follow one.',
    },
    verify: [
      'Join the values of the signed fields with the separator.',
      'Take the keccak-256 of its UTF-8 bytes and recover the address from the signature.',
      'Compare it, in lower case, with the field signer.',
      'Find the signer among the keys: ts must not lie before not_before, nor after not_after, nor at or after revoked_at.',
      'With input and result at hand, take the keccak-256 of their RFC 8785 texts and compare them with input_hash and output_hash.',
    ],
    log:
      deps.log === null
        ? null
        : {
            prefix: `${deps.origins.api_url}/log`,
            verifier_key: deps.log.verifier_key,
            entry: 'SHA-256 over the 32 bytes of the digest and the 65 bytes of the signature with v 27 or 28',
            merge_delay_s: LOG_RULES.merge_s,
          },
    verify_url: `${deps.origins.api_url}/v1/receipt/verify`,
    not_proved: RECEIPT_LIMIT,
    test_vector: TEST_VECTOR,
  }
}
