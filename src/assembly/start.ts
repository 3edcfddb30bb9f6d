import { type Server, createServer } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { availableParallelism } from 'node:os'
import cluster from 'node:cluster'
import { systemClock } from '../adapters/clock/system.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createHeavyPool } from '../adapters/heavy-work/pool.ts'
import { createLog } from '../adapters/log/pino.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { chooseRegistrations, chooseUnderwriterProofs } from '../adapters/public-https/choose.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { SigningBackend } from '../adapters/signer/choose.ts'
import { publicKeys } from '../adapters/signer/keyring.ts'
import { createSigningQueue } from '../adapters/signer/queue.ts'
import { createTelemetry } from '../adapters/telemetry/prometheus.ts'
import type { CardServer } from '../ports/cards.ts'
import type { HeavyWork } from '../ports/heavy-work.ts'
import type { Log } from '../ports/log.ts'
import type { Prices } from '../ports/prices.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { UnderwriterProofs } from '../ports/insurance.ts'
import { itemCatalogue } from '../service/catalogue/decode.ts'
import { publishedSchemas, schemasOf } from '../service/catalogue/wire-schemas.ts'
import { createStoredAnswers, type StoredAnswers } from '../service/calls/answer-detail.ts'
import { networkHasher, providerHasher, trustedProxies, type TrustedProxies, wideProxyFault } from '../service/clients.ts'
import { freeDaily, type Settings } from '../service/config.ts'
import { privacyJobs } from '../service/jobs/privacy.ts'
import { purgeJobs, runJobs, type Job, type RunningJobs } from '../service/jobs/jobs.ts'
import { limits } from '../service/limits.ts'
import { bindTables, type BoundTable } from '../pure/datasets/datasets.ts'
import { feedsJob, createDatasetService, followDatasets, type DatasetService } from '../service/datasets/dataset-service.ts'
import { type ReplicationWatch, watchReplication } from '../service/replication.ts'
import { createRegisters, type Registers } from '../service/registers.ts'
import { createAllowance, createSourceBudget, sourceReadsUsed } from '../service/payments/allowance.ts'
import type { FaultHook } from '../service/payments/settlement.ts'
import { cachedDirectory, createRegistrar, type InsuranceParts } from '../service/records/insurance.ts'
import { keepCallCounts, operatorReport, resourceReports } from '../service/telemetry/operator-report.ts'
import { watchRooms } from '../service/telemetry/gauges.ts'
import { keepRecording } from '../service/telemetry/history.ts'
import type { OperatorFacts } from '../surfaces/deps.ts'
import { createHttpServer } from '../surfaces/http/node-server.ts'
import { createOperatorServer } from '../surfaces/operator.ts'
import { createApp, type App } from './app.ts'
import { bankAccount, cardsOf, openInvoicing, type InvoicingParts } from './invoices.ts'
import { type Deployment, VERSION } from './deployment.ts'
import type { HeavyWorkerData } from './heavy-worker.ts'
import { isLoopback, localOrigin, orStop, StartError, secretFiles, permissionFault } from './identity.ts'
import { neighboursOf, openReceiptsLog } from './log.ts'
import { around, loadKnown, openDeployment, sourceReads, chainSources, type ChainSources } from './open.ts'
import { openPayments, type PaymentParts, type PaymentRules } from './payments.ts'
import { describeDatasets, feedReader, registerReaders, screeningSources } from './reference-tables.ts'
import { testChain } from './test-chain.ts'

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
  /** Called at each step between which the process may crash; a test passes a function that crashes there. */
  reach?: FaultHook
  /** Overrides of settlement times: a test cannot wait for minutes. */
  rules?: PaymentRules
  /** Prices of EURC and of the coins that pay for gas; a test sets them. */
  prices?: Prices
  /** Address of the Stripe server; left out, Stripe's public address. */
  stripe_at?: CardServer
  /** Reads the proof files of underwriters; a test passes a reader that may reach a local server. */
  underwriter_proofs?: UnderwriterProofs
  /** True: receipts are signed in a separate thread. By default true where there is a second core. */
  signing_thread?: boolean
}

/**
 * Parses the settings that have a syntax of several parts before anything is opened or created; the start and `assay doctor` use the same
 * function. Throws a StartError for the first one that cannot be parsed.
 */
export function readAhead(settings: Settings): { proxies: TrustedProxies } {
  const { proxies } = orStop(trustedProxies(settings.ASSAY_TRUSTED_PROXIES))
  const wide =
    settings.ASSAY_MODE === 'live' && settings.ASSAY_WIDE_PROXIES === 'refuse' ? wideProxyFault(settings.ASSAY_TRUSTED_PROXIES) : null
  if (wide !== null) throw new StartError(wide)
  bankAccount(settings)
  neighboursOf(settings)
  registerReaders(settings)
  return { proxies }
}

/** Settings → adapters → app → listen. Rejects with a StartError when something is missing or contradictory. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Running> {
  const { reach = () => Promise.resolve(), rules = {}, stripe_at, signing_thread = availableParallelism() > 1 } = options
  const { log, flush } = createLog(settings.ASSAY_LOG_LEVEL, systemClock)
  const { proxies, cards } = await accepted(settings, stripe_at ?? null)
  const deployment = await openDeployment(settings, log)
  const { catalogue, store, signing, lease_clock } = deployment
  const room = await openPayments(deployment, { reach, rules, prices: options.prices })
  const facts = chainSources(deployment)
  const tables = tablesInUse()
  const threads = { tools: catalogue.tools.map(({ id, family, bounds }) => ({ id, family, bounds })), registers: settings.ASSAY_REGISTERS }
  const heavy = createHeavyPool({ ...HEAVY_POOL, data: (): HeavyWorkerData => ({ ...threads, tables: tables.text() }) })
  const { invoices, webhooks, credits } = openInvoicing(deployment, room, { reach, cards })
  const stopRoom = async (error: unknown) => {
    await room.stop()
    throw error
  }
  const log_room = await openReceiptsLog(deployment).catch(stopRoom)
  const datasets = await openDatasets(deployment, log_room !== null, (bound) => tables.use(bound, heavy))
  const proofs = options.underwriter_proofs ?? chooseUnderwriterProofs(settings.ASSAY_MODE, systemClock, deployment.outside_names)
  const replication = watchReplication(store)
  await replication.look()
  const parts = { replication, datasets, credits, invoices, webhooks, room, log_room, facts, heavy, proofs, signing_thread }
  const app = createApp(appDeps(deployment, parts), proxies, log)
  const server = createHttpServer(app)
  const { ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST } = settings
  const operator = ASSAY_ADMIN_PORT === 'off' ? null : createOperatorServer(app, isLoopback(ASSAY_ADMIN_HOST))
  await listen(server, operator, settings).catch(stopRoom)
  facts.start()
  const url = originAt(server, settings.ASSAY_HOST)
  deployment.listening.url = url
  const all_jobs = [
    ...purgeJobs(store, deployment.prices),
    ...privacyJobs(store.privacy, settings.ASSAY_INVOICE_RETENTION_DAYS),
    ...feedJobs(deployment, datasets),
    ...[room, invoices, credits, webhooks.deliveries].flatMap((part) => part.jobs),
    ...(log_room?.jobs ?? []),
  ]
  const jobs = runJobs(all_jobs, store, lease_clock, log)
  const stopFollowing = followDatasets(datasets)
  const endRecording = keepRecording(recordings(deployment, parts, jobs, app))
  const storeCounts = keepCallCounts({ telemetry: app.deps.telemetry, counts: store.call_counts, clock: deployment.clock, log })
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
      await stopFollowing()
      await endRecording()
      await storeCounts()
      await heavy.stop()
      bindTables([])
      await app.deps.call.issuer.queue?.stop()
      await log_room?.queue.stop()
      await log_room?.stopWatching()
      await jobs.stop()
      await webhooks.deliveries.stop()
      await room.stop()
      lease_clock.stop()
      await store.close()
      flush()
    },
  }
}

/** Throws a StartError for the first secret file that other users can read or change. */
function assertSecretFiles(settings: Settings): void {
  for (const file of secretFiles(settings)) {
    const fault = permissionFault(file)
    if (fault !== null) throw new StartError(fault)
  }
}

/** Checks everything that can be checked without writing a file or opening the store. Throws a StartError for the first fault. */
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

/** Gauges that are read every ten seconds and exported as metrics. */
function recordings(
  { store, clock }: Deployment,
  { datasets, room, invoices, webhooks, heavy, log_room, replication }: Parts,
  jobs: RunningJobs,
  { deps, connections }: App,
) {
  for (const gauge of [...webhooks.deliveries.gauges, ...(deps.call.registers?.gauges ?? [])]) deps.telemetry.watch(gauge)
  return watchRooms(deps.telemetry, {
    history: deps.history,
    store,
    signing: deps.call.issuer.queue,
    heavy,
    log_queue: log_room?.queue ?? null,
    log_state: log_room?.surface.state ?? null,
    held: jobs.held,
    following: invoices.live.following,
    lists: deps.datasets.ages,
    feeds: datasets.feeds,
    ...deps.operator,
    connections,
    lookAtGas: room.health,
    replication,
    now_ms: () => clock.now_ms(),
  })
}

/** The datasets that are active in the store; their hashes go into the public log, where one is kept. */
async function openDatasets(
  { store, clock, log }: Deployment,
  has_log: boolean,
  bind: (tables: readonly BoundTable[]) => void,
): Promise<DatasetService> {
  const publish = has_log ? { publish: (sha256: string) => store.log.queue([sha256], clock.now_ms()) } : {}
  const datasets = createDatasetService({ store: store.datasets, clock, log, bind, ...publish })
  await datasets.refreshBundled()
  return datasets
}

/** Tables that checks use in place of those of the release, in this thread and in threads for heavy work. */
function tablesInUse() {
  let current: readonly BoundTable[] = []
  const text = { of: current, json: '[]' }
  return {
    use(bound: readonly BoundTable[], heavy: Pick<HeavyWork, 'renew'>) {
      current = bound
      bindTables(bound)
      heavy.renew()
    },
    text(): string {
      if (text.of !== current) Object.assign(text, { of: current, json: JSON.stringify(current) })
      return text.json
    },
  }
}

function feedJobs({ settings, store, clock, log }: Deployment, service: DatasetService): Job[] {
  if (settings.ASSAY_DATA_FEEDS === 'off') return []
  const { reader, every_ms } = feedReader(settings)
  return [feedsJob({ store: store.datasets, service, reader, clock, log }, every_ms)]
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

/** Parts that were built from the deployment. */
interface Parts extends InvoicingParts {
  replication: ReplicationWatch
  datasets: DatasetService
  room: PaymentParts
  /** Null where no log is kept. */
  log_room: Awaited<ReturnType<typeof openReceiptsLog>>
  facts: ChainSources
  heavy: HeavyWork
  proofs: UnderwriterProofs
  signing_thread: boolean
}

function appDeps(deployment: Deployment, parts: Parts) {
  const { settings, signing, catalogue, ring, secret, store, clock, prices, origins, tracing, log } = deployment
  const { credits, invoices, webhooks, room, log_room, facts, heavy } = parts
  const market = choosePrices(settings.ASSAY_MODE, clock)
  const insurance = insuranceParts(deployment, parts)
  const described = describeDatasets(parts.datasets, () => clock.now_ms())
  const telemetry = createTelemetry()
  return {
    call: {
      catalogue,
      sources: {
        clock,
        catalogue: itemCatalogue(() => catalogue.tools),
        crypto: signing.crypto,
        registrations: chooseRegistrations(settings.ASSAY_MODE, clock, deployment.outside_names),
        chain: around(tracing, 'chain', facts.chain),
        transfers: around(tracing, 'transfers', facts.transfers),
        prices: market,
        ...screeningSources(settings, clock, parts.datasets),
        derive: createDerivation(secret),
        assured: store.assured,
        invoices: invoices.service,
        disputes: store.disputes,
        insurance: insurance.insurance,
        schemas: publishedSchemas(() => catalogue.tools),
        registrar: insurance.registrar,
      } as const,
      probes: { ...facts.probes, prices: () => market.ready() },
      allowance: createAllowance(store, clock, secret, freeRules(settings), sourceReads(settings)),
      payments: room.payments,
      credits: { service: credits.service, prices },
      heavy,
      issuer: receiptIssuer(deployment, parts),
      ...openRegisters(deployment),
      onFault: callFaults(log),
    },
    schemas: schemasOf(catalogue),
    store,
    tasks: store.tasks,
    sealer: createSealer(secret),
    stored_answers: storedAnswers(deployment),
    invoices,
    insurance,
    webhooks: webhooks.service,
    credits,
    log: log_room?.surface ?? null,
    replication: () => parts.replication.last().state,
    prices,
    terms: room.terms,
    sandbox: room.sandbox,
    test_chain: testChain(deployment, room.sandbox),
    paymentHealth: room.health,
    paymentNetworks: room.networks,
    datasets: described,
    operator: operatorFacts(deployment, parts.room, described, telemetry),
    takes_payments: room.payments !== null,
    telemetry,
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

function openRegisters({ settings, store, clock, secret, log }: Deployment): { registers?: Registers } {
  if (settings.ASSAY_REGISTERS.length === 0) return {}
  const sources = createSourceBudget(store, clock, secret, sourceReads(settings))
  const onFault = (error: unknown, register: string) => callFaults(log)(error, `register ${register}`)
  return { registers: createRegisters({ readers: registerReaders(settings), clock, sources, onFault }) }
}

function storedAnswers({ signing, store, secret, clock, log }: Deployment): StoredAnswers {
  return createStoredAnswers({
    store: store.stored_answers,
    clock,
    sealer: createSealer(secret),
    crypto: signing.crypto,
    networkHash: networkHasher(secret),
    providerHash: providerHasher(secret),
    onFault: (error) => callFaults(log)(error, 'stored answer'),
  })
}

/** Returns what issues receipts. */
function receiptIssuer(deployment: Deployment, { room, log_room, signing_thread }: Parts) {
  const { signing, receipt_signer, active, clock, origins, log } = deployment
  return {
    signer: receipt_signer,
    queue: signing_thread ? queueOf(signing, active.private_key, log) : null,
    log: log_room?.queue ?? null,
    crypto: signing.crypto,
    clock,
    recipient: room.terms.pay_to,
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
    wasPaid: (account) => store.webhooks.was_paid(account),
    networkHash: networkHasher(secret),
    providerHash: providerHasher(secret),
  }
}

function freeRules(settings: Settings) {
  return { free_daily: freeDaily(settings), overrides: settings.ASSAY_FREE_DAILY_OVERRIDES }
}

function queueOf(signing: SigningBackend, private_key: Uint8Array, log: Log) {
  return createSigningQueue(signing.signer(private_key), private_key, (why) => log.warn({ why }, 'receipts are signed without a thread'))
}

function callFaults(log: Log) {
  return (error: unknown, tool: string) => log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, 'a call failed')
}

function operatorFacts(
  { store, settings, clock }: Deployment,
  room: Parts['room'],
  described: ReturnType<typeof describeDatasets>,
  telemetry: Telemetry,
): OperatorFacts {
  const budgets = sourceReads(settings)
  const { settling } = room
  const sponsoring = settling?.desk.settler.method === 'self' ? settling.sponsoring : null
  const datasets = () =>
    described.list().map(({ id, published_at, compiled_at, retrieved_at, rows, age_days, limit_days }) => ({
      name: id.replaceAll('_', '-'),
      dated: published_at ?? compiled_at ?? retrieved_at,
      rows,
      age_days,
      limit_days,
    }))
  const resources = () => resourceReports(telemetry)
  return {
    gas: room.gas,
    gas_prices: room.gas_prices,
    sponsoring,
    source_reads_daily: budgets.all,
    source_reads_used: () => sourceReadsUsed(store, clock, budgets),
    report: () => operatorReport({ store, clock, gas: room.gas, gas_prices: room.gas_prices, sponsoring, datasets, resources }),
  }
}

/** Opens the public port, then that of the operator. Where one cannot be opened neither stays open, and the error names the setting. */
async function listen(server: Server, operator: Server | null, settings: Settings): Promise<void> {
  await listenAt(server, settings.ASSAY_PORT, settings.ASSAY_HOST, 'ASSAY_PORT')
  if (operator === null) return
  await listenAt(operator, Number(settings.ASSAY_ADMIN_PORT), settings.ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT').catch((error: unknown) => {
    server.close()
    throw error
  })
}

/** Throws a StartError for a port that another program has, before anything is made. */
async function assertPortsFree({ ASSAY_PORT, ASSAY_HOST, ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST }: Settings): Promise<void> {
  // Workers share the port of their parent.
  if (cluster.isWorker) return
  const admin = ASSAY_ADMIN_PORT === 'off' ? 0 : Number(ASSAY_ADMIN_PORT)
  for (const [port, host, setting] of [
    [ASSAY_PORT, ASSAY_HOST, 'ASSAY_PORT'],
    [admin, ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT'],
  ] as const) {
    if (port === 0) continue
    const probe = createServer()
    await listenAt(probe, port, host, setting)
    await new Promise((resolve) => probe.close(resolve))
  }
}

function listenAt(server: Server, port: number, host: string, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const fix =
        error.code === 'EADDRINUSE'
          ? 'is taken; stop the other program or'
          : `cannot be opened (${error.code ?? 'unknown'}); check its address or`
      reject(new StartError(`Port ${port} on ${host} ${fix} set ${setting}.`))
    })
    server.listen(port, host, limits.connections_backlog, resolve)
  })
}

/**
 * No new connections. Idle ones go after a moment, in which what is on its way arrives; busy ones shortly after their answer is out. Who asks
 * until then is answered with `Connection: close`. All of them go after the longest wait.
 */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setTimeout(() => server.closeIdleConnections(), limits.stop_idle_ms)
    const last = setTimeout(() => server.closeAllConnections(), limits.stop_ms)
    // node:http adds one second to this value, in which the next request may arrive.
    server.keepAliveTimeout = 1
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false
    })
    // `close()` of node:http would end idle connections immediately, under requests that were already sent.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(idle)
      clearTimeout(last)
      resolve()
    })
  })
}
