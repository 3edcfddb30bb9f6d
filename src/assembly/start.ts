import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { systemClock } from '../adapters/clock/system.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createHeavyPool } from '../adapters/heavy-work/pool.ts'
import { createLog } from '../adapters/log/pino.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { chooseRegistrations, chooseUnderwriterProofs } from '../adapters/registration-data/choose.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { Signing } from '../adapters/signer/choose.ts'
import { publicKeys } from '../adapters/signer/keyring.ts'
import { createSigningQueue } from '../adapters/signer/queue.ts'
import { createTelemetry } from '../adapters/telemetry/prometheus.ts'
import type { CardServer } from '../ports/cards.ts'
import type { HeavyWork } from '../ports/heavy-work.ts'
import type { Log } from '../ports/log.ts'
import type { UnderwriterProofs } from '../ports/underwriter-proofs.ts'
import { itemCatalogue } from '../service/catalogue/items.ts'
import { schemasOf } from '../service/catalogue/json-schema.ts'
import { publishedSchemas } from '../service/catalogue/published.ts'
import { networkHasher, trustedProxies, type TrustedProxies } from '../service/clients.ts'
import { freeDaily, type Settings } from '../service/config.ts'
import { purgeJob, purgePaymentsJob, purgeStretchesJob, purgeTasksJob } from '../service/jobs/purge.ts'
import { runJobs, type Job, type RunningJobs } from '../service/jobs/run.ts'
import { limits } from '../service/limits.ts'
import { createAllowance, sourceReadsUsed } from '../service/payments/allowance.ts'
import type { Reach } from '../service/payments/settler.ts'
import { cachedDirectory } from '../service/records/directory.ts'
import type { InsuranceParts } from '../service/records/insurance.ts'
import { createRegistrar } from '../service/records/registrar.ts'
import { watchRooms } from '../service/telemetry/gauges.ts'
import { keepRecording } from '../service/telemetry/history.ts'
import type { OperatorFacts } from '../surfaces/deps.ts'
import { createHttpServer } from '../surfaces/http/node-server.ts'
import { createOperatorServer } from '../surfaces/operator.ts'
import { createApp, type App } from './app.ts'
import { chainSources, type ChainSources } from './chain.ts'
import { cardsOf, openCreditRoom, type CreditRoom } from './credits.ts'
import type { Deployment } from './deployment.ts'
import type { HeavyWorkerData } from './heavy-worker.ts'
import { assertSecretFiles, isLoopback, localOrigin, orStop } from './identity.ts'
import { bankAccount, openInvoiceRoom, type InvoiceRoom } from './invoices.ts'
import { assertPortsFree, closeServer, listen } from './listening.ts'
import { neighboursOf, openLogRoom, type LogRoom } from './log.ts'
import { around, loadKnown, openDeployment, sourceReads } from './open.ts'
import { openPaymentRoom, type PaymentRoom, type PaymentRules } from './payments.ts'
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
  const deployment = await openDeployment(settings, log)
  const { catalogue, store, signing, lease_clock } = deployment
  const room = await openPaymentRoom(deployment, { reach, rules })
  const facts = chainSources(deployment)
  const listed: HeavyWorkerData = catalogue.tools.map(({ id, family, bounds }) => ({ id, family, bounds }))
  const heavy = createHeavyPool({ ...HEAVY_POOL, data: listed })
  const invoices = openInvoiceRoom(deployment, room)
  const credits = openCreditRoom(deployment, { reach, cards, invoices })
  const stopRoom = async (error: unknown) => {
    await room.stop()
    throw error
  }
  const log_room = await openLogRoom(deployment).catch(stopRoom)
  const proofs = options.underwriter_proofs ?? chooseUnderwriterProofs(settings.ASSAY_MODE, systemClock)
  const parts = { credits, invoices, room, log_room, facts, heavy, proofs, signing_thread }
  const app = createApp(appDeps(deployment, parts), proxies, log)
  const server = createHttpServer(app)
  const { ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST } = settings
  const operator = ASSAY_ADMIN_PORT === 'off' ? null : createOperatorServer(app, isLoopback(ASSAY_ADMIN_HOST))
  await listen(server, operator, settings).catch(stopRoom)
  facts.start()
  const url = originAt(server, settings.ASSAY_HOST)
  deployment.listening.url = url
  const all_jobs = [...purges(deployment), ...room.jobs, ...invoices.jobs, ...credits.jobs, ...(log_room?.jobs ?? [])]
  const jobs = runJobs(all_jobs, store, lease_clock, log)
  const endRecording = keepRecording(recordings(deployment, parts, jobs, app))
  for (const refusal of signing.refusals) log.warn({}, refusal)
  const stopLoading = app.loadRestSoon()
  return {
    url,
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

/** Origin that the server really listens on. */
function originAt(one: Server, host: string): string {
  return localOrigin(host, (one.address() as AddressInfo).port)
}

/** What is read every ten seconds, and shown by the metrics. */
function recordings(
  { store, clock }: Deployment,
  { room, invoices, heavy, log_room }: Parts,
  jobs: RunningJobs,
  { deps, connections }: App,
) {
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
    now_ms: () => clock.now_ms(),
  })
}

function purges({ store, prices }: Deployment): Job[] {
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

/** What was made of the deployment. */
interface Parts {
  credits: CreditRoom
  invoices: InvoiceRoom
  room: PaymentRoom
  /** Null where no log is kept. */
  log_room: LogRoom | null
  facts: ChainSources
  heavy: HeavyWork
  proofs: UnderwriterProofs
  signing_thread: boolean
}

function appDeps(deployment: Deployment, parts: Parts) {
  const { settings, signing, catalogue, ring, secret, store, clock, prices, origins, tracing, log } = deployment
  const { credits, invoices, room, log_room, facts, heavy } = parts
  const market = choosePrices(settings.ASSAY_MODE, clock)
  const insurance = insuranceParts(deployment, parts)
  return {
    call: {
      catalogue,
      sources: {
        clock,
        catalogue: itemCatalogue(() => catalogue.tools),
        crypto: signing.crypto,
        registrations: chooseRegistrations(settings.ASSAY_MODE, clock),
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
      allowance: createAllowance(store, clock, secret, freeRules(settings), sourceReads(settings)),
      payments: room.payments,
      credits: { desk: credits.desk, prices },
      heavy,
      stamp: stampOf(deployment, parts),
      onFault: callFaults(log),
    },
    schemas: schemasOf(catalogue),
    store,
    tasks: store.tasks,
    sealer: createSealer(secret),
    invoices,
    insurance,
    credits,
    log: log_room && { ...log_room, handIn: (entry: string) => store.log.queue([entry], clock.now_ms()) },
    prices,
    place: room.place,
    sandbox: room.sandbox,
    paymentHealth: room.health,
    operator: operatorFacts(deployment, parts),
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
    started_ms: clock.now_ms(),
  }
}

/** What makes an answer a signed one. */
function stampOf(deployment: Deployment, { room, log_room, signing_thread }: Parts) {
  const { signing, receipt_signer, active, clock, origins, log } = deployment
  return {
    signer: receipt_signer,
    queue: signing_thread ? queueOf(signing, active.private_key, log) : null,
    log: log_room?.queue ?? null,
    crypto: signing.crypto,
    clock,
    recipient: room.place.pay_to,
    origins,
    randomNonce: createNonceSource(),
  }
}

function insuranceParts(deployment: Deployment, { invoices, proofs }: Parts): InsuranceParts {
  const { settings, signing, receipt_signer, ring, origins, store, clock, reads, secret } = deployment
  return {
    clock,
    crypto: signing.crypto,
    registrar: createRegistrar(receipt_signer, publicKeys(ring), origins, settings.ASSAY_CHAIN_ID),
    insurance: cachedDirectory(store.insurance, clock),
    contracts: invoices.contracts,
    proofs,
    reads,
    networkHash: networkHasher(secret),
  }
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

function operatorFacts({ store, settings, clock }: Deployment, { room }: Parts): OperatorFacts {
  const budgets = sourceReads(settings)
  return { gas: room.gas, source_reads_daily: budgets.all, source_reads_used: () => sourceReadsUsed(store, clock, budgets) }
}
