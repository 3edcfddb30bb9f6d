/** All findings of receipt verification, in the order of the checks. Messages never quote the receipt. */
export const RECEIPT_CODES = {
  not_an_object: 'The receipt must be a JSON object.',
  bad_compact_form: 'The compact receipt cannot be read: it is cut off or altered.',
  missing_field: 'A required field is missing.',
  wrong_type: 'A field has the wrong type: ts must be a whole number of seconds, all other fields must be strings.',
  field_too_long: 'A field is longer than 1,024 characters.',
  ill_formed_text: 'A field contains half of a surrogate pair, which cannot be encoded as UTF-8.',
  holds_bar: 'A field contains a vertical bar, which separates the fields of the signed text.',
  bad_version: 'The field v must be "XDR-1".',
  bad_signer: 'The declared signer must be an address: 0x and 40 hex digits.',
  bad_signature_format: 'The signature must be 0x-prefixed hex.',
  bad_signature_length: 'The signature must have 65 bytes: 0x and 130 hex digits.',
  bad_recovery_id: 'The last byte of the signature must be 0, 1, 27 or 28.',
  zero_signature: 'r or s of the signature is zero.',
  signature_out_of_range: 'r or s of the signature is not below the order of the secp256k1 group.',
  not_recoverable: 'No key could have made this signature over this digest.',
  high_s: 'The signature has a high s value. Only low s is accepted, because anyone can convert one to the other.',
  signer_mismatch: 'The signature was made by another key than the declared signer, or the receipt was altered.',
  off_grammar: 'A field does not match the XDR-1 format; the signature covers its value as it is.',
  signer_case: 'The declared signer contains capital letters; XDR-1 uses lower case.',
  unsigned_fields: 'The receipt has additional fields that the signature does not cover.',
  signer_not_published: 'Unknown signer: it is not on the key list.',
  signer_not_yet_valid: 'The receipt is dated before its key became valid.',
  signer_retired: 'The receipt is dated after its key was retired.',
  signer_revoked: 'The key of this receipt has been revoked.',
  revoked_later: 'The key was revoked later than the date of the receipt; the signer could have backdated it.',
} as const

export type ReceiptCode = keyof typeof RECEIPT_CODES

export interface ReceiptFinding {
  code: ReceiptCode
  /** Field of the receipt; null for the receipt as a whole. */
  field: string | null
  message: string
}
