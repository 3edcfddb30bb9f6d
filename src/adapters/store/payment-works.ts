import type { LeaseGuard, PaymentKey, WalletSending, SendingAttempt, PaymentTransition } from '../../ports/payments.ts'
import { amount, columns, count, key_type, nullable, pick, text_type, uint256, word_type, countFrom, parameter } from './columns.ts'
import { assigned, expression, inserted, locked, matched, selected, sql, type Statement, statement, literals, raw } from './statements.ts'
import { execute, readAll, readOne, type Work, assertStorable, readFirst } from './database.ts'
import { payment, PAYMENT_KEY, payment_key, COUNT_SALE, now } from './payment-statements.ts'
import { type PaymentState, statesBefore } from '../../pure/payments/states.ts'

/** Transactions of gas wallets, with the raw bytes of every attempt, and the gas of a day. */

const sending_key = columns({ wallet: key_type, account_nonce: count })
const sending_content = columns(
  { kind: word_type('single', 'batch', 'deploy', 'sweep', 'channel', 'cancel'), to: text_type, data: text_type, gas: amount },
  { to: 'recipient' },
)
const sending_progress = columns({ state: word_type('open', 'done'), created_ms: count })
const attempt_columns = columns({ hash: key_type, raw: text_type, max_fee_wei: uint256, priority_fee_wei: uint256, stored_ms: count })
const gas_day = columns({ wallet: key_type, day: count })
const gas_spent = columns({ wei: uint256 })
const SENDING_KEY = matched(sending_key)

/** Returns no row when the account nonce is taken. */
const INSERT_SENDING = statement(
  'insert_sending',
  sql`insert into sending ${inserted({ ...sending_key, ...sending_content, ...sending_progress })}
    on conflict (wallet, account_nonce) do nothing
    returning account_nonce`,
)

/** The same transaction a second time changes nothing. */
const INSERT_ATTEMPT = statement(
  'insert_attempt',
  sql`insert into sending_attempt ${inserted(
    { ...sending_key, ...attempt_columns },
    { number: sql`(select count(*) + 1 from sending_attempt where ${SENDING_KEY})` },
  )}
    on conflict (wallet, account_nonce, hash) do nothing`,
)

const carrying = columns({ account_nonce: count, place: count, transaction: text_type }, { transaction: 'transaction_hash' })

/** Assigns a waiting payment of this wallet to its transaction. */
const TIE_PAYMENT = statement(
  'tie_payment',
  sql`update payment set ${assigned(carrying)}
    where ${PAYMENT_KEY} and settler = ${sending_key.wallet} and state = 'settling' and account_nonce is null
    returning fence`,
)

const DETACH_FROM_SENDING = statement(
  'untie_payment',
  sql`update payment set account_nonce = null, place = null, transaction_hash = null where ${PAYMENT_KEY} and state = 'settling'`,
)

const FIND_OPEN_SENDING = statement('find_open_sending', sql`select account_nonce from sending where ${SENDING_KEY} and state = 'open'`)

/** Another transaction takes the account nonce. */
const CHANGE_SENDING = statement('change_sending', sql`update sending set ${assigned(sending_content)} where ${SENDING_KEY}`)

/** The same transaction at another fee carries the same payments. In the order in which every writer of several payments locks them. */
const READ_CARRIED_KEYS = statement(
  'read_carried_keys',
  sql`select ${selected(payment_key)} from payment
    where settler = ${sending_key.wallet} and account_nonce = ${sending_key.account_nonce} and state in ('settling', 'unknown')
    order by payer, nonce`,
  'for update',
)

const RENAME_TRANSACTION = statement(
  'rename_transaction',
  sql`update payment set ${assigned(pick(carrying, 'transaction'))} where ${PAYMENT_KEY}`,
)

/** `cross join` and `+ 0` keep SQLite from scanning every sending of the wallet to get the order. */
export const READ_OPEN_SENDINGS = statement(
  'read_open_sendings',
  sql`select ${selected({ ...sending_key, ...sending_content, ...sending_progress }, 's')}, ${selected(attempt_columns, 'a')}
    from sending s cross join sending_attempt a
    where s.wallet = ${sending_key.wallet} and s.state = 'open' and a.wallet = s.wallet and a.account_nonce = s.account_nonce
    order by s.account_nonce + 0, a.number`,
)

export const READ_CARRIED = statement(
  'read_carried',
  sql`select ${selected(payment)} from payment
    where settler = ${sending_key.wallet} and account_nonce = ${sending_key.account_nonce} order by place`,
)

export const FINISH_SENDING = statement(
  'finish_sending',
  sql`update sending set state = 'done' where ${SENDING_KEY} returning account_nonce`,
)

export const REOPEN_SENDING = statement(
  'reopen_sending',
  sql`update sending set state = 'open' where ${SENDING_KEY} returning account_nonce`,
)

export const READ_LAST_NONCE = statement(
  'read_last_nonce',
  sql`select ${expression('account_nonce', nullable(count), 'max(account_nonce)')} from sending where wallet = ${sending_key.wallet}`,
)

const BEGIN_GAS_DAY = statement(
  'begin_gas_day',
  sql`insert into gas_spent ${inserted(gas_day, { wei: sql`'0'` })} on conflict (wallet, day) do nothing`,
)

export const READ_GAS_SPENT = statement('read_gas_spent', sql`select ${selected(gas_spent)} from gas_spent where ${matched(gas_day)}`)
const LOCK_GAS_DAY = locked('read_gas_day', READ_GAS_SPENT)
const WRITE_GAS_DAY = statement('write_gas_day', sql`update gas_spent set ${assigned(gas_spent)} where ${matched(gas_day)}`)

export type SendingKey = Pick<WalletSending, 'wallet' | 'account_nonce'>
export type NewSending = Omit<WalletSending, 'state' | 'attempts'>
export type SendingChange = Pick<WalletSending, 'kind' | 'to' | 'data' | 'gas'>

/** On false the caller undoes what was written so far. */
export function* addSending(
  sending: NewSending,
  attempt: SendingAttempt,
  payments: readonly PaymentKey[],
  guard: LeaseGuard,
): Work<boolean> {
  const { wallet, account_nonce } = sending
  if (!(yield* isLeaseHeld(guard))) return false
  if (!(yield* execute(INSERT_SENDING, { ...sending, state: 'open' }))) return false
  yield* execute(INSERT_ATTEMPT, { wallet, account_nonce, ...attempt })
  for (const place of inLockOrder(payments)) {
    const carried = payments[place]
    if (carried === undefined) continue
    if (!(yield* execute(TIE_PAYMENT, { ...carried, wallet, account_nonce, place, transaction: attempt.hash }))) return false
  }
  return true
}

export function* addAttempt(sending: SendingKey, attempt: SendingAttempt, change: SendingChange | null, guard: LeaseGuard): Work<boolean> {
  if (!(yield* isLeaseHeld(guard))) return false
  if (!(yield* execute(FIND_OPEN_SENDING, sending))) return false
  yield* execute(INSERT_ATTEMPT, { ...sending, ...attempt })
  if (change !== null) {
    yield* execute(CHANGE_SENDING, { ...sending, ...change })
    return true
  }
  for (const carried of yield* readAll(READ_CARRIED_KEYS, sending)) {
    yield* execute(RENAME_TRANSACTION, { ...carried, transaction: attempt.hash })
  }
  return true
}

/** Payments that are no longer in state settling stay as they are. */
export function* requeue(keys: readonly PaymentKey[], guard: LeaseGuard): Work<boolean> {
  if (!(yield* isLeaseHeld(guard))) return false
  for (const index of inLockOrder(keys)) {
    const waiting = keys[index]
    if (waiting !== undefined) yield* execute(DETACH_FROM_SENDING, waiting)
  }
  return true
}

/** Runs FINISH_SENDING or REOPEN_SENDING under the guard. */
export function* changeState(change: Statement<SendingKey, unknown>, sending: SendingKey, guard: LeaseGuard): Work<boolean> {
  return (yield* isLeaseHeld(guard)) && (yield* execute(change, sending))
}

export function* spendGas(wallet: string, day: number, wei: bigint): Work<bigint> {
  yield* execute(BEGIN_GAS_DAY, { wallet, day })
  const sum = (yield* readOne(LOCK_GAS_DAY, { wallet, day })).wei + wei
  yield* execute(WRITE_GAS_DAY, { wallet, day, wei: sum })
  return sum
}

/** From one row for each attempt, in order. */
export function sendingsOf(found: readonly (Omit<WalletSending, 'attempts'> & SendingAttempt)[]): WalletSending[] {
  const sendings: WalletSending[] = []
  for (const { hash, raw: transaction, max_fee_wei, priority_fee_wei, stored_ms, ...sending } of found) {
    const attempt = { hash, raw: transaction, max_fee_wei, priority_fee_wei, stored_ms }
    const last = sendings.at(-1)
    if (last?.account_nonce === sending.account_nonce) last.attempts.push(attempt)
    else sendings.push({ ...sending, attempts: [attempt] })
  }
  return sendings
}

const guard_columns = columns({ lease: key_type, fence: count })

/** Returns a row while the lease has this number and has not run out. The row stays locked: the lease cannot change hands meanwhile. */
const HOLD_LEASE = statement(
  'hold_lease',
  sql`select name from lease where name = ${guard_columns.lease} and fence = ${guard_columns.fence} and until_ms > ${parameter('now_ms', countFrom(-1))}`,
  'for update',
)

/** Before every possible end of a lease: for writes that come without a time. */
const ANY_TIME = -1

/** True when the lease is held under this number; until the end of the work it stays held. */
function* isLeaseHeld({ lease, fence }: LeaseGuard, now_ms: number = ANY_TIME): Work<boolean> {
  return yield* execute(HOLD_LEASE, { lease, fence, now_ms })
}

/**
 * Indexes of the keys in one order, so that two works on PostgreSQL never wait for each other in a circle. Stable: two transitions of the
 * same payment keep theirs.
 */
function inLockOrder(keys: readonly PaymentKey[]): number[] {
  const names = keys.map(({ payer, nonce }) => payer + nonce)
  return names.map((_, index) => index).toSorted((one, other) => compare(names[one], names[other]))
}

function compare(one = '', other = ''): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

const SETTLE = statement(
  'settle_payment',
  sql`update payment set state = 'settled', ${assigned(pick(payment, 'transaction', 'block_number', 'block_hash'))},
      settled_ms = ${now}, updated_ms = ${now}, final = 0, reason = null
    where ${PAYMENT_KEY} and state in (${literals(statesBefore('settled'))})
    returning ${selected(pick(payment, 'price_class'))}`,
)

/** Clears the block, because the transfer is not, or no longer, on the chain. A known transaction stays. */
function closeWithout(state: PaymentState) {
  return statement(
    `close_${state}`,
    sql`update payment set state = ${raw(`'${state}'`)}, reason = ${payment.reason}, updated_ms = ${now},
        transaction_hash = coalesce(${payment.transaction}, transaction_hash), block_number = null, block_hash = null, settled_ms = null, final = 0
      where ${PAYMENT_KEY} and state in (${literals(statesBefore(state))})
      returning fence`,
  )
}

const CLOSE_WITHOUT = { refused: closeWithout('refused'), unknown: closeWithout('unknown'), lost: closeWithout('lost') } as const

const FINALIZE = statement(
  'finalize_payment',
  sql`update payment set final = 1, updated_ms = case when state = 'settled' then ${now} else updated_ms end
    where ${PAYMENT_KEY} and state in ('settled', 'refused') and final = 0`,
)

export function* applyTransitions(
  closings: readonly PaymentTransition[],
  epoch: number,
  now_ms: number,
  guard: LeaseGuard | undefined,
): Work<boolean[]> {
  const moved = closings.map(() => false)
  if (guard !== undefined && !(yield* isLeaseHeld(guard, now_ms))) return moved
  const sales = new Map<string, { price_class: string; payer: string }>()
  for (const index of inLockOrder(closings)) {
    const closing = closings[index]
    if (closing === undefined) continue
    if (closing.to !== 'settled') {
      moved[index] = yield* execute(CLOSE_WITHOUT[closing.to], { ...closing, now_ms })
      continue
    }
    const settled = yield* readFirst(SETTLE, settlementOf(closing, now_ms))
    if (settled === undefined) continue
    moved[index] = true
    const sale = { price_class: settled.price_class, payer: closing.payer }
    sales.set(`${sale.price_class}\u0000${sale.payer}`, sale)
  }
  for (const name of [...sales.keys()].toSorted(compare)) {
    const sale = sales.get(name)
    if (sale !== undefined) yield* execute(COUNT_SALE, { epoch, ...sale })
  }
  return moved
}

function settlementOf({ payer, nonce, settled_at }: Extract<PaymentTransition, { to: 'settled' }>, now_ms: number) {
  return { payer, nonce, ...settled_at, now_ms }
}

export function assertTransition(closing: PaymentTransition, now_ms: number): void {
  if (closing.to === 'settled') assertStorable(SETTLE, settlementOf(closing, now_ms))
  else assertStorable(CLOSE_WITHOUT[closing.to], { ...closing, now_ms })
}

export function* finalize(keys: readonly PaymentKey[], now_ms: number): Work<void> {
  for (const index of inLockOrder(keys)) {
    const one = keys[index]
    if (one !== undefined) yield* execute(FINALIZE, { payer: one.payer, nonce: one.nonce, now_ms })
  }
}
