import { IN_FLIGHT_STATES } from '../../pure/payments/states.ts'
import {
  amount,
  columns,
  count,
  flag,
  key_type,
  nullable,
  parameter,
  pick,
  text_type,
  word_type,
  countFrom,
  signed_amount,
  uint256,
} from './columns.ts'
import {
  assigned,
  expression,
  inserted,
  insertedFrom,
  literals,
  matched,
  raw,
  replaced,
  selected,
  sql,
  type SqlFragment,
  type Statement,
  statement,
} from './statements.ts'
import { BANK_VERDICTS } from '../../ports/invoices.ts'

/** Invoices, the transfers attributed to them and the merchants that are watched: columns and statements. */

const invoice_terms = columns({
  invoice_id: key_type,
  merchant: key_type,
  amount_minor: amount,
  terms: text_type,
  created_ms: count,
  expires_s: count,
  issue_signature: nullable(text_type),
  deposit_address: nullable(key_type),
})
/** Written with a new invoice, and not read again with it. */
const invoice_origin = columns({
  watch_until_s: count,
  content_hash: key_type,
  request_key: nullable(key_type),
  network: nullable(key_type),
  creator: nullable(key_type),
  bank_reference: nullable(key_type),
})
const invoice_progress = columns({
  void_signature: nullable(text_type),
  voided_ms: nullable(count),
  bank_paid_ms: nullable(count),
  bank_payment: nullable(text_type),
  closed: flag,
  marks: text_type,
  updated_ms: count,
  erased_ms: nullable(count),
})
/** Columns that are read of an invoice. */
export const invoice = { ...invoice_terms, ...invoice_progress }
export const invoice_number = columns({ number: count })
export const { invoice_id, merchant } = invoice_terms
export const INVOICE_KEY = matched({ invoice_id })

const transfer_key = columns({ transaction: key_type, log_index: count }, { transaction: 'transaction_hash' })
const transfer_block = columns({ block_number: count, block_hash: key_type, block_time_s: count, confirmed: flag, final: flag })
const transfer_content = columns({
  payer: key_type,
  amount_minor: amount,
  matched_by: word_type('eip3009', 'x402', 'transfer', 'deposit'),
  nonce: nullable(key_type),
})
const invoice_payment = { ...transfer_key, invoice_id, ...transfer_content, ...transfer_block }
const TRANSFER_KEY = matched(transfer_key)

const now = parameter('now_ms', count)
const now_s = parameter('now_s', count)
const limit = parameter('limit', count)

/** Until the end of the work no other process claims for the invoice, or voids it. */
export const LOCK_INVOICE = statement(
  'lock_invoice',
  sql`select ${selected(pick(invoice, 'amount_minor', 'issue_signature', 'voided_ms', 'bank_paid_ms'))} from invoice where ${INVOICE_KEY}`,
  'for update',
)

export const READ_BY_REQUEST = statement(
  'invoice_by_request',
  sql`select ${selected({ ...invoice, ...pick(invoice_origin, 'content_hash') })} from invoice
    where request_key = ${parameter('request_key', key_type)}`,
)

/** Open invoices of a merchant that it signed, at a second. */
export const COUNT_SIGNED = statement(
  'invoice_count_signed',
  sql`select ${expression('open', count, 'count(*)')} from invoice
    where merchant = ${merchant} and closed = 0 and expires_s >= ${now_s} and issue_signature is not null`,
)

/** Unsigned invoices that the bounds count and may evict. Expired ones are included; the conditions are those of the partial indexes. */
const EVICTABLE = 'closed = 0 and held = 0 and issue_signature is null'

/** A set of unsigned invoices with its own bound: their number, and the oldest of them. */
export interface UnsignedPool {
  count: Statement<{ network: string }, { open: number }>
  oldest: Statement<{ network: string; limit: number }, { number: number }>
}

function pool(name: string, condition: SqlFragment<{ network: string }, unknown>): UnsignedPool {
  const from = sql`from invoice where ${condition} and ${raw(EVICTABLE)}`
  return {
    count: statement(`invoice_count_${name}`, sql`select ${expression('open', count, 'count(*)')} ${from}`),
    // A locked invoice is being paid, signed or voided at this moment.
    oldest: statement(
      `invoice_oldest_${name}`,
      sql`select ${selected(invoice_number)} ${from} order by number limit ${limit}`,
      'for update skip locked',
    ),
  }
}

export const OF_NETWORK = pool('network', sql`network = ${parameter('network', key_type)}`)
export const OF_ALL_NETWORKS = pool('networks', raw('network is not null'))
export const OF_CALLS = pool('calls', raw('network is null'))

/** No payment, claim or evidence names the invoice. */
export const WITHOUT_EVIDENCE = raw(`marks = '' and bank_payment is null
      and not exists (select 1 from invoice_payment p where p.invoice_id = invoice.invoice_id)
      and not exists (select 1 from payment p where p.purpose = 'invoice' and p.subject = invoice.invoice_id and p.final = 0)
      and not exists (select 1 from invoice_bank_report r where r.invoice_id = invoice.invoice_id)
      and not exists (select 1 from invoice_other_asset o where o.invoice_id = invoice.invoice_id)`)

/** Deletes an invoice without payment, claim or evidence. The caller has locked its row. */
export const EVICT = statement(
  'invoice_evict',
  sql`delete from invoice where number = ${invoice_number.number} and void_signature is null and ${WITHOUT_EVIDENCE}
    returning ${selected({ invoice_id, merchant })}`,
)

export const FORGET_NONCES = statement('invoice_forget_nonces', sql`delete from invoice_nonce where ${INVOICE_KEY}`)
export const HOLD = statement('invoice_hold', sql`update invoice set held = 1 where number = ${invoice_number.number}`)

export const INSERT = statement(
  'invoice_insert',
  sql`insert into invoice ${inserted({ ...invoice_terms, ...invoice_origin }, { updated_ms: invoice_terms.created_ms, sealed: raw('1') })}
    on conflict do nothing returning ${selected(invoice)}`,
)

const invoice_nonce = columns({ nonce: key_type, invoice_id: key_type })
export const INSERT_NONCE = statement('invoice_nonce', sql`insert into invoice_nonce ${inserted(invoice_nonce)}`)

export const FIND = statement('invoice_find', sql`select ${selected(invoice)} from invoice where ${INVOICE_KEY}`)

export const FIND_BY_NONCE = statement(
  'invoice_find_by_nonce',
  sql`select ${selected(invoice)} from invoice
    where invoice_id = (select invoice_id from invoice_nonce where nonce = ${invoice_nonce.nonce})`,
)

const deposit_address = parameter('deposit_address', key_type)
export const FIND_BY_DEPOSIT = statement(
  'invoice_find_by_deposit',
  sql`select ${selected(invoice)} from invoice where deposit_address = ${deposit_address}`,
)

/** The largest 200, so that many tiny transfers cannot hide a real payment. In the order of the chain. */
export const READ_PAYMENTS = statement(
  'invoice_payments',
  sql`select * from (select ${selected(invoice_payment)} from invoice_payment where ${INVOICE_KEY}
      order by invoice_payment.amount_minor desc, invoice_payment.block_number, invoice_payment.log_index limit 200) as largest
    order by block_number, log_index, transaction_hash`,
)

export const READ_PLAIN_CANDIDATES = statement(
  'invoice_plain',
  sql`select ${selected(invoice)} from invoice
    where merchant = ${merchant} and issue_signature is not null and expires_s >= ${now_s} order by number limit ${limit}`,
)

export const READ_PAGE = statement(
  'invoice_page',
  sql`select ${selected({ ...invoice_number, ...invoice })} from invoice
    where merchant = ${merchant} and watch_until_s >= ${now_s} and voided_ms is null and number > ${parameter('after', count)}
    order by number limit ${limit}`,
)

/** The partial index `invoice_signed_list` has its order. */
export const READ_SIGNED = statement(
  'invoice_signed_by',
  sql`select ${selected({ ...invoice_number, ...invoice })} from invoice
    where merchant = ${merchant} and issue_signature is not null and number < ${parameter('before', count)}
    order by number desc limit ${limit}`,
)

/** An invoice of a merchant that it signed and that was paid on the chain. */
export const READ_PAID = statement(
  'invoice_paid',
  sql`select ${selected({ invoice_id })} from invoice
    where merchant = ${merchant} and issue_signature is not null
      and exists (select 1 from invoice_payment p where p.invoice_id = invoice.invoice_id) limit 1`,
)

/** The primary key decides which of two attributions of a log came first. */
export const ATTRIBUTE = statement(
  'invoice_attribute',
  sql`insert into invoice_payment ${insertedFrom(invoice_payment, { merchant: raw('merchant') })} from invoice where ${INVOICE_KEY}
    on conflict (transaction_hash, log_index) do nothing returning invoice_id`,
)

export const READ_UNFINAL = statement(
  'invoice_unfinal',
  sql`select ${selected(invoice_payment)} from invoice_payment where merchant = ${merchant} and final = 0
    order by block_number, log_index limit ${limit}`,
)

export const SETTLE_BLOCK = statement(
  'invoice_settle_block',
  sql`update invoice_payment set ${assigned(transfer_block)} where ${TRANSFER_KEY} and final = 0 returning invoice_id`,
)

export const WITHDRAW = statement(
  'invoice_withdraw',
  sql`delete from invoice_payment where ${TRANSFER_KEY} and final = 0 returning invoice_id`,
)

export const TOUCH = statement('invoice_touch', sql`update invoice set updated_ms = ${now} where ${INVOICE_KEY}`)

export const LOCK_MARKS = statement(
  'invoice_read_marks',
  sql`select ${selected(pick(invoice, 'marks'))} from invoice where ${INVOICE_KEY}`,
  'for update',
)
export const WRITE_MARKS = statement(
  'invoice_write_marks',
  sql`update invoice set ${assigned(pick(invoice, 'marks'))}, updated_ms = ${now} where ${INVOICE_KEY}`,
)

export const SET_CLOSED = statement(
  'invoice_closed',
  sql`update invoice set ${assigned(pick(invoice, 'closed'))} where ${INVOICE_KEY} and closed <> ${invoice.closed}`,
)

/** Merchant of an invoice that will count against its bound once it is signed; no row for one that is signed, closed or unknown. */
export const READ_SIGNABLE = statement(
  'invoice_signable',
  sql`select ${selected({ merchant })} from invoice where ${INVOICE_KEY} and issue_signature is null and closed = 0`,
)

export const SIGN = statement(
  'invoice_sign',
  sql`update invoice set ${assigned(pick(invoice, 'issue_signature'))}, updated_ms = ${now}
    where ${INVOICE_KEY} and issue_signature is null returning invoice_id`,
)

/** Payments of the invoice that are on their way to the chain, or whose block is not final. */
const ON_ITS_WAY = sql`select 1 from payment p where p.purpose = 'invoice' and p.subject = ${invoice_id}
  and p.state in (${literals([...IN_FLIGHT_STATES, 'settled'])}) and p.final = 0`

export const VOID_INVOICE = statement(
  'invoice_void',
  sql`update invoice set ${assigned(pick(invoice, 'void_signature'))}, voided_ms = ${now}, updated_ms = ${now}, closed = 1
    where ${INVOICE_KEY} and voided_ms is null and bank_paid_ms is null
      and not exists (select 1 from invoice_payment p where p.invoice_id = ${invoice_id}) and not exists (${ON_ITS_WAY})
    returning invoice_id`,
)

/** The newest first. Voided ones are left out, because a merchant may issue another invoice with the same reference. */
export const READ_BY_BANK_REFERENCE = statement(
  'invoice_by_bank_reference',
  sql`select ${selected(invoice)} from invoice
    where merchant = ${merchant} and issue_signature is not null and voided_ms is null
      and bank_reference in (${parameter('bank_reference', key_type)}, ${parameter('unsealed_reference', key_type)})
    order by number desc limit ${limit}`,
)

const bank_entry = parameter('bank_entry', key_type)
export const READ_BY_BANK_ENTRY = statement(
  'invoice_by_bank_entry',
  sql`select ${selected({ invoice_id })} from invoice where bank_entry = ${bank_entry}`,
)

export const CLOSE_BY_BANK = statement(
  'invoice_close_by_bank',
  sql`update invoice set ${assigned(pick(invoice, 'bank_payment'))}, bank_entry = ${bank_entry}, bank_paid_ms = ${now}, updated_ms = ${now},
      closed = 1
    where ${INVOICE_KEY} and voided_ms is null and bank_paid_ms is null and issue_signature is not null
      and not exists (${ON_ITS_WAY})
    returning invoice_id`,
)

/** Invoices whose expiry was not considered. */
export const READ_EXPIRING = statement(
  'invoice_expiring',
  sql`select ${selected({ invoice_id })} from invoice where expiry_noted = 0 and expires_s < ${now_s} order by expires_s limit ${limit}`,
  'for update skip locked',
)
export const MARK_EXPIRY = statement('invoice_mark_expiry', sql`update invoice set expiry_noted = 1 where ${INVOICE_KEY}`)

/** Evidence about invoices besides payments in the asked token: entries of bank statements, transfers of other assets, and sweeps of deposit addresses. */

export const bank_report = columns({
  statement_id: key_type,
  entry_reference: key_type,
  invoice_id: key_type,
  booked_on: nullable(key_type),
  direction: word_type('CRDT', 'DBIT'),
  returned: flag,
  currency: key_type,
  amount_minor: amount,
  charges_minor: signed_amount,
  instructed_minor: nullable(amount),
  verdict: word_type(...BANK_VERDICTS),
  reported_ms: count,
  sealed_names: nullable(text_type),
})
const report_key = { invoice_id: bank_report.invoice_id }

export const READ_BANK_REPORTS = statement(
  'invoice_bank_reports',
  sql`select ${selected(bank_report)} from invoice_bank_report where ${matched(report_key)}
    order by coalesce(booked_on, ''), statement_id, entry_reference limit 1000`,
)

/** An entry is kept once; only its verdict may change. No row is returned when nothing changed. */
export const REPORT_BANK = statement(
  'invoice_report_bank',
  sql`insert into invoice_bank_report ${insertedFrom(bank_report)} from invoice where ${matched(report_key)}
    on conflict (statement_id, entry_reference) do update set verdict = excluded.verdict
      where invoice_bank_report.verdict <> excluded.verdict and invoice_bank_report.invoice_id = excluded.invoice_id
    returning invoice_id`,
)

const other_asset = columns(
  {
    transaction: key_type,
    // -1 for a transfer of the chain's own coin, which leaves no log.
    log_index: countFrom(-1),
    invoice_id: key_type,
    asset: key_type,
    payer: key_type,
    amount: uint256,
    block_number: count,
    block_time_s: count,
    named_by: word_type('nonce', 'submitted'),
  },
  { transaction: 'transaction_hash' },
)

export const READ_OTHER_ASSETS = statement(
  'invoice_other_assets',
  sql`select ${selected(other_asset)} from invoice_other_asset where ${matched(report_key)}
    order by block_number, log_index, transaction_hash limit 100`,
)

/**
 * A transfer is evidence for one invoice. Anyone who has the id of an invoice can submit a transaction, so evidence that was only submitted
 * yields to the invoice that the payer's nonce names, and evidence for an unsigned invoice to a signed one.
 */
export const NOTE_OTHER_ASSET = statement(
  'invoice_note_other',
  sql`insert into invoice_other_asset ${insertedFrom(other_asset)} from invoice where ${matched(report_key)}
    on conflict (transaction_hash, log_index) do update set ${replaced({ ...report_key, named_by: other_asset.named_by })}
      where invoice_other_asset.named_by = 'submitted' and invoice_other_asset.invoice_id <> excluded.invoice_id
        and (excluded.named_by = 'nonce' or (
          exists (select 1 from invoice i where i.invoice_id = excluded.invoice_id and i.issue_signature is not null)
          and not exists (select 1 from invoice i where i.invoice_id = invoice_other_asset.invoice_id and i.issue_signature is not null)))
    returning invoice_id`,
)

/** Deposits that wait at their addresses, and the transfers that forwarded them to the merchants. Both come from final blocks only. */

const sweep = columns({ invoice_id: key_type, merchant: key_type, waiting_minor: amount })
const sweep_key = { invoice_id: sweep.invoice_id }
const forward = columns(
  { transaction: key_type, log_index: count, invoice_id: key_type, amount_minor: amount, block_number: count, block_time_s: count },
  { transaction: 'transaction_hash' },
)

export const ADD_WAITING = statement(
  'invoice_add_waiting',
  sql`insert into invoice_sweep ${insertedFrom({ ...sweep_key, waiting_minor: sweep.waiting_minor }, { merchant: raw('merchant') })}
    from invoice where ${matched(sweep_key)}
    on conflict (invoice_id) do update set waiting_minor = invoice_sweep.waiting_minor + excluded.waiting_minor`,
)

export const INSERT_FORWARD = statement(
  'invoice_forward',
  sql`insert into invoice_forward ${insertedFrom(forward)} from invoice where ${matched(sweep_key)}
    on conflict (transaction_hash, log_index) do nothing returning invoice_id`,
)

/** A sweep moves the whole balance, which may include transfers that were too small to be recorded. */
export const SUBTRACT_WAITING = statement(
  'invoice_subtract_waiting',
  sql`update invoice_sweep set sweeps = 0, sweep_after_ms = 0, put_off_ms = null,
      waiting_minor = case when waiting_minor > ${forward.amount_minor} then waiting_minor - ${forward.amount_minor} else 0 end
    where ${matched(sweep_key)}`,
)

export const READ_FORWARDS = statement(
  'invoice_forwards',
  sql`select ${selected(forward)} from invoice_forward where ${matched(sweep_key)}
    order by block_number, log_index, transaction_hash limit 100`,
)

export const READ_WAITING = statement(
  'invoice_waiting',
  sql`select ${selected(sweep)} from invoice_sweep
    where waiting_minor >= ${parameter('least_minor', amount)} and sweep_after_ms <= ${parameter('now_ms', count)}
    order by waiting_minor desc, invoice_id limit ${parameter('limit', count)}`,
)

/** The pause doubles with each attempt that moved nothing, up to 1,024 times the first. */
export const TRY_SWEEP = statement(
  'invoice_try_sweep',
  sql`update invoice_sweep set sweep_after_ms = cast(${parameter('now_ms', count)} as bigint) +
      cast(${parameter('pause_ms', count)} as bigint) * (case when sweeps < 10 then 1 << sweeps else 1024 end), sweeps = sweeps + 1
    where ${matched(sweep_key)}`,
)

/** Sets the end of the pause without counting the attempt: nothing was sent, so the pause of later attempts does not double. */
export const PUT_OFF_SWEEP = statement(
  'invoice_put_off_sweep',
  sql`update invoice_sweep set sweep_after_ms = ${parameter('until_ms', count)}, put_off_ms = ${parameter('until_ms', count)},
      sweeps = case when sweeps > 0 then sweeps - 1 else 0 end
    where ${matched(sweep_key)}`,
)

export const READ_ORIGIN = statement(
  'invoice_deposit_origin',
  sql`select ${expression('creator', nullable(key_type), 'invoice.creator')},
      ${expression(
        'funder',
        nullable(key_type),
        `(select p.payer from invoice_payment p where p.invoice_id = invoice.invoice_id and p.matched_by = 'deposit'
          order by p.amount_minor desc, p.block_number, p.log_index limit 1)`,
      )},
      ${expression('put_off_ms', nullable(count), '(select s.put_off_ms from invoice_sweep s where s.invoice_id = invoice.invoice_id)')}
    from invoice where ${INVOICE_KEY}`,
)
