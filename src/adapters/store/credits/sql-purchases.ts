import type { Statement } from '../work.ts'

/** Returns no row for a notice that was heeded before. */
export const INSERT_EVENT: Statement = {
  name: 'insert_credit_event',
  text: 'insert into credit_event (event_id, received_ms) values (?1, ?2) on conflict (event_id) do nothing returning event_id',
}

/** Returns no row for a payment that was granted before. */
export const INSERT_PURCHASE: Statement = {
  name: 'insert_credit_purchase',
  text: `insert into credit_purchase (session_id, payment_ref, claim_hash, code_hash, amount_minor, sealed_code, paid_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing returning session_id`,
}

const PURCHASE = 'claim_hash, code_hash, cast(amount_minor as text) as amount_minor, sealed_code, paid_ms'

export const READ_PURCHASE: Statement = {
  name: 'read_credit_purchase',
  text: `select ${PURCHASE} from credit_purchase where session_id = ?1`,
}

export const READ_PURCHASE_OF: Statement = {
  name: 'read_credit_purchase_of',
  text: `select ${PURCHASE} from credit_purchase where payment_ref = ?1`,
}

export const FORGET_CODE: Statement = {
  name: 'forget_credit_code',
  text: 'update credit_purchase set sealed_code = null where session_id = ?1',
}

const REVERSAL = 'reference, cast(amount_minor as text) as amount_minor, standing, updated_ms'

export const READ_REVERSALS: Statement = {
  name: 'read_credit_reversals',
  text: `select ${REVERSAL} from credit_reversal where payment_ref = ?1 order by reference`,
}

export const WRITE_REVERSAL: Statement = {
  name: 'write_credit_reversal',
  text: `insert into credit_reversal (payment_ref, reference, amount_minor, standing, updated_ms) values (?1, ?2, ?3, ?4, ?5)
    on conflict (payment_ref, reference) do update
      set amount_minor = excluded.amount_minor, standing = excluded.standing, updated_ms = excluded.updated_ms`,
}

/** At most ?2 of those that took from the credit with this code. */
export const READ_REVERSALS_OF_CODE: Statement = {
  name: 'read_credit_reversals_of_code',
  text: `select r.reference, cast(r.amount_minor as text) as amount_minor, r.standing, r.updated_ms
    from credit_purchase p join credit_reversal r on r.payment_ref = p.payment_ref
    where p.code_hash = ?1 order by r.updated_ms desc, r.reference limit ?2`,
}
