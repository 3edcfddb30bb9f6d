import type { SteadyClock } from '../../ports/clock.ts'
import type { CreditStore, CreditUse, CreditUseKey } from '../../ports/credits.ts'
import { limits } from '../limits.ts'

/** Waits for uses of a credit that another request, perhaps of another process, is serving. */
export interface RunningUses {
  /** Says that this process serves the use; the function says that it is done. */
  begin(key: CreditUseKey): () => void
  /** The use as soon as it is settled or released, or as it stands when the wait is over. Null when it is not there. */
  ended(key: CreditUseKey, wait_ms: number): Promise<CreditUse | null>
}

export function createRunningUses(store: Pick<CreditStore, 'find_use'>, clock: SteadyClock): RunningUses {
  const running = new Map<string, Promise<void>>()
  return {
    begin(key) {
      const name = nameOf(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      running.set(name, promise)
      return () => {
        if (running.get(name) === promise) running.delete(name)
        resolve()
      }
    },
    async ended(key, wait_ms) {
      const until_ms = clock.steady_ms() + wait_ms
      for (;;) {
        const here = running.get(nameOf(key))
        const use = await store.find_use(key)
        const left_ms = until_ms - clock.steady_ms()
        if (use === null || use.state !== 'claimed' || left_ms <= 0) return use
        await Promise.race([here ?? never, pause(Math.min(left_ms, limits.settlement_poll_ms))])
      }
    },
  }
}

const never = new Promise<never>(() => undefined)

function nameOf({ code_hash, use_hash }: CreditUseKey): string {
  return `${code_hash}:${use_hash}`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
