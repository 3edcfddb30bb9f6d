import type { SteadyClock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import { quotaClient, widerNetwork } from '../clients.ts'
import { INVOICE_RULES, limits, RAIL_LIMITS } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import { createRecentMap } from '../recent.ts'

/** `write`: an invoice is created, signed or voided. `statement`: a bank statement is read, which costs as much as several of those. */
type WriteKind = 'write' | 'statement'

/**
 * Budgets of writes, counted for a minute in each process. A verified signature of a merchant draws on the budget of that merchant, wherever it
 * comes from; everything else draws on the budget of its client. A key is free, so merchants that were never paid share a further budget with their
 * client's network. Requests without a signature from a client that has proved a merchant use up to half of the budget of that merchant, so that other
 * users of the client's address leave the rest to signed ones.
 */
export interface WriteBudget {
  /** Counts a request without a verified signature. `merchant` is the one that it names; null for none. */
  unproved(client: string, merchant: string | null, kind: WriteKind): Problem | null
  /** Refuses to verify a signature from a client that sent too many wrong ones. */
  checking(client: string, merchant: string): Problem | null
  /** Counts a signature that is not the merchant's. */
  wrong(client: string, merchant: string): void
  /** Counts a request whose signature was verified as the merchant's. */
  proved(client: string, merchant: string, kind: WriteKind): Promise<Problem | null>
}

const COSTS = { write: 1, statement: INVOICE_RULES.statement_writes } as const satisfies Record<WriteKind, number>
const CLIENT_LIMITS = { write: INVOICE_RULES.per_minute, statement: RAIL_LIMITS.uploads_per_minute } as const satisfies Record<
  WriteKind,
  number
>

export function createWriteBudget(
  store: Pick<InvoiceStore, 'was_paid'>,
  clock: SteadyClock,
  merchant_per_minute: number = INVOICE_RULES.merchant_per_minute,
): WriteBudget {
  const count = createMinuteCounts(clock)
  /** Merchants that were paid, and the last proof of a merchant from a client, so that the store is not asked again. */
  const paid = createRecentMap<true>(INVOICE_RULES.proofs_remembered)
  const proofs = createRecentMap<number>(INVOICE_RULES.proofs_remembered)
  const linkOf = (client: string, merchant: string) => `${quotaClient(client)}|${merchant}`
  const tooMany = (detail: string) => problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: count.resets_in_s() })
  /** Takes a write without a signature from the half of the merchant's budget that such writes may use. */
  const takeUnproved = (client: string, merchant: string, kind: WriteKind): boolean => {
    const [share, most] = [`unproved|${merchant}`, Math.ceil(merchant_per_minute / 2)]
    if (!hasProved(client, merchant) || !count.fits(share, COSTS[kind], most) || ofMerchant(client, merchant, kind) !== null) return false
    return count.take(share, COSTS[kind], most)
  }
  const ofMerchant = (client: string, merchant: string, kind: WriteKind): Problem | null => {
    const [own, cost] = [`merchant|${merchant}`, COSTS[kind]]
    if (!count.fits(own, cost, merchant_per_minute)) {
      const more = 'The operator can raise this with ASSAY_MERCHANT_WRITES_PER_MINUTE.'
      return tooMany(
        `A merchant may send ${merchant_per_minute} signed writes a minute; a bank statement counts ${COSTS.statement}. ${more}`,
      )
    }
    const { network_new_per_minute: most } = INVOICE_RULES
    if (paid.get(merchant) === undefined && !count.take(`network|${widerNetwork(client)}`, cost, most))
      return tooMany(`Merchants that were never paid here may send ${most} signed writes a minute together from one network (/24, /48).`)
    count.take(own, cost, merchant_per_minute)
    return null
  }
  /** Returns true when the client sent a signature of the merchant in the last minutes. */
  const hasProved = (client: string, merchant: string) => {
    const proved_ms = proofs.get(linkOf(client, merchant))
    return proved_ms !== undefined && clock.steady_ms() - proved_ms <= INVOICE_RULES.proof_ms
  }
  return {
    unproved(client, merchant, kind) {
      if (merchant !== null && takeUnproved(client, merchant, kind)) return null
      const most = CLIENT_LIMITS[kind]
      if (count.take(`${kind}|${quotaClient(client)}`, 1, most)) return null
      const what = kind === 'write' ? 'writes of invoices' : 'bank statements'
      return tooMany(
        `A client may send ${most} ${what} without a valid signature of the merchant a minute. Signed ones have a budget of the merchant.`,
      )
    },
    checking(client, merchant) {
      if (hasProved(client, merchant) || count.fits(`wrong|${quotaClient(client)}`, 1, INVOICE_RULES.per_minute)) return null
      return tooMany(`A client may send ${INVOICE_RULES.per_minute} signatures a minute that are not those of the merchant.`)
    },
    wrong(client, merchant) {
      if (takeUnproved(client, merchant, 'write')) return
      count.take(`wrong|${quotaClient(client)}`, 1, INVOICE_RULES.per_minute)
    },
    async proved(client, merchant, kind) {
      if (paid.get(merchant) === undefined && (await store.was_paid(merchant))) paid.set(merchant, true)
      const refused = ofMerchant(client, merchant, kind)
      if (refused === null) proofs.set(linkOf(client, merchant), clock.steady_ms())
      return refused
    },
  }
}

const MINUTE_MS = 60_000

/** Sums by key within a minute of the clock. Forgets the oldest key when too many are met, so that it errs towards letting a request in. */
function createMinuteCounts(clock: SteadyClock) {
  const sums = new Map<string, number>()
  let minute = -1
  const sumOf = (key: string) => {
    const current = Math.floor(clock.steady_ms() / MINUTE_MS)
    if (current !== minute) sums.clear()
    minute = current
    return sums.get(key) ?? 0
  }
  const fits = (key: string, cost: number, most: number) => sumOf(key) + cost <= most
  return {
    fits,
    /** Adds the cost; false, without adding it, if the sum would exceed the limit. */
    take(key: string, cost: number, most: number): boolean {
      if (!fits(key, cost, most)) return false
      const [oldest] = sums.size >= limits.preflight_clients && !sums.has(key) ? sums.keys() : []
      if (oldest !== undefined) sums.delete(oldest)
      sums.set(key, sumOf(key) + cost)
      return true
    },
    resets_in_s: () => Math.ceil(((Math.floor(clock.steady_ms() / MINUTE_MS) + 1) * MINUTE_MS - clock.steady_ms()) / 1_000),
  }
}
