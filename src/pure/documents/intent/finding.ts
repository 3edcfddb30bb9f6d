/** What stands in the way of an intent, or should be known of it. `found` texts are never repeated. */
export interface IntentFinding {
  code: (typeof INTENT_CODES)[number]
  field: string
  message: string
}

export const INTENT_CODES = [
  'currency_unknown',
  'no_token',
  'amount_missing',
  'amount_fraction',
  'amounts_differ',
  'amount_not_positive',
  'unsupported_chain',
  'iban_invalid',
  'directory_ambiguous',
  'wallet_invalid',
  'wallet_checksum',
  'wallet_zero',
  'recipient_missing',
  'payer_is_recipient',
  'window_empty',
] as const
