import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { openStoreClock } from '../adapters/clock/store.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createHeavyPool } from '../adapters/heavy-work/pool.ts'
import { createLog } from '../adapters/log/pino.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { chooseRegistrations, chooseUnderwriterProofs } from '../adapters/registration-data/choose.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import { chooseSigning, type Signing } from '../adapters/signer/choose.ts'
import { publicKeys, type Keyring } from '../adapters/signer/keyring.ts'
import { createSigningQueue } from '../adapters/signer/queue.ts'
import { createTelemetry } from '../adapters/telemetry/prometheus.ts'
import { openTracing } from '../adapters/tracing/open-telemetry.ts'
import { createApp, type App } from './app.ts'
import { cardsOf, openCreditRoom, type CreditRoom } from './credits.ts'
import { activeOf, assertSecretFiles, identityOf, isLoopback, localOrigin, madeFromNowOn, orStop, ringOf, secretOf } from './identity.ts'
import type { CardServer } from '../ports/cards.ts'
import type { HeavyWorkerData } from './heavy-worker.ts'
import type { HeavyWork } from '../ports/heavy-work.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { UnderwriterProofs } from '../ports/underwriter-proofs.ts'
import { networkHasher, trustedProxies, type TrustedProxies } from '../service/clients.ts'
import { itemCatalogue } from '../service/catalogue/items.ts'
import { publishedSchemas } from '../service/catalogue/published.ts'
import { schemasOf } from '../service/catalogue/json-schema.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { freeDaily, type Settings } from '../service/config.ts'
import { purgeJob, purgePaymentsJob, purgeStretchesJob, purgeTasksJob } from '../service/jobs/purge.ts'
import { runJobs, type Job, type RunningJobs } from '../service/jobs/run.ts'
import { limits } from '../service/limits.ts'
import { createAllowance, createSourceBudget, sourceReadsUsed } from '../service/payments/allowance.ts'
import { createFailureCount, ON_CHAIN_LIMITS, type FailureCount } from '../service/payments/on-chain-bounds.ts'
import { createOutsideReads, type OutsideReads } from '../service/payments/outside-reads.ts'
import { cachedDirectory } from '../service/records/directory.ts'
import type { InsuranceParts } from '../service/records/insurance.ts'
import { createRegistrar } from '../service/records/registrar.ts'
import { createPriceBook, type PriceBook } from '../service/payments/price-book.ts'
import { watchRooms } from '../service/telemetry/gauges.ts'
import { keepRecording } from '../service/telemetry/history.ts'
import type { Reach } from '../service/payments/settler.ts'
import { bankAccount, openInvoiceRoom, type InvoiceRoom } from './invoices.ts'
import { around, assertPortsFree, closeServer, listen, loadKnown, openTogether, originsOf, tracedChain } from './listening.ts'
import { neighboursOf, openLogRoom, type LogRoom } from './log.ts'
import { chainSources, openChain, type ChainSources } from './chain.ts'
import { openPaymentRoom, type PaymentRoom, type PaymentRules } from './payments.ts'
import type { OperatorFacts } from '../surfaces/deps.ts'
import { createHttpServer } from '../surfaces/http/node-server.ts'
import type { Origins } from '../surfaces/http/reply.ts'
import { createOperatorServer } from '../surfaces/operator.ts'
import { VERSION } from './version.ts'

export interface Running {
  /** Origin that the server really listens on. */
  readonly url: string
  /** Origin of the operator port; null where it is off. */
  readonly operator_url: string | null
  readonly app: App
  readonly server: Server
  /** Takes no more calls, lets those in flight finish, closes the store. */
  stop(): Promise<void>
}

export interface StartOptions {
  /** Told at the steps between which a process may die; a test brings a function that lets it. */
  reach?: Reach
  /** Times of settlement that differ from those of the service; a test has no minutes to wait. */
  rules?: PaymentRules
  /** Where Stripe is reached; its own address by default. */
  stripe_at?: CardServer
  /** Reads the proof files of underwriters; a test brings one that may reach a server of its own. */
  underwriter_proofs?: UnderwriterProofs
  /** Whether receipts are signed in a thread beside the event loop; by default where there is a second core. */
  signing_thread?: boolean
}

/**
 * Reads what the settings say in texts of their own, before anything is opened or made; a start and the doctor read the same. Throws a
 * StartError for the first that cannot be read.
 */
export function readAhead(settings: Settings): { proxies: TrustedProxies } {
  const { proxies } = orStop(trustedProxies(settings.ASSAY_TRUSTED_PROXIES))
  bankAccount(settings)
  neighboursOf(settings)
  return { proxies }
}

/** Settings → adapters → app → listen. Rejects with a StartError when something is missing or contradictory. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Running> {
  const { reach = () => Promise.resolve(), rules = {}, stripe_at, signing_thread = availableParallelism() > 1 } = options
  const { log, flush } = createLog(settings.ASSAY_LOG_LEVEL, systemClock)
  const { proxies, cards } = await accepted(settings, stripe_at ?? null)
  const tracing = settings.ASSAY_TRACING === 'on' ? await openTracing(VERSION) : null
  const signing = await chooseSigning()
  const undo = madeFromNowOn(settings)
  const { identity, ring, active, secret, catalogue, store, base } = await openDeployment(settings, signing, log, tracing).catch(
    (error: unknown) => {
      undo()
      throw error
    },
  )
  const prices = createPriceBook({ store, clock: systemClock })
  const lease_clock = await openStoreClock(store)
  const listening = { url: '' }
  const origins = originsOf(settings, listening)
  const { failures, reads } = outsideReads(settings, store, secret)
  const common = { settings, identity, signing, secret, store, log, origins }
  const room = await openPaymentRoom({ ...common, lease_clock, prices, reach, rules, base, failures })
  const facts = chainSources(base, identity, store.closed)
  const listed: HeavyWorkerData = catalogue.tools.map(({ id, family, bounds }) => ({ id, family, bounds }))
  const heavy = createHeavyPool({ ...HEAVY_POOL, data: listed })
  const invoices = openInvoiceRoom({ ...common, room, reads, operator_key: signing.signer(active.private_key) })
  const { desk, contracts } = invoices
  const credits = openCreditRoom({ ...common, prices, reach, cards, invoices: desk, contracts, reads })
  const stopRoom = async (error: unknown) => {
    await room.stop()
    throw error
  }
  const log_room = await openLogRoom(settings, store, log).catch(stopRoom)
  const rooms = { credits, invoices, room, log_room, facts, heavy }
  const proofs = options.underwriter_proofs ?? chooseUnderwriterProofs(settings.ASSAY_MODE, systemClock)
  const own = { reads, proofs, settings, signing, signing_thread, catalogue, ring, active, secret, store, prices, origins, tracing }
  const app = createApp(appDeps({ ...rooms, ...own }, log), proxies, log)
  const server = createHttpServer(app)
  const { ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST } = settings
  const operator = ASSAY_ADMIN_PORT === 'off' ? null : createOperatorServer(app, isLoopback(ASSAY_ADMIN_HOST))
  await listen(server, operator, settings).catch(stopRoom)
  facts.start()
  listening.url = originAt(server, settings.ASSAY_HOST)
  const all_jobs = [...purges(store, prices), ...room.jobs, ...invoices.jobs, ...credits.jobs, ...(log_room?.jobs ?? [])]
  const jobs = runJobs(all_jobs, store, lease_clock, log)
  const endRecording = keepRecording(recordings({ ...rooms, store, jobs }, app))
  for (const refusal of signing.refusals) log.warn({}, refusal)
  const stopLoading = app.loadRestSoon()
  return {
    url: listening.url,
    operator_url: operator && originAt(operator, ASSAY_ADMIN_HOST),
    app,
    server,
    stop: async () => {
      stopLoading()
      invoices.stop()
      await Promise.all([closeServer(server), operator && closeServer(operator)])
      facts.stop()
      await endRecording()
      await heavy.stop()
      await app.deps.call.stamp.queue?.stop()
      await log_room?.queue.stop()
      await jobs.stop()
      await room.stop()
      lease_clock.stop()
      await store.close()
      flush()
    },
  }
}

/** What the settings say, once nothing that can be told without writing speaks against them. */
async function accepted(settings: Settings, stripe_at: CardServer | null) {
  const { proxies } = readAhead(settings)
  assertSecretFiles(settings)
  const cards = await cardsOf(settings, stripe_at)
  await assertPortsFree(settings)
  // Otherwise the tools are loaded while the chain starts.
  if (Object.keys(settings.ASSAY_FREE_DAILY_OVERRIDES).length > 0) await loadKnown(settings)
  return { proxies, cards }
}

/** Keys, tools, store and chain: what a refused start must not leave half of behind. */
async function openDeployment(settings: Settings, signing: Signing, log: Log, tracing: Tracing | null) {
  const identity = identityOf(settings, signing)
  const ring = ringOf(settings, identity)
  const active = activeOf(ring)
  const secret = secretOf(settings)
  // The chain of the sandbox needs a moment to start; everything else is made ready meanwhile.
  const opening = tracedChain(tracing, openChain(settings, identity, signing, secret, log))
  return { identity, ring, active, secret, ...(await openTogether(settings, identity, secret, log, tracing, opening)) }
}

/** Origin that the server really listens on. */
function originAt(one: Server, host: string): string {
  return localOrigin(host, (one.address() as AddressInfo).port)
}

interface Recorded extends Pick<Parts, 'room' | 'invoices' | 'heavy' | 'log_room' | 'store'> {
  jobs: RunningJobs
}

/** What is read every ten seconds, and shown by the metrics. */
function recordings({ store, jobs, room, invoices, heavy, log_room }: Recorded, { deps, connections }: App) {
  return watchRooms(deps.telemetry, {
    history: deps.history,
    store,
    signing: deps.call.stamp.queue,
    heavy,
    log_queue: log_room?.queue ?? null,
    held: jobs.held,
    following: invoices.live.following,
    ...deps.operator,
    connections,
    lookAtGas: room.health,
    now_ms: () => systemClock.now_ms(),
  })
}

function purges(store: Store, prices: PriceBook): Job[] {
  return [purgeJob(store), purgeTasksJob(store), purgePaymentsJob(store, prices), purgeStretchesJob(store)]
}

const HEAVY_POOL = {
  module: new URL('./heavy-worker.ts', import.meta.url),
  workers: limits.heavy_workers,
  queue: limits.heavy_queue,
  client_queue: limits.heavy_client_queue,
  client_ended: limits.heavy_client_ended,
  client_ended_ms: limits.heavy_client_ended_ms,
  deadline_ms: limits.heavy_ms,
  memory_mb: limits.heavy_memory_mb,
}

interface Parts {
  credits: CreditRoom
  invoices: InvoiceRoom
  settings: Settings
  signing: Signing
  signing_thread: boolean
  catalogue: Catalogue
  ring: Keyring
  active: ReturnType<typeof activeOf>
  secret: Uint8Array
  store: Store
  prices: PriceBook
  room: PaymentRoom
  facts: ChainSources
  heavy: HeavyWork
  origins: Origins
  log_room: LogRoom | null
  tracing: Tracing | null
  reads: OutsideReads
  proofs: UnderwriterProofs
}

function appDeps(parts: Parts, log: Log) {
  const { credits, invoices, room, log_room, facts, heavy } = parts
  const { settings, signing, signing_thread, catalogue, ring, active, secret, store, prices, origins, tracing } = parts
  const market = choosePrices(settings.ASSAY_MODE, systemClock)
  const insurance = insuranceParts(parts)
  return {
    call: {
      catalogue,
      sources: {
        clock: systemClock,
        catalogue: itemCatalogue(() => catalogue.tools),
        crypto: signing.crypto,
        registrations: chooseRegistrations(settings.ASSAY_MODE, systemClock),
        chain: around(tracing, 'chain', facts.chain),
        transfers: around(tracing, 'transfers', facts.transfers),
        prices: market,
        screening: { on_stale_list: settings.ASSAY_MODE === 'live' ? 'refuse' : 'report' },
        derive: createDerivation(secret),
        assured: store.assured,
        invoices: invoices.desk,
        disputes: store.disputes,
        insurance: insurance.insurance,
        schemas: publishedSchemas(() => catalogue.tools),
        registrar: insurance.registrar,
      } as const,
      probes: { ...facts.probes, prices: () => market.ready() },
      allowance: createAllowance(store, systemClock, secret, freeRules(settings), sourceReads(settings)),
      payments: room.payments,
      credits: { desk: credits.desk, prices },
      heavy,
      stamp: {
        signer: signing.signer(active.private_key),
        queue: signing_thread ? queueOf(signing, active.private_key, log) : null,
        log: log_room?.queue ?? null,
        crypto: signing.crypto,
        clock: systemClock,
        recipient: room.place.pay_to,
        origins,
        randomNonce: createNonceSource(),
      },
      onFault: callFaults(log),
    },
    schemas: schemasOf(catalogue),
    store,
    tasks: store.tasks,
    sealer: createSealer(secret),
    invoices,
    insurance,
    credits,
    log: log_room && { ...log_room, handIn: (entry: string) => store.log.queue([entry], systemClock.now_ms()) },
    prices,
    place: room.place,
    sandbox: room.sandbox,
    paymentHealth: room.health,
    operator: operatorFacts(parts),
    takes_payments: room.payments !== null,
    telemetry: createTelemetry(),
    tracing,
    chain_head: () => facts.head(),
    origins,
    mode: settings.ASSAY_MODE,
    chain_id: settings.ASSAY_CHAIN_ID,
    free: freeRules(settings),
    client_calls: settings.ASSAY_CLIENT_CALLS,
    preflight_per_minute: settings.ASSAY_PREFLIGHT_PER_MINUTE,
    keys: publicKeys(ring),
    version: VERSION,
    started_ms: systemClock.now_ms(),
  }
}

function insuranceParts({ settings, signing, active, ring, origins, store, invoices, proofs, reads, secret }: Parts): InsuranceParts {
  return {
    clock: systemClock,
    crypto: signing.crypto,
    registrar: createRegistrar(signing.signer(active.private_key), publicKeys(ring), origins, settings.ASSAY_CHAIN_ID),
    insurance: cachedDirectory(store.insurance, systemClock),
    contracts: invoices.contracts,
    proofs,
    reads,
    networkHash: networkHasher(secret),
  }
}

/** The budget of reads without a payment, and the failures of clients that it shares with payments. */
function outsideReads(settings: Settings, store: Store, secret: Uint8Array): { failures: FailureCount; reads: OutsideReads } {
  const failures = createFailureCount(systemClock, ON_CHAIN_LIMITS)
  const sources = createSourceBudget(store, systemClock, secret, sourceReads(settings))
  return { failures, reads: createOutsideReads({ clock: systemClock, sources, failures }) }
}

function freeRules(settings: Settings) {
  return { free_daily: freeDaily(settings), overrides: settings.ASSAY_FREE_DAILY_OVERRIDES }
}

function queueOf(signing: Signing, private_key: Uint8Array, log: Log) {
  return createSigningQueue(signing.signer(private_key), private_key, (why) => log.warn({ why }, 'receipts are signed without a thread'))
}

function callFaults(log: Log) {
  return (error: unknown, tool: string) => log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, 'a call failed')
}

function operatorFacts({ room, store, settings }: Parts): OperatorFacts {
  const budgets = sourceReads(settings)
  return { gas: room.gas, source_reads_daily: budgets.all, source_reads_used: () => sourceReadsUsed(store, systemClock, budgets) }
}

function sourceReads({ ASSAY_SOURCE_READS_DAILY_NETWORK, ASSAY_SOURCE_READS_DAILY }: Settings) {
  return { network: ASSAY_SOURCE_READS_DAILY_NETWORK, all: ASSAY_SOURCE_READS_DAILY }
}
