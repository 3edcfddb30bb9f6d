import { claimRanOut } from '../../../pure/payments/claims.ts'
import type { Credit, CreditClaim, CreditClaimed, CreditStatement, CreditUse, CreditUseKey } from '../../../ports/credits.ts'
import type { StoredAnswer } from '../../../ports/payments.ts'
import { availableOf } from '../../../pure/credits/balance.ts'
import { COUNT_SALE } from '../payments/sql-closings.ts'
import { integer, oneOf, text, wide } from '../rows.ts'
import type { Row, Work } from '../work.ts'
import * as sql from './sql-credits.ts'
import { reversalOf } from './purchases.ts'
import { READ_REVERSALS_OF_CODE } from './sql-purchases.ts'

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

export function useOf(row: Row): CreditUse {
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
export function* claim(request: CreditClaim): Work<CreditClaimed> {
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

export function* settle(
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

export function* release(key: CreditUseKey, fence: number, now_ms: number): Work<boolean> {
  const [row] = yield { statement: sql.RELEASE_USE, values: [key.code_hash, key.use_hash, fence, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.GIVE_BACK_RESERVED, values: [integer(row, 'credit'), wide(row, 'amount')] }
  return true
}

export function* statement(code_hash: string, entries: number): Work<CreditStatement | null> {
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
