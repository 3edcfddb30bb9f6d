import { claimRanOut } from '../../../pure/payments/claims.ts'
import type { Binding, ClaimRequest, ClaimResult, Payment, PaymentKey, StoredAnswer } from '../../../ports/payments.ts'
import { IN_FLIGHT, UNSENT } from '../../../pure/payments/states.ts'
import { integer, text, wide } from '../rows.ts'
import { assertCounts, assertHex, assertKeys, assertPaymentKey, assertTexts, assertWide } from '../storable.ts'
import type { Statement, Value, Work } from '../work.ts'
import { paymentOf, sumIn } from './row.ts'
import * as sql from './sql-claims.ts'

export function assertClaim(request: ClaimRequest): void {
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
export function* claim(request: ClaimRequest): Work<ClaimResult> {
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

/** What is looked at one by one; beyond it all counts, which errs towards too much. */
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

export function* prepare(key: PaymentKey, fence: number, answer: StoredAnswer, now_ms: number): Work<boolean> {
  const [row] = yield { statement: sql.PREPARE, values: [key.payer, key.nonce, fence, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.WRITE_ANSWER, values: [integer(row, 'number'), answer.sealed, answer.expires_ms] }
  return true
}

/** What was prepared for a released payment was never paid for, and goes with it. */
export function* release(
  key: PaymentKey,
  fence: number,
  reason: string,
  now_ms: number,
  statement: Statement = sql.RELEASE,
): Work<boolean> {
  const [row] = yield { statement, values: [key.payer, key.nonce, fence, reason, now_ms] }
  if (row === undefined) return false
  yield { statement: sql.FORGET_ANSWER, values: [integer(row, 'number')] }
  return true
}

/** Releases at most `limit` payments; returns how many. */
export function* releaseAbandoned(now_ms: number, limit: number): Work<number> {
  const rows = yield { statement: sql.RELEASE_ABANDONED, values: [now_ms, limit] }
  if (rows.length > 0) yield { statement: sql.FORGET_RELEASED, values: [now_ms] }
  return rows.length
}
