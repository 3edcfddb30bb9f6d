import type { SteadyClock } from '../../ports/clock.ts'
import type { Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import { limits } from '../limits.ts'

/** Waits for payments that another request, perhaps of another process, is working on. */
export interface Closings {
  /** Says that this process works on the payment; the function says that it is done. */
  begin(key: PaymentKey): () => void
  /** Whether this process works on the payment. */
  isHere(key: PaymentKey): boolean
  /** The payment as soon as it is settled, refused or released, or as it stands when the wait is over. Null when it is not there. */
  closed(key: PaymentKey, wait_ms: number): Promise<Payment | null>
}

export function createClosings(store: Pick<PaymentStore, 'find'>, clock: SteadyClock): Closings {
  const working = new Map<string, Promise<void>>()
  return {
    begin(key) {
      const name = nameOf(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      working.set(name, promise)
      return () => {
        if (working.get(name) === promise) working.delete(name)
        resolve()
      }
    },
    isHere: (key) => working.has(nameOf(key)),
    async closed(key, wait_ms) {
      const until_ms = clock.steady_ms() + wait_ms
      for (;;) {
        const payment = await store.find(key)
        const left_ms = until_ms - clock.steady_ms()
        if (payment === null || !isOpen(payment) || left_ms <= 0) return payment
        await Promise.race([working.get(nameOf(key)) ?? never, pause(Math.min(left_ms, limits.settlement_poll_ms))])
      }
    },
  }
}

const never = new Promise<never>(() => undefined)

function nameOf({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/** Somebody works on it. */
export function isOpen({ state }: Payment): boolean {
  return state === 'claimed' || state === 'prepared' || state === 'settling'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
