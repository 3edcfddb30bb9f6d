import { availableOf, shortfallOf } from '../../pure/credits/balance.ts'
import { creditCode } from '../../pure/credits/code.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Cards } from '../../ports/cards.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CreditStatement, CreditStore, Purchase } from '../../ports/credits.ts'
import type { Derivation } from '../../ports/derivation.ts'
import type { Sealer } from '../../ports/sealer.ts'
import type { OutsideReads } from '../payments/outside-reads.ts'
import { problem, type Problem } from '../problems.ts'
import { creditHash } from './desk.ts'
import { CREDIT_RULES } from './rules.ts'

/** Where credits are bought by card. What nobody has told the store yet, Stripe tells it again. */
export interface CreditShop {
  /** Whole US dollars. */
  readonly packs_usd: readonly number[]
  /** The address of the page where the buyer pays. Opening it draws on the reads of the client. */
  buy(pack_usd: number, claim_hash: string, client: string): Promise<{ ok: true; url: string } | { ok: false; problem: Problem }>
  /** Heeds a notice of Stripe, once. False when it is not signed by it. Rejects as the store does: then it has to come again. */
  notice(raw: Uint8Array, signature: string | null): Promise<boolean>
}

/** How the handing over of a code stands, for the browser that bought it. */
export type CodeShown =
  | { status: 'waiting' }
  | { status: 'ready'; code: string; amount_minor: string }
  | { status: 'shown'; amount_minor: string }

export interface ShopParts {
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
  /** Told of accidents that end in a problem all the same. */
  onFault(error: unknown): void
  /** Budget of the requests to outside services without a payment. */
  reads: OutsideReads
}

export function createCreditShop(parts: ShopParts): CreditShop {
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
  { store, cards, clock, derive, sealer, randomNonce }: ShopParts,
  raw: Uint8Array,
  signature: string | null,
): Promise<boolean> {
  const now_ms = clock.now_ms()
  const read = cards.read(raw, signature, now_ms)
  if (!read.ok) return false
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
      return true
    }
    case 'reversed': {
      const { kind: _, ...reversed } = read.event
      await store.reverse({ ...reversed, now_ms })
      return true
    }
    case 'other':
      return true
  }
}

/** What hands codes over; it does so as well where cards were taken once and are no more. */
export interface HandoverParts {
  store: Pick<CreditStore, 'find_purchase' | 'forget_code'>
  sealer: Sealer
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
}

/**
 * The code of a purchase, for whoever holds the secret that it was bought with; nobody else learns whether there is one. `seen` erases it:
 * until then it can be asked for again, so that an answer that is lost loses no money.
 */
export async function handOver(parts: HandoverParts, session_id: string, secret: string, seen: boolean): Promise<CodeShown> {
  const purchase = await parts.store.find_purchase(session_id)
  // Both sides are hashes: how long the comparison takes tells nothing of the secret.
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

/** A statement as it goes out: amounts as decimal text in the unit of the credit, times in RFC 3339, nothing of any input. */
export function balanceBody({ credit, uses, reversals }: CreditStatement): Record<string, unknown> {
  const { unit, unit_minor, granted, reversed, spent, reserved, origin, created_ms } = credit
  const at = (ms: number) => new Date(ms).toISOString()
  const entries = [
    ...uses.map(({ tool, amount, updated_ms }) => ({ ms: updated_ms, kind: 'debit', amount, tool })),
    ...reversals.map(({ amount_minor, standing, updated_ms }) => ({ ms: updated_ms, kind: 'reversal', amount: amount_minor, standing })),
  ]
  return {
    unit,
    unit_minor: unit_minor.toString(),
    available: availableOf(credit).toString(),
    granted: granted.toString(),
    spent: spent.toString(),
    reserved: reserved.toString(),
    reversed: reversed.toString(),
    shortfall: shortfallOf(credit).toString(),
    origin,
    created_at: at(created_ms),
    entries: entries
      .toSorted((one, other) => other.ms - one.ms)
      .map(({ ms, amount, ...entry }) => ({ ...entry, amount: amount.toString(), at: at(ms) })),
  }
}
