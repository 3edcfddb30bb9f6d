import type {
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
import type { PaymentState } from '../../../pure/payments/states.ts'
import { limits } from '../../../service/limits.ts'
import { integer, integerOrNull, text, wide } from '../rows.ts'
import { assertCounts, assertKeys, assertPaymentKey, assertTexts, assertWei, assertWide } from '../storable.ts'
import type { Database, Statement } from '../work.ts'
import { assertClaim, claim, prepare, release, releaseAbandoned } from './claims.ts'
import { assertClosing, closePayments, finalize } from './closings.ts'
import { filterValues, ledgerSumOf, markOf, markPrices, pageValues, saleOf } from './ledger.ts'
import { paymentOf, sumIn } from './row.ts'
import { addAttempt, addSending, assertAttempt, assertChange, changeState, requeue, sendingsOf, spendGas } from './sendings.ts'
import type { NewSending, SendingChange } from './sendings.ts'
import * as claims from './sql-claims.ts'
import * as closings from './sql-closings.ts'
import * as ledger from './sql-ledger.ts'
import * as sendings from './sql-sendings.ts'

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
