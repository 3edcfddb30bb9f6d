import { amount, columns, count, hash_type, key_type, nullable, parameter, pick, text_type, word_type } from './columns.ts'
import { assigned, inserted, insertedFrom, locked, matched, raw, replaced, selected, sql, statement } from './statements.ts'

/** Credits, their uses with answers, card purchases and what took those back: columns and statements. */

const credit_code = columns({ code_hash: hash_type })
const credit_grant = columns({
  unit: word_type('usdc_minor', 'calls'),
  unit_minor: amount,
  granted: amount,
  origin: word_type('card', 'invoice'),
  created_ms: count,
})
const credit = { ...credit_grant, ...columns({ reversed: amount, spent: amount, reserved: amount }) }
const row_number = columns({ number: count })

const use_key = columns({ use_hash: hash_type })
const use_request = columns({ tool: key_type, input_hash: key_type })
const use_claim = columns({ amount, claim_until_ms: count })
const use = {
  ...use_request,
  ...use_claim,
  ...columns({ state: word_type('claimed', 'settled', 'released'), fence: count, updated_ms: count }),
}
/** Amount that a use takes from its credit. */
const debit = { ...columns({ credit: count }), ...pick(use, 'amount') }
const answer = columns({ sealed: text_type, expires_ms: count })
const now = parameter('now_ms', count)
const limit = parameter('limit', count)
const CREDIT_OF_CODE = matched(credit_code)

export const READ_CREDIT = statement(
  'read_credit',
  sql`select ${selected({ ...row_number, ...credit })} from credit where ${CREDIT_OF_CODE}`,
)

/** Until the end of the work no other process changes the credit. */
export const LOCK_CREDIT = locked('lock_credit', READ_CREDIT)

export const INSERT_CREDIT = statement(
  'insert_credit',
  sql`insert into credit ${inserted({ ...credit_code, ...credit_grant })}
    on conflict (code_hash) do nothing returning ${selected(row_number)}`,
)

const CREDIT_KEY = sql`number = ${debit.credit}`

/** `given_back` is what an abandoned claim had reserved. */
export const RESERVE = statement(
  'reserve_credit',
  sql`update credit set reserved = reserved - ${parameter('given_back', amount)} + ${debit.amount} where ${CREDIT_KEY}`,
)

export const GIVE_BACK_RESERVED = statement(
  'give_back_reserved',
  sql`update credit set reserved = reserved - ${debit.amount} where ${CREDIT_KEY}`,
)

export const BOOK_DEBIT = statement(
  'book_debit',
  sql`update credit set reserved = reserved - ${debit.amount}, spent = spent + ${debit.amount} where ${CREDIT_KEY}`,
)

export const SET_REVERSED = statement(
  'set_reversed',
  sql`update credit set ${assigned(pick(credit, 'reversed'))} where ${matched(row_number)}`,
)

export const READ_USE = statement(
  'read_credit_use',
  sql`select ${selected({ ...row_number, ...use })} from credit_use where credit = ${debit.credit} and use_hash = ${use_key.use_hash}`,
)

export const FIND_USE = statement(
  'find_credit_use',
  sql`select ${selected(use, 'u')} from credit c join credit_use u on u.credit = c.number
    where c.code_hash = ${credit_code.code_hash} and u.use_hash = ${use_key.use_hash}`,
)

export const INSERT_USE = statement(
  'insert_credit_use',
  sql`insert into credit_use ${inserted(
    { ...pick(debit, 'credit'), ...use_key, ...use_request, ...use_claim },
    { created_ms: now, updated_ms: now, state: raw(`'claimed'`), fence: raw('1') },
  )}`,
)

export const CLAIM_USE_AGAIN = statement(
  'claim_credit_use_again',
  sql`update credit_use set ${assigned(use_claim)}, updated_ms = ${now}, state = 'claimed', fence = fence + 1
    where ${matched(row_number)} returning ${selected(pick(use, 'fence'))}`,
)

/** Ends a claimed use under its fence. */
function endUse(name: string, state: 'settled' | 'released') {
  return statement(
    name,
    sql`update credit_use set state = ${raw(`'${state}'`)}, updated_ms = ${now}
      where credit = (select number from credit where ${CREDIT_OF_CODE}) and ${matched(use_key)} and fence = ${use.fence} and state = 'claimed'
      returning ${selected({ ...row_number, ...debit })}`,
  )
}
export const SETTLE_USE = endUse('settle_credit_use', 'settled')
export const RELEASE_USE = endUse('release_credit_use', 'released')

/** Claims that ran out before now. */
export const READ_ABANDONED = statement(
  'read_abandoned_uses',
  sql`select ${selected(credit_code, 'c')}, ${selected({ ...use_key, fence: use.fence }, 'u')}
    from credit_use u join credit c on c.number = u.credit
    where u.state = 'claimed' and u.claim_until_ms < ${now} order by u.claim_until_ms limit ${limit}`,
)

export const WRITE_CREDIT_ANSWER = statement(
  'write_credit_answer',
  sql`insert into credit_answer ${inserted({ ...columns({ number: count }, { number: 'credit_use' }), ...answer })}`,
)

/** Settling in one statement, for PostgreSQL: the use, its answer, the debit and the sale. */
export const SETTLE_JOINED = statement(
  'settle_credit_joined',
  sql`with moved as (${SETTLE_USE.fragment}),
    kept as (insert into credit_answer ${insertedFrom(answer, { credit_use: raw('number') })} from moved),
    booked as (update credit set reserved = reserved - cast(m.amount as bigint), spent = spent + cast(m.amount as bigint)
      from moved m where credit.number = m.credit),
    sold as (insert into sale ${insertedFrom(columns({ epoch: count, price_class: key_type, code_hash: hash_type }, { code_hash: 'payer' }))} from moved
      on conflict (epoch, price_class, payer) do nothing)
    select number from moved`,
)

export const READ_CREDIT_ANSWER = statement(
  'read_credit_answer',
  sql`select ${selected(answer, 'a')} from credit c join credit_use u on u.credit = c.number join credit_answer a on a.credit_use = u.number
    where c.code_hash = ${credit_code.code_hash} and u.use_hash = ${use_key.use_hash}`,
)

export const PURGE_CREDIT_ANSWERS = statement(
  'purge_credit_answers',
  sql`delete from credit_answer where credit_use in (select credit_use from credit_answer where expires_ms <= ${now} limit ${limit})
    returning credit_use`,
)

export const READ_SETTLED_USES = statement(
  'read_settled_uses',
  sql`select ${selected(pick(use, 'tool', 'amount', 'updated_ms'))} from credit_use
    where credit = ${debit.credit} and state = 'settled' order by number desc limit ${limit}`,
)

/** Returns no row for an event that was handled before. */
export const INSERT_EVENT = statement(
  'insert_credit_event',
  sql`insert into credit_event ${inserted(columns({ event_id: key_type, now_ms: count }, { now_ms: 'received_ms' }))}
    on conflict (event_id) do nothing returning event_id`,
)

const session = columns({ session_id: key_type })
const card_payment = columns({ payment_ref: key_type })
const purchase_columns = columns({
  claim_hash: key_type,
  code_hash: hash_type,
  amount_minor: amount,
  sealed_code: nullable(text_type),
  paid_ms: count,
})

/** Returns no row for a payment that was granted before. */
export const INSERT_PURCHASE = statement(
  'insert_credit_purchase',
  sql`insert into credit_purchase ${inserted({ ...session, ...card_payment, ...purchase_columns })} on conflict do nothing returning session_id`,
)

export const READ_PURCHASE = statement(
  'read_credit_purchase',
  sql`select ${selected(purchase_columns)} from credit_purchase where ${matched(session)}`,
)

export const READ_PURCHASE_OF = statement(
  'read_credit_purchase_of',
  sql`select ${selected(purchase_columns)} from credit_purchase where ${matched(card_payment)}`,
)

export const FORGET_CODE = statement('forget_credit_code', sql`update credit_purchase set sealed_code = null where ${matched(session)}`)

const reversal = columns({ reference: key_type, amount_minor: amount, standing: word_type('open', 'won', 'lost'), updated_ms: count })

export const READ_REVERSALS = statement(
  'read_credit_reversals',
  sql`select ${selected(reversal)} from credit_reversal where ${matched(card_payment)} order by reference`,
)

export const WRITE_REVERSAL = statement(
  'write_credit_reversal',
  sql`insert into credit_reversal ${inserted({ ...card_payment, ...reversal })}
    on conflict (payment_ref, reference) do update set ${replaced(pick(reversal, 'amount_minor', 'standing', 'updated_ms'))}`,
)

/** Of those that took from the credit with this code. */
export const READ_REVERSALS_OF_CODE = statement(
  'read_credit_reversals_of_code',
  sql`select ${selected(pick(reversal, 'amount_minor', 'standing', 'updated_ms'), 'r')}
    from credit_purchase p join credit_reversal r on r.payment_ref = p.payment_ref
    where p.code_hash = ${credit_code.code_hash} order by r.updated_ms desc, r.reference limit ${limit}`,
)
