import { IN_FLIGHT, PAYER_ACTS, statesBefore } from '../../../pure/payments/states.ts'
import type { PaymentState } from '../../../pure/payments/states.ts'
import type { Statement } from '../work.ts'
import { literals, PAYMENT_COLUMNS } from './row.ts'

const KEY = 'payer = ?1 and nonce = ?2'

export const SETTLE: Statement = {
  name: 'settle_payment',
  text: `update payment set state = 'settled', transaction_hash = ?3, block_number = ?4, block_hash = ?5, settled_ms = ?6, updated_ms = ?6,
      final = 0, reason = null
    where ${KEY} and state in (${literals(statesBefore('settled'))})
    returning price_class`,
}

/** Without a block from here on. A transaction that was known stays known. */
function closeWithout(state: PaymentState): Statement {
  return {
    name: `close_${state}`,
    text: `update payment set state = '${state}', reason = ?3, transaction_hash = coalesce(?4, transaction_hash), updated_ms = ?5,
        block_number = null, block_hash = null, settled_ms = null, final = 0
      where ${KEY} and state in (${literals(statesBefore(state))})
      returning fence`,
  }
}

export const CLOSE_WITHOUT = { refused: closeWithout('refused'), unknown: closeWithout('unknown'), lost: closeWithout('lost') } as const

export const COUNT_SALE: Statement = {
  name: 'count_sale',
  text: 'insert into sale (epoch, price_class, payer) values (?1, ?2, ?3) on conflict (epoch, price_class, payer) do nothing',
}

export const FINALIZE: Statement = {
  name: 'finalize_payment',
  text: `update payment set final = 1, updated_ms = case when state = 'settled' then ?3 else updated_ms end
    where ${KEY} and state in ('settled', 'refused') and final = 0`,
}

/** The place in line is the time of the move to settling: nothing else touches a row that waits. */
export const READ_WAITING: Statement = {
  name: 'read_waiting',
  text: `select ${PAYMENT_COLUMNS} from payment p
    where settler = ?1 and state = 'settling' and account_nonce is null
    order by updated_ms, number limit ?2`,
}

export const READ_IN_STATE: Statement = {
  name: 'read_in_state',
  text: `select ${PAYMENT_COLUMNS} from payment p
    where state = ?1 and final = ?2 and updated_ms < ?3
    order by updated_ms, number limit ?4`,
}

export const COUNT_REFUSED_OF: Statement = {
  name: 'count_refused_of',
  text: `select count(*) as found from payment where payer = ?1 and state = 'refused' and updated_ms >= ?2 and reason in (${literals(PAYER_ACTS)})`,
}

/** At most ?2 rows at a time. A payment that may still settle keeps its answer: it will be paid for. */
export const PURGE_ANSWERS: Statement = {
  name: 'purge_answers',
  text: `delete from payment_answer where payment in (select a.payment from payment_answer a join payment p on p.number = a.payment
      where a.expires_ms <= ?1 and p.state not in (${literals(IN_FLIGHT)}) limit ?2)
    returning payment`,
}

/** At most ?2 rows at a time. The network opens an answer for a day only, and says nothing of the payment afterwards. */
export const FORGET_NETWORKS: Statement = {
  name: 'forget_networks',
  text: `update payment set network_hash = null
    where number in (select number from payment where network_hash is not null and created_ms <= ?1 limit ?2)
    returning number`,
}
