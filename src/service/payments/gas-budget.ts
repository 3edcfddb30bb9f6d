import type { ChainSender, FeesNow } from '../../ports/chain.ts'
import { BATCH_ITEMS_MAX, batchGas } from '../../pure/contracts/batch-settler.ts'
import type { WriterDeps } from './writer-rules.ts'

const DAY_MS = 86_400_000
/** How long a good and a bad finding are remembered. */
const GOOD_MS = 5_000
const BAD_MS = 2_000
/** Batches that the balance should pay for; below it an operator is told, while it goes on. */
const COMFORT_BATCHES = 20n
/** As long as the raw transaction of a full batch, and without zeros, which cost less. */
const FULL_BATCH_RAW = `0x${'ab'.repeat(15_000)}`

export type GasFinding = { ok: true } | { ok: false; detail: string; retry_after_s: number }

/** In wei. */
export interface GasSeen {
  balance_wei: bigint
  left_today_wei: bigint
  /** Below it an operator should act. */
  comfort_wei: bigint
  /** What one settlement costs at most, whether it moves anything or not. */
  item_wei: bigint
}

/** Whether a gas wallet can pay for the next batch, and may. */
export interface GasBudget {
  /** Never rejects; remembered for seconds. */
  check(): Promise<GasFinding>
  /** Whether the balance, as it was last seen, pays for one more batch beside what open transactions may cost: nodes refuse it otherwise. */
  covers(open_wei: bigint): boolean
  /** What the wallet held and may still spend today, as it was last seen; null before that. */
  seen(): GasSeen | null
  /** Books what a transaction cost: gas by its receipt, the data fee by its length. */
  book(execution_wei: bigint, raw_chars: number): Promise<void>
}

/** What a transaction may cost for a unit of gas: twice the base fee, so that it still fits after five full blocks in a row. */
export function feesFor({ base_fee_wei, priority_fee_wei }: FeesNow): { max_fee_wei: bigint; priority_fee_wei: bigint } {
  return { max_fee_wei: 2n * base_fee_wei + priority_fee_wei, priority_fee_wei }
}

export function createGasBudget(deps: Pick<WriterDeps, 'wallet' | 'sender' | 'store' | 'clock' | 'log' | 'rules'>): GasBudget {
  const { wallet, sender, clock, log, rules } = deps
  const { payments } = deps.store
  let found: GasFinding = { ok: true }
  let until_ms = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  let full_data_fee_wei = 0n
  let low = false
  let spare_wei = 0n
  let seen: GasSeen | null = null

  async function find(): Promise<GasFinding> {
    const now_ms = clock.now_ms()
    const [need, balance] = await Promise.all([needed(sender), sender.balance_wei(wallet.address)])
    full_data_fee_wei = need.data_fee_wei
    const batch_wei = need.data_fee_wei + batchGas(BATCH_ITEMS_MAX) * need.max_fee_wei
    spare_wei = balance - batch_wei
    const spent_wei = await payments.gas_spent(wallet.address, dayOf(now_ms))
    const left_today_wei = spent_wei < rules.daily_gas_wei ? rules.daily_gas_wei - spent_wei : 0n
    seen = { balance_wei: balance, left_today_wei, comfort_wei: COMFORT_BATCHES * batch_wei, item_wei: batch_wei / BigInt(BATCH_ITEMS_MAX) }
    if (balance < batch_wei) return bad('The gas wallet cannot pay for the next settlement.', 60)
    if (need.max_fee_wei > rules.max_fee_wei) return bad('Gas costs more than this service pays for it.', 30)
    if (spent_wei >= rules.daily_gas_wei) return bad('The gas budget of the day is used up.', 600)
    const was_low = low
    low = balance < COMFORT_BATCHES * batch_wei
    if (low && !was_low) log.warn({ wallet: wallet.address, balance_wei: balance.toString() }, 'the gas wallet runs low')
    return { ok: true }
  }

  async function look(): Promise<void> {
    const before = found
    found = await find().catch((): GasFinding => ({ ok: false, detail: 'The chain or the store does not answer.', retry_after_s: 5 }))
    until_ms = clock.steady_ms() + (found.ok ? GOOD_MS : BAD_MS)
    if (!found.ok && before.ok) log.error({ wallet: wallet.address, detail: found.detail }, 'the gas wallet cannot settle')
    if (found.ok && !before.ok) log.info({ wallet: wallet.address }, 'the gas wallet can settle again')
  }

  return {
    async check() {
      if (clock.steady_ms() >= until_ms) {
        looking ??= look().finally(() => {
          looking = null
        })
        await looking
      }
      return found
    },
    seen: () => seen,
    covers: (open_wei) => open_wei <= spare_wei,
    async book(execution_wei, raw_chars) {
      const data_fee_wei = (full_data_fee_wei * BigInt(raw_chars)) / BigInt(FULL_BATCH_RAW.length)
      await payments.spend_gas(wallet.address, dayOf(clock.now_ms()), execution_wei + data_fee_wei)
    },
  }
}

async function needed(sender: ChainSender): Promise<{ max_fee_wei: bigint; data_fee_wei: bigint }> {
  const [fees, data_fee_wei] = await Promise.all([sender.fees(), sender.data_fee_wei(FULL_BATCH_RAW)])
  return { max_fee_wei: feesFor(fees).max_fee_wei, data_fee_wei }
}

function bad(detail: string, retry_after_s: number): GasFinding {
  return { ok: false, detail, retry_after_s }
}

/** Days since 1970-01-01 UTC. */
function dayOf(now_ms: number): number {
  return Math.floor(now_ms / DAY_MS)
}
