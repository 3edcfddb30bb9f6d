/** The closed vocabulary of receipt verification, in the order in which faults are looked for. Messages never quote the receipt. */
export const RECEIPT_CODES = {
  not_an_object: 'The receipt is not one JSON object that every reader reads alike.',
  missing_field: 'A field that every receipt has is missing.',
  wrong_type: 'A field has the wrong type: all are texts but ts, which is a whole number of seconds.',
  field_too_long: 'A field is longer than receipts are read.',
  ill_formed_text: 'A field holds half of a surrogate pair, which has no UTF-8 form.',
  holds_bar: 'A field holds a vertical bar, so the signed text could be read in two ways.',
  bad_version: 'The field v is not XDR-1.',
  bad_signer: 'The declared signer is not a 20-byte address in 0x-prefixed hex.',
  bad_signature_format: 'The signature is not 0x-prefixed hex.',
  bad_signature_length: 'The signature is not 65 bytes long.',
  bad_recovery_id: 'The last byte of the signature is not 0, 1, 27 or 28.',
  zero_signature: 'A half of the signature is zero.',
  signature_out_of_range: 'A half of the signature is not below the order of the group.',
  not_recoverable: 'No key could have made this signature over this digest.',
  high_s: 'The signature has the high s; anybody can make it from the low one, so only the low one counts.',
  signer_mismatch: 'The signature was made by another key than the declared signer, or the receipt was altered.',
  off_grammar: 'A field does not have the form that XDR-1 gives it; the signature covers it as it stands.',
  signer_case: 'The declared signer is written with capital letters.',
  unsigned_fields: 'The receipt holds further fields that the signature does not cover.',
  signer_not_published: 'The signer is not on the key list.',
  signer_not_yet_valid: 'The receipt is dated before its key became valid.',
  signer_retired: 'The receipt is dated after its key was retired.',
  signer_revoked: 'The key of this receipt has been revoked.',
  revoked_later: 'The key was revoked later than the date of the receipt; that date is the signer’s own word.',
} as const

export type ReceiptCode = keyof typeof RECEIPT_CODES

export interface ReceiptFinding {
  code: ReceiptCode
  /** The receipt's field; null when the receipt as a whole is meant. */
  field: string | null
  message: string
}

export function finding(code: ReceiptCode, field: string | null = null): ReceiptFinding {
  return { code, field, message: RECEIPT_CODES[code] }
}
