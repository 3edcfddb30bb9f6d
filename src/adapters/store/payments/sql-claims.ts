import { IN_FLIGHT, statesBefore, UNSENT } from '../../../pure/payments/states.ts'
import type { Statement } from '../work.ts'
import { literals, PAYMENT_COLUMNS, sumOf } from './row.ts'

const KEY = 'payer = ?1 and nonce = ?2'

export const READ_IN_FLIGHT: Statement = {
  name: 'read_in_flight',
  text: `select ${sumOf('value_minor')} from payment where payer = ?1 and state in (${literals(IN_FLIGHT)})`,
}

/** The same payments one by one. */
export const READ_EACH_IN_FLIGHT: Statement = {
  name: 'read_each_in_flight',
  text: `select nonce, cast(value_minor as text) as value_minor from payment where payer = ?1 and state in (${literals(IN_FLIGHT)}) limit ?2`,
}

/** Nobody else claims for the invoice, or voids it, until the work is done. */
export const LOCK_INVOICE: Statement = {
  name: 'lock_invoice',
  text: 'select cast(amount_minor as text) as amount_minor, voided_ms from invoice where invoice_id = ?1',
  row_lock: 'for update',
}

export const READ_ATTRIBUTED: Statement = {
  name: 'read_attributed',
  text: `select ${sumOf('amount_minor')} from invoice_payment where invoice_id = ?1`,
}

/** Of an invoice, but for the payment of payer ?2 and nonce ?3. What is final has been attributed long ago. */
export const READ_UNDER_WAY: Statement = {
  name: 'read_under_way',
  text: `select ${sumOf('value_minor')} from payment p
    where p.state in (${literals([...IN_FLIGHT, 'settled'])}) and p.final = 0 and p.purpose = 'invoice' and p.subject = ?1
      and not (p.payer = ?2 and p.nonce = ?3)
      and not exists (select 1 from invoice_payment i where i.invoice_id = ?1 and i.payer = p.payer and i.nonce = p.nonce)`,
}

/** Returns no row when the authorization is known already. */
export const INSERT_CLAIM: Statement = {
  name: 'insert_claim',
  text: `insert into payment (payer, nonce, purpose, subject, input_hash, recipient, value_minor, valid_after_s, valid_before_s, signature,
      contract_payer, price_class, token_hash, network_hash, identifier_hash, claim_until_ms, created_ms, updated_ms, state, fence)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17, 'claimed', 1)
    on conflict (payer, nonce) do nothing
    returning fence`,
}

/** The binding stays; all else is as the new claim has it. */
export const CLAIM_AGAIN: Statement = {
  name: 'claim_again',
  text: `update payment set recipient = ?3, value_minor = ?4, valid_after_s = ?5, valid_before_s = ?6, signature = ?7, contract_payer = ?8,
      price_class = ?9, token_hash = ?10, network_hash = ?11, identifier_hash = ?12, claim_until_ms = ?13, updated_ms = ?14, state = 'claimed', fence = fence + 1, reason = null
    where ${KEY}
    returning fence, number`,
}

export const READ_PAYMENT: Statement = { name: 'read_payment', text: `select ${PAYMENT_COLUMNS} from payment p where ${KEY}` }

export const LOCK_PAYMENT: Statement = { ...READ_PAYMENT, name: 'lock_payment', row_lock: 'for update' }

export const READ_BY_TOKEN: Statement = {
  name: 'read_by_token',
  text: `select ${PAYMENT_COLUMNS} from payment p where token_hash = ?1`,
}

export const READ_ANSWER: Statement = {
  name: 'read_answer',
  text: `select a.sealed, a.expires_ms from payment p join payment_answer a on a.payment = p.number where p.payer = ?1 and p.nonce = ?2`,
}

export const PREPARE: Statement = {
  name: 'prepare_payment',
  text: `update payment set state = 'prepared', updated_ms = ?4
    where ${KEY} and fence = ?3 and state in (${literals(statesBefore('prepared'))})
    returning number`,
}

export const WRITE_ANSWER: Statement = {
  name: 'write_answer',
  text: 'insert into payment_answer (payment, sealed, expires_ms) values (?1, ?2, ?3)',
}

/** PREPARE and WRITE_ANSWER in one, for PostgreSQL. */
export const PREPARE_JOINED: Statement = {
  name: 'prepare_joined',
  text: `with moved as (${PREPARE.text}),
    kept as (insert into payment_answer (payment, sealed, expires_ms) select number, ?5, cast(?6 as bigint) from moved)
    select number from moved`,
}

export const FORGET_ANSWER: Statement = { name: 'forget_answer', text: 'delete from payment_answer where payment = ?1' }

export const BEGIN_SETTLING: Statement = {
  name: 'begin_settling',
  text: `update payment set state = 'settling', method = ?4, settler = ?5, updated_ms = ?6
    where ${KEY} and fence = ?3 and state in (${literals(statesBefore('settling'))})
    returning fence`,
}

export const RELEASE: Statement = {
  name: 'release_payment',
  text: `update payment set state = 'released', reason = ?4, updated_ms = ?5
    where ${KEY} and fence = ?3 and state in (${literals(UNSENT)})
    returning number`,
}

export const TAKE_BACK: Statement = {
  name: 'take_payment_back',
  text: `update payment set state = 'released', reason = ?4, updated_ms = ?5
    where ${KEY} and fence = ?3 and state = 'settling' and account_nonce is null and transaction_hash is null
    returning number`,
}

/** At most ?2 rows at a time. */
export const RELEASE_ABANDONED: Statement = {
  name: 'release_abandoned',
  text: `update payment set state = 'released', reason = 'abandoned', updated_ms = ?1
    where number in (select number from payment
      where state in (${literals(UNSENT)}) and final = 0 and claim_until_ms < ?1 order by number limit ?2)
      and state in (${literals(UNSENT)}) and claim_until_ms < ?1
    returning number`,
}

/** Answers of payments that were released at ?1, among them those that RELEASE_ABANDONED has just released. */
export const FORGET_RELEASED: Statement = {
  name: 'forget_released',
  text: `delete from payment_answer where payment in (select number from payment where state = 'released' and final = 0 and updated_ms = ?1)`,
}
