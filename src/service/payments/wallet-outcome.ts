import type { ChainRead, TransactionReceipt } from '../../ports/chain.ts'
import type { Closing, Payment, PaymentKey } from '../../ports/payments.ts'
import { decodeBool, decodeUint } from '../../pure/payments/abi.ts'
import { balanceCall, blacklistedCall, PAUSED_CALL } from '../../pure/payments/token-calls.ts'
import { failedItems } from './batch-contract.ts'
import { evidenceOf, proofIn, usedStates, type Evidence } from './evidence.ts'
import type { OpenSending, WriterDeps } from './writer-rules.ts'

/** Why a payment is unknown whose block is gone; its transaction is to be sent again. */
export const REORGANISED = 'reorganised'
const EXPIRED = 'authorization_expired'

/** What becomes of the payments of a sending. Those to requeue are unused and have life left. */
export interface Outcome {
  closings: Closing[]
  requeue: PaymentKey[]
}

/**
 * Judges the payments of a mined transaction by the logs of its receipt. A payment without proof there may have been settled by a stranger
 * who sent the same authorization, which is as good. Refused is said only of what was tried and stands unused, and of what was used for
 * something else. Null when the chain gave no clear answer: to be asked again. Rejects as the chain does.
 */
export async function outcomeOf(
  deps: WriterDeps,
  { sending, payments }: OpenSending,
  receipt: TransactionReceipt,
): Promise<Outcome | null> {
  const proofs = payments.map((payment) => proofIn(receipt, payment, deps.source.token))
  const closings = payments.flatMap((payment, index): Closing[] => {
    const settled_at = proofs[index] ?? null
    return settled_at === null ? [] : [{ ...keyOf(payment), to: 'settled', settled_at }]
  })
  const missing = payments.filter((_, index) => (proofs[index] ?? null) === null)
  if (missing.length === 0) return { closings, requeue: [] }
  const failed = failedItems(receipt, deps.batch?.address ?? null)
  const tried = (payment: Payment) => sending.kind === 'single' || failed.has(payments.indexOf(payment))
  const rest = await withoutProof(deps, missing, receipt, tried)
  return rest === null ? null : { closings: [...closings, ...rest.closings], requeue: rest.requeue }
}

/** Judges payments whose transaction was never mined and never will be, as its account nonce went to another. */
export async function outcomeOfUnmined(deps: WriterDeps, payments: readonly Payment[]): Promise<Outcome | null> {
  return payments.length === 0 ? { closings: [], requeue: [] } : withoutProof(deps, payments, null, () => false)
}

async function withoutProof(
  deps: WriterDeps,
  payments: readonly Payment[],
  receipt: TransactionReceipt | null,
  tried: (payment: Payment) => boolean,
): Promise<Outcome | null> {
  // The block of the receipt, so that a node that is behind says that it is, and not that nothing was used.
  const at = receipt?.block_number
  const used = await usedStates(deps.source, payments, at)
  if (used.includes(null)) return null
  const outcome: Outcome = { closings: [], requeue: [] }
  for (const [index, payment] of payments.entries()) {
    // It was settled once and its answer left: until it has run out anybody may execute it, and the reconciler closes it.
    const answered = payment.reason === REORGANISED
    if (used[index] === true) {
      outcome.closings.push(lostIfAnswered(payment, closingOf(payment, await evidenceOf(deps.source, payment, true))))
    } else if (receipt !== null && tried(payment)) {
      const reason = await refusalReason(deps, payment, receipt)
      if (answered && reason !== EXPIRED) continue
      outcome.closings.push(lostIfAnswered(payment, { ...keyOf(payment), to: 'refused', reason, transaction: receipt.transaction_hash }))
    } else if (hasLife(deps, payment)) {
      outcome.requeue.push(keyOf(payment))
    } else if (!answered) {
      outcome.closings.push({ ...keyOf(payment), to: 'refused', reason: 'out_of_time', transaction: payment.transaction })
    }
  }
  return outcome
}

/** What was settled and answered once is lost and never called refused, whatever took its transfer away: the ledger must show it. */
export function lostIfAnswered(payment: Payment, closing: Closing): Closing {
  return closing.to === 'refused' && payment.reason === REORGANISED ? { ...closing, to: 'lost' } : closing
}

/** Enough of its window is left to send it now. */
export function hasLife({ clock, rules }: Pick<WriterDeps, 'clock' | 'rules'>, payment: Payment): boolean {
  return BigInt(Math.ceil(clock.now_ms() / 1_000) + rules.life_s) <= payment.valid_before_s
}

/** The move that evidence of a used authorization allows. */
export function closingOf(payment: Payment, evidence: Evidence): Closing {
  const key = keyOf(payment)
  switch (evidence.kind) {
    case 'settled':
      return { ...key, to: 'settled', settled_at: evidence.at }
    case 'used_without_transfer':
      return { ...key, to: 'refused', reason: evidence.reason, transaction: evidence.transaction }
    case 'unused_and_expired':
      return { ...key, to: 'refused', reason: 'expired_unused', transaction: payment.transaction }
    case 'open':
      return { ...key, to: 'unknown', reason: evidence.used ? 'used_unproven' : 'no_receipt', transaction: payment.transaction }
  }
}

export function keyOf({ payer, nonce }: PaymentKey): PaymentKey {
  return { payer, nonce }
}

/** Why the token most likely refused it, by what stands at that block: acts of the payer are told apart from what befell it. */
async function refusalReason(deps: WriterDeps, payment: Payment, receipt: TransactionReceipt): Promise<string> {
  const { chain, token } = deps.source
  const header = await chain.header(receipt.block_number)
  if (header !== null && BigInt(header.timestamp_s) >= payment.valid_before_s) return EXPIRED
  const asked = [PAUSED_CALL, blacklistedCall(payment.payer), blacklistedCall(payment.to), balanceCall(payment.payer)]
  const reads: ChainRead[] = asked.map((data) => ({ kind: 'call', to: token, data }))
  const [code, ...answers] = await chain.read([{ kind: 'code', address: payment.payer }, ...reads], receipt.block_number)
  const [paused, payer_blocked, recipient_blocked] = answers.map((answer) => answer.ok && decodeBool(answer.data) === true)
  if (paused === true) return 'token_paused'
  if (payer_blocked === true) return 'payer_blocked'
  if (recipient_blocked === true) return 'recipient_blocked'
  const held = answers[3]
  const balance = held?.ok === true ? decodeUint(held.data) : null
  if (balance !== null && balance < payment.value_minor) return 'insufficient_balance'
  // An account without code cannot take a signature back.
  return code?.ok === true && code.data !== '0x' ? 'signature_withdrawn' : 'transfer_refused'
}
