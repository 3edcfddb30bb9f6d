import type { Chain, ChainSender } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { Payment, PaymentKey } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import { limits } from '../limits.ts'
import type { BatchContract } from './batch-contract.ts'
import type { Finality } from './evidence.ts'
import type { GasSeen } from './gas-budget.ts'
import type { Reach, SettleResult, Settler } from './settler.ts'
import { createWalletWriter, type WalletWriter } from './wallet-writer.ts'
import { keyText, WRITER_RULES, type WriterRules } from './writer-rules.ts'

/** How often the store is looked at, when the writer is another process and when it is this one, which tells by itself. */
const LOOK_MS = 250
const LOOK_WHEN_TOLD_MS = 1_000

export interface SelfSettlerOptions {
  /** At least one; none of them the recipient of payments. */
  wallets: readonly GasWallet[]
  chain: Chain
  sender: ChainSender
  store: Pick<Store, 'lease' | 'payments'>
  /** Address of the token, any case. */
  token: string
  finality: Finality
  batch: BatchContract | null
  clock: Clock & SteadyClock
  log: Log
  reach: Reach
  rules?: Partial<WriterRules>
}

export interface SelfSettler extends Settler {
  /** What its wallets were last seen to hold, in their order. */
  gas(): readonly (GasSeen | null)[]
  start(): void
  stop(): Promise<void>
}

/**
 * Settles with gas wallets of its own. A payer always gets the same wallet while it can pay, so that the payments of one go in order; the
 * next in turn takes over when it cannot. Throws when there is no wallet.
 */
export function createSelfSettler(options: SelfSettlerOptions): SelfSettler {
  const waiters = createWaiters()
  const holder = crypto.randomUUID()
  const writers = options.wallets.map((wallet, index) => writerOf(options, wallet, index, holder, waiters))
  if (writers.length === 0) throw new Error('self-settlement needs a gas wallet')

  return {
    method: 'self',
    async ready(payer) {
      if (!(await options.chain.answers())) return { ok: false, detail: 'The chain does not answer.', retry_after_s: 5 }
      const first = Number(BigInt(payer) % BigInt(writers.length))
      let refusal = { ok: false as const, detail: 'There is no gas wallet.', retry_after_s: 60 }
      for (const writer of [...writers.slice(first), ...writers.slice(0, first)]) {
        const found = await writer.ready()
        if (found.ok) return { ok: true, settler: writer.address }
        refusal = found
      }
      return refusal
    },
    async settle(payment, wait_ms) {
      const writer = writers.find(({ address }) => address === payment.settler)
      writer?.nudge()
      return settled(options, writer, waiters, payment, wait_ms)
    },
    gas: () => writers.map((writer) => writer.gas()),
    gas_share() {
      const daily_wei = (options.rules?.daily_gas_wei ?? WRITER_RULES.daily_gas_wei) * BigInt(writers.length)
      const costs = writers.map((writer) => writer.gas()?.item_wei ?? 0n)
      return { network_wei: daily_wei / limits.gas_share_parts, failure_wei: costs.reduce((most, one) => (one > most ? one : most), 0n) }
    },
    start: () => writers.forEach((writer) => writer.start()),
    async stop() {
      await Promise.all(writers.map((writer) => writer.stop()))
    },
  }
}

function writerOf(options: SelfSettlerOptions, wallet: GasWallet, index: number, holder: string, waiters: Waiters): WalletWriter {
  const { chain, sender, store, finality, batch, clock, log, reach } = options
  const token = options.token.toLowerCase()
  const rules = { ...WRITER_RULES, ...options.rules }
  // Only the first deploys the batch contract; all use it once it is there.
  const deploys = index === 0
  return createWalletWriter(
    { wallet, chain, sender, store, source: { chain, token, finality }, batch, deploys, clock, log, reach, rules, closed: waiters.tell },
    holder,
  )
}

async function settled(
  { store, clock }: SelfSettlerOptions,
  writer: WalletWriter | undefined,
  waiters: Waiters,
  payment: Payment,
  wait_ms: number,
): Promise<SettleResult> {
  const until_ms = clock.steady_ms() + wait_ms
  let { transaction } = payment
  for (;;) {
    const told = waiters.wait(payment)
    try {
      const row = await store.payments.find(payment).catch(() => null)
      transaction = row?.transaction ?? transaction
      const end = row === null ? null : endOf(row)
      if (end !== null) return end
      const left_ms = until_ms - clock.steady_ms()
      if (left_ms <= 0) return { kind: 'pending', transaction }
      await told.within(Math.min(left_ms, writer?.leads() === true ? LOOK_WHEN_TOLD_MS : LOOK_MS))
    } finally {
      told.done()
    }
  }
}

/** Null while the row may still close. */
function endOf(payment: Payment): SettleResult | null {
  switch (payment.state) {
    case 'settled':
      return { kind: 'settled', payment }
    case 'refused':
    case 'lost':
      return { kind: 'refused', payment }
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
    case 'released':
      return null
  }
}

interface Waiters {
  tell(keys: readonly PaymentKey[]): void
  wait(key: PaymentKey): { within(ms: number): Promise<void>; done(): void }
}

/** Calls of this process that wait for a row that a writer of this process will close. */
function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()
  return {
    tell(keys) {
      for (const key of keys) for (const wake of waiting.get(keyText(key)) ?? []) wake()
    },
    wait(key) {
      const name = keyText(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      const group = waiting.get(name) ?? new Set()
      waiting.set(name, group.add(resolve))
      return {
        async within(ms) {
          const timer = setTimeout(resolve, ms)
          await promise
          clearTimeout(timer)
        },
        done() {
          group.delete(resolve)
          if (group.size === 0 && waiting.get(name) === group) waiting.delete(name)
        },
      }
    },
  }
}
