import { hasClaimExpired, IN_FLIGHT_STATES, type PaymentState, UNSENT_STATES } from '../../pure/payments/states.ts'
import type {
  Binding,
  ClaimRequest,
  ClaimResult,
  PaymentTransition,
  LeaseGuard,
  LedgerQuery,
  LedgerSum,
  Payment,
  PaymentKey,
  PaymentStore,
  PriceMark,
  RestoreRequest,
  WalletSending,
  SendingAttempt,
  StoredAnswer,
} from '../../ports/payments.ts'
import { limits } from '../../service/limits.ts'
import { assertStorable, execute, inParts, JOB_ROWS, readAll, readFirst, readOne, type Work, DatabaseStore } from './database.ts'
import { LOCK_INVOICE } from './invoice-statements.ts'
import * as works from './payment-works.ts'
import * as sql from './payment-statements.ts'

/**
 * The caller lets one claim of a payer run at a time, over all processes: the payments in flight are read first, and must not grow
 * meanwhile. A settled payment that a reorganisation makes unknown may still add to them; no claim could have known.
 */
function* claim(request: ClaimRequest): Work<ClaimResult> {
  const holder = yield* otherHolder(request)
  if (holder !== null) return { kind: 'identifier_taken', payment: holder }
  const in_flight = yield* inFlight(request)
  const within_due = request.purpose !== 'invoice' || (yield* isWithinDue(request))
  const fits = in_flight + request.value_minor <= request.balance_minor
  if (fits && within_due) {
    const added = yield* readFirst(sql.INSERT_CLAIM, request)
    if (added !== undefined) return { kind: 'claimed', fence: added.fence }
  }
  const payment = yield* readFirst(sql.LOCK_PAYMENT, request)
  if (payment === undefined) return { kind: within_due ? 'over_reserved' : 'over_due' }
  if (!isSameBinding(payment, request) || !isFree(payment, request.now_ms, request.claim_until_ms - request.now_ms))
    return { kind: 'exists', payment }
  if (!within_due) return { kind: 'over_due' }
  const own = IN_FLIGHT_STATES.includes(payment.state) ? payment.value_minor : 0n
  if (in_flight - own + request.value_minor > request.balance_minor) return { kind: 'over_reserved' }
  const { fence, number } = yield* readOne(sql.CLAIM_AGAIN, request)
  yield* execute(sql.FORGET_ANSWER, { number })
  return { kind: 'claimed', fence }
}

/** The caller lets one claim of a payer run at a time. An id that belongs to another payment stays there. */
function* restore({ answer, replaces, ...request }: RestoreRequest): Work<boolean> {
  const identifier_hash = (yield* otherHolder(request)) === null ? request.identifier_hash : null
  const row = { ...request, identifier_hash }
  const added = yield* readFirst(sql.INSERT_RESTORED, row)
  if (added !== undefined) {
    yield* execute(sql.WRITE_ANSWER, { ...added, ...answer })
    return true
  }
  const payment = yield* readOne(sql.LOCK_PAYMENT, request)
  const is_weaker = payment.state === 'settled' && payment.reason !== null && replaces.includes(payment.reason)
  if (!is_weaker && !(isSameBinding(payment, request) && isFree(payment, request.now_ms, limits.claim_ms))) return false
  const { number } = yield* readOne(sql.RESTORE_AGAIN, row)
  yield* execute(sql.FORGET_ANSWER, { number })
  yield* execute(sql.WRITE_ANSWER, { number, ...answer })
  return true
}

/** Returns the other payment of the payer that has the payment-identifier id of the request. Claims without an id read nothing. */
function* otherHolder({ payer, nonce, identifier_hash }: Pick<ClaimRequest, 'payer' | 'nonce' | 'identifier_hash'>): Work<Payment | null> {
  if (identifier_hash === null) return null
  const holder = yield* readFirst(sql.READ_BY_IDENTIFIER, { payer, identifier_hash })
  return holder === undefined || holder.nonce === nonce ? null : holder
}

/** Authorizations compared one by one; with more of them all count as open, so that the sum is rather too high than too low. */
const COMPARED_MAX = 1_000

/** Amount that may still leave the balance of the request. */
function* inFlight({ payer, nonce, asset, spent = [] }: ClaimRequest): Work<bigint> {
  const held = { payer, asset: asset ?? '' }
  const all = sql.totalOf(yield* readFirst(sql.READ_IN_FLIGHT, held))
  if (spent.length === 0) return all
  const left = new Set(spent.filter((other) => other !== nonce))
  const each = yield* readAll(sql.READ_EACH_IN_FLIGHT, { ...held, limit: COMPARED_MAX })
  return each.reduce((sum, payment) => (left.has(payment.nonce) ? sum - payment.value_minor : sum), all)
}

/** True when the invoice can take this amount; false also when it was evicted. */
function* isWithinDue({ subject: invoice_id, payer, nonce, value_minor }: ClaimRequest): Work<boolean> {
  const invoice = yield* readFirst(LOCK_INVOICE, { invoice_id })
  if (invoice === undefined) return false
  const attributed = sql.totalOf(yield* readFirst(sql.READ_ATTRIBUTED, { invoice_id }))
  const under_way = sql.totalOf(yield* readFirst(sql.READ_UNDER_WAY, { invoice_id, payer, nonce }))
  return invoice.voided_ms === null && invoice.bank_paid_ms === null && attributed + under_way + value_minor <= invoice.amount_minor
}

const NO_PAYMENT: PaymentKey = { payer: '', nonce: '' }

/** An authorization is signed for one token on one network; one with the same nonce for another is another payment. */
function isSameBinding(first: Binding & Pick<Payment, 'asset'>, other: Binding & Pick<Payment, 'asset'>): boolean {
  return (
    first.purpose === other.purpose &&
    first.subject === other.subject &&
    first.input_hash === other.input_hash &&
    first.asset === other.asset
  )
}

/** True when the payment was released, or its claimer's time is over. */
function isFree(payment: Payment, now_ms: number, claim_ms: number): boolean {
  if (payment.state === 'released') return true
  return UNSENT_STATES.includes(payment.state) && hasClaimExpired(payment.claim_until_ms, now_ms, claim_ms)
}

interface ClaimStep extends PaymentKey {
  fence: number
  now_ms: number
}

function* prepare(step: ClaimStep, answer: StoredAnswer): Work<boolean> {
  const moved = yield* readFirst(sql.PREPARE, step)
  if (moved === undefined) return false
  yield* execute(sql.WRITE_ANSWER, { ...moved, ...answer })
  return true
}

/** Deletes the answer that was prepared too: it was never paid for. */
function* release(step: ClaimStep & { reason: string }, change: typeof sql.RELEASE): Work<boolean> {
  const moved = yield* readFirst(change, step)
  if (moved === undefined) return false
  yield* execute(sql.FORGET_ANSWER, moved)
  return true
}

/** Releases at most `limit` payments; returns how many. */
function* releaseAbandoned(now_ms: number, limit: number): Work<number> {
  const released = yield* readAll(sql.RELEASE_ABANDONED, { now_ms, limit })
  if (released.length > 0) yield* execute(sql.FORGET_RELEASED, { now_ms })
  return released.length
}

const DAY_MS = 86_400_000

function filterOf({ from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER, tool = '', state, asset }: Omit<LedgerQuery, 'after' | 'limit'>) {
  return { from_ms, to_ms, tool, state: state ?? '', asset: assetFilter(asset) }
}

function assetFilter(asset: string | null | undefined): string {
  return asset === undefined ? sql.ANY_ASSET : (asset ?? '')
}

/** In one order, so that two works on PostgreSQL never wait for each other in a circle. */
function* markPrices(marks: readonly PriceMark[]): Work<void> {
  const sorted = marks.toSorted((former, latter) => former.epoch - latter.epoch || (former.price_class < latter.price_class ? -1 : 1))
  for (const mark of sorted) yield* execute(sql.WRITE_PRICE_MARK, mark)
}

function isTrue(outcome: boolean): boolean {
  return outcome
}

/** Payments in the SQL that both databases share. */
export class SqlPaymentStore extends DatabaseStore implements PaymentStore {
  async claim(request: ClaimRequest): Promise<ClaimResult> {
    assertStorable(sql.INSERT_CLAIM, request)
    return this.database.atomically(() => claim(request), { alone_with: request.payer })
  }

  find(key: PaymentKey): Promise<Payment | null> {
    return this.database.readFirst(sql.READ_PAYMENT, key)
  }

  find_by_token(token_hash: string): Promise<Payment | null> {
    return this.database.readFirst(sql.READ_BY_TOKEN, { token_hash })
  }

  async restore(request: RestoreRequest): Promise<boolean> {
    assertStorable(sql.INSERT_RESTORED, request)
    assertStorable(sql.WRITE_ANSWER, { ...request.answer, number: 0 })
    return this.database.atomically(() => restore(request), { alone_with: request.payer })
  }

  find_by_identifier(payer: string, identifier_hash: string): Promise<Payment | null> {
    return this.database.readFirst(sql.READ_BY_IDENTIFIER, { payer, identifier_hash })
  }

  free_identifier({ payer, nonce, state, fence }: Pick<Payment, 'payer' | 'nonce' | 'state' | 'fence'>): Promise<boolean> {
    return this.database.execute(sql.FREE_IDENTIFIER, { payer, nonce, state, fence })
  }

  async under_way(invoice_id: string, { payer, nonce } = NO_PAYMENT): Promise<bigint> {
    return sql.totalOf(await this.database.readFirst(sql.READ_UNDER_WAY, { invoice_id, payer, nonce }))
  }

  async nonces_in_flight(payer: string, asset: string | null, limit: number): Promise<string[]> {
    return (await this.database.readAll(sql.READ_EACH_IN_FLIGHT, { payer, asset: asset ?? '', limit })).map(({ nonce }) => nonce)
  }

  async paid_before(payer: string, merchant: string, before_s: number): Promise<boolean> {
    return (await this.database.readFirst(sql.READ_PAID_BEFORE, { payer, merchant, before_s })) !== null
  }

  answer(key: PaymentKey): Promise<StoredAnswer | null> {
    return this.database.readFirst(sql.READ_ANSWER, key)
  }

  async prepare({ payer, nonce }: PaymentKey, fence: number, answer: StoredAnswer, now_ms: number): Promise<boolean> {
    const step = { payer, nonce, fence, now_ms }
    if (this.database.joinsWrites()) return this.database.execute(sql.PREPARE_JOINED, { ...step, ...answer })
    assertStorable(sql.WRITE_ANSWER, { ...answer, number: 0 })
    return this.database.atomically(() => prepare(step, answer))
  }

  prepare_deposit({ payer, nonce }: PaymentKey, fence: number, deposit_call: string, now_ms: number): Promise<boolean> {
    return this.database.execute(sql.PREPARE_DEPOSIT, { payer, nonce, fence, deposit_call, now_ms })
  }

  begin_settling(
    { payer, nonce }: PaymentKey,
    fence: number,
    by: { method: 'self' | 'facilitator'; settler: string },
    now_ms: number,
  ): Promise<boolean> {
    return this.database.execute(sql.BEGIN_SETTLING, { payer, nonce, fence, ...by, now_ms })
  }

  release({ payer, nonce }: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => release({ payer, nonce, fence, reason, now_ms }, sql.RELEASE))
  }

  take_back({ payer, nonce }: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => release({ payer, nonce, fence, reason, now_ms }, sql.TAKE_BACK))
  }

  release_abandoned(now_ms: number): Promise<number> {
    return inParts(() => this.database.atomically(() => releaseAbandoned(now_ms, JOB_ROWS)))
  }

  async apply_transitions(closings: readonly PaymentTransition[], epoch: number, now_ms: number, guard?: LeaseGuard): Promise<boolean[]> {
    for (const closing of closings) works.assertTransition(closing, now_ms)
    return this.database.atomically(() => works.applyTransitions(closings, epoch, now_ms, guard))
  }

  finalize(keys: readonly PaymentKey[], now_ms: number): Promise<void> {
    return this.database.atomically(() => works.finalize(keys, now_ms))
  }

  waiting(settler: string, limit: number): Promise<Payment[]> {
    return this.database.readAll(sql.READ_WAITING, { settler, limit })
  }

  /** State by state, each in the order of its index: a payment that changes meanwhile is returned once, or next time. */
  async in_states(
    states: readonly PaymentState[],
    options: { final: boolean | null; updated_before_ms: number; limit: number; asset?: string | null },
  ): Promise<Payment[]> {
    const { final: finality, updated_before_ms, limit } = options
    const asset = assetFilter(options.asset)
    const found = new Map<string, Payment>()
    for (const state of new Set(states)) {
      for (const final of finality === null ? [false, true] : [finality]) {
        const payments = await this.database.readAll(sql.READ_IN_STATE, { state, final, updated_before_ms, asset, limit })
        for (const payment of payments) found.set(payment.payer + payment.nonce, payment)
      }
    }
    return [...found.values()].toSorted((former, latter) => former.updated_ms - latter.updated_ms).slice(0, limit)
  }

  async refused_since(payer: string, since_ms: number): Promise<number> {
    return (await this.database.readOne(sql.COUNT_REFUSED_OF, { payer, since_ms })).found
  }

  add_sending(sending: works.NewSending, attempt: SendingAttempt, payments: readonly PaymentKey[], guard: LeaseGuard): Promise<boolean> {
    return this.database.atomically(() => works.addSending(sending, attempt, payments, guard), { keep: isTrue })
  }

  add_attempt(
    wallet: string,
    account_nonce: number,
    attempt: SendingAttempt,
    change: works.SendingChange | null,
    guard: LeaseGuard,
  ): Promise<boolean> {
    return this.database.atomically(() => works.addAttempt({ wallet, account_nonce }, attempt, change, guard))
  }

  async open_sendings(wallet: string): Promise<WalletSending[]> {
    return works.sendingsOf(await this.database.readAll(works.READ_OPEN_SENDINGS, { wallet }))
  }

  carried_by(wallet: string, account_nonce: number): Promise<Payment[]> {
    return this.database.readAll(works.READ_CARRIED, { wallet, account_nonce })
  }

  finish_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean> {
    return this.database.atomically(() => works.changeState(works.FINISH_SENDING, { wallet, account_nonce }, guard))
  }

  reopen_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean> {
    return this.database.atomically(() => works.changeState(works.REOPEN_SENDING, { wallet, account_nonce }, guard))
  }

  requeue(keys: readonly PaymentKey[], guard: LeaseGuard): Promise<boolean> {
    return this.database.atomically(() => works.requeue(keys, guard))
  }

  async last_account_nonce(wallet: string): Promise<number | null> {
    return (await this.database.readOne(works.READ_LAST_NONCE, { wallet })).account_nonce
  }

  spend_gas(account: string, day: number, wei: bigint): Promise<bigint> {
    return this.database.atomically(() => works.spendGas(account, day, wei))
  }

  async gas_spent(account: string, day: number): Promise<bigint> {
    return (await this.database.readFirst(works.READ_GAS_SPENT, { wallet: account, day }))?.wei ?? 0n
  }

  sales(from_epoch: number): ReturnType<PaymentStore['sales']> {
    return this.database.readAll(sql.READ_SALES, { epoch: from_epoch })
  }

  price_marks(epoch: number): Promise<PriceMark[]> {
    return this.database.readAll(sql.READ_PRICE_MARKS, { epoch })
  }

  mark_prices(marks: readonly PriceMark[]): Promise<void> {
    return this.database.atomically(() => markPrices(marks))
  }

  ledger(query: LedgerQuery): Promise<Payment[]> {
    const { created_ms: after_ms, payer: after_payer, nonce: after_nonce } = query.after ?? { created_ms: 0, payer: '', nonce: '' }
    return this.database.readAll(sql.READ_LEDGER, { ...filterOf(query), after_ms, after_payer, after_nonce, limit: query.limit })
  }

  async ledger_sums(query: Omit<LedgerQuery, 'after' | 'limit'>): Promise<LedgerSum[]> {
    const sums = await this.database.readAll(sql.READ_LEDGER_SUMS, filterOf(query))
    return sums.map(({ day, tool, state, asset, count, ...sum }) => ({
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      tool,
      state,
      asset,
      count,
      value_minor: sql.totalOf(sum),
    }))
  }

  async purge_payments(now_ms: number, before_epoch: number): Promise<number> {
    await this.database.purge(sql.FORGET_NETWORKS, { before_ms: Math.max(0, now_ms - limits.answer_kept_ms) })
    const answers = await this.database.purge(sql.PURGE_ANSWERS, { before_ms: now_ms })
    const sales = await this.database.purge(sql.PURGE_SALES, { epoch: before_epoch })
    return answers + sales + (await this.database.purge(sql.PURGE_PRICE_MARKS, { epoch: before_epoch }))
  }
}
