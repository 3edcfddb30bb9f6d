import type { Chain } from '../ports/chain.ts'
import type { Prices } from '../ports/prices.ts'
import type { Signer } from '../ports/signer.ts'
import { BATCH_SETTLER } from '../pure/contracts/deployment.ts'
import { readDecimal } from '../pure/market/fraction.ts'
import { networkOf } from '../pure/networks.ts'
import type { ChannelHashes } from '../pure/payments/channels.ts'
import { claimCost } from '../pure/payments/gas-policy.ts'
import { type ChannelRules, createChannelCalls } from '../service/payments/channel-chain.ts'
import { gasNotCompared, type GasWatch, type GasWatchRules, NOT_COMPARED, watchGas } from '../service/payments/gas-watch.ts'
import { caip2, type PaymentTerms } from '../service/payments/terms.ts'
import type { Deployment, FurtherBase } from './deployment.ts'

/** Compares the gas of a network with prices where its own gas wallet pays with a coin that has a value. */
export function gasWatchOf(
  { settings, lease_clock: clock, log }: Deployment,
  { prices, rules }: { prices: Prices; rules: GasWatchRules | undefined },
  chain_id: number,
  base: Pick<FurtherBase, 'chain' | 'wallets'> | null,
): GasWatch {
  const network = caip2(chain_id)
  const known = networkOf(chain_id)
  if (settings.ASSAY_MODE !== 'live') return gasNotCompared(chain_id, network, NOT_COMPARED.sandbox)
  if (base === null || base.wallets.length === 0) return gasNotCompared(chain_id, network, NOT_COMPARED.facilitator)
  if (known?.is_testnet === true) return gasNotCompared(chain_id, network, NOT_COMPARED.testnet)
  const fixed_usd = readDecimal(settings.ASSAY_NATIVE_USD[known?.gas.coin ?? ''] ?? '')
  const { chain } = base
  return watchGas({ chain_id, network, chain, sender: chain, batch: BATCH_SETTLER, prices, fixed_usd, clock, log, rules })
}

/** Parts of payment channels. */
export interface ChannelRoom {
  chain_id: number
  rules: ChannelRules
  hashes: ChannelHashes
  authorizer: Signer
  terms: NonNullable<PaymentTerms['channels']>
}

/** Claims and refunds that the gas wallet of a network sends; nothing where it has no payment channels. */
export function channelCalls(
  { store, lease_clock: clock, log }: Deployment,
  { chain, room, gas }: { chain: Chain; room: ChannelRoom | null; gas: GasWatch },
  { pay_to, token }: PaymentTerms,
  asset: string | null,
) {
  if (room === null) return {}
  const costOf = (channels: number) => {
    const { prices } = gas.now()
    return prices === null ? null : claimCost(channels, prices)
  }
  const place = { chain, asset, pay_to, token: token.address.toLowerCase(), claimCost: costOf }
  return { channels: createChannelCalls({ ...room, ...place, store, clock, log }) }
}
