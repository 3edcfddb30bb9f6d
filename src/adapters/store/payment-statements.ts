import { IN_FLIGHT_STATES, PAYER_ACTS, PAYMENT_STATES, statesBefore, UNSENT_STATES } from '../../pure/payments/states.ts'
import {
  address,
  amount,
  bytes32,
  columns,
  count,
  flag,
  hash_type,
  key_type,
  nullable,
  parameter,
  pick,
  text_type,
  word_type,
} from './columns.ts'
import { assigned, expression, inserted, insertedFrom, literals, locked, matched, raw, selected, sql, statement } from './statements.ts'

/** Payments, their answers, sales and prices: columns and statements. */

export const payment_key = columns({ payer: address, nonce: bytes32 })
const binding = columns({ purpose: word_type('call', 'invoice', 'deposit'), subject: key_type, input_hash: key_type })
/** Written by each claim of an authorization, the first and later ones. */
const claim_terms = columns(
  {
    asset: nullable(key_type),
    to: key_type,
    value_minor: amount,
    valid_after_s: amount,
    valid_before_s: amount,
    signature: text_type,
    contract_payer: flag,
    price_class: key_type,
    network_hash: nullable(hash_type),
    identifier_hash: nullable(hash_type),
    claim_until_ms: count,
  },
  { to: 'recipient' },
)
const answer_token = columns({ token_hash: key_type })
const progress = columns(
  {
    state: word_type(...PAYMENT_STATES),
    fence: count,
    created_ms: count,
    updated_ms: count,
    method: nullable(word_type('self', 'facilitator', 'channel')),
    settler: nullable(key_type),
    account_nonce: nullable(count),
    transaction: nullable(text_type),
    block_number: nullable(count),
    block_hash: nullable(text_type),
    settled_ms: nullable(count),
    final: flag,
    reason: nullable(text_type),
    deposit_call: nullable(text_type),
    cumulative_minor: nullable(amount),
  },
  { transaction: 'transaction_hash' },
)
/** Columns that are read of a payment. */
export const payment = { ...payment_key, ...binding, ...claim_terms, ...progress }
const payment_number = columns({ number: count })
export const answer = columns({ sealed: text_type, expires_ms: count })
const sale = columns({ epoch: count, price_class: key_type, payer: key_type })
const price_mark = columns({ price_class: key_type, epoch: count, amount_minor: amount })

export const PAYMENT_KEY = matched(payment_key)
const { fence } = progress
export const now = parameter('now_ms', count)
/** Empty text is the null of USDC on the network of the deployment, ANY_ASSET for all. */
const asset = parameter('asset', text_type)
export const ANY_ASSET = '*'
const limit = parameter('limit', count)

/**
 * The two halves of a sum of amounts. Each stays far below 2^63, where SQLite would reject the sum; `totalOf` puts them together.
 */
export function sumOf(column: string) {
  const half = (operator: string): string => `cast(coalesce(sum(${column} ${operator} 4294967296), 0) as text)`
  return sql`${expression('high', amount, half('/'))}, ${expression('low', amount, half('%'))}`
}

export function totalOf(sum: { high: bigint; low: bigint } | null | undefined): bigint {
  return sum === null || sum === undefined ? 0n : sum.high * 4_294_967_296n + sum.low
}

export const READ_IN_FLIGHT = statement(
  'read_in_flight',
  sql`select ${sumOf('value_minor')} from payment
    where payer = ${payment.payer} and coalesce(asset, '') = ${asset} and state in (${literals(IN_FLIGHT_STATES)})`,
)

/** Charges of channels are final from the start; the index by state leaves them out, so every search that uses it says so. */
const NO_CHARGE = raw(`(method is null or method <> 'channel')`)

/** The same payments one by one. */
export const READ_EACH_IN_FLIGHT = statement(
  'read_each_in_flight',
  sql`select ${selected(pick(payment, 'nonce', 'value_minor'))} from payment
    where payer = ${payment.payer} and coalesce(asset, '') = ${asset} and state in (${literals(IN_FLIGHT_STATES)}) limit ${limit}`,
)

const invoice_id = parameter('invoice_id', key_type)

export const READ_ATTRIBUTED = statement(
  'read_attributed',
  sql`select ${sumOf('amount_minor')} from invoice_payment where invoice_id = ${invoice_id}`,
)

/** Of an invoice, except the payment with this payer and nonce (empty text for none). A final payment was attributed long ago. */
export const READ_UNDER_WAY = statement(
  'read_under_way',
  sql`select ${sumOf('value_minor')} from payment p
    where p.state in (${literals([...IN_FLIGHT_STATES, 'settled'])}) and p.final = 0 and p.purpose = 'invoice' and p.subject = ${invoice_id}
      and not (p.payer = ${parameter('payer', text_type)} and p.nonce = ${parameter('nonce', text_type)})
      and not exists (select 1 from invoice_payment i where i.invoice_id = ${invoice_id} and i.payer = p.payer and i.nonce = p.nonce)`,
)

/** Returns no row when the authorization is known. */
export const INSERT_CLAIM = statement(
  'insert_claim',
  sql`insert into payment ${inserted(
    { ...payment_key, ...binding, ...claim_terms, ...answer_token },
    { created_ms: now, updated_ms: now, state: raw(`'claimed'`), fence: raw('1') },
  )}
    on conflict (payer, nonce) do nothing
    returning ${selected({ fence })}`,
)

/** The binding stays; everything else is that of the new claim. */
export const CLAIM_AGAIN = statement(
  'claim_again',
  sql`update payment set ${assigned({ ...claim_terms, ...answer_token })}, updated_ms = ${now}, state = 'claimed', fence = fence + 1, reason = null
    where ${PAYMENT_KEY}
    returning ${selected({ fence, ...payment_number })}`,
)

/** A row of a payment that was settled before it is written. */
const restored_progress = pick(
  progress,
  'created_ms',
  'method',
  'settler',
  'transaction',
  'block_number',
  'block_hash',
  'settled_ms',
  'reason',
)

export const INSERT_RESTORED = statement(
  'insert_restored',
  sql`insert into payment ${inserted(
    { ...payment_key, ...binding, ...claim_terms, ...answer_token, ...restored_progress },
    { updated_ms: now, state: raw(`'settled'`), fence: raw('1') },
  )}
    on conflict (payer, nonce) do nothing
    returning ${selected(payment_number)}`,
)

export const RESTORE_AGAIN = statement(
  'restore_again',
  sql`update payment set ${assigned({ ...binding, ...claim_terms, ...answer_token, ...restored_progress })}, updated_ms = ${now},
      state = 'settled', fence = fence + 1, final = 0, account_nonce = null
    where ${PAYMENT_KEY}
    returning ${selected(payment_number)}`,
)

export const READ_PAYMENT = statement('read_payment', sql`select ${selected(payment)} from payment where ${PAYMENT_KEY}`)

export const LOCK_PAYMENT = locked('lock_payment', READ_PAYMENT)

export const READ_BY_TOKEN = statement(
  'read_by_token',
  sql`select ${selected(payment)} from payment where token_hash = ${answer_token.token_hash}`,
)

export const READ_BY_IDENTIFIER = statement(
  'read_by_identifier',
  sql`select ${selected(payment)} from payment where payer = ${payment.payer} and identifier_hash = ${parameter('identifier_hash', hash_type)}`,
)

export const FREE_IDENTIFIER = statement(
  'free_identifier',
  sql`update payment set identifier_hash = null where ${PAYMENT_KEY} and state = ${payment.state} and fence = ${fence} returning fence`,
)

export const READ_ANSWER = statement(
  'read_answer',
  sql`select ${selected(answer, 'a')} from payment p join payment_answer a on a.payment = p.number
    where p.payer = ${payment.payer} and p.nonce = ${payment.nonce}`,
)

export const PREPARE = statement(
  'prepare_payment',
  sql`update payment set state = 'prepared', updated_ms = ${now}
    where ${PAYMENT_KEY} and fence = ${fence} and state in (${literals(statesBefore('prepared'))})
    returning ${selected(payment_number)}`,
)

const answered_payment = columns({ number: count }, { number: 'payment' })
export const WRITE_ANSWER = statement('write_answer', sql`insert into payment_answer ${inserted({ ...answered_payment, ...answer })}`)

/** A deposit has no answer: that is stored with the charge of the voucher. */
export const PREPARE_DEPOSIT = statement(
  'prepare_deposit',
  sql`update payment set state = 'prepared', deposit_call = ${parameter('deposit_call', text_type)}, updated_ms = ${now}
    where ${PAYMENT_KEY} and fence = ${fence} and state in (${literals(statesBefore('prepared'))}) and purpose = 'deposit'
    returning ${selected(payment_number)}`,
)

/** Columns of the payment row of a voucher, and what is the same in all of them: it is settled from the start. */
export const charge_row = {
  ...payment_key,
  ...pick(binding, 'subject', 'input_hash'),
  ...pick(claim_terms, 'asset', 'to', 'value_minor', 'signature', 'price_class', 'network_hash', 'identifier_hash', 'claim_until_ms'),
  ...answer_token,
  ...columns({ created_ms: count, updated_ms: count, settled_ms: count, settler: key_type, cumulative_minor: amount }),
}

/** PREPARE and WRITE_ANSWER in one statement, for PostgreSQL. */
export const PREPARE_JOINED = statement(
  'prepare_joined',
  sql`with moved as (${PREPARE.fragment}),
    kept as (insert into payment_answer ${insertedFrom(answer, { payment: raw('number') })} from moved)
    select number from moved`,
)

export const FORGET_ANSWER = statement('forget_answer', sql`delete from payment_answer where payment = ${payment_number.number}`)

export const BEGIN_SETTLING = statement(
  'begin_settling',
  sql`update payment set state = 'settling', ${assigned(pick(payment, 'method', 'settler'))}, updated_ms = ${now}
    where ${PAYMENT_KEY} and fence = ${fence} and state in (${literals(statesBefore('settling'))})
    returning fence`,
)

const RELEASED = sql`update payment set state = 'released', reason = ${payment.reason}, updated_ms = ${now}
    where ${PAYMENT_KEY} and fence = ${fence}`

export const RELEASE = statement(
  'release_payment',
  sql`${RELEASED} and state in (${literals(UNSENT_STATES)}) returning ${selected(payment_number)}`,
)

export const TAKE_BACK = statement(
  'take_payment_back',
  sql`${RELEASED} and state = 'settling' and account_nonce is null and transaction_hash is null returning ${selected(payment_number)}`,
)

export const RELEASE_ABANDONED = statement(
  'release_abandoned',
  sql`update payment set state = 'released', reason = 'abandoned', updated_ms = ${now}
    where number in (select number from payment
      where state in (${literals(UNSENT_STATES)}) and final = 0 and ${NO_CHARGE} and claim_until_ms < ${now} order by number limit ${limit})
      and state in (${literals(UNSENT_STATES)}) and claim_until_ms < ${now}
    returning number`,
)

/** Answers of payments that were released at this time, including those that RELEASE_ABANDONED has just released. */
export const FORGET_RELEASED = statement(
  'forget_released',
  sql`delete from payment_answer where payment in (select number from payment
    where state = 'released' and final = 0 and ${NO_CHARGE} and updated_ms = ${now})`,
)

export const COUNT_SALE = statement(
  'count_sale',
  sql`insert into sale ${inserted(sale)} on conflict (epoch, price_class, payer) do nothing`,
)

/** Ordered by the time of the change to settling: nothing else changes a waiting row. */
export const READ_WAITING = statement(
  'read_waiting',
  sql`select ${selected(payment)} from payment
    where settler = ${payment.settler} and state = 'settling' and account_nonce is null
    order by updated_ms, number limit ${limit}`,
)

export const READ_IN_STATE = statement(
  'read_in_state',
  sql`select ${selected(payment)} from payment
    where state = ${payment.state} and final = ${payment.final} and ${NO_CHARGE} and updated_ms < ${parameter('updated_before_ms', count)}
      and (${asset} = ${raw(`'${ANY_ASSET}'`)} or coalesce(asset, '') = ${asset})
    order by updated_ms, number limit ${limit}`,
)

export const COUNT_REFUSED_OF = statement(
  'count_refused_of',
  sql`select ${expression('found', count, 'count(*)')} from payment
    where payer = ${payment.payer} and state = 'refused' and updated_ms >= ${parameter('since_ms', count)}
      and reason in (${literals(PAYER_ACTS)})`,
)

/** A payment that may still settle keeps its answer: it will be paid for. */
export const PURGE_ANSWERS = statement(
  'purge_answers',
  sql`delete from payment_answer where payment in (select a.payment from payment_answer a join payment p on p.number = a.payment
      where a.expires_ms <= ${parameter('before_ms', count)} and p.state not in (${literals(IN_FLIGHT_STATES)}) limit ${limit})
    returning payment`,
)

/** The client network opens an answer for a day only; afterwards it is not needed. */
export const FORGET_NETWORKS = statement(
  'forget_networks',
  sql`update payment set network_hash = null
    where number in (select number from payment
      where network_hash is not null and created_ms <= ${parameter('before_ms', count)} limit ${limit})
    returning number`,
)

/** Calls are listed under their tool; invoices, whose ids only their parties know, all under one name, and so are deposits. */
const TOOL = `case when p.purpose = 'call' then p.subject else p.purpose end`
const [tool, state] = [parameter('tool', text_type), parameter('state', text_type)]
/** Empty text asks for every tool or state. */
const LEDGER_FILTER = sql`p.created_ms >= ${parameter('from_ms', count)} and p.created_ms < ${parameter('to_ms', count)}
      and (${tool} = '' or ${raw(TOOL)} = ${tool}) and (${state} = '' or p.state = ${state})
      and (${asset} = ${raw(`'${ANY_ASSET}'`)} or coalesce(p.asset, '') = ${asset})`
const after_ms = parameter('after_ms', count)

export const READ_LEDGER = statement(
  'read_ledger',
  sql`select ${selected(payment, 'p')} from payment p
    where ${LEDGER_FILTER} and p.created_ms >= ${after_ms}
      and (p.created_ms, p.payer, p.nonce) > (${after_ms}, ${parameter('after_payer', text_type)}, ${parameter('after_nonce', text_type)})
    order by p.created_ms, p.payer, p.nonce limit ${limit}`,
)

export const READ_LEDGER_SUMS = statement(
  'read_ledger_sums',
  sql`select ${expression('day', count, 'p.created_ms / 86400000')}, ${expression('tool', key_type, TOOL)},
      ${selected(pick(payment, 'state', 'asset'), 'p')}, ${expression('count', count, 'count(*)')}, ${sumOf('p.value_minor')}
    from payment p where ${LEDGER_FILTER}
    group by 1, 2, 3, 4 order by 1, 2, 3, coalesce(p.asset, '')`,
)

const epoch = parameter('epoch', count)

export const READ_SALES = statement(
  'read_sales',
  sql`select ${selected(pick(sale, 'epoch', 'price_class'))}, ${expression('payers', count, 'count(*)')} from sale
    where epoch >= ${epoch} group by epoch, price_class order by epoch, price_class`,
)

export const READ_PRICE_MARKS = statement(
  'read_marks',
  sql`select ${selected(price_mark, 'm')} from price_mark m
    join (select price_class, max(epoch) as epoch from price_mark where epoch <= ${epoch} group by price_class) newest
      on newest.price_class = m.price_class and newest.epoch = m.epoch
    order by m.price_class`,
)

export const WRITE_PRICE_MARK = statement(
  'write_mark',
  sql`insert into price_mark ${inserted(price_mark)} on conflict (price_class, epoch) do nothing`,
)

export const PURGE_SALES = statement(
  'purge_sales',
  sql`delete from sale where (epoch, price_class, payer) in
      (select epoch, price_class, payer from sale where epoch < ${epoch} limit ${limit})
    returning epoch`,
)

/** Keeps the mark that applies at the epoch: READ_PRICE_MARKS returns the same for this epoch and later ones. */
export const PURGE_PRICE_MARKS = statement(
  'purge_marks',
  sql`delete from price_mark where (price_class, epoch) in (select m.price_class, m.epoch from price_mark m
      where m.epoch < ${epoch}
        and exists (select 1 from price_mark n where n.price_class = m.price_class and n.epoch > m.epoch and n.epoch <= ${epoch})
      limit ${limit})
    returning epoch`,
)

export const READ_PAID_BEFORE = statement(
  'payment_paid_before',
  sql`select ${expression('found', count, '1')}
    where exists (select 1 from payment where ${matched(pick(payment_key, 'payer'))} and purpose in ('call', 'deposit') and state = 'settled')
      or exists (select 1 from invoice where merchant = ${parameter('merchant', key_type)} and issue_signature is not null
        and exists (select 1 from invoice_payment p where p.invoice_id = invoice.invoice_id and p.block_time_s < ${parameter('before_s', count)}))`,
)
