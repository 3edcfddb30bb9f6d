import { readCreditCode } from '../../pure/credits/credits.ts'
import { hasClaimExpired } from '../../pure/payments/states.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { ZERO_ADDRESS } from '../../pure/receipts/receipt.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { CreditClaim, CreditClaimResult, CreditStatement, CreditStore, CreditUse, CreditUseKey } from '../../ports/credits.ts'
import type { Derivation, Sealer } from '../../ports/signer.ts'
import type { Store } from '../../ports/store.ts'
import { clientHasher } from '../clients.ts'
import { CREDIT_RULES, limits } from '../limits.ts'
import { createInFlight, type InFlight } from '../payments/in-flight.ts'
import { type PaymentRefusal, refusedPayment } from '../payments/payment-refusals.ts'
import type { AdmittedPayment, BoundRequest, Claim, PaymentResult, SplitAnswer } from '../payments/payment-parts.ts'
import type { PriceBook } from '../payments/price-book.ts'
import type { CreditSettlement, FaultHook } from '../payments/settlement.ts'
import { problem, type Problem } from '../problems.ts'

/** A credit as a request names it, before it is read. */
export interface CreditCredential {
  code: string
  /** Idempotency-Key; null where the request has none. */
  key: string | null
}

/** Pays calls from prepaid credits. The store, not this process, guarantees each promise. */
export interface CreditService {
  /** Reads code and key; refuses those of the wrong form. Rejects as the store does. */
  read(credential: CreditCredential, client: string): Promise<{ ok: true; key: CreditUseKey } | { ok: false; end: PaymentResult }>
  /** Returns the result of the same use before; null when it is new, or was released and may be claimed again. */
  replay(request: BoundRequest, key: CreditUseKey): Promise<PaymentResult | null>
  /** Reserves the price and binds the key to this request. */
  admit(request: BoundRequest, key: CreditUseKey, price_minor: bigint): Promise<AdmittedPayment>
  /** Returns the balance of a credit and its entries. */
  statement(code: string, client: string): Promise<{ ok: true; statement: CreditStatement } | { ok: false; problem: Problem }>
}

export interface CreditServiceParts {
  store: CreditStore
  inFlightUses: InFlight<CreditUseKey, CreditUse>
  clock: Clock
  derive: Derivation
  sealer: Sealer
  /** Gives the epoch in which a sale is counted. */
  prices: Pick<PriceBook, 'epoch_now'>
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
  /** Counts a wrong code; false when there were too many. */
  countWrong(client: string): Promise<boolean>
  /** Reports an unexpected error that does not prevent an answer. */
  onFault(error: unknown): void
  reach: FaultHook
}

export function createCreditService(parts: CreditServiceParts): CreditService {
  return {
    async read({ code, key }, client) {
      if (key === null || !IDEMPOTENCY_KEY.test(key)) return { ok: false, end: refusedPayment(invalidKeyProblem()) }
      const plain = readCreditCode(code)
      if (plain === null) return { ok: false, end: refusedPayment(await wrongCodeProblem(parts, client)) }
      return { ok: true, key: { code_hash: creditHash(parts.derive, plain), use_hash: parts.derive.hmac('credit use', key) } }
    },
    replay: (request, key) => replay(parts, request, key),
    admit: (request, key, price_minor) => admit(parts, request, key, price_minor),
    async statement(code, client) {
      const plain = readCreditCode(code)
      const found = plain === null ? null : await parts.store.statement(creditHash(parts.derive, plain), CREDIT_RULES.entries)
      return found === null ? { ok: false, problem: await wrongCodeProblem(parts, client) } : { ok: true, statement: found }
    },
  }
}

const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${CREDIT_RULES.idempotency_key_chars}}$`)

/** Returns the hash under which the store keeps a code. */
export function creditHash(derive: Derivation, code: string): string {
  return derive.hmac('credit code', code)
}

/** Tracks the uses of credits that calls are working on. */
export function createInFlightUses(store: Pick<CreditStore, 'find_use'>, clock: SteadyClock): InFlight<CreditUseKey, CreditUse> {
  return createInFlight(
    {
      find: (key: CreditUseKey) => store.find_use(key),
      isOpen: ({ state }) => state === 'claimed',
      nameOf: ({ code_hash, use_hash }) => `${code_hash}:${use_hash}`,
    },
    clock,
  )
}

async function replay(parts: CreditServiceParts, request: BoundRequest, key: CreditUseKey): Promise<PaymentResult | null> {
  const found = await parts.store.find_use(key)
  if (found === null) return null
  if (found.tool !== request.tool || found.input_hash !== request.input_hash) return boundKeyRefusal()
  if (mayClaim(found, parts.clock.now_ms())) return null
  const use = found.state === 'claimed' ? await parts.inFlightUses.waitForResult(key, limits.settle_wait_ms) : found
  return use === null || mayClaim(use, parts.clock.now_ms()) ? null : resultOf(parts, key, use)
}

/** Returns true for a released use and for a claim that has expired. */
function mayClaim({ state, claim_until_ms }: CreditUse, now_ms: number): boolean {
  return state === 'released' || (state === 'claimed' && hasClaimExpired(claim_until_ms, now_ms, limits.claim_ms))
}

async function resultOf(parts: CreditServiceParts, key: CreditUseKey, use: CreditUse): Promise<PaymentResult> {
  if (use.state !== 'settled') return stillRunningRefusal()
  const stored = await parts.store.answer(key)
  const text = stored === null || stored.expires_ms <= parts.clock.now_ms() ? null : parts.sealer.open(stored.sealed, contextOf(key))
  if (text === null) return answerExpiredRefusal()
  const end = text.indexOf('\n')
  return { kind: 'paid', text: text.slice(end + 1), settlement: creditSettlement(text.slice(0, end)) }
}

async function admit(parts: CreditServiceParts, request: BoundRequest, key: CreditUseKey, price_minor: bigint): Promise<AdmittedPayment> {
  const now_ms = parts.clock.now_ms()
  const { tool, input_hash } = request
  const asked: CreditClaim = { ...key, tool, input_hash, price_minor, now_ms, claim_until_ms: now_ms + limits.claim_ms }
  const granted = await parts.store.claim(asked)
  switch (granted.kind) {
    case 'claimed': {
      const claim = createClaim(parts, request, { key, fence: granted.fence, amount_minor: granted.amount * granted.unit_minor })
      await parts.reach('after_claim')
      return { kind: 'claimed', claim }
    }
    case 'unknown':
      return refusedPayment(await wrongCodeProblem(parts, request.client))
    case 'insufficient':
      return insufficientRefusal(granted, price_minor)
    case 'exists':
      // Another request with the same key was faster.
      return (await replay(parts, request, key)) ?? stillRunningRefusal()
  }
}

interface HeldReservation {
  key: CreditUseKey
  fence: number
  amount_minor: bigint
}

/** Claims the reservation that the store has granted. Its receipt has the zero address as payer and a random nonce. */
function createClaim(parts: CreditServiceParts, request: BoundRequest, held: HeldReservation): Claim {
  const done = parts.inFlightUses.begin(held.key)
  return {
    payer: ZERO_ADDRESS,
    nonce: parts.randomNonce(),
    amount_minor: held.amount_minor,
    settle: (answer) => settle(parts, request, held, answer).finally(done),
    release: async () => {
      await parts.store.release(held.key, held.fence, parts.clock.now_ms()).finally(done)
    },
  }
}

/** Stores the answer and its debit in one transaction. */
async function settle(
  parts: CreditServiceParts,
  request: BoundRequest,
  { key, fence, amount_minor }: HeldReservation,
  answer: SplitAnswer,
): Promise<PaymentResult> {
  const { store, clock, sealer } = parts
  const amount = amount_minor.toString()
  const settlement = creditSettlement(amount)
  const text = answer.head + JSON.stringify(settlement) + answer.tail
  const sealed = sealer.seal(`${amount}\n${text}`, contextOf(key))
  await parts.reach('before_settled_row')
  try {
    const sale = { price_class: request.price_class, epoch: await parts.prices.epoch_now() }
    const now_ms = clock.now_ms()
    const booked = await store.settle(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, sale, now_ms)
    if (booked) return { kind: 'paid', text, settlement }
  } catch (error) {
    parts.onFault(error)
    // It may be booked although the store did not answer; if not, the reservation expires.
    return creditStoreDown()
  }
  // The claim expired and passed to another request, or was released.
  return (await replay(parts, request, key)) ?? stillRunningRefusal()
}

function creditSettlement(amount_minor: string): CreditSettlement {
  return { network: null, transaction: null, payer: ZERO_ADDRESS, amount_minor, method: 'credit' }
}

function contextOf({ code_hash, use_hash }: CreditUseKey): string {
  return `credit:${code_hash}:${use_hash}`
}

function invalidKeyProblem(): Problem {
  const detail =
    `Send an Idempotency-Key of 1 to ${CREDIT_RULES.idempotency_key_chars} printable characters without spaces, for example order-2026-0042: ` +
    'a new one for each call, the same one for a retry.'
  return problem('CREDIT_KEY_INVALID', detail)
}

async function wrongCodeProblem(parts: CreditServiceParts, client: string): Promise<Problem> {
  if (await parts.countWrong(client)) {
    return problem('CREDIT_UNKNOWN', 'No credit has this code. A code is ac_ and 33 characters; hyphens, spaces and case do not matter.')
  }
  const detail = `This client sent ${CREDIT_RULES.wrong_codes_per_minute} wrong codes within a minute. Wait a minute.`
  return problem('CREDIT_RATE_LIMITED', detail, { retry_after_s: 60 })
}

function boundKeyRefusal(): PaymentRefusal {
  const detail =
    'This Idempotency-Key was first sent with another tool or input. Send a new key for another request. Nothing more was charged.'
  return refusedPayment(problem('CREDIT_KEY_BOUND', detail))
}

function stillRunningRefusal(): PaymentRefusal {
  const detail = 'The first request with this key is still running. Send the same request again in a moment.'
  return refusedPayment(problem('CREDIT_IN_USE', detail, { charged: 'unknown', retry_after_s: limits.settlement_retry_s }))
}

function insufficientRefusal(
  { unit, available }: Pick<Extract<CreditClaimResult, { kind: 'insufficient' }>, 'unit' | 'available'>,
  price_minor: bigint,
): PaymentRefusal {
  const left = unit === 'calls' ? `${available} calls` : `${usdcText(available)} USDC`
  const detail = `The credit has ${left} left; the call costs ${unit === 'calls' ? 'one' : `${usdcText(price_minor)} USDC`}.`
  return refusedPayment(problem('CREDIT_INSUFFICIENT', detail, { extra: { credit: { unit, available: available.toString() } } }))
}

function answerExpiredRefusal(): PaymentRefusal {
  const detail = 'This use was debited and answered. The stored answer was deleted after a day. Send a new key for a new answer.'
  return refusedPayment(problem('ANSWER_EXPIRED', detail, { charged: true }))
}

function creditStoreDown(): PaymentRefusal {
  const detail = `The store does not answer. Send the same request with the same key again in ${limits.store_retry_s} s; it is debited once.`
  return refusedPayment(problem('STORE_UNAVAILABLE', detail, { charged: 'unknown', retry_after_s: limits.store_retry_s }))
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/** Counts wrong codes per client and minute over all instances, under a keyed hash that changes daily; false beyond the limit. */
export function createWrongCodeCounter(store: Pick<Store, 'take'>, clock: Clock, secret: Uint8Array) {
  const clientHash = clientHasher(secret)
  return async (client: string): Promise<boolean> => {
    const minutes = Math.floor(clock.now_ms() / MINUTE_MS)
    const day = Math.floor(minutes / DAY_MINUTES)
    const bucket = `credit-codes-${minutes % DAY_MINUTES}`
    const { granted } = await store.take({ day, bucket, client: clientHash(day, client), limit: CREDIT_RULES.wrong_codes_per_minute })
    return granted
  }
}
