import { claimRanOut } from '../../../pure/payments/claims.ts'
import type {
  CardPurchase,
  CardReversal,
  Credit,
  CreditClaim,
  CreditClaimed,
  CreditStatement,
  CreditStore,
  CreditUse,
  CreditUseKey,
  Purchase,
} from '../../../ports/credits.ts'
import type { StoredAnswer } from '../../../ports/payments.ts'
import { availableOf } from '../../../pure/credits/balance.ts'
import { COUNT_SALE } from '../payments/sql-closings.ts'
import { integer, oneOf, text, wide } from '../rows.ts'
import type { Database, Row, Work } from '../work.ts'
import * as sql from './sql-credits.ts'
import { purchase, purchaseOf, reversalOf, reverse } from './purchases.ts'
import { FORGET_CODE, READ_PURCHASE, READ_REVERSALS_OF_CODE } from './sql-purchases.ts'
import { assertCounts, assertHex, assertKeys, assertTexts, assertWide } from '../storable.ts'

function creditOf(row: Row): Credit {
  return {
    unit: oneOf(row, 'unit', ['usdc_minor', 'calls']),
    unit_minor: wide(row, 'unit_minor'),
    granted: wide(row, 'granted'),
    reversed: wide(row, 'reversed'),
    spent: wide(row, 'spent'),
    reserved: wide(row, 'reserved'),
    origin: oneOf(row, 'origin', ['card', 'invoice']),
    created_ms: integer(row, 'created_ms'),
  }
}

function useOf(row: Row): CreditUse {
  return {
    tool: text(row, 'tool'),
    input_hash: text(row, 'input_hash'),
    amount: wide(row, 'amount'),
    state: oneOf(row, 'state', ['claimed', 'settled', 'released']),
    fence: integer(row, 'fence'),
    claim_until_ms: integer(row, 'claim_until_ms'),
    updated_ms: integer(row, 'updated_ms'),
  }
}

/** The caller lets one work of a credit run at a time, over all processes; the lock keeps reversals out meanwhile. */
function* claim(request: CreditClaim): Work<CreditClaimed> {
  const [row] = yield { statement: sql.LOCK_CREDIT, values: [request.code_hash] }
  if (row === undefined) return { kind: 'unknown' }
  const credit = creditOf(row)
  const number = integer(row, 'number')
  const [found] = yield { statement: sql.READ_USE, values: [number, request.use_hash] }
  const use = found === undefined ? null : useOf(found)
  if (use !== null && !(isSame(use, request) && isFree(use, request))) return { kind: 'exists', use }
  const amount = credit.unit === 'calls' ? 1n : request.price_minor
  // An abandoned claim still holds what it reserved; the new one takes its place.
  const held = use?.state === 'claimed' ? use.amount : 0n
  const available = availableOf({ ...credit, reserved: credit.reserved - held })
  if (available < amount) return { kind: 'insufficient', unit: credit.unit, available }
  const fence = yield* write(number, found, request, amount)
  yield { statement: sql.RESERVE, values: [number, held, amount] }
  return { kind: 'claimed', fence, amount, unit_minor: credit.unit_minor }
}

function* write(credit: number, found: Row | undefined, request: CreditClaim, amount: bigint): Work<number> {
  const { use_hash, tool, input_hash, claim_until_ms, now_ms } = request
  if (found === undefined) {
    yield { statement: sql.INSERT_USE, values: [credit, use_hash, tool, input_hash, amount, claim_until_ms, now_ms] }
    return 1
  }
  const [row] = yield { statement: sql.CLAIM_USE_AGAIN, values: [integer(found, 'number'), amount, claim_until_ms, now_ms] }
  return integer(row, 'fence')
}

function isSame(use: CreditUse, request: CreditClaim): boolean {
  return use.tool === request.tool && use.input_hash === request.input_hash
}

/** Released, or still with a claimer whose time is over. */
function isFree(use: CreditUse, { now_ms, claim_until_ms }: CreditClaim): boolean {
  return use.state === 'released' || (use.state === 'claimed' && claimRanOut(use.claim_until_ms, now_ms, claim_until_ms - now_ms))
}

function* settle(
  key: CreditUseKey,
  fence: number,
  answer: StoredAnswer,
  sale: { price_class: string; epoch: number },
  now_ms: number,
): Work<boolean> {
  const [row] = yield { statement: sql.SETTLE_USE, values: [key.code_hash, key.use_hash, fence, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.WRITE_CREDIT_ANSWER, values: [integer(row, 'number'), answer.sealed, answer.expires_ms] }
  yield { statement: sql.BOOK_DEBIT, values: [integer(row, 'credit'), wide(row, 'amount')] }
  yield { statement: COUNT_SALE, values: [sale.epoch, sale.price_class, key.code_hash] }
  return true
}

function* release(key: CreditUseKey, fence: number, now_ms: number): Work<boolean> {
  const [row] = yield { statement: sql.RELEASE_USE, values: [key.code_hash, key.use_hash, fence, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.GIVE_BACK_RESERVED, values: [integer(row, 'credit'), wide(row, 'amount')] }
  return true
}

function* statement(code_hash: string, entries: number): Work<CreditStatement | null> {
  const [row] = yield { statement: sql.READ_CREDIT, values: [code_hash] }
  if (row === undefined) return null
  const uses = yield { statement: sql.READ_SETTLED_USES, values: [integer(row, 'number'), entries] }
  const reversals = yield { statement: READ_REVERSALS_OF_CODE, values: [code_hash, entries] }
  return {
    credit: creditOf(row),
    uses: uses.map(useOf).map(({ tool, amount, updated_ms }) => ({ tool, amount, updated_ms })),
    reversals: reversals.map(reversalOf).map(({ amount_minor, standing, updated_ms }) => ({ amount_minor, standing, updated_ms })),
  }
}

/** Rows that one write of a job changes, so that it never holds the lock for long. */
const JOB_ROWS = 1_000

/** What both databases do alike with credits. Works of one credit, and of one card payment, run one after the other. */
export class SqlCreditStore implements CreditStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async grant(code_hash: string, credit: Pick<Credit, 'unit' | 'unit_minor' | 'granted' | 'created_ms'>): Promise<boolean> {
    const { unit, unit_minor, granted, created_ms } = credit
    assertHex({ code_hash })
    assertWide({ unit_minor, granted })
    assertCounts({ created_ms })
    return (await this.#database.write(sql.INSERT_CREDIT, [code_hash, unit, unit_minor, granted, 'invoice', created_ms])).length === 1
  }

  async purchase(bought: CardPurchase): Promise<boolean> {
    const { event_id, session_id, payment_ref, claim_hash, code_hash, sealed_code, amount_minor, now_ms } = bought
    assertKeys({ event_id, session_id, payment_ref, claim_hash })
    assertHex({ code_hash })
    assertTexts({ sealed_code })
    assertWide({ amount_minor })
    assertCounts({ now_ms })
    return this.#database.atomically(() => purchase(bought), { alone_with: hexOf(payment_ref) })
  }

  async reverse(reversal: CardReversal): Promise<boolean> {
    const { event_id, payment_ref, reference, amount_minor, now_ms } = reversal
    assertKeys({ event_id, payment_ref, reference })
    assertWide({ amount_minor })
    assertCounts({ now_ms })
    return this.#database.atomically(() => reverse(reversal), { alone_with: hexOf(payment_ref) })
  }

  async find_purchase(session_id: string): Promise<Purchase | null> {
    assertKeys({ session_id })
    const [row] = await this.#database.read(READ_PURCHASE, [session_id])
    return row === undefined ? null : purchaseOf(row)
  }

  async forget_code(session_id: string): Promise<void> {
    assertKeys({ session_id })
    await this.#database.write(FORGET_CODE, [session_id])
  }

  async find_use(key: CreditUseKey): Promise<CreditUse | null> {
    assertKey(key)
    const [row] = await this.#database.read(sql.FIND_USE, [key.code_hash, key.use_hash])
    return row === undefined ? null : useOf(row)
  }

  async claim(request: CreditClaim): Promise<CreditClaimed> {
    const { tool, input_hash, price_minor, now_ms, claim_until_ms } = request
    assertKey(request)
    assertKeys({ tool, input_hash })
    assertWide({ price_minor })
    assertCounts({ now_ms, claim_until_ms })
    return this.#database.atomically(() => claim(request), { alone_with: request.code_hash })
  }

  async settle(
    key: CreditUseKey,
    fence: number,
    answer: StoredAnswer,
    sale: { price_class: string; epoch: number },
    now_ms: number,
  ): Promise<boolean> {
    assertKey(key)
    assertKeys({ price_class: sale.price_class })
    assertTexts({ sealed: answer.sealed })
    assertCounts({ fence, expires_ms: answer.expires_ms, epoch: sale.epoch, now_ms })
    if (!this.#database.joinsWrites()) return this.#database.atomically(() => settle(key, fence, answer, sale, now_ms))
    const values = [key.code_hash, key.use_hash, fence, now_ms, answer.sealed, answer.expires_ms, sale.epoch, sale.price_class]
    return (await this.#database.write(sql.SETTLE_JOINED, values)).length === 1
  }

  async release(key: CreditUseKey, fence: number, now_ms: number): Promise<boolean> {
    assertKey(key)
    assertCounts({ fence, now_ms })
    return this.#database.atomically(() => release(key, fence, now_ms), { alone_with: key.code_hash })
  }

  async release_abandoned(now_ms: number): Promise<number> {
    assertCounts({ now_ms })
    let released = 0
    for (;;) {
      const rows = await this.#database.read(sql.READ_ABANDONED, [now_ms, JOB_ROWS])
      let moved = 0
      for (const row of rows) {
        const key = { code_hash: text(row, 'code_hash'), use_hash: text(row, 'use_hash') }
        if (await this.release(key, integer(row, 'fence'), now_ms)) moved += 1
      }
      released += moved
      // Whatever did not move was taken up again or settled by somebody else.
      if (rows.length < JOB_ROWS || moved === 0) return released
    }
  }

  async answer(key: CreditUseKey): Promise<StoredAnswer | null> {
    assertKey(key)
    const [row] = await this.#database.read(sql.READ_CREDIT_ANSWER, [key.code_hash, key.use_hash])
    return row === undefined ? null : { sealed: text(row, 'sealed'), expires_ms: integer(row, 'expires_ms') }
  }

  async statement(code_hash: string, entries: number): Promise<CreditStatement | null> {
    assertHex({ code_hash })
    assertCounts({ entries })
    return this.#database.atomically(() => statement(code_hash, entries), { alone_with: code_hash })
  }

  async purge_credits(now_ms: number): Promise<number> {
    assertCounts({ now_ms })
    let gone = 0
    for (;;) {
      const rows = await this.#database.write(sql.PURGE_CREDIT_ANSWERS, [now_ms, JOB_ROWS])
      gone += rows.length
      if (rows.length < JOB_ROWS) return gone
    }
  }
}

function assertKey({ code_hash, use_hash }: CreditUseKey): void {
  assertHex({ code_hash, use_hash })
}

/** A name for the turns of the works on one card payment. */
function hexOf(payment_ref: string): string {
  return Buffer.from(payment_ref).toString('hex')
}
