import { creditCode, releaseDigest, releasedBy, releaseText } from '../../pure/credits/credits.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { CardNoticeFault, Cards } from '../../ports/cards.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CreditStore, Purchase } from '../../ports/credits.ts'
import type { Derivation, Sealer } from '../../ports/signer.ts'
import type { OutsideReads } from '../payments/allowance.ts'
import { problem, type Problem } from '../problems.ts'
import { creditHash } from './credit-service.ts'
import { CREDIT_RULES, limits } from '../limits.ts'
import { PILOT_CALLS, PILOT_MINOR } from '../../pure/invoices/record.ts'
import type { ContractSignatures } from '../invoices/contract-signature.ts'
import type { SignRequest } from '../../pure/signing/sign-request.ts'
import type { InvoiceService } from '../invoices/invoice-service.ts'
import { notFound } from '../invoices/merchant-signature.ts'
import type { InvoiceView } from '../invoices/invoice-view.ts'

/** Purchase of credits by card. A notice that could not be stored is answered with an error, so that Stripe sends it again. */
export interface CreditCheckout {
  /** Whole US dollars. */
  readonly packs_usd: readonly number[]
  /**
   * Creates the checkout session and returns the address of its page, where the buyer pays. Counts against the client's budget of outside
   * reads.
   */
  buy(pack_usd: number, claim_hash: string, client: string): Promise<{ ok: true; url: string } | { ok: false; problem: Problem }>
  /**
   * Handles a webhook notice of Stripe, once. Returns what is wrong with it, or null. Rejects when the store fails; Stripe then sends the notice
   * again.
   */
  notice(raw: Uint8Array, signature: string | null): Promise<CardNoticeFault | null>
}

/** State of the handover of a code to the browser that bought it. */
export type CodeShown =
  | { status: 'waiting' }
  | { status: 'ready'; code: string; amount_minor: string }
  | { status: 'shown'; amount_minor: string }

export interface CreditCheckoutParts {
  store: CreditStore
  cards: Cards
  packs_usd: readonly number[]
  clock: Clock
  derive: Derivation
  sealer: Sealer
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
  /** Read when it is needed: the origin is known only once the server listens. */
  origins: { readonly site_url: string }
  /** Called with faults that the caller sees only as a problem. */
  onFault(error: unknown): void
  /** Budget of the requests to outside services without a payment. */
  reads: OutsideReads
}

export function createCreditCheckout(parts: CreditCheckoutParts): CreditCheckout {
  return {
    packs_usd: parts.packs_usd,
    async buy(pack_usd, claim_hash, client) {
      const taken = await parts.reads.take(client, 'CREDIT_RATE_LIMITED')
      if (!taken.ok) return taken
      const { site_url } = parts.origins
      const success_url = `${site_url}/credits/done?session_id={CHECKOUT_SESSION_ID}`
      try {
        return { ok: true, url: await parts.cards.checkout({ pack_usd, claim_hash, success_url, cancel_url: `${site_url}/credits` }) }
      } catch (error) {
        parts.onFault(error)
        await taken.give_back()
        const detail = 'The card processor did not open a checkout. Try again in a moment.'
        return { ok: false, problem: problem('CARDS_UNAVAILABLE', detail, { retry_after_s: CREDIT_RULES.checkout_retry_s }) }
      }
    },
    notice: (raw, signature) => notice(parts, raw, signature),
  }
}

async function notice(
  { store, cards, clock, derive, sealer, randomNonce }: CreditCheckoutParts,
  raw: Uint8Array,
  signature: string | null,
): Promise<CardNoticeFault | null> {
  const now_ms = clock.now_ms()
  const read = cards.read(raw, signature, now_ms)
  if (!read.ok) return read.fault
  switch (read.event.kind) {
    case 'paid': {
      const { kind: _, ...paid } = read.event
      const code = creditCode(randomNonce().slice(2, 42))
      await store.purchase({
        ...paid,
        now_ms,
        code_hash: creditHash(derive, code),
        sealed_code: sealer.seal(code, sealContext(paid.session_id)),
      })
      return null
    }
    case 'reversed': {
      const { kind: _, ...reversed } = read.event
      await store.reverse({ ...reversed, now_ms })
      return null
    }
    case 'other':
      return null
  }
}

/** Parts that hand codes over, also where cards are no longer accepted. */
export interface HandoverParts {
  store: Pick<CreditStore, 'find_purchase' | 'forget_code'>
  sealer: Sealer
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
}

/**
 * Returns the code of a purchase to the holder of the secret that it was bought with; a wrong secret gets the same answer as an unknown
 * session. `seen` erases the code: until then it can be requested again, so that a lost answer loses no money.
 */
export async function handOver(parts: HandoverParts, session_id: string, secret: string, seen: boolean): Promise<CodeShown> {
  const purchase = await parts.store.find_purchase(session_id)
  // Both sides are hashes, so the duration of the comparison reveals nothing about the secret.
  if (purchase === null || parts.crypto.keccak256Hex(secret) !== purchase.claim_hash) return { status: 'waiting' }
  if (seen) await parts.store.forget_code(session_id)
  return seen ? shown(purchase) : readyOrShown(parts, session_id, purchase)
}

function readyOrShown({ sealer }: HandoverParts, session_id: string, purchase: Purchase): CodeShown {
  const code = purchase.sealed_code === null ? null : sealer.open(purchase.sealed_code, sealContext(session_id))
  return code === null ? shown(purchase) : { status: 'ready', code, amount_minor: purchase.amount_minor.toString() }
}

function shown({ amount_minor }: Purchase): CodeShown {
  return { status: 'shown', amount_minor: amount_minor.toString() }
}

function sealContext(session_id: string): string {
  return `credit code:${session_id}`
}

interface PilotParts {
  invoices: Pick<InvoiceService, 'read' | 'look'>
  store: Pick<CreditStore, 'grant'>
  derive: Derivation
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>
  clock: Clock
  chain_id: number
  /** Asks payers that are contracts; null where there is no chain to ask. */
  contracts: ContractSignatures | null
  /** Budget of the reads for requests without a payment. */
  reads: OutsideReads
}

export type PilotReleased = { ok: true; code: string; calls: number } | { ok: false; problem: Problem }

/**
 * The calls that a settled pilot invoice bought, as a credit code for the account that paid most of it. The code is derived from the
 * invoice and the deployment's secret: the payer may request it again, and it is granted once. Sold credits are released regardless of the
 * current settings.
 */
export async function releasePilot(
  parts: PilotParts,
  invoice_id: string,
  signature: string | null,
  client: string,
): Promise<PilotReleased> {
  const stored = await parts.invoices.read(invoice_id)
  if (stored === null || stored.terms.product !== 'ap2_pilot') return { ok: false, problem: notFound() }
  const taken = await parts.reads.take(client, 'CREDIT_RATE_LIMITED')
  if (!taken.ok) return { ok: false, problem: taken.problem }
  const view = (await parts.invoices.look(invoice_id)) ?? stored
  // The payment may be on the chain already, so an outage is not the fault of the client.
  if (view.record['stale'] === true && view.standing.status !== 'SETTLED') {
    await taken.give_back()
    const detail = 'The chain could not be read, so a payment may be missing here. Nothing was counted.'
    return { ok: false, problem: problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: limits.source_retry_s }) }
  }
  if (view.standing.status !== 'SETTLED') {
    const detail = `The invoice is ${view.standing.status}; it is worth its calls once it is settled.`
    return { ok: false, problem: problem('CREDIT_NOT_DUE', detail, { retry_after_s: 10 }) }
  }
  const unsigned = await signatureFault(parts, view, signature, client)
  if (unsigned !== null) {
    if (unsigned.code === 'UPSTREAM_RPC_UNAVAILABLE') await taken.give_back()
    return { ok: false, problem: unsigned }
  }
  const code = creditCode(parts.derive.hmac('pilot credit', invoice_id).slice(0, 40))
  const granted = { unit: 'calls', unit_minor: PILOT_MINOR / BigInt(PILOT_CALLS), granted: BigInt(PILOT_CALLS) } as const
  await parts.store.grant(creditHash(parts.derive, code), { ...granted, created_ms: parts.clock.now_ms() })
  return { ok: true, code, calls: PILOT_CALLS }
}

/** Null when the payer signed it: an account by its key, a contract wallet by its own word on the chain (ERC-1271). */
async function signatureFault(parts: PilotParts, view: InvoiceView, signature: string | null, client: string): Promise<Problem | null> {
  const { chain_id, crypto, contracts } = parts
  const { invoice_id } = view.terms
  const payer = payerOf(view)
  const detail = `Sign as a plain message, with the account that paid: ${releaseText(invoice_id, chain_id)}`
  const sign = { ...(view.record['sign'] as SignRequest), signer: payer }
  const wrong = problem('CREDIT_RELEASE_INVALID', detail, { extra: { sign } })
  if (payer === null || signature === null) return wrong
  const signer = releasedBy(invoice_id, chain_id, signature, crypto)
  if (signer === payer) return null
  if (contracts === null) return wrong
  const digest = releaseDigest(invoice_id, chain_id, crypto)
  return contracts.refusal({ wallet: payer, digest, signature, client, wrong, rate_code: 'CREDIT_RATE_LIMITED' })
}

/**
 * Account that paid the largest part; of two with equal amounts, the earlier one. Payments after the invoice was paid in full are not
 * counted, so that a larger later payment cannot take the calls from the payer.
 */
function payerOf({ payments, terms }: InvoiceView): string | null {
  const paid = new Map<string, bigint>()
  let left = BigInt(terms.amount_minor)
  const ordered = payments.toSorted((one, other) => one.block_number - other.block_number || one.log_index - other.log_index)
  for (const { payer, amount_minor } of ordered) {
    const counted = amount_minor < left ? amount_minor : left
    paid.set(payer, (paid.get(payer) ?? 0n) + counted)
    left -= counted
  }
  let most: { payer: string; amount_minor: bigint } | null = null
  for (const [payer, amount_minor] of paid) if (most === null || amount_minor > most.amount_minor) most = { payer, amount_minor }
  return most?.payer ?? null
}
