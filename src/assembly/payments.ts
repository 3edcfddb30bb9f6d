import { httpFacilitator } from '../adapters/facilitator/http.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { Chain, ChainTransactions } from '../ports/chain.ts'
import type { StoreIdentity } from '../ports/store.ts'
import { BATCH_SETTLER } from '../pure/contracts/batch-settler.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import type { Payments } from '../service/calls/paid.ts'
import type { Settings } from '../service/config.ts'
import { reconcileJob } from '../service/jobs/reconcile.ts'
import type { Job } from '../service/jobs/run.ts'
import { limits } from '../service/limits.ts'
import { createClosings, createPaymentDesk, type DeskParts } from '../service/payments/desk.ts'
import type { EvidenceSource } from '../service/payments/evidence.ts'
import { createFacilitatorSettler, type FacilitatedTerms } from '../service/payments/facilitated.ts'
import { createMismatches } from '../service/payments/mismatches.ts'
import { createRoundTrips, ON_CHAIN_LIMITS } from '../service/payments/on-chain-bounds.ts'
import { createOnChainCheck } from '../service/payments/on-chain.ts'
import type { ReconcileRules, ReconcileSummary } from '../service/payments/reconcile.ts'
import { createHoldings } from '../service/payments/reserve.ts'
import { createSelfSettler, type SelfSettler } from '../service/payments/self-settler.ts'
import type { Reach, Settler } from '../service/payments/settler.ts'
import { createSignIn } from '../service/payments/sign-in.ts'
import { createStanding } from '../service/payments/standing.ts'
import type { PaymentPlace } from '../service/payments/terms.ts'
import type { WriterRules } from '../service/payments/writer-rules.ts'
import type { PaymentHealth, SandboxShown } from '../surfaces/deps.ts'
import type { ChainBase, Deployment } from './deployment.ts'

/** Everything about payment that is assembled at start and taken down at the end. */
export interface PaymentRoom {
  /** Null where nothing can settle. */
  payments: Payments | null
  /** What invoices need to be paid and watched; null where nothing can settle. */
  settling: { desk: DeskParts; source: EvidenceSource; transactions: ChainTransactions } | null
  place: PaymentPlace
  chain: Chain | null
  sandbox: SandboxShown | null
  jobs: Job[]
  health(): Promise<PaymentHealth>
  /** What the gas wallets were last seen to hold; empty where there are none. */
  gas(): ReturnType<SelfSettler['gas']>
  /** Settles what is still open as far as it goes, then lets go of the chain. */
  stop(): Promise<void>
}

/** What differs from the times and bounds of the service. */
export interface PaymentRules {
  writer?: Partial<WriterRules>
  reconcile?: Partial<ReconcileRules>
  reconcile_every_ms?: number
  /** How long a facilitator may take for its answer. */
  facilitator_ms?: number
}

/** What a test may change. */
export interface PaymentHooks {
  /** Told at the steps between which a process may die. */
  reach: Reach
  rules: PaymentRules
}

/** The token, the recipient and the network of all payments. */
export function placeOf({ pay_to, chain_id }: StoreIdentity): PaymentPlace {
  const { address, name, version, network } = usdcOn(chain_id)
  return { pay_to, token: { address, name, version }, chain_id, network }
}

const NO_PAYMENTS: PaymentHealth = { enabled: false, method: null, chain_ok: false, ready: false, overdue: null }
/** Stands for whoever may come. */
const ANYBODY = '0x0000000000000000000000000000000000000001'

/** Verification, settlement and reconciliation over one chain. */
export async function openPaymentRoom(deployment: Deployment, hooks: PaymentHooks): Promise<PaymentRoom> {
  const { base, store, prices, log, clock } = deployment
  const { rules } = hooks
  const place = placeOf(deployment.identity)
  if (base === null) {
    return {
      payments: null,
      settling: null,
      place,
      chain: null,
      sandbox: null,
      jobs: [],
      health: () => Promise.resolve(NO_PAYMENTS),
      gas: () => [],
      stop: () => Promise.resolve(),
    }
  }
  const { chain } = base
  // A chain that mines only when somebody pays never comes to call a block final.
  const source: EvidenceSource = {
    chain,
    token: place.token.address.toLowerCase(),
    finality: base.sandbox === null ? { by: 'tag' } : { by: 'depth', blocks: 2n },
  }
  const settler = settlerOf(deployment, hooks, base, place, source)
  const desk_parts = deskPartsOf(deployment, hooks, base, place, settler)
  const desk = createPaymentDesk(desk_parts)
  settler.start()
  const last: { summary: ReconcileSummary | null } = { summary: null }
  const reconciler = reconcileJob({ store, source, clock, log, rules: rules.reconcile ?? {} }, (summary) => (last.summary = summary))
  return {
    payments: { desk, prices, place },
    settling: { desk: desk_parts, source, transactions: chain },
    place,
    chain,
    sandbox: base.sandbox,
    jobs: [{ ...reconciler, every_ms: rules.reconcile_every_ms ?? reconciler.every_ms }],
    health: async () => {
      const [chain_ok, ready] = await Promise.all([chain.answers(), settler.ready(ANYBODY).catch(() => null)])
      return { enabled: true, method: settler.method, chain_ok, ready: ready?.ok === true, overdue: last.summary?.overdue ?? null }
    },
    gas: () => settler.gas(),
    stop: async () => {
      await settler.stop()
      await base.stop()
    },
  }
}

/** What the desk of calls and the relay of invoices both stand on. */
function deskPartsOf(
  { signing, secret, store, clock, log, origins, failures }: Deployment,
  { reach }: PaymentHooks,
  { chain, wallets }: ChainBase,
  place: PaymentPlace,
  settler: Settler,
): DeskParts {
  const sealer = createSealer(secret)
  const digest = createAuthorizationDigest(
    { name: place.token.name, version: place.token.version, chain_id: place.chain_id, verifying_contract: place.token.address },
    signing.crypto.keccak256,
  )
  const [settle_from] = wallets
  const trips = createRoundTrips(clock, ON_CHAIN_LIMITS)
  return {
    store: store.payments,
    closings: createClosings(store.payments, clock),
    sealer,
    clock,
    chain_id: place.chain_id,
    digest,
    crypto: signing.crypto,
    onChain: createOnChainCheck({
      chain,
      token: place.token,
      clock,
      limits: ON_CHAIN_LIMITS,
      digest,
      trips,
      failures,
      ...(settle_from === undefined ? {} : { settle_from: settle_from.address }),
    }),
    holdings: createHoldings(chain, place.token.address, trips),
    settler,
    standing: createStanding({ store: store.payments, clock, sealer, settler }),
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

function settlerOf(
  { settings, store, clock, lease_clock, log }: Deployment,
  { reach, rules }: PaymentHooks,
  { chain, wallets }: ChainBase,
  place: PaymentPlace,
  source: EvidenceSource,
): SelfSettler {
  if (wallets.length > 0) {
    const batch = BATCH_SETTLER
    return createSelfSettler({
      wallets,
      chain,
      sender: chain,
      store,
      token: place.token.address,
      finality: source.finality,
      batch,
      clock: lease_clock,
      log,
      reach,
      // The sandbox's gas costs nothing.
      rules: { ...(settings.ASSAY_MODE === 'live' && { daily_gas_wei: settings.ASSAY_GAS_DAILY_WEI }), ...rules.writer },
    })
  }
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

function termsOf({ chain_id, token: { address, name, version } }: PaymentPlace, settings: Settings): FacilitatedTerms {
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
