/**
 * The service without its chain, for the suites `paid-call` and `voucher-call`: store, payment service, price book, sealer, signer and
 * application are the real ones, over SQLite. Three parts are stubs: the on-chain check accepts every signature of the payer's key, the
 * settler marks the row as settled without sending anything, and every payment channel is well funded. No jobs run.
 */
import { noNameScreening } from '../src/service/catalogue/names.ts'
import { createOutsideResolver } from '../src/adapters/public-https/outside-names.ts'
import { bundledScreening } from '../src/pure/checks/ofac.ts'
import { operatorReport } from '../src/service/telemetry/operator-report.ts'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { noChain } from '../src/adapters/chain/facts.ts'
import { systemClock } from '../src/adapters/clock/system.ts'
import { createDerivation } from '../src/adapters/derivation/hmac.ts'
import { createLog } from '../src/adapters/log/pino.ts'
import { createNonceSource } from '../src/adapters/random/system.ts'
import { samplePrices } from '../src/adapters/prices/choose.ts'
import { sampleProofs, sampleRegistrations } from '../src/adapters/public-https/choose.ts'
import { createWebhookSender } from '../src/adapters/public-https/webhook-sender.ts'
import { createSealer } from '../src/adapters/secret/sealer.ts'
import { nativeLogEntry } from '../src/adapters/log-signer/ed25519.ts'
import { chooseSigning, type SigningBackend } from '../src/adapters/signer/choose.ts'
import { activeKey, publicKeys } from '../src/adapters/signer/keyring.ts'
import { createSigningQueue } from '../src/adapters/signer/queue.ts'
import { openStore } from '../src/adapters/store/open.ts'
import { createTelemetry } from '../src/adapters/telemetry/prometheus.ts'
import { createApp } from '../src/assembly/app.ts'
import { identityOf, orStop, places, ringOf, secretOf } from '../src/assembly/identity.ts'
import { paymentTermsOf } from '../src/assembly/payments.ts'
import type { ChainRead, ChainReadResult } from '../src/ports/chain.ts'
import type { Store } from '../src/ports/store.ts'
import { channelsCall, createChannelHashes, refundNonceCall } from '../src/pure/payments/channels.ts'
import { createAuthorizationDigest } from '../src/pure/payments/eip3009.ts'
import { itemCatalogue } from '../src/service/catalogue/decode.ts'
import { publishedSchemas, toolSchemas } from '../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { networkHasher, providerHasher, trustedProxies } from '../src/service/clients.ts'
import { readSettings } from '../src/service/read-settings.ts'
import { CHANNEL_RULES } from '../src/service/limits.ts'
import { createInvoiceService } from '../src/service/invoices/invoice-service.ts'
import { createNewMerchantQuota } from '../src/service/invoices/new-merchants.ts'
import { createWriteBudget } from '../src/service/invoices/write-budget.ts'
import { createAllowance, createSourceBudget, createOutsideReads } from '../src/service/payments/allowance.ts'
import { createFailureCount, ON_CHAIN_LIMITS, createPayerStatus } from '../src/service/payments/reserved-balances.ts'
import { createChannelService } from '../src/service/payments/channel-service.ts'
import type { PaymentServiceParts } from '../src/service/payments/payment-parts.ts'
import { createInFlightClaims, createPaymentService } from '../src/service/payments/payment-service.ts'
import { createCreditService, createInFlightUses } from '../src/service/credits/credit-service.ts'
import { createMismatches, createSignIn } from '../src/service/payments/resends.ts'
import { type OnChainCheck, ON_CHAIN_REFUSALS } from '../src/service/payments/on-chain.ts'
import { createLogQueue } from '../src/service/log/receipts-log.ts'
import { createPriceBook, EPOCH_MS } from '../src/service/payments/price-book.ts'
import { gasNotCompared, NOT_COMPARED } from '../src/service/payments/gas-watch.ts'
import type { Settler } from '../src/service/payments/settlement.ts'
import type { PaymentTerms } from '../src/service/payments/terms.ts'
import { createRegistrar } from '../src/service/records/insurance.ts'
import { createReceiverRate } from '../src/service/webhooks/receiver-rate.ts'
import { createWebhookService } from '../src/service/webhooks/webhook-service.ts'
import { createHttpServer } from '../src/surfaces/http/node-server.ts'
import type { AppDeps } from '../src/surfaces/deps.ts'
import { VERSION } from '../src/assembly/deployment.ts'

const RICH_MINOR = 1_000_000_000_000n
const STUB = 'no wallet, this is a benchmark'

const { settings } = orStop(readSettings(process.env))
const { log, flush } = createLog(settings.ASSAY_LOG_LEVEL, systemClock)
const signing = await chooseSigning()
const identity = identityOf(settings, signing)
const ring = ringOf(settings, identity)
const secret = secretOf(settings)
const [catalogue, store] = await Promise.all([loadCatalogue(), openStore(places.store(settings), { sealer: createSealer(secret) })])
await store.identity(identity)
const authorizer = signing.signer(randomBytes(32))
const { withdraw_delay_s, deposit_prices } = CHANNEL_RULES
const place: PaymentTerms = {
  ...paymentTermsOf(identity),
  ...(settings.ASSAY_BATCH_SETTLEMENT === 'on' && {
    channels: { receiver_authorizer: authorizer.address, withdraw_delay_s, deposit_prices },
  }),
}
const prices = createPriceBook({ store, clock: systemClock })
const free = { free_daily: settings.ASSAY_FREE_DAILY ?? 0, overrides: settings.ASSAY_FREE_DAILY_OVERRIDES }
const origin = `http://127.0.0.1`
const origins = { base_url: origin, api_url: origin, site_url: origin, mcp_url: origin }

const app = createApp(deps(), orStop(trustedProxies(settings.ASSAY_TRUSTED_PROXIES)).proxies, log)
const server = createHttpServer(app)
server.listen(0, '127.0.0.1', () => process.stderr.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
process.once('SIGTERM', () => server.close(() => void store.close().then(flush)))

function deps(): Omit<AppDeps, 'inFlight' | 'history'> {
  const active = activeKey(ring)
  if (active === undefined) throw new Error('no receipt key is active')
  const onFault = (error: unknown) => log.error({ error: String(error) }, 'a call failed')
  const registrar = createRegistrar(signing.signer(active.private_key), publicKeys(ring), origins, place.chain_id)
  return {
    call: {
      catalogue,
      sources: {
        clock: systemClock,
        catalogue: itemCatalogue(() => catalogue.tools),
        crypto: signing.crypto,
        prices: samplePrices(systemClock),
        registrations: sampleRegistrations(systemClock),
        names: noNameScreening,
        screening: { on_stale_list: 'report', active: bundledScreening },
        ...noChain(place.chain_id),
        assured: store.assured,
        invoices: invoices(),
        derive: createDerivation(secret),
        disputes: store.disputes,
        insurance: store.insurance,
        schemas: publishedSchemas(() => catalogue.tools),
        registrar,
      },
      probes: {},
      allowance: createAllowance(store, systemClock, secret, free),
      heavy: null,
      payments: { service: desk(onFault), prices, terms: place },
      issuer: {
        signer: signing.signer(active.private_key),
        queue: createSigningQueue(signing.signer(active.private_key), active.private_key, () => undefined),
        log: createLogQueue(store.log, systemClock, log, nativeLogEntry),
        crypto: signing.crypto,
        clock: systemClock,
        recipient: place.pay_to,
        origins,
        randomNonce: createNonceSource(),
      },
      onFault,
    },
    schemas: new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)])),
    store,
    log: null,
    replication: () => 'none',
    stored_answers: { keep: () => Promise.resolve(null), fetch: () => Promise.resolve(null) },
    tasks: store.tasks,
    sealer: createSealer(secret),
    credits: {
      service: creditDesk(onFault),
      checkout: null,
      handOver: () => Promise.resolve({ status: 'waiting' }),
      release: () => Promise.reject(new Error('no pilot here')),
    },
    invoices: {
      service: invoices(),
      relay: null,
      live: {
        favours: () => Promise.resolve(false),
        follow: () => ({ kind: 'refused', limit: 'stopping' }),
        following: () => 0,
        round: () => Promise.resolve(),
        stop: () => undefined,
      },
    },
    webhooks: createWebhookService({
      store: store.webhooks,
      invoices: store.invoices,
      sender: createWebhookSender({
        loopback: false,
        resolve: createOutsideResolver(systemClock),
        rate: createReceiverRate(systemClock),
      }),
      clock: systemClock,
      crypto: signing.crypto,
      derive: createDerivation(secret),
      sealer: createSealer(secret),
      contracts: null,
      networkHash: networkHasher(secret),
      providerHash: providerHasher(secret),
      random: createNonceSource(),
      service: () => origins.api_url,
    }),
    insurance: {
      clock: systemClock,
      crypto: signing.crypto,
      registrar,
      insurance: store.insurance,
      contracts: null,
      proofs: sampleProofs(),
      reads: outsideReads(),
      wasPaid: () => Promise.resolve(false),
      providerHash: providerHasher(secret),
      networkHash: networkHasher(secret),
    },
    prices,
    terms: place,
    sandbox: null,
    paymentHealth: () => Promise.resolve({ enabled: true, method: 'self', chain_ok: true, ready: true, overdue: 0 }),
    operator: {
      gas: () => [],
      gas_prices: () => [],
      sponsoring: null,
      source_reads_daily: 0,
      source_reads_used: () => Promise.resolve(0),
      report: () =>
        operatorReport({
          store,
          clock: systemClock,
          gas: () => [],
          gas_prices: () => [],
          sponsoring: null,
          datasets: () => [],
          resources: () => [],
        }),
    },
    takes_payments: true,
    preflight_per_minute: settings.ASSAY_PREFLIGHT_PER_MINUTE,
    datasets: { ages: () => [], list: () => [], text: () => Promise.resolve(null) },
    telemetry: createTelemetry(),
    chain_head: () => null,
    origins,
    mode: settings.ASSAY_MODE,
    chain_id: settings.ASSAY_CHAIN_ID,
    free,
    keys: publicKeys(ring),
    version: VERSION,
    started_ms: systemClock.now_ms(),
  }
}

function creditDesk(onFault: (error: unknown) => void) {
  return createCreditService({
    store: store.credits,
    inFlightUses: createInFlightUses(store.credits, systemClock),
    clock: systemClock,
    derive: createDerivation(secret),
    sealer: createSealer(secret),
    prices,
    randomNonce: createNonceSource(),
    countWrong: () => Promise.resolve(true),
    onFault,
    reach: () => Promise.resolve(),
  })
}

function desk(onFault: (error: unknown) => void) {
  const settler = closer(store)
  const parts: PaymentServiceParts = {
    store: store.payments,
    inFlightClaims: createInFlightClaims(store.payments, systemClock),
    sealer: createSealer(secret),
    clock: systemClock,
    chain_id: place.chain_id,
    asset: null,
    digest: digestOf(place, signing),
    crypto: signing.crypto,
    onChain: signedByPayer,
    payerBalances: () => Promise.resolve(null),
    uses: {
      find: () => Promise.resolve({ kind: 'unread' }),
      countRefused: () => undefined,
      isUsed: () => Promise.resolve(null),
      remember: () => undefined,
      remembered: () => null,
      offers: () => [],
      takeUnproven: () => Promise.resolve(false),
    },
    settler,
    payerStatus: createPayerStatus({ store: store.payments, clock: systemClock, sealer: createSealer(secret), settler }),
    mismatches: createMismatches(store, systemClock, secret),
    signIn: createSignIn({
      store,
      clock: systemClock,
      sealer: createSealer(secret),
      crypto: signing.crypto,
      chain_id: place.chain_id,
      api_url: () => origins.api_url,
      randomNonce: createNonceSource(),
    }),
    onFault,
    reach: () => Promise.resolve(),
  }
  return createPaymentService({ ...parts, channels: place.channels === undefined ? null : vouchers(parts) })
}

function vouchers(payments: PaymentServiceParts) {
  const { crypto } = signing
  return createChannelService({
    payments,
    store,
    chain: { read: (reads) => Promise.resolve(reads.map(fundedChannel)) },
    steady_ms: () => performance.now(),
    chain_id: place.chain_id,
    rules: CHANNEL_RULES,
    hashes: createChannelHashes(place.chain_id, crypto),
    receiver_authorizer: authorizer.address,
    gas: gasNotCompared(place.chain_id, `eip155:${place.chain_id}`, NOT_COMPARED.sandbox),
    crypto,
    failures: createFailureCount(systemClock, ON_CHAIN_LIMITS),
    trips: { take: () => true },
    networkHash: networkHasher(secret),
  })
}

/** Replaces the contract of channels: each has the same balance, and nothing was claimed, withdrawn or refunded. */
function fundedChannel(read: ChainRead): ChainReadResult {
  if (read.kind !== 'call') return { ok: false, revert: '0x', message: STUB }
  const is = (call: (channel_id: string) => string) => read.data === call(`0x${read.data.slice(-64)}`)
  const words = is(channelsCall) ? [RICH_MINOR, 0n] : is(refundNonceCall) ? [0n] : [0n, 0n]
  return { ok: true, data: `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}` }
}

function digestOf({ token, chain_id }: PaymentTerms, { crypto }: SigningBackend) {
  return createAuthorizationDigest(
    { name: token.name, version: token.version, chain_id, verifying_contract: token.address },
    crypto.keccak256,
  )
}

/** Replaces the chain's signature check; the signer was already recovered. */
function signedByPayer(...[{ from, signature }, recovered]: Parameters<OnChainCheck>): ReturnType<OnChainCheck> {
  const found =
    recovered === from
      ? { ok: true as const, balance_minor: RICH_MINOR, contract_payer: false, signature }
      : ON_CHAIN_REFUSALS.accountSignature
  return Promise.resolve(found)
}

/** Replaces gas wallet and chain; the transaction hash is derived from the nonce. */
function closer({ payments }: Store): Settler {
  return {
    method: 'self',
    ready: () => Promise.resolve({ ok: true, settler: STUB }),
    gas_share: () => ({ network_wei: 1n, failure_wei: 0n }),
    async settle(payment) {
      const { payer, nonce } = payment
      const settled_ms = systemClock.now_ms()
      const settled_at = { transaction: nonce, block_number: 1, block_hash: nonce }
      const [moved] = await payments.apply_transitions(
        [{ to: 'settled', settled_at, payer, nonce }],
        Math.floor(settled_ms / EPOCH_MS),
        settled_ms,
      )
      if (moved !== true) return { kind: 'pending', transaction: null }
      return { kind: 'settled', payment: { ...payment, ...settled_at, state: 'settled', settled_ms, updated_ms: settled_ms } }
    },
  }
}

/** No measured call draws on it. */
function outsideReads() {
  const failures = createFailureCount(systemClock, ON_CHAIN_LIMITS)
  return createOutsideReads({ clock: systemClock, sources: createSourceBudget(store, systemClock, secret), failures })
}

/** No measured call makes one. */
function invoices() {
  return createInvoiceService({
    store: store.invoices,
    clock: systemClock,
    crypto: signing.crypto,
    derive: createDerivation(secret),
    random: createNonceSource(),
    chain_id: place.chain_id,
    token: place.token.address.toLowerCase(),
    explorer_url: null,
    site_url: () => origins.site_url,
    bankOf: () => null,
    carries: false,
    hasFactory: () => Promise.resolve(false),
    watch: null,
    contracts: null,
    reads: outsideReads(),
    quota: createNewMerchantQuota({ store, clock: systemClock, derive: createDerivation(secret) }),
    budget: createWriteBudget(store.invoices, systemClock),
    pilot_merchant: null,
    operator_key: { sign: () => '0x' },
  })
}
