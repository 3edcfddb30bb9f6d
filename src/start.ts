import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from './adapters/clock/system.ts'
import { createDerivation } from './adapters/derivation/hmac.ts'
import { createHeavyPool } from './adapters/heavy-work/pool.ts'
import { createLog } from './adapters/log/pino.ts'
import { createNonceSource } from './adapters/random/system.ts'
import { choosePrices } from './adapters/prices/choose.ts'
import { chooseRegistrations } from './adapters/registration-data/choose.ts'
import { chooseSigning, type Signing } from './adapters/signer/choose.ts'
import { activeKey, publicKeys, type Keyring } from './adapters/signer/keyring.ts'
import { openStore } from './adapters/store/open.ts'
import { createTelemetry } from './adapters/telemetry/prometheus.ts'
import { createApp, type App } from './app.ts'
import { identityOf, localOrigin, orStop, places, ringOf, secretOf, StartError } from './identity.ts'
import type { HeavyWork } from './ports/heavy-work.ts'
import type { Log } from './ports/log.ts'
import type { Store, StoreIdentity } from './ports/store.ts'
import { trustedProxies } from './service/clients.ts'
import { itemCatalogue } from './service/catalogue/items.ts'
import { publishedSchemas } from './service/catalogue/published.ts'
import { toolSchemas } from './service/catalogue/json-schema.ts'
import { loadCatalogue, type Catalogue } from './service/catalogue/load.ts'
import { isPostgres, type Settings } from './service/config.ts'
import { purgeJob, purgePaymentsJob, purgeStretchesJob } from './service/jobs/purge.ts'
import { runJobs } from './service/jobs/run.ts'
import { limits } from './service/limits.ts'
import { createAllowance } from './service/payments/allowance.ts'
import { createRegistrar } from './service/records/registrar.ts'
import { createPriceBook, type PriceBook } from './service/payments/price-book.ts'
import type { Reach } from './service/payments/settler.ts'
import { openInvoiceRoom, type InvoiceRoom } from './invoice-room.ts'
import { chainSources, openChain, type ChainSources } from './chain-room.ts'
import { openPaymentRoom, type PaymentRoom, type PaymentRules } from './payment-room.ts'
import { createHttpServer } from './surfaces/http/node-server.ts'
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
}

/** Settings → adapters → app → listen. Rejects with a StartError when something is missing or contradictory. */
export async function start(settings: Settings, { reach = () => Promise.resolve(), rules = {} }: StartOptions = {}): Promise<Running> {
  const { log, flush } = createLog(settings.ASSAY_LOG_LEVEL)
  const proxies = orStop(trustedProxies(settings.ASSAY_TRUSTED_PROXIES)).proxies
  const signing = await chooseSigning()
  const identity = identityOf(settings, signing)
  const ring = ringOf(settings, identity)
  const secret = secretOf(settings)
  // The chain of the sandbox needs a moment to start; everything else is made ready meanwhile.
  const base = openChain(settings, identity, signing, secret, log)
  const [catalogue, store] = await Promise.all([loadCatalogue(), openChecked(settings, identity, log)]).catch(async (error: unknown) => {
    await base.then((opened) => opened?.stop())
    throw error
  })
  const prices = createPriceBook({ store, clock: systemClock })
  const room = await openPaymentRoom({ settings, identity, signing, secret, store, prices, log, reach, rules, base })
  const facts = chainSources(await base, identity, store.closed)
  const heavy = createHeavyPool(HEAVY_POOL)
  const listening = { url: '' }
  const origins = originsOf(settings, listening)
  const invoices = openInvoiceRoom({ settings, identity, signing, secret, store, room, log, origins })
  const app = createApp(
    appDeps({ invoices, settings, signing, catalogue, ring, secret, store, prices, room, facts, heavy, origins }, log),
    proxies,
    log,
  )
  const server = createHttpServer(app)
  await listen(server, settings).catch(async (error: unknown) => {
    await room.stop()
    throw error
  })
  facts.start()
  listening.url = localOrigin(settings.ASSAY_HOST, (server.address() as AddressInfo).port)
  const jobs = runJobs(
    [purgeJob(store), purgePaymentsJob(store, prices), purgeStretchesJob(store), ...room.jobs, ...invoices.jobs],
    store,
    systemClock,
    log,
  )
  for (const refusal of signing.refusals) log.warn({}, refusal)
  return {
    url: listening.url,
    app,
    server,
    stop: async () => {
      await closeServer(server)
      facts.stop()
      await heavy.stop()
      await jobs.stop()
      await room.stop()
      await store.close()
      flush()
    },
  }
}

const HEAVY_POOL = {
  module: new URL('./heavy-worker.ts', import.meta.url),
  workers: limits.heavy_workers,
  queue: limits.heavy_queue,
  deadline_ms: limits.heavy_ms,
  memory_mb: limits.heavy_memory_mb,
}

interface Parts {
  invoices: InvoiceRoom
  settings: Settings
  signing: Signing
  catalogue: Catalogue
  ring: Keyring
  secret: Uint8Array
  store: Store
  prices: PriceBook
  room: PaymentRoom
  facts: ChainSources
  heavy: HeavyWork
  origins: Origins
}

function appDeps({ invoices, settings, signing, catalogue, ring, secret, store, prices, room, facts, heavy, origins }: Parts, log: Log) {
  const active = activeKey(ring)
  if (active === undefined) throw new StartError('No receipt key is active; "assay keys rotate" makes one.')
  const market = choosePrices(settings.ASSAY_MODE, systemClock)
  const free = { free_daily: settings.ASSAY_FREE_DAILY, overrides: settings.ASSAY_FREE_DAILY_OVERRIDES }
  return {
    call: {
      catalogue,
      sources: {
        clock: systemClock,
        catalogue: itemCatalogue(() => catalogue.tools),
        crypto: signing.crypto,
        registrations: chooseRegistrations(settings.ASSAY_MODE, systemClock),
        chain: facts.chain,
        transfers: facts.transfers,
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
      allowance: createAllowance(store, systemClock, secret, free, {
        network: settings.ASSAY_SOURCE_READS_DAILY_NETWORK,
        all: settings.ASSAY_SOURCE_READS_DAILY,
      }),
      payments: room.payments,
      heavy,
      stamp: {
        signer: signing.signer(active.private_key),
        crypto: signing.crypto,
        clock: systemClock,
        recipient: room.place.pay_to,
        origins,
        randomNonce: createNonceSource(),
      },
      onFault: (error: unknown, tool: string) =>
        log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, 'a call failed'),
    },
    schemas: new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)])),
    store,
    invoices,
    prices,
    place: room.place,
    sandbox: room.sandbox,
    paymentHealth: room.health,
    takes_payments: room.payments !== null,
    telemetry: createTelemetry(),
    origins,
    mode: settings.ASSAY_MODE,
    chain_id: settings.ASSAY_CHAIN_ID,
    free,
    preflight_per_minute: settings.ASSAY_PREFLIGHT_PER_MINUTE,
    keys: publicKeys(ring),
    version: VERSION,
    started_ms: systemClock.now_ms(),
  }
}

/** The store, once it is known to belong to this deployment. */
async function openChecked(settings: Settings, identity: StoreIdentity, log: Log): Promise<Store> {
  const target = places.store(settings)
  const store = await openStore(target).catch((error: unknown) => {
    log.error({ error: String(error) }, 'the store did not open')
    throw new StartError(`ASSAY_STORE cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}`)
  })
  const written = await store.identity(identity)
  if (written.mode === identity.mode && written.chain_id === identity.chain_id && written.pay_to === identity.pay_to) return store
  await store.close()
  const describe = (one: StoreIdentity) => `${one.mode}, chain ${one.chain_id}, pay-to ${one.pay_to}`
  throw new StartError(
    `The store belongs to ${describe(written)}, the settings to ${describe(identity)}; use another ASSAY_STORE or${isPostgres(target) ? ' database or' : ''} restore the settings.`,
  )
}

/** The public origins; what is not set is the address that the server listens on, known once it does. */
function originsOf(settings: Settings, listening: { url: string }): Origins {
  const origin = (value: string) => ({ enumerable: true, get: () => value || listening.url })
  return Object.defineProperties({} as Origins, {
    base_url: origin(settings.ASSAY_BASE_URL),
    api_url: origin(settings.ASSAY_API_URL),
    site_url: origin(settings.ASSAY_SITE_URL),
    mcp_url: origin(settings.ASSAY_MCP_URL),
  })
}

function listen(server: Server, settings: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const fix =
        error.code === 'EADDRINUSE' ? 'is taken; stop the other program or set ASSAY_PORT' : `cannot be opened (${error.code ?? 'unknown'})`
      reject(new StartError(`Port ${settings.ASSAY_PORT} on ${settings.ASSAY_HOST} ${fix}.`))
    })
    server.listen(settings.ASSAY_PORT, settings.ASSAY_HOST, resolve)
  })
}

/** No new connections; idle ones go at once, busy ones when their answer is out, all of them after the longest wait. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const last = setTimeout(() => server.closeAllConnections(), limits.stop_ms)
    server.close(() => {
      clearTimeout(last)
      resolve()
    })
    server.closeIdleConnections()
  })
}
