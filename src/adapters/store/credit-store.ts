import { hasClaimExpired } from '../../pure/payments/states.ts'
import type {
  CardPurchase,
  CardReversal,
  Credit,
  CreditClaim,
  CreditClaimResult,
  CreditStatement,
  CreditStore,
  CreditUse,
  CreditUseKey,
  Purchase,
} from '../../ports/credits.ts'
import type { StoredAnswer } from '../../ports/payments.ts'
import { availableOf } from '../../pure/credits/credits.ts'
import { assertStorable, execute, JOB_ROWS, readAll, readFirst, readOne, type Work, DatabaseStore } from './database.ts'
import { COUNT_SALE } from './payment-statements.ts'
import * as sql from './credit-statements.ts'

/** The caller lets one work of a credit run at a time, over all processes; the lock keeps reversals out meanwhile. */
function* claim(request: CreditClaim): Work<CreditClaimResult> {
  const credit = yield* readFirst(sql.LOCK_CREDIT, request)
  if (credit === undefined) return { kind: 'unknown' }
  const use = yield* readFirst(sql.READ_USE, { credit: credit.number, use_hash: request.use_hash })
  if (use !== undefined && !(isSameRequest(use, request) && isFree(use, request))) {
    const { number: _, ...known } = use
    return { kind: 'exists', use: known }
  }
  const amount = credit.unit === 'calls' ? 1n : request.price_minor
  // The amount that an abandoned claim reserved is given back.
  const given_back = use?.state === 'claimed' ? use.amount : 0n
  const available = availableOf({ ...credit, reserved: credit.reserved - given_back })
  if (available < amount) return { kind: 'insufficient', unit: credit.unit, available }
  const fence = yield* writeUse(credit.number, use?.number, request, amount)
  yield* execute(sql.RESERVE, { credit: credit.number, given_back, amount })
  return { kind: 'claimed', fence, amount, unit_minor: credit.unit_minor }
}

function* writeUse(credit: number, known_use: number | undefined, request: CreditClaim, amount: bigint): Work<number> {
  if (known_use !== undefined) return (yield* readOne(sql.CLAIM_USE_AGAIN, { ...request, number: known_use, amount })).fence
  yield* execute(sql.INSERT_USE, { ...request, credit, amount })
  return 1
}

function isSameRequest(use: CreditUse, request: CreditClaim): boolean {
  return use.tool === request.tool && use.input_hash === request.input_hash
}

/** True when the use was released, or its claimer's time is over. */
function isFree(use: CreditUse, { now_ms, claim_until_ms }: CreditClaim): boolean {
  return use.state === 'released' || (use.state === 'claimed' && hasClaimExpired(use.claim_until_ms, now_ms, claim_until_ms - now_ms))
}

interface UseStep extends CreditUseKey {
  fence: number
  now_ms: number
}

function* settle(step: UseStep, answer: StoredAnswer, sale: { price_class: string; epoch: number }): Work<boolean> {
  const settled = yield* readFirst(sql.SETTLE_USE, step)
  if (settled === undefined) return false
  yield* execute(sql.WRITE_CREDIT_ANSWER, { ...settled, ...answer })
  yield* execute(sql.BOOK_DEBIT, settled)
  yield* execute(COUNT_SALE, { ...sale, payer: step.code_hash })
  return true
}

function* release(step: UseStep): Work<boolean> {
  const released = yield* readFirst(sql.RELEASE_USE, step)
  if (released === undefined) return false
  yield* execute(sql.GIVE_BACK_RESERVED, released)
  return true
}

function* readStatement(code_hash: string, limit: number): Work<CreditStatement | null> {
  const found = yield* readFirst(sql.READ_CREDIT, { code_hash })
  if (found === undefined) return null
  const { number, ...credit } = found
  const uses = yield* readAll(sql.READ_SETTLED_USES, { credit: number, limit })
  const reversals = yield* readAll(sql.READ_REVERSALS_OF_CODE, { code_hash, limit })
  return { credit, uses, reversals }
}

/** Credits in the SQL that both databases share. Works of one credit, and of one card payment, run one after the other. */
export class SqlCreditStore extends DatabaseStore implements CreditStore {
  grant(code_hash: string, credit: Pick<Credit, 'unit' | 'unit_minor' | 'granted' | 'created_ms'>): Promise<boolean> {
    return this.database.execute(sql.INSERT_CREDIT, { code_hash, ...credit, origin: 'invoice' })
  }

  async purchase(bought: CardPurchase): Promise<boolean> {
    assertStorable(sql.INSERT_PURCHASE, { ...bought, paid_ms: bought.now_ms })
    return this.database.atomically(() => grantPurchase(bought), { alone_with: hexOf(bought.payment_ref) })
  }

  async reverse(reversal: CardReversal): Promise<boolean> {
    assertStorable(sql.WRITE_REVERSAL, { ...reversal, updated_ms: reversal.now_ms })
    return this.database.atomically(() => reverse(reversal), { alone_with: hexOf(reversal.payment_ref) })
  }

  find_purchase(session_id: string): Promise<Purchase | null> {
    return this.database.readFirst(sql.READ_PURCHASE, { session_id })
  }

  async forget_code(session_id: string): Promise<void> {
    await this.database.execute(sql.FORGET_CODE, { session_id })
  }

  find_use(key: CreditUseKey): Promise<CreditUse | null> {
    return this.database.readFirst(sql.FIND_USE, key)
  }

  async claim(request: CreditClaim): Promise<CreditClaimResult> {
    assertStorable(sql.INSERT_USE, { ...request, credit: 0, amount: request.price_minor })
    return this.database.atomically(() => claim(request), { alone_with: request.code_hash })
  }

  async settle(
    { code_hash, use_hash }: CreditUseKey,
    fence: number,
    answer: StoredAnswer,
    sale: { price_class: string; epoch: number },
    now_ms: number,
  ): Promise<boolean> {
    const step = { code_hash, use_hash, fence, now_ms }
    assertStorable(sql.SETTLE_JOINED, { ...step, ...answer, ...sale })
    if (this.database.joinsWrites()) return this.database.execute(sql.SETTLE_JOINED, { ...step, ...answer, ...sale })
    return this.database.atomically(() => settle(step, answer, sale))
  }

  async release({ code_hash, use_hash }: CreditUseKey, fence: number, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => release({ code_hash, use_hash, fence, now_ms }), { alone_with: code_hash })
  }

  async release_abandoned(now_ms: number): Promise<number> {
    let released = 0
    for (;;) {
      const abandoned = await this.database.readAll(sql.READ_ABANDONED, { now_ms, limit: JOB_ROWS })
      let moved = 0
      for (const use of abandoned) if (await this.release(use, use.fence, now_ms)) moved += 1
      released += moved
      // A use that did not change was claimed again or settled meanwhile.
      if (abandoned.length < JOB_ROWS || moved === 0) return released
    }
  }

  answer(key: CreditUseKey): Promise<StoredAnswer | null> {
    return this.database.readFirst(sql.READ_CREDIT_ANSWER, key)
  }

  async statement(code_hash: string, entries: number): Promise<CreditStatement | null> {
    assertStorable(sql.READ_CREDIT, { code_hash })
    return this.database.atomically(() => readStatement(code_hash, entries), { alone_with: code_hash })
  }

  purge_credits(now_ms: number): Promise<number> {
    return this.database.purge(sql.PURGE_CREDIT_ANSWERS, { now_ms })
  }
}

/** Name of the queue for the works on one card payment. */
function hexOf(payment_ref: string): string {
  return Buffer.from(payment_ref).toString('hex')
}

type ReversalState = Pick<CardReversal, 'amount_minor' | 'standing'>

/** The caller lets one work of a card payment run at a time, so that a reversal is never overlooked. */
function* grantPurchase(bought: CardPurchase): Work<boolean> {
  const { payment_ref, code_hash, amount_minor, now_ms } = bought
  if (!(yield* execute(sql.INSERT_EVENT, bought))) return false
  if (!(yield* execute(sql.INSERT_PURCHASE, { ...bought, paid_ms: now_ms }))) return false
  const grant = { unit: 'usdc_minor', unit_minor: 1n, granted: amount_minor, origin: 'card', created_ms: now_ms } as const
  const { number } = yield* readOne(sql.INSERT_CREDIT, { code_hash, ...grant })
  yield* execute(sql.SET_REVERSED, { number, reversed: yield* reversedAmount(payment_ref, amount_minor) })
  return true
}

function* reverse(reversal: CardReversal): Work<boolean> {
  const { payment_ref, reference, now_ms } = reversal
  if (!(yield* execute(sql.INSERT_EVENT, reversal))) return false
  const before = (yield* readAll(sql.READ_REVERSALS, { payment_ref })).find((known) => known.reference === reference)
  yield* execute(sql.WRITE_REVERSAL, { payment_ref, reference, ...mergedReversal(before, reversal), updated_ms: now_ms })
  const bought = yield* readFirst(sql.READ_PURCHASE_OF, { payment_ref })
  if (bought === undefined) return true
  const { number, granted } = yield* readOne(sql.LOCK_CREDIT, bought)
  yield* execute(sql.SET_REVERSED, { number, reversed: yield* reversedAmount(payment_ref, granted) })
  return true
}

/** Refunds of a charge only grow, and an ended dispute stays ended: so the order in which events arrive makes no difference. */
function mergedReversal(before: ReversalState | undefined, now: CardReversal): ReversalState {
  if (before === undefined) return { amount_minor: now.amount_minor, standing: now.standing }
  const amount_minor = before.amount_minor > now.amount_minor ? before.amount_minor : now.amount_minor
  return { amount_minor, standing: now.standing === 'open' ? before.standing : now.standing }
}

function* reversedAmount(payment_ref: string, granted: bigint): Work<bigint> {
  const reversals = yield* readAll(sql.READ_REVERSALS, { payment_ref })
  const sum = reversals.filter(({ standing }) => standing !== 'won').reduce((total, { amount_minor }) => total + amount_minor, 0n)
  return sum < granted ? sum : granted
}
