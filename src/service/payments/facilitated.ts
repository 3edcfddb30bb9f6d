import type { Facilitator, FacilitatorAnswer, FacilitatorRequest } from '../../ports/facilitator.ts'
import type { Closing, Payment } from '../../ports/payments.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { type Evidence, evidenceOf, type EvidenceSource, proofIn } from './evidence.ts'
import { EPOCH_MS } from './price-book.ts'
import type { Settler, SettleResult } from './settler.ts'
import { closingOf, keyOf } from './wallet-send.ts'

/** What stands in every payment of this deployment. */
export interface FacilitatedTerms {
  chain_id: number
  /** The token: address as published, name and version of its EIP-712 domain. */
  asset: string
  name: string
  version: string
  max_timeout_s: number
  /** Where the payment was asked for. */
  resourceOf(payment: Payment): string
}

/**
 * What the payer sent and what was asked for, as x402 version 2 has them, made from the row: so a payment that came in version 1 goes out
 * in version 2, and nothing of the caller's own headers is passed on.
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

/** r, s and v of 27 or 28, the one form of an account's signature that all facilitators read; what a contract wallet made stays as it is. */
function plainSignature({ signature, contract_payer }: Payment): string {
  const account = contract_payer ? null : normaliseSignature(signature)
  return account === null ? signature : `${account.r}${account.s.slice(2)}${account.v.toString(16)}`
}

/** How often the chain is asked for what a facilitator claims, and for how long a refusal is doubted. */
const POLL_MS = 500
const DOUBT_MS = 2_000

interface FacilitatedOptions {
  /** In the order of preference. */
  facilitators: readonly Facilitator[]
  source: EvidenceSource
  store: Pick<Store, 'payments'>
  terms: FacilitatedTerms
  clock: Clock & SteadyClock
  log: Log
}

/**
 * Settles through others. What they say is a claim; rows close on what our own view of the chain shows. An authorization goes to a second
 * facilitator only when it provably never reached the first.
 */
export function createFacilitatorSettler(options: FacilitatedOptions): Settler {
  const { facilitators, terms, log } = options
  const network = `eip155:${terms.chain_id}`
  return {
    method: 'facilitator',
    async ready() {
      for (const facilitator of facilitators) if (await facilitator.supports(network)) return { ok: true, settler: facilitator.url }
      return { ok: false, detail: 'No facilitator takes payments now.', retry_after_s: 5 }
    },
    gas_share: () => null,
    async settle(payment, wait_ms) {
      const whole = settle(options, payment, options.clock.steady_ms() + wait_ms).catch((error: unknown): SettleResult => {
        // The row stays open, and the reconciler closes it.
        log.warn({ error: String(error) }, 'a facilitated settlement could not be followed to its end')
        return { kind: 'pending', transaction: payment.transaction }
      })
      // A facilitator may take longer for its answer than a call waits. When it comes, the row is closed all the same.
      const { promise, resolve } = Promise.withResolvers<SettleResult>()
      const timer = setTimeout(() => resolve({ kind: 'pending', transaction: payment.transaction }), wait_ms + POLL_MS)
      return Promise.race([whole, promise]).finally(() => clearTimeout(timer))
    },
  }
}

async function settle(options: FacilitatedOptions, payment: Payment, until_ms: number): Promise<SettleResult> {
  const { answer, url } = await askInTurn(options, payment)
  options.log.info({ facilitator: url, said: answer.kind }, 'a facilitator was asked')
  switch (answer.kind) {
    case 'settled':
      return follow(options, payment, answer.transaction, until_ms, null)
    case 'unsure':
      return follow(options, payment, answer.transaction, until_ms, null)
    case 'refused':
      // It may be wrong, or late: another may have settled it, or it may be on its way all the same.
      return follow(options, payment, null, Math.min(until_ms, options.clock.steady_ms() + DOUBT_MS), answer.reason)
    case 'unreachable':
      return takeBack(options, payment)
  }
}

/** The facilitator of the row first, then each other while it is sure that none before was reached. */
async function askInTurn(
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

/** It reached nobody, so the same payment may be claimed again; unless the chain shows that somebody used it, or shows nothing. */
async function takeBack(options: FacilitatedOptions, payment: Payment): Promise<SettleResult> {
  const { store, clock } = options
  const evidence = await seen(options, payment)
  if (evidence?.kind !== 'open' || evidence.used) return follow(options, payment, null, clock.steady_ms(), null)
  const taken = await store.payments.take_back(keyOf(payment), payment.fence, 'facilitator_unreachable', clock.now_ms())
  return taken ? { kind: 'unsent' } : { kind: 'pending', transaction: payment.transaction }
}

/**
 * Asks the chain until it settles the question or the time is over. Then a refusal stands, with its reason, when the chain still has the
 * authorization as unused; anything else is unknown.
 */
async function follow(
  options: FacilitatedOptions,
  payment: Payment,
  transaction: string | null,
  until_ms: number,
  refusal: string | null,
): Promise<SettleResult> {
  const known = { ...payment, transaction: transaction ?? payment.transaction }
  for (;;) {
    const evidence = await seen(options, known)
    const left_ms = until_ms - options.clock.steady_ms()
    if (evidence !== null && evidence.kind !== 'open') return close(options, known, closingOf(known, evidence))
    if (left_ms <= 0) {
      if (refusal !== null && evidence?.used === false) {
        return close(options, known, { ...keyOf(known), to: 'refused', reason: refusal, transaction: known.transaction })
      }
      return close(options, known, { ...keyOf(known), to: 'unknown', reason: 'no_proof', transaction: known.transaction })
    }
    await pause(Math.min(left_ms, POLL_MS))
  }
}

/** Null when the chain does not answer. */
async function seen({ source }: FacilitatedOptions, payment: Payment): Promise<Evidence | null> {
  try {
    const receipt = payment.transaction === null ? null : await source.chain.receipt(payment.transaction)
    const at = receipt === null ? null : proofIn(receipt, payment, source.token)
    return at === null ? await evidenceOf(source, payment) : { kind: 'settled', at }
  } catch {
    return null
  }
}

async function close({ store, clock }: FacilitatedOptions, payment: Payment, closing: Closing): Promise<SettleResult> {
  const now_ms = clock.now_ms()
  await store.payments.close_payments([closing], Math.floor(now_ms / EPOCH_MS), now_ms)
  // The reconciler may have been faster, and its word stands.
  const row = await store.payments.find(payment)
  if (row?.state === 'settled') return { kind: 'settled', payment: row }
  if (row?.state === 'refused' || row?.state === 'lost') return { kind: 'refused', payment: row }
  return { kind: 'pending', transaction: row?.transaction ?? payment.transaction }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
