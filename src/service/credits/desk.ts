import { claimRanOut } from '../../pure/payments/claims.ts'
import { readCreditCode } from '../../pure/credits/code.ts'
import { ZERO_ADDRESS } from '../../pure/receipts/receipt.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CreditClaim, CreditStatement, CreditStore, CreditUse, CreditUseKey } from '../../ports/credits.ts'
import type { Derivation } from '../../ports/derivation.ts'
import type { Sealer } from '../../ports/sealer.ts'
import { limits } from '../limits.ts'
import type { AnswerParts, BoundRequest, Claim, PaymentEnd } from '../payments/desk.ts'
import type { PriceBook } from '../payments/price-book.ts'
import type { CreditSettlement } from '../payments/settlement.ts'
import type { Reach } from '../payments/settler.ts'
import type { Problem } from '../problems.ts'
import type { CreditGiven } from './given.ts'
import * as refusals from './refusals.ts'
import { CREDIT_RULES } from './rules.ts'
import type { RunningUses } from './running.ts'

/** A credit whose code and key have the right form. */
type ReadCredit = { ok: true; key: CreditUseKey } | { ok: false; end: PaymentEnd }

/** Where calls are paid by prepaid credits. Every promise here is kept by the store, not by this process. */
export interface CreditDesk {
  /** Holds the form of what a request brought against what a credit must be. Rejects as the store does. */
  read(given: CreditGiven, client: string): Promise<ReadCredit>
  /** What became of the same use before; null when it is new here, or was released and may be claimed again. */
  replay(request: BoundRequest, key: CreditUseKey): Promise<PaymentEnd | null>
  /** Reserves the price and binds the key to this request. */
  admit(request: BoundRequest, key: CreditUseKey, price_minor: bigint): Promise<{ kind: 'claimed'; claim: Claim } | PaymentEnd>
  /** What a credit holds and was used for. */
  statement(code: string, client: string): Promise<{ ok: true; statement: CreditStatement } | { ok: false; problem: Problem }>
}

export interface CreditDeskParts {
  store: CreditStore
  running: RunningUses
  clock: Clock
  derive: Derivation
  sealer: Sealer
  /** Says in which epoch a sale is counted. */
  prices: Pick<PriceBook, 'epoch_now'>
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
  /** Counts a wrong code; false when there were too many. */
  countWrong(client: string): Promise<boolean>
  /** Told of accidents that end in an answer all the same. */
  onFault(error: unknown): void
  reach: Reach
}

/** The name under which the store knows a code. */
export function creditHash(derive: Derivation, code: string): string {
  return derive.hmac('credit code', code)
}

export function createCreditDesk(parts: CreditDeskParts): CreditDesk {
  return {
    async read({ code, key }, client) {
      if (key === null || !USE_KEY.test(key)) return { ok: false, end: refusals.keyInvalid() }
      const plain = readCreditCode(code)
      if (plain === null) return { ok: false, end: refusals.refusedCode(await wrong(parts, client)) }
      return { ok: true, key: { code_hash: creditHash(parts.derive, plain), use_hash: parts.derive.hmac('credit use', key) } }
    },
    replay: (request, key) => replay(parts, request, key),
    admit: (request, key, price_minor) => admit(parts, request, key, price_minor),
    async statement(code, client) {
      const plain = readCreditCode(code)
      const found = plain === null ? null : await parts.store.statement(creditHash(parts.derive, plain), CREDIT_RULES.entries)
      return found === null ? { ok: false, problem: await wrong(parts, client) } : { ok: true, statement: found }
    },
  }
}

const USE_KEY = new RegExp(`^[\\x21-\\x7e]{1,${CREDIT_RULES.idempotency_key_chars}}$`)

async function wrong(parts: CreditDeskParts, client: string): Promise<Problem> {
  return (await parts.countWrong(client)) ? refusals.unknownCode() : refusals.tooManyWrongCodes()
}

async function replay(parts: CreditDeskParts, request: BoundRequest, key: CreditUseKey): Promise<PaymentEnd | null> {
  const found = await parts.store.find_use(key)
  if (found === null) return null
  if (found.tool !== request.tool || found.input_hash !== request.input_hash) return refusals.keyBound()
  if (mayClaim(found, parts.clock.now_ms())) return null
  const ended = found.state === 'claimed' ? await parts.running.ended(key, limits.settle_wait_ms) : found
  return ended === null || mayClaim(ended, parts.clock.now_ms()) ? null : endOf(parts, key, ended)
}

/** Released, or still with a claimer whose time is over. */
function mayClaim({ state, claim_until_ms }: CreditUse, now_ms: number): boolean {
  return state === 'released' || (state === 'claimed' && claimRanOut(claim_until_ms, now_ms, limits.claim_ms))
}

async function endOf(parts: CreditDeskParts, key: CreditUseKey, use: CreditUse): Promise<PaymentEnd> {
  if (use.state !== 'settled') return refusals.stillRunning()
  const stored = await parts.store.answer(key)
  const text = stored === null || stored.expires_ms <= parts.clock.now_ms() ? null : parts.sealer.open(stored.sealed, contextOf(key))
  if (text === null) return refusals.answerGone()
  const [amount, body] = splitOnce(text)
  return { kind: 'paid', text: body, settlement: settlementOf(amount) }
}

async function admit(
  parts: CreditDeskParts,
  request: BoundRequest,
  key: CreditUseKey,
  price_minor: bigint,
): Promise<{ kind: 'claimed'; claim: Claim } | PaymentEnd> {
  const now_ms = parts.clock.now_ms()
  const { tool, input_hash } = request
  const asked: CreditClaim = { ...key, tool, input_hash, price_minor, now_ms, claim_until_ms: now_ms + limits.claim_ms }
  const granted = await parts.store.claim(asked)
  switch (granted.kind) {
    case 'claimed': {
      const claim = claimOf(parts, request, { key, fence: granted.fence, amount_minor: granted.amount * granted.unit_minor })
      await parts.reach('after_claim')
      return { kind: 'claimed', claim }
    }
    case 'unknown':
      return refusals.refusedCode(await wrong(parts, request.client))
    case 'insufficient':
      return refusals.insufficient(granted, price_minor)
    case 'exists':
      // Another request with the same key was faster.
      return (await replay(parts, request, key)) ?? refusals.stillRunning()
  }
}

interface Held {
  key: CreditUseKey
  fence: number
  amount_minor: bigint
}

/** The reservation that the store has just granted. Its receipt names nobody, since nobody signed, and a nonce of ours. */
function claimOf(parts: CreditDeskParts, request: BoundRequest, held: Held): Claim {
  const done = parts.running.begin(held.key)
  return {
    payer: ZERO_ADDRESS,
    nonce: parts.randomNonce(),
    amount_minor: held.amount_minor,
    settle: (text) => settle(parts, request, held, text).finally(done),
    release: async () => {
      await parts.store.release(held.key, held.fence, parts.clock.now_ms()).finally(done)
    },
  }
}

/** The answer and its debit are one transaction: there is never one without the other. */
async function settle(parts: CreditDeskParts, request: BoundRequest, held: Held, text: AnswerParts): Promise<PaymentEnd> {
  const { store, clock, sealer } = parts
  const { key, fence } = held
  const amount = held.amount_minor.toString()
  const settlement = settlementOf(amount)
  const body = text.head + JSON.stringify(settlement) + text.tail
  const sealed = sealer.seal(`${amount}\n${body}`, contextOf(key))
  await parts.reach('before_settled_row')
  let booked: boolean
  try {
    const sale = { price_class: request.price_class, epoch: await parts.prices.epoch_now() }
    const now_ms = clock.now_ms()
    booked = await store.settle(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, sale, now_ms)
  } catch (error) {
    parts.onFault(error)
    // It may be booked although the store did not answer; if it is not, the reservation runs out by itself.
    return refusals.storeDown('unknown')
  }
  if (!booked) return overtaken(parts, request, key)
  return { kind: 'paid', text: body, settlement }
}

/** The claim ran out and somebody else has the use, or let go of it: what the row says now. */
async function overtaken(parts: CreditDeskParts, request: BoundRequest, key: CreditUseKey): Promise<PaymentEnd> {
  return (await replay(parts, request, key)) ?? refusals.stillRunning()
}

function settlementOf(amount_minor: string): CreditSettlement {
  return { network: null, transaction: null, payer: ZERO_ADDRESS, amount_minor, method: 'credit' }
}

function contextOf({ code_hash, use_hash }: CreditUseKey): string {
  return `credit:${code_hash}:${use_hash}`
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('\n')
  return [text.slice(0, at), text.slice(at + 1)]
}
