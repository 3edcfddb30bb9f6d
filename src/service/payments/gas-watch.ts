import { type Fraction, readDecimal, toSignificant } from '../../pure/market/fraction.ts'
import { networkOf } from '../../pure/networks.ts'
import {
  type CoinPrice,
  type GasItem,
  type GasMinimums,
  type GasPrices,
  type GasStanding,
  type GasVerdict,
  gasCost,
  gasMinimums,
  gasVerdict,
  isPlausiblePrice,
  itemsWithin,
  nextStanding,
  NO_MINIMUMS,
  OFFERED,
  settlementItem,
} from '../../pure/payments/gas-policy.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import type { Chain, ChainSender } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Prices } from '../../ports/prices.ts'
import { GAS_WATCH_LIMITS, limits } from '../limits.ts'
import { MARKETS } from './price-book.ts'
import type { BatchContract } from './writer-rules.ts'

/** Price of the cheapest call: what the gas of a payment is compared with. */
export const CHEAPEST_CALL_MINOR = Object.values(MARKETS).reduce(
  (least: bigint, { floor_minor }) => (floor_minor < least ? floor_minor : least),
  MARKETS.check.floor_minor,
)

/** Gas of one network against the price of a call, as last checked. */
export interface GasView {
  /** CAIP-2. */
  network: string
  /** `unread`: the chain has not answered yet. `off`: gas is not compared, for the reason in `detail`. */
  state: GasVerdict | 'unread' | 'off'
  /** False: the network is not among the terms because of gas. */
  offered: boolean
  detail: string
  /** Cost of the gas of one payment, and the price of the cheapest call, in minor units of USDC. */
  cost_minor: bigint | null
  price_minor: bigint
  /** Since when the state has been this one, in milliseconds since 1970; null before the first check. */
  since_ms: number | null
  prices: GasPrices | null
  /** Coin that pays for gas. */
  coin: string
  minimums: GasMinimums
}

/** Compares the gas of a network with prices in the background; nothing of it is read within a call. */
export interface GasWatch {
  now(): GasView
  /** Smallest deposit into a channel that the terms of the last two minutes have named, in minor units. */
  leastDeposit(): bigint
  /** False for payments under terms that have not been offered for longer than they can be paid. */
  takesPayments(): boolean
  /** Number of an item that a budget in wei pays for now, at most `most`; `most` before the first check. */
  itemsWithin(budget_wei: bigint, item: GasItem, most: number): number
  start(): void
  stop(): void
}

interface GasWatchParts {
  chain_id: number
  network: string
  chain: Pick<Chain, 'read'>
  sender: Pick<ChainSender, 'fees' | 'data_fee_wei'>
  batch: Pick<BatchContract, 'address'> | null
  prices: Pick<Prices, 'spot'>
  /** Price of the coin that the operator has set; null to ask the sources. */
  fixed_usd: Fraction | null
  clock: Clock & SteadyClock
  log: Log
  rules?: GasWatchRules | undefined
}

/** Overrides of the interval of checks, and of the minute for which a verdict lasts before it counts. */
export interface GasWatchRules {
  every_ms?: number
  minute_ms?: number
}

/** Raw transaction of a thousand bytes, without zero bytes: the data fee of a byte is a thousandth of its. */
const SAMPLE_BYTES = 1_000n
const SAMPLE_RAW = `0x${'ab'.repeat(Number(SAMPLE_BYTES))}`
/** Terms can be paid for two minutes; another minute covers instances that check at other times. */
const PAYABLE_MS = limits.max_timeout_s * 1_000 + 60_000

/** Returns the view of a network whose gas is not compared with prices. */
export function gasNotCompared(chain_id: number, network: string, detail: string): GasWatch {
  const view: GasView = {
    network,
    state: 'off',
    offered: true,
    detail,
    cost_minor: null,
    price_minor: CHEAPEST_CALL_MINOR,
    since_ms: null,
    prices: null,
    coin: networkOf(chain_id)?.gas.coin ?? 'ETH',
    minimums: NO_MINIMUMS,
  }
  return {
    now: () => view,
    leastDeposit: () => 0n,
    takesPayments: () => true,
    itemsWithin: (_budget, _item, most) => most,
    start: () => undefined,
    stop: () => undefined,
  }
}

/** Checks gas every ten seconds and the price of the coin every minute. A check that fails changes no verdict. */
export function watchGas(parts: GasWatchParts): GasWatch {
  const { clock, log, network, rules } = parts
  const readPrices = createPricesReader(parts)
  let standing: GasStanding = OFFERED
  let view = firstView(parts)
  let withdrawn_ms: number | null = null
  let least: { minor: bigint; offered_ms: number }[] = []
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const take = (found: GasPrices | null, item: GasItem): void => {
    const steady_ms = clock.steady_ms()
    const cost_minor = found === null ? null : gasCost(item, found)
    const verdict = found === null || cost_minor === null ? null : gasVerdict(cost_minor, CHEAPEST_CALL_MINOR, found.coin)
    const before = standing
    standing = nextStanding(before, verdict, steady_ms, rules?.minute_ms)
    if (before.offered && !standing.offered) withdrawn_ms = steady_ms
    if (standing.offered) withdrawn_ms = null
    if (found !== null && cost_minor !== null && verdict !== null)
      view = nextView(view, { verdict, cost_minor, found, standing }, clock.now_ms())
    least = [
      ...least.filter(({ offered_ms }) => steady_ms - offered_ms < PAYABLE_MS),
      { minor: view.minimums.channel_deposit_minor, offered_ms: steady_ms },
    ]
    if (before.offered !== standing.offered) {
      if (standing.offered)
        log.info({ network, detail: view.detail }, 'gas costs less than a call again: payments are taken on this network')
      else log.error({ network, detail: view.detail }, 'gas costs more than a call: no payments are taken on this network')
    }
  }
  const loop = async (): Promise<void> => {
    const { prices, item } = await readPrices()
    if (stopped) return
    take(prices, item)
    timer = setTimeout(() => void loop(), rules?.every_ms ?? GAS_WATCH_LIMITS.check_ms)
    timer.unref()
  }
  return {
    now: () => view,
    leastDeposit: () => least.reduce((smallest, { minor }) => (minor < smallest ? minor : smallest), view.minimums.channel_deposit_minor),
    takesPayments: () => withdrawn_ms === null || clock.steady_ms() - withdrawn_ms < PAYABLE_MS,
    itemsWithin: (budget_wei, item, most) => (view.prices === null ? most : itemsWithin(budget_wei, item, view.prices, most)),
    start: () => void loop(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

interface Judged {
  verdict: GasVerdict
  cost_minor: bigint
  found: GasPrices
  standing: GasStanding
}

function firstView({ chain_id, network }: GasWatchParts): GasView {
  return { ...gasNotCompared(chain_id, network, 'The chain was not asked for the price of gas yet.').now(), state: 'unread' }
}

function nextView(before: GasView, { verdict, cost_minor, found, standing }: Judged, now_ms: number): GasView {
  const since_ms = before.state === verdict && before.since_ms !== null ? before.since_ms : now_ms
  const { offered } = standing
  const next = { ...before, state: verdict, offered, cost_minor, since_ms, prices: found, minimums: gasMinimums(found) }
  return { ...next, detail: detailOf(next, cost_minor, since_ms) }
}

function detailOf({ coin, prices, price_minor, state, network, offered }: GasView, cost_minor: bigint, since_ms: number): string {
  const name = networkOf(Number(network.slice(network.indexOf(':') + 1)))?.name ?? network
  const [cost, price] = [cost_minor, price_minor].map(usdcDecimal)
  const since = new Date(since_ms).toISOString().replace(/\.\d+Z$/, 'Z')
  const relation = cost_minor > price_minor ? 'above' : 'not above'
  const figures = `Gas for one payment on ${name} costs ${cost} USDC, ${relation} the price of ${price} USDC, since ${since} (${rateWords(coin, prices)}).`
  if (state === 'unknown') return `The price of ${coin} is not known, so gas is not compared with prices. ${figures}`
  if (state === 'above') return offered ? `${figures} The network leaves the terms when that lasts for a minute.` : figures
  return offered ? figures : `${figures} The network returns to the terms when that lasts for a minute.`
}

function rateWords(coin: string, prices: GasPrices | null): string {
  if (prices === null) return ''
  const gwei = toSignificant({ numerator: prices.gas_wei, denominator: 1_000_000_000n }, 4)
  return `${gwei} gwei, 1 ${coin} = ${toSignificant(prices.coin.usd, 6)} USD, ${ORIGIN_WORDS[prices.coin.origin]}`
}

const ORIGIN_WORDS: Readonly<Record<CoinPrice['origin'], string>> = {
  price_source: 'of public price sources',
  earlier: 'of public price sources, which are silent now',
  setting: 'of ASSAY_NATIVE_USD',
  lowest: 'assumed, far below every price of the last years',
}

/** Reads what gas costs; null when the chain does not answer. The contract of batches stays once it is there. */
function createPricesReader(parts: GasWatchParts): () => Promise<{ prices: GasPrices | null; item: GasItem }> {
  const { chain, sender, batch } = parts
  const coinPrice = createCoinPrice(parts)
  let has_batches = false
  const findBatch = async () => {
    if (has_batches || batch === null) return
    const [code] = await chain.read([{ kind: 'code', address: batch.address }])
    has_batches = code?.ok === true && code.data !== '0x'
  }
  return async () => {
    try {
      const [fees, data_fee_wei, coin] = await Promise.all([sender.fees(), sender.data_fee_wei(SAMPLE_RAW), coinPrice(), findBatch()])
      const gas_wei = fees.base_fee_wei + fees.priority_fee_wei
      return { prices: { gas_wei, byte_wei: data_fee_wei / SAMPLE_BYTES, coin }, item: settlementItem(has_batches) }
    } catch {
      return { prices: null, item: settlementItem(has_batches) }
    }
  }
}

/** Price of the coin: that of the setting, of the sources, of the sources within the last day, or the lowest that is assumed. */
function createCoinPrice({ chain_id, prices, fixed_usd, clock }: GasWatchParts): () => Promise<CoinPrice> {
  const gas = networkOf(chain_id)?.gas
  let last: { usd: Fraction; read_ms: number } | null = null
  let tried_ms = Number.NEGATIVE_INFINITY
  return async () => {
    if (fixed_usd !== null) return { usd: fixed_usd, origin: 'setting' }
    const steady_ms = clock.steady_ms()
    if (gas !== undefined && steady_ms - tried_ms >= GAS_WATCH_LIMITS.coin_ms) {
      tried_ms = steady_ms
      const spot = await prices.spot(gas.coin_asset_id).catch(() => null)
      const usd = spot?.kind === 'priced' ? readDecimal(spot.price_usd) : null
      if (usd !== null && isPlausiblePrice(usd)) last = { usd, read_ms: steady_ms }
    }
    const age_ms = last === null ? Number.POSITIVE_INFINITY : steady_ms - last.read_ms
    if (last !== null && age_ms < GAS_WATCH_LIMITS.coin_kept_ms)
      return { usd: last.usd, origin: age_ms < GAS_WATCH_LIMITS.coin_fresh_ms ? 'price_source' : 'earlier' }
    return { usd: gas?.lowest_usd ?? { numerator: 1n, denominator: 100n }, origin: 'lowest' }
  }
}

/** Payments of the test networks, and those that a facilitator settles, cost the operator nothing. */
export const NOT_COMPARED = {
  sandbox: 'The gas of the sandbox costs nothing, so it is not compared with prices.',
  testnet: 'The coin of a test network has no value, so gas is not compared with prices.',
  facilitator: 'A facilitator pays the gas, so it is not compared with prices.',
} as const
