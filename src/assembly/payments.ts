import { createHmac, createSecretKey } from 'node:crypto'
import { createNonceSource } from '../adapters/random/system.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { Chain, ChainTransactions } from '../ports/chain.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import type { Prices } from '../ports/prices.ts'
import type { StoreIdentity } from '../ports/store.ts'
import { BATCH_SETTLER } from '../pure/contracts/deployment.ts'
import { createChannelHashes } from '../pure/payments/channels.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { assetId, networkOf } from '../pure/networks.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import type { Payments } from '../service/calls/payment-gate.ts'
import { reconcileJob, type ReconcileRules, type ReconcileSummary } from '../service/payments/reconcile.ts'
import type { Job } from '../service/jobs/jobs.ts'
import { CHANNEL_RULES } from '../service/limits.ts'
import { networkHasher } from '../service/clients.ts'
import { type ChannelRules, channelsJob } from '../service/payments/channel-chain.ts'
import { createChannelRefunds, type RefundParts } from '../service/payments/channel-refunds.ts'
import { createChannelService } from '../service/payments/channel-service.ts'
import type { PaymentServiceParts } from '../service/payments/payment-parts.ts'
import { createInFlightClaims, createPaymentService } from '../service/payments/payment-service.ts'
import type { EvidenceSource, FaultHook, Settler } from '../service/payments/settlement.ts'
import { createMismatches, createSignIn } from '../service/payments/resends.ts'
import { createRoundTrips, ON_CHAIN_LIMITS, createPayerBalances, createPayerStatus } from '../service/payments/reserved-balances.ts'
import { createOnChainCheck } from '../service/payments/on-chain.ts'
import { createUsedAuthorizations } from '../service/payments/used-authorizations.ts'
import { createSelfSettler, type SelfSettler } from '../service/payments/wallet-writer.ts'
import { createFactoryCheck } from '../service/invoices/deposits.ts'
import { createSponsoring, type Sponsoring } from '../service/invoices/sponsored.ts'
import { caip2, type PaymentTerms } from '../service/payments/terms.ts'
import type { GasView, GasWatch, GasWatchRules } from '../service/payments/gas-watch.ts'
import { channelCalls, type ChannelRoom, gasWatchOf } from './gas.ts'
import { facilitated, settlerOf } from './settlers.ts'
import { type EuroRates, watchEuroRate } from '../service/payments/euro-rate.ts'
import { type NetworkDesk, type NetworkState, routePayments, watchNetworks } from '../service/payments/network-desks.ts'
import { faucetWords } from '../service/sandbox/faucet-text.ts'
import { WRITER_RULES, type WriterRules } from '../service/payments/writer-rules.ts'
import type { PaymentHealth, SandboxInfo } from '../surfaces/deps.ts'
import type { ChainBase, Deployment, FurtherBase } from './deployment.ts'

/** Everything about payment that is assembled at start and taken down at the end. */
export interface PaymentParts {
  /** Null where nothing can settle. */
  payments: Payments | null
  /** Parts with which invoices are paid and watched; null where nothing can settle. */
  settling: {
    desk: PaymentServiceParts
    source: EvidenceSource
    transactions: ChainTransactions
    hasFactory(): Promise<boolean>
    sponsoring: Sponsoring
  } | null
  terms: PaymentTerms
  chain: Chain | null
  sandbox: SandboxInfo | null
  jobs: Job[]
  health(): Promise<PaymentHealth>
  /** State of each network; empty where there is only that of the deployment. */
  networks(): readonly NetworkState[]
  /** Gas against prices on each network. */
  gas_prices(): readonly GasView[]
  /** Last known balances of the gas wallets; empty where there are none. */
  gas(): ReturnType<SelfSettler['gas']>
  /** Settles what is still open as far as it goes, then lets go of the chain. */
  stop(): Promise<void>
}

/** Overrides of times and bounds. */
export interface PaymentRules {
  writer?: Partial<WriterRules>
  reconcile?: Partial<ReconcileRules>
  reconcile_every_ms?: number
  /** Timeout of a settlement request to a facilitator. */
  facilitator_ms?: number
  channels?: Partial<ChannelRules>
  /** Interval at which the rate of EURC is read. */
  euro_every_ms?: number
  gas?: GasWatchRules
}

/** Hooks for tests. */
export interface PaymentHooks {
  /** Called at each step between which the process may crash. */
  reach: FaultHook
  rules: PaymentRules
  /** Prices of EURC and of the coins that pay for gas; left out, those of the mode. */
  prices?: Prices | undefined
}

/** The token, the recipient and the network of all payments. */
export function paymentTermsOf({ pay_to, chain_id }: StoreIdentity): PaymentTerms {
  const { address, name, version, network } = usdcOn(chain_id)
  return { pay_to, token: { address, name, version }, chain_id, network }
}

const NO_PAYMENTS: PaymentHealth = { enabled: false, method: null, chain_ok: false, ready: false, overdue: null }
/** Placeholder payer for the readiness check, which is not about a particular payer. */
const ANYBODY = '0x0000000000000000000000000000000000000001'

/** Parts of a deployment where nothing can settle. */
function noPayments(terms: PaymentTerms): PaymentParts {
  return {
    payments: null,
    settling: null,
    terms,
    chain: null,
    sandbox: null,
    jobs: [],
    health: () => Promise.resolve(NO_PAYMENTS),
    networks: () => [],
    gas_prices: () => [],
    gas: () => [],
    stop: () => Promise.resolve(),
  }
}

/** Verification, settlement and reconciliation over one chain. */
export async function openPayments(deployment: Deployment, given: PaymentHooks): Promise<PaymentParts> {
  const { base, store, prices, log, clock, settings } = deployment
  const { rules } = given
  const hooks = { ...given, prices: given.prices ?? choosePrices(settings.ASSAY_MODE, deployment.lease_clock) }
  const common = paymentTermsOf(deployment.identity)
  const gas = gasWatchOf(deployment, { ...hooks, rules: rules.gas }, common.chain_id, base)
  const channels = base === null ? null : channelParts(deployment, hooks, base, common, gas)
  const place: PaymentTerms = channels === null ? common : { ...common, channels: channels.terms }
  if (base === null) return noPayments(place)
  const { chain } = base
  const rates = euroRates(deployment, hooks)
  // A chain that mines a block only when a payment arrives never marks a block as final.
  const source: EvidenceSource = {
    chain,
    token: place.token.address.toLowerCase(),
    assets: [null, ...euroAssets(place.chain_id, rates)],
    finality: base.sandbox === null ? { by: 'tag' } : { by: 'depth', blocks: 2n },
  }
  const hasFactory = createFactoryCheck(chain, deployment.lease_clock)
  const daily_gas_wei = settings.ASSAY_GAS_DAILY_WEI
  const sponsoring = createSponsoring({ gas, daily_gas_wei, store, clock })
  const settler = settlerOf(deployment, hooks, { sponsoring, base, place, source, hasFactory, channels, gas })
  const desk_parts = deskPartsOf(deployment, hooks, base, place, settler)
  const own = deskOf(deployment, desk_parts, { terms: place, asset: null, chain, settler, gas }, channels)
  const further = openFurther(deployment, hooks, base, desk_parts, rates)
  const euro = euroDesks(deployment, hooks, { desk: own.desk, settler, source, base, parts: desk_parts, rates })
  const desks = [own.desk, ...further.map((one) => one.desk), ...euro, ...further.flatMap((one) => one.euro)] as const
  const [refunds, ...more_refunds] = [own, ...further].map((one) => one.refunds).filter((one) => one !== null)
  const gas_watches = [gas, ...further.map((one) => one.desk.gas)]
  // One network whose gas is not compared is offered always.
  const watch = desks.length === 1 && gas.now().state === 'off' ? null : watchNetworks({ desks, crypto: deployment.signing.crypto, log })
  if (watch !== null) place.networks = watch
  for (const one of [settler, ...further.map((other) => other.settler), ...gas_watches, watch]) one?.start()
  const last: { summary: ReconcileSummary | null } = { summary: null }
  const reconciler = reconcileJob({ store, source, clock, log, rules: rules.reconcile ?? {} }, (summary) => (last.summary = summary))
  return {
    payments: {
      service: watch === null ? own.desk.service : routePayments(desks),
      prices,
      terms: place,
      refunds: refunds === undefined ? null : createChannelRefunds([refunds, ...more_refunds]),
      ...(base.sandbox === null ? {} : { testMoney: () => faucetWords(deployment.origins.api_url) }),
    },
    settling: { desk: desk_parts, source, transactions: chain, hasFactory, sponsoring },
    terms: place,
    chain,
    sandbox: base.sandbox,
    jobs: [{ ...reconciler, every_ms: rules.reconcile_every_ms ?? reconciler.every_ms }, ...[own, ...further].flatMap((one) => one.jobs)],
    health: async () => {
      const [chain_ok, ready] = await Promise.all([chain.answers(), settler.ready(ANYBODY).catch(() => null)])
      const is_ready = ready?.ok === true && gas.now().offered
      return { enabled: true, method: settler.method, chain_ok, ready: is_ready, overdue: last.summary?.overdue ?? null }
    },
    networks: () => (desks.length === 1 ? [] : (watch?.states() ?? [])),
    gas_prices: () => gas_watches.map((one) => one.now()),
    gas: () => [settler, ...further.map((one) => one.settler)].flatMap((one) => one.gas()),
    stop: async () => {
      for (const one of [watch, ...gas_watches]) one?.stop()
      await Promise.all([settler, ...further.map((one) => one.settler)].map((one) => one.stop()))
      await base.stop()
    },
  }
}

/** Hooks with prices. */
type PricedHooks = PaymentHooks & { prices: Prices }

/** Rate of EURC; null where it is not offered. */
function euroRates({ settings, clock, log }: Deployment, { prices, rules }: PricedHooks): EuroRates | null {
  if (!settings.ASSAY_ASSETS.includes('eurc')) return null
  return watchEuroRate({ prices, clock, log, every_ms: rules.euro_every_ms })
}

/** EURC on a network, as payments name it; none where it is not offered. */
function euroAssets(chain_id: number, rates: EuroRates | null): string[] {
  const eurc = rates && networkOf(chain_id)?.eurc
  return eurc ? [assetId(chain_id, eurc.address)] : []
}

interface EuroParts {
  /** Desk of USDC on the network. */
  desk: NetworkDesk
  settler: SelfSettler
  source: EvidenceSource
  base: Pick<FurtherBase, 'chain' | 'wallets'>
  parts: PaymentServiceParts
  rates: EuroRates | null
  /** Of a further network. */
  name?: string
}

/** Verification of EURC on a network. The settler and the reconciler of the network take it along; facilitators get its own terms. */
function euroDesks(
  deployment: Deployment,
  hooks: PaymentHooks,
  { desk, settler: of_usdc, source, base, parts: first, rates, name }: EuroParts,
): NetworkDesk[] {
  const { chain_id, network, pay_to } = desk.terms
  const token = networkOf(chain_id)?.eurc ?? null
  if (rates === null || token === null) return []
  const asset = assetId(chain_id, token.address)
  const terms: PaymentTerms = { pay_to, token, chain_id, network }
  const settler = base.wallets.length > 0 ? of_usdc : facilitated(deployment, hooks, terms, { ...source, assets: [asset] })
  const parts = { ...first, asset, ...tokenParts(deployment, base, terms, settler, asset, name) }
  return [{ terms, asset, service: createPaymentService(parts), chain: desk.chain, settler, rates, gas: desk.gas }]
}

interface OpenDesk {
  desk: NetworkDesk
  /** Null where no payment channels are offered. */
  refunds: RefundParts | null
  jobs: Job[]
}

/** Payment service of one token on one network, with its payment channels where there are any. */
function deskOf(
  deployment: Deployment,
  parts: PaymentServiceParts,
  given: Omit<NetworkDesk, 'service' | 'chain' | 'settler'> & { chain: Chain; settler: SelfSettler },
  room: ChannelRoom | null,
): OpenDesk {
  const { terms, asset, chain, settler } = given
  if (room === null) return { desk: { ...given, service: createPaymentService(parts) }, refunds: null, jobs: [] }
  const vouchers = channelService(deployment, chain, room, parts, given.gas)
  const network = asset === null ? null : caip2(terms.chain_id)
  const { store, lease_clock: clock } = deployment
  return {
    desk: { ...given, service: createPaymentService({ ...parts, channels: vouchers }) },
    refunds: { channels: vouchers.parts, chain, terms, wake: () => settler.wake?.() },
    jobs: [channelsJob({ store, chain, clock, asset, network, rules: room.rules })],
  }
}

interface FurtherParts extends OpenDesk {
  /** EURC on this network. */
  euro: NetworkDesk[]
  settler: SelfSettler
}

/** Verification, settlement and reconciliation on each further network, with nothing in common but the store and the client's limits. */
function openFurther(
  deployment: Deployment,
  hooks: PricedHooks,
  base: ChainBase,
  first: PaymentServiceParts,
  rates: EuroRates | null,
): FurtherParts[] {
  const { store, clock, log, identity } = deployment
  return base.further.map(({ network, chain, wallets }) => {
    const { chain_id, confirmations, gas_daily_wei: daily_gas_wei } = network
    const common = paymentTermsOf({ ...identity, chain_id })
    const gas = gasWatchOf(deployment, { ...hooks, rules: hooks.rules.gas }, chain_id, { chain, wallets })
    const channels = channelParts(deployment, hooks, { wallets }, common, gas)
    const terms: PaymentTerms = channels === null ? common : { ...common, channels: channels.terms }
    const token = terms.token.address.toLowerCase()
    const asset = assetId(chain_id, token)
    const name = caip2(chain_id)
    const finality: EvidenceSource['finality'] = confirmations === null ? { by: 'tag' } : { by: 'depth', blocks: BigInt(confirmations) }
    const assets = [asset, ...euroAssets(chain_id, rates)]
    const source: EvidenceSource = { chain, token, assets, finality }
    const max_fee_wei = networkOf(chain_id)?.gas.max_fee_wei ?? WRITER_RULES.max_fee_wei
    const settler =
      wallets.length === 0
        ? facilitated(deployment, hooks, terms, source)
        : createSelfSettler({
            wallets,
            chain,
            sender: chain,
            store,
            token,
            assets,
            finality,
            batch: BATCH_SETTLER,
            ...channelCalls(deployment, { chain, room: channels, gas }, terms, asset),
            clock: deployment.lease_clock,
            log,
            reach: hooks.reach,
            rules: { daily_gas_wei, max_fee_wei, ...hooks.rules.writer },
          })
    const parts = { ...first, asset, ...tokenParts(deployment, { chain, wallets }, terms, settler, asset, name) }
    const reconciler = reconcileJob({ store, source, clock, log, rules: hooks.rules.reconcile ?? {} }, () => undefined)
    const every_ms = hooks.rules.reconcile_every_ms ?? reconciler.every_ms
    const opened = deskOf(deployment, parts, { terms, asset, chain, settler, gas }, channels)
    const euro_parts = { desk: opened.desk, settler, source, base: { chain, wallets }, parts: first, rates, name }
    return {
      ...opened,
      euro: euroDesks(deployment, hooks, euro_parts),
      settler,
      jobs: [{ ...reconciler, name: `${reconciler.name}:${name}`, every_ms }, ...opened.jobs],
    }
  })
}

/** Parts of payments that belong to one token on one network. */
function tokenParts(
  { signing, secret, store, clock, failures, receipt_signer }: Deployment,
  { chain, wallets }: Pick<FurtherBase, 'chain' | 'wallets'>,
  { token, chain_id }: PaymentTerms,
  settler: Settler,
  asset: string | null,
  network?: string,
) {
  const { name, version, address: verifying_contract } = token
  const digest = createAuthorizationDigest({ name, version, chain_id, verifying_contract }, signing.crypto.keccak256)
  const [settle_from] = wallets
  const trips = createRoundTrips(clock, ON_CHAIN_LIMITS)
  return {
    digest,
    onChain: createOnChainCheck({
      chain,
      token,
      clock,
      limits: ON_CHAIN_LIMITS,
      digest,
      trips,
      failures,
      ...(settle_from === undefined ? {} : { settle_from: settle_from.address }),
    }),
    uses: createUsedAuthorizations({
      chain,
      token: token.address.toLowerCase(),
      asset,
      trips,
      clock,
      store,
      networkHash: networkHasher(secret),
      signing_address: receipt_signer.address,
      crypto: signing.crypto,
    }),
    payerBalances: createPayerBalances(chain, token.address, trips),
    settler,
    payerStatus: createPayerStatus({
      store: store.payments,
      clock,
      sealer: createSealer(secret),
      settler,
      ...(network === undefined ? {} : { network }),
    }),
  }
}

/** Null where payment channels are not offered, or no gas wallet could claim them. */
function channelParts(
  { settings, secret, signing }: Deployment,
  { rules }: PaymentHooks,
  { wallets }: Pick<ChainBase, 'wallets'>,
  { chain_id }: PaymentTerms,
  gas: GasWatch,
): ChannelRoom | null {
  if (settings.ASSAY_BATCH_SETTLEMENT !== 'on' || wallets.length === 0) return null
  // Derived from the secret of the deployment, so that it survives the loss of the store and is the same in every instance.
  const key = createHmac('sha256', createSecretKey(secret)).update('payment channel authorizer').digest()
  const authorizer = signing.signer(key)
  const channel_rules: ChannelRules = { ...CHANNEL_RULES, ...rules.channels }
  const { withdraw_delay_s, deposit_prices } = channel_rules
  return {
    chain_id,
    rules: channel_rules,
    hashes: createChannelHashes(chain_id, signing.crypto),
    authorizer,
    terms: {
      receiver_authorizer: authorizer.address,
      withdraw_delay_s,
      deposit_prices,
      least_deposit_minor: () => gas.now().minimums.channel_deposit_minor,
    },
  }
}

function channelService(
  { store, lease_clock, secret, signing, failures }: Deployment,
  chain: Chain,
  { chain_id, rules, hashes, authorizer }: ChannelRoom,
  payments: PaymentServiceParts,
  gas: GasWatch,
) {
  return createChannelService({
    payments,
    gas,
    store,
    chain,
    chain_id,
    steady_ms: () => lease_clock.steady_ms(),
    rules,
    hashes,
    receiver_authorizer: authorizer.address,
    crypto: signing.crypto,
    failures,
    trips: createRoundTrips(lease_clock, ON_CHAIN_LIMITS),
    networkHash: networkHasher(secret),
  })
}

/** Parts shared by the payment service of calls and the relay of invoices. */
function deskPartsOf(
  deployment: Deployment,
  { reach }: PaymentHooks,
  base: ChainBase,
  place: PaymentTerms,
  settler: Settler,
): PaymentServiceParts {
  const { signing, secret, store, clock, log, origins } = deployment
  const sealer = createSealer(secret)
  return {
    ...tokenParts(deployment, base, place, settler, null),
    asset: null,
    store: store.payments,
    inFlightClaims: createInFlightClaims(store.payments, clock),
    sealer,
    clock,
    chain_id: place.chain_id,
    crypto: signing.crypto,
    mismatches: createMismatches(store, clock, secret),
    signIn: createSignIn({
      store,
      clock,
      sealer,
      crypto: signing.crypto,
      chain_id: place.chain_id,
      api_url: () => origins.api_url,
      randomNonce: createNonceSource(),
    }),
    onFault: (error) => log.error({ error: String(error) }, 'a payment met a fault'),
    reach,
  }
}
