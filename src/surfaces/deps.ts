import type { ListAge } from '../pure/checks/ofac.ts'
import type { KeyList } from '../pure/receipts/keys.ts'
import type { Sealer } from '../ports/signer.ts'
import type { SandboxNode } from '../ports/sandbox.ts'
import type { Store } from '../ports/store.ts'
import type { TaskStore } from '../ports/tasks.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { CallDeps } from '../service/calls/call.ts'
import type { StoredAnswers } from '../service/calls/answer-detail.ts'
import type { CreditService } from '../service/credits/credit-service.ts'
import type { PilotReleased, CodeShown, CreditCheckout } from '../service/credits/credit-checkout.ts'
import type { InvoiceService } from '../service/invoices/invoice-service.ts'
import type { InvoiceLive } from '../service/invoices/live.ts'
import type { InvoiceRelay } from '../service/invoices/relay.ts'
import type { SchemaList } from '../service/catalogue/wire-schemas.ts'
import type { AllowanceRules } from '../service/payments/allowance.ts'
import type { Sponsoring } from '../service/invoices/sponsored.ts'
import type { GasView } from '../service/payments/gas-watch.ts'
import type { GasStatus } from '../service/payments/writer-rules.ts'
import type { PriceBook } from '../service/payments/price-book.ts'
import type { PaymentTerms } from '../service/payments/terms.ts'
import type { NetworkState } from '../service/payments/network-desks.ts'
import type { Faucet } from '../service/sandbox/faucet.ts'
import type { PublicRpc } from '../service/sandbox/public-rpc.ts'
import type { OperatorReport } from '../service/telemetry/operator-report.ts'
import type { History, ChainHead, OperatorStatusParts } from '../service/telemetry/history.ts'
import type { Origins } from './http/reply.ts'
import type { ReceiptsLog } from '../service/log/receipts-log.ts'
import type { InsuranceParts } from '../service/records/insurance.ts'
import type { WebhookService } from '../service/webhooks/webhook-service.ts'

/** A signed transfer as x402 carries it (`payload` of the scheme "exact"). */
interface SandboxPayment {
  authorization: { from: string; to: string; value: string; validAfter: string; validBefore: string; nonce: string }
  signature: string
}

/** Facts that a payer in the sandbox needs. */
export interface SandboxInfo {
  /** The node itself, on this machine. */
  rpc_url: string
  chain_id: number
  usdc: string
  eurc: string
  payer: string
  pay_to: string
  /** Signs a transfer of this amount from the test wallet to `pay_to`, as any wallet would. */
  sign_payment(amount_minor: bigint, now_s: number): SandboxPayment
  readonly node: SandboxNode
  /** State of the sandbox chain; null if another service that shares the data folder runs it. */
  readonly chain: { running: boolean; restarts: number; restarted_at: string | null; stopped_because: string | null } | null
}

/** State of payments now. */
export interface PaymentHealth {
  enabled: boolean
  method: 'self' | 'facilitator' | null
  /** A node answers, and its newest block is recent. */
  chain_ok: boolean
  /** A payment can be settled now. */
  ready: boolean
  /** Number of payments that are open for longer than expected; null before the first count. */
  overdue: number | null
}

/** Balances and budgets; only the operator port shows them. */
export interface OperatorFacts {
  /** Last known state of each gas wallet, in the order of the key file; null before the first check. */
  gas(): readonly (GasStatus | null)[]
  /** Gas against prices on each network; empty where nothing settles. */
  gas_prices(): readonly GasView[]
  /** Sweeps and relays of the day; null where the gas wallet makes none. */
  sponsoring: Sponsoring | null
  /** Limit of free calls in a UTC day that read sources, for all clients together. */
  source_reads_daily: number
  source_reads_used(): Promise<number>
  /** The operator page's facts. */
  report(): Promise<OperatorReport>
}

/** A reference table that checks use now. */
export interface DatasetDescription {
  id: string
  schema: string
  source: string
  published_at: string | null
  /** Date on which a person compiled it; null for a published table. */
  compiled_at: string | null
  retrieved_at: string
  rows: number
  sha256: string
  origin: 'bundled' | 'store'
  pinned: boolean
  age_days: number
  limit_days: number
  source_urls: readonly string[]
  licence: string | null
}

/** Dependencies of the surfaces, built once at start in `src/assembly`. */
export interface AppDeps {
  call: CallDeps
  /** Schemas by tool id. */
  schemas: SchemaList
  /** Store of A2A tasks; the surface encrypts what it writes. */
  tasks: TaskStore
  sealer: Sealer
  stored_answers: StoredAnswers
  store: Pick<Store, 'kind' | 'ping' | 'breaker_open' | 'instances'> & OperatorStatusParts['store']
  /** Invoices; `relay` is null if this deployment cannot settle. */
  invoices: { service: InvoiceService; relay: InvoiceRelay | null; live: InvoiceLive }
  insurance: InsuranceParts
  webhooks: WebhookService
  /** Public log of receipts; null if this deployment has none. */
  log: ReceiptsLog | null
  /** State of the replication of the store, from memory. */
  replication: () => string
  /** Prepaid credits; `shop` is null if cards are not accepted. */
  credits: {
    service: CreditService
    checkout: CreditCheckout | null
    handOver(session_id: string, secret: string, seen: boolean): Promise<CodeShown>
    /** Releases the calls that a pilot invoice bought, for a signature of its payer. Counts against the read limit of the client. */
    release(invoice_id: string, signature: string | null, client: string): Promise<PilotReleased>
  }
  /** Reference tables in use, and the text of each by its SHA-256, also of those that were replaced. */
  datasets: { ages(): (ListAge & { refresh: string | null })[]; list(): DatasetDescription[]; text(sha256: string): Promise<string | null> }
  telemetry: Telemetry
  /** Null or absent if tracing is off. */
  tracing?: Tracing | null
  /** Counts of this process in the last day. */
  history: History
  /** Newest known block; null without a chain. */
  chain_head(): ChainHead | null
  /** Sandbox chain; null in live mode and if it did not start. */
  sandbox: SandboxInfo | null
  /** Faucet and public JSON-RPC of the sandbox chain; null or absent where there is none. */
  test_chain?: { faucet: Faucet; rpc: PublicRpc } | null
  paymentHealth(): Promise<PaymentHealth>
  /** State of each network of calls; absent or empty where there is only that of the deployment. */
  paymentNetworks?(): readonly NetworkState[]
  operator: OperatorFacts
  /** Payment terms that this deployment offers. */
  terms: PaymentTerms
  origins: Origins
  mode: 'sandbox' | 'live'
  chain_id: number
  free: AllowanceRules
  /** Maximum number of unpaid calls of one client at a time; the limit of the service if absent. */
  client_calls?: number
  /** Maximum number of preflights per minute and client. */
  preflight_per_minute: number
  /** Calls can be paid. */
  takes_payments: boolean
  prices: PriceBook
  /** Published receipt keys. */
  keys: KeyList
  version: string
  started_ms: number
  /** Number of running calls. */
  inFlight(): number
}
