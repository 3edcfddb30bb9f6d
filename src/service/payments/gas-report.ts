import { toSignificant } from '../../pure/market/fraction.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import type { Gauge } from '../../ports/telemetry.ts'
import type { GasView } from './gas-watch.ts'

/** Gas of a network against prices, as `/health` shows it. */
export function publicGas(view: GasView) {
  const { network, state, offered, detail, cost_minor, price_minor, since_ms, prices, coin, minimums } = view
  return {
    network,
    state,
    offered,
    detail,
    payment_gas_usdc: cost_minor === null ? null : usdcDecimal(cost_minor),
    price_usdc: usdcDecimal(price_minor),
    since: since_ms === null ? null : new Date(since_ms).toISOString(),
    coin,
    coin_usd: prices === null ? null : toSignificant(prices.coin.usd, 8),
    coin_price_origin: prices?.coin.origin ?? null,
    least_channel_deposit_usdc: usdcDecimal(minimums.channel_deposit_minor),
  }
}

/** Metrics of gas against prices. Where gas is not compared it costs the operator nothing. */
export function gasPriceGauges(views: () => readonly GasView[]): Gauge[] {
  const rows = (valueOf: (view: GasView) => number | null) => () =>
    views().flatMap((view) => {
      const value = valueOf(view)
      return value === null ? [] : [{ labels: { network: view.network }, value }]
    })
  const gauge = (name: string, help: string, valueOf: (view: GasView) => number | null): Gauge => {
    return { name, help, kind: 'gauge', read: rows(valueOf) }
  }
  return [
    gauge(
      'assay_network_gas_offered',
      '1 while gas leaves the network among the terms, 0 while it costs more than a call.',
      ({ offered }) => Number(offered),
    ),
    gauge('assay_payment_gas_usdc', 'Cost of the gas of one payment in USDC at the last check; 0 where it is not compared.', (view) =>
      view.state === 'off' ? 0 : usdc(view.cost_minor),
    ),
    gauge('assay_payment_price_usdc', 'Price of the cheapest call, which that cost is compared with, in USDC.', ({ price_minor }) =>
      usdc(price_minor),
    ),
    gauge('assay_coin_price_known', '0 while no price of the coin that pays for gas is known, 1 otherwise.', ({ prices }) =>
      prices?.coin.origin === 'lowest' ? 0 : 1,
    ),
  ]
}

function usdc(amount_minor: bigint | null): number | null {
  const text = amount_minor === null ? null : usdcDecimal(amount_minor)
  return text === null ? null : Number(text)
}
