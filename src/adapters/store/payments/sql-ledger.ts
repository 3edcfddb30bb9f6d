import type { Statement } from '../work.ts'
import { PAYMENT_COLUMNS, sumOf } from './row.ts'

/** Calls stand under their tool; invoices, whose ids only their parties know, all under one name. */
const TOOL = `case when p.purpose = 'call' then p.subject else 'invoice' end`
/** Empty text asks for every tool or state. */
const ASKED = `p.created_ms >= ?1 and p.created_ms < ?2 and (?3 = '' or ${TOOL} = ?3) and (?4 = '' or p.state = ?4)`

export const READ_LEDGER: Statement = {
  name: 'read_ledger',
  text: `select ${PAYMENT_COLUMNS} from payment p
    where ${ASKED} and p.created_ms >= ?5 and (p.created_ms, p.payer, p.nonce) > (?5, ?6, ?7)
    order by p.created_ms, p.payer, p.nonce limit ?8`,
}

export const READ_LEDGER_SUMS: Statement = {
  name: 'read_ledger_sums',
  text: `select p.created_ms / 86400000 as day, ${TOOL} as tool, p.state, count(*) as found, ${sumOf('p.value_minor')}
    from payment p where ${ASKED}
    group by 1, 2, 3 order by 1, 2, 3`,
}

export const READ_SALES: Statement = {
  name: 'read_sales',
  text: `select epoch, price_class, count(*) as payers from sale where epoch >= ?1 group by epoch, price_class order by epoch, price_class`,
}

export const READ_MARKS: Statement = {
  name: 'read_marks',
  text: `select m.price_class, m.epoch, cast(m.amount_minor as text) as amount_minor from price_mark m
    join (select price_class, max(epoch) as epoch from price_mark where epoch <= ?1 group by price_class) newest
      on newest.price_class = m.price_class and newest.epoch = m.epoch
    order by m.price_class`,
}

export const WRITE_MARK: Statement = {
  name: 'write_mark',
  text: 'insert into price_mark (price_class, epoch, amount_minor) values (?1, ?2, ?3) on conflict (price_class, epoch) do nothing',
}

/** At most ?2 rows at a time. */
export const PURGE_SALES: Statement = {
  name: 'purge_sales',
  text: `delete from sale where (epoch, price_class, payer) in (select epoch, price_class, payer from sale where epoch < ?1 limit ?2)
    returning epoch`,
}

/** Keeps the mark that holds at ?1: what price_marks says of ?1 and later stays the same. */
export const PURGE_MARKS: Statement = {
  name: 'purge_marks',
  text: `delete from price_mark where (price_class, epoch) in (select m.price_class, m.epoch from price_mark m
      where m.epoch < ?1 and exists (select 1 from price_mark n where n.price_class = m.price_class and n.epoch > m.epoch and n.epoch <= ?1)
      limit ?2)
    returning epoch`,
}
