/** The tables that came after the first schema, those first that refer to others. */
export const LATER_TABLES = [
  'invoice_watch',
  'invoice_payment',
  'invoice_nonce',
  'invoice',
  'payment_answer',
  'payment',
  'sending_attempt',
  'sending',
  'sale',
  'price_mark',
  'gas_spent',
  'closed_stretch',
  'dispute',
  'underwriter',
  'policy',
  'assured_record',
]
