import { IN_FLIGHT } from '../../../pure/payments/states.ts'
import { literals } from '../payments/row.ts'
import type { Statement } from '../work.ts'

const INVOICE = `invoice_id, merchant, cast(amount_minor as text) as amount_minor, terms, created_ms, expires_s, issue_signature, void_signature,
  voided_ms, closed, marks, updated_ms`
const PAYMENT = `transaction_hash, log_index, invoice_id, payer, cast(amount_minor as text) as amount_minor, block_number, block_hash,
  block_time_s, matched_by, nonce, confirmed, final`

export const BY_REQUEST: Statement = {
  name: 'invoice_by_request',
  text: `select ${INVOICE}, content_hash from invoice where request_key = ?1`,
}

/** Open invoices of a merchant that it signed, at a second. */
export const COUNT_SIGNED: Statement = {
  name: 'invoice_count_signed',
  text: `select count(*) as open from invoice
    where merchant = ?1 and closed = 0 and expires_s >= ?2 and issue_signature is not null`,
}

/** Unsigned invoices that the bounds count and may evict. Expired ones are among them; the conditions are those of the partial indexes. */
const EVICTABLE = 'closed = 0 and held = 0 and issue_signature is null'

/** A set of unsigned invoices with a bound of its own: how many there are, and the oldest of them. */
export interface UnsignedPool {
  count: Statement
  oldest: Statement
}

function pool(name: string, whose: string, limit: '?1' | '?2'): UnsignedPool {
  const from = `from invoice where ${whose} and ${EVICTABLE}`
  return {
    count: { name: `invoice_count_${name}`, text: `select count(*) as open ${from}` },
    // An invoice that is locked is being paid, signed or voided just now.
    oldest: {
      name: `invoice_oldest_${name}`,
      text: `select number, invoice_id ${from} order by number limit ${limit}`,
      row_lock: 'for update skip locked',
    },
  }
}

export const OF_NETWORK = pool('network', 'network = ?1', '?2')
export const OF_ALL_NETWORKS = pool('networks', 'network is not null', '?1')
export const OF_CALLS = pool('calls', 'network is null', '?1')

/** Deletes an invoice without payment, claim or evidence. The caller holds the lock of its row. */
export const EVICT: Statement = {
  name: 'invoice_evict',
  text: `delete from invoice where number = ?1 and marks = '' and void_signature is null
      and not exists (select 1 from invoice_payment p where p.invoice_id = invoice.invoice_id)
      and not exists (select 1 from payment p where p.purpose = 'invoice' and p.subject = invoice.invoice_id and p.final = 0)
      and not exists (select 1 from invoice_bank_report r where r.invoice_id = invoice.invoice_id)
      and not exists (select 1 from invoice_other_asset o where o.invoice_id = invoice.invoice_id)
    returning invoice_id`,
}
export const FORGET_NONCES: Statement = { name: 'invoice_forget_nonces', text: 'delete from invoice_nonce where invoice_id = ?1' }
export const HOLD: Statement = { name: 'invoice_hold', text: 'update invoice set held = 1 where number = ?1' }

export const INSERT: Statement = {
  name: 'invoice_insert',
  text: `insert into invoice (invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, request_key, network,
      issue_signature, updated_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?5) on conflict do nothing returning ${INVOICE}`,
}

export const INSERT_NONCE: Statement = {
  name: 'invoice_nonce',
  text: 'insert into invoice_nonce (nonce, invoice_id) values (?1, ?2)',
}

export const FIND: Statement = { name: 'invoice_find', text: `select ${INVOICE} from invoice where invoice_id = ?1` }

export const FIND_BY_NONCE: Statement = {
  name: 'invoice_find_by_nonce',
  text: `select ${INVOICE} from invoice where invoice_id = (select invoice_id from invoice_nonce where nonce = ?1)`,
}

/** The largest, when there are very many: crumbs that a stranger sends push no real payment out. In the order of the chain. */
export const PAYMENTS: Statement = {
  name: 'invoice_payments',
  text: `select * from (select ${PAYMENT} from invoice_payment where invoice_id = ?1
      order by invoice_payment.amount_minor desc, invoice_payment.block_number, invoice_payment.log_index limit 200) as largest
    order by block_number, log_index, transaction_hash`,
}

export const PLAIN: Statement = {
  name: 'invoice_plain',
  text: `select ${INVOICE} from invoice
    where merchant = ?1 and issue_signature is not null and expires_s >= ?2 order by number limit ?3`,
}

export const PAGE: Statement = {
  name: 'invoice_page',
  text: `select number, ${INVOICE} from invoice
    where merchant = ?1 and watch_until_s >= ?2 and voided_ms is null and number > ?3 order by number limit ?4`,
}

/** The log's key decides who was first. */
export const ATTRIBUTE: Statement = {
  name: 'invoice_attribute',
  text: `insert into invoice_payment (transaction_hash, log_index, invoice_id, merchant, payer, amount_minor, block_number, block_hash,
      block_time_s, matched_by, nonce, confirmed, final)
    select ?1, cast(?2 as integer), invoice_id, merchant, ?4, cast(?5 as bigint), cast(?6 as bigint), ?7, cast(?8 as bigint), ?9, ?10,
      cast(?11 as integer), cast(?12 as integer) from invoice where invoice_id = ?3
    on conflict (transaction_hash, log_index) do nothing returning invoice_id`,
}

export const UNFINAL: Statement = {
  name: 'invoice_unfinal',
  text: `select ${PAYMENT} from invoice_payment where merchant = ?1 and final = 0 order by block_number, log_index limit ?2`,
}

export const SETTLE_BLOCK: Statement = {
  name: 'invoice_settle_block',
  text: `update invoice_payment set block_number = ?3, block_hash = ?4, block_time_s = ?5, confirmed = ?6, final = ?7
    where transaction_hash = ?1 and log_index = ?2 returning invoice_id`,
}

export const WITHDRAW: Statement = {
  name: 'invoice_withdraw',
  text: 'delete from invoice_payment where transaction_hash = ?1 and log_index = ?2 and final = 0 returning invoice_id',
}

export const TOUCH: Statement = { name: 'invoice_touch', text: 'update invoice set updated_ms = ?2 where invoice_id = ?1' }

export const READ_MARKS: Statement = {
  name: 'invoice_read_marks',
  text: 'select marks from invoice where invoice_id = ?1',
  row_lock: 'for update',
}
export const WRITE_MARKS: Statement = {
  name: 'invoice_write_marks',
  text: 'update invoice set marks = ?2, updated_ms = ?3 where invoice_id = ?1',
}

export const SET_CLOSED: Statement = {
  name: 'invoice_closed',
  text: 'update invoice set closed = ?2 where invoice_id = ?1 and closed <> ?2',
}

/** Whose an invoice is that takes room once it is signed; nothing for one that is signed, closed or unknown. */
export const SIGNABLE: Statement = {
  name: 'invoice_signable',
  text: 'select merchant from invoice where invoice_id = ?1 and issue_signature is null and closed = 0',
}

export const SIGN: Statement = {
  name: 'invoice_sign',
  text: 'update invoice set issue_signature = ?2, updated_ms = ?3 where invoice_id = ?1 and issue_signature is null returning invoice_id',
}

export const VOID: Statement = {
  name: 'invoice_void',
  text: `update invoice set void_signature = ?2, voided_ms = ?3, updated_ms = ?3, closed = 1
    where invoice_id = ?1 and voided_ms is null and not exists (select 1 from invoice_payment p where p.invoice_id = ?1)
      and not exists (select 1 from payment p where p.purpose = 'invoice' and p.subject = ?1
        and p.state in (${literals([...IN_FLIGHT, 'settled'])}) and p.final = 0)
    returning invoice_id`,
}

const WATCHED = `select i.merchant, w.next_block, min(i.created_ms) as since_ms, coalesce(w.looked_ms, 0) as looked_ms
  from invoice i left join invoice_watch w on w.merchant = i.merchant`

/** Merchants that signed one of their invoices, so that invoices which name other merchants do not delay them. */
export const WATCHED_SIGNED: Statement = {
  name: 'invoice_watched_signed',
  text: `${WATCHED} where i.watch_until_s >= ?1 group by i.merchant, w.next_block, w.looked_ms
    having max(case when i.issue_signature is null then 0 else 1 end) = 1
    order by coalesce(w.looked_ms, 0), i.merchant limit ?2`,
}

export const WATCHED_AT: Statement = {
  name: 'invoice_watched',
  text: `${WATCHED} where i.watch_until_s >= ?1 group by i.merchant, w.next_block, w.looked_ms
    order by coalesce(w.looked_ms, 0), i.merchant limit ?2`,
}

export const WATCH_OF: Statement = {
  name: 'invoice_watch_of',
  text: `${WATCHED} where i.merchant = ?1 group by i.merchant, w.next_block, w.looked_ms`,
}

export const LOOKED: Statement = {
  name: 'invoice_looked',
  text: `insert into invoice_watch (merchant, next_block, looked_ms) values (?1, ?2, ?3)
    on conflict (merchant) do update set next_block = excluded.next_block, looked_ms = excluded.looked_ms`,
}
