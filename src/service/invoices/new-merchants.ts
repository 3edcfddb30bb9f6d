import type { Clock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { Derivation } from '../../ports/signer.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { providerNetwork, widerNetwork } from '../clients.ts'
import { INVOICE_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

const DAY_MS = 86_400_000

/** Unit of the day's budget; `give_back` returns it when no invoice became signed. */
type SignedUnit = { ok: true; give_back(): Promise<void> } | { ok: false; problem: Problem }

/**
 * Daily budgets of invoices that merchants sign before their first payment on the chain. A key is free, so such a signature says nothing about
 * its merchant: what it stores and has watched is counted for the network that sent it. A merchant that was paid has its own bounds.
 */
export interface NewMerchantQuota {
  /** Takes a unit for an invoice of this merchant, sent from this address. */
  take(merchant: string, address: string): Promise<SignedUnit>
}

interface QuotaParts {
  store: Pick<Store, 'take' | 'give_back'> & { invoices: Pick<InvoiceStore, 'was_paid'> }
  clock: Clock
  derive: Derivation
}

const FREE: SignedUnit = { ok: true, give_back: () => Promise.resolve() }

export function createNewMerchantQuota({ store, clock, derive }: QuotaParts): NewMerchantQuota {
  return {
    async take(merchant, address) {
      if (await store.invoices.was_paid(merchant)) return FREE
      const now_ms = clock.now_ms()
      const day = Math.floor(now_ms / DAY_MS)
      const nameOf = (network: string) => derive.hmac('invoice quota', `${day}|${network}`).slice(0, 32)
      const { new_signed_network, new_signed_provider, new_signed_all, new_signed_small } = INVOICE_RULES
      const taken: AllowanceRequest[] = []
      const give_back = async () => void (await Promise.all(taken.splice(0).map((budget) => store.give_back(budget))))
      const takeOne = async (limit_of: LimitOf, client: string, limit: number) => {
        const budget = { day, bucket: `invoice-signed-${limit_of}`, client, limit }
        const grant = await store.take(budget)
        if (grant.granted) taken.push(budget)
        return grant
      }
      const refuse = async (limit_of: LimitOf): Promise<SignedUnit> => {
        await give_back()
        return { ok: false, problem: refused(limit_of, Math.ceil(((day + 1) * DAY_MS - now_ms) / 1_000)) }
      }
      const own = await takeOne('network', nameOf(widerNetwork(address)), new_signed_network)
      if (!own.granted) return refuse('network')
      const share = (limit: number) => (own.used <= new_signed_small ? limit : Math.floor(limit / 2))
      if (!(await takeOne('provider', nameOf(providerNetwork(address)), share(new_signed_provider))).granted) return refuse('provider')
      if (!(await takeOne('all', 'all', share(new_signed_all))).granted) return refuse('all')
      return { ok: true, give_back }
    },
  }
}

/** The party whose limit is reached. */
type LimitOf = 'network' | 'provider' | 'all'

const WORDS: Readonly<Record<LimitOf, string>> = {
  network:
    `This is the limit of your network (/24, /48): ${INVOICE_RULES.new_signed_network} invoices a day of merchants that were never paid here. ` +
    'All addresses of the network share it.',
  provider:
    `This is the limit of your provider network (/16, /32), not of your address: its networks may sign ${INVOICE_RULES.new_signed_provider} invoices a day ` +
    `for merchants that were never paid here, and half of that is kept for networks with up to ${INVOICE_RULES.new_signed_small}.`,
  all:
    `This is the limit of the service for all networks together, not yours: ${INVOICE_RULES.new_signed_all} invoices a day of merchants that were never ` +
    `paid here, half of them kept for networks with up to ${INVOICE_RULES.new_signed_small}.`,
}

function refused(limit_of: LimitOf, retry_after_s: number): Problem {
  const next =
    'The limit resets at 00:00 UTC. Send the invoice unsigned, which is payable through its deposit address: a merchant has no such limit once a ' +
    'payment of one of its invoices was seen on the chain.'
  return problem('INVOICE_NETWORK_LIMIT', `${WORDS[limit_of]} ${next}`, { retry_after_s, extra: { limit_of } })
}
