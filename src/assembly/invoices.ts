import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createWebhookSender } from '../adapters/public-https/webhook-sender.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import type { StoreIdentity } from '../ports/store.ts'
import { bankFault, plainIban, type BankAccount } from '../pure/invoices/links.ts'
import { networkOf } from '../pure/networks.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import type { Settings } from '../service/config.ts'
import { createContractSignatures, type ContractSignatures } from '../service/invoices/contract-signature.ts'
import { createInvoiceService, type InvoiceService } from '../service/invoices/invoice-service.ts'
import { createInvoiceLive, type InvoiceLive } from '../service/invoices/live.ts'
import { purgeInvoicesJob } from '../service/invoices/purged.ts'
import { createInvoiceRelay, type InvoiceRelay } from '../service/invoices/relay.ts'
import { createNewMerchantQuota } from '../service/invoices/new-merchants.ts'
import { createWriteBudget } from '../service/invoices/write-budget.ts'
import { networkHasher, providerHasher } from '../service/clients.ts'
import { INVOICE_RULES, CREDIT_RULES } from '../service/limits.ts'
import { createWebhookChallenger } from '../service/webhooks/webhook-challenges.ts'
import { createReceiverRate } from '../service/webhooks/receiver-rate.ts'
import { createWebhookDeliveries, type WebhookDeliveries } from '../service/webhooks/webhook-deliveries.ts'
import { createWebhookService, type WebhookService } from '../service/webhooks/webhook-service.ts'
import { createInvoiceWatch } from '../service/invoices/watch.ts'
import { type Job, creditsJob } from '../service/jobs/jobs.ts'
import type { Deployment } from './deployment.ts'
import { StartError } from './identity.ts'
import type { PaymentParts } from './payments.ts'
import { openCards } from '../adapters/cards/open.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { CardServer, Cards } from '../ports/cards.ts'
import { createCreditService, type CreditService, createInFlightUses, createWrongCodeCounter } from '../service/credits/credit-service.ts'
import {
  releasePilot,
  type PilotReleased,
  createCreditCheckout,
  handOver,
  type CodeShown,
  type CreditCheckout,
} from '../service/credits/credit-checkout.ts'
import type { FaultHook } from '../service/payments/settlement.ts'

/** Invoices, and what follows them: the webhooks that report their events, and the credits that they buy. */
export interface InvoicingParts {
  invoices: InvoiceParts
  webhooks: WebhookParts
  credits: CreditParts
}

/** `cards` is null where they are off. */
export function openInvoicing(
  deployment: Deployment,
  room: PaymentParts,
  { reach, cards }: { reach: FaultHook; cards: Cards | null },
): InvoicingParts {
  const invoices = openInvoices(deployment, room)
  return { invoices, webhooks: openWebhooks(deployment, invoices), credits: openCredits(deployment, { reach, cards, invoices }) }
}

/** Everything about invoices that is assembled at start. */
interface InvoiceParts {
  service: InvoiceService
  /** Null where nothing can settle. */
  relay: InvoiceRelay | null
  live: InvoiceLive
  /** Asks contract wallets for their signatures; null where there is no chain. */
  contracts: ContractSignatures | null
  jobs: Job[]
  /** Ends the streams of all who follow an invoice. */
  stop(): void
}

function openInvoices(deployment: Deployment, room: PaymentParts): InvoiceParts {
  const { settings, identity, signing, secret, store, clock, log, origins, reads, receipt_signer } = deployment
  const derive = createDerivation(secret)
  const { settling } = room
  const { account, owners } = bankOfSettings(settings, identity)
  const watching = { store: store.invoices, payments: store.payments, clock, log, chain_id: identity.chain_id }
  const watch = settling === null ? null : createInvoiceWatch({ ...watching, source: settling.source, transactions: settling.transactions })
  const contracts = settling === null ? null : createContractSignatures((asked) => settling.source.chain.read(asked), reads)
  const desk = createInvoiceService({
    store: store.invoices,
    clock,
    crypto: signing.crypto,
    derive,
    random: createNonceSource(),
    chain_id: identity.chain_id,
    token: usdcOn(identity.chain_id).address.toLowerCase(),
    site_url: () => origins.site_url,
    bankOf: (merchant) => (owners.includes(merchant) ? account : null),
    explorer_url: settings.ASSAY_MODE === 'live' ? (networkOf(identity.chain_id)?.explorer_url ?? null) : null,
    carries: settling?.desk.settler.method === 'self',
    ...(settling === null ? {} : { sponsoring: settling.sponsoring }),
    hasFactory: settling?.hasFactory ?? (() => Promise.resolve(false)),
    watch,
    contracts,
    reads,
    quota: createNewMerchantQuota({ store, clock, derive }),
    budget: createWriteBudget(store.invoices, clock, settings.ASSAY_MERCHANT_WRITES_PER_MINUTE),
    pilot_merchant: settings.ASSAY_PILOT_CREDIT === 'on' ? identity.pay_to : null,
    operator_key: receipt_signer,
  })
  const live = createInvoiceLive({ desk, invoices: store.invoices, clock })
  const reading = setInterval(() => {
    live.round().catch((error: unknown) => log.warn({ error: String(error) }, 'followed invoices could not be read'))
  }, INVOICE_RULES.live_every_ms)
  reading.unref()
  const stop = () => {
    clearInterval(reading)
    live.stop()
  }
  const purging = purgeInvoicesJob(store.invoices)
  if (settling === null || watch === null) return { service: desk, relay: null, live, contracts, jobs: [purging], stop }
  const relay = createInvoiceRelay({
    payments: settling.desk,
    terms: room.terms,
    store,
    clock,
    derive,
    watch,
    sponsoring: settling.sponsoring,
  })
  const job = { name: 'invoices', every_ms: INVOICE_RULES.watch_every_ms, run: (now_ms: number) => watch.round(now_ms) }
  return { service: desk, relay, live, contracts, jobs: [job, purging], stop }
}

/** Webhooks of a deployment: the service behind the endpoints, and the delivery of what the store has queued. */
interface WebhookParts {
  service: WebhookService
  deliveries: WebhookDeliveries
}

function openWebhooks(deployment: Deployment, { contracts }: Pick<InvoiceParts, 'contracts'>): WebhookParts {
  const { settings, signing, secret, store, clock, log, origins } = deployment
  const rate = createReceiverRate(clock)
  const sender = createWebhookSender({ loopback: settings.ASSAY_WEBHOOK_LOOPBACK === 'on', resolve: deployment.outside_names, rate })
  const sealer = createSealer(secret)
  const service = createWebhookService({
    store: store.webhooks,
    invoices: store.invoices,
    sender,
    clock,
    crypto: signing.crypto,
    derive: createDerivation(secret),
    sealer,
    contracts,
    networkHash: networkHasher(secret),
    providerHash: providerHasher(secret),
    random: createNonceSource(),
    service: () => origins.api_url,
  })
  const shared = { store: store.webhooks, sender, rate, sealer, clock, log }
  const derive = createDerivation(secret)
  const challenger = createWebhookChallenger({ ...shared, budgets: store, derive, random: createNonceSource() })
  const deliveries = createWebhookDeliveries({ ...shared, invoices: store.invoices, challenges: challenger })
  const stop = async () => void (await Promise.all([deliveries.stop(), challenger.stop()]))
  return { service, deliveries: { ...deliveries, stop } }
}

/** The operator's account and the merchants whose invoices show it. Throws a StartError for one that cannot be shown. */
export function bankOfSettings(settings: Settings, identity: StoreIdentity): { account: BankAccount | null; owners: string[] } {
  const merchants = settings.ASSAY_BANK_MERCHANTS
  return { account: bankAccount(settings), owners: merchants.length === 0 ? [identity.pay_to] : [...merchants] }
}

/** Null where none is set. Throws a StartError for one that cannot be shown. */
export function bankAccount(settings: Settings): BankAccount | null {
  const { ASSAY_BANK_IBAN, ASSAY_BANK_NAME, ASSAY_BANK_BIC, ASSAY_BANK_INSTITUTION, ASSAY_BANK_CURRENCY } = settings
  if (ASSAY_BANK_IBAN === '') return null
  const account: BankAccount = {
    account_name: ASSAY_BANK_NAME,
    iban: ASSAY_BANK_IBAN,
    bic: ASSAY_BANK_BIC === '' ? null : ASSAY_BANK_BIC,
    bank_name: ASSAY_BANK_INSTITUTION === '' ? null : ASSAY_BANK_INSTITUTION,
    country: plainIban(ASSAY_BANK_IBAN).slice(0, 2),
    currency: ASSAY_BANK_CURRENCY,
  }
  const fault = bankFault(account)
  if (fault !== null) throw new StartError(`ASSAY_BANK_${fault.field} ${fault.words}.`)
  return account
}

/** Parts for credits, assembled at start. Credits that were granted stay usable when the settings change later. */
interface CreditParts {
  service: CreditService
  /** Null where cards are off. */
  checkout: CreditCheckout | null
  handOver(session_id: string, secret: string, seen: boolean): Promise<CodeShown>
  release(invoice_id: string, signature: string | null, client: string): Promise<PilotReleased>
  jobs: Job[]
}

/** Parts of other services that credits use. */
interface CreditNeighbours {
  reach: FaultHook
  /** Null where cards are off. */
  cards: Cards | null
  invoices: InvoiceParts
}

function openCredits(deployment: Deployment, { reach, cards, invoices }: CreditNeighbours): CreditParts {
  const { settings, signing, secret, store, prices, clock, log, origins, reads } = deployment
  const sealer = createSealer(secret)
  const derive = createDerivation(secret)
  const onFault = (error: unknown) => log.error({ error: String(error) }, 'a credit met a fault')
  const shared = { store: store.credits, clock, derive, sealer, randomNonce: createNonceSource(), onFault }
  const desk = createCreditService({
    ...shared,
    inFlightUses: createInFlightUses(store.credits, clock),
    prices,
    countWrong: createWrongCodeCounter(store, clock, secret),
    reach,
  })
  const { service: invoice_desk, contracts } = invoices
  const pilot = { ...shared, invoices: invoice_desk, contracts, reads, crypto: signing.crypto, chain_id: settings.ASSAY_CHAIN_ID }
  const packs_usd = settings.ASSAY_CREDIT_PACKS.map(Number)
  return {
    service: desk,
    checkout: cards === null ? null : createCreditCheckout({ ...shared, cards, packs_usd, origins, reads }),
    handOver: (session_id, given, seen) => handOver({ store: store.credits, sealer, crypto: signing.crypto }, session_id, given, seen),
    release: (invoice_id, signature, client) => releasePilot(pilot, invoice_id, signature, client),
    jobs: [creditsJob(store)],
  }
}

/** Card payments as the settings have them; null where they are off. Throws a StartError for keys that do not fit. */
export async function cardsOf(settings: Settings, stripe_at: CardServer | null): Promise<Cards | null> {
  const { ASSAY_STRIPE_SECRET_KEY_FILE, ASSAY_STRIPE_WEBHOOK_SECRET_FILE, ASSAY_MODE, ASSAY_CHAIN_ID } = settings
  if (ASSAY_STRIPE_SECRET_KEY_FILE === '') return null
  const opened = await openCards({
    secret_key_file: ASSAY_STRIPE_SECRET_KEY_FILE,
    webhook_secret_file: ASSAY_STRIPE_WEBHOOK_SECRET_FILE,
    real: ASSAY_MODE === 'live' && ASSAY_CHAIN_ID === 8_453,
    tolerance_s: CREDIT_RULES.notice_tolerance_s,
    ...(stripe_at === null ? {} : { at: stripe_at }),
  })
  if (!opened.ok) throw new StartError(opened.message)
  return opened.cards
}
