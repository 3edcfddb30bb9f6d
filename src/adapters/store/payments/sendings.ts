import type { LeaseGuard, PaymentKey, Sending, SendingAttempt } from '../../../ports/payments.ts'
import { integer, oneOf, text, wide } from '../rows.ts'
import { assertCounts, assertKeys, assertTexts, assertWei, assertWide } from '../storable.ts'
import type { Query, Row, Statement, Work } from '../work.ts'
import { holds, inLockOrder } from './closings.ts'
import * as sql from './sql-sendings.ts'

export type NewSending = Omit<Sending, 'state' | 'attempts'>
export type SendingChange = Pick<Sending, 'kind' | 'to' | 'data' | 'gas'>

export function assertChange({ to, data, gas }: SendingChange): void {
  assertTexts({ to, data })
  assertWide({ gas })
}

export function assertAttempt({ hash, raw, max_fee_wei, priority_fee_wei, stored_ms }: SendingAttempt): void {
  assertKeys({ hash })
  assertTexts({ raw })
  assertWei({ max_fee_wei, priority_fee_wei })
  assertCounts({ stored_ms })
}

function insertAttempt(wallet: string, account_nonce: number, attempt: SendingAttempt): Query {
  const { hash, raw, max_fee_wei, priority_fee_wei, stored_ms } = attempt
  const values = [wallet, account_nonce, hash, raw, String(max_fee_wei), String(priority_fee_wei), stored_ms]
  return { statement: sql.INSERT_ATTEMPT, values }
}

/** On false the caller undoes what was written so far. */
export function* addSending(
  sending: NewSending,
  attempt: SendingAttempt,
  payments: readonly PaymentKey[],
  guard: LeaseGuard,
): Work<boolean> {
  const { wallet, account_nonce, kind, to, data, gas, created_ms } = sending
  if (!(yield* holds(guard))) return false
  const added = yield { statement: sql.INSERT_SENDING, values: [wallet, account_nonce, kind, to, data, gas, created_ms] }
  if (added.length === 0) return false
  yield insertAttempt(wallet, account_nonce, attempt)
  for (const place of inLockOrder(payments)) {
    const key = payments[place]
    if (key === undefined) continue
    const values = [key.payer, key.nonce, wallet, account_nonce, place, attempt.hash]
    if ((yield { statement: sql.TIE_PAYMENT, values }).length === 0) return false
  }
  return true
}

export function* addAttempt(
  wallet: string,
  account_nonce: number,
  attempt: SendingAttempt,
  change: SendingChange | null,
  guard: LeaseGuard,
): Work<boolean> {
  if (!(yield* holds(guard))) return false
  if ((yield { statement: sql.FIND_OPEN_SENDING, values: [wallet, account_nonce] }).length === 0) return false
  yield insertAttempt(wallet, account_nonce, attempt)
  if (change !== null) {
    yield { statement: sql.CHANGE_SENDING, values: [wallet, account_nonce, change.kind, change.to, change.data, change.gas] }
    return true
  }
  for (const row of yield { statement: sql.READ_CARRIED_KEYS, values: [wallet, account_nonce] }) {
    yield { statement: sql.RENAME_TRANSACTION, values: [text(row, 'payer'), text(row, 'nonce'), attempt.hash] }
  }
  return true
}

/** Payments that are no longer in state settling stay as they are. */
export function* requeue(keys: readonly PaymentKey[], guard: LeaseGuard): Work<boolean> {
  if (!(yield* holds(guard))) return false
  for (const index of inLockOrder(keys)) {
    const key = keys[index]
    if (key !== undefined) yield { statement: sql.UNTIE_PAYMENT, values: [key.payer, key.nonce] }
  }
  return true
}

/** One statement on one sending. */
export function* changeState(statement: Statement, wallet: string, account_nonce: number, guard: LeaseGuard): Work<boolean> {
  return (yield* holds(guard)) && (yield { statement, values: [wallet, account_nonce] }).length === 1
}

export function* spendGas(wallet: string, day: number, wei: bigint): Work<bigint> {
  yield { statement: sql.BEGIN_GAS_DAY, values: [wallet, day] }
  const sum = wide((yield { statement: sql.READ_GAS_DAY, values: [wallet, day] })[0], 'wei') + wei
  yield { statement: sql.WRITE_GAS_DAY, values: [wallet, day, String(sum)] }
  return sum
}

const KINDS = ['single', 'batch', 'deploy', 'cancel'] as const

/** From one row for each attempt, in order. */
export function sendingsOf(rows: readonly Row[]): Sending[] {
  const sendings: Sending[] = []
  for (const row of rows) {
    const account_nonce = integer(row, 'account_nonce')
    const last = sendings.at(-1)
    if (last?.account_nonce === account_nonce) last.attempts.push(attemptOf(row))
    else sendings.push({ ...sendingOf(row), attempts: [attemptOf(row)] })
  }
  return sendings
}

function sendingOf(row: Row): Omit<Sending, 'attempts'> {
  return {
    wallet: text(row, 'wallet'),
    account_nonce: integer(row, 'account_nonce'),
    kind: oneOf(row, 'kind', KINDS),
    to: text(row, 'recipient'),
    data: text(row, 'data'),
    gas: wide(row, 'gas'),
    state: oneOf(row, 'state', ['open', 'done']),
    created_ms: integer(row, 'created_ms'),
  }
}

function attemptOf(row: Row): SendingAttempt {
  return {
    hash: text(row, 'hash'),
    raw: text(row, 'raw'),
    max_fee_wei: wide(row, 'max_fee_wei'),
    priority_fee_wei: wide(row, 'priority_fee_wei'),
    stored_ms: integer(row, 'stored_ms'),
  }
}
