import { claimRanOut } from '../../../pure/payments/claims.ts'
import type {
  Binding,
  ClaimRequest,
  ClaimResult,
  Closing,
  LeaseGuard,
  LedgerQuery,
  LedgerSum,
  Payment,
  PaymentKey,
  PaymentStore,
  PriceMark,
  Sale,
  Sending,
  SendingAttempt,
  StoredAnswer,
} from '../../../ports/payments.ts'
import { IN_FLIGHT, PAYMENT_STATES, type PaymentState, UNSENT } from '../../../pure/payments/states.ts'
import { integer, integerOrNull, oneOf, text, wide } from '../rows.ts'
import { assertCounts, assertHex, assertKeys, assertPaymentKey, assertTexts, assertWei, assertWide } from '../storable.ts'
import type { Database, Row, Statement, Value, Work } from '../work.ts'
import { paymentOf, sumIn } from './row.ts'
import * as sql from './sql-claims.ts'
import { WRITE_MARK } from './sql-ledger.ts'
import { limits } from '../../../service/limits.ts'
import { assertClosing, closePayments, finalize } from './closings.ts'
import {
  addAttempt,
  addSending,
  assertAttempt,
  assertChange,
  changeState,
  type NewSending,
  requeue,
  type SendingChange,
  sendingsOf,
  spendGas,
} from './sendings.ts'
import * as claims from './sql-claims.ts'
import * as closings from './sql-closings.ts'
import * as ledger from './sql-ledger.ts'
import * as sendings from './sql-sendings.ts'

function assertClaim(request: ClaimRequest): void {
  assertPaymentKey(request)
  const { subject, input_hash, to, price_class, token_hash, signature } = request
  assertKeys({ subject, input_hash, to, price_class, token_hash })
  assertTexts({ signature })
  for (const hash of [request.network_hash, request.identifier_hash]) if (hash !== null) assertHex({ hash })
  const { value_minor, valid_after_s, valid_before_s, now_ms, claim_until_ms } = request
  assertWide({ value_minor, valid_after_s, valid_before_s })
  assertCounts({ now_ms, claim_until_ms })
}

/**
 * The caller lets one claim of a payer run at a time, over all processes: what is in flight is read first, and must not grow meanwhile.
 * A settled payment that a reorganisation makes unknown may still add to it; no claim could have known.
 */
function* claim(request: ClaimRequest): Work<ClaimResult> {
  const in_flight = yield* inFlight(request)
  const within_due = request.purpose !== 'invoice' || (yield* isWithinDue(request))
  const fits = in_flight + request.value_minor <= request.balance_minor
  if (fits && within_due) {
    const [added] = yield { statement: sql.INSERT_CLAIM, values: claimValues(request) }
    if (added !== undefined) return { kind: 'claimed', fence: integer(added, 'fence') }
  }
  const [row] = yield { statement: sql.LOCK_PAYMENT, values: [request.payer, request.nonce] }
  if (row === undefined) return { kind: within_due ? 'over_reserved' : 'over_due' }
  const payment = paymentOf(row)
  if (!sameBinding(payment, request) || !isFree(payment, request)) return { kind: 'exists', payment }
  if (!within_due) return { kind: 'over_due' }
  const own = IN_FLIGHT.includes(payment.state) ? payment.value_minor : 0n
  if (in_flight - own + request.value_minor > request.balance_minor) return { kind: 'over_reserved' }
  return yield* claimAgain(request)
}

/** Authorizations compared one by one; with more of them all count as open, which errs towards too much. */
const EACH_MOST = 1_000

/** What may still take from the balance that the request speaks of. */
function* inFlight({ payer, nonce, spent = [] }: ClaimRequest): Work<bigint> {
  const all = sumIn((yield { statement: sql.READ_IN_FLIGHT, values: [payer] })[0])
  if (spent.length === 0) return all
  const left = new Set(spent.filter((one) => one !== nonce))
  const rows = yield { statement: sql.READ_EACH_IN_FLIGHT, values: [payer, EACH_MOST] }
  return rows.reduce((sum, row) => (left.has(text(row, 'nonce')) ? sum - wide(row, 'value_minor') : sum), all)
}

/** Whether the invoice still takes this much; one that was evicted takes nothing. */
function* isWithinDue({ subject, payer, nonce, value_minor }: ClaimRequest): Work<boolean> {
  const [invoice] = yield { statement: sql.LOCK_INVOICE, values: [subject] }
  if (invoice === undefined) return false
  const attributed = sumIn((yield { statement: sql.READ_ATTRIBUTED, values: [subject] })[0])
  const under_way = sumIn((yield { statement: sql.READ_UNDER_WAY, values: [subject, payer, nonce] })[0])
  return invoice['voided_ms'] === null && attributed + under_way + value_minor <= wide(invoice, 'amount_minor')
}

function* claimAgain(request: ClaimRequest): Work<ClaimResult> {
  const { payer, nonce, to, value_minor, valid_after_s, valid_before_s, signature, price_class, token_hash } = request
  const secrets = [token_hash, request.network_hash, request.identifier_hash]
  const terms = [to, value_minor, valid_after_s, valid_before_s, signature, Number(request.contract_payer), price_class, ...secrets]
  const [row] = yield { statement: sql.CLAIM_AGAIN, values: [payer, nonce, ...terms, request.claim_until_ms, request.now_ms] }
  yield { statement: sql.FORGET_ANSWER, values: [integer(row, 'number')] }
  return { kind: 'claimed', fence: integer(row, 'fence') }
}

function claimValues(request: ClaimRequest): Value[] {
  return [
    request.payer,
    request.nonce,
    request.purpose,
    request.subject,
    request.input_hash,
    request.to,
    request.value_minor,
    request.valid_after_s,
    request.valid_before_s,
    request.signature,
    Number(request.contract_payer),
    request.price_class,
    request.token_hash,
    request.network_hash,
    request.identifier_hash,
    request.claim_until_ms,
    request.now_ms,
  ]
}

function sameBinding(one: Binding, other: Binding): boolean {
  return one.purpose === other.purpose && one.subject === other.subject && one.input_hash === other.input_hash
}

/** Released, or still with a claimer whose time is over. */
function isFree(payment: Payment, { now_ms, claim_until_ms }: ClaimRequest): boolean {
  if (payment.state === 'released') return true
  return UNSENT.includes(payment.state) && claimRanOut(payment.claim_until_ms, now_ms, claim_until_ms - now_ms)
}

function* prepare(key: PaymentKey, fence: number, answer: StoredAnswer, now_ms: number): Work<boolean> {
  const [row] = yield { statement: sql.PREPARE, values: [key.payer, key.nonce, fence, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.WRITE_ANSWER, values: [integer(row, 'number'), answer.sealed, answer.expires_ms] }
  return true
}

/** What was prepared for a released payment was never paid for, and goes with it. */
function* release(key: PaymentKey, fence: number, reason: string, now_ms: number, statement: Statement = sql.RELEASE): Work<boolean> {
  const [row] = yield { statement, values: [key.payer, key.nonce, fence, reason, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.FORGET_ANSWER, values: [integer(row, 'number')] }
  return true
}

/** Releases at most `limit` payments; returns how many. */
function* releaseAbandoned(now_ms: number, limit: number): Work<number> {
  const rows = yield { statement: sql.RELEASE_ABANDONED, values: [now_ms, limit] }
  if (rows.length > 0) yield { statement: sql.FORGET_RELEASED, values: [now_ms] }
  return rows.length
}

const DAY_MS = 86_400_000

/** The values of a query's filter; refuses what no row could hold. */
function filterValues(query: Omit<LedgerQuery, 'after' | 'limit'>): Value[] {
  const { from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER, tool = '', state = '' } = query
  assertCounts({ from_ms, to_ms })
  assertTexts({ tool })
  return [from_ms, to_ms, tool, state]
}

function pageValues({ after, limit }: LedgerQuery): Value[] {
  assertCounts({ limit })
  if (after === undefined) return [0, '', '', limit]
  const { created_ms, payer, nonce } = after
  assertCounts({ created_ms })
  assertTexts({ payer, nonce })
  return [created_ms, payer, nonce, limit]
}

function ledgerSumOf(row: Row): LedgerSum {
  return {
    day: new Date(integer(row, 'day') * DAY_MS).toISOString().slice(0, 10),
    tool: text(row, 'tool'),
    state: oneOf(row, 'state', PAYMENT_STATES),
    count: integer(row, 'found'),
    value_minor: sumIn(row),
  }
}

function saleOf(row: Row): Sale {
  return { price_class: text(row, 'price_class'), epoch: integer(row, 'epoch'), payers: integer(row, 'payers') }
}

function markOf(row: Row): PriceMark {
  return { price_class: text(row, 'price_class'), epoch: integer(row, 'epoch'), amount_minor: wide(row, 'amount_minor') }
}

/** In one order, so that two works on PostgreSQL never wait for each other in a circle. */
function* markPrices(marks: readonly PriceMark[]): Work<void> {
  const sorted = marks.toSorted((one, other) => one.epoch - other.epoch || (one.price_class < other.price_class ? -1 : 1))
  for (const mark of sorted) yield { statement: WRITE_MARK, values: [mark.price_class, mark.epoch, mark.amount_minor] }
}

/** Rows that one write of a job changes, so that it never holds the lock for long. */
const JOB_ROWS = 1_000

function assertGuard({ lease, fence }: LeaseGuard): void {
  assertKeys({ lease })
  assertCounts({ fence })
}

function isTrue(outcome: boolean): boolean {
  return outcome
}

/** What both databases do alike with payments. Whatever cannot be stored is refused here, before it meets its neighbours in a batch. */
export class SqlPaymentStore implements PaymentStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    assertClaim(request)
    return this.#database.atomically(() => claim(request), { alone_with: request.payer })
  }

  async find(key: PaymentKey): Promise<Payment | null> {
    assertPaymentKey(key)
    const [row] = await this.#database.read(claims.READ_PAYMENT, [key.payer, key.nonce])
    return row === undefined ? null : paymentOf(row)
  }

  async find_by_token(token_hash: string): Promise<Payment | null> {
    assertKeys({ token_hash })
    const [row] = await this.#database.read(claims.READ_BY_TOKEN, [token_hash])
    return row === undefined ? null : paymentOf(row)
  }

  async under_way(invoice_id: string): Promise<bigint> {
    assertKeys({ invoice_id })
    return sumIn((await this.#database.read(claims.READ_UNDER_WAY, [invoice_id, '', '']))[0])
  }

  async nonces_in_flight(payer: string, limit: number): Promise<string[]> {
    assertKeys({ payer })
    assertCounts({ limit })
    return (await this.#database.read(claims.READ_EACH_IN_FLIGHT, [payer, limit])).map((row) => text(row, 'nonce'))
  }

  async answer(key: PaymentKey): Promise<StoredAnswer | null> {
    assertPaymentKey(key)
    const [row] = await this.#database.read(claims.READ_ANSWER, [key.payer, key.nonce])
    return row === undefined ? null : { sealed: text(row, 'sealed'), expires_ms: integer(row, 'expires_ms') }
  }

  async prepare(key: PaymentKey, fence: number, answer: StoredAnswer, now_ms: number): Promise<boolean> {
    assertPaymentKey(key)
    assertCounts({ fence, now_ms, expires_ms: answer.expires_ms })
    assertTexts({ sealed: answer.sealed })
    if (!this.#database.joinsWrites()) return this.#database.atomically(() => prepare(key, fence, answer, now_ms))
    const values = [key.payer, key.nonce, fence, now_ms, answer.sealed, answer.expires_ms]
    return (await this.#database.write(claims.PREPARE_JOINED, values)).length === 1
  }

  async begin_settling(
    key: PaymentKey,
    fence: number,
    by: { method: 'self' | 'facilitator'; settler: string },
    now_ms: number,
  ): Promise<boolean> {
    assertPaymentKey(key)
    assertCounts({ fence, now_ms })
    assertKeys({ settler: by.settler })
    const rows = await this.#database.write(claims.BEGIN_SETTLING, [key.payer, key.nonce, fence, by.method, by.settler, now_ms])
    return rows.length === 1
  }

  async release(key: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean> {
    assertPaymentKey(key)
    assertCounts({ fence, now_ms })
    assertTexts({ reason })
    return this.#database.atomically(() => release(key, fence, reason, now_ms))
  }

  async take_back(key: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean> {
    assertPaymentKey(key)
    assertCounts({ fence, now_ms })
    assertTexts({ reason })
    return this.#database.atomically(() => release(key, fence, reason, now_ms, claims.TAKE_BACK))
  }

  async release_abandoned(now_ms: number): Promise<number> {
    assertCounts({ now_ms })
    return inParts(() => this.#database.atomically(() => releaseAbandoned(now_ms, JOB_ROWS)))
  }

  async close_payments(closing: readonly Closing[], epoch: number, now_ms: number, guard?: LeaseGuard): Promise<boolean[]> {
    closing.forEach(assertClosing)
    assertCounts({ epoch, now_ms })
    if (guard !== undefined) assertGuard(guard)
    return this.#database.atomically(() => closePayments(closing, epoch, now_ms, guard))
  }

  async finalize(keys: readonly PaymentKey[], now_ms: number): Promise<void> {
    keys.forEach(assertPaymentKey)
    assertCounts({ now_ms })
    return this.#database.atomically(() => finalize(keys, now_ms))
  }

  async waiting(settler: string, limit: number): Promise<Payment[]> {
    assertKeys({ settler })
    assertCounts({ limit })
    return (await this.#database.read(closings.READ_WAITING, [settler, limit])).map(paymentOf)
  }

  /** State by state, each in the order of its index: a payment that moves meanwhile is told once, or next time. */
  async in_states(
    states: readonly PaymentState[],
    options: { final: boolean | null; updated_before_ms: number; limit: number },
  ): Promise<Payment[]> {
    const { final, updated_before_ms, limit } = options
    assertCounts({ updated_before_ms, limit })
    const found = new Map<string, Payment>()
    for (const state of new Set(states)) {
      for (const kind of final === null ? [0, 1] : [Number(final)]) {
        const rows = await this.#database.read(closings.READ_IN_STATE, [state, kind, updated_before_ms, limit])
        for (const payment of rows.map(paymentOf)) found.set(payment.payer + payment.nonce, payment)
      }
    }
    return [...found.values()].toSorted((one, other) => one.updated_ms - other.updated_ms).slice(0, limit)
  }

  async refused_since(payer: string, since_ms: number): Promise<number> {
    assertKeys({ payer })
    assertCounts({ since_ms })
    return integer((await this.#database.read(closings.COUNT_REFUSED_OF, [payer, since_ms]))[0], 'found')
  }

  async add_sending(sending: NewSending, attempt: SendingAttempt, payments: readonly PaymentKey[], guard: LeaseGuard): Promise<boolean> {
    const { wallet, account_nonce, created_ms } = sending
    assertKeys({ wallet })
    assertCounts({ account_nonce, created_ms })
    assertChange(sending)
    assertAttempt(attempt)
    payments.forEach(assertPaymentKey)
    assertGuard(guard)
    return this.#database.atomically(() => addSending(sending, attempt, payments, guard), { keep: isTrue })
  }

  async add_attempt(
    wallet: string,
    account_nonce: number,
    attempt: SendingAttempt,
    change: SendingChange | null,
    guard: LeaseGuard,
  ): Promise<boolean> {
    assertKeys({ wallet })
    assertCounts({ account_nonce })
    assertAttempt(attempt)
    if (change !== null) assertChange(change)
    assertGuard(guard)
    return this.#database.atomically(() => addAttempt(wallet, account_nonce, attempt, change, guard))
  }

  async open_sendings(wallet: string): Promise<Sending[]> {
    assertKeys({ wallet })
    return sendingsOf(await this.#database.read(sendings.READ_OPEN_SENDINGS, [wallet]))
  }

  async carried_by(wallet: string, account_nonce: number): Promise<Payment[]> {
    assertKeys({ wallet })
    assertCounts({ account_nonce })
    return (await this.#database.read(sendings.READ_CARRIED, [wallet, account_nonce])).map(paymentOf)
  }

  finish_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean> {
    return this.#changeSending(sendings.FINISH_SENDING, wallet, account_nonce, guard)
  }

  reopen_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean> {
    return this.#changeSending(sendings.REOPEN_SENDING, wallet, account_nonce, guard)
  }

  async requeue(keys: readonly PaymentKey[], guard: LeaseGuard): Promise<boolean> {
    keys.forEach(assertPaymentKey)
    assertGuard(guard)
    return this.#database.atomically(() => requeue(keys, guard))
  }

  async last_account_nonce(wallet: string): Promise<number | null> {
    assertKeys({ wallet })
    return integerOrNull((await this.#database.read(sendings.READ_LAST_NONCE, [wallet]))[0], 'account_nonce')
  }

  async spend_gas(account: string, day: number, wei: bigint): Promise<bigint> {
    assertKeys({ account })
    assertCounts({ day })
    assertWei({ wei })
    return this.#database.atomically(() => spendGas(account, day, wei))
  }

  async gas_spent(account: string, day: number): Promise<bigint> {
    assertKeys({ account })
    assertCounts({ day })
    const [row] = await this.#database.read(sendings.READ_GAS_SPENT, [account, day])
    return row === undefined ? 0n : wide(row, 'wei')
  }

  async sales(from_epoch: number): Promise<Sale[]> {
    assertCounts({ from_epoch })
    return (await this.#database.read(ledger.READ_SALES, [from_epoch])).map(saleOf)
  }

  async price_marks(epoch: number): Promise<PriceMark[]> {
    assertCounts({ epoch })
    return (await this.#database.read(ledger.READ_MARKS, [epoch])).map(markOf)
  }

  async mark_prices(marks: readonly PriceMark[]): Promise<void> {
    for (const { price_class, epoch, amount_minor } of marks) {
      assertKeys({ price_class })
      assertCounts({ epoch })
      assertWide({ amount_minor })
    }
    return this.#database.atomically(() => markPrices(marks))
  }

  async ledger(query: LedgerQuery): Promise<Payment[]> {
    return (await this.#database.read(ledger.READ_LEDGER, [...filterValues(query), ...pageValues(query)])).map(paymentOf)
  }

  async ledger_sums(query: Omit<LedgerQuery, 'after' | 'limit'>): Promise<LedgerSum[]> {
    return (await this.#database.read(ledger.READ_LEDGER_SUMS, filterValues(query))).map(ledgerSumOf)
  }

  async purge_payments(now_ms: number, before_epoch: number): Promise<number> {
    assertCounts({ now_ms, before_epoch })
    await this.#purge(closings.FORGET_NETWORKS, Math.max(0, now_ms - limits.answer_kept_ms))
    const answers = await this.#purge(closings.PURGE_ANSWERS, now_ms)
    const sales = await this.#purge(ledger.PURGE_SALES, before_epoch)
    return answers + sales + (await this.#purge(ledger.PURGE_MARKS, before_epoch))
  }

  #purge(statement: Statement, before: number): Promise<number> {
    return inParts(async () => (await this.#database.write(statement, [before, JOB_ROWS])).length)
  }

  async #changeSending(statement: Statement, wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean> {
    assertKeys({ wallet })
    assertCounts({ account_nonce })
    assertGuard(guard)
    return this.#database.atomically(() => changeState(statement, wallet, account_nonce, guard))
  }
}

async function inParts(part: () => Promise<number>): Promise<number> {
  let all = 0
  for (;;) {
    const done = await part()
    all += done
    if (done < JOB_ROWS) return all
  }
}
