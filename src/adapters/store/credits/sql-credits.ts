import type { Statement } from '../work.ts'

const CREDIT = `c.number, c.unit, cast(c.unit_minor as text) as unit_minor, cast(c.granted as text) as granted,
  cast(c.reversed as text) as reversed, cast(c.spent as text) as spent, cast(c.reserved as text) as reserved, c.origin, c.created_ms`
const USE = `u.number, u.tool, u.input_hash, cast(u.amount as text) as amount, u.state, u.fence, u.claim_until_ms, u.updated_ms`

export const READ_CREDIT: Statement = { name: 'read_credit', text: `select ${CREDIT} from credit c where c.code_hash = ?1` }

/** Nobody else changes what it holds until the work is done. */
export const LOCK_CREDIT: Statement = { ...READ_CREDIT, name: 'lock_credit', row_lock: 'for update' }

export const INSERT_CREDIT: Statement = {
  name: 'insert_credit',
  text: `insert into credit (code_hash, unit, unit_minor, granted, origin, created_ms) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (code_hash) do nothing returning number`,
}

export const RESERVE: Statement = { name: 'reserve_credit', text: 'update credit set reserved = reserved - ?2 + ?3 where number = ?1' }

export const GIVE_BACK_RESERVED: Statement = {
  name: 'give_back_reserved',
  text: 'update credit set reserved = reserved - ?2 where number = ?1',
}

export const BOOK_DEBIT: Statement = {
  name: 'book_debit',
  text: 'update credit set reserved = reserved - ?2, spent = spent + ?2 where number = ?1',
}

export const SET_REVERSED: Statement = { name: 'set_reversed', text: 'update credit set reversed = ?2 where number = ?1' }

export const READ_USE: Statement = {
  name: 'read_credit_use',
  text: `select ${USE} from credit_use u where u.credit = ?1 and u.use_hash = ?2`,
}

export const FIND_USE: Statement = {
  name: 'find_credit_use',
  text: `select ${USE} from credit c join credit_use u on u.credit = c.number where c.code_hash = ?1 and u.use_hash = ?2`,
}

export const INSERT_USE: Statement = {
  name: 'insert_credit_use',
  text: `insert into credit_use (credit, use_hash, tool, input_hash, amount, claim_until_ms, created_ms, updated_ms, state, fence)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 'claimed', 1)`,
}

export const CLAIM_USE_AGAIN: Statement = {
  name: 'claim_credit_use_again',
  text: `update credit_use set amount = ?2, claim_until_ms = ?3, updated_ms = ?4, state = 'claimed', fence = fence + 1
    where number = ?1 returning fence`,
}

const OF_KEY = `credit = (select number from credit where code_hash = ?1) and use_hash = ?2`
const CLOSED = `returning number, credit, cast(amount as text) as amount`

export const SETTLE_USE: Statement = {
  name: 'settle_credit_use',
  text: `update credit_use set state = 'settled', updated_ms = ?4 where ${OF_KEY} and fence = ?3 and state = 'claimed' ${CLOSED}`,
}

export const RELEASE_USE: Statement = {
  name: 'release_credit_use',
  text: `update credit_use set state = 'released', updated_ms = ?4 where ${OF_KEY} and fence = ?3 and state = 'claimed' ${CLOSED}`,
}

/** At most ?2 claims that ran out before ?1, for their keys. */
export const READ_ABANDONED: Statement = {
  name: 'read_abandoned_uses',
  text: `select c.code_hash, u.use_hash, u.fence from credit_use u join credit c on c.number = u.credit
    where u.state = 'claimed' and u.claim_until_ms < ?1 order by u.claim_until_ms limit ?2`,
}

export const WRITE_CREDIT_ANSWER: Statement = {
  name: 'write_credit_answer',
  text: 'insert into credit_answer (credit_use, sealed, expires_ms) values (?1, ?2, ?3)',
}

/** Settling in one statement, for PostgreSQL: the use, its answer, the debit and the sale. */
export const SETTLE_JOINED: Statement = {
  name: 'settle_credit_joined',
  text: `with moved as (${SETTLE_USE.text}),
    kept as (insert into credit_answer (credit_use, sealed, expires_ms) select number, ?5, cast(?6 as bigint) from moved),
    booked as (update credit set reserved = reserved - cast(m.amount as bigint), spent = spent + cast(m.amount as bigint)
      from moved m where credit.number = m.credit),
    sold as (insert into sale (epoch, price_class, payer) select cast(?7 as bigint), ?8, ?1 from moved
      on conflict (epoch, price_class, payer) do nothing)
    select number from moved`,
}

export const READ_CREDIT_ANSWER: Statement = {
  name: 'read_credit_answer',
  text: `select a.sealed, a.expires_ms from credit c join credit_use u on u.credit = c.number join credit_answer a on a.credit_use = u.number
    where c.code_hash = ?1 and u.use_hash = ?2`,
}

/** At most ?2 rows at a time. */
export const PURGE_CREDIT_ANSWERS: Statement = {
  name: 'purge_credit_answers',
  text: `delete from credit_answer where credit_use in (select credit_use from credit_answer where expires_ms <= ?1 limit ?2)
    returning credit_use`,
}

export const READ_SETTLED_USES: Statement = {
  name: 'read_settled_uses',
  text: `select ${USE} from credit_use u where u.credit = ?1 and u.state = 'settled' order by u.number desc limit ?2`,
}
