import type { Statement } from '../work.ts'
import { PAYMENT_COLUMNS } from './row.ts'

const SENDING = 'wallet = ?1 and account_nonce = ?2'
const PAYMENT = 'payer = ?1 and nonce = ?2'

/** Returns no row when the account nonce is taken. */
export const INSERT_SENDING: Statement = {
  name: 'insert_sending',
  text: `insert into sending (wallet, account_nonce, kind, recipient, data, gas, state, created_ms) values (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7)
    on conflict (wallet, account_nonce) do nothing
    returning account_nonce`,
}

/** The same transaction a second time changes nothing. */
export const INSERT_ATTEMPT: Statement = {
  name: 'insert_attempt',
  text: `insert into sending_attempt (wallet, account_nonce, number, hash, raw, max_fee_wei, priority_fee_wei, stored_ms)
    values (?1, ?2, (select count(*) + 1 from sending_attempt where ${SENDING}), ?3, ?4, ?5, ?6, ?7)
    on conflict (wallet, account_nonce, hash) do nothing`,
}

/** Ties a payment that waits for this wallet to its transaction. */
export const TIE_PAYMENT: Statement = {
  name: 'tie_payment',
  text: `update payment set account_nonce = ?4, place = ?5, transaction_hash = ?6
    where ${PAYMENT} and settler = ?3 and state = 'settling' and account_nonce is null
    returning fence`,
}

export const UNTIE_PAYMENT: Statement = {
  name: 'untie_payment',
  text: `update payment set account_nonce = null, place = null, transaction_hash = null where ${PAYMENT} and state = 'settling'`,
}

export const FIND_OPEN_SENDING: Statement = {
  name: 'find_open_sending',
  text: `select account_nonce from sending where ${SENDING} and state = 'open'`,
}

/** Another transaction takes the account nonce. */
export const CHANGE_SENDING: Statement = {
  name: 'change_sending',
  text: `update sending set kind = ?3, recipient = ?4, data = ?5, gas = ?6 where ${SENDING}`,
}

/** The same transaction at another fee carries the same payments. In one order, as all who write several payments keep it. */
export const READ_CARRIED_KEYS: Statement = {
  name: 'read_carried_keys',
  text: `select payer, nonce from payment where settler = ?1 and account_nonce = ?2 and state in ('settling', 'unknown')
    order by payer, nonce`,
  row_lock: 'for update',
}

export const RENAME_TRANSACTION: Statement = {
  name: 'rename_transaction',
  text: `update payment set transaction_hash = ?3 where ${PAYMENT}`,
}

/** `cross join` and `+ 0` keep SQLite from walking through every sending there ever was, for the sake of its order. */
export const READ_OPEN_SENDINGS: Statement = {
  name: 'read_open_sendings',
  text: `select s.wallet, s.account_nonce, s.kind, s.recipient, s.data, cast(s.gas as text) as gas, s.state, s.created_ms,
      a.hash, a.raw, a.max_fee_wei, a.priority_fee_wei, a.stored_ms
    from sending s cross join sending_attempt a
    where s.wallet = ?1 and s.state = 'open' and a.wallet = s.wallet and a.account_nonce = s.account_nonce
    order by s.account_nonce + 0, a.number`,
}

export const READ_CARRIED: Statement = {
  name: 'read_carried',
  text: `select ${PAYMENT_COLUMNS} from payment p where settler = ?1 and account_nonce = ?2 order by place`,
}

export const FINISH_SENDING: Statement = {
  name: 'finish_sending',
  text: `update sending set state = 'done' where ${SENDING} returning account_nonce`,
}

export const REOPEN_SENDING: Statement = {
  name: 'reopen_sending',
  text: `update sending set state = 'open' where ${SENDING} returning account_nonce`,
}

export const READ_LAST_NONCE: Statement = {
  name: 'read_last_nonce',
  text: 'select max(account_nonce) as account_nonce from sending where wallet = ?1',
}

export const BEGIN_GAS_DAY: Statement = {
  name: 'begin_gas_day',
  text: `insert into gas_spent (wallet, day, wei) values (?1, ?2, '0') on conflict (wallet, day) do nothing`,
}

export const READ_GAS_DAY: Statement = {
  name: 'read_gas_day',
  text: 'select wei from gas_spent where wallet = ?1 and day = ?2',
  row_lock: 'for update',
}

export const READ_GAS_SPENT: Statement = {
  name: 'read_gas_spent',
  text: 'select wei from gas_spent where wallet = ?1 and day = ?2',
}

export const WRITE_GAS_DAY: Statement = {
  name: 'write_gas_day',
  text: 'update gas_spent set wei = ?3 where wallet = ?1 and day = ?2',
}
