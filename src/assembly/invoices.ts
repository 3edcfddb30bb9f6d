import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import type { StoreIdentity } from '../ports/store.ts'
import { bankFault, plainIban, type BankAccount } from '../pure/invoices/links.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import type { Settings } from '../service/config.ts'
import { createContractSignatures, type ContractSignatures } from '../service/invoices/contract-signature.ts'
import { createInvoiceDesk, type InvoiceDesk } from '../service/invoices/desk.ts'
import { createInvoiceLive, type InvoiceLive } from '../service/invoices/live.ts'
import { createInvoiceRelay, type InvoiceRelay } from '../service/invoices/relay.ts'
import { INVOICE_RULES } from '../service/invoices/rules.ts'
import { createInvoiceWatch } from '../service/invoices/watch.ts'
import type { Job } from '../service/jobs/run.ts'
import type { Deployment } from './deployment.ts'
import { StartError } from './identity.ts'
import type { PaymentRoom } from './payments.ts'

/** Everything about invoices that is assembled at start. */
export interface InvoiceRoom {
  desk: InvoiceDesk
  /** Null where nothing can settle. */
  relay: InvoiceRelay | null
  live: InvoiceLive
  /** Asks contract wallets for their signatures; null where there is no chain. */
  contracts: ContractSignatures | null
  jobs: Job[]
  /** Ends the streams of all who follow an invoice. */
  stop(): void
}

export function openInvoiceRoom(deployment: Deployment, room: PaymentRoom): InvoiceRoom {
  const { settings, identity, signing, secret, store, clock, log, origins, reads, receipt_signer } = deployment
  const derive = createDerivation(secret)
  const { settling } = room
  const { account, owners } = bankOfSettings(settings, identity)
  const watching = { store: store.invoices, payments: store.payments, clock, log, chain_id: identity.chain_id }
  const watch = settling === null ? null : createInvoiceWatch({ ...watching, source: settling.source, transactions: settling.transactions })
  const contracts = settling === null ? null : createContractSignatures((asked) => settling.source.chain.read(asked), reads)
  const desk = createInvoiceDesk({
    store: store.invoices,
    clock,
    crypto: signing.crypto,
    derive,
    random: createNonceSource(),
    chain_id: identity.chain_id,
    token: usdcOn(identity.chain_id).address.toLowerCase(),
    site_url: () => origins.site_url,
    bankOf: (merchant) => (owners.includes(merchant) ? account : null),
    carries: settling?.desk.settler.method === 'self',
    watch,
    contracts,
    reads,
    pilot_merchant: settings.ASSAY_PILOT_CREDIT === 'on' ? identity.pay_to : null,
    operator_key: receipt_signer,
  })
  const live = createInvoiceLive({ desk, clock })
  const reading = setInterval(() => {
    live.round().catch((error: unknown) => log.warn({ error: String(error) }, 'followed invoices could not be read'))
  }, INVOICE_RULES.live_every_ms)
  reading.unref()
  const stop = () => {
    clearInterval(reading)
    live.stop()
  }
  if (settling === null || watch === null) return { desk, relay: null, live, contracts, jobs: [], stop }
  const relay = createInvoiceRelay({ desk: settling.desk, place: room.place, store, clock, derive, watch })
  const job = { name: 'invoices', every_ms: INVOICE_RULES.watch_every_ms, run: (now_ms: number) => watch.round(now_ms) }
  return { desk, relay, live, contracts, jobs: [job], stop }
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
