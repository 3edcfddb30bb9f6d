import type { Clock } from '../../ports/clock.ts'
import type { Payment, PaymentStore } from '../../ports/payments.ts'
import type { Sealer } from '../../ports/sealer.ts'
import { PAYER_ACTS } from '../../pure/payments/states.ts'
import { widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import { networkShutOut, shutOut, type PaymentRefusal } from './payment-refusals.ts'
import type { Settler } from './settler.ts'

/**
 * Who has made accepted payments fail, at the operator's expense. Only acts of the payer count (a cancelled authorization, a balance spent
 * elsewhere, a wallet that takes its signature back), never a delay, an outage, a paused token or a reorganisation. A payer may do so once a
 * day; a client network (/24, /48) may spend its share of the day's gas on payers that do. What all together may cost is bounded by the gas
 * budget of the day.
 */
export interface Standing {
  /** Why a payment of this payer from this address is not taken now; null when it is. */
  refusal(payer: string, address: string): Promise<PaymentRefusal | null>
  /** Books a refused settlement. One whose end comes after the answer to its sender counts against the payer alone. */
  failed(payment: Pick<Payment, 'reason'>, address: string): Promise<void>
}

export interface StandingParts {
  store: Pick<PaymentStore, 'refused_since' | 'spend_gas' | 'gas_spent'>
  clock: Clock
  sealer: Sealer
  settler: Pick<Settler, 'gas_share'>
}

const DAY_MS = 86_400_000

export function createStanding({ store, clock, sealer, settler }: StandingParts): Standing {
  const dayOf = (now_ms: number) => Math.floor(now_ms / DAY_MS)
  // Hashed with the day, so that a network cannot be followed from day to day.
  const nameOf = (address: string, day: number) => `share:${sealer.token(`gas share|${day}|${widerNetwork(address)}`)}`
  return {
    async refusal(payer, address) {
      const now_ms = clock.now_ms()
      const share = settler.gas_share()
      const [acts, spent_wei] = await Promise.all([
        store.refused_since(payer, now_ms - limits.payer_acts_ms),
        share === null ? 0n : store.gas_spent(nameOf(address, dayOf(now_ms)), dayOf(now_ms)),
      ])
      if (acts >= limits.payer_acts) return shutOut()
      return share !== null && spent_wei >= share.network_wei ? networkShutOut(Math.ceil((DAY_MS - (now_ms % DAY_MS)) / 1_000)) : null
    },
    async failed({ reason }, address) {
      const share = settler.gas_share()
      if (share === null || !(PAYER_ACTS as readonly (string | null)[]).includes(reason)) return
      const day = dayOf(clock.now_ms())
      await store.spend_gas(nameOf(address, day), day, share.failure_wei)
    },
  }
}
