import type { ClaimRequest, Payment, PaymentKey } from '../../ports/payments.ts'
import { limits } from '../limits.ts'
import { endOf, paid, pendingOf, type AnswerParts, type EndParts, type PaymentEnd } from './ends.ts'
import { contextOf } from './resends.ts'
import * as refusals from './payment-refusals.ts'
import type { Reach, SettleResult, Settler } from './settler.ts'
import type { Standing } from './standing.ts'

/** A payment that this process has bound to one request. The tool may run; nothing is sent before `settle`. */
export interface Claim extends PaymentKey {
  readonly amount_minor: bigint
  /** Stores the answer, settles, and hands the answer out. `text` goes around the place of the settlement. */
  settle(text: AnswerParts): Promise<PaymentEnd>
  /** Gives up before anything was sent. */
  release(reason: string): Promise<void>
}

/** What it takes to bring a claim to its end. */
export interface ClaimParts extends EndParts {
  settler: Settler
  standing: Standing
  /** Told of accidents that end in an answer all the same. */
  onFault(error: unknown): void
  reach: Reach
}

interface Held {
  readonly key: PaymentKey
  readonly request: ClaimRequest
  readonly grant: ClaimGrant
}

/** How a claim was granted, and to whom. */
interface ClaimGrant {
  readonly fence: number
  /** The gas wallet or the facilitator that said it was ready. */
  readonly settler: string
  /** Address of the client. */
  readonly address: string
}

/** The claim that the store has just granted. */
export function claimOf(parts: ClaimParts, request: ClaimRequest, grant: ClaimGrant): Claim {
  const key = { payer: request.payer, nonce: request.nonce }
  const held = { key, request, grant }
  const done = parts.closings.begin(key)
  return {
    ...key,
    amount_minor: request.value_minor,
    settle: (text) => settleClaim(parts, held, text).finally(done),
    release: async (reason) => {
      await parts.store.release(key, grant.fence, reason, parts.clock.now_ms()).finally(done)
    },
  }
}

async function settleClaim(parts: ClaimParts, held: Held, text: AnswerParts): Promise<PaymentEnd> {
  const { store, clock, settler, sealer } = parts
  const { key } = held
  const { fence } = held.grant
  const sealed = sealer.seal(`${text.head}\n${text.tail}`, contextOf(key))
  const now_ms = clock.now_ms()
  if (!(await store.prepare(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, now_ms))) return overtaken(parts, held.key)
  await parts.reach('after_prepare')
  const by = { method: settler.method, settler: held.grant.settler }
  let moved: boolean
  try {
    moved = await store.begin_settling(key, fence, by, clock.now_ms())
  } catch (error) {
    parts.onFault(error)
    // The row may say settling although the store did not answer; whoever settles such rows may send it now.
    return { kind: 'pending', pending: pendingOf(parts, held.key, null) }
  }
  if (!moved) return overtaken(parts, held.key)
  return resultEnd(parts, held, text, await settler.settle(settlingRow(held, by, clock.now_ms()), limits.settle_wait_ms))
}

async function resultEnd(parts: ClaimParts, held: Held, text: AnswerParts, result: SettleResult): Promise<PaymentEnd> {
  switch (result.kind) {
    case 'settled':
      return paid(parts, result.payment, text)
    case 'refused':
      await parts.standing.failed(result.payment, held.grant.address).catch((error: unknown) => parts.onFault(error))
      return { kind: 'refused', ...refusals.settlementFailed(result.payment, Math.floor(parts.clock.now_ms() / 1_000)) }
    case 'pending':
      return { kind: 'pending', pending: pendingOf(parts, held.key, result.transaction) }
    case 'unsent':
      return {
        kind: 'refused',
        ...refusals.unavailable('No facilitator could be reached, and nothing was sent. Send the same payment again.'),
      }
  }
}

/** The claim ran out and somebody else has the payment, or it was released: what the row says now. */
async function overtaken(parts: ClaimParts, key: PaymentKey): Promise<PaymentEnd> {
  const row = await parts.store.find(key)
  if (row === null || row.state === 'released') {
    return { kind: 'refused', ...refusals.tookTooLong() }
  }
  return endOf(parts, row)
}

/** The row as `begin_settling` left it, without reading it again. */
function settlingRow(
  { request, grant: { fence } }: Held,
  by: { method: 'self' | 'facilitator'; settler: string },
  now_ms: number,
): Payment {
  const { balance_minor: _, now_ms: created_ms, token_hash: __, ...asked } = request
  return {
    ...asked,
    ...by,
    state: 'settling',
    fence,
    created_ms,
    updated_ms: now_ms,
    account_nonce: null,
    transaction: null,
    block_number: null,
    block_hash: null,
    settled_ms: null,
    final: false,
    reason: null,
  }
}
