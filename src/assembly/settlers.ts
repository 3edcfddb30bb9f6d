import { httpFacilitator } from '../adapters/facilitator/http.ts'
import { BATCH_SETTLER } from '../pure/contracts/deployment.ts'
import type { Settings } from '../service/config.ts'
import { createSweeper } from '../service/invoices/deposits.ts'
import type { Sponsoring } from '../service/invoices/sponsored.ts'
import { limits } from '../service/limits.ts'
import { createFacilitatorSettler, type FacilitatedTerms } from '../service/payments/facilitated.ts'
import type { GasWatch } from '../service/payments/gas-watch.ts'
import type { EvidenceSource, FaultHook } from '../service/payments/settlement.ts'
import type { PaymentTerms } from '../service/payments/terms.ts'
import { createSelfSettler, type SelfSettler } from '../service/payments/wallet-writer.ts'
import type { WriterRules } from '../service/payments/writer-rules.ts'
import type { ChainBase, Deployment } from './deployment.ts'
import { channelCalls, type ChannelRoom } from './gas.ts'

interface SettlerHooks {
  reach: FaultHook
  rules: {
    writer?: Partial<WriterRules>
    /** Maximum wait for the settlement of a facilitator, in ms. */
    facilitator_ms?: number
  }
}

interface SettlerParts {
  sponsoring: Sponsoring
  base: ChainBase
  place: PaymentTerms
  source: EvidenceSource
  hasFactory: () => Promise<boolean>
  channels: ChannelRoom | null
  gas: GasWatch
}

/** Settler of the network of the deployment: its gas wallets, or facilitators where it has none. */
export function settlerOf(
  deployment: Deployment,
  hooks: SettlerHooks,
  { base: { chain, wallets }, place, source, hasFactory, channels, gas, sponsoring }: SettlerParts,
): SelfSettler {
  const { settings, store, lease_clock, log } = deployment
  const { reach, rules } = hooks
  if (wallets.length > 0) {
    const batch = BATCH_SETTLER
    return createSelfSettler({
      wallets,
      chain,
      sender: chain,
      store,
      token: place.token.address,
      assets: source.assets,
      finality: source.finality,
      batch,
      sweeps: createSweeper({ store, chain, token: source.token, hasFactory, clock: lease_clock, log, sponsoring }),
      ...channelCalls(deployment, { chain, room: channels, gas }, place, null),
      clock: lease_clock,
      log,
      reach,
      // The sandbox's gas costs nothing.
      rules: { ...(settings.ASSAY_MODE === 'live' && { daily_gas_wei: settings.ASSAY_GAS_DAILY_WEI }), ...rules.writer },
    })
  }
  return facilitated(deployment, hooks, place, source)
}

/** Settler that lets facilitators send the transfers. */
export function facilitated(
  { settings, store, clock, log }: Deployment,
  { rules }: SettlerHooks,
  place: PaymentTerms,
  source: EvidenceSource,
): SelfSettler {
  const facilitators = settings.ASSAY_FACILITATOR_URLS.map((url) =>
    httpFacilitator({ url, clock, ...(rules.facilitator_ms !== undefined && { settle_ms: rules.facilitator_ms }) }),
  )
  return {
    ...createFacilitatorSettler({ facilitators, source, store, terms: termsOf(place, settings), clock, log }),
    gas: () => [],
    start: () => undefined,
    stop: () => Promise.resolve(),
  }
}

function termsOf({ chain_id, token: { address, name, version } }: PaymentTerms, settings: Settings): FacilitatedTerms {
  return {
    chain_id,
    asset: address,
    name,
    version,
    max_timeout_s: limits.max_timeout_s,
    // The address that clients know; a path alone where the public origin is not set.
    resourceOf: ({ subject }) => `${settings.ASSAY_API_URL}/v1/tools/${subject}/call`,
  }
}
