import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { openStoreClock } from './adapters/clock/store.ts'
import { systemClock } from './adapters/clock/system.ts'
import { createDerivation } from './adapters/derivation/hmac.ts'
import { createHeavyPool } from './adapters/heavy-work/pool.ts'
import { createLog } from './adapters/log/pino.ts'
import { createNonceSource } from './adapters/random/system.ts'
import { choosePrices } from './adapters/prices/choose.ts'
import { chooseRegistrations } from './adapters/registration-data/choose.ts'
import { chooseSigning, type Signing } from './adapters/signer/choose.ts'
import { publicKeys, type Keyring } from './adapters/signer/keyring.ts'
import { createSigningQueue } from './adapters/signer/queue.ts'
import { createTelemetry } from './adapters/telemetry/prometheus.ts'
import { openTracing } from './adapters/tracing/open-telemetry.ts'
import { createApp, type App } from './app.ts'
import { cardsOf, openCreditRoom, type CreditRoom } from './credit-room.ts'
import { activeOf, identityOf, localOrigin, orStop, ringOf, secretOf } from './identity.ts'
import type { CardServer } from './ports/cards.ts'
import type { HeavyWork } from './ports/heavy-work.ts'
import type { Log } from './ports/log.ts'
import type { Store } from './ports/store.ts'
import type { Tracing } from './ports/tracing.ts'
import { trustedProxies, type TrustedProxies } from './service/clients.ts'
import { itemCatalogue } from './service/catalogue/items.ts'
import { publishedSchemas } from './service/catalogue/published.ts'
import { schemasOf } from './service/catalogue/json-schema.ts'
import type { Catalogue } from './service/catalogue/load.ts'
import type { Settings } from './service/config.ts'
import { purgeJob, purgePaymentsJob, purgeStretchesJob, purgeTasksJob } from './service/jobs/purge.ts'
import { runJobs, type Job, type RunningJobs } from './service/jobs/run.ts'
import { limits } from './service/limits.ts'
import { createAllowance } from './service/payments/allowance.ts'
import { createRegistrar } from './service/records/registrar.ts'
import { createPriceBook, type PriceBook } from './service/payments/price-book.ts'
import { watchRooms } from './service/telemetry/gauges.ts'
import { keepRecording } from './service/telemetry/history.ts'
import type { Reach } from './service/payments/settler.ts'
import { bankAccount, openInvoiceRoom, type InvoiceRoom } from './invoice-room.ts'
import { around, closeServer, listen, openTogether, originsOf, tracedChain } from './listening.ts'
import { neighboursOf, openLogRoom, type LogRoom } from './log-room.ts'
import { chainSources, openChain, type ChainSources } from './chain-room.ts'
import { openPaymentRoom, type PaymentRoom, type PaymentRules } from './payment-room.ts'
import { connectionsOf, createHttpServer } from './surfaces/http/node-server.ts'
import type { Origins } from './surfaces/http/reply.ts'
import { VERSION } from './version.ts'

export interface Running {
  /** Origin that the server really listens on. */
  readonly url: string
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
export async function start(
  settings: Settings,
  { reach = () => Promise.resolve(), rules = {}, stripe_at, signing_thread = availableParallelism() > 1 }: StartOptions = {},
): Promise<Running> {
  const { log, flush } = createLog(settings.ASSAY_LOG_LEVEL, systemClock)
  const { proxies } = readAhead(settings)
  const signing = await chooseSigning()
  const identity = identityOf(settings, signing)
  const ring = ringOf(settings, identity)
  const active = activeOf(ring)
  const secret = secretOf(settings)
  const cards = await cardsOf(settings, stripe_at ?? null)
  // The chain of the sandbox needs a moment to start; everything else is made ready meanwhile.
  const tracing = settings.ASSAY_TRACING === 'on' ? await openTracing(VERSION) : null
  const opening = tracedChain(tracing, openChain(settings, identity, signing, secret, log))
  const { catalogue, store, base } = await openTogether(settings, identity, log, tracing, opening)
  const prices = createPriceBook({ store, clock: systemClock })
  const lease_clock = await openStoreClock(store)
  const room = await openPaymentRoom({ settings, identity, signing, secret, store, lease_clock, prices, log, reach, rules, base })
  const facts = chainSources(base, identity, store.closed)
  const heavy = createHeavyPool(HEAVY_POOL)
  const listening = { url: '' }
  const origins = originsOf(settings, listening)
  const invoices = openInvoiceRoom({ settings, identity, signing, secret, store, room, log, origins })
  const { desk, contracts } = invoices
  const credits = openCreditRoom({ settings, signing, secret, store, prices, log, reach, origins, cards, invoices: desk, contracts })
  const log_room = await openLogRoom(settings, store, log).catch(async (error: unknown) => {
    await room.stop()
    throw error
  })
  const rooms = { credits, invoices, room, log_room, facts, heavy }
  const own = { settings, signing, signing_thread, catalogue, ring, active, secret, store, prices, origins, tracing }
  const app = createApp(appDeps({ ...rooms, ...own }, log), proxies, log)
  const server = createHttpServer(app)
  await listen(server, settings).catch(async (error: unknown) => {
    await room.stop()
    throw error
  })
  facts.start()
  listening.url = localOrigin(settings.ASSAY_HOST, (server.address() as AddressInfo).port)
  const all_jobs = [...purges(store, prices), ...room.jobs, ...invoices.jobs, ...credits.jobs, ...(log_room?.jobs ?? [])]
  const jobs = runJobs(all_jobs, store, lease_clock, log)
  const endRecording = keepRecording(recordings({ ...rooms, store, jobs, server }, app))
  for (const refusal of signing.refusals) log.warn({}, refusal)
  const stopLoading = app.loadRestSoon()
  return {
    url: listening.url,
    app,
    server,
    stop: async () => {
      stopLoading()
      invoices.stop()
      await closeServer(server)
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

interface Recorded extends Pick<Parts, 'room' | 'invoices' | 'heavy' | 'log_room' | 'store'> {
  jobs: RunningJobs
  server: Server
}

/** What is read every ten seconds, and shown by the metrics. */
function recordings({ store, jobs, server, room, invoices, heavy, log_room }: Recorded, { deps }: App) {
  return watchRooms(deps.telemetry, {
    history: deps.history,
    store,
    signing: deps.call.stamp.queue,
    heavy,
    log_queue: log_room?.queue ?? null,
    held: jobs.held,
    following: invoices.live.following,
    gas: room.gas,
    connections: connectionsOf(server),
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
}

function appDeps(parts: Parts, log: Log) {
  const { credits, invoices, room, log_room, facts, heavy } = parts
  const { settings, signing, signing_thread, catalogue, ring, active, secret, store, prices, origins, tracing } = parts
  const market = choosePrices(settings.ASSAY_MODE, systemClock)
  const queue = signing_thread ? queueOf(signing, active.private_key, log) : null
  const free = { free_daily: settings.ASSAY_FREE_DAILY, overrides: settings.ASSAY_FREE_DAILY_OVERRIDES }
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
        insurance: store.insurance,
        schemas: publishedSchemas(() => catalogue.tools),
        registrar: createRegistrar(signing.signer(active.private_key), publicKeys(ring), origins, settings.ASSAY_CHAIN_ID),
      } as const,
      probes: { ...facts.probes, prices: () => market.ready() },
      allowance: createAllowance(store, systemClock, secret, free, sourceReads(settings)),
      payments: room.payments,
      credits: { desk: credits.desk, prices },
      heavy,
      stamp: {
        signer: signing.signer(active.private_key),
        queue,
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
    invoices,
    credits,
    log: log_room && { ...log_room, handIn: (entry: string) => store.log.queue([entry], systemClock.now_ms()) },
    prices,
    place: room.place,
    sandbox: room.sandbox,
    paymentHealth: room.health,
    takes_payments: room.payments !== null,
    telemetry: createTelemetry(),
    tracing,
    chain_head: () => facts.head(),
    origins,
    mode: settings.ASSAY_MODE,
    chain_id: settings.ASSAY_CHAIN_ID,
    free,
    client_calls: settings.ASSAY_CLIENT_CALLS,
    preflight_per_minute: settings.ASSAY_PREFLIGHT_PER_MINUTE,
    keys: publicKeys(ring),
    version: VERSION,
    started_ms: systemClock.now_ms(),
  }
}

function queueOf(signing: Signing, private_key: Uint8Array, log: Log) {
  return createSigningQueue(signing.signer(private_key), private_key, (why) => log.warn({ why }, 'receipts are signed without a thread'))
}

function callFaults(log: Log) {
  return (error: unknown, tool: string) => log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, 'a call failed')
}

function sourceReads({ ASSAY_SOURCE_READS_DAILY_NETWORK, ASSAY_SOURCE_READS_DAILY }: Settings) {
  return { network: ASSAY_SOURCE_READS_DAILY_NETWORK, all: ASSAY_SOURCE_READS_DAILY }
}
