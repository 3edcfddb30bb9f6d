/** The headers by which a call is paid from a credit. */
export const CREDIT_PARAMETERS = {
  'x-credit': {
    name: 'X-CREDIT',
    in: 'header',
    description: 'The code of a prepaid credit, in place of a payment.',
    schema: { type: 'string', maxLength: 64 },
  },
  'idempotency-key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Names a call that a credit pays; a retry sends the same one.',
    schema: { type: 'string', maxLength: 128 },
  },
}
