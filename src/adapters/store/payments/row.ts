import type { Payment } from '../../../ports/payments.ts'
import { PAYMENT_STATES } from '../../../pure/payments/states.ts'
import { integer, integerOrNull, oneOf, text, textOrNull, wide } from '../rows.ts'
import type { Row } from '../work.ts'

/** What of a payment is read, in the order of the table; integers that may exceed 2^53 as text. */
export const PAYMENT_COLUMNS = `p.number, p.payer, p.nonce, p.purpose, p.subject, p.input_hash, p.recipient,
  cast(p.value_minor as text) as value_minor, cast(p.valid_after_s as text) as valid_after_s, cast(p.valid_before_s as text) as valid_before_s,
  p.signature, p.contract_payer, p.price_class, p.state, p.fence, p.claim_until_ms, p.created_ms, p.updated_ms, p.method, p.settler,
  p.account_nonce, p.transaction_hash, p.block_number, p.block_hash, p.settled_ms, p.final, p.reason,
  p.network_hash, p.identifier_hash`

/** States as a list of SQL literals. */
export function literals(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ')
}

const PURPOSES = ['call', 'invoice'] as const
const METHODS = ['self', 'facilitator'] as const

export function paymentOf(row: Row): Payment {
  return {
    payer: text(row, 'payer'),
    nonce: text(row, 'nonce'),
    purpose: oneOf(row, 'purpose', PURPOSES),
    subject: text(row, 'subject'),
    input_hash: text(row, 'input_hash'),
    to: text(row, 'recipient'),
    value_minor: wide(row, 'value_minor'),
    valid_after_s: wide(row, 'valid_after_s'),
    valid_before_s: wide(row, 'valid_before_s'),
    signature: text(row, 'signature'),
    network_hash: textOrNull(row, 'network_hash'),
    identifier_hash: textOrNull(row, 'identifier_hash'),
    contract_payer: integer(row, 'contract_payer') === 1,
    price_class: text(row, 'price_class'),
    state: oneOf(row, 'state', PAYMENT_STATES),
    fence: integer(row, 'fence'),
    claim_until_ms: integer(row, 'claim_until_ms'),
    created_ms: integer(row, 'created_ms'),
    updated_ms: integer(row, 'updated_ms'),
    method: row['method'] === null ? null : oneOf(row, 'method', METHODS),
    settler: textOrNull(row, 'settler'),
    account_nonce: integerOrNull(row, 'account_nonce'),
    transaction: textOrNull(row, 'transaction_hash'),
    block_number: integerOrNull(row, 'block_number'),
    block_hash: textOrNull(row, 'block_hash'),
    settled_ms: integerOrNull(row, 'settled_ms'),
    final: integer(row, 'final') === 1,
    reason: textOrNull(row, 'reason'),
  }
}

/**
 * The two halves of a sum of amounts, as `high` and `low`. Each stays far below 2^63, where SQLite would give up; together they are exact.
 */
export function sumOf(column: string): string {
  const half = (operator: string): string => `cast(coalesce(sum(${column} ${operator} 4294967296), 0) as text)`
  return `${half('/')} as high, ${half('%')} as low`
}

export function sumIn(row: Row | undefined): bigint {
  return wide(row, 'high') * 4_294_967_296n + wide(row, 'low')
}
