import { count, columns, flag, key_type, nullable, parameter, pick } from './columns.ts'
import { invoice, invoice_id, INVOICE_KEY, invoice_number, merchant, WITHOUT_EVIDENCE } from './invoice-statements.ts'
import { assigned, expression, inserted, raw, rowList, selected, sql, type SqlFragment, statement } from './statements.ts'

/** Merchants that are watched, deposit addresses that are searched, and the deletion of invoices that were never paid. */

const watched = columns({
  merchant: key_type,
  next_block: nullable(count),
  looked_ms: count,
  until_s: count,
  due_ms: count,
  wait_ms: count,
  rank_ms: count,
  proven: flag,
})
const now = parameter('now_ms', count)
const now_s = parameter('now_s', count)
const limit = parameter('limit', count)

const WATCHED = sql`select ${selected(watched)} from merchant_watch`

/** Until transfers were read that came while an invoice was watched: an outage may last longer than the watch. */
const IS_WATCHED = sql`looked_ms <= (until_s + ${parameter('margin_s', count)}) * 1000`
/** The order is that of `due_ms + wait_ms`: a merchant whose last looks found nothing is overtaken by those that were active. */
export const READ_DUE = statement(
  'merchant_due',
  sql`${WATCHED} where proven = ${parameter('proven', flag)} and due_ms <= ${now} and ${IS_WATCHED} order by rank_ms, merchant limit ${limit}`,
)
export const READ_NEXT_DUE = statement(
  'merchant_next_due',
  sql`${WATCHED} where due_ms > ${now} and ${IS_WATCHED} order by looked_ms, merchant limit ${limit}`,
)

/** Merchants of payments in blocks that are not final, the one looked at longest ago first. */
export const READ_UNSETTLED = statement(
  'merchant_unsettled',
  sql`${WATCHED} where merchant in (select merchant from invoice_payment where final = 0) order by looked_ms, merchant limit ${limit}`,
)

export const READ_WATCH_OF = statement('merchant_watch_of', sql`${WATCHED} where merchant = ${merchant}`)

/** Creation of the oldest invoice of a merchant that was watched at that second. */
export const READ_WATCHED_SINCE = statement(
  'merchant_watched_since',
  sql`select ${expression('since_ms', nullable(count), 'min(created_ms)')} from invoice where merchant = ${merchant} and watch_until_s >= ${now_s}`,
)

/** A new invoice: its merchant is due now. */
export const WATCH_MERCHANT = statement(
  'merchant_watched',
  sql`insert into merchant_watch ${inserted({ merchant, ...pick(watched, 'until_s', 'due_ms', 'rank_ms') })}
    on conflict (merchant) do update set due_ms = excluded.due_ms, rank_ms = excluded.rank_ms, wait_ms = 0,
      until_s = case when excluded.until_s > merchant_watch.until_s then excluded.until_s else merchant_watch.until_s end`,
)

/** Makes a merchant due that would be looked at later. */
export const WAKE_MERCHANT = statement(
  'merchant_wake',
  sql`update merchant_watch set due_ms = ${now}, rank_ms = ${now}, wait_ms = 0 where merchant = ${merchant} and due_ms > ${now} returning merchant`,
)

/** A merchant that became due since it was read, such as by a new invoice, stays due. */
const IS_AS_READ = sql`due_ms = ${parameter('was_due_ms', count)}`
export const WRITE_LOOK = statement(
  'merchant_looked',
  sql`update merchant_watch set ${assigned(pick(watched, 'next_block', 'looked_ms', 'proven'))},
      wait_ms = case when ${IS_AS_READ} then ${watched.wait_ms} else wait_ms end,
      due_ms = case when ${IS_AS_READ} then ${watched.due_ms} else due_ms end,
      rank_ms = case when ${IS_AS_READ} then ${watched.rank_ms} else rank_ms end
    where merchant = ${merchant}`,
)

/** Invoices of a merchant with a payment on the chain, up to a limit. */
export const COUNT_PAID = statement(
  'merchant_paid_invoices',
  sql`select ${expression('paid', count, 'count(*)')} from
    (select distinct invoice_id from invoice_payment where merchant = ${merchant} limit ${limit}) as paid_invoice`,
)

/** Unpaid invoices that can still be paid in time; a transfer to any other watched deposit address is late or a second one. */
const OPEN_DEPOSIT = raw('closed = 0 and voided_ms is null')
const IS_OPEN = sql`(${OPEN_DEPOSIT} and expires_s >= ${now_s})`
function depositPage(name: string, condition: SqlFragment<{ now_s: number }, unknown>) {
  return statement(
    name,
    sql`select ${selected({ ...invoice_number, ...pick(invoice, 'deposit_address') })} from invoice
      where merchant = ${merchant} and watch_until_s >= ${now_s} and deposit_address is not null and number > ${parameter('after', count)}
        and ${condition} order by number limit ${limit}`,
  )
}
export const READ_OPEN_DEPOSITS = depositPage('invoice_open_deposits', IS_OPEN)
export const READ_LATE_DEPOSITS = depositPage('invoice_late_deposits', sql`not ${IS_OPEN}`)

/** Merchants in one read of deposit addresses. */
export const DEPOSIT_MERCHANTS = 64
function depositsAmong(name: string, condition: SqlFragment<{ now_s: number }, unknown>) {
  return statement(
    name,
    sql`select ${selected({ merchant, ...pick(invoice, 'deposit_address') })} from invoice
      where merchant in (${rowList('merchants', { merchant }, DEPOSIT_MERCHANTS)}) and watch_until_s >= ${now_s}
        and deposit_address is not null and ${condition} limit ${limit}`,
  )
}
export const READ_OPEN_DEPOSITS_AMONG = depositsAmong('invoice_open_deposits_among', IS_OPEN)
export const READ_LATE_DEPOSITS_AMONG = depositsAmong('invoice_late_deposits_among', sql`not ${IS_OPEN}`)

/**
 * Open or void: a settled invoice stays. The transfers of its merchant were read after its watch ended, so that a payment
 * in an outage of the chain or the service was found. The first condition is that of a partial index.
 */
const IS_UNPAID = sql`(closed = 0 or voided_ms is not null) and ${WITHOUT_EVIDENCE} and exists (select 1 from merchant_watch w
  where w.merchant = invoice.merchant and w.looked_ms > (invoice.watch_until_s + ${parameter('margin_s', count)}) * 1000)`

/** Invoices that are no longer watched and have no payment, claim or evidence, whether signed, void or neither. */
export const READ_PURGEABLE = statement(
  'invoice_purgeable',
  sql`select ${selected(invoice_number)} from invoice where watch_until_s < ${now_s} and ${IS_UNPAID} order by watch_until_s limit ${limit}`,
  'for update skip locked',
)
const purged = { invoice_id, merchant, ...pick(invoice, 'expires_s') }
/** Deletes one of them. The caller has locked its row. */
export const PURGE = statement(
  'invoice_purge',
  sql`delete from invoice where number = ${invoice_number.number} and ${IS_UNPAID} returning ${selected(purged)}`,
)
export const INSERT_PURGED = statement(
  'invoice_insert_purged',
  sql`insert into purged_invoice ${inserted(purged, { purged_ms: parameter('now_ms', count) })} on conflict do nothing`,
)
export const READ_PURGED = statement('invoice_read_purged', sql`select ${selected(purged)} from purged_invoice where ${INVOICE_KEY}`)
export const FORGET_PURGED = statement(
  'invoice_forget_purged',
  sql`delete from purged_invoice where invoice_id in
    (select invoice_id from purged_invoice where purged_ms < ${parameter('before_ms', count)} limit ${parameter('limit', count)}) returning invoice_id`,
)
/** A merchant whose row is locked gets an invoice at this moment. */
export const LOCK_MERCHANT = statement(
  'merchant_lock',
  sql`select ${selected({ merchant })} from merchant_watch where merchant = ${merchant}`,
  'for update skip locked',
)
/** Forgets a merchant that has no invoice left. The caller has locked its row. */
export const FORGET_MERCHANT = statement(
  'merchant_forget',
  sql`delete from merchant_watch where merchant = ${merchant} and not exists (select 1 from invoice i where i.merchant = merchant_watch.merchant)`,
)
/** Those whose row was locked then. A new invoice moves \`until_s\`, so that its merchant is not forgotten. */
export const FORGET_MERCHANTS = statement(
  'merchants_forget',
  sql`delete from merchant_watch where merchant in (select w.merchant from merchant_watch w where w.until_s < ${now_s}
    and not exists (select 1 from invoice i where i.merchant = w.merchant) limit ${limit}) and until_s < ${now_s} returning merchant`,
)
