import type { Facilitator, FacilitatorAnswer, FacilitatorRequest } from '../../ports/facilitator.ts'
import type { PaymentTransition, Payment } from '../../ports/payments.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import {
  type Evidence,
  chainEvidence,
  type EvidenceSource,
  settlementProof,
  tokenOf,
  type Settler,
  type SettleResult,
} from './settlement.ts'
import { EPOCH_MS } from './price-book.ts'
import { transitionFor, pickPaymentKey } from './wallet-send.ts'

/** Terms that all payments of this deployment share. */
export interface FacilitatedTerms {
  chain_id: number
  /** The token: address as published, name and version of its EIP-712 domain. */
  asset: string
  name: string
  version: string
  max_timeout_s: number
  /** Returns the URL of the paid resource. */
  resourceOf(payment: Payment): string
}

/**
 * Builds the request to a facilitator in x402 version 2 from the stored row. So a version 1 payment is sent on as version 2, and nothing
 * from the caller's headers is forwarded.
 */
export function facilitatorRequest(terms: FacilitatedTerms, payment: Payment): FacilitatorRequest {
  const requirements = {
    scheme: 'exact',
    network: `eip155:${terms.chain_id}`,
    asset: terms.asset,
    amount: payment.value_minor.toString(),
    payTo: payment.to,
    maxTimeoutSeconds: terms.max_timeout_s,
    extra: { name: terms.name, version: terms.version },
  }
  const authorization = {
    from: payment.payer,
    to: payment.to,
    value: payment.value_minor.toString(),
    validAfter: payment.valid_after_s.toString(),
    validBefore: payment.valid_before_s.toString(),
    nonce: payment.nonce,
  }
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: terms.resourceOf(payment) },
      accepted: requirements,
      payload: { signature: plainSignature(payment), authorization },
    },
    paymentRequirements: requirements,
  }
}

/**
 * Returns r, s and v of 27 or 28, the one form of an account's signature that all facilitators read; the signature of a contract wallet is
 * unchanged.
 */
function plainSignature({ signature, contract_payer }: Payment): string {
  const account = contract_payer ? null : normaliseSignature(signature)
  return account === null ? signature : `${account.r}${account.s.slice(2)}${account.v.toString(16)}`
}

/** Poll interval for chain evidence of a facilitator's answer, and the period in which a refusal is checked against the chain. */
const POLL_MS = 500
const REFUSAL_RECHECK_MS = 2_000

interface FacilitatedOptions {
  /** In order of preference. */
  facilitators: readonly Facilitator[]
  source: EvidenceSource
  store: Pick<Store, 'payments'>
  terms: FacilitatedTerms
  clock: Clock & SteadyClock
  log: Log
}

/**
 * Settles through facilitators. Their answers are claims; a row changes state only on evidence from assay's own chain node. An
 * authorization goes to a second facilitator only when it provably never reached the first.
 */
export function createFacilitatorSettler(options: FacilitatedOptions): Settler {
  const { facilitators, terms, log } = options
  const network = `eip155:${terms.chain_id}`
  return {
    method: 'facilitator',
    async ready() {
      for (const facilitator of facilitators) if (await facilitator.supports(network)) return { ok: true, settler: facilitator.url }
      return { ok: false, detail: 'No facilitator accepts payments now.', retry_after_s: 5 }
    },
    gas_share: () => null,
    async settle(payment, wait_ms) {
      const settlement = settle(options, payment, options.clock.steady_ms() + wait_ms).catch((error: unknown): SettleResult => {
        // The row stays open, and the reconciler closes it.
        log.warn({ error: String(error) }, 'a facilitated settlement could not be followed to its end')
        return { kind: 'pending', transaction: payment.transaction }
      })
      // A facilitator may answer later than the call waits; its answer then still updates the row.
      const { promise, resolve } = Promise.withResolvers<SettleResult>()
      const timer = setTimeout(() => resolve({ kind: 'pending', transaction: payment.transaction }), wait_ms + POLL_MS)
      return Promise.race([settlement, promise]).finally(() => clearTimeout(timer))
    },
  }
}

async function settle(options: FacilitatedOptions, payment: Payment, until_ms: number): Promise<SettleResult> {
  const { answer, url } = await askFacilitators(options, payment)
  options.log.info({ facilitator: url, said: answer.kind }, 'a facilitator was asked')
  switch (answer.kind) {
    case 'settled':
      return awaitEvidence(options, payment, answer.transaction, until_ms, null)
    case 'unsure':
      return awaitEvidence(options, payment, answer.transaction, until_ms, null)
    case 'refused':
      // The refusal may be wrong or late: another sender may have settled the payment, or the transfer may still be on its way.
      return awaitEvidence(options, payment, null, Math.min(until_ms, options.clock.steady_ms() + REFUSAL_RECHECK_MS), answer.reason)
    case 'unreachable':
      return releaseIfUnused(options, payment)
  }
}

/** Asks the facilitator of the row first, then each other one as long as none before it was reached. */
async function askFacilitators(
  { facilitators, terms }: FacilitatedOptions,
  payment: Payment,
): Promise<{ answer: FacilitatorAnswer; url: string }> {
  const own = facilitators.filter(({ url }) => url === payment.settler)
  const request = facilitatorRequest(terms, payment)
  const network = `eip155:${terms.chain_id}`
  let last: { answer: FacilitatorAnswer; url: string } = { answer: { kind: 'unreachable', reason: 'no_facilitator' }, url: '' }
  for (const facilitator of [...own, ...facilitators.filter((one) => !own.includes(one))]) {
    if (!own.includes(facilitator) && !(await facilitator.supports(network))) continue
    last = { answer: await facilitator.settle(request), url: facilitator.url }
    if (last.answer.kind !== 'unreachable') return last
  }
  return last
}

/**
 * Releases a payment that reached no facilitator, so that the same payment may be claimed again; unless the chain shows that its
 * authorization was used, or does not answer.
 */
async function releaseIfUnused(options: FacilitatedOptions, payment: Payment): Promise<SettleResult> {
  const { store, clock } = options
  const evidence = await readEvidence(options, payment)
  if (evidence?.kind !== 'open' || evidence.used) return awaitEvidence(options, payment, null, clock.steady_ms(), null)
  const taken = await store.payments.take_back(pickPaymentKey(payment), payment.fence, 'facilitator_unreachable', clock.now_ms())
  return taken ? { kind: 'unsent' } : { kind: 'pending', transaction: payment.transaction }
}

/**
 * Polls the chain until it gives a final answer or the wait is over. After that a refusal is recorded with its reason if the chain still
 * reports the authorization as unused; everything else is recorded as unknown.
 */
async function awaitEvidence(
  options: FacilitatedOptions,
  payment: Payment,
  transaction: string | null,
  until_ms: number,
  refusal: string | null,
): Promise<SettleResult> {
  const sent = { ...payment, transaction: transaction ?? payment.transaction }
  for (;;) {
    const evidence = await readEvidence(options, sent)
    const left_ms = until_ms - options.clock.steady_ms()
    if (evidence !== null && evidence.kind !== 'open') return applyTransition(options, sent, transitionFor(sent, evidence))
    if (left_ms <= 0) {
      if (refusal !== null && evidence?.used === false) {
        return applyTransition(options, sent, { ...pickPaymentKey(sent), to: 'refused', reason: refusal, transaction: sent.transaction })
      }
      return applyTransition(options, sent, {
        ...pickPaymentKey(sent),
        to: 'unknown',
        reason: 'no_proof',
        transaction: sent.transaction,
      })
    }
    await pause(Math.min(left_ms, POLL_MS))
  }
}

/** Returns null when the chain does not answer. */
async function readEvidence({ source }: FacilitatedOptions, payment: Payment): Promise<Evidence | null> {
  try {
    const receipt = payment.transaction === null ? null : await source.chain.receipt(payment.transaction)
    const at = receipt === null ? null : settlementProof(receipt, payment, tokenOf(source, payment))
    return at === null ? await chainEvidence(source, payment) : { kind: 'settled', at }
  } catch {
    return null
  }
}

async function applyTransition(
  { store, clock }: FacilitatedOptions,
  payment: Payment,
  transition: PaymentTransition,
): Promise<SettleResult> {
  const now_ms = clock.now_ms()
  await store.payments.apply_transitions([transition], Math.floor(now_ms / EPOCH_MS), now_ms)
  // The reconciler may have updated the row first; its result counts.
  const row = await store.payments.find(payment)
  if (row?.state === 'settled') return { kind: 'settled', payment: row }
  if (row?.state === 'refused' || row?.state === 'lost') return { kind: 'refused', payment: row }
  return { kind: 'pending', transaction: row?.transaction ?? payment.transaction }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
